/* Changing the egress policy of a running VM: the policy file is replaced, the proxy told, its answer awaited.
 *
 *     change ─► (queue) ─► file written, SIGHUP ─► "policy ok" ─► done(text)
 *                  │                └─► "policy error" or no answer ─► file as before (a deny stays) ─► done(error)
 *                  └─► a rule that is refused or there already changes nothing
 *
 * Each change, and the start, also takes out the rules whose time is over; the proxy itself counts them as nothing from the
 * moment on, so nobody has to be awake for that. One change at a time. A proxy that is being restarted reads the new file when it comes up, which counts as its answer. */
#ifndef CCVM_SUPERVISOR_LIVE_POLICY_H
#define CCVM_SUPERVISOR_LIVE_POLICY_H

#include "core/base/err.h"
#include "core/egress/rule.h"

struct live_policy;
struct loop;
struct policy_change;

#define LIVE_POLICY_ANSWER_MS 8000 /* below the ten seconds that a client waits: it is to hear why */
#define LIVE_POLICY_MOST      64   /* changes that wait */

/* `path` is kept; rules in it whose time is over go now. `tell_proxy` sends it SIGHUP, or does nothing while there is none. */
struct live_policy *live_policy_create(struct loop *loop, const char *path, void (*tell_proxy)(void *arg),
                                       void *arg);
void live_policy_destroy(struct live_policy *p); /* accepts NULL; waiting changes are dropped silently */

/* `text` is "HOST[:PORT]"; seconds: how long an allow lives, 0 for good. `done` comes once, from the loop: the rule in canonical form and what happens, or the error. A
 * text that is no rule is ERR_INVALID here and changes nothing. The change is not the caller's to free. */
typedef void policy_change_fn(void *arg, const char *text, const struct err *e);
struct policy_change *live_policy_change(struct live_policy *p, enum rule_kind kind, const char *text,
                                         uint32_t seconds, policy_change_fn *done, void *arg,
                                         struct err *e) MUST_USE;
/* The caller goes away: `done` will not come, the change is made all the same. */
void policy_change_forget(struct policy_change *c);

/* A line of the proxy's notify pipe; others than the policy's are none of its business. */
void live_policy_proxy_line(struct live_policy *p, const char *line);

#endif
