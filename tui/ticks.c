#include "tui/ticks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tui/words.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)

/* Also one that begins in a moment, by a clock that is a little behind. */
static bool in_seconds(int64_t since_ms, int64_t now_ms)
{
	return since_ms > 0 && llabs(now_ms - since_ms) < MINUTE;
}

int64_t ticks_next(const struct model *m)
{
	bool seconds = false;
	for (size_t i = 0; i < m->vm_count && !seconds; i++) {
		const struct vm_status *s = &m->vms[i]->status;
		int64_t since = 0;
		words_vm(m->vms[i], &since);
		seconds = in_seconds(since, m->now_ms) || in_seconds(s->started_ms, m->now_ms) ||
		          in_seconds(s->attention.at_ms, m->now_ms);
	}
	for (size_t i = 0; i < m->job_count && !seconds; i++)
		seconds = in_seconds(m->jobs[i].started_ms, m->now_ms);
	int64_t unit = seconds ? SECOND : MINUTE;
	return unit - m->now_ms % unit;
}
