#include "core/supervisor/agent.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/loop/timer.h"
#include "core/supervisor/guest_link.h"

#define ASK_ID 1

struct agent_ask {
	struct guest_link *link;
	struct timer *limit;
	uint16_t wanted; /* type of the answer */
	uint64_t asked_us;
	bool done_told;
	agent_done_fn *done;
	void *arg;
};

static void tell(struct agent_ask *a, const struct wire_agent_pong *pong, const struct err *e)
{
	if (a->done_told)
		return;
	a->done_told = true;
	timer_stop(a->limit);
	uint64_t us = clock_mono_us() - a->asked_us;
	a->done(a->arg, pong, (uint32_t)MIN(us, UINT32_MAX), e); /* may close a */
}

/* The guest's reason against it. */
static bool on_refused(struct agent_ask *a, const struct frame *f, struct err *e)
{
	struct err said = ERR_INIT;
	if (!guest_refusal(f, &said, e))
		return false;
	err_wrap(&said, "the guest says");
	tell(a, NULL, &said);
	return true;
}

static bool on_frame(void *arg, const struct frame *f, struct err *e)
{
	struct agent_ask *a = arg;
	struct wire_agent_pong pong;
	struct wire_ok ok;
	if (a->done_told)
		return true;
	if (f->type == WIRE_ERROR)
		return on_refused(a, f, e);
	if (f->type != a->wanted || f->id != ASK_ID)
		return err_set(e, ERR_PROTOCOL, "message %s is not the answer to %s", wire_type_name(f->type),
		               a->wanted == WIRE_OK ? "agent_shutdown" : "agent_ping");
	if (a->wanted == WIRE_OK) {
		if (!wire_get_ok(f->body, &ok, e))
			return false;
		tell(a, NULL, NULL);
		return true;
	}
	if (!wire_get_agent_pong(f->body, &pong, e))
		return false;
	tell(a, &pong, NULL);
	return true;
}

static void on_end(void *arg, const struct err *e)
{
	tell(arg, NULL, e);
}

static void on_limit(void *arg)
{
	struct err e = ERR_INIT;
	err_set(&e, ERR_TIMEOUT, "the guest's agent did not answer within %d s", AGENT_ANSWER_MS / 1000);
	tell(arg, NULL, &e);
}

static const struct guest_link_ops LINK_OPS = {.on_frame = on_frame, .on_end = on_end};

static struct agent_ask *ask(struct loop *loop, const char *vsock_path, uint16_t wanted, agent_done_fn *done,
                             void *arg, struct err *e)
{
	struct agent_ask *a = mem_alloc(sizeof(*a));
	a->link = guest_link_open(loop, vsock_path, WIRE_PORT_AGENT, &LINK_OPS, a, e);
	if (!a->link) {
		free(a);
		return NULL;
	}
	a->wanted = wanted;
	a->done = done;
	a->arg = arg;
	a->asked_us = clock_mono_us();
	a->limit = timer_create_on(loop, on_limit, a);
	timer_once(a->limit, AGENT_ANSWER_MS);
	return a;
}

struct agent_ask *agent_ping(struct loop *loop, const char *vsock_path, agent_done_fn *done, void *arg,
                             struct err *e)
{
	struct agent_ask *a = ask(loop, vsock_path, WIRE_AGENT_PONG, done, arg, e);
	if (a) {
		wire_put_empty(guest_link_out(a->link), WIRE_AGENT_PING, ASK_ID);
		guest_link_flush(a->link);
	}
	return a;
}

struct agent_ask *agent_shutdown(struct loop *loop, const char *vsock_path, agent_done_fn *done, void *arg,
                                 struct err *e)
{
	struct agent_ask *a = ask(loop, vsock_path, WIRE_OK, done, arg, e);
	if (a) {
		struct wire_agent_shutdown m = {.reboot = 0};
		wire_put_agent_shutdown(guest_link_out(a->link), ASK_ID, &m);
		guest_link_flush(a->link);
	}
	return a;
}

void agent_ask_close(struct agent_ask *a)
{
	if (!a)
		return;
	guest_link_close(a->link);
	timer_close(a->limit);
	free(a);
}
