/* A running program with its terminal or pipes.
 *
 *     running ──► exited, output still open ──► done: on_exit (once, last)
 *        └────────────┴──► left by its owner: SIGHUP to its session, SIGKILL after two seconds, then forgotten
 *
 * Exit and end of output are two events. A grandchild may keep the output open: after two seconds in which it
 * could be read the rest is given up, and on_exit says so. Nothing queues without bound: a full owner pauses
 * the output, and program_stdin_is_full tells it to stop sending. */
#ifndef CCVM_GUEST_PROGRAM_H
#define CCVM_GUEST_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/err.h"
#include "core/base/list.h"
#include "guest/spawn.h"

struct reactor;
struct reaper;
struct program;

#define PROGRAM_MOST       256
#define PROGRAM_STDIN_SIZE (256 * 1024)
#define PROGRAM_CHUNK      (32 * 1024) /* longest piece of output */

/* All programs of the guest. */
struct programs {
	struct reactor *reactor;
	struct reaper *reaper;
	struct rlimit files; /* for each of them */
	struct list all;
	size_t count; /* those that were left and still die count too */
};

struct program_ops {
	void (*on_output)(void *arg, bool is_stderr, const uint8_t *bytes, size_t len);
	void (*on_stdin_room)(void *arg); /* no longer full */
	/* `code` counts when signum is 0. Call program_leave, inside or later. */
	void (*on_exit)(void *arg, int code, int signum, bool output_cut);
};

void programs_init(struct programs *set, struct reactor *reactor, struct reaper *reaper);
void programs_finish(struct programs *set); /* kills what is left; for tests and the end */

/* `spec->files` is filled in here. ERR_LIMIT at PROGRAM_MOST. */
struct program *program_start(struct programs *set, const struct spawn_spec *spec,
                              const struct program_ops *ops, void *arg, struct err *e) MUST_USE;
pid_t program_pid(const struct program *p);
/* At most PROGRAM_STDIN_SIZE / 2 bytes may come after it was not full; false: they did not fit. */
bool program_put_stdin(struct program *p, const uint8_t *bytes, size_t len) MUST_USE;
void program_end_stdin(struct program *p); /* after what was put; in a terminal: its end-of-file character */
bool program_stdin_is_full(const struct program *p);
void program_pause_output(struct program *p, bool paused);
void program_resize(struct program *p, uint16_t rows, uint16_t cols);
void program_signal(struct program *p, int signum); /* to its process group */
/* The owner goes: no more callbacks. Accepts NULL. Inside a callback only in on_exit. */
void program_leave(struct program *p);

#endif
