#include "tui/ticks.h"

#include "tui/words.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

int64_t ticks_of_duration(int64_t since_ms, int64_t now_ms)
{
	int64_t age = now_ms - since_ms;
	if (age < 0)
		return SECOND - age; /* the clock was set back: "0s" until then */
	int64_t unit = age < MINUTE ? SECOND : age < HOUR ? MINUTE : age < DAY ? HOUR : DAY;
	return unit - age % unit;
}

static int64_t sooner(int64_t next, int64_t since_ms, int64_t now_ms)
{
	return since_ms > 0 ? MIN(next, ticks_of_duration(since_ms, now_ms)) : next;
}

int64_t ticks_next(const struct model *m)
{
	int64_t next = MINUTE - m->now_ms % MINUTE;
	for (size_t i = 0; i < m->vm_count; i++) {
		int64_t since = 0;
		words_vm(m->vms[i], &since);
		next = sooner(next, since, m->now_ms);
		next = sooner(next, m->vms[i]->status.started_ms, m->now_ms);
		next = sooner(next, m->vms[i]->status.attention.at_ms, m->now_ms);
	}
	for (size_t i = 0; i < m->job_count; i++)
		next = sooner(next, m->jobs[i].started_ms, m->now_ms);
	return next;
}
