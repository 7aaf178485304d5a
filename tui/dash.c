/* Keys and pastes find their way; the data of each event are looked at anew. */
#include "tui/dash.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "tui/dash_internal.h"
#include "tui/detail_view.h"
#include "tui/list_view.h"
#include "tui/ticks.h"

struct dash *dash_create(const struct dash_ops *ops, void *arg, const struct settings *settings,
                         const struct remember *remembered)
{
	struct dash *d = mem_alloc(sizeof(*d));
	d->ops = ops;
	d->arg = arg;
	d->settings = settings;
	d->remembered = *remembered;
	d->rows = d->cols = 1;
	d->grid_most = LAYOUT_PANES_MOST;
	feed_rows_init(&d->feed);
	str_init(&d->overlay_text, DETAIL_TEXT_MAX);
	return d;
}

void dash_destroy(struct dash *d)
{
	if (!d)
		return;
	names_finish(&d->order);
	names_finish(&d->marked);
	names_finish(&d->question.vms);
	names_finish(&d->question.running);
	free(d->shown);
	free(d->marked_rows);
	free(d->choices);
	feed_rows_finish(&d->feed);
	str_finish(&d->overlay_text);
	copy_mode_destroy(d->copy);
	dash_line_finish(&d->line);
	free(d->form);
	free(d->made);
	free(d->allowed);
	free(d);
}

void dash_resize(struct dash *d, int rows, int cols)
{
	d->rows = MIN(MAX(rows, 1), CANVAS_MAX);
	d->cols = MIN(MAX(cols, 1), CANVAS_MAX);
}

void dash_notice(struct dash *d, const char *text)
{
	snprintf(d->notice, sizeof(d->notice), "%s", text);
}

void dash_noticef(struct dash *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(d->notice, sizeof(d->notice), fmt, ap);
	va_end(ap);
}

void dash_new_terminal(struct dash *d, const char *vm, uint32_t number)
{
	dash_choose_term(d, vm, number, false);
}

bool dash_is_typing(const struct dash *d)
{
	return d->typing;
}

enum key_context dash_context(const struct dash *d)
{
	if (d->copy)
		return KEYS_COPY;
	if (d->in_feed)
		return KEYS_FEED;
	return d->grid && !d->zoomed ? KEYS_GRID : KEYS_LIST;
}

/* ---- what there is now ---- */

void dash_place(struct dash *d, struct view *v)
{
	struct layout_wish wish = {
	    .rows = d->rows,
	    .cols = d->cols,
	    .list_cols = list_view_cols(&v->model),
	    .list_rows = list_view_rows(&v->model),
	    .zoomed = d->zoomed,
	    .tabs = v->vm && v->vm->status.terminal_count > 1,
	    .grid = d->grid ? (int)MIN(v->model.vm_count, (size_t)d->grid_most) : 0,
	};
	layout_compute(&v->layout, &wish);
	if ((d->typing || d->copy) && rect_is_empty(v->layout.panes[0].body)) {
		wish.zoomed = true; /* nobody types or reads blindly */
		layout_compute(&v->layout, &wish);
	}
	size_t page = (size_t)v->layout.pane_count;
	v->pane_first = v->layout.grid && v->at != SIZE_MAX ? v->at / page * page : v->at;
	feed_rows_update(&d->feed, &v->model.feed, MAX(v->layout.feed.rows, 1));
}

static void note_selection(struct dash *d, const struct view *v)
{
	if (strcmp(d->looked_at, d->selected) == 0)
		return;
	memcpy(d->looked_at, d->selected, sizeof(d->looked_at));
	d->selected_ms = v->model.now_ms;
}

void dash_view(struct dash *d, struct view *v)
{
	vm_name was;
	*v = (struct view){.at = SIZE_MAX};
	d->ops->get_model(d->arg, &v->model);
	v->all = v->model.vms;
	v->all_count = v->model.vm_count;
	memcpy(was, d->selected, sizeof(was));
	dash_collect(d, v);
	dash_form_done(d, v);
	dash_end_typing_if_over(d, v, was);
	dash_place(d, v);
	dash_copy_sync(d, v);
	note_selection(d, v);
}

/* ---- keys ---- */

static void overlay_key(struct dash *d, uint32_t key, unsigned mods)
{
	switch ((int)keymap_find(&d->settings->keymap, KEYS_LIST, key, mods)) {
	case ACTION_DOWN: d->overlay_top++; return;
	case ACTION_UP: d->overlay_top = MAX(d->overlay_top - 1, 0); return;
	case ACTION_PAGE_DOWN: d->overlay_top += d->rows / 2; return;
	case ACTION_PAGE_UP: d->overlay_top = MAX(d->overlay_top - d->rows / 2, 0); return;
	case ACTION_FIRST: d->overlay_top = 0; return;
	case ACTION_LAST: d->overlay_top = INT32_MAX / 2; return;
	default: d->overlay = OVERLAY_NONE;
	}
}

static void tell_useless(struct dash *d, const struct view *v, uint32_t key, unsigned mods)
{
	char name[KEY_NAME_SIZE], type[KEYMAP_KEYS_SIZE], help[KEYMAP_KEYS_SIZE];
	key_name(key, mods, name);
	keymap_key_of(&d->settings->keymap, ACTION_TYPE, dash_context(d), type);
	keymap_key_of(&d->settings->keymap, ACTION_HELP, KEYS_ALL, help);
	if (!help[0])
		snprintf(help, sizeof(help), ":help");
	if (type[0] && v->vm && v->vm->status.state == VM_READY)
		dash_noticef(d, "%s does nothing here; %s types into %s, %s shows all keys", name, type,
		             d->selected, help);
	else
		dash_noticef(d, "%s does nothing here; %s shows all keys", name, help);
}

static void command_key(struct dash *d, struct view *v, uint32_t key, unsigned mods)
{
	enum key_context context = dash_context(d);
	enum action action = keymap_find(&d->settings->keymap, context, key, mods);
	if (action >= ACTION_COPY)
		dash_copy_act(d, (enum copy_action)((unsigned)action - ACTION_COPY));
	else if (action != ACTION_NONE)
		dash_run_action(d, v, action, "");
	else
		tell_useless(d, v, key, mods);
}

static void typing_key(struct dash *d, struct view *v, uint32_t key, unsigned mods)
{
	if (!keymap_leaves(&d->settings->keymap, key, mods)) {
		dash_type_key(d, v, key, mods);
		return;
	}
	d->left_broadcast = d->broadcast;
	dash_leave_typing(d);
	d->left_ms = v->model.now_ms;
}

/* Only at once, and with nothing between: later the same key is pressed to be sure of command mode, and must not type. */
static bool is_twice(const struct dash *d, const struct view *v)
{
	int64_t since = v->model.now_ms - d->left_ms;
	return d->left_ms > 0 && since >= 0 && since <= DASH_TWICE_MS;
}

void dash_focus_moved(struct dash *d)
{
	d->left_ms = 0;
}

void dash_key(struct dash *d, uint32_t key, unsigned mods)
{
	struct view v;
	dash_view(d, &v);
	d->key_ms = v.model.now_ms;
	if (d->typing) {
		typing_key(d, &v, key, mods);
		return;
	}
	bool twice = is_twice(d, &v) && keymap_leaves(&d->settings->keymap, key, mods);
	d->left_ms = 0;
	d->notice[0] = '\0';
	if (twice) {
		dash_type(d, &v, d->left_broadcast);
		if (d->typing)
			dash_type_key(d, &v, key, mods);
	} else if (d->question.action != ACTION_NONE) {
		dash_answer(d, &v, key, mods);
	} else if (d->form) {
		dash_form_key(d, &v, key, mods);
	} else if (d->line.kind != LINE_NONE) {
		dash_line_key(d, &v, key, mods);
	} else if (d->overlay != OVERLAY_NONE) {
		overlay_key(d, key, mods);
	} else {
		command_key(d, &v, key, mods);
	}
}

void dash_paste(struct dash *d, struct bytes text, bool first, bool last)
{
	struct view v;
	dash_view(d, &v);
	d->key_ms = v.model.now_ms;
	d->left_ms = 0;
	if (d->typing)
		dash_type_paste(d, &v, text, first, last);
	else if (d->form)
		form_paste(d->form, text);
	else if (d->line.kind != LINE_NONE)
		dash_line_paste(d, text);
	else if (first) /* its characters must not act as keys */
		dash_notice(d, "a paste goes to a VM while typing: Enter first");
}

/* ---- what the operator has looked at ---- */

/* A VM that calls is seen when it is typed into, or when it is the selected one for a while and a key was pressed since it began:
 * a dashboard that nobody sits at sees nothing. */
static void see_selected(struct dash *d, const struct view *v)
{
	if (!v->vm || !vm_calls(v->vm))
		return;
	const struct vm_attention *a = &v->vm->status.attention;
	bool looked =
	    v->model.now_ms - d->selected_ms >= DASH_SEEN_MS && d->key_ms >= a->at_ms && d->key_ms > 0;
	bool told = strcmp(d->told_vm, d->selected) == 0 && d->told_at_ms == a->at_ms;
	if (told || !(d->typing || (looked && !d->in_feed)))
		return;
	memcpy(d->told_vm, d->selected, sizeof(d->told_vm));
	d->told_at_ms = a->at_ms;
	d->ops->request(d->arg, &(struct dash_request){.verb = DASH_SEEN, .vm = d->selected});
}

/* Refusals are seen when the feed has the focus and the cursor is on one of that VM. */
static void see_denied(struct dash *d, const struct view *v)
{
	const struct feed_row *row = dash_feed_row(d);
	if (!row || row->entry->event != FEED_DENY)
		return;
	const struct fleet_vm *vm = dash_find_vm(v, row->entry->vm);
	if (!vm || vm_denied_since(vm) == 0 ||
	    (strcmp(d->denied_vm, row->entry->vm) == 0 && d->denied_told == vm->status.denied))
		return;
	snprintf(d->denied_vm, sizeof(d->denied_vm), "%s", row->entry->vm);
	d->denied_told = vm->status.denied;
	d->ops->request(d->arg, &(struct dash_request){.verb = DASH_SEEN_DENIED, .vm = d->denied_vm});
}

void dash_look(struct dash *d)
{
	struct view v;
	dash_view(d, &v);
	see_selected(d, &v);
	see_denied(d, &v);
}

int64_t dash_next_ms(struct dash *d)
{
	struct view v;
	dash_view(d, &v);
	int64_t now = v.model.now_ms;
	struct model all = v.model;
	all.vms = v.all;
	all.vm_count = v.all_count;
	int64_t next = ticks_next(&all);
	if (d->moved_ms > 0 && now - d->moved_ms < DASH_HOLD_MS && now >= d->moved_ms)
		next = MIN(next, d->moved_ms + DASH_HOLD_MS - now);
	if (v.vm && vm_calls(v.vm) && now - d->selected_ms < DASH_SEEN_MS && now >= d->selected_ms)
		next = MIN(next, d->selected_ms + DASH_SEEN_MS - now);
	return MAX(next, INT64_C(1));
}

/* ---- which terminals ---- */

static bool wish_for(struct pane_wish *w, const struct dash *d, const struct fleet_vm *vm, struct rect body)
{
	if (!vm || vm->status.state != VM_READY || vm->deaf)
		return false;
	*w = (struct pane_wish){.term = dash_term_of(d, vm),
	                        .rows = (unsigned)MAX(body.rows, 0),
	                        .cols = (unsigned)MAX(body.cols, 0)};
	memcpy(w->vm, vm->status.name, sizeof(w->vm));
	return true;
}

static bool is_wished(const struct pane_wish *out, size_t count, const char *vm)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(out[i].vm, vm) == 0)
			return true;
	}
	return false;
}

size_t dash_wanted_panes(struct dash *d, struct pane_wish *out, size_t most)
{
	struct view v;
	size_t count = 0;
	dash_view(d, &v);
	for (int i = 0; i < v.layout.pane_count && count < most; i++) {
		struct rect body = v.layout.panes[i].body;
		if (!rect_is_empty(body) && wish_for(&out[count], d, dash_vm_of_pane(&v, i), body))
			count++;
	}
	for (size_t i = 0; i < d->marked.count && d->broadcast && count < most; i++) {
		const struct fleet_vm *vm = dash_find_vm(&v, d->marked.all[i]);
		if (!is_wished(out, count, d->marked.all[i]) &&
		    wish_for(&out[count], d, vm, (struct rect){0}))
			count++;
	}
	return count;
}

bool dash_typed_pane(struct dash *d, struct pane_wish *out)
{
	struct view v;
	dash_view(d, &v);
	return d->typing && wish_for(out, d, v.vm, (struct rect){0});
}

const char *dash_wanted_console(struct dash *d)
{
	struct view v;
	dash_view(d, &v);
	return v.vm && v.vm->status.state != VM_READY ? d->selected : "";
}
