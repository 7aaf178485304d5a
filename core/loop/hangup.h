/* Notices that the peer of a connection has gone away while nobody reads from it (a reader that is paused for want of
 * room elsewhere would not see the end of file). */
#ifndef CCVM_LOOP_HANGUP_H
#define CCVM_LOOP_HANGUP_H

#include "core/base/err.h"

struct loop;
struct hangup;

/* `fd` is borrowed (a duplicate is watched). `fn` comes once, from the loop. */
struct hangup *hangup_open(struct loop *loop, int fd, void (*fn)(void *arg), void *arg,
                           struct err *e) MUST_USE;
void hangup_close(struct hangup *h); /* accepts NULL; no callback afterwards */

#endif
