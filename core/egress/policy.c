#include "core/egress/policy.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"

void policy_init(struct policy *p)
{
	*p = (struct policy){0};
}

void policy_finish(struct policy *p)
{
	free(p->rules);
	policy_init(p);
}

static bool has(const struct policy *p, const struct rule *rule)
{
	for (size_t i = 0; i < p->count; i++) {
		if (rule_equal(&p->rules[i], rule))
			return true;
	}
	return false;
}

static bool append(struct policy *p, const struct rule *rule, struct err *e)
{
	if (p->count >= POLICY_MOST_RULES)
		return err_set(e, ERR_LIMIT, "more than %d rules", POLICY_MOST_RULES);
	if ((p->count & (p->count - 1)) == 0) /* 0, 1, 2, 4, 8...: full */
		p->rules = mem_resize(p->rules, p->count ? p->count * 2 : 1, sizeof(*p->rules));
	p->rules[p->count++] = *rule;
	return true;
}

static bool parse_line(struct policy *p, const char *line, size_t len, struct err *e)
{
	size_t blank = 0;
	while (blank < len && (line[blank] == ' ' || line[blank] == '\t'))
		blank++;
	if (blank == len || line[blank] == '#')
		return true;
	struct rule rule;
	if (!rule_parse(line, len, &rule, e))
		return false;
	if (has(p, &rule))
		return true;
	if (rule.kind == RULE_RESOLVE && policy_find_resolve(p, rule.host))
		return err_set(e, ERR_INVALID, "%s has a resolve line already", rule.host);
	return append(p, &rule, e);
}

bool policy_parse(struct policy *p, const char *name, const char *text, size_t len, struct err *e)
{
	struct policy fresh;
	policy_init(&fresh);
	unsigned number = 0;
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line_len = end ? (size_t)(end - text) : len;
		number++;
		if (!parse_line(&fresh, text, line_len, e)) {
			policy_finish(&fresh);
			return err_wrap(e, "%s:%u", name, number);
		}
		size_t step = line_len + (end ? 1 : 0);
		text += step;
		len -= step;
	}
	policy_finish(p);
	*p = fresh;
	return true;
}

bool policy_load(struct policy *p, const char *path, struct err *e)
{
	size_t len;
	char *text FREE_ON_EXIT = fd_read_file(path, POLICY_TEXT_MAX, &len, e);
	return text && policy_parse(p, path, text, len, e);
}

char *policy_format(const struct policy *p)
{
	struct str out = STR_INIT((size_t)POLICY_MOST_RULES * RULE_TEXT_SIZE);
	char line[RULE_TEXT_SIZE];
	for (size_t i = 0; i < p->count; i++) {
		rule_format(&p->rules[i], line);
		str_append(&out, line);
		str_append_char(&out, '\n');
	}
	return str_detach(&out);
}

static bool same_pattern(const struct rule *a, const struct rule *b)
{
	return a->below == b->below && strcmp(a->host, b->host) == 0;
}

static bool lives_longer(const struct rule *a, const struct rule *b)
{
	return b->until_s != 0 && (a->until_s == 0 || a->until_s > b->until_s);
}

/* An old rule that a new one takes the place of. */
static bool contradicts(const struct rule *new, const struct rule *old)
{
	if (!same_pattern(new, old))
		return false;
	if (new->kind == RULE_ALLOW && old->kind == RULE_ALLOW)
		return new->port == old->port &&lives_longer(new, old);
	bool opposite = (new->kind == RULE_ALLOW && old->kind == RULE_DENY) ||
	                (new->kind == RULE_DENY && old->kind == RULE_ALLOW);
	if (opposite)
		return new->port == RULE_ANY_PORT || old->port == RULE_ANY_PORT || new->port == old->port;
	return new->kind == RULE_RESOLVE && old->kind == RULE_RESOLVE;
}

bool policy_apply(struct policy *p, const struct rule *rule, bool *changed, struct err *e)
{
	const struct rule *longer = rule->kind == RULE_ALLOW ? policy_find_allow(p, rule) : NULL;
	bool present = has(p, rule) || (longer && lives_longer(longer, rule));
	size_t kept = 0, before = p->count;
	if (!present && p->count >= POLICY_MOST_RULES)
		return err_set(e, ERR_LIMIT, "more than %d rules", POLICY_MOST_RULES);
	struct policy fresh;
	policy_init(&fresh);
	for (size_t i = 0; i < before; i++) {
		if (rule_equal(&p->rules[i], rule) || !contradicts(rule, &p->rules[i])) {
			kept++;
			CHECK(append(&fresh, &p->rules[i], e));
		}
	}
	if (!present)
		CHECK(append(&fresh, rule, e));
	policy_finish(p);
	*p = fresh;
	if (changed)
		*changed = !present || kept != before;
	return true;
}

bool policy_drop_dead(struct policy *p, int64_t wall_ms)
{
	size_t kept = 0, before = p->count;
	for (size_t i = 0; i < before; i++) {
		if (rule_is_alive(&p->rules[i], wall_ms))
			p->rules[kept++] = p->rules[i];
	}
	p->count = kept;
	return kept != before;
}

const struct rule *policy_find_allow(const struct policy *p, const struct rule *like)
{
	const struct rule *found = NULL;
	for (size_t i = 0; i < p->count; i++) {
		if (rule_same_target(&p->rules[i], like) && (!found || lives_longer(&p->rules[i], found)))
			found = &p->rules[i];
	}
	return found;
}

enum decision policy_decide(const struct policy *p, const char *host, uint16_t port, int64_t wall_ms,
                            const struct rule **rule)
{
	const struct rule *found = NULL;
	for (size_t i = 0; i < p->count; i++) {
		const struct rule *r = &p->rules[i];
		if (r->kind == RULE_RESOLVE || !rule_matches(r, host, port) || !rule_is_alive(r, wall_ms))
			continue;
		if (!found || (r->kind == RULE_DENY && found->kind == RULE_ALLOW))
			found = r;
	}
	if (rule)
		*rule = found;
	if (!found)
		return DECISION_NO_RULE;
	return found->kind == RULE_DENY ? DECISION_DENY : DECISION_ALLOW;
}

const struct rule *policy_find_resolve(const struct policy *p, const char *host)
{
	for (size_t i = 0; i < p->count; i++) {
		if (p->rules[i].kind == RULE_RESOLVE && strcmp(p->rules[i].host, host) == 0)
			return &p->rules[i];
	}
	return NULL;
}
