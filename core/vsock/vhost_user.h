/* vhost-user messages (the protocol between QEMU and a device in another process). Pure: bytes and a number of
 * descriptors in, a message or an error out.
 *
 * Two kinds of failure, told apart by where they are found. A message that cannot be read (version, size, number of
 * descriptors) is an error here and ends the connection: the two sides no longer agree where messages begin. What a
 * guest can cause through QEMU (a silly queue size, a ring outside of memory) is a readable message; the backend
 * refuses its content and goes on. */
#ifndef CCVM_VSOCK_VHOST_USER_H
#define CCVM_VSOCK_VHOST_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/vsock/memory.h"

#define VHOST_USER_HEADER_SIZE 12
#define VHOST_USER_PAYLOAD_MAX 512
#define VHOST_USER_CONFIG_MAX  256
#define VHOST_USER_MOST_FDS    8
#define VHOST_USER_VRINGS      2 /* 0 to the guest, 1 from the guest; QEMU keeps the event queue to itself */

enum vhost_user_request {
	VHOST_USER_GET_FEATURES = 1,
	VHOST_USER_SET_FEATURES = 2,
	VHOST_USER_SET_OWNER = 3,
	VHOST_USER_RESET_OWNER = 4,
	VHOST_USER_SET_MEM_TABLE = 5,
	VHOST_USER_SET_VRING_NUM = 8,
	VHOST_USER_SET_VRING_ADDR = 9,
	VHOST_USER_SET_VRING_BASE = 10,
	VHOST_USER_GET_VRING_BASE = 11,
	VHOST_USER_SET_VRING_KICK = 12,
	VHOST_USER_SET_VRING_CALL = 13,
	VHOST_USER_SET_VRING_ERR = 14,
	VHOST_USER_GET_PROTOCOL_FEATURES = 15,
	VHOST_USER_SET_PROTOCOL_FEATURES = 16,
	VHOST_USER_GET_QUEUE_NUM = 17,
	VHOST_USER_SET_VRING_ENABLE = 18,
	VHOST_USER_GET_CONFIG = 24,
	VHOST_USER_SET_CONFIG = 25,
	VHOST_USER_REQUEST_COUNT = 64 /* numbers from here on are not a message */
};

#define VHOST_USER_VERSION    0x1u
#define VHOST_USER_REPLY      0x4u
#define VHOST_USER_NEED_REPLY 0x8u

/* Feature bits of the device, and of the protocol. */
#define VHOST_F_INDIRECT_DESC     (1ull << 28)
#define VHOST_F_EVENT_IDX         (1ull << 29)
#define VHOST_F_PROTOCOL_FEATURES (1ull << 30)
#define VHOST_F_VERSION_1         (1ull << 32)
#define VHOST_P_REPLY_ACK         (1ull << 3)
#define VHOST_P_CONFIG            (1ull << 9)

struct vhost_user_message {
	uint32_t request;
	bool known;      /* one of the enum; the fields below are then set as the request needs them */
	bool need_reply; /* the sender wants to hear of success or failure */
	bool answers;    /* the request has an answer of its own */
	uint64_t value;  /* features, protocol features */
	uint32_t vring;  /* < VHOST_USER_VRINGS */
	uint32_t number; /* num, base or enable of a vring */
	bool no_fd;      /* of kick, call, err: the sender has no descriptor */
	uint64_t desc_uva, used_uva, avail_uva;
	uint32_t vring_flags;
	uint32_t region_count;
	struct memory_region regions[MEMORY_MOST_REGIONS];
	uint32_t config_offset, config_size;
};

/* How many payload bytes follow this header. */
bool vhost_user_payload_size(const uint8_t header[VHOST_USER_HEADER_SIZE], size_t *size,
                             struct err *e) MUST_USE;
/* Header and payload together, and how many descriptors came along. */
bool vhost_user_parse(const uint8_t *bytes, size_t len, size_t fd_count, struct vhost_user_message *out,
                      struct err *e) MUST_USE;
const char *vhost_user_request_name(uint32_t request);

/* Answers. `out` holds the size below; returns the bytes to send. */
#define VHOST_USER_ANSWER_SIZE (VHOST_USER_HEADER_SIZE + 12 + VHOST_USER_CONFIG_MAX)
size_t vhost_user_answer_u64(uint8_t *out, uint32_t request, uint64_t value);
size_t vhost_user_answer_vring(uint8_t *out, uint32_t request, uint32_t vring, uint32_t number);
/* A config space of `len` bytes; with len 0 the answer says "no such field". */
size_t vhost_user_answer_config(uint8_t *out, uint32_t offset, const uint8_t *config, size_t len);

#endif
