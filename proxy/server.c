#include "proxy/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/audit/record.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/egress/change.h"
#include "core/loop/listener.h"
#include "core/loop/loop.h"
#include "proxy/conn.h"
#include "proxy/journal.h"
#include "proxy/resolve.h"

struct server {
	struct egress g;
	struct server_options options;
	struct listener *listener;
};

static void notify(const struct server *s, const char *line)
{
	/* May block, which is fine: only whoever started us and asks for reloads causes lines, and reads them. */
	if (s->options.notify_fd >= 0)
		fd_write_all(s->options.notify_fd, line, strlen(line));
}

static void on_conn_gone(void *arg)
{
	struct server *s = arg;
	if (s->g.conn_count < MOST_CONNS)
		listener_resume(s->listener);
}

static void on_accept(void *arg, int fd)
{
	struct server *s = arg;
	conn_start(&s->g, fd);
	if (s->g.conn_count >= MOST_CONNS)
		listener_pause(s->listener); /* the others wait in the kernel */
}

static bool write_simple(struct server *s, enum audit_event ev)
{
	struct audit_record r = {.event = ev, .rules = s->g.policy.count};
	return journal_write(s->g.journal, &r);
}

static bool start_parts(struct server *s, struct err *e)
{
	const struct server_options *o = &s->options;
	s->g.journal = journal_open(s->g.loop, o->audit, o->vm, e);
	if (!s->g.journal)
		return false;
	s->listener = listener_open(s->g.loop, o->listen, on_accept, s, e);
	if (!s->listener)
		return false;
	if (!write_simple(s, AUDIT_START))
		return err_set(e, ERR_INTERNAL, "audit log %s cannot be written", o->audit);
	return true;
}

static bool release(struct server *s)
{
	listener_close(s->listener);
	journal_close(s->g.journal);
	bool clean = resolver_destroy(s->g.resolver);
	policy_finish(&s->g.policy);
	free(s);
	return clean;
}

struct server *server_start(struct loop *loop, const struct server_options *o, struct policy *policy,
                            struct err *e)
{
	struct server *s = mem_alloc(sizeof(*s));
	s->options = *o;
	s->g.loop = loop;
	s->g.vm = o->vm;
	s->g.most_tunnels = o->most_tunnels ? o->most_tunnels : MOST_TUNNELS;
	s->g.on_conn_gone = on_conn_gone;
	s->g.arg = s;
	s->g.resolver = resolver_create(loop, o->source);
	list_init(&s->g.conns);
	s->g.policy = *policy;
	policy_init(policy);
	if (!start_parts(s, e)) {
		bool clean = release(s);
		CHECK(clean); /* nothing has been looked up yet */
		return NULL;
	}
	notify(s, "ready\n");
	return s;
}

bool server_reload(struct server *s)
{
	struct err e = ERR_INIT;
	struct audit_record r = {.event = AUDIT_POLICY};
	struct policy now;
	char line[640], change[AUDIT_DETAIL_MAX + 1];
	policy_init(&now);
	bool ok = policy_load(&now, s->options.policy, &e);
	if (ok) {
		policy_describe_change(&s->g.policy, &now, change, sizeof(change));
		audit_set_detail(&r, change);
		policy_finish(&s->g.policy);
		s->g.policy = now;
		snprintf(line, sizeof(line), "policy ok %zu\n", s->g.policy.count);
	} else {
		r.why = AUDIT_POLICY_BAD;
		audit_set_detail(&r, e.msg);
		snprintf(line, sizeof(line), "policy error %s\n", e.msg);
		log_error("%s; the old policy stays", e.msg);
	}
	r.rules = s->g.policy.count;
	journal_write_soon(s->g.journal, &r);
	notify(s, line);
	return ok;
}

bool server_stop(struct server *s)
{
	LIST_FOREACH (item, &s->g.conns)
		conn_stop(conn_of_link(item));
	if (!write_simple(s, AUDIT_STOP))
		log_warn("the end could not be put on record");
	return release(s);
}
