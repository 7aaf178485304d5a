#include "core/supervisor/live_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/egress/policy.h"
#include "core/loop/timer.h"

struct policy_change {
	struct list link;
	struct rule rule;
	char *before; /* owned: the file's text, once the change was written */
	size_t before_len;
	policy_change_fn *done; /* NULL: forgotten */
	void *arg;
};

struct live_policy {
	const char *path;
	struct list queue; /* the first one is being made */
	size_t count;
	struct timer *timer; /* limit of the first one's answer; its start, while `before` is NULL */
	bool settling;       /* a change was taken back: the proxy's answer to that is not the next one's */
	void (*tell_proxy)(void *arg);
	void *arg;
};

static struct policy_change *first(struct live_policy *p)
{
	return list_is_empty(&p->queue) ? NULL : LIST_ENTRY(p->queue.next, struct policy_change, link);
}

static void free_change(struct policy_change *c)
{
	free(c->before);
	free(c);
}

/* Takes the first change off and answers it; the next one starts from the loop. */
static void finish(struct live_policy *p, const char *text, const struct err *e)
{
	struct policy_change *c = first(p);
	list_remove(&c->link);
	p->count--;
	if (!p->settling)
		timer_stop(p->timer);
	if (e)
		log_warn("policy: %s", e->msg);
	else
		log_info("policy: %s", text);
	if (!p->settling && !list_is_empty(&p->queue))
		timer_once(p->timer, 0);
	if (c->done)
		c->done(c->arg, e ? NULL : text, e);
	free_change(c);
}

static void describe(const struct rule *rule, bool changed, char *out, size_t size)
{
	char canonical[RULE_TEXT_SIZE];
	rule_format(rule, canonical);
	snprintf(out, size, "%s: %s", canonical,
	         !changed                   ? "nothing to change"
	         : rule->kind == RULE_ALLOW ? "in force"
	                                    : "in force for new connections; open tunnels stay");
}

/* The text of the file with the rule applied, or NULL with the error. */
static char *new_text(struct live_policy *p, struct policy_change *c, bool *changed, struct err *e)
{
	struct policy policy;
	policy_init(&policy);
	char *text = NULL;
	if (policy_parse(&policy, p->path, c->before, c->before_len, e) &&
	    policy_apply(&policy, &c->rule, changed, e))
		text = policy_format(&policy);
	policy_finish(&policy);
	return text;
}

static void start_first(struct live_policy *p)
{
	struct policy_change *c = first(p);
	struct err e = ERR_INIT;
	bool changed = false;
	c->before = fd_read_file(p->path, POLICY_TEXT_MAX, &c->before_len, &e);
	char *text FREE_ON_EXIT = c->before ? new_text(p, c, &changed, &e) : NULL;
	if (!text || (changed && !fd_write_file(p->path, text, strlen(text), 0600, &e))) {
		finish(p, NULL, &e);
		return;
	}
	if (!changed) {
		char said[RULE_TEXT_SIZE + 80];
		describe(&c->rule, false, said, sizeof(said));
		finish(p, said, NULL);
		return;
	}
	timer_once(p->timer, LIVE_POLICY_ANSWER_MS);
	p->tell_proxy(p->arg);
}

/* The proxy has not taken the change. A deny that is only late must not be forgotten; anything else goes back. */
static void roll_back(struct live_policy *p, bool keep_deny, struct err *e)
{
	struct policy_change *c = first(p);
	struct err failed = ERR_INIT;
	if (keep_deny && c->rule.kind == RULE_DENY) {
		err_wrap(e, "the deny is written down but perhaps not in force");
		return;
	}
	if (!fd_write_file(p->path, c->before, c->before_len, 0600, &failed))
		err_wrap(e, "the change could not be taken back (%s)", failed.msg);
	p->settling = true;
	timer_once(p->timer, LIVE_POLICY_ANSWER_MS);
	p->tell_proxy(p->arg);
}

static void end_settling(struct live_policy *p)
{
	p->settling = false;
	timer_stop(p->timer);
	if (!list_is_empty(&p->queue))
		timer_once(p->timer, 0);
}

static void on_timer(void *arg)
{
	struct live_policy *p = arg;
	if (p->settling) {
		end_settling(p);
		return;
	}
	if (!first(p)->before) {
		start_first(p);
		return;
	}
	struct err e = ERR_INIT;
	err_set(&e, ERR_TIMEOUT, "the proxy did not confirm within %d s", LIVE_POLICY_ANSWER_MS / 1000);
	roll_back(p, true, &e);
	finish(p, NULL, &e);
}

void live_policy_proxy_line(struct live_policy *p, const char *line)
{
	struct policy_change *c = first(p);
	bool is_error = strncmp(line, "policy error", 12) == 0;
	if (!is_error && strcmp(line, "ready") != 0 && strncmp(line, "policy ok", 9) != 0)
		return;
	if (p->settling) {
		end_settling(p);
	} else if (!c || !c->before) {
		return;
	} else if (!is_error) {
		char said[RULE_TEXT_SIZE + 80];
		describe(&c->rule, true, said, sizeof(said));
		finish(p, said, NULL);
	} else {
		struct err e = ERR_INIT;
		err_set(&e, ERR_INVALID, "the proxy refused the policy:%s", line + 12);
		roll_back(p, false, &e);
		finish(p, NULL, &e);
	}
}

struct live_policy *live_policy_create(struct loop *loop, const char *path, void (*tell_proxy)(void *arg),
                                       void *arg)
{
	struct live_policy *p = mem_alloc(sizeof(*p));
	p->path = path;
	p->tell_proxy = tell_proxy;
	p->arg = arg;
	list_init(&p->queue);
	p->timer = timer_create_on(loop, on_timer, p);
	return p;
}

void live_policy_destroy(struct live_policy *p)
{
	if (!p)
		return;
	while (!list_is_empty(&p->queue)) {
		struct policy_change *c = first(p);
		list_remove(&c->link);
		free_change(c);
	}
	timer_close(p->timer);
	free(p);
}

struct policy_change *live_policy_change(struct live_policy *p, enum rule_kind kind, const char *text,
                                         policy_change_fn *done, void *arg, struct err *e)
{
	struct rule rule;
	if (!rule_parse_host(kind, text, strlen(text), &rule, e))
		return NULL;
	if (p->count >= LIVE_POLICY_MOST) {
		err_set(e, ERR_BUSY, "too many policy changes at once");
		return NULL;
	}
	struct policy_change *c = mem_alloc(sizeof(*c));
	c->rule = rule;
	c->done = done;
	c->arg = arg;
	list_append(&p->queue, &c->link);
	if (p->count++ == 0 && !p->settling)
		timer_once(p->timer, 0);
	return c;
}

void policy_change_forget(struct policy_change *c)
{
	c->done = NULL;
}
