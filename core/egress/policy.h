/* The egress policy of one VM: a list of rules. An empty one refuses everything.
 *
 * File format: one rule a line (see rule.h), "# comment" lines, blank lines. Any other line makes the whole text
 * an error, "NAME:LINE: what": half a policy is not a policy. */
#ifndef CCVM_EGRESS_POLICY_H
#define CCVM_EGRESS_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/egress/rule.h"

#define POLICY_MOST_RULES 4096
#define POLICY_TEXT_MAX   (1024 * 1024)

struct policy {
	struct rule *rules; /* owned */
	size_t count;
};

enum decision { DECISION_NO_RULE = 0, DECISION_ALLOW, DECISION_DENY };

void policy_init(struct policy *p);
void policy_finish(struct policy *p);

/* `name` is what errors call the text. On failure *p is untouched, else it is replaced. */
bool policy_parse(struct policy *p, const char *name, const char *text, size_t len, struct err *e) MUST_USE;
/* The same from a file; a missing one is an error, never an empty policy. */
bool policy_load(struct policy *p, const char *path, struct err *e) MUST_USE;
/* The canonical text, one rule a line; the caller frees. */
char *policy_format(const struct policy *p) MUST_USE;

/* What a command changes: adds a rule that is not there yet, and drops those it contradicts: an allow takes away
 * the denies of the same HOST, a deny the allows of it (of that port if it has one), a resolve the older one. Of allows of the
 * same HOST and port, the one that lives longest stays: one for good replaces one with a time, never the other way round.
 * `changed` may be NULL. ERR_LIMIT over POLICY_MOST_RULES. */
bool policy_apply(struct policy *p, const struct rule *rule, bool *changed, struct err *e) MUST_USE;

/* Takes out the rules that are not alive any more (rule_is_alive); true when there was one. */
bool policy_drop_dead(struct policy *p, int64_t wall_ms);

/* As of this moment: rules that are not alive count for nothing. `host` is normalised. *rule (may be NULL) is the rule that decided, borrowed, or NULL when there is none. */
enum decision policy_decide(const struct policy *p, const char *host, uint16_t port, int64_t wall_ms,
                            const struct rule **rule);
/* The allow of the same HOST and port that lives longest, borrowed, or NULL. */
const struct rule *policy_find_allow(const struct policy *p, const struct rule *like);
/* The resolve rule of a host, borrowed, or NULL. */
const struct rule *policy_find_resolve(const struct policy *p, const char *host);

#endif
