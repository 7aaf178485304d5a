/* The loopback interface: the only one that a guest has. The kernel leaves it down, and then every connect to
 * 127.0.0.1 fails with ENETUNREACH although a listener can be bound there. */
#ifndef CCVM_GUEST_NET_H
#define CCVM_GUEST_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

bool net_lo_up(struct err *e) MUST_USE;
bool net_lo_is_up(void);
/* A listener on 127.0.0.1, close-on-exec and non-blocking; port 0 takes any. */
int net_listen_loopback(uint16_t port, struct err *e) MUST_USE;

#endif
