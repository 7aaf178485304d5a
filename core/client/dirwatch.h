/* Tells when something in a folder is made, changed, renamed or removed. */
#ifndef CCVM_CLIENT_DIRWATCH_H
#define CCVM_CLIENT_DIRWATCH_H

#include "core/base/err.h"

struct loop;
struct dirwatch;

/* `name` is the entry's, or "" when the system did not say which (then look at all). The folder itself may go away: that
 * is a call with "" too. */
struct dirwatch *dirwatch_open(struct loop *loop, const char *path, void (*fn)(void *arg, const char *name),
                               void *arg, struct err *e) MUST_USE;
void dirwatch_close(struct dirwatch *w); /* accepts NULL */

#endif
