/* Gives a terminal back when the program that took it dies without doing so itself (kill -9, a crash): a second process
 * that waits for the end of the first one.
 *
 * The guard is this same program again: main() must call tty_guard_main() first thing. It sits in a process group of its
 * own, so that what is sent to the first one's group does not reach it. */
#ifndef CCVM_LOOP_TTY_GUARD_H
#define CCVM_LOOP_TTY_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "core/base/err.h"

struct loop;
struct tty_guard;

#define TTY_GUARD_BYTES_MAX 1024

/* `fd` is the terminal, `modes` how it was found, `bytes` what brings its screen back: all copied. Off at first. */
struct tty_guard *tty_guard_start(struct loop *loop, int fd, const struct termios *modes, const void *bytes,
                                  size_t len, struct err *e) MUST_USE;
/* On: the terminal is ours; if we die now, it is given back. Off: it is as it was. */
void tty_guard_set(struct tty_guard *g, bool on);
/* Accepts NULL. The guard goes away without touching the terminal. */
void tty_guard_close(struct tty_guard *g);

/* Returns at once unless this process was started as a guard. */
void tty_guard_main(int argc, char **argv);

#endif
