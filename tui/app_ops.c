/* What the dash asks for, done with the parts of the app. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/client/feed.h"
#include "core/client/fleet.h"
#include "core/config/config_edit.h"
#include "tui/app_internal.h"
#include "tui/clipboard.h"
#include "tui/jobs.h"
#include "tui/panes.h"
#include "tui/screen.h"

/* ---- data ---- */

static void collect_vms(struct app *a, struct model *m)
{
	size_t count = fleet_count(a->fleet);
	if (count > a->vm_room) {
		a->vms = mem_resize(a->vms, count, sizeof(*a->vms));
		a->vm_room = count;
	}
	for (size_t i = 0; i < count; i++)
		a->vms[i] = fleet_at(a->fleet, i);
	m->vms = a->vms;
	m->vm_count = count;
	m->settled = fleet_is_settled(a->fleet);
}

static void collect_panes(struct app *a, struct model *m)
{
	for (size_t i = 0; i < a->wish_count; i++) {
		struct pane *pane = panes_find(a->panes, a->wishes[i].vm, a->wishes[i].term);
		if (!pane)
			continue;
		struct model_pane *p = &a->model_panes[m->pane_count++];
		*p = (struct model_pane){.wished = a->wishes[i].term};
		pane_describe(pane, &p->source);
	}
	m->panes = a->model_panes;
}

static void get_model(void *arg, struct model *m)
{
	struct app *a = arg;
	*m = (struct model){.now_ms = clock_wall_ms(), .console = a->console.text.s};
	collect_vms(a, m);
	collect_panes(a, m);
	feed_look(a->feed, &m->feed);
	m->job_count = jobs_running(a->jobs, &m->jobs);
}

/* ---- terminals ---- */

static bool send_key(void *arg, const char *vm, uint32_t term, uint32_t key, unsigned mods)
{
	struct app *a = arg;
	struct pane *pane = panes_find(a->panes, vm, term);
	return pane && pane_key(pane, key, mods);
}

static bool send_paste(void *arg, const char *vm, uint32_t term, struct bytes text, bool first, bool last)
{
	struct app *a = arg;
	struct pane *pane = panes_find(a->panes, vm, term);
	return pane && pane_paste(pane, text, first, last);
}

static void send_mouse(void *arg, const char *vm, uint32_t term, const struct term_mouse *m)
{
	struct app *a = arg;
	struct pane *pane = panes_find(a->panes, vm, term);
	if (pane)
		pane_mouse(pane, m);
}

static void reopen(void *arg, const char *vm, uint32_t term)
{
	struct app *a = arg;
	panes_reset(a->panes, vm, term);
}

static void on_new_terminal(void *arg, const char *vm, uint32_t number, const char *why)
{
	struct app *a = arg;
	if (number == 0)
		app_notice(a, vm, why);
	else
		dash_new_terminal(a->dash, vm, number);
	app_changed(a);
}

static void new_terminal(void *arg, const char *vm, unsigned rows, unsigned cols)
{
	struct app *a = arg;
	struct pane_wish wish = {.rows = rows, .cols = cols};
	snprintf(wish.vm, sizeof(wish.vm), "%s", vm);
	panes_new(a->panes, &wish, NULL, on_new_terminal, a);
}

/* ---- history ---- */

/* The pane may go away without an answer, so what goes with a question is not owned by it but lies in the app. */
static void on_history(void *arg, uint64_t first, uint32_t count, struct bytes lines, const struct err *e)
{
	struct history_ask *h = arg;
	dash_history(h->app->dash, h->tag, first, count, lines, e);
	app_changed(h->app);
}

static bool history(void *arg, const char *vm, uint32_t term, uint32_t tag, uint64_t before, uint32_t most)
{
	struct app *a = arg;
	struct pane *pane = panes_find(a->panes, vm, term);
	struct history_ask *h = &a->history_asks[tag % HISTORY_ASKS];
	*h = (struct history_ask){.app = a, .tag = tag};
	return pane && pane_history(pane, before, most, on_history, h);
}

/* ---- the rest ---- */

static void copy(void *arg, struct bytes text)
{
	struct app *a = arg;
	str_clear(&a->copied);
	str_append_bytes(&a->copied, (const char *)text.p, text.len);
	clipboard_copy(a->clipboard, text, clipboard_method(a->clipboard));
}

static void copy_again(void *arg, const char *name)
{
	struct app *a = arg;
	enum clipboard_method method = clipboard_method(a->clipboard);
	struct bytes text = {.p = (const uint8_t *)a->copied.s, .len = a->copied.len};
	if (text.len == 0)
		dash_notice(a->dash, "nothing was copied yet");
	else if (name[0] && !clipboard_parse_method(name, &method))
		app_notice(a, "no such clipboard", name);
	else
		clipboard_copy(a->clipboard, text, method);
}

static void request(void *arg, const struct dash_request *r)
{
	app_request(arg, r);
}

static void run(void *arg, const char *const *argv)
{
	struct app *a = arg;
	struct err e = ERR_INIT;
	if (!jobs_start(a->jobs, argv, &e))
		dash_notice(a->dash, e.msg);
}

static void write_allow(void *arg, const char *rule)
{
	struct app *a = arg;
	struct err e = ERR_INIT;
	bool changed = false;
	bool ok = config_add_allow(a->config_path, rule, &changed, &e);
	a->wrote_config = a->wrote_config || changed;
	if (ok)
		app_notice(a, a->config_path, changed ? "written" : "has it already");
	else
		dash_notice(a->dash, e.msg);
}

static void jobs_text_of(void *arg, struct str *out)
{
	jobs_text(((struct app *)arg)->jobs, out);
}

static void set_theme(void *arg, const char *name)
{
	app_set_theme(arg, name);
}

static void offer_names(void *arg, enum action_takes takes, palette_offer_fn *offer, void *to)
{
	(void)arg;
	app_offer_names(takes, offer, to);
}

static void keep(void *arg, const struct remember *r)
{
	struct app *a = arg;
	struct err e = ERR_INIT;
	if (!remember_save(r, a->remember_path, &e))
		dash_notice(a->dash, e.msg);
}

static void reload(void *arg)
{
	app_settings_reload(arg, true);
}

static void repaint(void *arg)
{
	tui_screen_forget(((struct app *)arg)->screen);
}

static void suspend(void *arg)
{
	app_suspend(arg);
}

static void quit(void *arg)
{
	app_end(arg, 0);
}

const struct dash_ops app_dash_ops = {
    .get_model = get_model,
    .send_key = send_key,
    .send_paste = send_paste,
    .send_mouse = send_mouse,
    .reopen = reopen,
    .new_terminal = new_terminal,
    .history = history,
    .request = request,
    .run = run,
    .write_allow = write_allow,
    .jobs_text = jobs_text_of,
    .copy = copy,
    .copy_again = copy_again,
    .set_theme = set_theme,
    .offer = offer_names,
    .remember = keep,
    .reload = reload,
    .repaint = repaint,
    .suspend = suspend,
    .quit = quit,
};
