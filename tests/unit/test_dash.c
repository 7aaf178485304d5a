/* tui/dash: what keys do, and that nothing moves under the finger. The picture itself is test_views. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/term/keys.h"
#include "core/term/screen.h"
#include "tui/dash.h"

#define NOW_MS   1796073242123
#define DETACH   0x1d
#define ROW_MOST 300

struct world {
	struct fleet_vm vms[8];
	const struct fleet_vm *vm_list[8];
	struct feed_entry entries[ROW_MOST];
	const struct feed_entry *entry_list[ROW_MOST];
	struct screen screen;
	struct model model;
	struct dash *dash;
	struct canvas canvas;
	struct str log; /* what the dash asked for */
};

static void get_model(void *arg, struct model *out)
{
	*out = ((struct world *)arg)->model;
}

static void send_key(void *arg, uint32_t key, unsigned mods)
{
	struct world *w = arg;
	char name[KEY_NAME_SIZE];
	key_name(key, mods, name);
	str_appendf(&w->log, "key %s\n", name);
}

static void send_paste(void *arg, struct bytes text, bool first, bool last)
{
	struct world *w = arg;
	str_appendf(&w->log, "paste %.*s%s%s\n", (int)text.len, (const char *)text.p, first ? " first" : "",
	            last ? " last" : "");
}

static void reopen_pane(void *arg)
{
	struct world *w = arg;
	str_append(&w->log, "reopen\n");
	w->model.pane.link = PANE_OPENING;
}

static void allow(void *arg, const char *vm, const char *rule)
{
	str_appendf(&((struct world *)arg)->log, "allow %s %s\n", vm, rule);
}

static void stop(void *arg, const char *vm)
{
	str_appendf(&((struct world *)arg)->log, "stop %s\n", vm);
}

static void repaint(void *arg)
{
	str_append(&((struct world *)arg)->log, "repaint\n");
}

static void suspend(void *arg)
{
	str_append(&((struct world *)arg)->log, "suspend\n");
}

static void quit(void *arg)
{
	str_append(&((struct world *)arg)->log, "quit\n");
}

static const struct dash_ops OPS = {
    .get_model = get_model,
    .send_key = send_key,
    .send_paste = send_paste,
    .reopen_pane = reopen_pane,
    .allow = allow,
    .stop = stop,
    .repaint = repaint,
    .suspend = suspend,
    .quit = quit,
};

static void set_vms(struct world *w, const char *const *names, size_t count)
{
	w->model.vm_count = count;
	for (size_t i = 0; i < count; i++) {
		w->vms[i] = (struct fleet_vm){.settled = true, .status.state = VM_READY};
		snprintf(w->vms[i].status.name, sizeof(w->vms[i].status.name), "%s", names[i]);
		w->vm_list[i] = &w->vms[i];
	}
}

static void add_denial(struct world *w, const char *vm, const char *target)
{
	struct feed_entry *e = &w->entries[w->model.denial_count];
	*e = (struct feed_entry){.event = FEED_DENY, .time_ms = NOW_MS, .serial = w->model.denial_count + 1};
	snprintf(e->vm, sizeof(e->vm), "%s", vm);
	snprintf(e->target, sizeof(e->target), "%s", target);
	snprintf(e->why, sizeof(e->why), "no rule");
	w->entry_list[w->model.denial_count++] = e;
}

static int setup(void **state)
{
	static const char *const NAMES[] = {"alpha", "beta", "delta"};
	struct world *w = mem_alloc(sizeof(*w));
	w->model = (struct model){.vms = w->vm_list,
	                          .denials = w->entry_list,
	                          .settled = true,
	                          .now_ms = NOW_MS,
	                          .pane = {.why = "", .console = "", .vm = "alpha", .link = PANE_LIVE}};
	set_vms(w, NAMES, ARRAY_LEN(NAMES));
	screen_init(&w->screen, 10, 20);
	w->model.pane.screen = &w->screen;
	str_init(&w->log, 65536);
	canvas_init(&w->canvas, 1, 1);
	w->dash = dash_create(&OPS, w, DETACH);
	dash_resize(w->dash, 24, 100);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	dash_destroy(w->dash);
	canvas_finish(&w->canvas);
	screen_finish(&w->screen);
	str_finish(&w->log);
	free(w);
	return 0;
}

static void press(struct world *w, const char *keys)
{
	char *copy = mem_strdup(keys);
	for (char *save = NULL, *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		uint32_t key;
		unsigned mods;
		assert_true(key_parse(name, &key, &mods));
		dash_key(w->dash, key, mods);
	}
	free(copy);
}

static void expect_log(struct world *w, const char *text)
{
	assert_string_equal(w->log.s, text);
	str_clear(&w->log);
}

static void draw(struct world *w, struct str *out)
{
	dash_draw(w->dash, &w->canvas);
	canvas_dump_text(&w->canvas, out);
}

static bool shows(struct world *w, const char *text)
{
	struct str out = STR_INIT(1 << 20);
	draw(w, &out);
	bool found = strstr(out.s, text) != NULL;
	str_finish(&out);
	return found;
}

static void typing_passes_every_key(void **state)
{
	struct world *w = *state;
	press(w, "Enter");
	assert_true(dash_is_typing(w->dash));
	press(w, "q Escape C-c C-z M-x F5 Up C-Left Tab Enter Backspace a ?");
	expect_log(w, "key q\nkey Escape\nkey C-c\nkey C-z\nkey M-x\nkey F5\nkey Up\nkey C-Left\nkey Tab\n"
	              "key Enter\nkey Backspace\nkey a\nkey ?\n");
	dash_paste(w->dash, (struct bytes){.p = (const uint8_t *)"q\n", .len = 2}, true, false);
	dash_paste(w->dash, (struct bytes){.p = (const uint8_t *)"x", .len = 1}, false, true);
	expect_log(w, "paste q\n first\npaste x last\n");
	assert_true(shows(w, "TYPING alpha — C-] leaves"));
	press(w, "C-]");
	assert_false(dash_is_typing(w->dash));
	expect_log(w, "");
	assert_true(shows(w, "COMMAND"));
}

static void the_key_that_leaves_can_be_sent(void **state)
{
	struct world *w = *state;
	press(w, "i C-] C-]");
	assert_true(dash_is_typing(w->dash));
	expect_log(w, "key C-]\n");
	press(w, "C-] j k C-]"); /* only at once */
	assert_false(dash_is_typing(w->dash));
	expect_log(w, "");
}

static void pastes_are_no_commands(void **state)
{
	struct world *w = *state;
	dash_paste(w->dash, (struct bytes){.p = (const uint8_t *)"q", .len = 1}, true, true);
	expect_log(w, "");
	assert_true(shows(w, "a paste goes to a VM while typing"));
}

static void typing_ends_with_its_vm(void **state)
{
	struct world *w = *state;
	static const struct {
		enum vm_state state;
		enum pane_link link;
		const char *notice;
	} CASES[] = {
	    {VM_FAILED, PANE_NONE, "alpha is failed"},
	    {VM_STOPPING, PANE_LIVE, "alpha is stopping"},
	    {VM_READY, PANE_ENDED, "alpha: code 3"},
	    {VM_READY, PANE_BROKEN, "alpha: code 3"},
	};
	w->model.pane.why = "code 3";
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		w->vms[0].status.state = VM_READY;
		w->model.pane.link = PANE_LIVE;
		press(w, "Enter");
		assert_true(dash_is_typing(w->dash));
		w->vms[0].status.state = CASES[i].state;
		w->model.pane.link = CASES[i].link;
		assert_true(shows(w, CASES[i].notice));
		assert_false(dash_is_typing(w->dash));
		press(w, "w"); /* not for the guest any more */
		expect_log(w, "");
	}
	static const char *const OTHERS[] = {"beta"};
	set_vms(w, (const char *const[]){"alpha"}, 1);
	w->model.pane.link = PANE_LIVE;
	press(w, "Enter");
	set_vms(w, OTHERS, 1);
	assert_true(shows(w, "alpha is gone"));
	assert_false(dash_is_typing(w->dash));
}

static void an_ended_terminal_is_opened_again(void **state)
{
	struct world *w = *state;
	w->model.pane.why = "the program ended with code 0";
	w->model.pane.link = PANE_ENDED;
	assert_true(shows(w, "Enter starts a shell"));
	press(w, "Enter");
	expect_log(w, "reopen\n");
	assert_true(dash_is_typing(w->dash));
}

static void selection_is_a_name(void **state)
{
	struct world *w = *state;
	assert_string_equal(dash_selected(w->dash), "alpha");
	press(w, "j");
	assert_string_equal(dash_selected(w->dash), "beta");
	static const char *const MORE[] = {"aaa", "alpha", "beta", "delta"};
	set_vms(w, MORE, 4);
	assert_string_equal(dash_selected(w->dash), "beta");
	press(w, "k k k k");
	assert_string_equal(dash_selected(w->dash), "aaa");
	press(w, "End j");
	assert_string_equal(dash_selected(w->dash), "delta");
	set_vms(w, MORE, 2); /* it went away: the one at its place */
	assert_string_equal(dash_selected(w->dash), "alpha");
	set_vms(w, MORE, 0);
	assert_string_equal(dash_selected(w->dash), "");
	press(w, "j k Enter a x z z Tab Tab");
	expect_log(w, "");
}

static void the_wanted_pane_has_the_size_inside(void **state)
{
	struct world *w = *state;
	struct dash_pane want = dash_wanted_pane(w->dash);
	assert_string_equal(want.vm, "alpha");
	unsigned rows = want.rows, cols = want.cols;
	dash_draw(w->dash, &w->canvas);
	press(w, "z");
	want = dash_wanted_pane(w->dash);
	assert_int_equal(want.rows, 24 - 3);
	assert_int_equal(want.cols, 100);
	press(w, "z");
	want = dash_wanted_pane(w->dash);
	assert_int_equal(want.rows, rows);
	assert_int_equal(want.cols, cols);
	w->vms[0].status.state = VM_BOOTING;
	want = dash_wanted_pane(w->dash);
	assert_string_equal(want.vm, "");
	w->vms[0].status.state = VM_READY;
	dash_resize(w->dash, 20, 40); /* only the list: nothing to open, but an open one may stay */
	want = dash_wanted_pane(w->dash);
	assert_string_equal(want.vm, "alpha");
	assert_int_equal(want.rows, 0);
	press(w, "Enter");
	want = dash_wanted_pane(w->dash);
	assert_int_equal(want.cols, 40);
	dash_resize(w->dash, 1, 1);
	press(w, "C-] Enter");
	assert_false(dash_is_typing(w->dash));
}

static void enter_on_a_failed_vm_shows_its_console(void **state)
{
	struct world *w = *state;
	w->vms[0].status.state = VM_FAILED;
	w->model.pane.link = PANE_NONE;
	w->model.pane.console = "Kernel panic";
	dash_resize(w->dash, 12, 40);
	assert_false(shows(w, "Kernel panic"));
	press(w, "Enter");
	assert_true(shows(w, "Kernel panic"));
	assert_false(dash_is_typing(w->dash));
	press(w, "Enter");
	assert_false(shows(w, "Kernel panic"));
}

static void allow_means_what_was_read(void **state)
{
	struct world *w = *state;
	add_denial(w, "beta", "one.example:443");
	add_denial(w, "alpha", "two.example:8443");
	press(w, "Tab a");
	assert_true(shows(w, "allow two.example:8443 for alpha? y/n"));
	add_denial(w, "alpha", "three.example:443"); /* comes while the question stands */
	assert_true(shows(w, "allow two.example:8443 for alpha? y/n"));
	press(w, "y");
	expect_log(w, "allow alpha two.example:8443\n");
	press(w, "Home a n");
	expect_log(w, "");
	press(w, "a j Z y"); /* other keys do not answer */
	expect_log(w, "allow beta one.example:443\n");
	press(w, "Tab a y"); /* from the list: the newest of the selected VM */
	expect_log(w, "allow alpha three.example:443\n");
	press(w, "j j a");
	assert_true(shows(w, "nothing was refused here"));
}

static void only_plain_hosts_can_be_allowed(void **state)
{
	struct world *w = *state;
	static const char *const BAD[] = {
	    "*.example:443",   "*",         "evil.example", "evil.example:", ":443",
	    "a b.example:443", "[::1]:443", "http://x/:80", "x.example:44x", "\\x1b.example:443",
	    "x.example/y:443"};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		add_denial(w, "alpha", BAD[i]);
		press(w, "a y");
		assert_string_equal(w->log.s, "");
	}
	add_denial(w, "alpha", "a-1.b_c.example:443");
	press(w, "a y");
	expect_log(w, "allow alpha a-1.b_c.example:443\n");
}

static void long_questions_are_read_whole(void **state)
{
	struct world *w = *state;
	char target[300];
	memset(target, 'x', sizeof(target));
	memcpy(target + 280, ".example:443", 13);
	add_denial(w, "alpha", target);
	dash_resize(w->dash, 20, 60);
	press(w, "a");
	assert_true(shows(w, "for alpha? y/n"));
	int count = 0; /* not one character of the name is missing */
	for (int i = 0; i < w->canvas.rows * w->canvas.cols; i++)
		count += w->canvas.cells[i].style == STYLE_QUESTION && w->canvas.cells[i].cell.code == 'x';
	assert_int_equal(count, 280 + 1); /* and that of "example" */
}

static void escape_leads_back(void **state)
{
	struct world *w = *state;
	dash_resize(w->dash, 20, 90);
	press(w, "j j z");
	assert_false(shows(w, "alpha"));
	press(w, "Escape"); /* nothing of the list was scrolled away while it was hidden */
	assert_true(shows(w, "alpha  "));
	assert_true(shows(w, "beta  "));
	press(w, "Escape");
	assert_false(shows(w, "does nothing"));
}

static void failed_without_a_console_says_so(void **state)
{
	struct world *w = *state;
	w->vms[0].status.state = VM_FAILED;
	w->model.pane.link = PANE_NONE;
	w->model.pane.console = "";
	dash_resize(w->dash, 20, 90);
	press(w, "Enter");
	assert_true(shows(w, "Its console is empty."));
	press(w, "Escape");
	assert_true(shows(w, "beta  "));
}

static void stop_asks(void **state)
{
	struct world *w = *state;
	press(w, "x n x Escape x C-c x q");
	expect_log(w, "");
	press(w, "x");
	assert_true(shows(w, "stop alpha? y/n"));
	press(w, "j y");
	expect_log(w, "stop alpha\n");
	w->vms[0].status.state = VM_STOPPED;
	press(w, "x y");
	expect_log(w, "");
}

static int row_of(const struct str *picture, const char *text)
{
	int row = 0;
	for (const char *p = picture->s, *end = strstr(p, text); p < end; p++)
		row += *p == '\n';
	return row;
}

static void the_feed_stays_under_the_cursor(void **state)
{
	struct world *w = *state;
	char target[32];
	int n = 0;
	for (; n < 20; n++) {
		snprintf(target, sizeof(target), "h%02d.example:443", n);
		add_denial(w, "alpha", target);
	}
	assert_true(shows(w, "h19.example"));
	press(w, "F k k k k k k");
	struct str before = STR_INIT(1 << 20), after = STR_INIT(1 << 20);
	draw(w, &before);
	assert_non_null(strstr(before.s, "▸ 21:14:02  alpha  h13.example"));
	for (; n < 23; n++) {
		snprintf(target, sizeof(target), "h%02d.example:443", n);
		add_denial(w, "alpha", target);
	}
	assert_true(shows(w, "▼ 3 new"));
	draw(w, &after);
	assert_int_equal(row_of(&before, "▸ 21:14:02"), row_of(&after, "▸ 21:14:02"));
	assert_non_null(strstr(after.s, "▸ 21:14:02  alpha  h13.example"));
	assert_null(strstr(after.s, "h20.example"));
	press(w, "G");
	assert_true(shows(w, "▸ 21:14:02  alpha  h22.example"));
	assert_false(shows(w, "new"));
	press(w, "PageUp PageUp");
	assert_false(shows(w, "new")); /* older rows, seen already */
	press(w, "Tab");
	assert_true(shows(w, "h22.example")); /* follows again */
	str_finish(&before);
	str_finish(&after);
}

static void old_rows_may_go_away(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 20; i++)
		add_denial(w, "alpha", "a.example:443");
	press(w, "Tab Home");
	dash_draw(w->dash, &w->canvas);
	w->model.denials += 15; /* the feed is bounded */
	w->model.denial_count -= 15;
	press(w, "j k a n");
	dash_draw(w->dash, &w->canvas);
	w->model.denial_count = 0;
	press(w, "j k a PageUp End");
	assert_true(shows(w, "nothing was refused"));
	expect_log(w, "");
}

static void a_row_leads_to_its_vm(void **state)
{
	struct world *w = *state;
	add_denial(w, "delta", "a.example:443");
	press(w, "Tab Enter");
	assert_string_equal(dash_selected(w->dash), "delta");
	assert_true(shows(w, "COMMAND"));
	add_denial(w, "gone", "a.example:443");
	press(w, "Tab Enter");
	assert_string_equal(dash_selected(w->dash), "delta");
}

static void the_plain_actions_reach_the_app(void **state)
{
	struct world *w = *state;
	press(w, "C-l C-z q C-c");
	expect_log(w, "repaint\nsuspend\nquit\nquit\n");
	press(w, "? q"); /* closes the help, no more */
	expect_log(w, "");
	press(w, "q");
	expect_log(w, "quit\n");
}

int main(void)
{
	setlocale(LC_ALL, "");
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(typing_passes_every_key),
	    T(the_key_that_leaves_can_be_sent),
	    T(pastes_are_no_commands),
	    T(typing_ends_with_its_vm),
	    T(an_ended_terminal_is_opened_again),
	    T(selection_is_a_name),
	    T(the_wanted_pane_has_the_size_inside),
	    T(enter_on_a_failed_vm_shows_its_console),
	    T(allow_means_what_was_read),
	    T(only_plain_hosts_can_be_allowed),
	    T(long_questions_are_read_whole),
	    T(escape_leads_back),
	    T(failed_without_a_console_says_so),
	    T(stop_asks),
	    T(the_feed_stays_under_the_cursor),
	    T(old_rows_may_go_away),
	    T(a_row_leads_to_its_vm),
	    T(the_plain_actions_reach_the_app),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
