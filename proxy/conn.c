#include "proxy/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/audit/record.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"
#include "proxy/dial.h"
#include "proxy/journal.h"
#include "proxy/reply.h"
#include "proxy/request.h"
#include "proxy/resolve.h"
#include "proxy/tunnel.h"

#define ONE_READ (64 * 1024) /* bytes that one read of a stream gives at most */

enum conn_state { CONN_HEAD, CONN_RESOLVING, CONN_DIALLING, CONN_TUNNEL, CONN_REFUSED };

struct conn {
	struct list link; /* of egress.conns */
	struct egress *g;
	enum conn_state state;
	uint64_t id;
	struct stream *client; /* the tunnel's while that is open */
	struct timer *timer;   /* head, then lingering; NULL in a tunnel */
	struct buf in;         /* the head, and what came glued to it */
	size_t head_len;
	struct lookup *lookup;
	struct dial *dial;
	struct tunnel *tunnel;
	bool answered; /* refused, and the answer is with the kernel */
	bool guest_ended;
	uint64_t opened_ms;
	uint16_t port;
	char host[HOST_SIZE];
	char ip[64]; /* dialled */
	char *rule;  /* owned; canonical text of the rule that decided, or NULL */
};

struct conn *conn_of_link(struct list *link)
{
	return LIST_ENTRY(link, struct conn, link);
}

static void release(struct conn *c)
{
	if (c->state == CONN_RESOLVING || c->state == CONN_DIALLING || c->state == CONN_TUNNEL)
		c->g->tunnel_count--;
	list_remove(&c->link);
	c->g->conn_count--;
	lookup_cancel(c->lookup);
	dial_cancel(c->dial);
	stream_close(c->client, NULL, NULL);
	timer_close(c->timer);
	buf_finish(&c->in);
	free(c->rule);
	free(c);
}

static void end(struct conn *c)
{
	struct egress *g = c->g;
	release(c);
	g->on_conn_gone(g->arg);
}

static struct audit_record record_of(const struct conn *c, enum audit_event ev, enum audit_why why)
{
	struct audit_record r = {.event = ev, .why = why, .conn = c->id, .port = c->port};
	snprintf(r.host, sizeof(r.host), "%s", c->host);
	snprintf(r.rule, sizeof(r.rule), "%s", c->rule ? c->rule : "");
	snprintf(r.ip, sizeof(r.ip), "%s", c->ip);
	return r;
}

/* ---- refusing ---- */

static void maybe_gone(struct conn *c)
{
	if (c->answered && c->guest_ended)
		end(c);
}

static void on_refused_data(void *arg, const uint8_t *bytes, size_t len)
{
	(void)arg; /* thrown away: closing with unread bytes would take the answer back */
	(void)bytes;
	(void)len;
}

static void on_refused_eof(void *arg)
{
	struct conn *c = arg;
	c->guest_ended = true;
	maybe_gone(c);
}

static void on_refused_finished(void *arg)
{
	struct conn *c = arg;
	c->answered = true;
	maybe_gone(c);
}

static void on_refused_error(void *arg, const struct err *e)
{
	(void)e;
	end(arg);
}

static const struct stream_ops REFUSED_OPS = {
    .on_data = on_refused_data,
    .on_eof = on_refused_eof,
    .on_error = on_refused_error,
    .on_finished = on_refused_finished,
};

static void on_timer(void *arg);

static void answer_and_linger(struct conn *c, const char *text, size_t len)
{
	if (c->state == CONN_RESOLVING || c->state == CONN_DIALLING)
		c->g->tunnel_count--;
	c->state = CONN_REFUSED;
	buf_finish(&c->in);
	stream_set_ops(c->client, &REFUSED_OPS, c);
	if (!stream_send(c->client, text, len)) {
		end(c);
		return;
	}
	stream_shutdown(c->client);
	if (!c->guest_ended)
		stream_resume(c->client);
	if (!c->timer)
		c->timer = timer_create_on(c->g->loop, on_timer, c);
	timer_once(c->timer, CONN_LINGER_MS);
}

/* `r` is the record of what is refused; what it has been opened for is on record already (`opened`). */
static void refuse(struct conn *c, struct audit_record *r, int status, const char *reason, bool opened)
{
	char text[REPLY_SIZE];
	size_t len;
	bool written = true;
	if (opened)
		journal_write_soon(c->g->journal, r);
	else
		written = journal_write(c->g->journal, r);
	if (written) {
		struct reply reply = {.status = status,
		                      .why = r->why,
		                      .reason = reason,
		                      .host = c->host,
		                      .port = c->port,
		                      .vm = c->g->vm,
		                      .rule = r->rule};
		len = reply_format(&reply, text);
	} else {
		len = reply_format_no_record(text);
	}
	answer_and_linger(c, text, len);
}

static void refuse_why(struct conn *c, enum audit_why why)
{
	struct audit_record r = record_of(c, reply_event(why), why);
	refuse(c, &r, 0, NULL, false);
}

static void on_timer(void *arg)
{
	struct conn *c = arg;
	if (c->state == CONN_HEAD)
		refuse_why(c, AUDIT_TIMEOUT);
	else
		end(c);
}

/* ---- the tunnel ---- */

static void write_close(struct conn *c, const struct tunnel_result *result)
{
	struct audit_record r = record_of(c, AUDIT_CLOSE, AUDIT_WHY_NONE);
	r.up = result->up;
	r.down = result->down;
	r.end = result->end;
	r.ms = clock_mono_ms() - c->opened_ms;
	journal_write_soon(c->g->journal, &r);
}

static void on_tunnel_done(void *arg, const struct tunnel_result *result)
{
	struct conn *c = arg;
	c->tunnel = NULL;
	write_close(c, result);
	end(c);
}

static void on_dialled(void *arg, struct stream *server, const union endpoint *to, const struct err *e)
{
	struct conn *c = arg;
	c->dial = NULL;
	if (!server) {
		enum audit_why why = e->kind == ERR_TIMEOUT ? AUDIT_CONNECT_TIMEOUT : AUDIT_CONNECT_FAILED;
		struct audit_record r = record_of(c, AUDIT_FAIL, why);
		audit_set_detail(&r, e->msg);
		refuse(c, &r, 0, NULL, true);
		return;
	}
	endpoint_format(to, c->ip, sizeof(c->ip));
	c->state = CONN_TUNNEL;
	c->opened_ms = clock_mono_ms();
	/* A guest that has gone away shows up in the tunnel. */
	bool sent = stream_send(c->client, REPLY_ESTABLISHED, sizeof(REPLY_ESTABLISHED) - 1);
	if (!sent)
		log_debug("connection %llu: the guest went away", (unsigned long long)c->id);
	c->tunnel = tunnel_start(c->g->loop, mem_steal(&c->client), server, c->in.data + c->head_len,
	                         c->in.len - c->head_len, TUNNEL_DRAIN_MS, on_tunnel_done, c);
	buf_finish(&c->in); /* an idle tunnel holds no buffer */
}

static void open_and_dial(struct conn *c, const union endpoint *to, size_t count, size_t refused)
{
	endpoint_format(&to[0], c->ip, sizeof(c->ip));
	struct audit_record r = record_of(c, AUDIT_OPEN, AUDIT_WHY_NONE);
	if (refused)
		snprintf(r.detail, sizeof(r.detail), "left out %zu private or own addresses", refused);
	if (!journal_write(c->g->journal, &r)) {
		char text[REPLY_SIZE];
		answer_and_linger(c, text, reply_format_no_record(text));
		return;
	}
	c->state = CONN_DIALLING;
	c->dial = dial_start(c->g->loop, to, count, on_dialled, c);
}

static void on_resolved(void *arg, const struct resolve_answer *a, const struct err *e)
{
	struct conn *c = arg;
	c->lookup = NULL;
	if (a) {
		open_and_dial(c, a->found, a->count, a->refused);
		return;
	}
	enum audit_why why = e->kind == ERR_DENIED    ? AUDIT_ADDRESS_REFUSED
	                     : e->kind == ERR_TIMEOUT ? AUDIT_RESOLVE_TIMEOUT
	                                              : AUDIT_RESOLVE_FAILED;
	struct audit_record r = record_of(c, reply_event(why), why);
	audit_set_detail(&r, e->msg);
	refuse(c, &r, 0, NULL, false);
}

/* ---- the decision ---- */

static void keep_rule(struct conn *c, const struct rule *rule)
{
	char text[RULE_TEXT_SIZE];
	if (!rule)
		return;
	rule_format(rule, text);
	c->rule = mem_strdup(text);
}

static void decide(struct conn *c)
{
	struct egress *g = c->g;
	const struct rule *rule;
	enum decision d = policy_decide(&g->policy, c->host, c->port, clock_wall_ms(), &rule);
	keep_rule(c, rule);
	if (d != DECISION_ALLOW) {
		refuse_why(c, d == DECISION_DENY ? AUDIT_DENY_RULE : AUDIT_NO_RULE);
		return;
	}
	if (g->tunnel_count >= g->most_tunnels) {
		refuse_why(c, AUDIT_LIMIT);
		return;
	}
	g->tunnel_count++;
	c->state = CONN_RESOLVING;
	timer_close(mem_steal(&c->timer));
	const struct rule *override = policy_find_resolve(&g->policy, c->host);
	if (override)
		open_and_dial(c, &override->endpoint, 1, 0);
	else
		c->lookup = resolver_look_up(g->resolver, c->host, c->port, on_resolved, c);
}

/* ---- the head ---- */

static void on_request(struct conn *c, const struct request *q)
{
	stream_pause(c->client); /* the kernel holds what comes before the tunnel stands */
	c->port = q->port;
	c->head_len = q->head_len;
	snprintf(c->host, sizeof(c->host), "%s", q->host);
	decide(c);
}

static void on_bad_request(struct conn *c, const struct request *q)
{
	struct audit_record r = record_of(c, AUDIT_DENY, q->why);
	if (q->raw_len)
		audit_set_raw(&r, q->raw, q->raw_len);
	audit_set_detail(&r, q->reason);
	refuse(c, &r, q->status, q->reason, false);
}

static void on_head_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct conn *c = arg;
	buf_put(&c->in, bytes, len);
	CHECK(buf_ok(&c->in)); /* the parser has an opinion before this is full */
	if (!memchr(bytes, '\n', len) && c->in.len < REQUEST_HEAD_MAX)
		return; /* nothing that could change the verdict */
	struct request q;
	request_parse((const char *)c->in.data, c->in.len, &q);
	if (q.state == REQUEST_OK)
		on_request(c, &q);
	else if (q.state == REQUEST_BAD)
		on_bad_request(c, &q);
}

static void on_head_eof(void *arg)
{
	end(arg); /* asked for nothing */
}

static void on_head_error(void *arg, const struct err *e)
{
	(void)e;
	end(arg);
}

static const struct stream_ops HEAD_OPS = {
    .on_data = on_head_data, .on_eof = on_head_eof, .on_error = on_head_error};

void conn_start(struct egress *g, int fd)
{
	struct err e = ERR_INIT;
	struct conn *c = mem_alloc(sizeof(*c));
	c->g = g;
	c->id = ++g->last_id;
	list_init(&c->link);
	list_append(&g->conns, &c->link);
	g->conn_count++;
	buf_init(&c->in, REQUEST_HEAD_MAX + ONE_READ);
	c->client = stream_open(g->loop, fd, &HEAD_OPS, c, &e);
	if (!c->client) {
		log_warn("a connection was lost: %s", e.msg);
		release(c);
		return;
	}
	c->timer = timer_create_on(g->loop, on_timer, c);
	timer_once(c->timer, CONN_HEAD_MS);
	stream_resume(c->client);
}

void conn_stop(struct conn *c)
{
	if (c->tunnel) {
		struct tunnel_result result;
		tunnel_stop(mem_steal(&c->tunnel), &result);
		write_close(c, &result);
	} else if (c->state == CONN_RESOLVING || c->state == CONN_DIALLING) {
		struct audit_record r = record_of(c, AUDIT_FAIL, AUDIT_STOPPED);
		journal_write_soon(c->g->journal, &r);
	}
	release(c);
}
