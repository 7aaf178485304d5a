/* What the dashboard keeps from one time to the next: how its list was sorted. A small file in the state folder;
 * one that cannot be read or makes no sense is as good as none. */
#ifndef CCVM_TUI_REMEMBER_H
#define CCVM_TUI_REMEMBER_H

#include <stdbool.h>

#include "core/base/err.h"
#include "tui/vm_order.h"

struct remember {
	bool has_sort; /* the operator chose one; else the settings count */
	enum vm_sort sort;
};

void remember_load(struct remember *r, const char *path);
bool remember_save(const struct remember *r, const char *path, struct err *e) MUST_USE;

#endif
