#include "core/cli/vm_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/client/fleet.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"

static void on_change(void *arg)
{
	(void)arg; /* the loop below looks after each turn */
}

static void on_patience_over(void *arg)
{
	*(bool *)arg = true;
}

static void copy(const struct fleet *f, struct vm_list *out)
{
	out->count = fleet_count(f);
	out->items = mem_array(out->count, sizeof(*out->items));
	for (size_t i = 0; i < out->count; i++) {
		const struct fleet_vm *vm = fleet_at(f, i);
		out->items[i] = vm->status;
		if (!vm->settled)
			snprintf(out->items[i].reason, sizeof(out->items[i].reason),
			         "its supervisor does not answer");
	}
}

bool vm_list_get(struct loop *loop, struct vm_list *out, struct err *e)
{
	bool late = false;
	struct fleet *f = fleet_open(loop, on_change, NULL, e);
	if (!f)
		return false;
	struct timer *patience = timer_create_on(loop, on_patience_over, &late);
	timer_once(patience, VM_LIST_PATIENCE_MS);
	while (!fleet_is_settled(f) && !late)
		loop_turn(loop, false);
	copy(f, out);
	timer_close(patience);
	fleet_close(f);
	return true;
}

void vm_list_finish(struct vm_list *list)
{
	free(list->items);
	*list = (struct vm_list){0};
}

const struct vm_status *vm_list_find(const struct vm_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].name, name) == 0)
			return &list->items[i];
	}
	return NULL;
}
