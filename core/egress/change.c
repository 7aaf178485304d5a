/* Rules at the start and at the end of both lists that are the same are left out first: a live change adds at the end, so
 * that of two long policies only a few rules are compared with each other. */
#include "core/egress/change.h"

#include <stdio.h>
#include <string.h>

#define MORE_SIZE 24 /* ", and 4096 more" */

struct part {
	const struct rule *rules; /* borrowed */
	size_t count;
};

struct sentence {
	char *out;
	size_t size, len;
	size_t more;
};

static bool holds(const struct part *p, const struct rule *r)
{
	for (size_t i = 0; i < p->count; i++) {
		if (rule_equal(&p->rules[i], r))
			return true;
	}
	return false;
}

static void add(struct sentence *s, const char *verb, const struct rule *r)
{
	char rule[RULE_TEXT_SIZE];
	rule_format(r, rule);
	const char *comma = s->len ? ", " : "";
	size_t need = strlen(comma) + strlen(verb) + 1 + strlen(rule);
	if (s->more > 0 || s->len + need + MORE_SIZE > s->size)
		s->more++;
	else
		s->len += (size_t)snprintf(s->out + s->len, s->size - s->len, "%s%s %s", comma, verb, rule);
}

static void add_missing(struct sentence *s, const char *verb, const struct part *of, const struct part *in)
{
	for (size_t i = 0; i < of->count; i++) {
		if (!holds(in, &of->rules[i]))
			add(s, verb, &of->rules[i]);
	}
}

void policy_describe_change(const struct policy *was, const struct policy *now, char *out, size_t size)
{
	struct part old = {was->rules, was->count}, new = {now->rules, now->count};
	struct sentence s = {.out = out, .size = size};
	out[0] = '\0';
	while (old.count && new.count && rule_equal(&old.rules[0], &new.rules[0]))
		old.rules++, new.rules++, old.count--, new.count--;
	while (old.count && new.count && rule_equal(&old.rules[old.count - 1], &new.rules[new.count - 1]))
		old.count--, new.count--;
	add_missing(&s, "added", &new, &old);
	add_missing(&s, "removed", &old, &new);
	if (s.more > 0)
		snprintf(out + s.len, size - s.len, "%s%zu more", s.len ? ", and " : "", s.more);
}
