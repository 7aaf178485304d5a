/* One function an action, in a table. They change the state of the dash or ask the app; what is to be seen of it follows from
 * the state. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tui/dash_internal.h"
#include "tui/list_view.h"

static size_t page_of(const struct dash *d, const struct view *v)
{
	if (d->in_feed)
		return (size_t)dash_feed_rows(v);
	struct list_view list = {.model = &v->model, .selected = v->at, .top = d->list_top};
	return list_view_page(&list, v->layout.list.rows);
}

static void move(struct dash *d, struct view *v, long by)
{
	if (d->in_feed) {
		feed_place_move(&d->feed, &v->model, dash_feed_rows(v), by);
		return;
	}
	if (!v->vm)
		return;
	size_t at = by < 0 ? v->at - MIN(v->at, (size_t)-by) : v->at + (size_t)by;
	dash_select_at(d, v, at);
}

static void do_next(struct dash *d, struct view *v)
{
	move(d, v, 1);
}

static void do_previous(struct dash *d, struct view *v)
{
	move(d, v, -1);
}

static void do_first(struct dash *d, struct view *v)
{
	move(d, v, -(long)INT32_MAX);
}

static void do_last(struct dash *d, struct view *v)
{
	move(d, v, INT32_MAX);
}

static void do_page_down(struct dash *d, struct view *v)
{
	move(d, v, (long)page_of(d, v));
}

static void do_page_up(struct dash *d, struct view *v)
{
	move(d, v, -(long)page_of(d, v));
}

static void leave_feed(struct dash *d)
{
	d->in_feed = false;
	feed_place_release(&d->feed);
}

static void do_zoom(struct dash *d, struct view *v)
{
	(void)v;
	d->zoomed = !d->zoomed;
	if (d->zoomed && d->in_feed)
		leave_feed(d); /* it is not on the screen now */
}

static void do_type(struct dash *d, struct view *v)
{
	if (!v->vm)
		return;
	if (v->vm->status.state != VM_READY) {
		do_zoom(d, v); /* there is only something to read: all of it, and back */
		return;
	}
	if (dash_has_pane(v, PANE_ENDED) || dash_has_pane(v, PANE_BROKEN))
		d->ops->reopen_pane(d->arg);
	d->typing = true;
	dash_place(d, v);
	if (rect_is_empty(v->layout.panes[0].body)) {
		d->typing = false;
		dash_notice(d, "too small to type");
	}
}

static void do_focus(struct dash *d, struct view *v)
{
	if (d->in_feed) {
		leave_feed(d);
		return;
	}
	d->zoomed = false;
	dash_place(d, v);
	if (rect_is_empty(v->layout.feed)) {
		dash_notice(d, "too small for the feed");
		return;
	}
	d->in_feed = true;
	feed_place_hold(&d->feed, &v->model, dash_feed_rows(v));
}

static void do_back(struct dash *d, struct view *v)
{
	(void)v;
	if (d->in_feed)
		leave_feed(d);
	d->zoomed = false;
}

static const struct feed_entry *row_under_cursor(struct dash *d, const struct view *v)
{
	struct feed_window w = feed_place_find(&d->feed, &v->model, dash_feed_rows(v));
	return w.selected < v->model.denial_count ? v->model.denials[w.selected] : NULL;
}

static void do_jump(struct dash *d, struct view *v)
{
	const struct feed_entry *e = row_under_cursor(d, v);
	size_t at = e ? dash_find_vm(&v->model, e->vm) : SIZE_MAX;
	if (at == SIZE_MAX)
		return;
	dash_select_at(d, v, at);
	leave_feed(d);
}

/* "host:port" with nothing that has a meaning of its own in a rule: a guest chooses this text, and must not get more
 * allowed than the operator reads. */
static bool is_plain_target(const char *target)
{
	const char *colon = strrchr(target, ':');
	if (!colon || colon == target || !colon[1])
		return false;
	for (const char *p = target; p < colon; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("-._", *p))
			return false;
	}
	return strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

const struct feed_entry *dash_newest_denial(const struct model *m, const char *vm)
{
	for (size_t i = m->denial_count; i > 0; i--) {
		if (strcmp(m->denials[i - 1]->vm, vm) == 0)
			return m->denials[i - 1];
	}
	return NULL;
}

static void do_allow(struct dash *d, struct view *v)
{
	const struct feed_entry *e =
	    d->in_feed ? row_under_cursor(d, v) : dash_newest_denial(&v->model, d->selected);
	if (!e) {
		dash_notice(d, "nothing was refused here");
		return;
	}
	if (!is_plain_target(e->target)) {
		dash_noticef(d, "%s names no host that could be allowed", e->target);
		return;
	}
	d->question = QUESTION_ALLOW;
	snprintf(d->about_vm, sizeof(d->about_vm), "%s", e->vm);
	snprintf(d->about_rule, sizeof(d->about_rule), "%s", e->target);
}

static void do_stop(struct dash *d, struct view *v)
{
	if (!v->vm)
		return;
	if (!vm_state_is_live(v->vm->status.state)) {
		dash_noticef(d, "%s does not run", d->selected);
		return;
	}
	d->question = QUESTION_STOP;
	snprintf(d->about_vm, sizeof(d->about_vm), "%s", d->selected);
}

static void do_help(struct dash *d, struct view *v)
{
	(void)v;
	d->help = true;
	d->help_top = 0;
}

static void do_redraw(struct dash *d, struct view *v)
{
	(void)v;
	d->ops->repaint(d->arg);
}

static void do_suspend(struct dash *d, struct view *v)
{
	(void)v;
	d->ops->suspend(d->arg);
}

static void do_quit(struct dash *d, struct view *v)
{
	(void)v;
	d->ops->quit(d->arg);
}

static dash_action_fn *const HANDLERS[ACTION_COUNT] = {
    [ACTION_NEXT] = do_next,   [ACTION_PREVIOUS] = do_previous,   [ACTION_FIRST] = do_first,
    [ACTION_LAST] = do_last,   [ACTION_PAGE_DOWN] = do_page_down, [ACTION_PAGE_UP] = do_page_up,
    [ACTION_TYPE] = do_type,   [ACTION_JUMP] = do_jump,           [ACTION_FOCUS] = do_focus,
    [ACTION_ALLOW] = do_allow, [ACTION_ZOOM] = do_zoom,           [ACTION_STOP] = do_stop,
    [ACTION_HELP] = do_help,   [ACTION_REDRAW] = do_redraw,       [ACTION_SUSPEND] = do_suspend,
    [ACTION_QUIT] = do_quit,   [ACTION_BACK] = do_back,
};

dash_action_fn *dash_action(enum action action)
{
	return (unsigned)action < ACTION_COUNT ? HANDLERS[action] : NULL;
}
