/* What QEMU says, applied: features, guest memory, and the two rings of a vsock device.
 *
 * A ring runs when it has a size, addresses and a kick descriptor and is enabled (or the features do not speak of
 * enabling: QEMU before 7.2). What a guest can cause (a silly size or address) leaves a ring off and is logged; only
 * QEMU itself can end the backend.
 *
 * Stop and start again: QEMU stops the rings when the guest resets the device, and also when the VM is paused. The
 * two look alike until the rings start again: a paused VM goes on where it was, a rebooted one begins at 0. Only
 * then are the guest's connections dropped. */
#ifndef CCVM_VSOCK_BACKEND_H
#define CCVM_VSOCK_BACKEND_H

#include "core/base/err.h"
#include "core/vsock/virtqueue.h"

struct loop;
struct device;
struct backend;

/* The rings outlive the connection to QEMU, because the device keeps them. */
struct backend_rings {
	struct virtqueue rx, tx;
};

/* Takes `fd`, the accepted connection; keeps `rings` and `device`. on_end fires once, from the loop: QEMU closed
 * the connection (NULL) or broke the protocol. */
struct backend *backend_create(struct loop *loop, int fd, uint64_t cid, struct backend_rings *rings,
                               struct device *device, void (*on_end)(void *arg, const struct err *e),
                               void *arg);
void backend_destroy(struct backend *b); /* accepts NULL; stops the rings, unmaps the memory */

#endif
