/* tui/dash: marks, questions, what is done to many VMs at once, the feed's keys, the palette and the form. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "tests/lib/dash_rig.h"

static int setup(void **state)
{
	static const char *const NAMES[] = {"alpha", "beta", "delta"};
	struct dash_rig *r = mem_alloc(sizeof(*r));
	dash_rig_init(r);
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		dash_rig_vm(r, NAMES[i], VM_READY);
		dash_rig_pane(r, NAMES[i], 0, 10, 20);
	}
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	dash_rig_finish(*state);
	free(*state);
	return 0;
}

static void command(struct dash_rig *r, const char *line)
{
	dash_rig_press(r, ":");
	dash_rig_type(r, line);
	dash_rig_press(r, "Enter");
}

/* ---- questions ---- */

static void allow_means_what_was_read(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_deny(r, "beta", 0, "one.example:443", "no rule");
	dash_rig_deny(r, "alpha", 0, "two.example:8443", "no rule");
	dash_rig_press(r, "Tab a");
	assert_true(dash_rig_shows(r, "allow two.example:8443 for alpha? y/n"));
	dash_rig_deny(r, "alpha", 0, "three.example:443", "no rule"); /* while the question stands */
	assert_true(dash_rig_shows(r, "allow two.example:8443 for alpha? y/n"));
	dash_rig_press(r, "y");
	assert_true(dash_rig_asked(r, "allow alpha two.example:8443\n"));
	dash_rig_press(r, "Home a n");
	assert_true(dash_rig_asked(r, ""));
	dash_rig_press(r, "a j Z y"); /* other keys do not answer */
	assert_true(dash_rig_asked(r, "allow beta one.example\n"));
	dash_rig_press(r, "Tab t"); /* from the list: the newest of the selected VM */
	assert_true(dash_rig_shows(r, "allow three.example for alpha, 10 minutes? y/n"));
	dash_rig_press(r, "y");
	assert_true(dash_rig_asked(r, "allow alpha three.example 600s\n"));
	dash_rig_press(r, "w");
	assert_true(
	    dash_rig_shows(r, "allow three.example for alpha and, in ccvm.ini, for every new VM? y/n"));
	dash_rig_press(r, "y");
	assert_true(dash_rig_asked(r, "allow alpha three.example\nwrite three.example\n"));
	dash_rig_press(r, "j j a");
	assert_true(dash_rig_shows(r, "nothing was refused here"));
}

static void only_plain_hosts_can_be_allowed(void **state)
{
	struct dash_rig *r = *state;
	static const char *const BAD[] = {
	    "*.example:443",   "*",          "evil.example", "evil.example:", ":443",
	    "a b.example:443", "[::1]:443",  "http://x/:80", "x.example:44x", "\\x1b.example:443",
	    "x.example/y:443", "10.0.0.1:22"};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		dash_rig_deny(r, "alpha", 0, BAD[i], "malformed");
		dash_rig_press(r, "a y");
		assert_true(dash_rig_asked(r, ""));
	}
	dash_rig_deny(r, "alpha", 0, "a-1.b.example:443", "no rule");
	dash_rig_press(r, "a y");
	assert_true(dash_rig_asked(r, "allow alpha a-1.b.example\n"));
}

static void what_was_allowed_is_calm(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_deny(r, "alpha", 0, "one.example:443", "no rule for it");
	dash_rig_deny(r, "beta", 0, "one.example:443", "no rule for it");
	assert_false(dash_rig_shows(r, "allowed"));
	dash_allowed(r->dash, "alpha", "one.example", 0);
	assert_true(dash_rig_shows(r, "allowed"));
	assert_true(dash_rig_shows(r, "no rule for it")); /* beta is another one */
	dash_allowed(r->dash, "alpha", "one.example", 600);
	assert_true(dash_rig_shows(r, "until "));
	assert_false(dash_rig_shows(r, "allowed"));
	r->model.now_ms += 600000;
	assert_false(dash_rig_shows(r, "until "));
	dash_allowed(r->dash, "alpha", "one.example", 0);
	dash_denied(r->dash, "alpha", "one.example");
	assert_false(dash_rig_shows(r, "allowed"));
	dash_allowed(r->dash, "alpha", "one.example", 0);
	dash_rig_deny(r, "alpha", -1000, "one.example:443", "no rule for it"); /* refused since */
	assert_false(dash_rig_shows(r, "allowed"));
	for (int i = 0; i < 100; i++)
		dash_allowed(r->dash, "beta", i % 2 ? "two.example" : "three.example", 0);
	for (int i = 0; i < 100; i++) {
		char rule[32];
		snprintf(rule, sizeof(rule), "n%d.example", i);
		dash_allowed(r->dash, "beta", rule, 0);
	}
}

static void long_questions_are_read_whole(void **state)
{
	struct dash_rig *r = *state;
	char target[300] = "";
	for (int i = 0; i < 3; i++) {
		memset(target + i * 61, 'x', 60);
		target[i * 61 + 60] = '.';
	}
	strcpy(target + 183, "example:443");
	dash_rig_deny(r, "alpha", 0, target, "no rule");
	dash_resize(r->dash, 20, 60);
	dash_rig_press(r, "a");
	assert_true(dash_rig_shows(r, "for alpha? y/n"));
	int count = 0; /* not one character of the name is missing */
	for (int i = 0; i < r->canvas.rows * r->canvas.cols; i++)
		count += r->canvas.cells[i].style == STYLE_QUESTION && r->canvas.cells[i].cell.code == 'x';
	assert_int_equal(count, 180 + 1); /* and that of "example" */
}

static void what_cannot_be_undone_asks(void **state)
{
	struct dash_rig *r = *state;
	static const struct {
		const char *key, *question, *log;
	} CASES[] = {
	    {"x", "stop alpha? y/n", "stop alpha\n"},
	    {"X", "kill (end at once) alpha? y/n", "kill alpha\n"},
	    {"R", "restart alpha? y/n", "run restart alpha\n"},
	    {"D", "alpha runs: end it and remove its disk and logs? y/n", "run rm alpha --force\n"},
	    {"I", "interrupt (C-c) alpha? y/n", "interrupt alpha\n"},
	    {"C", "end terminal 1 of alpha and the program in it? y/n", "hang up alpha:1\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		dash_rig_press(r, CASES[i].key);
		assert_true(dash_rig_shows(r, CASES[i].question));
		dash_rig_press(r, "n");
		dash_rig_press(r, CASES[i].key);
		dash_rig_press(r, "Escape");
		dash_rig_press(r, CASES[i].key);
		dash_rig_press(r, "C-c");
		dash_rig_press(r, CASES[i].key);
		dash_rig_press(r, "q");
		assert_true(dash_rig_asked(r, ""));
		dash_rig_press(r, CASES[i].key);
		dash_rig_press(r, "j y");
		assert_true(dash_rig_asked(r, CASES[i].log));
	}
	dash_rig_find(r, "alpha")->status.state = VM_STOPPED;
	command(r, "select alpha");
	dash_rig_press(r, "x y X y I y");
	assert_true(dash_rig_asked(r, ""));
	dash_rig_press(r, "R y D y");
	assert_true(dash_rig_asked(r, "run up alpha\nrun rm alpha\n"));
}

static void what_runs_is_removed_only_when_that_was_said(void **state)
{
	struct dash_rig *r = *state;
	struct vm_status *alpha = &dash_rig_find(r, "alpha")->status;
	alpha->state = VM_STOPPED;
	dash_rig_press(r, ":");
	dash_rig_type(r, "select alpha");
	dash_rig_press(r, "Enter D");
	assert_true(dash_rig_shows(r, "remove alpha with its disk and logs? y/n"));
	alpha->state = VM_READY; /* started meanwhile: the command refuses */
	dash_rig_press(r, "y");
	assert_true(dash_rig_asked(r, "run rm alpha\n"));
	dash_rig_press(r, "* D");
	assert_true(
	    dash_rig_shows(r, "alpha, beta and delta run: end them and remove their disks and logs? y/n"));
	alpha->state = VM_STOPPED;
	dash_rig_press(r, "n D");
	assert_true(dash_rig_shows(r, "beta and delta run: end them, and remove"));
	dash_rig_press(r, "y");
	assert_true(dash_rig_asked(r, "run rm alpha\nrun rm beta --force\nrun rm delta --force\n"));
}

static void one_that_hangs_is_asked_nothing(void **state)
{
	static const char *const KEYS[] = {"p", "x", "R", "I", "C", "c", "Enter", "a"};
	struct dash_rig *r = *state;
	dash_rig_deny(r, "alpha", 0, "one.example:443", "no rule");
	dash_rig_find(r, "alpha")->hangs = true;
	command(r, "select alpha");
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
		dash_rig_press(r, KEYS[i]);
		if (!dash_rig_shows(r, "alpha does not answer; X ends it"))
			fail_msg("%s says nothing", KEYS[i]);
		assert_false(dash_is_typing(r->dash));
		dash_rig_press(r, "y");
		assert_true(dash_rig_asked(r, ""));
	}
	command(r, "send hello");
	assert_true(dash_rig_shows(r, "alpha does not answer; X ends it"));
	dash_rig_press(r, "* B");
	assert_false(dash_is_typing(r->dash));
	dash_rig_press(r, "x");
	assert_true(dash_rig_shows(r, "stop beta and delta? y/n"));
	dash_rig_press(r, "n *");
	dash_rig_press(r, "X y"); /* the command, which needs no answer */
	assert_true(dash_rig_asked(r, "run kill alpha\n"));
}

/* ---- marks ---- */

static void actions_are_for_all_marked(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "Space Space");
	assert_true(dash_rig_shows(r, "2 marked"));
	dash_rig_press(r, "x");
	assert_true(dash_rig_shows(r, "stop alpha and beta? y/n"));
	dash_rig_press(r, "y");
	assert_true(dash_rig_asked(r, "stop alpha\nstop beta\n"));
	dash_rig_press(r, "s");
	assert_true(dash_rig_shows(r, "send to 2 marked:"));
	dash_rig_type(r, "go on");
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_asked(r, "send alpha go on\nsend beta go on\n"));
	dash_rig_press(r, "p");
	assert_true(dash_rig_asked(r, "pause alpha\npause beta\n"));
	dash_rig_find(r, "alpha")->status.paused = dash_rig_find(r, "beta")->status.paused = true;
	dash_rig_press(r, "p");
	assert_true(dash_rig_asked(r, "resume alpha\nresume beta\n"));
	dash_rig_find(r, "beta")->status.paused = false; /* all are the same afterwards */
	dash_rig_press(r, "p");
	assert_true(dash_rig_asked(r, "pause alpha\npause beta\n"));
	dash_rig_press(r, "* x"); /* none, so the selected one */
	assert_true(dash_rig_shows(r, "stop delta? y/n"));
	dash_rig_press(r, "n * x");
	assert_true(dash_rig_shows(r, "stop alpha, beta and delta? y/n"));
	dash_rig_remove(r, "beta"); /* it goes away meanwhile */
	dash_rig_press(r, "y");
	assert_true(dash_rig_asked(r, "stop alpha\nstop delta\n"));
	command(r, "allow x.example:8443");
	assert_true(dash_rig_shows(r, "allow x.example:8443 for alpha and delta? y/n"));
	dash_rig_press(r, "y");
	assert_true(dash_rig_asked(r, "allow alpha x.example:8443\nallow delta x.example:8443\n"));
}

static void broadcast_types_into_all_marked(void **state)
{
	struct dash_rig *r = *state;
	struct pane_wish want[DASH_PANES_MOST];
	dash_rig_press(r, "B");
	assert_true(dash_rig_shows(r, "mark the VMs first"));
	dash_rig_press(r, "Space j Space B");
	assert_true(dash_is_typing(r->dash));
	assert_true(dash_rig_shows(r, "TYPING INTO 2 VMs — C-] leaves"));
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 2);
	assert_int_equal(want[1].rows, 0); /* not on the screen, and left in its own size */
	dash_rig_press(r, "y Enter");
	assert_true(dash_rig_asked(r, "key alpha y\nkey delta y\nkey alpha Enter\nkey delta Enter\n"));
	dash_paste(r->dash, (struct bytes){.p = (const uint8_t *)"abc", .len = 3}, true, true);
	assert_true(dash_rig_asked(r, "paste alpha abc first last\npaste delta abc first last\n"));
	dash_rig_press(r, "C-] C-]"); /* goes on, and sends the key to all */
	assert_true(dash_rig_asked(r, "key alpha C-]\nkey delta C-]\n"));
	dash_rig_press(r, "C-] g Home B");
	assert_true(dash_rig_shows(r, "━"));
	dash_rig_find(r, "delta")->status.state = VM_STOPPING; /* one drops out: the others go on */
	dash_rig_press(r, "z C-]");
	assert_true(dash_rig_asked(r, "key alpha z\n"));
	dash_rig_press(r, "B");
	assert_true(dash_rig_shows(r, "delta has no terminal to type into"));
	assert_false(dash_is_typing(r->dash));
}

/* ---- the feed ---- */

static int row_of(const struct str *picture, const char *text)
{
	int row = 0;
	for (const char *p = picture->s, *end = strstr(p, text); p < end; p++)
		row += *p == '\n';
	return row;
}

static void draw(struct dash_rig *r, struct str *out)
{
	dash_draw(r->dash, &r->canvas);
	canvas_dump_text(&r->canvas, out);
}

static void the_feed_stays_under_the_cursor(void **state)
{
	struct dash_rig *r = *state;
	char target[32];
	int n = 0;
	for (; n < 20; n++) {
		snprintf(target, sizeof(target), "h%02d.example:443", n);
		dash_rig_deny(r, "alpha", 0, target, "no rule");
	}
	assert_true(dash_rig_shows(r, "h19.example"));
	dash_rig_press(r, "F k k k k k k");
	struct str before = STR_INIT(1 << 20), after = STR_INIT(1 << 20);
	draw(r, &before);
	assert_non_null(strstr(before.s, "▸ 21:14:02  alpha  h13.example"));
	for (; n < 23; n++) {
		snprintf(target, sizeof(target), "h%02d.example:443", n);
		dash_rig_deny(r, "alpha", 0, target, "no rule");
	}
	assert_true(dash_rig_shows(r, "▼ 3 new"));
	draw(r, &after);
	assert_int_equal(row_of(&before, "▸ 21:14:02"), row_of(&after, "▸ 21:14:02"));
	assert_non_null(strstr(after.s, "▸ 21:14:02  alpha  h13.example"));
	dash_rig_press(r, "G");
	assert_true(dash_rig_shows(r, "▸ 21:14:02  alpha  h22.example"));
	assert_false(dash_rig_shows(r, " new "));
	dash_rig_press(r, "d");
	assert_true(dash_rig_shows(r, "h22.example:443 stays denied for alpha"));
	assert_true(dash_rig_shows(r, "1 hidden"));
	assert_false(dash_rig_shows(r, "▸ 21:14:02  alpha  h22.example"));
	dash_rig_press(r, "l");
	assert_true(dash_rig_shows(r, "[All 23]"));
	dash_rig_press(r, "v");
	assert_true(dash_rig_shows(r, "h22.example:443"));
	assert_true(dash_rig_shows(r, "any other key closes"));
	dash_rig_press(r, "q h u Tab");
	assert_true(dash_rig_shows(r, "h22.example")); /* follows again */
	str_finish(&before);
	str_finish(&after);
}

static void a_row_leads_to_its_vm(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_deny(r, "delta", 0, "a.example:443", "no rule");
	dash_rig_press(r, "Tab Enter");
	assert_true(dash_rig_shows(r, "▸ delta "));
	assert_true(dash_rig_shows(r, "COMMAND"));
	dash_rig_deny(r, "gone", 0, "b.example:443", "no rule");
	dash_rig_press(r, "Tab Enter");
	assert_true(dash_rig_shows(r, "gone is gone"));
	assert_true(dash_rig_shows(r, "▸ delta "));
}

/* ---- palette and form ---- */

static void the_palette_runs_actions_by_name(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, ":");
	dash_rig_type(r, "the");
	assert_true(dash_rig_shows(r, "other colours")); /* the help of what it may become */
	dash_rig_press(r, "Tab");
	assert_true(dash_rig_shows(r, ":theme"));
	dash_rig_type(r, "d");
	dash_rig_press(r, "Tab Tab");
	assert_true(dash_rig_shows(r, ":theme default"));
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_asked(r, "theme default\n"));
	command(r, "stoop");
	assert_true(dash_rig_shows(r, "no action 'stoop'; did you mean stop?"));
	command(r, "quit now");
	assert_true(dash_rig_shows(r, "quit takes nothing after its name"));
	command(r, "select delta");
	assert_true(dash_rig_shows(r, "▸ delta "));
	dash_rig_press(r, ": Up");
	assert_true(dash_rig_shows(r, ":select delta")); /* the history */
	dash_rig_press(r, "Escape");
	command(r, "select nobody");
	assert_true(dash_rig_shows(r, "no VM 'nobody'"));
	command(r, "attach beta");
	assert_true(dash_rig_shows(r, "TYPING beta"));
	dash_rig_press(r, "C-]");
	assert_true(dash_rig_shows(r, "▸ beta ")); /* the whole screen only for as long */
	command(r, "reload");
	command(r, "recopy file");
	command(r, "image");
	command(r, "send ls -l");
	assert_true(dash_rig_asked(r, "reload\ncopy again file\nrun image build base\nsend beta ls -l\n"));
	command(r, "deny");
	assert_true(dash_rig_shows(r, "deny HOST"));
	dash_rig_press(r, ": Enter : Backspace :");
	dash_rig_press(r, "C-c");
	assert_true(dash_rig_asked(r, ""));
	assert_true(dash_rig_shows(r, "COMMAND"));
}

static void the_form_makes_a_vm(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "N");
	assert_true(dash_rig_shows(r, "New VM"));
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_shows(r, "VM name"));
	dash_rig_type(r, "gamma");
	dash_rig_press(r, "Tab Tab");
	dash_rig_type(r, "a.example *.b.example:8443");
	dash_rig_press(r, "Down C-u");
	dash_rig_type(r, "lots");
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_shows(r, "memory: a size like 512M"));
	dash_rig_press(r, "C-u");
	dash_rig_type(r, "2G");
	dash_rig_press(r, "Enter");
	assert_true(
	    dash_rig_asked(r, "run up gamma --image base --memory 2G --cpus 1 --disk 4G --allow a.example "
	                      "--allow *.b.example:8443\n"));
	command(r, "new kappa");
	assert_true(dash_rig_shows(r, "kappa"));
	dash_rig_press(r, "Escape");
	assert_true(dash_rig_shows(r, "nothing was made"));
	assert_true(dash_rig_asked(r, ""));
}

static void the_form_knows_what_there_is(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "N");
	dash_rig_type(r, "beta");
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_shows(r, "a VM is called beta already"));
	dash_rig_press(r, "2 Tab C-u");
	dash_rig_type(r, "bas");
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_shows(r, "there is no image bas"));
	assert_true(dash_rig_asked(r, ""));
	dash_rig_press(r, "e Enter");
	assert_true(dash_rig_asked(r, "run up beta2 --image base --memory 512M --cpus 1 --disk 4G\n"));
	dash_rig_press(r, "N"); /* it came to nothing */
	assert_true(dash_rig_shows(r, "beta2"));
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_asked(r, "run up beta2 --image base --memory 512M --cpus 1 --disk 4G\n"));
	dash_rig_vm(r, "beta2", VM_BOOTING);
	assert_true(dash_rig_shows(r, "▸ beta2 "));
	dash_rig_press(r, "N"); /* and now it is another one */
	assert_true(dash_rig_shows(r, "New VM"));
	dash_rig_type(r, "beta3");
	dash_rig_press(r, "Enter");
	command(r, "select alpha");
	dash_rig_press(r, "i");
	dash_rig_vm(r, "beta3", VM_BOOTING); /* not while somebody types */
	assert_true(dash_is_typing(r->dash));
	assert_false(dash_rig_shows(r, "▸ beta3 "));
}

static void work_that_goes_on_is_shown(void **state)
{
	struct dash_rig *r = *state;
	r->job = (struct job_info){.what = "up gamma",
	                           .line = "booting with qemu-tcg",
	                           .started_ms = RIG_NOW_MS - 12 * RIG_SECOND,
	                           .running = true};
	r->model.job_count = 1;
	assert_true(dash_rig_shows(r, "up gamma: booting with qemu-tcg · 12s · J reads"));
	dash_rig_press(r, "J");
	assert_true(dash_rig_shows(r, "VM beta is ready"));
	dash_rig_press(r, "q");
	assert_true(dash_rig_asked(r, ""));
}

int main(void)
{
	setlocale(LC_ALL, "");
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(allow_means_what_was_read),
	    T(only_plain_hosts_can_be_allowed),
	    T(what_was_allowed_is_calm),
	    T(long_questions_are_read_whole),
	    T(what_cannot_be_undone_asks),
	    T(what_runs_is_removed_only_when_that_was_said),
	    T(one_that_hangs_is_asked_nothing),
	    T(actions_are_for_all_marked),
	    T(broadcast_types_into_all_marked),
	    T(the_feed_stays_under_the_cursor),
	    T(a_row_leads_to_its_vm),
	    T(the_palette_runs_actions_by_name),
	    T(the_form_makes_a_vm),
	    T(the_form_knows_what_there_is),
	    T(work_that_goes_on_is_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
