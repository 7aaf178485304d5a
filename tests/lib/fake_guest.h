/* A guest's vsock driver over a piece of plain memory, for tests of the device: split rings with up to
 * FAKE_GUEST_MOST entries, receive buffers as Linux posts them, one descriptor or an indirect table per packet.
 *
 * Memory at `mem` is the guest's from gpa FAKE_GUEST_GPA and QEMU's from uva FAKE_GUEST_UVA. */
#ifndef CCVM_TESTS_LIB_FAKE_GUEST_H
#define CCVM_TESTS_LIB_FAKE_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/vsock/packet.h"
#include "core/vsock/virtqueue.h"

#define FAKE_GUEST_GPA    0x100000ull
#define FAKE_GUEST_UVA    0x7f0000000000ull
#define FAKE_GUEST_MOST   128
#define FAKE_GUEST_RX_LEN 3776u /* what Linux 6.1 posts: 3732 bytes of payload behind the header */
#define FAKE_GUEST_TX_LEN (PACKET_HEADER_SIZE + PACKET_MAX_PAYLOAD)
#define FAKE_GUEST_SIZE   (10u << 20)
#define FAKE_GUEST_CID    42

struct fake_desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags, next;
};
enum { FAKE_NEXT = 1, FAKE_WRITE = 2, FAKE_INDIRECT = 4 };

struct fake_ring {
	uint16_t num;
	struct fake_desc *desc;
	uint16_t *avail, *used; /* words, as in virtqueue.h */
	uint64_t desc_gpa, avail_gpa, used_gpa, buffers_gpa;
	uint32_t buffer_len;
	uint16_t avail_idx, seen; /* next to offer, next used to take */
	uint16_t kicked_at;
	uint32_t outstanding;
};

struct fake_guest {
	uint8_t *mem; /* borrowed */
	struct fake_ring rx, tx;
	bool event_idx, indirect;
	uint32_t buf_alloc; /* put into every packet */
};

struct fake_packet {
	struct packet_header h;
	uint8_t payload[FAKE_GUEST_RX_LEN];
};

/* `mem` holds FAKE_GUEST_SIZE bytes. Rings of `num` entries, nothing posted. */
void fake_guest_init(struct fake_guest *g, void *mem, uint16_t num, bool event_idx);
/* After a reboot: empty rings in the same memory. */
void fake_guest_reboot(struct fake_guest *g);
void *fake_guest_at(struct fake_guest *g, uint64_t gpa);
void fake_guest_layout(const struct fake_guest *g, const struct fake_ring *r, struct virtqueue_layout *out);

/* Offers `count` more receive buffers (at most what the ring holds). */
void fake_guest_post(struct fake_guest *g, unsigned count);
/* True once after something was offered, if the device asked to be told. */
bool fake_guest_must_kick(struct fake_guest *g, struct fake_ring *r);

/* Sends a packet of the guest; cids and, if 0, type and buf_alloc are filled in. False: the ring is full. */
bool fake_guest_send(struct fake_guest *g, struct packet_header h, const void *payload);
/* The same with the bytes as they are. */
bool fake_guest_send_raw(struct fake_guest *g, const void *bytes, uint32_t len);
/* Takes the next packet and offers its buffer again (unless `keep`). False: there is none. */
bool fake_guest_receive(struct fake_guest *g, struct fake_packet *out, bool keep);
/* Chains of the ring that the device has not given back. */
unsigned fake_guest_outstanding(struct fake_guest *g, struct fake_ring *r);

#endif
