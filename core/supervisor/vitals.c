/* Figures change all the time, also of a guest that does nothing. So that such a one causes no update, a figure that is shown
 * stays until the true one is a clear step away: STEP_PERMILLE of one CPU, STEP_MIB of memory. */
#include "core/supervisor/vitals.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/loop/timer.h"
#include "core/supervisor/agent.h"
#include "core/supervisor/board.h"

#define STEP_PERMILLE 10
#define STEP_MIB      4
#define SPAN_MOST_MS  3600000 /* between two answers */

struct vitals {
	struct loop *loop;
	struct board *board;
	struct board_watch watch;
	const char *vsock_path;
	struct timer *timer;
	struct agent_ask *ask; /* while it is open */
	unsigned watchers;
	bool running; /* asked, or about to be */
	bool known;   /* `last` is there */
	struct wire_agent_pong last;
};

/* ---- figures ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool apply_cpu(struct vm_status *s, const struct wire_agent_pong *before,
                      const struct wire_agent_pong *now)
{
	if (now->uptime_ms <= before->uptime_ms || now->cpu_busy_ms < before->cpu_busy_ms)
		return false;
	uint64_t passed = now->uptime_ms - before->uptime_ms;
	uint64_t busy = now->cpu_busy_ms - before->cpu_busy_ms;
	if (passed > SPAN_MOST_MS)
		return false;
	uint64_t permille = MIN(busy, passed * s->cpus) * 1000 / passed;
	if (distance(permille, s->cpu_permille) < STEP_PERMILLE)
		return false;
	s->cpu_permille = (uint32_t)permille;
	return true;
}

static bool apply_memory(struct vm_status *s, const struct wire_agent_pong *now)
{
	uint64_t total = MIN(now->mem_total_kib, s->memory_bytes / 1024) / 1024;
	uint64_t available = MIN(now->mem_available_kib / 1024, total);
	uint64_t used = total - available;
	if (total == s->mem_total_kib / 1024 && distance(used, s->mem_used_kib / 1024) < STEP_MIB)
		return false;
	s->mem_total_kib = total * 1024;
	s->mem_used_kib = used * 1024;
	return true;
}

bool vitals_apply(struct vm_status *s, const struct wire_agent_pong *before,
                  const struct wire_agent_pong *now)
{
	bool changed = apply_memory(s, now);
	return (before && apply_cpu(s, before, now)) || changed;
}

/* ---- asking ---- */

static void on_answer(void *arg, const struct wire_agent_pong *pong, uint32_t rtt_us, const struct err *e)
{
	struct vitals *v = arg;
	(void)rtt_us;
	agent_ask_close(v->ask);
	v->ask = NULL;
	timer_once(v->timer, e ? VITALS_AGAIN_MS : VITALS_EVERY_MS);
	if (e) {
		v->known = false;
		return;
	}
	bool changed = vitals_apply(board_edit(v->board), v->known ? &v->last : NULL, pong);
	v->known = true;
	v->last = *pong;
	if (changed)
		board_changed(v->board);
}

static void on_timer(void *arg)
{
	struct vitals *v = arg;
	struct err e = ERR_INIT;
	v->ask = agent_ping(v->loop, v->vsock_path, on_answer, v, &e);
	if (!v->ask)
		timer_once(v->timer, VITALS_AGAIN_MS);
}

static void stop(struct vitals *v)
{
	timer_stop(v->timer);
	agent_ask_close(v->ask);
	v->ask = NULL;
	v->known = false;
	v->running = false;
}

/* What stands still uses no CPU; what is not looked at is not known. */
static void forget(struct vitals *v)
{
	struct vm_status *s = board_edit(v->board);
	bool keep_memory = s->paused && v->watchers;
	bool changed = s->cpu_permille || (!keep_memory && s->mem_total_kib);
	s->cpu_permille = 0;
	if (!keep_memory)
		s->mem_total_kib = s->mem_used_kib = 0;
	if (changed)
		board_changed(v->board);
}

static void on_board_change(void *arg)
{
	struct vitals *v = arg;
	const struct vm_status *s = board_status(v->board);
	bool run = v->watchers && s->state == VM_READY && !s->paused;
	if (run == v->running)
		return;
	v->running = run;
	if (run) {
		timer_once(v->timer, VITALS_FIRST_MS);
		return;
	}
	stop(v);
	forget(v);
}

void vitals_watch(struct vitals *v, bool watching)
{
	if (!v)
		return;
	CHECK(watching || v->watchers);
	v->watchers += watching ? 1 : (unsigned)-1;
	on_board_change(v);
}

/* ---- life ---- */

struct vitals *vitals_create(struct loop *loop, struct board *board, const char *vsock_path)
{
	struct vitals *v = mem_alloc(sizeof(*v));
	v->loop = loop;
	v->board = board;
	v->vsock_path = vsock_path;
	v->timer = timer_create_on(loop, on_timer, v);
	board_watch(board, &v->watch, on_board_change, v);
	return v;
}

void vitals_destroy(struct vitals *v)
{
	if (!v)
		return;
	stop(v);
	board_unwatch(&v->watch);
	timer_close(v->timer);
	free(v);
}
