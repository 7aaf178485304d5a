/* tui/dash: what keys do in command and in typing mode, and that nothing moves under the finger. The picture itself is
 * test_views, marks and questions are test_dash_many. */
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
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		dash_rig_vm(r, NAMES[i], VM_READY);
	dash_rig_pane(r, "alpha", 0, 10, 20);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	dash_rig_finish(*state);
	free(*state);
	return 0;
}

static void paste(struct dash_rig *r, const char *text, bool first, bool last)
{
	dash_paste(r->dash, (struct bytes){.p = (const uint8_t *)text, .len = strlen(text)}, first, last);
}

static void selects(struct dash_rig *r, const char *vm)
{
	char text[64];
	snprintf(text, sizeof(text), "▸ %s ", vm);
	assert_true(dash_rig_shows(r, text));
}

/* ---- typing ---- */

static void typing_passes_every_key(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "Enter");
	assert_true(dash_is_typing(r->dash));
	dash_rig_press(r, "q Escape C-c C-z M-x F5 Up C-Left Tab Enter Backspace a ?");
	assert_true(dash_rig_asked(r, "key alpha q\nkey alpha Escape\nkey alpha C-c\nkey alpha C-z\n"
	                              "key alpha M-x\nkey alpha F5\nkey alpha Up\nkey alpha C-Left\n"
	                              "key alpha Tab\nkey alpha Enter\nkey alpha Backspace\nkey alpha a\n"
	                              "key alpha ?\n"));
	paste(r, "q\n", true, false);
	paste(r, "x", false, true);
	assert_true(dash_rig_asked(r, "paste alpha q\n first\npaste alpha x last\n"));
	assert_true(dash_rig_shows(r, "TYPING alpha — C-] leaves"));
	dash_rig_press(r, "C-]");
	assert_false(dash_is_typing(r->dash));
	assert_true(dash_rig_asked(r, ""));
	assert_true(dash_rig_shows(r, "COMMAND"));
}

static void the_key_that_leaves_can_be_sent(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "i C-] C-]");
	assert_true(dash_is_typing(r->dash));
	assert_true(dash_rig_asked(r, "key alpha C-]\n"));
	dash_rig_press(r, "C-] j k C-]"); /* only at once */
	assert_false(dash_is_typing(r->dash));
	assert_true(dash_rig_asked(r, ""));
}

static void and_only_at_once(void **state)
{
	struct dash_rig *r = *state;
	const struct term_mouse wheel = {.kind = MOUSE_MOVE, .row = 1, .col = 1};
	for (int i = 0; i < 5; i++) {
		r->model.now_ms += 60000;
		dash_rig_press(r, "i C-]");
		if (i == 0)
			r->model.now_ms += 501;
		else if (i == 1)
			r->model.now_ms -= 1; /* the clock was set back */
		else if (i == 2)
			dash_mouse(r->dash, &wheel);
		else if (i == 3)
			paste(r, "x", true, true);
		else
			dash_focus_moved(r->dash);
		dash_rig_press(r, "C-]");
		assert_false(dash_is_typing(r->dash));
		assert_true(dash_rig_asked(r, ""));
	}
	dash_rig_press(r, "i C-]");
	r->model.now_ms += 500;
	dash_rig_press(r, "C-]");
	assert_true(dash_rig_asked(r, "key alpha C-]\n"));
}

/* A full-screen program scrolls by itself, whether or not it is typed into; the history of a shell is ours. */
static void the_wheel_is_for_full_screen_programs(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "z");
	dash_draw(r->dash, &r->canvas);
	struct term_mouse wheel = {.kind = MOUSE_PRESS, .button = MOUSE_WHEEL_UP, .row = 5, .col = 5};
	r->screens[0].modes = TERM_ALT_SCREEN;
	dash_mouse(r->dash, &wheel);
	assert_non_null(strstr(r->log.s, "mouse alpha"));
	assert_false(dash_is_typing(r->dash));
	str_clear(&r->log);
	dash_rig_press(r, "i");
	dash_mouse(r->dash, &wheel);
	assert_non_null(strstr(r->log.s, "mouse alpha"));
	assert_true(dash_is_typing(r->dash));
	str_clear(&r->log);
	wheel.mods = TERM_SHIFT;
	dash_mouse(r->dash, &wheel);
	assert_null(strstr(r->log.s, "mouse alpha"));
	assert_false(dash_is_typing(r->dash));
}

static void pastes_are_no_commands(void **state)
{
	struct dash_rig *r = *state;
	paste(r, "q", true, true);
	assert_true(dash_rig_asked(r, ""));
	assert_true(dash_rig_shows(r, "a paste goes to a VM while typing"));
}

static void typing_ends_with_its_vm(void **state)
{
	struct dash_rig *r = *state;
	static const struct {
		enum vm_state state;
		enum pane_link link;
		const char *notice;
	} CASES[] = {
	    {VM_FAILED, PANE_LIVE, "alpha is failed"},
	    {VM_STOPPING, PANE_LIVE, "alpha is stopping"},
	    {VM_READY, PANE_ENDED, "alpha: code 3"},
	    {VM_READY, PANE_BROKEN, "alpha: code 3"},
	};
	struct vm_status *alpha = &dash_rig_find(r, "alpha")->status;
	r->panes[0].source.why = "code 3";
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		alpha->state = VM_READY;
		r->panes[0].source.link = PANE_LIVE;
		dash_rig_press(r, "Enter");
		assert_true(dash_is_typing(r->dash));
		alpha->state = CASES[i].state;
		r->panes[0].source.link = CASES[i].link;
		assert_true(dash_rig_shows(r, CASES[i].notice));
		assert_false(dash_is_typing(r->dash));
		dash_rig_press(r, "%"); /* not for the guest any more */
		assert_true(dash_rig_asked(r, ""));
	}
	alpha->state = VM_READY;
	r->panes[0].source.link = PANE_LIVE;
	dash_rig_press(r, "Home Enter");
	assert_true(dash_is_typing(r->dash));
	dash_rig_remove(r, "alpha");
	assert_true(dash_rig_shows(r, "alpha is gone"));
	assert_false(dash_is_typing(r->dash));
}

static void an_ended_terminal_is_opened_again(void **state)
{
	struct dash_rig *r = *state;
	r->panes[0].source.why = "the program ended with code 0";
	r->panes[0].source.link = PANE_ENDED;
	assert_true(dash_rig_shows(r, "Enter starts a shell"));
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_asked(r, "reopen alpha:0\n"));
	assert_true(dash_is_typing(r->dash));
}

/* Its state may change to one that the filter hides: whoever is typed into stays. */
static void a_filter_does_not_take_away_what_is_typed_into(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_attention(r, "alpha", ATTENTION_WAITING, 0);
	dash_rig_press(r, "/");
	dash_rig_type(r, "state:waiting");
	dash_rig_press(r, "Enter Enter");
	assert_true(dash_is_typing(r->dash));
	dash_rig_attention(r, "alpha", ATTENTION_WORKING, 0);
	r->model.now_ms += 5000;
	dash_rig_press(r, "x");
	assert_true(dash_rig_asked(r, "key alpha x\n"));
	dash_rig_press(r, "C-]");
	assert_true(dash_rig_shows(r, "Nothing matches /state:waiting"));
}

/* ---- selection and order ---- */

static void selection_is_a_name(void **state)
{
	struct dash_rig *r = *state;
	selects(r, "alpha");
	dash_rig_press(r, "j");
	selects(r, "beta");
	dash_rig_vm(r, "aaa", VM_READY);
	selects(r, "beta");
	r->model.now_ms += 2000;
	dash_rig_press(r, "k k k k");
	selects(r, "aaa");
	dash_rig_press(r, "End j");
	selects(r, "delta");
	dash_rig_remove(r, "delta"); /* it went away: the one at its place */
	selects(r, "beta");
	dash_rig_remove(r, "aaa");
	dash_rig_remove(r, "alpha");
	dash_rig_remove(r, "beta");
	assert_true(dash_rig_shows(r, "No VMs. N makes one"));
	dash_rig_press(r, "j k Enter a x X R D p I s Space * B c C [ v z z g g Tab Tab n o h l J Escape");
	assert_true(dash_rig_asked(r, ""));
}

static void who_waits_comes_first_but_not_under_the_finger(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "j");
	selects(r, "beta");
	dash_rig_attention(r, "delta", ATTENTION_WAITING, 0);
	assert_true(dash_rig_shows(r, "delta"));
	dash_rig_press(r, "k k"); /* alpha is still the first one */
	selects(r, "alpha");
	assert_in_range(dash_next_ms(r->dash), 1, 1000);
	r->model.now_ms += 1000;
	dash_rig_press(r, "k"); /* now delta is at the top */
	selects(r, "delta");
}

static void next_waiting_goes_round(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "n");
	assert_true(dash_rig_shows(r, "no VM waits for you"));
	dash_rig_attention(r, "beta", ATTENTION_WAITING, RIG_MINUTE);
	dash_rig_attention(r, "delta", ATTENTION_FINISHED, RIG_MINUTE);
	dash_rig_press(r, "n");
	selects(r, "beta");
	dash_rig_find(r, "beta")->status.attention.seen = true;
	dash_rig_press(r, "n");
	selects(r, "delta");
	dash_rig_find(r, "delta")->status.attention.seen = true;
	dash_rig_press(r, "n"); /* seen, but it still waits */
	selects(r, "beta");
	dash_rig_press(r, "/");
	dash_rig_type(r, "delta");
	dash_rig_press(r, "Enter n"); /* the filter hides it: that is no reason to miss it */
	selects(r, "beta");
	assert_true(dash_rig_shows(r, "delta "));
}

static void what_is_looked_at_becomes_seen(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_attention(r, "alpha", ATTENTION_WAITING, 0);
	dash_look(r->dash);
	r->model.now_ms += 60000;
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, "")); /* nobody has touched a key: nobody is there */
	dash_rig_press(r, "n");
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, "seen alpha\n"));
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, "")); /* once */
	dash_rig_attention(r, "delta", ATTENTION_WAITING, 0);
	dash_rig_press(r, "n");
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, "")); /* passing by is not looking */
	r->model.now_ms += 1000;
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, "seen delta\n"));
	dash_rig_attention(r, "alpha", ATTENTION_WAITING, 0);
	r->model.now_ms += 5000;
	dash_rig_press(r, "n Enter");
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, "seen alpha\n")); /* who types, looks */
}

static void refusals_become_seen_in_the_feed(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_deny(r, "beta", 0, "one.example:443", "no rule");
	dash_rig_deny(r, "alpha", 0, "two.example:443", "no rule");
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, ""));
	dash_rig_press(r, "Tab");
	dash_look(r->dash);
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, "seen denied alpha\n"));
	dash_rig_press(r, "k");
	dash_look(r->dash);
	assert_true(dash_rig_asked(r, "seen denied beta\n"));
}

static void filters_and_sorts(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_find(r, "delta")->status.cpu_permille = 900;
	dash_rig_press(r, "/");
	dash_rig_type(r, "!alp");
	assert_false(dash_rig_shows(r, "alpha "));
	assert_true(dash_rig_shows(r, "2 of 3"));
	dash_rig_press(r, "Escape"); /* as it was before */
	assert_true(dash_rig_shows(r, "alpha "));
	dash_rig_press(r, "/");
	dash_rig_type(r, "ta");
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_shows(r, "2 of 3"));
	dash_rig_press(r, "Escape");
	assert_true(dash_rig_shows(r, "alpha "));
	dash_rig_press(r, ":");
	dash_rig_type(r, "sort cpu");
	dash_rig_press(r, "Enter");
	assert_true(r->kept.has_sort);
	assert_int_equal(r->kept.sort, SORT_CPU);
	assert_true(dash_rig_shows(r, "CPU▾") || dash_rig_shows(r, "by cpu"));
	dash_rig_press(r, "Home");
	selects(r, "delta");
	dash_rig_press(r, "o");
	assert_int_equal(r->kept.sort, SORT_MEM);
	dash_rig_press(r, ":");
	dash_rig_type(r, "sort colour");
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_shows(r, "no order 'colour'"));
}

/* ---- panes ---- */

static void the_wanted_pane_has_the_size_inside(void **state)
{
	struct dash_rig *r = *state;
	struct pane_wish want[DASH_PANES_MOST], zoomed[DASH_PANES_MOST];
	struct vm_status *alpha = &dash_rig_find(r, "alpha")->status;
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 1);
	assert_string_equal(want[0].vm, "alpha");
	assert_int_equal(want[0].term, 0);
	dash_rig_press(r, "z");
	assert_int_equal(dash_wanted_panes(r->dash, zoomed, DASH_PANES_MOST), 1);
	assert_int_equal(zoomed[0].rows, 24 - 3);
	assert_int_equal(zoomed[0].cols, 100);
	dash_rig_press(r, "z");
	assert_int_equal(dash_wanted_panes(r->dash, zoomed, DASH_PANES_MOST), 1);
	assert_int_equal(zoomed[0].rows, want[0].rows);
	assert_int_equal(zoomed[0].cols, want[0].cols);
	dash_rig_find(r, "alpha")->deaf =
	    true; /* a terminal would be refused; it opens when somebody listens */
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 0);
	dash_rig_find(r, "alpha")->deaf = false;
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 1);
	alpha->state = VM_BOOTING;
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 0);
	assert_string_equal(dash_wanted_console(r->dash), "alpha");
	alpha->state = VM_READY;
	assert_string_equal(dash_wanted_console(r->dash), "");
	dash_resize(r->dash, 20, 40); /* only the list */
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 0);
	dash_rig_press(r, "Enter");
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 1);
	assert_int_equal(want[0].cols, 40);
	dash_resize(r->dash, 1, 1);
	dash_rig_press(r, "C-] Enter");
	assert_false(dash_is_typing(r->dash));
}

static void the_grid_shows_several(void **state)
{
	struct dash_rig *r = *state;
	struct pane_wish want[DASH_PANES_MOST];
	dash_rig_vm(r, "gamma", VM_READY);
	dash_rig_vm(r, "kappa", VM_STOPPED);
	dash_resize(r->dash, 30, 100);
	dash_rig_attention(r, "kappa", ATTENTION_NONE, 0);
	dash_rig_press(r, "g");
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 4); /* kappa has no terminal */
	assert_string_equal(want[0].vm, "alpha");
	assert_string_equal(want[3].vm, "gamma");
	/* By name, whoever waits: each keeps its place. */
	dash_rig_attention(r, "gamma", ATTENTION_WAITING, 0);
	r->model.now_ms += 60000;
	dash_wanted_panes(r->dash, want, DASH_PANES_MOST);
	assert_string_equal(want[3].vm, "gamma");
	dash_rig_press(r, "l l Enter y C-]");
	assert_true(dash_rig_asked(r, "key delta y\n"));
	dash_rig_press(r, "z");
	assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), 1);
	assert_string_equal(want[0].vm, "delta");
	dash_rig_press(r, "z Escape");
	assert_true(dash_rig_shows(r, "▸ delta "));
}

static void the_grid_has_sizes_and_pages(void **state)
{
	struct dash_rig *r = *state;
	static const struct {
		const char *key;
		size_t panes;
	} CASES[] = {{"g", 9}, {"+", 9}, {"-", 6},   {"-", 4},    {"-", 2},
	             {"-", 2}, {"+", 4}, {"g g", 4}, {"+ + +", 9}};
	struct pane_wish want[DASH_PANES_MOST];
	for (int i = 0; i < 8; i++) {
		char name[8];
		snprintf(name, sizeof(name), "n%d", i);
		dash_rig_vm(r, name, VM_READY);
	}
	dash_resize(r->dash, 60, 200);
	dash_rig_press(r, "-"); /* nothing outside of the grid */
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		dash_rig_press(r, CASES[i].key);
		assert_int_equal(dash_wanted_panes(r->dash, want, DASH_PANES_MOST), CASES[i].panes);
	}
	assert_true(dash_rig_shows(r, "11 VMs · 1-9 of 11"));
	dash_rig_press(r, "End");
	assert_true(dash_rig_shows(r, "11 VMs · 10-11 of 11"));
	dash_rig_press(r, "Home -");
	assert_true(dash_rig_shows(r, "1-6 of 11"));
	dash_resize(r->dash, 12, 40); /* one stands for them */
	assert_true(dash_rig_shows(r, "11 VMs · 1 of 11"));
	dash_rig_press(r, "z");
	assert_false(dash_rig_shows(r, "1 of 11"));
	dash_resize(r->dash, 60, 200);
	dash_rig_press(r, "z / n Enter + +");
	assert_true(dash_rig_shows(r, "11 VMs"));
	assert_false(dash_rig_shows(r, " of 8")); /* all that match are here */
}

static void terminals_are_tabs(void **state)
{
	struct dash_rig *r = *state;
	struct pane_wish want[DASH_PANES_MOST];
	struct vm_status *s = &dash_rig_find(r, "alpha")->status;
	dash_rig_press(r, "c");
	assert_true(strstr(r->log.s, "new terminal alpha "));
	str_clear(&r->log);
	dash_new_terminal(r->dash, "alpha", 4); /* not in the status yet */
	dash_wanted_panes(r->dash, want, DASH_PANES_MOST);
	assert_int_equal(want[0].term, 4);
	s->terminal_count = 2;
	s->terminal[0] = (struct vm_terminal){.number = 1, .first = true};
	s->terminal[1] = (struct vm_terminal){.number = 4};
	dash_wanted_panes(r->dash, want, DASH_PANES_MOST);
	assert_int_equal(want[0].term, 4);
	dash_rig_press(r, "l"); /* round to the first one */
	dash_wanted_panes(r->dash, want, DASH_PANES_MOST);
	assert_int_equal(want[0].term, 0);
	dash_rig_press(r, "h");
	dash_rig_pane(r, "alpha", 4, 10, 20);
	dash_rig_press(r, "C y");
	assert_true(dash_rig_asked(r, "hang up alpha:4\n"));
	s->terminal[2] = (struct vm_terminal){.number = 6};
	s->terminal_count = 3;
	dash_rig_press(r, "l"); /* to 6 */
	dash_wanted_panes(r->dash, want, DASH_PANES_MOST);
	assert_int_equal(want[0].term, 6);
	s->terminal_count = 2; /* it has ended: its neighbour */
	dash_wanted_panes(r->dash, want, DASH_PANES_MOST);
	assert_int_equal(want[0].term, 4);
	s->terminal[0] = s->terminal[2]; /* the first one too, and this one */
	s->terminal_count = 1;
	dash_wanted_panes(r->dash, want, DASH_PANES_MOST);
	assert_int_equal(want[0].term, 6);
	s->terminal[0] = (struct vm_terminal){.number = 1, .first = true};
	dash_wanted_panes(r->dash, want, DASH_PANES_MOST);
	assert_int_equal(want[0].term, 0);
}

static void enter_on_a_failed_vm_shows_its_console(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_find(r, "alpha")->status.state = VM_FAILED;
	r->panes[0].source.link = PANE_BROKEN;
	dash_rig_press(r, "End");
	r->model.console = "Kernel panic";
	dash_resize(r->dash, 12, 40);
	assert_false(dash_rig_shows(r, "Kernel panic"));
	dash_rig_press(r, "Enter");
	assert_true(dash_rig_shows(r, "Kernel panic"));
	assert_false(dash_is_typing(r->dash));
	dash_rig_press(r, "Enter");
	assert_false(dash_rig_shows(r, "Kernel panic"));
}

static void a_vm_without_a_console_says_how_it_starts(void **state)
{
	struct dash_rig *r = *state;
	struct vm_status *s = &dash_rig_find(r, "alpha")->status;
	s->state = VM_FAILED;
	r->panes[0].source.link = PANE_BROKEN;
	snprintf(s->reason, sizeof(s->reason), "QEMU was killed");
	dash_rig_press(r, "End");
	assert_true(dash_rig_shows(r, "Failed: QEMU was killed."));
	assert_true(dash_rig_shows(r, "Start it again: R, or ccvm up alpha"));
	assert_false(dash_rig_shows(r, "console is empty"));
	s->state = VM_STOPPED;
	assert_true(dash_rig_shows(r, "Stopped. Start it again: R, or ccvm up alpha"));
}

static void escape_leads_back(void **state)
{
	struct dash_rig *r = *state;
	dash_resize(r->dash, 20, 90);
	dash_rig_press(r, "j j z");
	assert_false(dash_rig_shows(r, "alpha"));
	dash_rig_press(r, "Escape"); /* nothing of the list was scrolled away while it was hidden */
	assert_true(dash_rig_shows(r, "alpha  "));
	assert_true(dash_rig_shows(r, "beta  "));
	dash_rig_press(r, "Escape");
	assert_false(dash_rig_shows(r, "does nothing"));
}

static void the_plain_actions_reach_the_app(void **state)
{
	struct dash_rig *r = *state;
	dash_rig_press(r, "C-l C-z q C-c");
	assert_true(dash_rig_asked(r, "repaint\nsuspend\nquit\nquit\n"));
	dash_rig_press(r, "? q"); /* closes the help, no more */
	assert_true(dash_rig_asked(r, ""));
	dash_rig_press(r, "q");
	assert_true(dash_rig_asked(r, "quit\n"));
}

static void copy_mode_reads_and_copies(void **state)
{
	struct dash_rig *r = *state;
	static const struct cell PLAIN = {0};
	dash_rig_put(&r->screens[0], 0, 0, &PLAIN, "first line");
	dash_rig_put(&r->screens[0], 1, 0, &PLAIN, "second line");
	dash_rig_press(r, "[");
	assert_true(dash_rig_shows(r, "COPY"));
	dash_rig_press(r, "g V j y");
	assert_true(dash_rig_asked(r, "copy first line\nsecond line\n\n") ||
	            dash_rig_asked(r, "copy first line\nsecond line\n"));
	assert_true(dash_rig_shows(r, "COMMAND"));
	dash_rig_press(r, "[ G ?");
	dash_rig_type(r, "first");
	dash_rig_press(r, "Enter v e y");
	assert_true(dash_rig_asked(r, "copy first\n"));
	dash_rig_press(r, "[ j n q");
	assert_true(dash_rig_asked(r, ""));
	assert_true(dash_rig_shows(r, "COMMAND"));
	dash_rig_press(r, "[");
	dash_rig_remove(r, "alpha"); /* what was read is gone */
	assert_true(dash_rig_shows(r, "COMMAND"));
}

int main(void)
{
	setlocale(LC_ALL, "");
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(typing_passes_every_key),
	    T(the_key_that_leaves_can_be_sent),
	    T(and_only_at_once),
	    T(the_wheel_is_for_full_screen_programs),
	    T(pastes_are_no_commands),
	    T(typing_ends_with_its_vm),
	    T(an_ended_terminal_is_opened_again),
	    T(a_filter_does_not_take_away_what_is_typed_into),
	    T(selection_is_a_name),
	    T(who_waits_comes_first_but_not_under_the_finger),
	    T(next_waiting_goes_round),
	    T(what_is_looked_at_becomes_seen),
	    T(refusals_become_seen_in_the_feed),
	    T(filters_and_sorts),
	    T(the_wanted_pane_has_the_size_inside),
	    T(the_grid_shows_several),
	    T(the_grid_has_sizes_and_pages),
	    T(terminals_are_tabs),
	    T(enter_on_a_failed_vm_shows_its_console),
	    T(a_vm_without_a_console_says_how_it_starts),
	    T(escape_leads_back),
	    T(the_plain_actions_reach_the_app),
	    T(copy_mode_reads_and_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
