/* Waiting until nothing of a VM runs any more, and taking its place away. */
#ifndef CCVM_CLI_VM_END_H
#define CCVM_CLI_VM_END_H

#include <stdbool.h>

#include "core/base/err.h"

/* The supervisor tells that the VM has ended a moment before it leaves itself. Waits (blocking, some milliseconds as a
 * rule) until the lock of the runtime folder is free; ERR_TIMEOUT after VM_END_PATIENCE_MS. */
#define VM_END_PATIENCE_MS 10000
bool vm_end_wait(const char *vm, struct err *e) MUST_USE;

/* Kills the supervisor itself, and with it everything of the VM, when it cannot be asked any more. False when its record
 * does not name a process that lives (ERR_NOT_FOUND). */
bool vm_end_by_force(const char *vm, struct err *e) MUST_USE;

/* Removes the runtime and state folders of a VM that does not run, under its lock. ERR_BUSY: it runs. */
bool vm_end_remove(const char *vm, struct err *e) MUST_USE;

#endif
