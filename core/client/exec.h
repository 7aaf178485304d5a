/* A program in the guest without a terminal: stdin, stdout and stderr apart, exit code, signals.
 *
 *     client_exec ──► starting ──► running ──► ended (on_exit or on_failed, once, last)
 *
 * Flow control is that of the connection: exec_pause_output stops reading it, and then everything else on it waits
 * too. So a program gets a client of its own. Closing it (or the client) ends the program in the guest. */
#ifndef CCVM_CLIENT_EXEC_H
#define CCVM_CLIENT_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct client;
struct exec;

struct exec_spec {               /* all borrowed during client_exec */
	const char *const *argv; /* NULL-terminated, at least one */
	const char *const *env;  /* "NAME=value", NULL-terminated, or NULL; added to the guest's own */
	const char *cwd;         /* or NULL: the guest's default */
};

struct exec_ops {
	void (*on_stdout)(void *arg, const uint8_t *bytes, size_t len);
	void (*on_stderr)(void *arg, const uint8_t *bytes, size_t len);
	/* Stdin may be sent (again): when the program runs, and when a full queue has room. */
	void (*on_drain)(void *arg);
	/* code counts when signum is 0. output_cut: somebody in the guest kept the output open, the rest is not sent. */
	void (*on_exit)(void *arg, uint32_t code, unsigned signum, bool output_cut);
	/* It could not be started (the guest's reason; ERR_NOT_FOUND: no such program) or the connection broke. */
	void (*on_failed)(void *arg, const struct err *e);
};

/* One per client (ERR_BUSY). Arguments that are too long are ERR_LIMIT. */
struct exec *client_exec(struct client *c, const struct exec_spec *spec, const struct exec_ops *ops,
                         void *arg, struct err *e) MUST_USE;

/* Neither runs yet nor is over. */
bool exec_is_starting(const struct exec *x);
/* True: wait for on_drain before sending stdin. Starts true. */
bool exec_is_full(const struct exec *x);
/* Any length. False when the program is over or does not run yet. */
bool exec_send_stdin(struct exec *x, const void *bytes, size_t len) MUST_USE;
void exec_stdin_eof(struct exec *x); /* idempotent */
void exec_signal(struct exec *x, int signum);
void exec_pause_output(struct exec *x);
void exec_resume_output(struct exec *x);
void exec_close(struct exec *x); /* accepts NULL; kills what still runs; no callback afterwards */

#endif
