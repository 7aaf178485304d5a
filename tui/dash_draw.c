/* The picture, from the state of the dash and the data of this moment. */
#include <stdio.h>
#include <string.h>

#include "tui/bar_view.h"
#include "tui/dash_internal.h"
#include "tui/detail_view.h"
#include "tui/feed_view.h"
#include "tui/help_view.h"
#include "tui/list_view.h"
#include "tui/pane_view.h"
#include "tui/words.h"

/* ---- panes ---- */

int dash_pane_count(const struct view *v)
{
	size_t left = v->model.vm_count - MIN(v->pane_first, v->model.vm_count);
	return v->layout.grid ? (int)MIN((size_t)v->layout.pane_count, left) : 1;
}

const struct fleet_vm *dash_vm_of_pane(const struct view *v, int pane)
{
	if (!v->layout.grid)
		return pane == 0 ? v->vm : NULL;
	return pane < dash_pane_count(v) ? v->model.vms[v->pane_first + (size_t)pane] : NULL;
}

int dash_pane_of_selected(const struct view *v)
{
	if (!v->vm)
		return -1;
	return v->layout.grid ? (int)(v->at - v->pane_first) : 0;
}

struct pane_view dash_pane_view(const struct dash *d, const struct view *v, int pane)
{
	const struct fleet_vm *vm = dash_vm_of_pane(v, pane);
	bool selected = vm && vm == v->vm;
	return (struct pane_view){
	    .vm = vm,
	    .source = dash_pane_of(d, v, vm),
	    .keys = &d->settings->keymap,
	    .console = selected ? v->model.console : NULL,
	    .copy = selected ? d->copy : NULL,
	    .now_ms = v->model.now_ms,
	    .selected = selected,
	    .typing = selected && dash_types_into(d, vm),
	    .broadcast = d->broadcast && dash_types_into(d, vm),
	};
}

/* The selected one last: where its cursor is, is where the terminal's is. */
static void draw_panes(struct dash *d, struct canvas *c, const struct view *v)
{
	int last = dash_pane_of_selected(v);
	for (int i = 0; i < v->layout.pane_count; i++) {
		struct pane_view pane = dash_pane_view(d, v, i);
		if (i != last)
			pane_view_draw(c, &v->layout, i, &pane);
	}
	if (last >= 0) {
		struct pane_view pane = dash_pane_view(d, v, last);
		pane_view_draw(c, &v->layout, last, &pane);
	}
}

/* ---- list and feed ---- */

struct list_view dash_list_view(const struct dash *d, const struct view *v)
{
	static const enum list_column COLUMNS[SORT_COUNT] = {
	    [SORT_STATE] = LIST_STATE, [SORT_NAME] = LIST_NAME, [SORT_AGE] = LIST_FOR,
	    [SORT_CPU] = LIST_CPU,     [SORT_MEM] = LIST_MEM,   [SORT_DENIED] = LIST_DENIED,
	};
	enum vm_sort sort = d->remembered.has_sort ? d->remembered.sort : d->settings->sort;
	return (struct list_view){
	    .model = &v->model,
	    .selected = v->at,
	    .top = d->list_top,
	    .focused = !d->in_feed && !d->typing && !d->copy,
	    .marked = d->marked_rows,
	    .sorted = COLUMNS[sort],
	    .filter = d->filter,
	    .unfiltered = v->all_count,
	};
}

static void draw_list(struct dash *d, struct canvas *c, const struct view *v)
{
	char key[KEYMAP_KEYS_SIZE];
	struct list_view list = dash_list_view(d, v);
	keymap_key_of(&d->settings->keymap, ACTION_NEW_VM, KEYS_ALL, key);
	list.new_vm_key = key[0] ? key : NULL;
	if (!rect_is_empty(v->layout.list)) /* hidden, it stays where it is */
		list.top = d->list_top = list_view_scroll(&list, v->layout.list.rows);
	list_view_draw(c, v->layout.list, &list);
}

struct feed_view dash_feed_view(const struct dash *d, const struct view *v)
{
	uint64_t denied = 0;
	for (size_t i = 0; i < v->all_count; i++)
		denied += v->all[i]->status.denied;
	return (struct feed_view){.rows = &d->feed,
	                          .focused = d->in_feed,
	                          .denied = denied,
	                          .allowed = d->allowed,
	                          .allowed_count = d->allowed_count,
	                          .now_ms = v->model.now_ms};
}

static void draw_feed(struct dash *d, struct canvas *c, const struct view *v)
{
	struct feed_view feed = dash_feed_view(d, v);
	feed_view_draw(c, v->layout.feed_rule, v->layout.feed, &feed);
}

/* ---- first and last line ---- */

static void draw_title(struct dash *d, struct canvas *c, const struct view *v)
{
	char key[KEYMAP_KEYS_SIZE];
	keymap_key_of(&d->settings->keymap, ACTION_HELP, KEYS_ALL, key);
	struct title_view title = {.vms = v->all,
	                           .vm_count = v->all_count,
	                           .marked = d->marked.count,
	                           .help = key,
	                           .now_ms = v->model.now_ms};
	size_t here = (size_t)dash_pane_count(v);
	if (v->layout.grid && here < v->model.vm_count) {
		title.page_first = v->pane_first + 1;
		title.page_last = v->pane_first + here;
		title.page_of = v->model.vm_count;
	}
	title_view_draw(c, v->layout.title, &title);
}

static bool any_calls(const struct view *v)
{
	for (size_t i = 0; i < v->all_count; i++) {
		if (vm_waits(v->all[i]) || vm_calls(v->all[i]))
			return true;
	}
	return false;
}

/* What a hint is good for now. */
enum hint_when { ALWAYS, HAS_VM, HAS_NO_VM, IS_READY, IS_CONSOLE, CALLS, REFUSED, HAS_ROW, MARKS, ZOOMED };

static bool holds(enum hint_when when, const struct dash *d, const struct view *v)
{
	bool ready = v->vm && v->vm->status.state == VM_READY;
	switch (when) {
	case ALWAYS: return true;
	case HAS_VM: return v->vm != NULL;
	case HAS_NO_VM: return v->all_count == 0;
	case IS_READY: return ready;
	case IS_CONSOLE: return v->vm && !ready;
	case CALLS: return any_calls(v);
	case REFUSED: return feed_rows_newest(&d->feed, d->selected) != NULL;
	case HAS_ROW: return feed_rows_selected(&d->feed) != NULL;
	case MARKS: return d->marked.count > 0;
	case ZOOMED: return d->zoomed;
	}
	return false;
}

/* Most useful first. */
static const struct {
	unsigned contexts;
	enum action action;
	enum hint_when when;
	const char *words;
} HINTS[] = {
    {KEYS_VMS, ACTION_TYPE, IS_READY, "type"},
    {KEYS_VMS, ACTION_TYPE, IS_CONSOLE, "console"},
    {KEYS_VMS, ACTION_NEW_VM, HAS_NO_VM, "new VM"},
    {KEYS_FEED, ACTION_JUMP, HAS_ROW, "go to VM"},
    {KEYS_VMS, ACTION_BROADCAST, MARKS, "type into marked"},
    {KEYS_VMS, ACTION_SEND, MARKS, "send"},
    {KEYS_VMS, ACTION_NEXT_WAITING, CALLS, "next waiting"},
    {KEYS_VMS, ACTION_ALLOW, REFUSED, "allow"},
    {KEYS_VMS, ACTION_ALLOW_SHORT, REFUSED, "10 min"},
    {KEYS_FEED, ACTION_ALLOW, HAS_ROW, "allow"},
    {KEYS_FEED, ACTION_ALLOW_SHORT, HAS_ROW, "10 min"},
    {KEYS_FEED, ACTION_HIDE, HAS_ROW, "hide"},
    {KEYS_FEED, ACTION_DETAIL, HAS_ROW, "read"},
    {KEYS_FEED, ACTION_RIGHT, ALWAYS, "tabs"},
    {KEYS_FEED, ACTION_FOCUS, ALWAYS, "list"},
    {KEYS_VMS, ACTION_ZOOM, ZOOMED, "list"},
    {KEYS_LIST, ACTION_ZOOM, HAS_VM, "zoom"},
    {KEYS_LIST, ACTION_GRID, HAS_VM, "grid"},
    {KEYS_GRID, ACTION_ZOOM, HAS_VM, "zoom"},
    {KEYS_GRID, ACTION_GRID, ALWAYS, "list"},
    {KEYS_LIST, ACTION_FILTER, HAS_VM, "filter"},
    {KEYS_VMS, ACTION_FOCUS, ALWAYS, "feed"},
    {KEYS_ALL, ACTION_PALETTE, ALWAYS, "command"},
    {KEYS_ALL, ACTION_HELP, ALWAYS, "help"},
    {KEYS_ALL, ACTION_QUIT, ALWAYS, "quit"},
    {KEYS_GRID, ACTION_GRID_MORE, ALWAYS, "more"},
    {KEYS_GRID, ACTION_GRID_LESS, ALWAYS, "fewer"},
    {KEYS_COPY, (enum action)(ACTION_COPY + COPY_SELECT), ALWAYS, "select"},
    {KEYS_COPY, (enum action)(ACTION_COPY + COPY_COPY), ALWAYS, "copy"},
    {KEYS_COPY, (enum action)(ACTION_COPY + COPY_SEARCH), ALWAYS, "search"},
    {KEYS_COPY, (enum action)(ACTION_COPY + COPY_LEAVE), ALWAYS, "leave"},
};

static size_t make_hints(const struct dash *d, const struct view *v, struct hint out[ARRAY_LEN(HINTS)])
{
	size_t count = 0;
	enum key_context context = dash_context(d);
	for (size_t i = 0; i < ARRAY_LEN(HINTS); i++) {
		char key[KEYMAP_KEYS_SIZE];
		if (!(HINTS[i].contexts & context) || !holds(HINTS[i].when, d, v))
			continue;
		if (HINTS[i].action == ACTION_ZOOM && HINTS[i].when == HAS_VM && d->zoomed)
			continue; /* it leads back, and says so */
		keymap_key_of(&d->settings->keymap, HINTS[i].action, context, key);
		snprintf(out[count].key, sizeof(out[count].key), "%s", key);
		out[count++].words = HINTS[i].words;
	}
	return count;
}

/* The oldest job that runs, what it said last and for how long it does. */
static bool job_text(const struct dash *d, const struct view *v, char *out, size_t size)
{
	char age[WORDS_SIZE], key[KEYMAP_KEYS_SIZE], more[32] = "";
	if (v->model.job_count == 0)
		return false;
	const struct job_info *j = &v->model.jobs[0];
	keymap_key_of(&d->settings->keymap, ACTION_JOBS, KEYS_ALL, key);
	words_duration(age, v->model.now_ms - j->started_ms);
	if (v->model.job_count > 1)
		snprintf(more, sizeof(more), " +%zu", v->model.job_count - 1);
	snprintf(out, size, "%s%s%s%s · %s%s%s%s", j->what, more, j->line[0] ? ": " : "", j->line, age,
	         key[0] ? " · " : "", key, key[0] ? " reads" : "");
	return true;
}

static void draw_status(struct dash *d, struct canvas *c, const struct view *v)
{
	static const struct {
		enum key_context context;
		const char *mode;
	} MODES[] = {{KEYS_FEED, "FEED"}, {KEYS_COPY, "COPY"}};
	char job[NOTICE_SIZE], typing[VM_NAME_MAX + 20];
	struct hint hints[ARRAY_LEN(HINTS)];
	struct status_view status = {
	    .hints = hints,
	    .hint_count = make_hints(d, v, hints),
	    .job = job_text(d, v, job, sizeof(job)) ? job : NULL,
	    .mode = "COMMAND",
	    .leave = d->settings->keymap.leave_name,
	    .question = d->question.action != ACTION_NONE ? d->question.text : NULL,
	    .notice = d->notice[0] ? d->notice : NULL,
	};
	for (size_t i = 0; i < ARRAY_LEN(MODES); i++) {
		if (MODES[i].context == dash_context(d))
			status.mode = MODES[i].mode;
	}
	snprintf(typing, sizeof(typing), "%s", d->selected);
	if (d->broadcast)
		snprintf(typing, sizeof(typing), "INTO %zu VMs", d->marked.count);
	if (d->typing)
		status.typing = typing;
	status_view_draw(c, v->layout.status, &status);
}

/* ---- what lies over it ---- */

static void draw_overlay(struct dash *d, struct canvas *c, const struct view *v)
{
	char foot[100], down[KEYMAP_KEYS_SIZE], up[KEYMAP_KEYS_SIZE];
	const struct keymap *k = &d->settings->keymap;
	if (d->overlay == OVERLAY_HELP) {
		d->overlay_top = help_view_draw(c, d->overlay_top, k, dash_context(d));
		return;
	}
	if (d->overlay == OVERLAY_VM) {
		const struct fleet_vm *vm = dash_find_vm(v, d->overlay_title);
		if (vm)
			detail_of_vm(&d->overlay_text, vm, v->model.now_ms);
	} else if (d->overlay == OVERLAY_JOBS) {
		d->ops->jobs_text(d->arg, &d->overlay_text);
	}
	keymap_key_of(k, ACTION_DOWN, KEYS_LIST, down);
	keymap_key_of(k, ACTION_UP, KEYS_LIST, up);
	snprintf(foot, sizeof(foot), "%.20s %.20s scroll, any other key closes", down, up);
	d->overlay_top = detail_view_draw(c, d->overlay_top, d->overlay_title, d->overlay_text.s, foot);
}

void dash_draw(struct dash *d, struct canvas *c)
{
	struct view v;
	dash_view(d, &v);
	canvas_resize(c, d->rows, d->cols);
	canvas_clear(c);
	draw_title(d, c, &v);
	draw_list(d, c, &v);
	draw_panes(d, c, &v);
	draw_feed(d, c, &v);
	pane_view_join(c, &v.layout);
	if (d->line.kind != LINE_NONE)
		dash_line_draw(d, c, &v);
	else
		draw_status(d, c, &v);
	if (d->form)
		form_draw(d->form, c, &d->settings->keymap);
	else if (d->overlay != OVERLAY_NONE)
		draw_overlay(d, c, &v);
}
