/* Requests with one answer, and the watch: thin layers over a conversation. */
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/internal.h"
#include "core/wire/wire.h"

#define STOP_SLACK_MS 30000 /* the supervisor ends the VMM and its children after the grace time */

struct request {
	struct conversation talk;
	bool gone_is_success; /* stop, kill */
	bool watching;
	union {
		client_status_fn *status;
		client_ping_fn *ping;
		client_text_fn *text;
	} done;
	void *arg;
};

static struct request *from_talk(struct conversation *v)
{
	return CONTAINER_OF(v, struct request, talk);
}

static void release(struct conversation *v)
{
	free(from_talk(v));
}

static struct request *begin(struct client *c, const struct conversation_ops *ops, uint64_t timeout_ms,
                             void *arg)
{
	struct request *r = mem_alloc(sizeof(*r));
	r->arg = arg;
	conversation_begin(c, &r->talk, ops, timeout_ms);
	return r;
}

/* ---- status and watch ---- */

static bool read_status(const struct frame *f, const char *vm, struct vm_status *out, struct err *e)
{
	struct wire_status_reply m;
	if (!wire_get_status_reply(f->body, &m, e))
		return false;
	if (m.state >= VM_STATE_COUNT || m.egress >= VM_EGRESS_COUNT || strcmp(m.name, vm) != 0)
		return err_set(e, ERR_PROTOCOL, "a status that makes no sense");
	*out = (struct vm_status){
	    .state = (enum vm_state)m.state,
	    .egress = (enum vm_egress)m.egress,
	    .started_ms = (int64_t)m.started_ms,
	    .ready_ms = (int64_t)m.ready_ms,
	    .denied = m.denied,
	    .tunnels = m.tunnels,
	    .supervisor_pid = m.supervisor_pid,
	    .vmm_pid = m.vmm_pid,
	    .cpus = m.cpus,
	    .memory_bytes = m.memory_bytes,
	    .generation = m.generation,
	};
	client_clean_text(m.reason);
	client_clean_text(m.backend);
	client_clean_text(m.image);
	memcpy(out->name, m.name, sizeof(out->name));
	memcpy(out->reason, m.reason, sizeof(out->reason));
	memcpy(out->backend, m.backend, sizeof(out->backend));
	memcpy(out->image, m.image, sizeof(out->image));
	return true;
}

static void status_broken(struct conversation *v, const struct err *e)
{
	struct request r = *from_talk(v);
	release(v);
	r.done.status(r.arg, NULL, e);
}

static bool status_message(struct conversation *v, const struct frame *f, struct err *e)
{
	struct request *r = from_talk(v);
	struct err refused = ERR_INIT;
	struct vm_status status;
	if (f->type == WIRE_ERROR) {
		if (!client_read_error(f, &refused, e))
			return false;
		conversation_end(v);
		status_broken(v, &refused);
		return true;
	}
	if (f->type != WIRE_STATUS_REPLY)
		return client_unexpected(f, e);
	if (!read_status(f, client_vm(v->client), &status, e))
		return false;
	struct request copy = *r;
	if (!r->watching) {
		conversation_end(v);
		release(v);
	}
	copy.done.status(copy.arg, &status, NULL);
	return true;
}

static const struct conversation_ops STATUS_OPS = {
    .what = "status",
    .on_message = status_message,
    .on_broken = status_broken,
    .release = release,
};

void client_status(struct client *c, client_status_fn *done, void *arg)
{
	struct request *r = begin(c, &STATUS_OPS, CLIENT_TIMEOUT_MS, arg);
	struct wire_status m = {.watch = 0};
	r->done.status = done;
	wire_put_status(client_outgoing(c), r->talk.id, &m);
	client_flush(c);
}

void client_watch(struct client *c, client_status_fn *on_status, void *arg)
{
	struct request *r = begin(c, &STATUS_OPS, 0, arg);
	struct wire_status m = {.watch = 1};
	r->watching = true;
	r->done.status = on_status;
	wire_put_status(client_outgoing(c), r->talk.id, &m);
	client_flush(c);
}

/* ---- ping ---- */

static void ping_broken(struct conversation *v, const struct err *e)
{
	struct request r = *from_talk(v);
	release(v);
	r.done.ping(r.arg, NULL, e);
}

static bool ping_message(struct conversation *v, const struct frame *f, struct err *e)
{
	struct err refused = ERR_INIT;
	struct wire_pong m;
	if (f->type == WIRE_ERROR) {
		if (!client_read_error(f, &refused, e))
			return false;
		conversation_end(v);
		ping_broken(v, &refused);
		return true;
	}
	if (f->type != WIRE_PONG)
		return client_unexpected(f, e);
	if (!wire_get_pong(f->body, &m, e))
		return false;
	struct client_pong pong = {
	    .agent_ok = m.agent_ok,
	    .relay_listening = m.agent_ok && m.relay_listening,
	    .vsock_reachable = m.agent_ok && m.vsock_reachable,
	    .lo_up = m.agent_ok && m.lo_up,
	    .proxy_ok = m.proxy_ok,
	    .rtt_us = m.rtt_us,
	    .uptime_ms = m.uptime_ms,
	    .mem_total_kib = m.mem_total_kib,
	    .mem_available_kib = m.mem_available_kib,
	    .cpu_busy_ms = m.cpu_busy_ms,
	};
	client_clean_text(m.text);
	memcpy(pong.text, m.text, sizeof(pong.text));
	struct request r = *from_talk(v);
	conversation_end(v);
	release(v);
	r.done.ping(r.arg, &pong, NULL);
	return true;
}

static const struct conversation_ops PING_OPS = {
    .what = "ping",
    .on_message = ping_message,
    .on_broken = ping_broken,
    .release = release,
};

bool client_pong_is_ok(const struct client_pong *p)
{
	return p->agent_ok && p->relay_listening && p->vsock_reachable && p->lo_up && p->proxy_ok;
}

void client_ping(struct client *c, client_ping_fn *done, void *arg)
{
	struct request *r = begin(c, &PING_OPS, CLIENT_TIMEOUT_MS, arg);
	r->done.ping = done;
	wire_put_empty(client_outgoing(c), WIRE_PING, r->talk.id);
	client_flush(c);
}

/* ---- requests that are answered by OK and a line ---- */

static void text_broken(struct conversation *v, const struct err *e)
{
	struct request r = *from_talk(v);
	release(v);
	if (r.gone_is_success && e->kind == ERR_GONE)
		r.done.text(r.arg, "", NULL);
	else
		r.done.text(r.arg, NULL, e);
}

static bool text_message(struct conversation *v, const struct frame *f, struct err *e)
{
	struct err refused = ERR_INIT;
	struct wire_ok m;
	if (f->type != WIRE_ERROR && f->type != WIRE_OK)
		return client_unexpected(f, e);
	if (f->type == WIRE_ERROR ? !client_read_error(f, &refused, e) : !wire_get_ok(f->body, &m, e))
		return false;
	struct request r = *from_talk(v);
	conversation_end(v);
	release(v);
	if (f->type == WIRE_ERROR) {
		r.done.text(r.arg, NULL, &refused);
	} else {
		client_clean_text(m.text);
		r.done.text(r.arg, m.text, NULL);
	}
	return true;
}

static const struct conversation_ops RULE_OPS = {
    .what = "allow or deny",
    .on_message = text_message,
    .on_broken = text_broken,
    .release = release,
};
static const struct conversation_ops STOP_OPS = {
    .what = "stop or kill",
    .on_message = text_message,
    .on_broken = text_broken,
    .release = release,
};

/* A rule that is too long is not cut (it would be another rule): an empty one, which is refused over there. */
static void copy_rule(char out[WIRE_RULE_MAX + 1], const char *rule)
{
	size_t len = strlen(rule);
	if (len <= WIRE_RULE_MAX)
		memcpy(out, rule, len + 1);
}

void client_allow(struct client *c, const char *rule, uint32_t seconds, client_text_fn *done, void *arg)
{
	struct request *r = begin(c, &RULE_OPS, CLIENT_TIMEOUT_MS, arg);
	struct wire_allow m = {.seconds = seconds};
	r->done.text = done;
	copy_rule(m.rule, rule);
	wire_put_allow(client_outgoing(c), r->talk.id, &m);
	client_flush(c);
}

void client_deny(struct client *c, const char *rule, client_text_fn *done, void *arg)
{
	struct request *r = begin(c, &RULE_OPS, CLIENT_TIMEOUT_MS, arg);
	struct wire_deny m = {.rule = ""};
	r->done.text = done;
	copy_rule(m.rule, rule);
	wire_put_deny(client_outgoing(c), r->talk.id, &m);
	client_flush(c);
}

void client_stop(struct client *c, uint32_t grace_ms, client_text_fn *done, void *arg)
{
	struct request *r = begin(c, &STOP_OPS, (uint64_t)grace_ms + STOP_SLACK_MS, arg);
	struct wire_stop m = {.grace_ms = grace_ms};
	r->done.text = done;
	r->gone_is_success = true;
	wire_put_stop(client_outgoing(c), r->talk.id, &m);
	client_flush(c);
}

void client_kill(struct client *c, client_text_fn *done, void *arg)
{
	struct request *r = begin(c, &STOP_OPS, STOP_SLACK_MS, arg);
	r->done.text = done;
	r->gone_is_success = true;
	wire_put_empty(client_outgoing(c), WIRE_KILL, r->talk.id);
	client_flush(c);
}
