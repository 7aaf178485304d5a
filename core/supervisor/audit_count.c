/* An `open` record is written before the dial, so a `fail` of the same connection may follow it instead of a `close`: the
 * numbers of the open connections are kept, not just how many. A proxy that was killed closes nothing; the `start` of the
 * next one begins with none. */
#include "core/supervisor/audit_count.h"

#include <stdlib.h>

#include "core/audit/reader.h"
#include "core/base/mem.h"
#include "core/loop/follow.h"

#define OPEN_MOST 4096 /* far over what a proxy allows; a log that says otherwise is not believed */

struct audit_count {
	struct follow *follow;
	uint32_t denied;
	uint64_t open[OPEN_MOST];
	uint32_t open_count;
	uint32_t told_denied, told_open;
	void (*on_change)(void *arg, uint32_t denied, uint32_t tunnels);
	void *arg;
};

static void forget_open(struct audit_count *c, uint64_t conn)
{
	for (uint32_t i = 0; i < c->open_count; i++) {
		if (c->open[i] == conn) {
			c->open[i] = c->open[--c->open_count];
			return;
		}
	}
}

static void on_line(void *arg, const char *line, size_t len)
{
	struct audit_count *c = arg;
	struct audit_record r;
	if (!audit_parse(line, len, &r))
		return;
	switch (r.event) {
	case AUDIT_DENY: c->denied++; break;
	case AUDIT_OPEN:
		if (c->open_count < OPEN_MOST)
			c->open[c->open_count++] = r.conn;
		break;
	case AUDIT_CLOSE:
	case AUDIT_FAIL: forget_open(c, r.conn); break;
	case AUDIT_START:
	case AUDIT_STOP: c->open_count = 0; break;
	case AUDIT_POLICY:
	case AUDIT_RECOVERED:
	case AUDIT_EVENT_COUNT: break;
	}
}

static void on_caught_up(void *arg)
{
	struct audit_count *c = arg;
	if (c->denied == c->told_denied && c->open_count == c->told_open)
		return;
	c->told_denied = c->denied;
	c->told_open = c->open_count;
	c->on_change(c->arg, c->denied, c->open_count);
}

static const struct follow_ops FOLLOW_OPS = {.on_line = on_line, .on_caught_up = on_caught_up};

struct audit_count *audit_count_open(struct loop *loop, const char *path,
                                     void (*on_change)(void *arg, uint32_t denied, uint32_t tunnels),
                                     void *arg, struct err *e)
{
	struct audit_count *c = mem_alloc(sizeof(*c));
	c->on_change = on_change;
	c->arg = arg;
	c->follow = follow_open(loop, path, FOLLOW_START, &FOLLOW_OPS, c, e);
	if (!c->follow) {
		free(c);
		return NULL;
	}
	return c;
}

void audit_count_close(struct audit_count *c)
{
	if (!c)
		return;
	follow_close(c->follow);
	free(c);
}
