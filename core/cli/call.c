#include "core/cli/call.h"

#include <stdio.h>
#include <string.h>

#include "core/cli/setup.h"
#include "core/cli/vm_end.h"
#include "core/loop/loop.h"

struct call {
	struct client *client;
	bool done;
	struct err why; /* of the answer; ERR_NONE when it is a good one */
	union {
		struct vm_status *status;
		struct client_pong *pong;
		char *text;
	} out;
};

static void on_closed(void *arg, const struct err *e)
{
	struct call *c = arg;
	if (!c->done)
		c->why = *e;
	c->done = true;
}

static const struct client_ops CLIENT_OPS = {.on_closed = on_closed};

static bool begin(struct call *c, struct loop *loop, const char *vm, struct err *e)
{
	*c = (struct call){0};
	if (!setup_check_vm(vm, e))
		return false;
	c->client = client_connect(loop, vm, &CLIENT_OPS, c, e);
	return c->client != NULL;
}

static bool finish(struct call *c, struct loop *loop, struct err *e)
{
	while (!c->done)
		loop_turn(loop, false);
	client_close(c->client);
	if (c->why.kind == ERR_NONE)
		return true;
	*e = c->why;
	return false;
}

static void settle(struct call *c, const struct err *e)
{
	c->done = true;
	if (e)
		c->why = *e;
}

static void on_status(void *arg, const struct vm_status *status, const struct err *e)
{
	struct call *c = arg;
	settle(c, e);
	if (status)
		*c->out.status = *status;
}

bool call_status(struct loop *loop, const char *vm, struct vm_status *out, struct err *e)
{
	struct call c;
	if (!begin(&c, loop, vm, e))
		return false;
	c.out.status = out;
	client_status(c.client, on_status, &c);
	return finish(&c, loop, e);
}

static void on_pong(void *arg, const struct client_pong *pong, const struct err *e)
{
	struct call *c = arg;
	settle(c, e);
	if (pong)
		*c->out.pong = *pong;
}

bool call_ping(struct loop *loop, const char *vm, struct client_pong *out, struct err *e)
{
	struct call c;
	if (!begin(&c, loop, vm, e))
		return false;
	c.out.pong = out;
	client_ping(c.client, on_pong, &c);
	return finish(&c, loop, e);
}

static void on_text(void *arg, const char *text, const struct err *e)
{
	struct call *c = arg;
	settle(c, e);
	if (text && c->out.text)
		snprintf(c->out.text, CALL_TEXT_SIZE, "%s", text);
}

bool call_allow(struct loop *loop, const char *vm, const char *rule, uint32_t seconds, char *text,
                struct err *e)
{
	struct call c;
	if (!begin(&c, loop, vm, e))
		return false;
	c.out.text = text;
	client_allow(c.client, rule, seconds, on_text, &c);
	return finish(&c, loop, e);
}

bool call_deny(struct loop *loop, const char *vm, const char *rule, char *text, struct err *e)
{
	struct call c;
	if (!begin(&c, loop, vm, e))
		return false;
	c.out.text = text;
	client_deny(c.client, rule, on_text, &c);
	return finish(&c, loop, e);
}

bool call_pause(struct loop *loop, const char *vm, bool paused, struct err *e)
{
	struct call c;
	if (!begin(&c, loop, vm, e))
		return false;
	client_pause_vm(c.client, paused, on_text, &c);
	return finish(&c, loop, e);
}

bool call_stop(struct loop *loop, const char *vm, uint32_t grace_ms, struct err *e)
{
	struct call c;
	if (!begin(&c, loop, vm, e))
		return false;
	client_stop(c.client, grace_ms, on_text, &c);
	return finish(&c, loop, e);
}

bool call_kill(struct loop *loop, const char *vm, struct err *e)
{
	struct call c;
	struct err why = ERR_INIT;
	if (!begin(&c, loop, vm, e))
		return false;
	client_kill(c.client, on_text, &c);
	if (finish(&c, loop, &why))
		return true;
	if (why.kind != ERR_NOT_FOUND && vm_end_by_force(vm, e))
		return true;
	err_clear(e);
	*e = why;
	return false;
}
