/* The mouse: what was hit, and what is done with it. mouse.h decides which deed an event is. */
#include <string.h>

#include "core/term/screen.h"
#include "tui/dash_internal.h"
#include "tui/feed_view.h"
#include "tui/list_view.h"
#include "tui/pane_view.h"

static bool select_pane(struct dash *d, struct view *v, int pane)
{
	const struct fleet_vm *vm = dash_vm_of_pane(v, pane);
	if (!vm)
		return false;
	if (vm != v->vm) {
		d->moved_ms = v->model.now_ms;
		dash_select_name(d, v, vm->status.name);
		dash_place(d, v);
	}
	return true;
}

static bool select_row(struct dash *d, struct view *v, int row)
{
	struct list_view list = dash_list_view(d, v);
	size_t at = list_view_at(&list, v->layout.list.rows, row);
	if (at == SIZE_MAX)
		return false;
	d->moved_ms = v->model.now_ms;
	dash_select_at(d, v, at);
	return true;
}

static void select_tab(struct dash *d, struct view *v, const struct hit *hit)
{
	if (!select_pane(d, v, hit->pane))
		return;
	struct pane_view pane = dash_pane_view(d, v, hit->pane);
	int at = pane_view_tab_at(&pane, v->layout.panes[hit->pane].tabs, hit->col);
	if (at >= 0)
		dash_choose_term(d, d->selected, v->vm->status.terminal[at].number, true);
}

static void select_feed(struct dash *d, struct view *v, const struct hit *hit)
{
	if (!d->in_feed)
		dash_focus_feed(d, v);
	if (!d->in_feed)
		return;
	if (hit->kind == HIT_FEED_RULE) {
		struct feed_view feed = dash_feed_view(d, v);
		int tab = feed_view_tab_at(&feed, v->layout.feed_rule, hit->col);
		if (tab >= 0)
			dash_step_tab(d, v, tab - (int)d->feed.tab);
		return;
	}
	size_t at = d->feed.top + (size_t)hit->row;
	if (at < d->feed.count)
		feed_rows_move(&d->feed, (long)at - (long)d->feed.selected);
}

/* While typing, a click elsewhere goes on in the other place, in command mode: nobody types into what was only looked at. */
static void select_hit(struct dash *d, struct view *v, const struct hit *hit)
{
	bool here = hit->kind == HIT_PANE && dash_vm_of_pane(v, hit->pane) == v->vm;
	if (d->typing && here)
		return;
	dash_leave_typing(d);
	switch (hit->kind) {
	case HIT_LIST:
		dash_leave_feed(d);
		select_row(d, v, hit->row);
		return;
	case HIT_PANE:
	case HIT_PANE_TITLE:
		dash_leave_feed(d);
		select_pane(d, v, hit->pane);
		return;
	case HIT_PANE_TABS: select_tab(d, v, hit); return;
	case HIT_FEED:
	case HIT_FEED_RULE: select_feed(d, v, hit); return;
	case HIT_NOTHING:
	case HIT_TITLE:
	case HIT_PANE_EDGE:
	case HIT_STATUS: return;
	}
}

static void type_hit(struct dash *d, struct view *v, const struct hit *hit)
{
	bool found = hit->kind == HIT_LIST ? select_row(d, v, hit->row) : select_pane(d, v, hit->pane);
	if (found && !d->copy)
		dash_type(d, v, false);
}

static void to_guest(struct dash *d, struct view *v, const struct mouse_deed *deed)
{
	int row, col;
	struct term_mouse event = deed->event;
	struct pane_view pane = dash_pane_view(d, v, deed->hit.pane);
	if (!pane_view_cell_at(&pane, v->layout.panes[deed->hit.pane].body, event.row, event.col, &row, &col))
		return;
	event.row = (uint16_t)row;
	event.col = (uint16_t)col;
	d->ops->send_mouse(d->arg, d->selected, v->term, &event);
}

/* A full-screen program has no history: the wheel is for it, and reaches it as arrow keys (mode 1007) unless it asked for more. */
static bool wheel_is_for_guest(struct dash *d, struct view *v, const struct mouse_deed *deed)
{
	const struct pane_source *p = dash_pane_of(d, v, v->vm);
	return !d->copy && p && p->screen && p->link == PANE_LIVE && (p->screen->modes & TERM_ALT_SCREEN) &&
	       !(deed->event.mods & TERM_SHIFT);
}

static void scroll_pane(struct dash *d, struct view *v, const struct mouse_deed *deed)
{
	if (!select_pane(d, v, deed->hit.pane))
		return;
	if (wheel_is_for_guest(d, v, deed)) {
		to_guest(d, v, deed);
	} else if (!d->copy && deed->lines < 0) {
		dash_leave_typing(d);
		dash_copy_begin(d, v);
		d->copy_pending = deed->lines; /* there is nothing older here yet */
	} else if (d->copy && copy_mode_scroll(d->copy, deed->lines) && deed->lines > 0) {
		dash_copy_end(d);
	}
}

static void scroll(struct dash *d, struct view *v, const struct mouse_deed *deed)
{
	if (deed->hit.kind == HIT_PANE)
		scroll_pane(d, v, deed);
	else if (d->typing)
		return; /* the selection is what is typed into */
	else if (deed->hit.kind == HIT_LIST)
		dash_move(d, v, deed->lines > 0 ? 1 : -1);
	else if (d->in_feed)
		feed_rows_move(&d->feed, deed->lines);
}

static void text(struct dash *d, struct view *v, const struct mouse_deed *deed)
{
	const struct hit *hit = &deed->hit;
	if (deed->kind == MOUSE_TEXT_BEGIN) {
		dash_leave_typing(d);
		if (!select_pane(d, v, hit->pane))
			return;
		dash_copy_begin(d, v);
		if (d->copy)
			copy_mode_begin(d->copy, hit->row, hit->col,
			                deed->words ? SELECT_WORDS : SELECT_CHARS);
	} else if (d->copy && deed->kind == MOUSE_TEXT_DRAG) {
		copy_mode_drag(d->copy, hit->row, hit->col, deed->beyond);
	} else if (d->copy && copy_mode_has_selection(d->copy)) {
		dash_copy_take(d);
	}
}

static void act(struct dash *d, struct view *v, const struct mouse_deed *deed)
{
	switch (deed->kind) {
	case MOUSE_NOTHING: return;
	case MOUSE_SELECT: select_hit(d, v, &deed->hit); return;
	case MOUSE_TYPE: type_hit(d, v, &deed->hit); return;
	case MOUSE_SCROLL: scroll(d, v, deed); return;
	case MOUSE_TEXT_BEGIN:
	case MOUSE_TEXT_DRAG:
	case MOUSE_TEXT_END: text(d, v, deed); return;
	case MOUSE_TO_GUEST: to_guest(d, v, deed); return;
	}
}

void dash_mouse(struct dash *d, const struct term_mouse *m)
{
	struct view v;
	dash_view(d, &v);
	d->left_ms = 0;
	const struct pane_source *p = dash_pane_of(d, &v, v.vm);
	struct mouse_scene scene = {
	    .layout = &v.layout,
	    .typing = d->typing ? dash_pane_of_selected(&v) : -1,
	    .modes = p && p->screen && p->link == PANE_LIVE ? p->screen->modes : 0,
	    .now_ms = v.model.now_ms,
	};
	struct mouse_deed deed = mouse_event(&d->mouse, &scene, m);
	if (m->kind == MOUSE_PRESS) {
		d->key_ms = v.model.now_ms;
		d->notice[0] = '\0';
	}
	/* What lies over the picture is not for the mouse; a press puts help and details away. */
	if (d->question.action != ACTION_NONE || d->form || d->line.kind != LINE_NONE)
		return;
	if (d->overlay != OVERLAY_NONE) {
		if (m->kind == MOUSE_PRESS && m->button < MOUSE_WHEEL_UP)
			d->overlay = OVERLAY_NONE;
		else if (m->kind == MOUSE_PRESS)
			d->overlay_top = MAX(d->overlay_top + (m->button == MOUSE_WHEEL_UP ? -3 : 3), 0);
		return;
	}
	act(d, &v, &deed);
}
