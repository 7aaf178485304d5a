/* The vsock device: packets of the guest on one side, Unix sockets on the other.
 *
 * It works on two virtqueues that its owner starts and stops: `rx` (receive buffers of the guest, filled by us) and
 * `tx` (packets of the guest). While either is not running nothing moves, and host programs that want in are turned
 * away. Work for the guest is gathered during a turn of the loop and written at its end, so that a turn costs one
 * interrupt. */
#ifndef CCVM_VSOCK_DEVICE_H
#define CCVM_VSOCK_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/vsock/virtqueue.h"

struct loop;
struct device;

#define DEVICE_MOST_CONNECTIONS 1023

struct device_config {
	uint64_t cid;         /* the guest's address: 3 .. 0xfffffffe */
	const char *path;     /* of the hybrid socket; copied */
	unsigned most;        /* connections, at most DEVICE_MOST_CONNECTIONS */
	struct virtqueue *rx; /* kept */
	struct virtqueue *tx; /* kept */
	/* Connects to the host socket for a port and returns a non-blocking descriptor, or minus an errno; EAGAIN
	 * means later. NULL: the socket "<path>_<port>". */
	int (*dial)(void *arg, uint32_t port);
	void *arg;
};

struct device_counts {
	unsigned connections;
	uint64_t packets_from_guest, packets_to_guest, bytes_from_guest, bytes_to_guest;
	uint64_t dropped_packets; /* of the guest, for a wrong address or a broken header */
	uint64_t dropped_resets;
};

struct device *device_create(struct loop *loop, const struct device_config *config);
/* Drops all connections and what they hold. Accepts NULL. */
void device_destroy(struct device *d);

/* Host programs connect to the path. */
bool device_listen(struct device *d, struct err *e) MUST_USE;
/* One has connected. Takes `fd`, non-blocking. */
void device_accept(struct device *d, int fd);

/* Takes packets from the guest, up to a limit that keeps one guest from filling a turn. True: there may be more. */
bool device_read_guest(struct device *d) MUST_USE;
/* The guest has added receive buffers, or the queues were started or stopped: look again at the end of this turn. */
void device_wake(struct device *d);
/* Writes to the guest what is waiting, and frees what is over. Runs by itself at the end of each turn. */
void device_flush(struct device *d);
/* The guest was rebooted (or is gone) and knows of nothing. What it had sent is still written to its hosts. */
void device_forget_guest(struct device *d);

void device_get_counts(const struct device *d, struct device_counts *out);

#endif
