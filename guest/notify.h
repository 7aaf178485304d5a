/* `ccvm-guest notify`: a program in the guest, usually an agent's hook, says how it is doing. */
#ifndef CCVM_GUEST_NOTIFY_H
#define CCVM_GUEST_NOTIFY_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/wire/wire.h"

#define NOTIFY_LIMIT_MS 5000 /* for each step of the way; a hook holds up its agent */

/* `words` (NULL-terminated): the state, then the text's words, which are joined by blanks; controls become blanks and a long
 * text is cut at a whole character. `terminal` is the environment's CCVM_TERMINAL or NULL. */
bool notify_read(char *const *words, const char *terminal, struct wire_event_notify *out,
                 struct err *e) MUST_USE;
/* Says it on a connection that may still be in the making, and waits until the host has heard it. Takes `fd`. */
bool notify_send(int fd, const struct wire_event_notify *m, struct err *e) MUST_USE;

#endif
