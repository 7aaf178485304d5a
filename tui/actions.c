/* What each action does, as a table. They change the state of the dash or ask the app; what is to be seen of it follows from
 * the state. `text`: what followed the name in the palette, or "". */
#include <stdio.h>
#include <string.h>

#include "tui/dash_internal.h"
#include "tui/detail_view.h"
#include "tui/list_view.h"

typedef void act_fn(struct dash *d, struct view *v, enum action action, const char *text);

static size_t page_of(const struct dash *d, const struct view *v)
{
	if (d->in_feed)
		return (size_t)MAX(v->layout.feed.rows, 1);
	struct list_view list = {.model = &v->model, .selected = v->at, .top = d->list_top};
	return v->layout.grid ? (size_t)v->layout.pane_count : list_view_page(&list, v->layout.list.rows);
}

static void move(struct dash *d, struct view *v, long by)
{
	if (d->in_feed)
		feed_rows_move(&d->feed, by);
	else
		dash_move(d, v, by);
}

static void do_rows(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)text;
	int by = action == ACTION_DOWN ? 1 : -1;
	if (!d->in_feed && v->layout.grid)
		dash_move_in_grid(d, v, by, 0);
	else
		move(d, v, by);
}

static void do_sideways(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)text;
	int by = action == ACTION_RIGHT ? 1 : -1;
	if (d->in_feed)
		dash_step_tab(d, v, by);
	else if (v->layout.grid)
		dash_move_in_grid(d, v, 0, by);
	else
		dash_step_terminal(d, v, by);
}

static void do_ends(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)text;
	move(d, v, action == ACTION_FIRST ? -(long)INT32_MAX : INT32_MAX);
}

static void do_pages(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)text;
	long page = (long)page_of(d, v);
	move(d, v, action == ACTION_PAGE_DOWN ? page : -page);
}

static void do_type(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)text;
	dash_type(d, v, action == ACTION_BROADCAST);
}

static void do_jump(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action, (void)text;
	dash_jump(d, v);
}

static void do_next_waiting(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action, (void)text;
	dash_next_waiting(d, v);
}

static void do_select(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action;
	if (!dash_select_name(d, v, text))
		dash_noticef(d, "no VM '%s'", text);
}

static void do_attach(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action;
	dash_attach(d, v, text);
}

static void do_hide(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)text;
	if (action == ACTION_HIDE)
		dash_hide(d, v);
	else
		feed_rows_unhide_all(&d->feed);
}

static void open_overlay(struct dash *d, enum overlay overlay, const char *title)
{
	d->overlay = overlay;
	d->overlay_top = 0;
	snprintf(d->overlay_title, sizeof(d->overlay_title), "%s", title);
}

static void do_detail(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action, (void)text;
	const struct feed_row *row = dash_feed_row(d);
	str_clear(&d->overlay_text);
	if (row) {
		detail_of_row(&d->overlay_text, row, v->model.now_ms);
		open_overlay(d, OVERLAY_ROW, row->entry->target);
	} else if (v->vm && !d->in_feed) {
		open_overlay(d, OVERLAY_VM, d->selected);
	}
}

static void do_zoom(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action, (void)text;
	d->zoomed = !d->zoomed;
	if (d->zoomed)
		dash_leave_feed(d); /* it is not on the screen now */
}

static void do_grid(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action, (void)text;
	d->grid = !d->grid;
	d->zoomed = false;
	d->new_order = true;
}

static void do_grid_size(struct dash *d, struct view *v, enum action action, const char *text)
{
	static const int SIZES[] = {2, 4, 6, LAYOUT_PANES_MOST};
	(void)v, (void)text;
	int at = 0, last = ARRAY_LEN(SIZES) - 1;
	while (at < last && SIZES[at] < d->grid_most)
		at++;
	at = MAX(MIN(at + (action == ACTION_GRID_MORE ? 1 : -1), last), 0);
	d->grid_most = SIZES[at];
	dash_noticef(d, "%d panes at most", d->grid_most);
}

static void do_feed(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action, (void)text;
	dash_focus_feed(d, v);
}

static void do_filter(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action;
	if (text[0])
		dash_set_filter(d, text);
	else
		dash_line_begin(d, LINE_FILTER, d->filter);
}

static void do_sort(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action;
	dash_set_sort(d, text);
}

static void do_mark(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)text;
	if (action == ACTION_MARK)
		dash_mark(d, v);
	else
		dash_mark_all(d, v);
}

static void do_send(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action;
	if (text[0])
		dash_send(d, v, text);
	else if (v->vm || d->marked.count > 0)
		dash_line_begin(d, LINE_SEND, "");
}

static void do_ask_vms(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)text;
	dash_ask_vms(d, v, action);
}

static void do_ask_rule(struct dash *d, struct view *v, enum action action, const char *text)
{
	dash_ask_rule(d, v, action, text);
}

static void do_new_shell(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action, (void)text;
	int pane = dash_pane_of_selected(v);
	if (!v->vm || v->vm->status.state != VM_READY) {
		dash_notice(d, "only a ready VM can have one more shell");
		return;
	}
	if (!dash_answers(d, v->vm))
		return;
	struct rect body = pane >= 0 ? v->layout.panes[pane].body : (struct rect){.rows = 24, .cols = 80};
	d->ops->new_terminal(d->arg, d->selected, (unsigned)MAX(body.rows, 1), (unsigned)MAX(body.cols, 2));
}

static void do_copy_mode(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action, (void)text;
	dash_copy_begin(d, v);
}

static void do_copy_again(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action;
	d->ops->copy_again(d->arg, text);
}

static void do_pause(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)action, (void)text;
	dash_pause(d, v);
}

static void do_new_vm(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action;
	dash_form_begin(d, text);
}

static void do_image(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action;
	const char *const argv[] = {"image", "build", text[0] ? text : "base", NULL};
	d->ops->run(d->arg, argv);
}

static void do_jobs(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action, (void)text;
	open_overlay(d, OVERLAY_JOBS, "Work");
	d->overlay_top = INT32_MAX / 2; /* the newest is at the end */
}

static void do_theme(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action;
	if (text[0])
		d->ops->set_theme(d->arg, text);
	else
		dash_notice(d, "which one? theme NAME; Tab lists them");
}

/* One step out: of what was entered last. */
static void do_back(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action, (void)text;
	if (d->in_feed) {
		dash_leave_feed(d);
	} else if (d->zoomed) {
		d->zoomed = false;
	} else if (d->grid) {
		d->grid = false;
		d->new_order = true;
	} else if (d->filter[0]) {
		dash_set_filter(d, "");
	} else {
		d->marked.count = 0;
	}
}

static void do_palette(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action, (void)text;
	dash_line_begin(d, LINE_PALETTE, "");
}

static void do_help(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)action, (void)text;
	open_overlay(d, OVERLAY_HELP, "Keys");
}

static void do_app(struct dash *d, struct view *v, enum action action, const char *text)
{
	(void)v, (void)text;
	switch ((int)action) {
	case ACTION_RELOAD: d->ops->reload(d->arg); break;
	case ACTION_REDRAW: d->ops->repaint(d->arg); break;
	case ACTION_SUSPEND: d->ops->suspend(d->arg); break;
	default: d->ops->quit(d->arg);
	}
}

static act_fn *const HANDLERS[ACTION_EDIT_FIRST] = {
    [ACTION_TYPE] = do_type,
    [ACTION_JUMP] = do_jump,
    [ACTION_DOWN] = do_rows,
    [ACTION_UP] = do_rows,
    [ACTION_LEFT] = do_sideways,
    [ACTION_RIGHT] = do_sideways,
    [ACTION_FIRST] = do_ends,
    [ACTION_LAST] = do_ends,
    [ACTION_PAGE_DOWN] = do_pages,
    [ACTION_PAGE_UP] = do_pages,
    [ACTION_NEXT_WAITING] = do_next_waiting,
    [ACTION_SELECT] = do_select,
    [ACTION_ATTACH] = do_attach,
    [ACTION_ALLOW] = do_ask_rule,
    [ACTION_ALLOW_SHORT] = do_ask_rule,
    [ACTION_ALLOW_WRITE] = do_ask_rule,
    [ACTION_DENY] = do_ask_rule,
    [ACTION_HIDE] = do_hide,
    [ACTION_UNHIDE] = do_hide,
    [ACTION_DETAIL] = do_detail,
    [ACTION_ZOOM] = do_zoom,
    [ACTION_GRID] = do_grid,
    [ACTION_GRID_MORE] = do_grid_size,
    [ACTION_GRID_LESS] = do_grid_size,
    [ACTION_FOCUS] = do_feed,
    [ACTION_FILTER] = do_filter,
    [ACTION_SORT] = do_sort,
    [ACTION_MARK] = do_mark,
    [ACTION_MARK_ALL] = do_mark,
    [ACTION_BROADCAST] = do_type,
    [ACTION_SEND] = do_send,
    [ACTION_INTERRUPT] = do_ask_vms,
    [ACTION_NEW_SHELL] = do_new_shell,
    [ACTION_CLOSE_SHELL] = do_ask_vms,
    [ACTION_COPY_MODE] = do_copy_mode,
    [ACTION_COPY_AGAIN] = do_copy_again,
    [ACTION_PAUSE] = do_pause,
    [ACTION_STOP] = do_ask_vms,
    [ACTION_KILL] = do_ask_vms,
    [ACTION_RESTART] = do_ask_vms,
    [ACTION_REMOVE] = do_ask_vms,
    [ACTION_NEW_VM] = do_new_vm,
    [ACTION_IMAGE] = do_image,
    [ACTION_JOBS] = do_jobs,
    [ACTION_THEME] = do_theme,
    [ACTION_RELOAD] = do_app,
    [ACTION_BACK] = do_back,
    [ACTION_PALETTE] = do_palette,
    [ACTION_HELP] = do_help,
    [ACTION_REDRAW] = do_app,
    [ACTION_SUSPEND] = do_app,
    [ACTION_QUIT] = do_app,
};

void dash_run_action(struct dash *d, struct view *v, enum action action, const char *text)
{
	if ((unsigned)action < ACTION_EDIT_FIRST && HANDLERS[action])
		HANDLERS[action](d, v, action, text);
}
