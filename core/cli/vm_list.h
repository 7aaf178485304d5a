/* All VMs and what they do, looked at once. */
#ifndef CCVM_CLI_VM_LIST_H
#define CCVM_CLI_VM_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/vm/vm.h"

struct loop;

struct vm_list {
	struct vm_status *items; /* owned, by name */
	size_t count;
};

/* Waits for every supervisor's answer, but not for ever: one that says nothing for VM_LIST_PATIENCE_MS is listed with what
 * is recorded, and the reason says so. */
#define VM_LIST_PATIENCE_MS 3000
bool vm_list_get(struct loop *loop, struct vm_list *out, struct err *e) MUST_USE;
void vm_list_finish(struct vm_list *list);
const struct vm_status *vm_list_find(const struct vm_list *list, const char *name); /* or NULL */

#endif
