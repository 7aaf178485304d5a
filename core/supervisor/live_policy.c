#include "core/supervisor/live_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/egress/policy.h"
#include "core/loop/timer.h"

struct policy_change {
	struct list link;
	struct rule rule;
	uint32_t seconds; /* of its life, from when it is made; 0: for good */
	char *before;     /* owned: the file's text, once the change was written */
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

/* "10 minutes": whole units of the largest kind that says it exactly. */
static void describe_life(uint32_t seconds, char *out, size_t size)
{
	static const struct {
		uint32_t seconds;
		const char *name;
	} UNITS[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
	size_t i = 0;
	while (seconds % UNITS[i].seconds != 0)
		i++;
	uint32_t n = seconds / UNITS[i].seconds;
	snprintf(out, size, "%u %s%s", n, UNITS[i].name, n == 1 ? "" : "s");
}

/* "10:20" of local time, with the date when that is not today. */
static void describe_moment(int64_t until_s, char *out, size_t size)
{
	time_t now = (time_t)(clock_wall_ms() / 1000), until = (time_t)until_s;
	struct tm today, then;
	localtime_r(&now, &today);
	localtime_r(&until, &then);
	bool same_day = today.tm_year == then.tm_year && today.tm_yday == then.tm_yday;
	strftime(out, size, same_day ? "%H:%M" : "%Y-%m-%d %H:%M", &then);
}

static void describe(const struct policy_change *c, bool changed, char *out, size_t size)
{
	char text[RULE_TEXT_SIZE], life[32], moment[32];
	if (changed && c->rule.until_s) {
		rule_format_target(&c->rule, text);
		describe_life(c->seconds, life, sizeof(life));
		describe_moment(c->rule.until_s, moment, sizeof(moment));
		snprintf(out, size, "%s allowed for %s, until %s", text, life, moment);
		return;
	}
	rule_format(&c->rule, text);
	snprintf(out, size, "%s: %s", text,
	         !changed                     ? "nothing to change"
	         : c->rule.kind == RULE_ALLOW ? "in force"
	                                      : "in force for new connections; open tunnels stay");
}

/* The text of the file with the rule applied, or NULL with the error. */
static char *new_text(struct live_policy *p, struct policy_change *c, bool *changed, struct err *e)
{
	struct policy policy;
	policy_init(&policy);
	char *text = NULL;
	int64_t now_ms = clock_wall_ms();
	if (c->seconds)
		c->rule.until_s = now_ms / 1000 + c->seconds;
	if (policy_parse(&policy, p->path, c->before, c->before_len, e)) {
		policy_drop_dead(&policy, now_ms);
		if (policy_apply(&policy, &c->rule, changed, e))
			text = policy_format(&policy);
	}
	if (text && !*changed && c->rule.kind == RULE_ALLOW)
		c->rule = *policy_find_allow(&policy, &c->rule); /* what holds, to be told */
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
		describe(c, false, said, sizeof(said));
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
		describe(c, true, said, sizeof(said));
		finish(p, said, NULL);
	} else {
		struct err e = ERR_INIT;
		err_set(&e, ERR_INVALID, "the proxy refused the policy:%s", line + 12);
		roll_back(p, false, &e);
		finish(p, NULL, &e);
	}
}

/* A file that cannot be read is left for the proxy to name. */
static void drop_dead(const char *path)
{
	struct policy policy;
	struct err e = ERR_INIT;
	policy_init(&policy);
	if (policy_load(&policy, path, &e) && policy_drop_dead(&policy, clock_wall_ms())) {
		char *text FREE_ON_EXIT = policy_format(&policy);
		if (fd_write_file(path, text, strlen(text), 0600, &e))
			log_info("policy: rules whose time is over are gone");
		else
			log_warn("policy: %s", e.msg);
	}
	policy_finish(&policy);
}

struct live_policy *live_policy_create(struct loop *loop, const char *path, void (*tell_proxy)(void *arg),
                                       void *arg)
{
	struct live_policy *p = mem_alloc(sizeof(*p));
	p->path = path;
	drop_dead(path);
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
                                         uint32_t seconds, policy_change_fn *done, void *arg, struct err *e)
{
	struct rule rule;
	if (!rule_parse_host(kind, text, strlen(text), &rule, e))
		return NULL;
	if (seconds > RULE_LIFE_MOST_S) {
		err_set(e, ERR_INVALID, "a rule with a time lives for 30 days at most");
		return NULL;
	}
	if (p->count >= LIVE_POLICY_MOST) {
		err_set(e, ERR_BUSY, "too many policy changes at once");
		return NULL;
	}
	struct policy_change *c = mem_alloc(sizeof(*c));
	c->rule = rule;
	c->seconds = kind == RULE_ALLOW ? seconds : 0;
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
