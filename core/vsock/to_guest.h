/* The way into the guest's receive buffers: control packets one by one, and data read from a socket straight into
 * many buffers at once. Knows rings and headers, not connections. */
#ifndef CCVM_VSOCK_TO_GUEST_H
#define CCVM_VSOCK_TO_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/vsock/packet.h"
#include "core/vsock/virtqueue.h"

#define TO_GUEST_BATCH 32 /* packets filled by one read */

enum to_guest_result {
	TO_GUEST_DONE, /* sent, or read: see `packets`; fewer bytes than asked for means that the socket is empty */
	TO_GUEST_FULL,  /* no receive buffer, or the queue is not running: nothing happened */
	TO_GUEST_AGAIN, /* the socket had nothing */
	TO_GUEST_EOF,
	TO_GUEST_ERROR /* reading failed */
};

/* Room for the pieces of one batch; a few pages, of which only what is used becomes resident. */
struct to_guest {
	struct virtqueue *queue; /* kept */
	struct iovec pool[VIRTQUEUE_MOST_PIECES];
	struct iovec payload[VIRTQUEUE_MOST_PIECES];
	struct virtqueue_chain chains[TO_GUEST_BATCH];
	uint32_t room[TO_GUEST_BATCH]; /* payload bytes that fit into each */
	unsigned count;
	size_t payload_count;
};

struct to_guest_fill {
	uint32_t most_bytes;            /* in: > 0 */
	uint32_t most_packets;          /* in: > 0 */
	unsigned packets;               /* out: how many packets were made ... */
	uint32_t sizes[TO_GUEST_BATCH]; /* ... and the payload of each */
	bool drained;                   /* out: the socket gave less than was asked for */
};

void to_guest_init(struct to_guest *g, struct virtqueue *queue);
/* A packet without payload. */
enum to_guest_result to_guest_send(struct to_guest *g, const struct packet_header *h);
/* Packets of data with `h` as header (its len is filled in), read from `fd`. The caller flushes the queue. */
enum to_guest_result to_guest_read(struct to_guest *g, int fd, struct packet_header h,
                                   struct to_guest_fill *f);

#endif
