/* Copy mode in the pane of the selected VM: what the dash has to do around it. */
#include <string.h>

#include "tui/dash_internal.h"

#define COPY_TEXT_MAX ((size_t)16 * 1024 * 1024)

void dash_copy_begin(struct dash *d, struct view *v)
{
	const struct pane_source *p = dash_pane_of(d, v, v->vm);
	if (d->copy)
		return;
	if (!p || !p->screen || (p->link != PANE_LIVE && p->link != PANE_ENDED)) {
		dash_notice(d, "there is no terminal to read");
		return;
	}
	int pane = dash_pane_of_selected(v);
	if (pane < 0 || rect_is_empty(v->layout.panes[pane].body)) {
		d->zoomed = true; /* nobody reads blindly */
		dash_place(d, v);
		pane = dash_pane_of_selected(v);
	}
	if (pane < 0 || rect_is_empty(v->layout.panes[pane].body)) {
		d->zoomed = false;
		dash_notice(d, "too small to read");
		return;
	}
	dash_leave_feed(d);
	struct rect body = v->layout.panes[pane].body;
	d->copy = copy_mode_create(p->screen, body.rows, body.cols);
	memcpy(d->copy_vm, d->selected, sizeof(d->copy_vm));
	d->copy_term = v->term;
	d->copy_tag++;
	d->copy_pending = 0;
	dash_copy_sync(d, v);
}

void dash_copy_end(struct dash *d)
{
	copy_mode_destroy(d->copy);
	d->copy = NULL;
	if (d->line.kind == LINE_SEARCH)
		d->line.kind = LINE_NONE;
}

void dash_copy_sync(struct dash *d, struct view *v)
{
	uint64_t before;
	uint32_t most;
	if (!d->copy)
		return;
	int pane = dash_pane_of_selected(v);
	if (!v->vm || strcmp(d->selected, d->copy_vm) != 0 || v->term != d->copy_term || pane < 0) {
		dash_copy_end(d);
		return;
	}
	struct rect body = v->layout.panes[pane].body;
	if (!rect_is_empty(body))
		copy_mode_resize(d->copy, body.rows, body.cols);
	if (copy_mode_wants(d->copy, &before, &most) &&
	    !d->ops->history(d->arg, d->copy_vm, d->copy_term, d->copy_tag, before, most)) {
		struct err e = ERR_INIT;
		err_set(&e, ERR_GONE, "the terminal is not open");
		copy_mode_lines(d->copy, 0, 0, (struct bytes){0}, &e);
	}
}

void dash_copy_take(struct dash *d)
{
	struct str text = STR_INIT(COPY_TEXT_MAX);
	copy_mode_text(d->copy, &text);
	if (text.overflow)
		dash_notice(d, "the selection is too long: nothing was copied");
	else
		d->ops->copy(d->arg, (struct bytes){.p = (const uint8_t *)text.s, .len = text.len});
	str_finish(&text);
	dash_copy_end(d);
}

void dash_copy_act(struct dash *d, enum copy_action action)
{
	switch (copy_mode_act(d->copy, action)) {
	case COPY_RESULT_STAY: break;
	case COPY_RESULT_LEAVE: dash_copy_end(d); break;
	case COPY_RESULT_COPY: dash_copy_take(d); break;
	case COPY_RESULT_ASK:
		dash_line_begin(d, LINE_SEARCH, "");
		d->line.back = action == COPY_SEARCH_BACK;
		break;
	}
}

/* An answer to a copy mode that was left is for nobody. */
void dash_history(struct dash *d, uint32_t tag, uint64_t first, uint32_t count, struct bytes lines,
                  const struct err *e)
{
	if (!d->copy || d->copy_tag != tag)
		return;
	copy_mode_lines(d->copy, first, count, lines, e);
	if (d->copy_pending != 0)
		copy_mode_scroll(d->copy, d->copy_pending);
	d->copy_pending = 0;
}
