/* Dead children of pid 1: those it started, and every orphan of the guest. */
#ifndef CCVM_GUEST_REAP_H
#define CCVM_GUEST_REAP_H

#include <sys/types.h>

#include "core/base/list.h"

struct reactor;
struct reaper;

/* Blocks SIGCHLD for the process and hears of it from the loop; the only caller of waitpid. */
struct reaper *reaper_open(struct reactor *r);
void reaper_close(struct reaper *reaper); /* accepts NULL */

/* Somebody waits for a child; part of the waiter's object. */
struct reap_wait {
	struct list link;
	pid_t pid;
	void (*fn)(void *arg, int status); /* once, with waitpid's status */
	void *arg;
};

/* Right after the fork, before the loop runs again. */
void reaper_expect(struct reaper *reaper, struct reap_wait *w, pid_t pid, void (*fn)(void *arg, int status),
                   void *arg);
void reap_forget(struct reap_wait *w); /* harmless at any time after a zeroed start */

#endif
