/* Questions of a client whose answer comes later: ping, a change of the policy, a pause, the end of the VM. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/supervisor/health.h"
#include "core/supervisor/live_policy.h"
#include "core/supervisor/session_internal.h"

enum ask_kind { ASK_PING, ASK_POLICY, ASK_PAUSE, ASK_RESUME, ASK_END };

struct session_ask {
	struct list link;
	struct session *session;
	uint32_t id;
	enum ask_kind kind;
	struct health_ask *ping;
	struct policy_change *change;
};

static struct session_ask *begin(struct session *s, uint32_t id, enum ask_kind kind, struct err *why)
{
	if (s->ask_count >= SESSION_MOST_THINGS) {
		err_set(why, ERR_LIMIT, "too many open questions on one connection");
		return NULL;
	}
	struct session_ask *a = mem_alloc(sizeof(*a));
	a->session = s;
	a->id = id;
	a->kind = kind;
	list_append(&s->asks, &a->link);
	s->ask_count++;
	return a;
}

static void end_ask(struct session_ask *a)
{
	list_remove(&a->link);
	a->session->ask_count--;
	health_ask_close(a->ping);
	if (a->change)
		policy_change_forget(a->change);
	free(a);
}

static void on_pong(void *arg, const struct wire_pong *pong)
{
	struct session_ask *a = arg;
	wire_put_pong(session_out(a->session), a->id, pong);
	session_flush(a->session);
	end_ask(a);
}

bool session_on_ping(struct session *s, const struct frame *f, struct err *e)
{
	struct err why = ERR_INIT;
	if (f->body.len)
		return err_set(e, ERR_PROTOCOL, "malformed ping message");
	struct session_ask *a = session_check_ready(s, &why) ? begin(s, f->id, ASK_PING, &why) : NULL;
	if (a)
		a->ping = health_ping(s->host->health, on_pong, a);
	else
		session_answer_err(s, f->id, &why);
	return true;
}

static void on_changed(void *arg, const char *text, const struct err *e)
{
	struct session_ask *a = arg;
	a->change = NULL; /* over */
	if (e)
		session_answer_err(a->session, a->id, e);
	else
		session_answer_ok(a->session, a->id, text);
	end_ask(a);
}

static void change_policy(struct session *s, uint32_t id, enum rule_kind kind, const char *text,
                          uint32_t seconds)
{
	struct err why = ERR_INIT;
	struct session_ask *a = NULL;
	const struct vm_status *v = board_status(s->host->board);
	if (v->state == VM_STOPPING || !vm_state_is_live(v->state))
		err_set(&why, ERR_INVALID, "VM %s is %s", v->name, vm_state_name(v->state));
	else
		a = begin(s, id, ASK_POLICY, &why);
	if (a) {
		a->change = live_policy_change(s->host->policy, kind, text, seconds, on_changed, a, &why);
		if (a->change)
			return;
		end_ask(a);
	}
	session_answer_err(s, id, &why);
}

bool session_on_allow(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_allow m;
	if (!wire_get_allow(f->body, &m, e))
		return false;
	change_policy(s, f->id, RULE_ALLOW, m.rule, m.seconds);
	return true;
}

bool session_on_deny(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_deny m;
	if (!wire_get_deny(f->body, &m, e))
		return false;
	change_policy(s, f->id, RULE_DENY, m.rule, 0);
	return true;
}

/* Answered by session_asks_look when the VM is over. */
bool session_on_stop(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_stop m;
	struct err why = ERR_INIT;
	if (!wire_get_stop(f->body, &m, e))
		return false;
	if (begin(s, f->id, ASK_END, &why))
		s->host->on_stop(s->host->arg, m.grace_ms);
	else
		session_answer_err(s, f->id, &why);
	return true;
}

bool session_on_kill(struct session *s, const struct frame *f, struct err *e)
{
	struct err why = ERR_INIT;
	if (f->body.len)
		return err_set(e, ERR_PROTOCOL, "malformed kill message");
	if (begin(s, f->id, ASK_END, &why))
		s->host->on_kill(s->host->arg);
	else
		session_answer_err(s, f->id, &why);
	return true;
}

/* Answered by session_asks_look when the VMM has done it. */
bool session_on_pause(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_pause m;
	struct err why = ERR_INIT;
	const struct vm_status *v = board_status(s->host->board);
	if (!wire_get_pause(f->body, &m, e))
		return false;
	if (m.paused > 1)
		return err_set(e, ERR_PROTOCOL, "malformed pause message");
	bool can = v->state == VM_READY ||
	           err_set(&why, ERR_INVALID, "VM %s is %s, not ready", v->name, vm_state_name(v->state));
	if (can && v->paused == (m.paused != 0)) {
		session_answer_ok(s, f->id, m.paused ? "is paused already" : "is not paused");
		return true;
	}
	if (can && begin(s, f->id, m.paused ? ASK_PAUSE : ASK_RESUME, &why))
		s->host->on_pause(s->host->arg, m.paused != 0);
	else
		session_answer_err(s, f->id, &why);
	return true;
}

bool session_on_seen(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_seen m;
	if (!wire_get_seen(f->body, &m, e))
		return false;
	if (m.attention > 1 || m.denied > 1)
		return err_set(e, ERR_PROTOCOL, "malformed seen message");
	s->host->on_seen(s->host->arg, m.attention != 0, m.denied != 0);
	session_answer_ok(s, f->id, "");
	return true;
}

/* What the state of the VM says to an open question; false: nothing yet. */
static bool answer(const struct session_ask *a, const struct vm_status *v)
{
	struct err why = ERR_INIT;
	bool over = !vm_state_is_live(v->state);
	if (a->kind == ASK_END && over) {
		session_answer_ok(a->session, a->id, *v->reason ? v->reason : vm_state_name(v->state));
		return true;
	}
	if (a->kind != ASK_PAUSE && a->kind != ASK_RESUME)
		return false;
	if (v->state != VM_READY) {
		err_set(&why, ERR_INVALID, "VM %s is %s", v->name, vm_state_name(v->state));
		session_answer_err(a->session, a->id, &why);
		return true;
	}
	if (v->paused != (a->kind == ASK_PAUSE))
		return false;
	session_answer_ok(a->session, a->id, v->paused ? "paused" : "goes on");
	return true;
}

void session_asks_look(struct session *s)
{
	const struct vm_status *v = board_status(s->host->board);
	LIST_FOREACH (item, &s->asks) {
		struct session_ask *a = LIST_ENTRY(item, struct session_ask, link);
		if (answer(a, v))
			end_ask(a);
	}
}

void session_asks_close(struct session *s)
{
	LIST_FOREACH (item, &s->asks)
		end_ask(LIST_ENTRY(item, struct session_ask, link));
}
