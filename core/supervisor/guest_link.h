/* One connection to a port of the guest, over the hybrid vsock socket.
 *
 *     open ─► "CONNECT port\n" ─► "OK n\n" ─► HELLO of the guest ─► frames ⇄ paused
 *       └────────┴───────────────────┴──────────────┴───────────────┴─► on_end, once
 *
 * - Frames may be sent right away: they go out behind our HELLO as soon as the guest's port has answered.
 * - The hand-shake has a time limit; what follows has none (the owner has its own).
 * - Everything that comes is hostile. What breaks the protocol is logged as an incident and ends this link, nothing
 *   else. Texts in errors are escaped.
 * - Callbacks come from the loop only. guest_link_close may be called from any of them; none comes afterwards. */
#ifndef CCVM_SUPERVISOR_GUEST_LINK_H
#define CCVM_SUPERVISOR_GUEST_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/wire/frame.h"

struct loop;
struct guest_link;

#define GUEST_LINK_HANDSHAKE_MS 15000 /* a busy emulated guest needs its time */

struct guest_link_ops {
	/* A frame after the HELLO. False with `e`: it breaks the protocol; on_end follows in the same turn. */
	bool (*on_frame)(void *arg, const struct frame *f, struct err *e);
	void (*on_drain)(void *arg); /* no longer full; may be NULL */
	/* ERR_GONE: it closed. ERR_NOT_FOUND: nobody listens there. ERR_PROTOCOL, ERR_TIMEOUT, ... Then close it. */
	void (*on_end)(void *arg, const struct err *e);
};

/* `vsock_path` is borrowed. If it fails nothing is left and no callback fires. */
struct guest_link *guest_link_open(struct loop *loop, const char *vsock_path, uint32_t port,
                                   const struct guest_link_ops *ops, void *arg, struct err *e) MUST_USE;
void guest_link_close(struct guest_link *l); /* accepts NULL */

/* Where to put frames (wire_put_...), then guest_link_flush. False: over the limit or broken; on_end follows if it has not
 * been called yet. */
struct buf *guest_link_out(struct guest_link *l);
bool guest_link_flush(struct guest_link *l);
bool guest_link_is_full(const struct guest_link *l);
/* Bytes that may be put before the limit. */
size_t guest_link_room(const struct guest_link *l);
/* Frames that were read already still come. */
void guest_link_pause(struct guest_link *l);
void guest_link_resume(struct guest_link *l);

/* Reads the ERROR with which the guest refuses a request: its kind and its text, escaped, in `said`. False with `e`: the
 * message is malformed. */
bool guest_refusal(const struct frame *f, struct err *said, struct err *e) MUST_USE;
/* Says in the log that the guest broke the protocol on `what` ("port 9001"). */
void guest_incident(const char *what, const struct err *e);

#endif
