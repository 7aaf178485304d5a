/* One event loop per process, made in main and passed down. */
#ifndef CCVM_LOOP_LOOP_H
#define CCVM_LOOP_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "core/base/err.h"

struct loop;

/* Also ignores SIGPIPE for the process. Dies when the system has no resources for a loop. */
struct loop *loop_create(void);
uv_loop_t *loop_uv(struct loop *loop);
/* Runs until nothing is left to wait for, or loop_stop. */
void loop_run(struct loop *loop);
/* One turn: waits for an event (a timer too) unless `no_wait`; may come back without one. For `while (!done)` in tests and
 * short-lived commands. */
void loop_turn(struct loop *loop, bool no_wait);
void loop_stop(struct loop *loop);
/* Runs what is still closing, then frees. A handle that somebody left open is a BUG in tests
 * (CCVM_STRICT_LOOP=1) and a logged warning elsewhere. */
void loop_destroy(struct loop *loop);

/* `fn(arg)` in the next turn; never from inside this call. Cannot be taken back. */
void loop_defer(struct loop *loop, void (*fn)(void *arg), void *arg);

/* The error of a negative libuv code: "<text>: <uv_strerror>". ECANCELED, ETIMEDOUT and end of file get their own
 * kinds. Returns false. */
bool err_uv(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The loop's shared read buffer: libuv asks for it and calls back in pairs, so one is enough. */
void loop_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out);

#endif
