/* core/supervisor/vitals: figures that people see, asked only while somebody looks. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"
#include "core/supervisor/board.h"
#include "core/supervisor/vitals.h"
#include "tests/lib/guest_double.h"
#include "tests/lib/loop_wait.h"

#define MIB 1024u /* KiB */

static const struct vm_status TWO_CPUS = {.state = VM_READY, .cpus = 2, .memory_bytes = 512ull << 20};

static struct wire_agent_pong pong(uint64_t uptime_ms, uint64_t busy_ms, uint64_t total, uint64_t available)
{
	return (struct wire_agent_pong){.uptime_ms = uptime_ms,
	                                .cpu_busy_ms = busy_ms,
	                                .mem_total_kib = total,
	                                .mem_available_kib = available};
}

static void figures(void **state)
{
	(void)state;
	static const struct {
		struct {
			uint64_t uptime, busy, total, available;
		} before, now;
		uint32_t permille;
		uint64_t used;
	} CASES[] = {
	    {{1000, 0, 480 * MIB, 80 * MIB}, {6000, 2500, 480 * MIB, 80 * MIB}, 500, 400 * MIB},
	    {{1000, 0, 480 * MIB, 0}, {6000, 10000, 480 * MIB, 0}, 2000, 480 * MIB},
	    {{1000, 0, 1, 1}, {6000, 9999999, 480 * MIB, 481 * MIB}, 2000, 0}, /* over its CPUs */
	    {{1000, 500, 1, 1}, {6000, 400, 900 * MIB, 0}, 0, 512 * MIB}, /* backwards, over its memory */
	    {{6000, 0, 1, 1}, {6000, 400, UINT64_MAX, UINT64_MAX}, 0, 0}, /* no time has passed */
	    {{0, 0, 1, 1}, {UINT64_MAX, UINT64_MAX, 4 * MIB, UINT64_MAX}, 0, 0}, /* nonsense */
	    {{0, 0, 1, 1}, {3600000, UINT64_MAX, 8 * MIB, 0}, 2000, 8 * MIB},
	    {{0, 0, 1, 1}, {3600000, 3600000, 8 * MIB, 0}, 1000, 8 * MIB},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct vm_status s = TWO_CPUS;
		struct wire_agent_pong before = pong(CASES[i].before.uptime, CASES[i].before.busy,
		                                     CASES[i].before.total, CASES[i].before.available);
		struct wire_agent_pong now =
		    pong(CASES[i].now.uptime, CASES[i].now.busy, CASES[i].now.total, CASES[i].now.available);
		assert_true(vitals_apply(&s, &before, &now));
		assert_int_equal(s.cpu_permille, CASES[i].permille);
		assert_int_equal(s.mem_used_kib, CASES[i].used);
		assert_true(s.mem_used_kib <= s.mem_total_kib && s.mem_total_kib <= 512 * MIB);
	}
}

/* The memory of a guest that does nothing goes up and down by some pages, and asking it costs a little. */
static void an_idle_guest_changes_nothing(void **state)
{
	(void)state;
	struct vm_status s = TWO_CPUS;
	struct wire_agent_pong before = pong(1000, 0, 480 * MIB, 300 * MIB + 500);
	assert_true(vitals_apply(&s, NULL, &before));
	assert_int_equal(s.cpu_permille, 0); /* one answer says nothing about it */
	for (unsigned i = 1; i < 100; i++) {
		struct wire_agent_pong now = pong(1000 + 5000 * i, i * 40, 480 * MIB,
		                                  300 * MIB + 500 + (i % 2 ? 2000 : 0) - i % 7 * 300);
		assert_false(vitals_apply(&s, &before, &now));
		before = now;
	}
	struct wire_agent_pong works = pong(600000, 5 * 40 + 20000, 480 * MIB, 290 * MIB);
	assert_true(vitals_apply(&s, &before, &works));
	assert_int_equal(s.mem_used_kib, 190 * MIB);
	assert_true(s.cpu_permille >= 10);
}

/* ---- when it is asked ---- */

struct scene {
	struct loop *loop;
	struct board *board;
	struct vitals *vitals;
	struct board_watch watch;
	struct guest_double *guest;
	unsigned changes, pings;
};

static void on_late(void *arg)
{
	*(bool *)arg = true;
}

static void on_change(void *arg)
{
	((struct scene *)arg)->changes++;
}

static bool has_figures(void *arg)
{
	const struct scene *s = arg;
	return board_status(s->board)->mem_total_kib != 0;
}

static bool has_none(void *arg)
{
	return !has_figures(arg);
}

static bool has_asked(void *arg)
{
	const struct scene *s = arg;
	return guest_double_pings(s->guest) >= s->pings;
}

/* Lets more time pass than the first question takes; nobody may have been asked then. */
static void nobody_asks(struct scene *s)
{
	unsigned before = guest_double_pings(s->guest);
	bool late = false;
	struct timer *t = timer_create_on(s->loop, on_late, &late);
	timer_once(t, VITALS_FIRST_MS + VITALS_FIRST_MS / 5);
	assert_true(loop_wait_flag(s->loop, &late));
	timer_close(t);
	assert_int_equal(guest_double_pings(s->guest), before);
}

static void only_what_is_watched_is_asked(void **state)
{
	(void)state;
	struct scene s = {.loop = loop_create(), .pings = 1};
	char dir[] = "/tmp/ccvm-vitals-XXXXXX";
	struct err e = ERR_INIT;
	assert_non_null(mkdtemp(dir));
	char *path FREE_ON_EXIT = mem_printf("%s/vsock", dir);
	s.guest = guest_double_open(s.loop, path);
	s.board = board_create(s.loop, &TWO_CPUS);
	board_watch(s.board, &s.watch, on_change, &s);
	s.vitals = vitals_create(s.loop, s.board, path);
	nobody_asks(&s);

	vitals_watch(s.vitals, true);
	vitals_watch(s.vitals, true);
	assert_true(loop_wait(s.loop, has_figures, &s));
	assert_true(has_asked(&s));

	vitals_watch(s.vitals, false); /* one is left */
	assert_true(has_figures(&s));
	board_edit(s.board)->cpu_permille = 500;
	board_edit(s.board)->paused = true;
	board_changed(s.board);
	nobody_asks(&s);
	assert_int_equal(board_status(s.board)->cpu_permille, 0);
	assert_true(has_figures(&s)); /* its memory is where it was */

	board_edit(s.board)->paused = false;
	board_changed(s.board);
	s.pings = 2;
	assert_true(loop_wait(s.loop, has_asked, &s));
	vitals_watch(s.vitals, false); /* in the middle of the question */
	assert_true(has_none(&s));
	nobody_asks(&s);

	vitals_watch(s.vitals, true);
	board_edit(s.board)->state = VM_STOPPING;
	board_changed(s.board);
	nobody_asks(&s);

	vitals_destroy(s.vitals);
	board_unwatch(&s.watch);
	board_destroy(s.board);
	guest_double_close(s.guest);
	loop_destroy(s.loop);
	assert_true(fd_remove_tree(dir, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(figures),
	    cmocka_unit_test(an_idle_guest_changes_nothing),
	    cmocka_unit_test(only_what_is_watched_is_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
