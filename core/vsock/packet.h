/* The 44-byte header of a virtio-vsock packet. Pure.
 *
 * A header that comes from the guest is copied out of shared memory once and decoded from that copy: the guest may
 * change its memory at any moment, so nothing is ever read twice. */
#ifndef CCVM_VSOCK_PACKET_H
#define CCVM_VSOCK_PACKET_H

#include <stdint.h>

#define PACKET_HEADER_SIZE 44
#define PACKET_MAX_PAYLOAD 65536 /* the most that Linux puts into one packet, and the most we take */

#define VSOCK_CID_HOST 2

enum packet_type { PACKET_STREAM = 1 };

enum packet_op {
	PACKET_OP_INVALID = 0,
	PACKET_OP_REQUEST,
	PACKET_OP_RESPONSE,
	PACKET_OP_RST,
	PACKET_OP_SHUTDOWN,
	PACKET_OP_RW,
	PACKET_OP_CREDIT_UPDATE,
	PACKET_OP_CREDIT_REQUEST,
	PACKET_OP_COUNT
};

/* Flags of PACKET_OP_SHUTDOWN. They are for good: once said, a bit never goes away. */
enum packet_shutdown {
	PACKET_NO_RECEIVE = 1,
	PACKET_NO_SEND = 2,
	PACKET_NO_MORE = PACKET_NO_RECEIVE | PACKET_NO_SEND,
};

struct packet_header {
	uint64_t src_cid;
	uint64_t dst_cid;
	uint32_t src_port;
	uint32_t dst_port;
	uint32_t len; /* bytes of payload */
	uint16_t type;
	uint16_t op;
	uint32_t flags;
	uint32_t buf_alloc; /* the sender's receive buffer for this connection, in bytes */
	uint32_t fwd_cnt;   /* bytes the sender has taken out of that buffer since the start; wraps */
};

void packet_decode(struct packet_header *out, const uint8_t bytes[PACKET_HEADER_SIZE]);
void packet_encode(uint8_t out[PACKET_HEADER_SIZE], const struct packet_header *h);
const char *packet_op_name(uint16_t op); /* "request" and so on, "unknown" for the rest */

#endif
