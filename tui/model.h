/* What the dashboard shows, as plain data borrowed from whoever has it: the client library while the program runs, a
 * test otherwise. Views read it, nothing here has behaviour. */
#ifndef CCVM_TUI_MODEL_H
#define CCVM_TUI_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/client/feed.h"
#include "core/client/fleet.h"
#include "tui/pane_source.h"

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
