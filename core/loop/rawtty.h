/* The operator's terminal while one program has all of it: raw mode, a screen of its own, and whatever happens (close, a bug, a
 * crash, kill -9), back as it was found. Standard input and output must be that terminal; one of these at a time in a process.
 *
 *     taken ⇄ given back ──► closed
 *
 * Output never blocks and never touches the flags that the shell shares: the terminal is opened once more for it. */
#ifndef CCVM_LOOP_RAWTTY_H
#define CCVM_LOOP_RAWTTY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/err.h"

struct loop;
struct rawtty;

/* What to write when it is taken and when it is given back: constant texts, kept. `leave` must be safe at any time, also in
 * the middle of another sequence, and at most TTY_GUARD_BYTES_MAX long (tty_guard.h). */
struct rawtty_spec {
	struct bytes enter, leave;
};

struct rawtty_ops {
	void (*on_drain)(void *arg); /* all that was written is with the terminal: time for another frame */
	void (*on_gone)(void *arg);  /* once: it takes no more bytes; what is written vanishes from now on */
};

/* Takes the terminal. Callbacks come from the loop. `ops` is kept. */
struct rawtty *rawtty_open(struct loop *loop, const struct rawtty_spec *spec, const struct rawtty_ops *ops,
                           void *arg, struct err *e) MUST_USE;
/* Gives it back; what was typed and not read is thrown away. Accepts NULL; no callback afterwards. */
void rawtty_close(struct rawtty *t);

#define RAWTTY_QUEUE_MAX ((size_t)64 * 1024 * 1024)
/* In order; what does not fit now is queued. Draw the next frame only when rawtty_is_drained: then a slow terminal skips frames and
 * is never behind. Nothing is written while the terminal is given back. */
void rawtty_write(struct rawtty *t, const void *bytes, size_t len);
bool rawtty_is_drained(const struct rawtty *t);

/* Questions were asked whose answers come as input (false), or the last answer is here (true). Before the terminal is given back with
 * answers due, they are waited for, a moment: the shell would take them for something typed. */
void rawtty_answered(struct rawtty *t, bool all);

/* For a while; idempotent. rawtty_take waits, stopped, until this process is in the foreground. */
void rawtty_give_back(struct rawtty *t);
void rawtty_take(struct rawtty *t);
bool rawtty_is_taken(const struct rawtty *t);
/* What Ctrl-Z is for: gives it back, stops the job as the terminal itself would do it, and takes it again when it goes on. */
void rawtty_stop(struct rawtty *t);

/* The size of the terminal at standard output. Never 0: 24 x 80 when it does not know. */
void rawtty_size(unsigned *rows, unsigned *cols);
/* The file behind a descriptor, opened once more for reading and writing, non-blocking: flags that are set on it are nobody
 * else's. -1 when that cannot be (another user's terminal). */
int rawtty_reopen(int fd);

#endif
