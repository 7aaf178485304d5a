/* Connects to the first of some addresses that answers, in their order. All tries together have DIAL_LIMIT_MS; one that
 * hangs gets its share of what is left, so that a dead first address does not use up the time of the others. */
#ifndef CCVM_PROXY_DIAL_H
#define CCVM_PROXY_DIAL_H

#include <stddef.h>

#include "core/base/err.h"
#include "core/egress/rule.h"

#define DIAL_LIMIT_MS 15000

struct dial;
struct loop;
struct stream;

/* `to` is copied; count is 1..RESOLVE_MOST. on_done comes later from the loop, once: with a connected stream that the
 * callee owns and where it leads (borrowed), or with the error of the last try (ERR_TIMEOUT: it hung). The handle is
 * gone after it. */
struct dial *dial_start(struct loop *loop, const union endpoint *to, size_t count,
                        void (*on_done)(void *arg, struct stream *s, const union endpoint *to,
                                        const struct err *e),
                        void *arg);
/* No on_done afterwards. Accepts NULL. */
void dial_cancel(struct dial *d);

#endif
