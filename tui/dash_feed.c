/* The feed under the list: focus, tabs, rows. */
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "tui/dash_internal.h"

const struct feed_row *dash_feed_row(struct dash *d)
{
	return d->in_feed ? feed_rows_selected(&d->feed) : NULL;
}

void dash_leave_feed(struct dash *d)
{
	if (d->in_feed)
		feed_rows_release(&d->feed);
	d->in_feed = false;
}

void dash_focus_feed(struct dash *d, struct view *v)
{
	if (d->in_feed) {
		dash_leave_feed(d);
		return;
	}
	bool zoomed = d->zoomed;
	d->zoomed = false;
	dash_place(d, v);
	if (rect_is_empty(v->layout.feed)) {
		d->zoomed = zoomed;
		dash_notice(d, "too small for the feed");
		return;
	}
	d->in_feed = true;
	feed_rows_hold(&d->feed);
}

void dash_jump(struct dash *d, struct view *v)
{
	const struct feed_row *row = dash_feed_row(d);
	if (!row)
		return;
	if (!dash_select_name(d, v, row->entry->vm)) {
		dash_noticef(d, "%s is gone", row->entry->vm);
		return;
	}
	d->moved_ms = v->model.now_ms;
	dash_leave_feed(d);
}

void dash_hide(struct dash *d, struct view *v)
{
	const struct feed_row *row = dash_feed_row(d);
	if (!row || !feed_rows_hide(&d->feed, row)) {
		dash_notice(d, "only a refusal can be hidden");
		return;
	}
	dash_noticef(d, "%s stays denied for %s and is not shown again", row->entry->target, row->entry->vm);
	feed_rows_update(&d->feed, &v->model.feed, MAX(v->layout.feed.rows, 1));
}

void dash_step_tab(struct dash *d, struct view *v, int by)
{
	int tab = ((int)d->feed.tab + by + FEED_TAB_COUNT) % FEED_TAB_COUNT;
	feed_rows_show(&d->feed, (enum feed_tab)tab);
	feed_rows_update(&d->feed, &v->model.feed, MAX(v->layout.feed.rows, 1));
}

/* ---- what was let through from here ---- */

void dash_denied(struct dash *d, const char *vm, const char *rule)
{
	size_t kept = 0;
	for (size_t i = 0; i < d->allowed_count; i++) {
		if (strcmp(d->allowed[i].vm, vm) != 0 || strcmp(d->allowed[i].rule, rule) != 0)
			d->allowed[kept++] = d->allowed[i];
	}
	d->allowed_count = kept;
}

void dash_allowed(struct dash *d, const char *vm, const char *rule, uint32_t seconds)
{
	struct model m;
	d->ops->get_model(d->arg, &m);
	dash_denied(d, vm, rule);
	if (!d->allowed)
		d->allowed = mem_array(ALLOWED_MOST, sizeof(*d->allowed));
	if (d->allowed_count == ALLOWED_MOST) { /* the oldest is forgotten */
		d->allowed_count--;
		memmove(&d->allowed[0], &d->allowed[1], d->allowed_count * sizeof(*d->allowed));
	}
	struct feed_allowed *a = &d->allowed[d->allowed_count++];
	*a = (struct feed_allowed){.at_ms = m.now_ms,
	                           .until_ms = seconds ? m.now_ms + seconds * INT64_C(1000) : 0};
	snprintf(a->vm, sizeof(a->vm), "%s", vm);
	snprintf(a->rule, sizeof(a->rule), "%s", rule);
}
