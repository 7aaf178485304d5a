/* What a console does with terminals beside looking at them: the list in the status, sizes, pastes, focus, signals, pauses. */
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/supervisor/board.h"
#include "core/supervisor/session_internal.h"
#include "core/supervisor/terminals.h"
#include "core/term/transcript.h"
#include "tests/lib/loop_wait.h"
#include "tests/lib/term_rig.h"

/* ---- the list in the status ---- */

static const struct vm_terminal *entry(struct rig *f, uint32_t number)
{
	return board_terminal(f->board, number);
}

static void open_program(struct peer *p, uint32_t id, const char *const *argv)
{
	struct buf packed = BUF_INIT(1024);
	assert_true(wire_pack_strings(&packed, argv));
	struct wire_term_open m = {.term = WIRE_TERM_NEW, .argv = {.p = packed.data, .len = packed.len}};
	wire_put_term_open(&p->out, id, &m);
	peer_send(p);
	buf_finish(&packed);
}

static bool has_title(void *arg)
{
	struct rig *f = arg;
	return strcmp(board_status(f->board)->terminal[0].title, "b\303\244r") == 0;
}

static void the_status_lists_the_terminals(void **state)
{
	struct rig *f = *state;
	const struct vm_status *v = board_status(f->board);
	peer_greet(f, &f->a);
	peer_greet(f, &f->b);
	rig_open_term(&f->a, 1, 0, 30, 100);
	uint32_t one = rig_take_opened(&f->a, 1);
	open_program(&f->b, 2, ARGV("/usr/bin/claude", "--resume", "x\x1by"));
	uint32_t two = rig_take_opened(&f->b, 2);
	assert_int_equal(v->terminal_count, 2);
	assert_int_equal(v->terminal[0].number, one);
	assert_int_equal(v->terminal[1].number, two);
	assert_true(entry(f, one)->first && !entry(f, two)->first);
	assert_int_equal(entry(f, one)->rows, 30);
	assert_int_equal(entry(f, one)->cols, 100);
	assert_int_equal(entry(f, two)->rows, 24);
	assert_int_equal(entry(f, two)->watchers, 1);
	assert_string_equal(entry(f, one)->command, "shell");
	assert_string_equal(entry(f, two)->command, "claude --resume x\\x1by");
	rig_open_term(&f->b, 3, one, 0, 0);
	rig_take_after_screens(&f->b, WIRE_TERM_OPENED);
	assert_int_equal(entry(f, one)->watchers, 2);
	guest_double_write(f->guest, "\x1b]2;b\303\244r\a", 9);
	assert_true(loop_wait(f->loop, has_title, f));
	peer_close(&f->b);
	assert_int_equal(entry(f, one)->watchers, 1);
	assert_int_equal(entry(f, two)->watchers, 0); /* it runs on */
	entry(f, two);
	rig_type(&f->a, one, "\n");
	rig_take_after_screens(&f->a, WIRE_TERM_CLOSED);
	assert_int_equal(v->terminal_count, 1);
	assert_int_equal(v->terminal[0].number, two);
	assert_null(entry(f, one));
}

static void every_watcher_is_told_of_a_title(void **state)
{
	struct rig *f = *state;
	struct wire_status watch = {.watch = 1};
	struct wire_terminal_info m;
	struct err e = ERR_INIT;
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 0, 30, 100);
	rig_take_opened(&f->a, 1);
	loop_settle(f->loop);
	peer_greet(f, &f->b);
	wire_put_status(&f->b.out, 5, &watch);
	peer_send(&f->b);
	struct wire_status_reply status = peer_take_status(&f->b);
	guest_double_write(f->guest, "\x1b]2;news\a", 9);
	do {
		status = peer_take_status(&f->b);
		struct frame frame;
		size_t used;
		assert_int_equal(frame_parse(status.terminal_list, &frame, &used, &e), FRAME_READY);
		assert_int_equal(used, status.terminal_list.len);
		assert_true(wire_get_terminal_info(frame.body, &m, &e));
	} while (strcmp(m.title, "news") != 0);
}

static void a_full_list_fits_into_a_status(void **state)
{
	struct rig *f = *state;
	struct vm_status v = {.name = "alpha"};
	struct buf out = BUF_INIT(1 << 20);
	(void)f;
	memset(v.reason, 'r', sizeof(v.reason) - 1);
	memset(v.attention.text, 'a', sizeof(v.attention.text) - 1);
	for (v.terminal_count = 0; v.terminal_count < VM_TERMINALS_MOST; v.terminal_count++) {
		struct vm_terminal *t = &v.terminal[v.terminal_count];
		t->number = v.terminal_count + 1;
		memset(t->title, 't', sizeof(t->title) - 1);
		memset(t->command, 'c', sizeof(t->command) - 1);
		memset(t->attention.text, 'a', sizeof(t->attention.text) - 1);
	}
	assert_true(session_put_status(&out, 1, &v));
	buf_finish(&out);
}

static void a_program_knows_its_terminal(void **state)
{
	struct rig *f = *state;
	const char *const env[] = {"CCVM_TERMINAL=77", "A=b", NULL};
	struct buf packed = BUF_INIT(WIRE_ARGV_MAX);
	assert_true(wire_pack_strings(&packed, env));
	struct wire_term_open m = {.term = WIRE_TERM_NEW, .env = {.p = packed.data, .len = packed.len}};
	peer_greet(f, &f->a);
	wire_put_term_open(&f->a.out, 1, &m);
	peer_send(&f->a);
	assert_int_equal(rig_take_opened(&f->a, 1), 1);
	assert_string_equal(guest_double_env(f->guest),
	                    "CCVM_TERMINAL=77 A=b CCVM_TERMINAL=1 "); /* the last counts */
	while (packed.len < WIRE_ARGV_MAX)
		buf_put_u8(&packed, 0);
	m.env = (struct bytes){.p = packed.data, .len = packed.len};
	wire_put_term_open(&f->a.out, 2, &m);
	peer_send(&f->a);
	assert_int_equal(rig_take_after_screens(&f->a, WIRE_ERROR)->id, 2);
	assert_int_equal(board_status(f->board)->terminal_count, 1);
	buf_finish(&packed);
}

/* ---- sizes ---- */

static bool has_last_size(void *arg)
{
	unsigned rows, cols;
	guest_double_resizes(((struct rig *)arg)->guest, &rows, &cols);
	return rows == 7 && cols == 33;
}

static void a_storm_of_sizes_ends_with_the_last(void **state)
{
	struct rig *f = *state;
	unsigned rows, cols;
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 0, 24, 80);
	uint32_t term = rig_take_opened(&f->a, 1);
	uint64_t start = clock_mono_ms();
	for (unsigned i = 0; i < 500; i++) {
		rig_resize(&f->a, term, (uint16_t)(10 + i % 50), (uint16_t)(20 + i % 100));
		loop_turn(f->loop, true);
	}
	rig_resize(&f->a, term, 7, 33);
	assert_true(loop_wait(f->loop, has_last_size, f));
	uint64_t took = clock_mono_ms() - start;
	unsigned told = guest_double_resizes(f->guest, &rows, &cols);
	assert_in_range(told, 2, took / TERMINALS_RESIZE_MS + 2); /* the first at once, the last always */
	assert_int_equal(entry(f, term)->rows, 7);
	assert_int_equal(entry(f, term)->cols, 33);
	loop_settle(f->loop);
	assert_int_equal(guest_double_resizes(f->guest, &rows, &cols), told);
}

static void a_storm_may_end_where_it_began(void **state)
{
	struct rig *f = *state;
	unsigned rows, cols;
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 0, 24, 80);
	uint32_t term = rig_take_opened(&f->a, 1);
	rig_resize(&f->a, term, 30, 90); /* at once */
	rig_resize(&f->a, term, 31, 91);
	rig_resize(&f->a, term, 7, 33);
	assert_true(loop_wait(f->loop, has_last_size, f));
	assert_int_equal(guest_double_resizes(f->guest, &rows, &cols), 2);
}

/* ---- pastes ---- */

static void put_paste(struct peer *p, uint32_t term, const char *text, size_t len, bool first, bool last)
{
	struct wire_term_paste m = {
	    .term = term, .first = first, .last = last, .text = {.p = (const uint8_t *)text, .len = len}};
	wire_put_term_paste(&p->out, 0, &m);
	peer_send(p);
}

static void expect_typed(struct rig *f, const char *want)
{
	loop_settle(f->loop);
	struct bytes got = guest_double_typed(f->guest);
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.p, want, got.len);
}

static uint32_t open_bracketed(struct rig *f)
{
	peer_greet(f, &f->a);
	peer_greet(f, &f->b);
	rig_open_term(&f->a, 1, 0, 24, 80);
	uint32_t term = rig_take_opened(&f->a, 1);
	rig_open_term(&f->b, 1, 0, 0, 0);
	rig_take_opened(&f->b, 1);
	guest_double_write(f->guest, "\x1b[?2004h\x1b[?1004h", 16);
	loop_settle(f->loop);
	return term;
}

static void pieces_are_one_paste(void **state)
{
	struct rig *f = *state;
	uint32_t term = open_bracketed(f);
	put_paste(&f->a, term, "one ", 4, true, false);
	loop_settle(f->loop);
	rig_type(&f->b, term, "x"); /* does not get into it */
	expect_typed(f, "x");
	put_paste(&f->a, term, "two", 3, false, true);
	expect_typed(f, "\x1b[200~one two\x1b[201~");
	put_paste(&f->a, term, "lost", 4, false, true); /* has no beginning */
	expect_typed(f, "");
	put_paste(&f->a, term, "begun", 5, true, false);
	put_paste(&f->a, term, "anew", 4, true, true);
	expect_typed(f, "\x1b[200~anew\x1b[201~");
	put_paste(&f->a, term, "begun", 5, true, false);
	peer_close(&f->a); /* dies in the middle: nothing is left open */
	rig_type(&f->b, term, "y");
	expect_typed(f, "y");
}

static bool has_paste(void *arg)
{
	return guest_double_got(((struct rig *)arg)->guest) >= TERMINALS_PASTE_MAX + 12;
}

static void a_mebibyte_reaches_a_slow_guest_whole(void **state)
{
	struct rig *f = *state;
	uint32_t term = open_bracketed(f);
	char *text FREE_ON_EXIT = mem_alloc(WIRE_DATA_MAX);
	memset(text, 'p', WIRE_DATA_MAX);
	guest_double_read(f->guest, false);
	for (size_t at = 0; at < TERMINALS_PASTE_MAX; at += WIRE_DATA_MAX) {
		bool last = at + WIRE_DATA_MAX == TERMINALS_PASTE_MAX;
		put_paste(&f->a, term, text, WIRE_DATA_MAX, at == 0, last);
	}
	loop_settle(f->loop);
	assert_int_equal(guest_double_got(f->guest), 0);
	rig_type(&f->a, term, "!");
	loop_settle(f->loop);
	guest_double_read(f->guest, true);
	assert_true(loop_wait(f->loop, has_paste, f));
	loop_settle(f->loop);
	struct bytes got = guest_double_typed(f->guest);
	assert_int_equal(got.len, TERMINALS_PASTE_MAX + 12 + 1);
	assert_memory_equal(got.p, "\x1b[200~ppp", 9);
	assert_memory_equal(got.p + got.len - 10, "ppp\x1b[201~!", 10);
	size_t brackets = 0;
	for (size_t i = 0; i < got.len; i++)
		brackets += got.p[i] == 0x1b;
	assert_int_equal(brackets, 2);
	/* One byte more than a paste may have: nothing of it. */
	put_paste(&f->a, term, "a", 1, true, false);
	for (size_t at = 0; at < TERMINALS_PASTE_MAX; at += WIRE_DATA_MAX)
		put_paste(&f->a, term, text, WIRE_DATA_MAX, false, at + WIRE_DATA_MAX == TERMINALS_PASTE_MAX);
	expect_typed(f, "");
}

/* ---- focus ---- */

static void put_focus(struct peer *p, uint32_t term, bool focused)
{
	struct wire_term_focus m = {.term = term, .focused = focused};
	wire_put_term_focus(&p->out, 0, &m);
	peer_send(p);
}

static void the_focus_is_that_of_any_watcher(void **state)
{
	struct rig *f = *state;
	uint32_t term = open_bracketed(f);
	put_focus(&f->a, term, true);
	expect_typed(f, "\x1b[I");
	put_focus(&f->b, term, true);
	put_focus(&f->a, term, false);
	expect_typed(f, "");
	peer_close(&f->b);
	expect_typed(f, "\x1b[O");
	put_focus(&f->a, term, false);
	expect_typed(f, "");
}

/* ---- the mouse ---- */

static void the_mouse_is_for_those_who_ask(void **state)
{
	struct rig *f = *state;
	uint32_t term = open_bracketed(f);
	struct wire_term_mouse m = {
	    .term = term, .kind = MOUSE_PRESS, .button = MOUSE_LEFT, .row = 4, .col = 9};
	wire_put_term_mouse(&f->a.out, 0, &m);
	peer_send(&f->a);
	expect_typed(f, "");
	guest_double_write(f->guest, "\x1b[?1000h\x1b[?1006h", 16);
	loop_settle(f->loop);
	wire_put_term_mouse(&f->a.out, 0, &m);
	peer_send(&f->a);
	expect_typed(f, "\x1b[<0;10;5M");
}

/* ---- history ---- */

static void ask_history(struct peer *p, uint32_t id, uint32_t term, uint64_t before, uint32_t most)
{
	struct wire_term_history m = {.term = term, .before = before, .most = most};
	wire_put_term_history(&p->out, id, &m);
	peer_send(p);
}

static struct wire_term_lines take_lines(struct peer *p, uint32_t id)
{
	struct wire_term_lines m;
	struct err e = ERR_INIT;
	const struct got *g = rig_take_after_screens(p, WIRE_TERM_LINES);
	assert_int_equal(g->id, id);
	assert_true(wire_get_term_lines(got_body(g), &m, &e));
	return m;
}

static void expect_line(const struct transcript *t, uint64_t number, const char *want)
{
	struct cell cells[80];
	size_t n = transcript_line(t, number, cells, ARRAY_LEN(cells), NULL);
	assert_int_equal(n, strlen(want));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(cells[i].code, want[i]);
}

static void the_history_comes_in_pieces(void **state)
{
	struct rig *f = *state;
	struct screen screen;
	struct err e = ERR_INIT;
	screen_init(&screen, 1, 2);
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 0, 3, 80);
	uint32_t term = rig_take_opened(&f->a, 1);
	guest_double_write(f->guest, "\x1b[H\x1b[2J", 7);
	for (int i = 0; i < 30; i++) {
		char line[20];
		int n = snprintf(line, sizeof(line), "line %d\r\n", i);
		guest_double_write(f->guest, line, (size_t)n);
	}
	rig_wait_row(&f->a, &screen, "line 28");
	struct transcript *t = transcript_create(&screen);
	uint64_t first = transcript_first(t);
	ask_history(&f->a, 2, term, first, 20);
	struct wire_term_lines m = take_lines(&f->a, 2);
	assert_int_equal(m.count, 20);
	assert_int_equal(m.first, first - 20);
	if (!transcript_prepend(t, m.first, m.count, m.lines, &e))
		fail_msg("%s", e.msg);
	ask_history(&f->a, 3, term, transcript_first(t), UINT32_MAX);
	m = take_lines(&f->a, 3);
	assert_int_equal(m.count, 8);
	assert_true(transcript_prepend(t, m.first, m.count, m.lines, &e));
	for (uint64_t i = 0; i < 30; i++) {
		char want[20];
		snprintf(want, sizeof(want), "line %d", (int)i);
		expect_line(t, transcript_first(t) + i, want);
	}
	ask_history(&f->a, 4, term, transcript_first(t), 5);
	assert_int_equal(take_lines(&f->a, 4).count, 0);
	ask_history(&f->a, 5, term + 1, first, 5); /* not watched here */
	assert_int_equal(rig_take_after_screens(&f->a, WIRE_ERROR)->id, 5);
	transcript_destroy(t);
	screen_finish(&screen);
}

/* ---- signals ---- */

static void ask_signal(struct peer *p, uint32_t id, uint32_t term, int signum)
{
	struct wire_term_signal m = {.term = term, .signum = (uint8_t)signum};
	wire_put_term_signal(&p->out, id, &m);
	peer_send(p);
}

static void a_terminal_is_closed_by_a_signal(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	ask_signal(&f->a, 1, 0, SIGHUP);
	peer_take_error(&f->a, 1, ERR_NOT_FOUND);
	rig_open_term(&f->a, 2, 0, 24, 80);
	uint32_t term = rig_take_opened(&f->a, 2);
	peer_greet(f, &f->b); /* need not watch it */
	ask_signal(&f->b, 3, term, SIGHUP);
	peer_take_ok(&f->b, 3);
	loop_settle(f->loop);
	assert_int_equal(guest_double_signal(f->guest), SIGHUP);
	ask_signal(&f->b, 4, 0, SIGTERM);
	peer_take_ok(&f->b, 4);
	loop_settle(f->loop);
	assert_int_equal(guest_double_signal(f->guest), SIGTERM);
	static const int BAD[] = {0, SIGSTOP, SIGSEGV, SIGUSR1, 65, 255};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		ask_signal(&f->b, 5, term, BAD[i]);
		peer_take_error(&f->b, 5, ERR_INVALID);
	}
	assert_int_equal(guest_double_signal(f->guest), SIGTERM);
}

/* ---- pause, seen ---- */

static void ask_pause(struct peer *p, uint32_t id, bool paused)
{
	struct wire_pause m = {.paused = paused};
	wire_put_pause(&p->out, id, &m);
	peer_send(p);
}

static void set_paused(struct rig *f, bool paused)
{
	board_edit(f->board)->paused = paused;
	board_changed(f->board);
}

static void a_pause_is_answered_when_it_is_so(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	ask_pause(&f->a, 1, true);
	loop_settle(f->loop);
	assert_int_equal(f->pauses, 1);
	board_edit(f->board)->denied++;
	board_changed(f->board); /* another change is no answer */
	loop_settle(f->loop);
	assert_int_equal(f->a.taken, f->a.count);
	set_paused(f, true);
	assert_string_equal(peer_take_ok(&f->a, 1).text, "paused");
	ask_pause(&f->a, 2, true); /* nothing to do */
	peer_take_ok(&f->a, 2);
	assert_int_equal(f->pauses, 1);
	rig_open_term(&f->a, 3, 0, 24, 80); /* would wait for ever */
	struct wire_error said = peer_take_error(&f->a, 3, ERR_INVALID);
	assert_non_null(strstr(said.text, "paused"));
	wire_put_empty(&f->a.out, WIRE_PING, 4);
	peer_send(&f->a);
	peer_take_error(&f->a, 4, ERR_INVALID);
	ask_pause(&f->a, 5, false);
	loop_settle(f->loop);
	assert_int_equal(f->resumes, 1);
	set_paused(f, false);
	assert_string_equal(peer_take_ok(&f->a, 5).text, "goes on");
	ask_pause(&f->a, 6, true);
	loop_settle(f->loop);
	rig_set_state(f, VM_STOPPED); /* it will not be paused any more */
	peer_take_error(&f->a, 6, ERR_INVALID);
	ask_pause(&f->a, 7, true);
	peer_take_error(&f->a, 7, ERR_INVALID);
	assert_int_equal(f->pauses, 2);
}

static void what_the_operator_saw_is_told(void **state)
{
	struct rig *f = *state;
	struct wire_seen m = {.attention = 1};
	peer_greet(f, &f->a);
	wire_put_seen(&f->a.out, 1, &m);
	peer_send(&f->a);
	peer_take_ok(&f->a, 1);
	assert_true(f->seen_attention && !f->seen_denied);
	m.denied = 1;
	wire_put_seen(&f->a.out, 2, &m);
	peer_send(&f->a);
	peer_take_ok(&f->a, 2);
	assert_true(f->seen_denied);
}

/* ---- nothing that cannot be ---- */

static void put_bad(struct buf *out, size_t which)
{
	struct wire_term_focus focus = {.term = 1, .focused = 2};
	struct wire_term_paste paste = {.term = 1, .first = 2};
	struct wire_pause pause = {.paused = 2};
	struct wire_seen seen = {.denied = 2};
	struct wire_term_mouse mouse = {.term = 1, .kind = MOUSE_KIND_COUNT};
	switch (which) {
	case 0: wire_put_term_focus(out, 1, &focus); break;
	case 1: wire_put_term_paste(out, 1, &paste); break;
	case 2: wire_put_pause(out, 1, &pause); break;
	case 3: wire_put_seen(out, 1, &seen); break;
	case 4: wire_put_term_mouse(out, 1, &mouse); break;
	default: break;
	}
}

static void values_out_of_range_end_the_session(void **state)
{
	struct rig *f = *state;
	for (size_t i = 0; i < 5; i++) {
		memset(&f->a, 0, sizeof(f->a));
		peer_greet(f, &f->a);
		put_bad(&f->a.out, i);
		assert_true(f->a.out.len > 0);
		peer_send(&f->a);
		peer_take_error(&f->a, 0, ERR_PROTOCOL);
		peer_expect_closed(&f->a);
		peer_close(&f->a);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(the_status_lists_the_terminals),
	    T(every_watcher_is_told_of_a_title),
	    T(a_full_list_fits_into_a_status),
	    T(a_program_knows_its_terminal),
	    T(a_storm_of_sizes_ends_with_the_last),
	    T(a_storm_may_end_where_it_began),
	    T(pieces_are_one_paste),
	    T(a_mebibyte_reaches_a_slow_guest_whole),
	    T(the_focus_is_that_of_any_watcher),
	    T(the_mouse_is_for_those_who_ask),
	    T(the_history_comes_in_pieces),
	    T(a_terminal_is_closed_by_a_signal),
	    T(a_pause_is_answered_when_it_is_so),
	    T(what_the_operator_saw_is_told),
	    T(values_out_of_range_end_the_session),
	};
	return cmocka_run_group_tests_name("supervisor_console", tests, NULL, NULL);
}
