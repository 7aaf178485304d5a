/* Requests with one answer, and the watch: thin layers over a conversation. */
#include <stdio.h>
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

struct attention_fields {
	uint8_t state, source, seen;
	uint64_t at_ms;
	const char *text;
};

static bool read_attention(const struct attention_fields *f, struct vm_attention *out, struct err *e)
{
	if (f->state >= ATTENTION_STATE_COUNT || f->source >= ATTENTION_SOURCE_COUNT || f->seen > 1)
		return err_set(e, ERR_PROTOCOL, "an attention that makes no sense");
	out->state = (enum vm_attention_state)f->state;
	out->source = (enum vm_attention_source)f->source;
	out->seen = f->seen;
	out->at_ms = (int64_t)f->at_ms;
	snprintf(out->text, sizeof(out->text), "%s", f->text);
	client_clean_utf8(out->text);
	return true;
}

static bool read_terminal(struct bytes body, struct vm_terminal *out, struct err *e)
{
	struct wire_terminal_info m;
	if (!wire_get_terminal_info(body, &m, e))
		return false;
	if (m.number == 0 || m.number == WIRE_TERM_NEW || m.first > 1)
		return err_set(e, ERR_PROTOCOL, "a terminal that makes no sense");
	*out = (struct vm_terminal){
	    .number = m.number, .rows = m.rows, .cols = m.cols, .first = m.first, .watchers = m.watchers};
	struct attention_fields attention = {m.attention, m.attention_source, m.attention_seen,
	                                     m.attention_ms, m.attention_text};
	client_clean_utf8(m.title);
	client_clean_text(m.command);
	memcpy(out->title, m.title, sizeof(out->title));
	memcpy(out->command, m.command, sizeof(out->command));
	return read_attention(&attention, &out->attention, e);
}

/* One frame each, by number, nothing behind them. */
static bool read_terminals(struct bytes list, struct vm_status *out, struct err *e)
{
	struct frame f;
	size_t used;
	for (; list.len; list.p += used, list.len -= used) {
		uint32_t n = out->terminal_count;
		if (frame_parse(list, &f, &used, e) != FRAME_READY || f.type != WIRE_TERMINAL_INFO || f.id ||
		    n == VM_TERMINALS_MOST)
			break;
		if (!read_terminal(f.body, &out->terminal[n], e))
			return false;
		if (n && out->terminal[n].number <= out->terminal[n - 1].number)
			break;
		out->terminal_count++;
	}
	if (list.len == 0)
		return true;
	err_clear(e);
	return err_set(e, ERR_PROTOCOL, "a list of terminals that makes no sense");
}

static bool read_status(const struct frame *f, const char *vm, struct vm_status *out, struct err *e)
{
	struct wire_status_reply m;
	if (!wire_get_status_reply(f->body, &m, e))
		return false;
	if (m.state >= VM_STATE_COUNT || m.egress >= VM_EGRESS_COUNT || m.paused > 1 ||
	    strcmp(m.name, vm) != 0)
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
	    .paused = m.paused,
	    .denied_seen = m.denied_seen,
	    .cpu_permille = m.cpu_permille,
	    .mem_used_kib = m.mem_used_kib,
	    .mem_total_kib = m.mem_total_kib,
	};
	struct attention_fields attention = {m.attention, m.attention_source, m.attention_seen,
	                                     m.attention_ms, m.attention_text};
	if (!read_attention(&attention, &out->attention, e) || !read_terminals(m.terminal_list, out, e))
		return false;
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
static const struct conversation_ops PAUSE_OPS = {
    .what = "pause or resume",
    .on_message = text_message,
    .on_broken = text_broken,
    .release = release,
};
static const struct conversation_ops SEEN_OPS = {
    .what = "seen",
    .on_message = text_message,
    .on_broken = text_broken,
    .release = release,
};
static const struct conversation_ops SIGNAL_OPS = {
    .what = "a signal",
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

void client_pause_vm(struct client *c, bool paused, client_text_fn *done, void *arg)
{
	struct request *r = begin(c, &PAUSE_OPS, CLIENT_TIMEOUT_MS, arg);
	struct wire_pause m = {.paused = paused};
	r->done.text = done;
	wire_put_pause(client_outgoing(c), r->talk.id, &m);
	client_flush(c);
}

void client_seen(struct client *c, bool attention, bool denied, client_text_fn *done, void *arg)
{
	struct request *r = begin(c, &SEEN_OPS, CLIENT_TIMEOUT_MS, arg);
	struct wire_seen m = {.attention = attention, .denied = denied};
	r->done.text = done;
	wire_put_seen(client_outgoing(c), r->talk.id, &m);
	client_flush(c);
}

void client_term_signal(struct client *c, uint32_t term, int signum, client_text_fn *done, void *arg)
{
	struct request *r = begin(c, &SIGNAL_OPS, CLIENT_TIMEOUT_MS, arg);
	struct wire_term_signal m = {.term = term, .signum = (uint8_t)signum};
	r->done.text = done;
	wire_put_term_signal(client_outgoing(c), r->talk.id, &m);
	client_flush(c);
}
