/* Which VMs the list shows, and in which order. Pure. */
#ifndef CCVM_TUI_VM_ORDER_H
#define CCVM_TUI_VM_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/check.h"
#include "core/client/fleet.h"

/* In each of them those come first that wait for the operator, and of these the ones that were not looked at yet. Equal ones
 * are by name. */
enum vm_sort {
	SORT_STATE, /* who calls, who works, who is idle, what failed, what stopped */
	SORT_NAME,
	SORT_AGE, /* longest in its state first */
	SORT_CPU, /* and the next two: most first */
	SORT_MEM,
	SORT_DENIED, /* since the operator last looked */
	SORT_COUNT
};
const char *vm_sort_name(enum vm_sort s); /* "state" */
bool vm_sort_parse(const char *name, enum vm_sort *out) MUST_USE;

/* The VM waits for the operator; who has looked at it already is not called any more (`unseen`). */
bool vm_waits(const struct fleet_vm *vm);
bool vm_waits_unseen(const struct fleet_vm *vm);
/* It says that it waits, has finished or failed, and nobody has looked since. */
bool vm_calls(const struct fleet_vm *vm);

/* Refusals since the operator last looked. */
unsigned vm_denied_since(const struct fleet_vm *vm);

/* Words with blanks between, all of which hold: a text that is part of the name or of a title; "state:waiting", by the
 * beginning of any word that the list has for it; "image:base", "backend:kvm", by a part of it. "!" before a word: it does not
 * hold. Upper and lower case are the same. "" and NULL match everything. */
bool vm_filter_matches(const char *filter, const struct fleet_vm *vm);

void vm_order_sort(const struct fleet_vm **vms, size_t count, enum vm_sort sort);

#endif
