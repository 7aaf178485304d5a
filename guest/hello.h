/* The connection on which the guest tells the host that it is up. Kept open; tried again until the host takes
 * it. */
#ifndef CCVM_GUEST_HELLO_H
#define CCVM_GUEST_HELLO_H

#include <stdbool.h>

#include "core/base/err.h"

struct reactor;
struct hello;

/* `dial` begins a connection to the host's events port. */
struct hello *hello_start(struct reactor *r, bool relay_listening, int (*dial)(void *arg, struct err *e),
                          void *arg);
void hello_close(struct hello *h); /* accepts NULL */

#endif
