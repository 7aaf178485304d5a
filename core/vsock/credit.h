/* How much either side of a connection may send. Pure arithmetic on wrapping 32-bit counters; only payload counts.
 *
 *   what we may send    = peer_buf_alloc - (sent - peer_fwd_cnt)      both limits must hold:
 *   packets in flight   < ceiling                                     bytes and packets
 *
 * The packet ceiling is for newer Linux guests, which account for every queued packet with its own overhead and
 * reset the stream when that passes the buffer size, whatever the byte credit says. We remember where each packet
 * in flight ends and retire it when the guest's fwd_cnt passes that point. */
#ifndef CCVM_VSOCK_CREDIT_H
#define CCVM_VSOCK_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CREDIT_MOST_PACKETS 256  /* in flight to the guest on one connection; a power of two */
#define CREDIT_SLIVER       4096 /* do not send less than this only because credit is short */

struct credit {
	/* towards the guest */
	uint32_t peer_buf_alloc;
	uint32_t peer_fwd_cnt;
	uint32_t sent;  /* bytes of payload sent so far */
	uint32_t *ends; /* owned; `sent` at the end of each packet in flight; NULL until the first packet */
	uint32_t first, next; /* total packets retired and sent; wrap */
	/* from the guest */
	uint32_t buf_alloc; /* what we promise to hold */
	uint32_t received;  /* bytes of payload taken from the guest */
	uint32_t forwarded; /* of these, bytes that have left our buffer: our fwd_cnt */
	uint32_t announced; /* the fwd_cnt that the guest saw last */
};

void credit_init(struct credit *c, uint32_t buf_alloc);
void credit_finish(struct credit *c);

/* The peer's half of any packet it sends. Nonsense (more read than was sent) leaves us with no credit, no more. */
void credit_peer(struct credit *c, uint32_t buf_alloc, uint32_t fwd_cnt);

uint32_t credit_bytes(const struct credit *c);       /* bytes that may be sent now */
uint32_t credit_packets(const struct credit *c);     /* packets that may be sent now */
bool credit_packets_are_low(const struct credit *c); /* half of the packet ceiling is in flight */
/* Below this many bytes of credit it is better to wait than to cut a larger block into slivers. */
uint32_t credit_sliver(const struct credit *c);
/* A packet of `len` > 0 bytes went out. Within the limits above. */
void credit_sent(struct credit *c, uint32_t len);

/* `len` bytes came in. False: the peer sent more than we promised to hold. */
bool credit_received(struct credit *c, uint32_t len);
void credit_forwarded(struct credit *c, uint32_t len);
/* The guest should be told that there is room again. The guest limits itself to the smaller of our buffer and its
 * own, so the threshold is half of that smaller one. */
bool credit_update_is_due(const struct credit *c);

#endif
