/* All VMs of this user, always up to date: for the dashboard and for `ccvm ls`.
 *
 * The set of VMs is the set of state folders that hold a vm.json. A VM with a live supervisor is watched over its
 * control socket; for the others the recorded status counts. A record that says that the VM lives while its supervisor
 * (pid and start time) is gone is a lie of the dead: such a VM is shown as failed, with that reason. */
#ifndef CCVM_CLIENT_FLEET_H
#define CCVM_CLIENT_FLEET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/vm/vm.h"

struct loop;
struct client;
struct fleet;

struct fleet_vm {
	struct vm_status status;
	struct client
	    *client;  /* borrowed: its watching connection (for allow, deny, stop, kill, ping), or NULL */
	bool settled; /* status is from the supervisor or final; false: still asking */
	bool hangs;   /* its supervisor lives but has not answered for FLEET_HANGS_MS */
	bool deaf;    /* its supervisor lives but nobody listens (yet): it is just starting or ending */
};

#define FLEET_HANGS_MS 3000
#define FLEET_ASK_MS   2000

/* on_change comes from the loop, once for many changes; pointers from fleet_at are valid until the next turn of the loop.
 * Fails when the runtime folder is not safe to use. */
struct fleet *fleet_open(struct loop *loop, void (*on_change)(void *arg), void *arg, struct err *e) MUST_USE;
void fleet_close(struct fleet *f); /* accepts NULL; no callback afterwards */

size_t fleet_count(const struct fleet *f);
const struct fleet_vm *fleet_at(const struct fleet *f, size_t i);           /* sorted by name */
const struct fleet_vm *fleet_find(const struct fleet *f, const char *name); /* NULL: no such VM */
/* Every VM has answered once (or will not): what `ls` waits for. */
bool fleet_is_settled(const struct fleet *f);
/* Somebody looks at the list: asks every supervisor that was not asked for FLEET_ASK_MS whether it still answers, and judges those
 * who were asked before (`hangs`, on_change). Nothing asks or waits by itself: who does not look has no timer running for it. */
void fleet_look(struct fleet *f);
/* Looks at the folders again now (they are watched anyway). */
void fleet_rescan(struct fleet *f);

#endif
