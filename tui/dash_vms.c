/* The list: which VMs, in which order, which one is selected, which are marked.
 *
 * The selection is a name, never an index: VMs come and go at any time, and what the operator looks at must not change
 * under the finger. For the same reason the order is made anew only when no key has moved in the list for DASH_HOLD_MS; until
 * then VMs keep their places, and new ones come last. In the grid VMs are by name, so that each keeps its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "tui/dash_internal.h"
#include "tui/list_view.h"

/* ---- sets of names ---- */

static size_t names_find(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->count; i++) {
		if (strcmp(n->all[i], name) == 0)
			return i;
	}
	return SIZE_MAX;
}

bool names_has(const struct names *n, const char *name)
{
	return names_find(n, name) != SIZE_MAX;
}

void names_add(struct names *n, const char *name)
{
	if (n->count == n->room) {
		n->room = MAX(2 * n->room, (size_t)8);
		n->all = mem_resize(n->all, n->room, sizeof(*n->all));
	}
	snprintf(n->all[n->count++], sizeof(*n->all), "%s", name);
}

void names_remove(struct names *n, const char *name)
{
	size_t at = names_find(n, name);
	if (at == SIZE_MAX)
		return;
	memmove(&n->all[at], &n->all[at + 1], (n->count - at - 1) * sizeof(*n->all));
	n->count--;
}

void names_finish(struct names *n)
{
	free(n->all);
	*n = (struct names){0};
}

/* ---- which VMs, in which order ---- */

static void make_room(struct dash *d, size_t count)
{
	if (count <= d->room)
		return;
	d->shown = mem_resize(d->shown, count, sizeof(*d->shown));
	d->marked_rows = mem_resize(d->marked_rows, count, sizeof(*d->marked_rows));
	d->room = count;
}

/* Whoever is being typed into or read stays, whatever becomes of its state meanwhile. */
static bool is_shown(const struct dash *d, const struct fleet_vm *vm)
{
	bool busy = d->typing || d->copy;
	return (busy && strcmp(vm->status.name, d->selected) == 0) || vm_filter_matches(d->filter, vm);
}

struct placed {
	const struct fleet_vm *vm;
	size_t at;
};

static int by_place(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return strcmp(a->vm->status.name, b->vm->status.name);
}

static void keep_order(struct dash *d, size_t count)
{
	struct placed *placed FREE_ON_EXIT = mem_array(MAX(count, (size_t)1), sizeof(*placed));
	for (size_t i = 0; i < count; i++)
		placed[i] =
		    (struct placed){.vm = d->shown[i], .at = names_find(&d->order, d->shown[i]->status.name)};
	qsort(placed, count, sizeof(*placed), by_place);
	for (size_t i = 0; i < count; i++)
		d->shown[i] = placed[i].vm;
}

static bool is_held(const struct dash *d, int64_t now_ms)
{
	return !d->new_order && d->moved_ms > 0 && now_ms >= d->moved_ms &&
	       now_ms - d->moved_ms < DASH_HOLD_MS;
}

static void make_order(struct dash *d, struct view *v)
{
	size_t count = 0;
	make_room(d, v->all_count);
	for (size_t i = 0; i < v->all_count; i++) {
		if (is_shown(d, v->all[i]))
			d->shown[count++] = v->all[i];
	}
	if (is_held(d, v->model.now_ms))
		keep_order(d, count);
	else if (!d->grid)
		vm_order_sort(d->shown, count,
		              d->remembered.has_sort ? d->remembered.sort : d->settings->sort);
	d->new_order = false;
	d->order.count = 0;
	for (size_t i = 0; i < count; i++)
		names_add(&d->order, d->shown[i]->status.name);
	v->model.vms = d->shown;
	v->model.vm_count = count;
}

/* ---- selection ---- */

static size_t place_of(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->model.vm_count; i++) {
		if (strcmp(v->model.vms[i]->status.name, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

const struct fleet_vm *dash_find_vm(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->all_count; i++) {
		if (strcmp(v->all[i]->status.name, name) == 0)
			return v->all[i];
	}
	return NULL;
}

void dash_select_at(struct dash *d, struct view *v, size_t at)
{
	if (v->model.vm_count == 0) {
		d->selected[0] = '\0';
		v->at = SIZE_MAX;
		v->vm = NULL;
		v->term = 0;
		return;
	}
	v->at = MIN(at, v->model.vm_count - 1);
	v->vm = v->model.vms[v->at];
	v->term = dash_term_of(d, v->vm);
	d->selected_at = v->at;
	snprintf(d->selected, sizeof(d->selected), "%s", v->vm->status.name);
}

bool dash_select_name(struct dash *d, struct view *v, const char *name)
{
	if (!dash_find_vm(v, name))
		return false;
	if (place_of(v, name) == SIZE_MAX) {
		dash_set_filter(d, "");
		dash_collect(d, v);
	}
	dash_select_at(d, v, place_of(v, name));
	return true;
}

static void forget_gone_marks(struct dash *d, const struct view *v)
{
	for (size_t i = d->marked.count; i > 0; i--) {
		if (!dash_find_vm(v, d->marked.all[i - 1]))
			names_remove(&d->marked, d->marked.all[i - 1]);
	}
}

void dash_collect(struct dash *d, struct view *v)
{
	make_order(d, v);
	if (v->model.settled || v->all_count > 0)
		forget_gone_marks(d, v);
	for (size_t i = 0; i < v->model.vm_count; i++)
		d->marked_rows[i] = names_has(&d->marked, d->shown[i]->status.name);
	size_t at = place_of(v, d->selected);
	dash_select_at(d, v, at != SIZE_MAX ? at : d->selected_at);
}

/* The list stands still for a while. */
static void hold(struct dash *d, const struct view *v)
{
	d->moved_ms = v->model.now_ms;
}

void dash_move(struct dash *d, struct view *v, long by)
{
	if (!v->vm)
		return;
	hold(d, v);
	size_t at = by < 0 ? v->at - MIN(v->at, (size_t)-by) : v->at + (size_t)by;
	dash_select_at(d, v, at);
}

/* Panes of the same column or row, by where they are: a grid's shape depends on the screen. */
void dash_move_in_grid(struct dash *d, struct view *v, int down, int right)
{
	int from = dash_pane_of_selected(v);
	if (right != 0 || from < 0) {
		dash_move(d, v, right + down);
		return;
	}
	struct rect r = v->layout.panes[from].title;
	for (int i = from + down; i >= 0 && i < dash_pane_count(v); i += down) {
		if (v->layout.panes[i].title.col == r.col) {
			dash_move(d, v, i - from);
			return;
		}
	}
	/* Beyond the edge: the next page of panes, in the same place. */
	size_t page = (size_t)v->layout.pane_count;
	if (down > 0 && v->pane_first + page < v->model.vm_count)
		dash_move(d, v, (long)page);
	else if (down < 0 && v->pane_first >= page)
		dash_move(d, v, -(long)page);
}

/* The next one that calls, round the list; if none does, the next one that waits though it was seen. */
void dash_next_waiting(struct dash *d, struct view *v)
{
	static bool (*const WANTED[])(const struct fleet_vm *vm) = {vm_waits_unseen, vm_calls, vm_waits};
	size_t count = v->model.vm_count;
	for (size_t w = 0; w < ARRAY_LEN(WANTED); w++) {
		for (size_t i = 1; i <= count; i++) {
			size_t at = ((v->at == SIZE_MAX ? 0 : v->at) + i) % count;
			if (!WANTED[w](v->model.vms[at]))
				continue;
			hold(d, v);
			dash_leave_feed(d);
			dash_select_at(d, v, at);
			return;
		}
		for (size_t i = 0; i < v->all_count; i++) { /* one that the filter hides */
			if (!WANTED[w](v->all[i]))
				continue;
			hold(d, v);
			dash_leave_feed(d);
			dash_select_name(d, v, v->all[i]->status.name);
			return;
		}
	}
	dash_notice(d, "no VM waits for you");
}

/* ---- terminals of a VM ---- */

static struct choice *find_choice(const struct dash *d, const char *vm)
{
	for (size_t i = 0; i < d->choice_count; i++) {
		if (strcmp(d->choices[i].vm, vm) == 0)
			return &d->choices[i];
	}
	return NULL;
}

void dash_choose_term(struct dash *d, const char *vm, uint32_t number, bool listed)
{
	struct choice *c = find_choice(d, vm);
	if (!c) {
		d->choices = mem_resize(d->choices, d->choice_count + 1, sizeof(*d->choices));
		c = &d->choices[d->choice_count++];
		snprintf(c->vm, sizeof(c->vm), "%s", vm);
	}
	c->number = number;
	c->listed = listed;
}

static const struct vm_terminal *terminal_of(const struct vm_status *s, uint32_t number)
{
	for (uint32_t i = 0; i < s->terminal_count; i++) {
		if (s->terminal[i].number == number)
			return &s->terminal[i];
	}
	return NULL;
}

/* The one before a terminal that has ended, as its tab stood; else the one after it. 0: there is none. */
static uint32_t neighbour_of(const struct vm_status *s, uint32_t number)
{
	uint32_t before = 0, after = 0;
	for (uint32_t i = 0; i < s->terminal_count; i++) {
		uint32_t n = s->terminal[i].number;
		if (n < number)
			before = MAX(before, n);
		else if (after == 0 || n < after)
			after = n;
	}
	return before ? before : after;
}

/* 0 for the first one, which is asked for by that number: it may have to be started. */
uint32_t dash_term_of(const struct dash *d, const struct fleet_vm *vm)
{
	struct choice *c = find_choice(d, vm->status.name);
	if (!c || c->number == 0)
		return 0;
	const struct vm_terminal *t = terminal_of(&vm->status, c->number);
	if (!t && c->listed) { /* it has ended and is gone */
		c->number = neighbour_of(&vm->status, c->number);
		t = terminal_of(&vm->status, c->number);
	}
	if (t)
		c->listed = true;
	return t && t->first ? 0 : c->number;
}

const struct pane_source *dash_pane_of(const struct dash *d, const struct view *v, const struct fleet_vm *vm)
{
	return vm ? model_pane_find(&v->model, vm->status.name, dash_term_of(d, vm)) : NULL;
}

void dash_step_terminal(struct dash *d, struct view *v, int by)
{
	if (!v->vm || v->vm->status.terminal_count < 2)
		return;
	const struct vm_status *s = &v->vm->status;
	uint32_t at = 0;
	for (uint32_t i = 0; i < s->terminal_count; i++) {
		if (s->terminal[i].number == v->term || (v->term == 0 && s->terminal[i].first))
			at = i;
	}
	at = (at + s->terminal_count + (uint32_t)by) % s->terminal_count;
	dash_choose_term(d, s->name, s->terminal[at].number, true);
	v->term = dash_term_of(d, v->vm);
}

/* ---- sorting, filter, marks ---- */

void dash_set_sort(struct dash *d, const char *name)
{
	enum vm_sort now = d->remembered.has_sort ? d->remembered.sort : d->settings->sort;
	enum vm_sort sort = (enum vm_sort)((now + 1) % SORT_COUNT);
	if (name[0] && !vm_sort_parse(name, &sort)) {
		dash_noticef(d, "no order '%s': state, name, age, cpu, mem or denied", name);
		return;
	}
	d->remembered.has_sort = true;
	d->remembered.sort = sort;
	d->new_order = true;
	d->ops->remember(d->arg, &d->remembered);
	dash_noticef(d, "by %s, those that wait for you first", vm_sort_name(sort));
}

void dash_set_filter(struct dash *d, const char *text)
{
	if (strcmp(d->filter, text) == 0)
		return;
	snprintf(d->filter, sizeof(d->filter), "%s", text);
	d->new_order = true;
}

void dash_mark(struct dash *d, struct view *v)
{
	if (!v->vm)
		return;
	if (names_has(&d->marked, d->selected))
		names_remove(&d->marked, d->selected);
	else
		names_add(&d->marked, d->selected);
	dash_move(d, v, 1);
}

void dash_mark_all(struct dash *d, struct view *v)
{
	bool any = d->marked.count > 0;
	d->marked.count = 0;
	for (size_t i = 0; i < v->model.vm_count && !any; i++)
		names_add(&d->marked, v->model.vms[i]->status.name);
}

void dash_targets(const struct dash *d, const struct view *v, struct names *out)
{
	for (size_t i = 0; i < d->marked.count; i++)
		names_add(out, d->marked.all[i]);
	if (d->marked.count == 0 && v->vm)
		names_add(out, v->vm->status.name);
}
