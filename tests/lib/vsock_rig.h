/* A vsock device with a fake guest on one side and socket pairs on the other, for the tests of core/vsock.
 * The checks fail the running cmocka test. */
#ifndef CCVM_TESTS_LIB_VSOCK_RIG_H
#define CCVM_TESTS_LIB_VSOCK_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/vsock/device.h"
#include "tests/lib/fake_guest.h"

#define RIG_ENTRIES      128   /* of each ring */
#define RIG_DEADLINE_MS  20000 /* far beyond what any condition needs */
#define RIG_REFUSED_PORT 7777
#define RIG_BUSY_PORT    7778          /* its backlog is full for the first `busy` tries */
#define RIG_WINDOW       (256u * 1024) /* what the device promises to hold for one of the first connections */

struct rig {
	struct loop *loop;
	uint8_t *mem;
	struct fake_guest guest;
	struct memory memory;
	struct virtqueue rx, tx;
	struct device *device;
	int host; /* the host's end of the connection that was made last */
	int busy;
	unsigned dials;
	int fds_before;
};

/* `buffers` receive buffers are posted. With event_idx the guest also uses indirect tables. */
struct rig *rig_create(bool event_idx, unsigned most_connections, unsigned buffers);
/* Checks what must hold whatever happened: every chain was given back once, and nothing is left open. */
void rig_destroy(struct rig *r);
void rig_start_queues(struct rig *r);
void rig_resume_queues(struct rig *r); /* after virtqueue_stop: where they were, as after a pause */
/* Lets the device do everything that it can do without waiting. */
void rig_pump(struct rig *r);
struct device_counts rig_counts(struct rig *r);

/* The guest sends. */
void rig_send_op(struct rig *r, uint32_t guest_port, uint32_t host_port, uint16_t op, uint32_t flags);
void rig_send_data(struct rig *r, uint32_t guest_port, uint32_t host_port, const void *bytes, uint32_t len);
void rig_send_credit(struct rig *r, uint32_t guest_port, uint32_t host_port, uint32_t fwd_cnt);
/* The next packet to the guest is this one, or there is none. */
void rig_expect(struct rig *r, uint16_t op, struct fake_packet *out);
void rig_expect_silence(struct rig *r);
/* Nothing would wake the device's loop: it costs no processor time. */
void rig_expect_sleep(struct rig *r);

/* The guest opens a connection, or a host program connects and says `text`; returns the host's end. */
int rig_open_by_guest(struct rig *r, uint32_t guest_port, uint32_t host_port);
int rig_host_connects(struct rig *r, const char *text);
void rig_expect_host(int fd, const char *text);
void rig_expect_host_eof(int fd);
void rig_put_host(int fd, const void *bytes, size_t len);
size_t rig_stuff_host(int fd); /* writes until the socket is full; returns the bytes */

#endif
