/* What the dashboard shows, as plain data borrowed from whoever has it: the client library while the program runs, a
 * test otherwise. Views read it, nothing here has behaviour. */
#ifndef CCVM_TUI_MODEL_H
#define CCVM_TUI_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/client/feed.h"
#include "core/client/fleet.h"
#include "tui/pane_source.h"

/* Work that goes on for a while: a VM that is made, an image that is built. */
struct job_info {
	uint32_t id;
	const char *what;   /* "up gamma" */
	const char *line;   /* the last that it said, printable; "" */
	int64_t started_ms; /* wall clock */
	bool running;
};

/* An open terminal. */
struct model_pane {
	uint32_t wished; /* the number that it was asked for by; 0: the first one of its VM */
	struct pane_source source;
};

struct model {
	/* By name as it comes from the fleet. The views get them in the order and with the filter of the operator. */
	const struct fleet_vm *const *vms;
	size_t vm_count;
	bool settled; /* every VM has answered, so that "no VMs" means none */
	struct feed_list feed;
	const struct model_pane *panes; /* the terminals that are open: model_pane_find */
	size_t pane_count;
	const char
	    *console; /* printable last lines of the serial console of the selected VM; "" when not read */
	const struct job_info *jobs; /* those that run, the oldest first */
	size_t job_count;
	int64_t now_ms; /* wall clock */
};

/* The open terminal of a VM, by its real number or the one that it was asked for by. NULL: it is not open. */
const struct pane_source *model_pane_find(const struct model *m, const char *vm, uint32_t term);

#endif
