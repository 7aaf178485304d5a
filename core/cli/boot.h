/* Starting the supervisor of a VM and watching until the VM is ready. */
#ifndef CCVM_CLI_BOOT_H
#define CCVM_CLI_BOOT_H

#include "core/base/err.h"
#include "core/vm/vm.h"

struct loop;

enum boot_end {
	BOOT_READY,       /* and its way out works; one line was printed to stdout */
	BOOT_BROKEN,      /* it runs, but its way out does not work: the line and e say so */
	BOOT_FAILED,      /* its VMM ran and it failed; it stays as a failed VM with a console to read */
	BOOT_INTERRUPTED, /* by INT, TERM or HUP: it goes on without us */
	BOOT_NOT_STARTED, /* nothing of the guest ever ran: its supervisor or its VMM did not come up */
};

/* The VM's state folder exists. The supervisor is a process of its own: it outlives us whatever happens here. Progress
 * goes to stderr. */
enum boot_end boot_vm(struct loop *loop, const struct vm_spec *spec, struct err *e) MUST_USE;

#endif
