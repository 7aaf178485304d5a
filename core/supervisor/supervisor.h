/* One VM, from its description to its end: does what machine.h decides.
 *
 * Children: the VMM, ccvm-vsock, ccvm-proxy. The VMM or the vsock device gone means the VM is; the proxy is started
 * again. When it is over, status.json says how, the runtime folder is gone, clients have been told, and nothing of this
 * object is left in the loop, so that loop_run returns. The log is standard error, which is the VM's log file. */
#ifndef CCVM_SUPERVISOR_SUPERVISOR_H
#define CCVM_SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/supervisor/places.h"
#include "core/vm/vm.h"

struct loop;
struct supervisor;

#define SUPERVISOR_GRACE_MS  10000 /* of a stop by signal */
#define SUPERVISOR_GRACE_MAX 3600000

/* The runtime folder has been claimed; `places` and `spec` are kept. Listens on control.sock when it returns. If it
 * fails nothing is left running. on_over comes once, from the loop, as the last thing; `s` is gone then. */
struct supervisor *supervisor_start(struct loop *loop, const struct places *places,
                                    const struct vm_spec *spec, void (*on_over)(void *arg, bool failed),
                                    void *arg, struct err *e) MUST_USE;
/* By a signal: a polite stop the first time, at once the second time. */
void supervisor_interrupt(struct supervisor *s);

#endif
