/* The end of the VM: SIGTERM to everybody, some seconds of patience, SIGKILL, then the callback that turns it
 * off. */
#ifndef CCVM_GUEST_POWER_H
#define CCVM_GUEST_POWER_H

#include "guest/reactor.h"

struct power {
	struct reactor *reactor;
	struct deadline tick;
	unsigned ticks;
	bool ending;
	void (*end)(void *arg); /* nobody is left, or will not go */
	void *arg;
};

void power_init(struct power *p, struct reactor *r, void (*end)(void *arg), void *arg);
/* Only in pid 1: it signals every process that there is. A second call changes nothing. */
void power_begin(struct power *p);

#endif
