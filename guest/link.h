/* A connection that carries frames (core/wire), over any stream socket.
 *
 *     open: reading ⇄ paused ──► finishing (no more reading, what is queued goes out) ──► gone
 *
 * The peer may be anything: a broken frame, a full queue or a lost connection ends in on_gone, once, from the
 * loop. */
#ifndef CCVM_GUEST_LINK_H
#define CCVM_GUEST_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/wire/frame.h"
#include "guest/reactor.h"

#define LINK_HIGH (256 * 1024) /* queued bytes from which on link_is_full */

struct link_ops {
	/* False with `e` set: the peer broke the protocol; it is told, then the link ends. Must not close the
	 * link. */
	bool (*on_frame)(void *arg, const struct frame *f, struct err *e);
	void (*on_room)(void *arg);                      /* no longer full; may be NULL */
	void (*on_gone)(void *arg, const struct err *e); /* e is NULL when the peer closed; call link_close */
};

struct link {
	struct reactor *reactor;
	int fd; /* owned */
	struct reactor_watch *watch;
	struct frame_reader in;
	struct buf out;
	struct deadline patience; /* of a link that finishes */
	const struct link_ops *ops;
	void *arg;
	bool paused, finishing, was_full, broken;
	struct err why; /* of `broken` */
};

/* Takes the connected, non-blocking `fd`. */
void link_open(struct link *l, struct reactor *r, int fd, const struct link_ops *ops, void *arg);
void link_close(struct link *l); /* at once; idempotent; no callback afterwards */

/* Where to put frames (wire_put_...); then link_flush, which breaks the link when a put has failed. */
struct buf *link_out(struct link *l);
void link_flush(struct link *l, bool put_ok);
bool link_is_full(const struct link *l);
void link_pause(struct link *l, bool paused); /* reading */
/* No more frames; on_gone follows when all is written and the peer has closed, or after some seconds. */
void link_finish(struct link *l);

#endif
