/* The selection is a name and the place in the feed are serial numbers, never indexes: VMs and rows come and go at any
 * time, and what the operator looks at must not change under the finger. A question holds copies of what it asks about,
 * so that "y" means what was read. */
#include "tui/dash.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "tui/bar_view.h"
#include "tui/dash_internal.h"
#include "tui/help_view.h"
#include "tui/list_view.h"
#include "tui/pane_view.h"

struct dash *dash_create(const struct dash_ops *ops, void *arg, char detach)
{
	struct dash *d = mem_alloc(sizeof(*d));
	d->ops = ops;
	d->arg = arg;
	d->detach = detach;
	d->rows = d->cols = 1;
	key_name((uint32_t)tolower((unsigned char)detach | 0x40), TERM_CTRL, d->detach_name);
	return d;
}

void dash_destroy(struct dash *d)
{
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

/* ---- what there is now ---- */

void dash_select_at(struct dash *d, struct view *v, size_t at)
{
	if (v->model.vm_count == 0) {
		d->selected[0] = '\0';
		v->at = SIZE_MAX;
		v->vm = NULL;
		return;
	}
	v->at = MIN(at, v->model.vm_count - 1);
	v->vm = v->model.vms[v->at];
	d->selected_at = v->at;
	snprintf(d->selected, sizeof(d->selected), "%s", v->vm->status.name);
}

size_t dash_find_vm(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->vm_count; i++) {
		if (strcmp(m->vms[i]->status.name, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

bool dash_has_pane(const struct view *v, enum pane_link link)
{
	return v->vm && v->model.pane.link == link && strcmp(v->model.pane.vm, v->vm->status.name) == 0;
}

static void stop_typing_if_over(struct dash *d, const struct view *v, const char *was)
{
	if (!d->typing)
		return;
	if (!v->vm || strcmp(v->vm->status.name, was) != 0)
		dash_noticef(d, "%s is gone", was);
	else if (v->vm->status.state != VM_READY)
		dash_noticef(d, "%s is %s", was, vm_state_name(v->vm->status.state));
	else if (dash_has_pane(v, PANE_ENDED) || dash_has_pane(v, PANE_BROKEN))
		dash_noticef(d, "%s: %s", was, v->model.pane.why);
	else
		return;
	d->typing = false;
}

void dash_place(const struct dash *d, struct view *v)
{
	struct layout_wish wish = {
	    .rows = d->rows,
	    .cols = d->cols,
	    .list_cols = list_view_cols(&v->model),
	    .list_rows = list_view_rows(&v->model),
	    .zoomed = d->zoomed,
	};
	layout_compute(&v->layout, &wish);
	if (d->typing && rect_is_empty(v->layout.panes[0].body)) {
		wish.zoomed = true; /* nobody types blindly */
		layout_compute(&v->layout, &wish);
	}
}

static void look(struct dash *d, struct view *v)
{
	char was[VM_NAME_MAX + 1];
	*v = (struct view){.at = SIZE_MAX};
	d->ops->get_model(d->arg, &v->model);
	snprintf(was, sizeof(was), "%s", d->selected);
	size_t at = dash_find_vm(&v->model, d->selected);
	dash_select_at(d, v, at != SIZE_MAX ? at : d->selected_at);
	stop_typing_if_over(d, v, was);
	dash_place(d, v);
}

int dash_feed_rows(const struct view *v)
{
	return MAX(v->layout.feed.rows, 1);
}

/* ---- keys ---- */

static bool is_detach(const struct dash *d, uint32_t key, unsigned mods)
{
	uint8_t bytes[KEY_BYTES_MAX];
	return key_encode(key, mods, 0, bytes) == 1 && bytes[0] == (uint8_t)d->detach;
}

static void answer(struct dash *d, uint32_t key, unsigned mods)
{
	enum question asked = d->question;
	bool yes = (key == 'y' || key == 'Y') && !(mods & (TERM_ALT | TERM_CTRL));
	bool no = key == 'n' || key == 'N' || key == 'q' || key == TERM_KEY_ESCAPE ||
	          (key == 'c' && mods == TERM_CTRL);
	if (!yes && !no)
		return; /* still asking */
	d->question = QUESTION_NONE;
	if (!yes)
		dash_notice(d, "nothing was done");
	else if (asked == QUESTION_ALLOW)
		d->ops->allow(d->arg, d->about_vm, d->about_rule);
	else
		d->ops->stop(d->arg, d->about_vm);
}

static void help_key(struct dash *d, uint32_t key, unsigned mods)
{
	switch ((int)keymap_find(KEYS_LIST, key, mods)) {
	case ACTION_NEXT: d->help_top++; return;
	case ACTION_PREVIOUS: d->help_top = MAX(d->help_top - 1, 0); return;
	case ACTION_PAGE_DOWN: d->help_top += d->rows / 2; return;
	case ACTION_PAGE_UP: d->help_top = MAX(d->help_top - d->rows / 2, 0); return;
	default: d->help = false;
	}
}

static void command_key(struct dash *d, struct view *v, uint32_t key, unsigned mods)
{
	enum action action = keymap_find(d->in_feed ? KEYS_FEED : KEYS_LIST, key, mods);
	dash_action_fn *act = dash_action(action);
	if (act) {
		act(d, v);
		return;
	}
	char name[KEY_NAME_SIZE];
	key_name(key, mods, name);
	if (!d->in_feed && v->vm && v->vm->status.state == VM_READY)
		dash_noticef(d, "%s does nothing here; Enter types into %s, ? shows all keys", name,
		             d->selected);
	else
		dash_noticef(d, "%s does nothing here; ? shows all keys", name);
}

void dash_key(struct dash *d, uint32_t key, unsigned mods)
{
	struct view v;
	look(d, &v);
	bool detach = is_detach(d, key, mods);
	if (d->typing) {
		if (detach) {
			d->typing = false;
			d->just_left = true;
		} else {
			d->ops->send_key(d->arg, key, mods);
		}
		return;
	}
	bool twice = d->just_left && detach;
	d->just_left = false;
	d->notice[0] = '\0';
	if (twice && dash_has_pane(&v, PANE_LIVE)) {
		d->typing = true;
		d->ops->send_key(d->arg, key, mods);
	} else if (d->question != QUESTION_NONE) {
		answer(d, key, mods);
	} else if (d->help) {
		help_key(d, key, mods);
	} else {
		command_key(d, &v, key, mods);
	}
}

void dash_paste(struct dash *d, struct bytes text, bool first, bool last)
{
	struct view v;
	look(d, &v);
	if (d->typing)
		d->ops->send_paste(d->arg, text, first, last);
	else if (first) /* its characters must not act as keys */
		dash_notice(d, "a paste goes to a VM while typing: Enter first");
}

/* ---- picture ---- */

static uint32_t useless_actions(const struct dash *d, const struct view *v)
{
	uint32_t bits = 0;
	static_assert(ACTION_COUNT <= 32, "actions are bits");
	if (!v->vm)
		bits |= 1u << ACTION_TYPE | 1u << ACTION_ZOOM;
	if (!v->vm || !vm_state_is_live(v->vm->status.state))
		bits |= 1u << ACTION_STOP;
	if (d->in_feed ? v->model.denial_count == 0 : !dash_newest_denial(&v->model, d->selected))
		bits |= 1u << ACTION_ALLOW;
	if (v->model.denial_count == 0)
		bits |= 1u << ACTION_JUMP | (d->in_feed ? 0 : 1u << ACTION_FOCUS);
	return bits;
}

static void draw_status(struct dash *d, struct canvas *c, const struct view *v)
{
	char question[NOTICE_SIZE + 100];
	struct status_view status = {
	    .context = d->in_feed ? KEYS_FEED : KEYS_LIST,
	    .useless = useless_actions(d, v),
	    .only_console = v->vm && v->vm->status.state != VM_READY,
	    .zoomed = d->zoomed,
	    .typing = d->typing ? d->selected : NULL,
	    .detach = d->detach_name,
	    .notice = d->notice[0] ? d->notice : NULL,
	};
	if (d->question == QUESTION_ALLOW)
		snprintf(question, sizeof(question), "allow %s for %s? y/n", d->about_rule, d->about_vm);
	else if (d->question == QUESTION_STOP)
		snprintf(question, sizeof(question), "stop %s? y/n", d->about_vm);
	if (d->question != QUESTION_NONE)
		status.question = question;
	status_view_draw(c, v->layout.status, &status);
}

void dash_draw(struct dash *d, struct canvas *c)
{
	struct view v;
	look(d, &v);
	canvas_resize(c, d->rows, d->cols);
	canvas_clear(c);
	title_view_draw(c, v.layout.title, &v.model);

	struct list_view list = {
	    .model = &v.model, .selected = v.at, .top = d->list_top, .focused = !d->in_feed && !d->typing};
	list.top = d->list_top = list_view_scroll(&list, v.layout.list.rows);
	list_view_draw(c, v.layout.list, &list);

	struct pane_view pane = {.vm = v.vm,
	                         .source = &v.model.pane,
	                         .console = v.model.pane.console,
	                         .now_ms = v.model.now_ms,
	                         .typing = d->typing};
	pane_view_draw(c, &v.layout, 0, &pane);

	struct feed_view feed = {.model = &v.model, .focused = d->in_feed};
	feed.window = feed_place_find(&d->feed, &v.model, dash_feed_rows(&v));
	feed_view_draw(c, v.layout.feed_rule, v.layout.feed, &feed);
	pane_view_join(c, &v.layout);

	draw_status(d, c, &v);
	if (d->help)
		d->help_top = help_view_draw(c, d->help_top, d->detach_name);
}

struct dash_pane dash_wanted_pane(struct dash *d)
{
	struct view v;
	struct dash_pane want = {.rows = 0};
	look(d, &v);
	if (!v.vm || v.vm->status.state != VM_READY)
		return want;
	snprintf(want.vm, sizeof(want.vm), "%s", v.vm->status.name);
	want.rows = (unsigned)MAX(v.layout.panes[0].body.rows, 0);
	want.cols = (unsigned)MAX(v.layout.panes[0].body.cols, 0);
	return want;
}

const char *dash_selected(struct dash *d)
{
	struct view v;
	look(d, &v);
	return d->selected;
}

bool dash_is_typing(const struct dash *d)
{
	return d->typing;
}
