/* Typing: every key goes to a guest, or to those of all marked VMs. */
#include <string.h>

#include "tui/dash_internal.h"

/* A terminal that takes keys. While it opens they wait with its connection. */
static bool can_type(const struct dash *d, const struct view *v, const struct fleet_vm *vm)
{
	const struct pane_source *p = dash_pane_of(d, v, vm);
	return vm && vm->status.state == VM_READY && (!p || p->link == PANE_OPENING || p->link == PANE_LIVE);
}

bool dash_types_into(const struct dash *d, const struct fleet_vm *vm)
{
	if (!d->typing || !vm || vm->status.state != VM_READY)
		return false;
	return d->broadcast ? names_has(&d->marked, vm->status.name)
	                    : strcmp(vm->status.name, d->selected) == 0;
}

static void reopen_if_over(struct dash *d, const struct view *v, const struct fleet_vm *vm)
{
	const struct pane_source *p = dash_pane_of(d, v, vm);
	if (p && (p->link == PANE_ENDED || p->link == PANE_BROKEN))
		d->ops->reopen(d->arg, vm->status.name, dash_term_of(d, vm));
}

static bool prepare_broadcast(struct dash *d, struct view *v)
{
	if (d->marked.count == 0) {
		dash_notice(d, "mark the VMs first, then type into all of them");
		return false;
	}
	if (d->marked.count > DASH_PANES_MOST - LAYOUT_PANES_MOST) {
		dash_noticef(d, "at most %d VMs can be typed into at once",
		             DASH_PANES_MOST - LAYOUT_PANES_MOST);
		return false;
	}
	if (!v->vm || !names_has(&d->marked, d->selected)) /* one of them is seen meanwhile */
		dash_select_name(d, v, d->marked.all[0]);
	for (size_t i = 0; i < d->marked.count; i++) {
		const struct fleet_vm *vm = dash_find_vm(v, d->marked.all[i]);
		if (vm && !dash_answers(d, vm))
			return false;
		if (vm && vm->status.state == VM_READY) {
			reopen_if_over(d, v, vm);
		} else {
			dash_noticef(d, "%s has no terminal to type into", d->marked.all[i]);
			return false;
		}
	}
	return true;
}

void dash_type(struct dash *d, struct view *v, bool broadcast)
{
	if (broadcast ? !prepare_broadcast(d, v) : !v->vm)
		return;
	if (!broadcast && v->vm->status.state != VM_READY) {
		d->zoomed = !d->zoomed; /* there is only something to read: all of it, and back */
		return;
	}
	if (!broadcast && !dash_answers(d, v->vm))
		return;
	if (!broadcast)
		reopen_if_over(d, v, v->vm);
	dash_leave_feed(d);
	d->typing = true;
	d->broadcast = broadcast;
	dash_place(d, v);
	int pane = dash_pane_of_selected(v);
	if (pane < 0 || rect_is_empty(v->layout.panes[pane].body)) {
		d->typing = d->broadcast = false;
		dash_notice(d, "too small to type");
	}
}

void dash_attach(struct dash *d, struct view *v, const char *vm)
{
	if (vm[0] && !dash_select_name(d, v, vm)) {
		dash_noticef(d, "no VM '%s'", vm);
		return;
	}
	bool zoomed = d->zoomed;
	d->zoomed = true;
	if (v->vm && v->vm->status.state == VM_READY)
		dash_type(d, v, false);
	d->attached = d->typing && !zoomed;
}

void dash_leave_typing(struct dash *d)
{
	if (d->attached)
		d->zoomed = false;
	d->typing = d->broadcast = d->attached = false;
}

/* `was`: who was typed into before the data changed. */
void dash_end_typing_if_over(struct dash *d, struct view *v, const char *was)
{
	if (!d->typing)
		return;
	const struct pane_source *p = dash_pane_of(d, v, v->vm);
	if (!v->vm || strcmp(v->vm->status.name, was) != 0)
		dash_noticef(d, "%s is gone", was);
	else if (v->vm->status.state != VM_READY)
		dash_noticef(d, "%s is %s", was, vm_state_name(v->vm->status.state));
	else if (p && (p->link == PANE_ENDED || p->link == PANE_BROKEN))
		dash_noticef(d, "%s: %s", was, p->why);
	else
		return;
	dash_leave_typing(d);
}

static void key_into(struct dash *d, const struct fleet_vm *vm, uint32_t key, unsigned mods)
{
	if (!d->ops->send_key(d->arg, vm->status.name, dash_term_of(d, vm), key, mods))
		dash_noticef(d, "%s takes no keys now: the last ones are lost", vm->status.name);
}

void dash_type_key(struct dash *d, struct view *v, uint32_t key, unsigned mods)
{
	d->notice[0] = '\0';
	if (!d->broadcast && v->vm) {
		key_into(d, v->vm, key, mods);
		return;
	}
	for (size_t i = 0; i < d->marked.count; i++) {
		const struct fleet_vm *vm = dash_find_vm(v, d->marked.all[i]);
		if (can_type(d, v, vm))
			key_into(d, vm, key, mods);
	}
}

static void paste_into(struct dash *d, const struct fleet_vm *vm, struct bytes text, bool first, bool last)
{
	if (!d->ops->send_paste(d->arg, vm->status.name, dash_term_of(d, vm), text, first, last) && last)
		dash_noticef(
		    d, "%s: the paste is too long, or the terminal takes none now: nothing of it was sent",
		    vm->status.name);
}

void dash_type_paste(struct dash *d, struct view *v, struct bytes text, bool first, bool last)
{
	if (!d->broadcast && v->vm) {
		paste_into(d, v->vm, text, first, last);
		return;
	}
	for (size_t i = 0; i < d->marked.count; i++) {
		const struct fleet_vm *vm = dash_find_vm(v, d->marked.all[i]);
		if (can_type(d, v, vm))
			paste_into(d, vm, text, first, last);
	}
}
