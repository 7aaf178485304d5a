/* Terminals: opened, typed into, watched by several, floods and slow watchers. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/supervisor/board.h"
#include "core/supervisor/terminals.h"
#include "tests/lib/loop_wait.h"
#include "tests/lib/term_rig.h"

static void a_terminal_is_opened_typed_into_and_ends(void **state)
{
	struct rig *f = *state;
	struct wire_term_closed closed;
	struct err e = ERR_INIT;
	struct screen screen;
	screen_init(&screen, 1, 2);
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 9, 0, 30, 100);
	uint32_t term = rig_take_opened(&f->a, 9);
	rig_wait_row(&f->a, &screen, "30x100$");
	assert_int_equal(screen.rows, 30);
	assert_int_equal(screen.cols, 100);
	rig_type(&f->a, term, "ls");
	rig_wait_row(&f->a, &screen, "30x100$ ls");
	struct wire_term_key key = {.term = term, .key = 'x', .mods = 0};
	wire_put_term_key(&f->a.out, 0, &key);
	peer_send(&f->a);
	rig_wait_row(&f->a, &screen, "30x100$ lsx");
	rig_type(&f->a, term, "\n");
	const struct got *g = rig_take_after_screens(&f->a, WIRE_TERM_CLOSED);
	assert_true(wire_get_term_closed(got_body(g), &closed, &e));
	assert_int_equal(closed.term, term);
	assert_int_equal(closed.code, 7);
	rig_open_term(&f->a, 10, 0, 24, 80); /* forgotten: a new one is started */
	assert_int_not_equal(rig_take_opened(&f->a, 10), term);
	screen_finish(&screen);
}

static void two_watch_one_terminal(void **state)
{
	struct rig *f = *state;
	struct screen a, b;
	screen_init(&a, 1, 2);
	screen_init(&b, 1, 2);
	peer_greet(f, &f->a);
	peer_greet(f, &f->b);
	rig_open_term(&f->a, 1, 0, 24, 80);
	uint32_t term = rig_take_opened(&f->a, 1);
	rig_wait_row(&f->a, &a, "24x80$");
	rig_open_term(&f->b, 1, 0, 0, 0); /* does not care for the size */
	assert_int_equal(rig_take_opened(&f->b, 1), term);
	rig_wait_row(&f->b, &b, "24x80$"); /* a late watcher gets the whole screen */
	rig_type(&f->b, term, "hi");
	rig_wait_row(&f->a, &a, "24x80$ hi");
	rig_wait_row(&f->b, &b, "24x80$ hi");
	rig_resize(&f->b, term, 10, 40);
	rig_wait_row(&f->a, &a, "24x80$ hi10x40$");
	assert_int_equal(a.cols, 40);
	rig_type(&f->a, term, "."); /* back to the size of the one who types, before what he types */
	rig_wait_row(&f->a, &a, "24x80$ hi10x40$ 24x80$ .");
	assert_int_equal(a.cols, 80);
	struct wire_term_leave leave = {.term = term};
	wire_put_term_leave(&f->b.out, 0, &leave);
	peer_send(&f->b);
	loop_settle(f->loop);
	size_t count = f->b.count;
	rig_type(&f->a, term, ".");
	rig_wait_row(&f->a, &a, "24x80$ hi10x40$ 24x80$ ..");
	assert_int_equal(f->b.count, count);
	peer_close(&f->a); /* the terminal goes on */
	assert_int_equal(guest_double_programs(f->guest), 1);
	screen_finish(&a);
	screen_finish(&b);
}

static uint32_t take_opened(struct peer *p)
{
	struct wire_term_opened m;
	struct err e = ERR_INIT;
	assert_true(wire_get_term_opened(got_body(rig_take_after_screens(p, WIRE_TERM_OPENED)), &m, &e));
	return m.term;
}

static void do_to_size(struct peer *p, uint32_t term, char deed, uint16_t rows)
{
	struct wire_term_leave leave = {.term = term};
	if (deed == 't') {
		rig_type(p, term, ".");
	} else if (deed == 'r') {
		rig_resize(p, term, rows, 80);
	} else {
		wire_put_term_leave(&p->out, 0, &leave);
		peer_send(p);
	}
	loop_settle(p->f->loop);
}

/* A opens with 10 rows, then B with 20; A resizes to 30, B to 40. */
static void the_size_is_of_who_typed_last(void **state)
{
	struct rig *f = *state;
	static const struct {
		const char *deeds; /* t: types, r: resizes, l: leaves */
		bool by_b[3];
		unsigned rows;
	} CASES[] = {
	    {"", {0}, 20},
	    {"t", {false}, 10},
	    {"r", {false}, 20}, /* opened before the other */
	    {"r", {true}, 40},
	    {"tr", {false, true}, 10},
	    {"tr", {false, false}, 30},
	    {"trt", {false, true, true}, 40}, /* the size that it wanted meanwhile */
	    {"l", {true}, 10},
	    {"tl", {false, false}, 20},
	    {"trl", {false, true, false}, 40},
	    {"tl", {false, true}, 10},
	};
	struct peer *p[2] = {&f->a, &f->b};
	peer_greet(f, p[0]);
	peer_greet(f, p[1]);
	for (uint32_t i = 0; i < ARRAY_LEN(CASES); i++) {
		rig_open_term(p[0], 2 * i + 1, WIRE_TERM_NEW, 10, 80);
		uint32_t term = take_opened(p[0]);
		rig_open_term(p[1], 2 * i + 2, term, 20, 80);
		assert_int_equal(take_opened(p[1]), term);
		for (size_t k = 0; CASES[i].deeds[k]; k++)
			do_to_size(p[CASES[i].by_b[k]], term, CASES[i].deeds[k], CASES[i].by_b[k] ? 40 : 30);
		uint64_t end =
		    clock_mono_ms() + (uint64_t)2 * TERMINALS_RESIZE_MS; /* the last size comes late */
		while (clock_mono_ms() < end)
			loop_turn(f->loop, true);
		if (board_terminal(f->board, term)->rows != CASES[i].rows)
			fail_msg("case %u: %u rows", i, board_terminal(f->board, term)->rows);
	}
}

static void terminals_that_cannot_be_opened(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 5, 24, 80);
	peer_take_error(&f->a, 1, ERR_NOT_FOUND);
	rig_open_term(&f->a, 2, 0, 24, 80);
	rig_take_opened(&f->a, 2);
	rig_open_term(&f->a, 3, 0, 24, 80);
	assert_int_equal(rig_take_after_screens(&f->a, WIRE_ERROR)->id, 3);
	for (uint32_t i = 0; i < BAD_MANNERS_COUNT; i++) {
		guest_double_set(f->guest, BAD_MANNERS[i]);
		rig_open_term(&f->a, 100 + i, WIRE_TERM_NEW, 24, 80);
		assert_int_equal(rig_take_after_screens(&f->a, WIRE_ERROR)->id, 100 + i);
	}
}

/* A screen that changes all the time while its watcher does not read: what is made then is little, and what comes when
 * it reads again is the newest. */
static void a_slow_watcher_gets_the_newest(void **state)
{
	struct rig *f = *state;
	struct screen screen;
	static char fill[150 * 800];
	screen_init(&screen, 1, 2);
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 0, 150, 800); /* an update has some 60 KB */
	rig_take_opened(&f->a, 1);
	rig_wait_row(&f->a, &screen, "150x800$");
	stream_pause(f->a.stream);
	uint64_t end = clock_mono_ms() + 800; /* time for 50 frames, if they were made */
	for (unsigned i = 0; clock_mono_ms() < end; i++) {
		for (size_t k = 0; k < sizeof(fill); k++)
			fill[k] = (char)('a' + (k * 7 + i) % 26);
		guest_double_write(f->guest, "\x1b[H", 3);
		guest_double_write(f->guest, fill, sizeof(fill) / 2);
		guest_double_write(f->guest, fill + sizeof(fill) / 2, sizeof(fill) / 2);
		do
			loop_turn(f->loop, true);
		while (guest_double_unread(f->guest));
	}
	guest_double_write(f->guest, "\x1b[H\x1b[2Jthe end", 14);
	loop_settle(f->loop);
	size_t before = f->a.count;
	stream_resume(f->a.stream);
	rig_wait_row(&f->a, &screen, "the end");
	assert_in_range(f->a.count - before, 1, 15); /* as many as fit in the buffers on the way */
	screen_finish(&screen);
}

/* One client is stopped, its terminal floods: the other one's keys are answered, and nothing piles up for the first. */
static void a_stopped_client_delays_nobody(void **state)
{
	struct rig *f = *state;
	struct wire_status watch = {.watch = 1};
	struct screen screen;
	static char fill[16 * 1024];
	screen_init(&screen, 1, 2);
	peer_greet(f, &f->a);
	peer_greet(f, &f->b);
	wire_put_status(&f->a.out, 9, &watch);
	rig_open_term(&f->a, 1, 0, 150, 800);
	rig_open_term(&f->b, 1, 0, 0, 0);
	rig_take_opened(&f->b, 1);
	loop_settle(f->loop);
	stream_pause(f->a.stream);
	for (unsigned i = 0; i < 300; i++) { /* some 16 KiB for each frame that is made of it */
		for (size_t k = 0; k < sizeof(fill); k++)
			fill[k] = (char)('a' + (k * 7 + i) % 26);
		guest_double_write(f->guest, fill, sizeof(fill));
		guest_double_write(f->guest, i % 2 ? "\x1b]2;one\a\r\n" : "\x1b]2;two\a\r\n", 10);
		do
			loop_turn(f->loop, true);
		while (guest_double_unread(f->guest));
	}
	guest_double_write(f->guest, "\x1b[H\x1b[2J", 7);
	rig_type(&f->b, 1, "key");
	rig_wait_row(&f->b, &screen, "key");
	size_t at = f->a.count, bytes = 0;
	stream_resume(f->a.stream);
	loop_settle(f->loop);
	for (; at < f->a.count; at++)
		bytes += f->a.got[at].len;
	assert_in_range(bytes, 1,
	                STREAM_HIGH_DEFAULT + 1024 * 1024); /* the queue, what the sockets hold, an update */
	screen_finish(&screen);
}

static void a_control_string_of_a_megabyte(void **state)
{
	struct rig *f = *state;
	struct screen screen;
	static char fill[16 * 1024];
	screen_init(&screen, 1, 2);
	memset(fill, 't', sizeof(fill));
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 0, 24, 80);
	uint32_t term = rig_take_opened(&f->a, 1);
	rig_wait_row(&f->a, &screen, "24x80$");
	guest_double_write(f->guest, "\x1b]2;", 4);
	for (int i = 0; i < 64; i++)
		guest_double_write(f->guest, fill, sizeof(fill));
	guest_double_write(f->guest, "\a.", 2);
	rig_wait_row(&f->a, &screen, "24x80$ .");
	assert_in_range(strlen(board_terminal(f->board, term)->title), 0, 256);
	rig_type(&f->a, term, "x");
	rig_wait_row(&f->a, &screen, "24x80$ .x");
	screen_finish(&screen);
}

static void a_flood_is_read_in_pieces(void **state)
{
	struct rig *f = *state;
	static char fill[16 * 1024];
	memset(fill, 'y', sizeof(fill));
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 0, 24, 80);
	rig_take_opened(&f->a, 1);
	loop_settle(f->loop);
	for (int i = 0; i < 10; i++)
		guest_double_write(f->guest, fill, sizeof(fill));
	size_t all = guest_double_unread(f->guest), left;
	while ((left = guest_double_unread(f->guest)) == all)
		loop_turn(f->loop, true);
	assert_in_range(left, 1, all - 1); /* one turn of the loop did not take it all: others had theirs */
	for (int turns = 0; guest_double_unread(f->guest); turns++) {
		assert_in_range(turns, 0, 1000);
		loop_turn(f->loop, true);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(a_terminal_is_opened_typed_into_and_ends),
	    T(two_watch_one_terminal),
	    T(the_size_is_of_who_typed_last),
	    T(terminals_that_cannot_be_opened),
	    T(a_slow_watcher_gets_the_newest),
	    T(a_stopped_client_delays_nobody),
	    T(a_control_string_of_a_megabyte),
	    T(a_flood_is_read_in_pieces),
	};
	return cmocka_run_group_tests_name("supervisor_terminals", tests, NULL, NULL);
}
