/* One of our own programs beside the VM (ccvm-vsock, ccvm-proxy): started with a notify pipe as descriptor 3, whose lines
 * tell what it does; its stderr is read line by line. It dies with us.
 *
 *     start ─► "ready\n" (on_line) ─► lines... ─► exited (on_exit, once)
 *
 * No callback comes from inside a call. helper_close is for on_exit and later, never for on_line.
 * helper_stop: TERM, and KILL when it is still there after HELPER_PATIENCE_MS; on_exit follows. */
#ifndef CCVM_SUPERVISOR_HELPER_H
#define CCVM_SUPERVISOR_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/err.h"

struct loop;
struct helper;

#define HELPER_PATIENCE_MS 2000
#define HELPER_NOTIFY_FD   3 /* what --notify-fd gets */
#define HELPER_LINE_MAX    512

struct helper_ops {
	/* A line of the notify pipe, escaped, without its newline. */
	void (*on_line)(void *arg, const char *line);
	/* A line of its stderr, escaped. */
	void (*on_error_line)(void *arg, const char *line);
	/* `why` is one line for people: "ccvm-proxy was killed by signal 9". Comes when it has exited and its lines have been
	 * read (or a moment later, if somebody else keeps its pipes open). Then helper_close. */
	void (*on_exit)(void *arg, const char *why);
};

/* `name` ("ccvm-proxy") is borrowed for ever. */
struct helper *helper_start(struct loop *loop, const char *name, const char *const *argv,
                            const struct helper_ops *ops, void *arg, struct err *e) MUST_USE;
pid_t helper_pid(const struct helper *h); /* 0 once it has exited */
void helper_signal(struct helper *h, int signum);
void helper_stop(struct helper *h);
/* Accepts NULL; no callback afterwards. One that still runs is killed. */
void helper_close(struct helper *h);

#endif
