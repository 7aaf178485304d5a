/* A split virtqueue seen from the device: takes descriptor chains that the guest made available and gives each one
 * back as used, exactly once.
 *
 *     off ──start──► running ──(the guest broke a rule)──► broken
 *      ▲                │                                     │
 *      └─────stop───────┴────────────────stop─────────────────┘
 *
 * The rings lie in memory that a hostile guest writes at any moment. Every value is read once, atomically, and
 * checked before use; a broken rule stops this queue for good (until the next start) and never the program.
 *
 * Order of use: virtqueue_pop any number of times, virtqueue_push once for each popped chain in the same order (or
 * virtqueue_unpop for those popped last), then virtqueue_flush once per batch. */
#ifndef CCVM_VSOCK_VIRTQUEUE_H
#define CCVM_VSOCK_VIRTQUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/base/err.h"
#include "core/vsock/memory.h"

#define VIRTQUEUE_MOST_ENTRIES 1024
#define VIRTQUEUE_MOST_PIECES  1024 /* of one chain; also the most that readv takes */

enum virtqueue_state { VIRTQUEUE_OFF, VIRTQUEUE_RUNNING, VIRTQUEUE_BROKEN };

struct virtqueue {
	enum virtqueue_state state;
	const struct memory *memory; /* kept while running */
	uint16_t num;
	const void *desc; /* in guest memory, as are the next two */
	uint16_t *avail;  /* flags, idx, ring[num], used_event */
	uint16_t *used;   /* flags, idx, {u32 id, u32 len}[num], avail_event */
	uint16_t next_avail;
	uint16_t next_used;
	uint16_t published; /* used.idx as the guest sees it */
	bool event_idx;
	int call_fd;                         /* borrowed eventfd that interrupts the guest, or -1 */
	int err_fd;                          /* borrowed eventfd that tells QEMU of a broken queue, or -1 */
	uint32_t popped, pushed, interrupts; /* totals since the start; wrap */
	struct err why;                      /* what broke it, ERR_NONE while it did not */
	bool reported;                       /* for whoever logs that */
};

struct virtqueue_layout {
	uint32_t num; /* entries: a power of two, 1..VIRTQUEUE_MOST_ENTRIES */
	uint64_t desc_uva, avail_uva, used_uva;
	uint32_t base; /* where to go on: the index of the next available entry */
	bool event_idx;
};

struct virtqueue_chain {
	uint16_t head;
	struct iovec *iov; /* borrowed from the pool: first what we may read, then what we may write */
	size_t readable, writable; /* pieces */
	size_t readable_bytes, writable_bytes;
};

enum virtqueue_pop { VIRTQUEUE_EMPTY, VIRTQUEUE_CHAIN, VIRTQUEUE_NO_POOL, VIRTQUEUE_STOPPED };

void virtqueue_init(struct virtqueue *q);
/* The rings must lie inside one region each and be aligned. On failure the queue is off. */
bool virtqueue_start(struct virtqueue *q, const struct memory *m, const struct virtqueue_layout *at,
                     struct err *e) MUST_USE;
/* The memory table has changed: finds the rings again. On failure the queue is broken. */
bool virtqueue_remap(struct virtqueue *q, const struct virtqueue_layout *at, struct err *e) MUST_USE;
void virtqueue_stop(struct virtqueue *q);
bool virtqueue_is_running(const struct virtqueue *q);

/* Takes the next chain. Its pieces go into `pool` (room for `room` of them, at most VIRTQUEUE_MOST_PIECES used).
 * NO_POOL: the chain has more pieces than `room`, which is less than the most: nothing was taken. */
enum virtqueue_pop virtqueue_pop(struct virtqueue *q, struct iovec *pool, size_t room,
                                 struct virtqueue_chain *out);
/* Puts back the last `count` popped chains, untouched. */
void virtqueue_unpop(struct virtqueue *q, unsigned count);
/* Gives a chain back after `written` bytes were put into its writable part. */
void virtqueue_push(struct virtqueue *q, uint16_t head, uint32_t written);
/* Shows the guest what was pushed and interrupts it if it wants that. */
void virtqueue_flush(struct virtqueue *q);

/* Asks the guest to kick at the next available chain. True: there is one already, look again. */
bool virtqueue_want_kick(struct virtqueue *q);
void virtqueue_no_kick(struct virtqueue *q);

#endif
