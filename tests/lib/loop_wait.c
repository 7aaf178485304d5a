#include "tests/lib/loop_wait.h"

#include "core/base/clock.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"

#define TICK_MS 5

static void on_tick(void *arg)
{
	(void)arg;
}

bool loop_wait(struct loop *loop, bool (*holds)(void *arg), void *arg)
{
	uint64_t deadline = clock_mono_ms() + LOOP_WAIT_MS;
	struct timer *tick =
	    timer_create_on(loop, on_tick, NULL); /* a turn must not sleep on what came before it */
	timer_every(tick, TICK_MS);
	bool ok;
	while (!(ok = holds(arg)) && clock_mono_ms() < deadline)
		loop_turn(loop, false);
	timer_close(tick);
	return ok;
}

static bool is_set(void *arg)
{
	return *(const bool *)arg;
}

bool loop_wait_flag(struct loop *loop, const bool *flag)
{
	return loop_wait(loop, is_set, (void *)(uintptr_t)flag);
}

void loop_settle(struct loop *loop)
{
	for (int i = 0; i < 20; i++)
		loop_turn(loop, true);
}
