/* What the dashboard shows, as plain data borrowed from whoever has it: the client library while the program runs, a
 * test otherwise. Views read it, nothing here has behaviour. */
#ifndef CCVM_TUI_MODEL_H
#define CCVM_TUI_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/client/feed.h"
#include "core/client/fleet.h"

struct screen;

/* How the terminal of the selected VM is doing. */
enum pane_link {
	PANE_NONE,    /* there is none: the VM is not ready, or the pane is not on the screen */
	PANE_OPENING, /* asked for; no picture yet */
	PANE_LIVE,
	PANE_ENDED, /* its program ended; the last picture stays */
	PANE_BROKEN /* it could not be opened, or the connection broke */
};

struct pane_source {
	char vm[VM_NAME_MAX + 1]; /* whose it is; "" when nobody's */
	enum pane_link link;
	const struct screen *screen; /* of PANE_LIVE and PANE_ENDED */
	const char *why;             /* of PANE_ENDED and PANE_BROKEN: one line for people */
	const char *console;         /* printable last lines of the VM's serial console; "" when not read */
};

struct model {
	const struct fleet_vm *const *vms; /* sorted by name */
	size_t vm_count;
	bool settled;                            /* every VM has answered, so that "no VMs" means none */
	const struct feed_entry *const *denials; /* newest last */
	size_t denial_count;
	struct pane_source pane;
	int64_t now_ms; /* wall clock */
};

#endif
