/* Child processes of the host programs. One owner of waiting: libuv; never waitpid(-1) in these programs.
 *
 * A child started with `die_with_parent` is killed by the kernel when its parent dies, however it dies. libuv has no
 * such option, so the child is this same program again, which arms the signal, checks that the parent is still
 * there and becomes the wanted program: main() must call child_guard() first thing. */
#ifndef CCVM_LOOP_CHILD_H
#define CCVM_LOOP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/base/err.h"

struct loop;
struct child;

#define CHILD_MOST_FDS 8
#define CHILD_FD_NULL  (-1) /* /dev/null */

struct child_spec {
	const char *const *argv; /* NULL-terminated; argv[0] is searched in PATH unless it has a slash */
	const char *const *env;  /* NULL-terminated, or NULL: this process's own */
	const char *cwd;         /* or NULL */
	int fds
	    [CHILD_MOST_FDS]; /* the child's 0, 1, 2, 3...: a descriptor of ours (borrowed) or CHILD_FD_NULL */
	size_t fd_count;      /* at least 3 are given; missing ones are CHILD_FD_NULL */
	bool die_with_parent;
	bool new_session; /* setsid: away from the terminal and its signals */
};

/* on_exit fires once, from the loop: signal is 0 after a normal exit. A program that cannot be executed is an error
 * here (without die_with_parent) or exit code 127 (with it). */
struct child *child_start(struct loop *loop, const struct child_spec *spec,
                          void (*on_exit)(void *arg, int code, int signal), void *arg,
                          struct err *e) MUST_USE;
pid_t child_pid(const struct child *c);       /* 0 once it has exited */
void child_kill(struct child *c, int signum); /* nothing once it has exited */
/* Accepts NULL. Forgets the child (no on_exit afterwards); does not kill it. */
void child_close(struct child *c);

/* In main(): returns at once unless this process was started by child_start as the guard of another program. */
void child_guard(int argc, char **argv);

/* Start time of a process in clock ticks since boot (/proc/PID/stat), 0 when there is no such process or only a zombie
 * that nobody has waited for: a pid and its start time name a process for good. */
unsigned long long child_start_time(pid_t pid);

#endif
