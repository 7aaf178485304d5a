/* Drives a program on a pseudo terminal as a person would: starts it, types, looks at the screen. Its output feeds the
 * terminal core, so that "the screen" is what a terminal would show.
 *
 * Every wait has a deadline, after which the whole screen is printed (as TAP comments on stdout) and the wait returns false.
 * Nothing sleeps. Failures of the machinery itself (no pty, no program) end the test program with a message. */
#ifndef CCVM_TESTS_LIB_PTY_H
#define CCVM_TESTS_LIB_PTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

#include "core/base/check.h"
#include "core/base/str.h"
#include "core/term/cells.h"
#include "core/term/clusters.h"

#define PTY_WAIT_MS 30000 /* far beyond what any wait needs; only a failure takes so long */

struct pty;

struct pty_spec {
	const char *const *argv; /* NULL-terminated; argv[0] is searched in PATH unless it has a slash */
	const char *const
	    *env; /* "NAME=value" set on top of the own environment, NULL-terminated, or NULL; "NAME" alone
	                            takes it away */
	unsigned rows, cols;
};

struct pty *pty_start(const struct pty_spec *spec) MUST_USE;
/* Kills what still runs, frees. Accepts NULL. */
void pty_end(struct pty *p);

void pty_send(struct pty *p, const char *keys); /* as the bytes that a terminal would send */
void pty_send_bytes(struct pty *p, const void *bytes, size_t len);
void pty_resize(struct pty *p, unsigned rows, unsigned cols);
void pty_signal(struct pty *p, int signum);
pid_t pty_pid(const struct pty *p);

/* Reads what is there, without waiting. */
void pty_poll(struct pty *p);
/* Until the screen holds the text (within one row), or no longer does, or the condition is true. `what` names the
 * condition in the message. */
bool pty_wait_text(struct pty *p, const char *text);
bool pty_wait_no_text(struct pty *p, const char *text);
bool pty_wait(struct pty *p, bool (*holds)(struct pty *p, void *arg), void *arg, const char *what);
/* Until nothing has come for `ms`: for "and then nothing more happens". False when output goes on for PTY_WAIT_MS. */
bool pty_wait_quiet(struct pty *p, unsigned ms);
/* Until the program has ended; *status as from waitpid. */
bool pty_wait_exit(struct pty *p, int *status);

bool pty_has_text(struct pty *p, const char *text);
/* The row that holds the text, or -1. */
int pty_find_row(struct pty *p, const char *text);
void pty_screen_text(struct pty *p, struct str *out); /* appends all rows, each with a line feed */
const struct cell *pty_cell(struct pty *p, unsigned row, unsigned col, const struct clusters **clusters);
struct term_cursor pty_cursor(struct pty *p);
unsigned pty_modes(struct pty *p); /* enum term_mode */
const char *pty_title(struct pty *p);
/* All bytes that the program wrote so far (the last 1 MiB of them), NUL-terminated; bytes that came after the call are added by
 * the next one. */
const char *pty_output(struct pty *p, size_t *len);
size_t pty_output_total(const struct pty *p); /* bytes ever */
/* The settings of the terminal, also after the program has ended. */
struct termios pty_termios(struct pty *p);

#endif
