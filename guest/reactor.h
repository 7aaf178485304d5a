/* The guest's event loop: epoll, deadlines, nothing else. (libuv insists on owning waitpid, and pid 1 must
 * own it.)
 *
 * Level-triggered. A callback may close any watch, its own too: nothing more is heard of a closed watch. */
#ifndef CCVM_GUEST_REACTOR_H
#define CCVM_GUEST_REACTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "core/base/list.h"

struct reactor;
struct reactor_watch; /* one descriptor that is looked at; the descriptor stays its owner's */

struct reactor *reactor_create(void);    /* BUG when the kernel has no epoll for us */
void reactor_destroy(struct reactor *r); /* accepts NULL; every watch is closed by then */
void reactor_run(struct reactor *r);     /* until reactor_stop */
void reactor_stop(struct reactor *r);
void reactor_turn(struct reactor *r,
                  int most_ms); /* one wait of at most so long (-1: no limit), and its callbacks */

/* `events` is EPOLLIN, EPOLLOUT, both or 0. Errors and hang-ups are told in any case, again and again: close
 * the watch then, or make it deaf. */
struct reactor_watch *reactor_watch(struct reactor *r, int fd, uint32_t events,
                                    void (*fn)(void *arg, uint32_t events), void *arg);
void reactor_want(struct reactor_watch *w, uint32_t events);
void reactor_deafen(
    struct reactor_watch *w); /* hears nothing, not even errors, until the next reactor_want */
void reactor_unwatch(struct reactor_watch *w); /* accepts NULL */

/* A point in time, part of the object that it protects. */
struct deadline {
	struct list link;
	uint64_t at_ms;
	void (*fn)(void *arg);
	void *arg;
};

void deadline_init(struct deadline *d, void (*fn)(void *arg), void *arg);
void deadline_set(struct deadline *d, struct reactor *r,
                  uint64_t ms); /* fires once, ms from now; set again: moved */
void deadline_clear(struct deadline *d);
bool deadline_is_set(const struct deadline *d);

#endif
