/* What the host tells pid 1 on the kernel command line. Pure.
 *
 *   ccvm.layers=vda,vdb  read-only squashfs layers, lowest first     ccvm.disk=vdc  the VM's own ext4 disk
 *   ccvm.name=alpha      the host name                               ccvm.time=N    Unix seconds, a floor for the clock
 *   ccvm.probe           say so on the console and power off: does this machine boot a guest at all? */
#ifndef CCVM_GUEST_CMDLINE_H
#define CCVM_GUEST_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/parse.h" /* VM_NAME_MAX */

#define CMDLINE_MOST_LAYERS 8
#define CMDLINE_DEVICE_SIZE 16

struct cmdline {
	char layers[CMDLINE_MOST_LAYERS][CMDLINE_DEVICE_SIZE]; /* "vda" */
	size_t layer_count;
	char disk[CMDLINE_DEVICE_SIZE];
	char name[VM_NAME_MAX + 1];
	uint64_t time_s; /* 0: not given */
	bool probe;
};

/* Words that do not begin with "ccvm." are the kernel's. An unknown or malformed one of ours is ERR_INVALID;
 * unless it is a probe, a layer, a disk and a name must be there. */
bool cmdline_parse(const char *text, struct cmdline *out, struct err *e) MUST_USE;

#endif
