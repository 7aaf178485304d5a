/* control.sock: who may connect, and the sessions of those who did. */
#ifndef CCVM_SUPERVISOR_CONTROL_H
#define CCVM_SUPERVISOR_CONTROL_H

#include "core/base/err.h"
#include "core/supervisor/session.h"

struct control;

#define CONTROL_MOST 256 /* connections at a time; others wait in the kernel's queue */

/* Only processes of our own user are let in. `path` and `host` are kept. */
struct control *control_open(struct loop *loop, const char *path, const struct session_host *host,
                             struct err *e) MUST_USE;
/* Nobody new; the socket is gone. */
void control_stop_listening(struct control *c);
/* The VM is over: every client is told and let go. Accepts NULL; `c` is gone. */
void control_close(struct control *c);

#endif
