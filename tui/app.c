/* Joins the parts: client library and terminal on one side, the dash on the other.
 *
 * Nothing is drawn when something happens; it only sets the frame timer. The first change after a pause is drawn in the
 * same turn of the loop, later ones at most every FRAME_MS. What a terminal answers to a key is drawn at once, and the key itself
 * asks for no picture that would be in its way. With each picture it is known when it changes by itself (a
 * duration, the clock): the tick timer is set to that. So an idle dashboard sleeps, and a flooding VM costs a fixed number of
 * frames.
 *
 * Supervisors are asked whether they still answer (fleet_look) every LOOK_MS while somebody is at the keys, and every
 * LOOK_IDLE_MS otherwise. */
#include "tui/app.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/feed.h"
#include "core/client/fleet.h"
#include "core/config/paths.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "core/loop/timer.h"
#include "tui/app_internal.h"
#include "tui/clipboard.h"
#include "tui/input.h"
#include "tui/jobs.h"
#include "tui/notify.h"
#include "tui/panes.h"
#include "tui/screen.h"

#define FRAME_MS      16
#define LOOK_MS       FLEET_ASK_MS
#define LOOK_IDLE_MS  30000
#define LOOK_AFTER_MS 10000 /* so long after the last key somebody is taken to be there */
#define FEED_KEEP     2000
#define FEED_PER_VM   200
#define WIDE_ENOUGH   600 /* for a name and an error */
#define LOG_KEEP      ((size_t)64 * 1024)
#define REMEMBER_FILE "dashboard.state" /* no name of a VM */

void app_end(struct app *a, int exit_status)
{
	a->exit_status = exit_status;
	loop_stop(a->loop);
}

void app_changed(void *arg)
{
	struct app *a = arg;
	if (timer_is_active(a->frame))
		return;
	uint64_t since = clock_mono_ms() - a->drawn_ms;
	timer_once(a->frame, since >= FRAME_MS ? 0 : FRAME_MS - since);
}

/* The operator waits for the first thing that the terminal says after a key; nobody else's changes count as that. */
static void on_pane(void *arg, const struct pane *which)
{
	struct app *a = arg;
	if (a->typed && which == panes_find(a->panes, a->focused.vm, a->focused.term)) {
		a->typed = false;
		timer_once(a->frame, 0);
	} else {
		app_changed(a);
	}
}

static void await_answer(struct app *a)
{
	a->typed = true;
	if (!timer_is_active(a->frame))
		timer_once(a->frame, FRAME_MS);
}

void app_notice(struct app *a, const char *what, const char *text)
{
	char line[WIDE_ENOUGH];
	snprintf(line, sizeof(line), "%s: %s", what, text);
	dash_notice(a->dash, line);
}

void app_suspend(struct app *a)
{
	tui_screen_stop(a->screen);
	app_changed(a);
}

/* ---- the picture ---- */

static bool same_pane(const struct pane_wish *a, const struct pane_wish *b)
{
	return strcmp(a->vm, b->vm) == 0 && a->term == b->term;
}

static void tell_focus(struct app *a, const struct pane_wish *to, bool focused)
{
	struct pane *pane = to->vm[0] ? panes_find(a->panes, to->vm, to->term) : NULL;
	if (pane)
		pane_focus(pane, focused);
}

/* A program hears of the focus when the operator types into its terminal and is at this window. */
static void move_focus(struct app *a)
{
	struct pane_wish now = {.rows = 0};
	if (!a->has_focus || !dash_typed_pane(a->dash, &now))
		now = (struct pane_wish){.rows = 0};
	if (same_pane(&now, &a->focused))
		return;
	tell_focus(a, &a->focused, false);
	tell_focus(a, &now, true);
	a->focused = now;
}

static void ring_if_called(struct app *a)
{
	size_t count = fleet_count(a->fleet);
	const struct fleet_vm **vms FREE_ON_EXIT = mem_array(MAX(count, (size_t)1), sizeof(*vms));
	for (size_t i = 0; i < count; i++)
		vms[i] = fleet_at(a->fleet, i);
	if (notify_update(a->notify, vms, count, a->settings.config.ui.on_attention.text, clock_wall_ms()))
		tui_screen_bell(a->screen);
}

static void sync_panes(struct app *a)
{
	a->wish_count = dash_wanted_panes(a->dash, a->wishes, DASH_PANES_MOST);
	panes_sync(a->panes, a->wishes, a->wish_count);
}

static void draw(struct app *a)
{
	dash_look(a->dash);
	if (fleet_is_settled(a->fleet))
		ring_if_called(a);
	sync_panes(a);
	move_focus(a);
	/* A VM with a terminal needs no console log: only the others are read for it. */
	console_update(&a->console, dash_wanted_console(a->dash));
	dash_draw(a->dash, &a->canvas);
	tui_screen_draw(a->screen, &a->canvas);
	a->drawn_ms = clock_mono_ms();
	timer_once(a->tick, (uint64_t)dash_next_ms(a->dash));
}

static void on_frame(void *arg)
{
	draw(arg);
}

static void on_tick(void *arg)
{
	app_changed(arg);
}

/* ---- what happens ---- */

static bool any_lives(const struct app *a)
{
	for (size_t i = 0; i < fleet_count(a->fleet); i++) {
		if (vm_state_is_live(fleet_at(a->fleet, i)->status.state))
			return true;
	}
	return false;
}

/* What was asked is judged by the next look, FLEET_HANGS_MS later. */
static void on_look(void *arg)
{
	struct app *a = arg;
	bool busy = clock_mono_ms() - a->input_ms < LOOK_AFTER_MS;
	fleet_look(a->fleet);
	a->judge = !busy && !a->judge;
	if (any_lives(a))
		timer_once(a->look, busy ? LOOK_MS : a->judge ? FLEET_HANGS_MS : LOOK_IDLE_MS);
}

static void on_fleet(void *arg)
{
	struct app *a = arg;
	feed_sync(a->feed, a->fleet);
	if (!timer_is_active(a->look) && any_lives(a))
		timer_once(a->look, LOOK_MS);
	app_changed(a);
}

/* Somebody is there: what hangs should show soon. */
static void note_input(struct app *a)
{
	uint64_t now = clock_mono_ms();
	bool back = now - a->input_ms >= LOOK_AFTER_MS;
	a->input_ms = now;
	if (back && any_lives(a))
		timer_once(a->look, 0);
}

static void on_input(void *arg, const struct input_event *ev)
{
	struct app *a = arg;
	bool typed = dash_is_typing(a->dash);
	switch (ev->kind) {
	case INPUT_KEY: dash_key(a->dash, ev->key, ev->mods); break;
	case INPUT_PASTE: dash_paste(a->dash, ev->text, ev->first, ev->last); break;
	case INPUT_MOUSE: dash_mouse(a->dash, &ev->mouse); break;
	case INPUT_FOCUS:
		a->has_focus = ev->focused;
		dash_focus_moved(a->dash);
		break;
	case INPUT_REPLY: tui_screen_reply(a->screen, ev); break;
	}
	app_end_batch(a);
	if (!typed && dash_is_typing(a->dash))
		sync_panes(a); /* the next key is for a terminal that may not be open yet */
	if (ev->kind != INPUT_FOCUS && ev->kind != INPUT_REPLY)
		note_input(a);
	bool sent = ev->kind == INPUT_KEY || ev->kind == INPUT_PASTE;
	if (sent && typed && dash_is_typing(a->dash))
		await_answer(a);
	else
		app_changed(a);
}

static void on_terminal_gone(void *arg)
{
	app_end(arg, 128 + SIGHUP);
}

static void measure(struct app *a)
{
	int rows, cols;
	tui_screen_measure(a->screen, &rows, &cols);
	dash_resize(a->dash, rows, cols);
	app_changed(a);
}

static void on_stop_signal(void *arg, int signum)
{
	(void)signum;
	app_suspend(arg);
}

/* SIGHUP says that the settings have changed, or, from the kernel, that there is no terminal any more. */
static void on_hangup(struct app *a)
{
	struct termios ignored;
	if (tcgetattr(STDIN_FILENO, &ignored) < 0)
		app_end(a, 128 + SIGHUP);
	else
		app_settings_reload(a, true);
}

static void on_signal(void *arg, int signum)
{
	struct app *a = arg;
	if (signum == SIGWINCH) {
		measure(a);
	} else if (signum == SIGCONT) {
		tui_screen_resume(a->screen); /* the shell has had the terminal */
		measure(a);
	} else if (signum == SIGHUP) {
		on_hangup(a);
	} else {
		app_end(a, 128 + signum);
	}
}

static void on_problem(void *arg, const char *text)
{
	struct app *a = arg;
	dash_notice(a->dash, text);
	app_changed(a);
}

static void on_job_end(void *arg, bool ok, const char *text)
{
	(void)ok;
	on_problem(arg, text);
}

/* ---- start and end ---- */

/* A log line would end up in the middle of the picture: kept until the screen is given back. */
static void divert_log(struct app *a)
{
	a->log_fd = isatty(STDERR_FILENO) ? memfd_create("ccvm-log", MFD_CLOEXEC) : -1;
	if (a->log_fd >= 0)
		log_open("ccvm", a->log_fd, LOG_WARN);
}

static void print_log(struct app *a)
{
	if (a->log_fd < 0)
		return;
	log_open("ccvm", STDERR_FILENO, LOG_WARN);
	off_t end_at = lseek(a->log_fd, 0, SEEK_END);
	if (end_at > (off_t)LOG_KEEP)
		lseek(a->log_fd, end_at - (off_t)LOG_KEEP, SEEK_SET);
	else
		lseek(a->log_fd, 0, SEEK_SET);
	char *text = mem_alloc(LOG_KEEP);
	ssize_t n = fd_read_full(a->log_fd, text, LOG_KEEP);
	if (n > 0)
		fd_write_all(STDERR_FILENO, text, (size_t)n);
	free(text);
	fd_close(&a->log_fd);
}

/* Everything but the terminal. */
static bool open_parts(struct app *a, struct err *e)
{
	static const struct jobs_ops JOBS = {.on_change = app_changed, .on_end = on_job_end};
	struct remember remembered;
	a->frame = timer_create_on(a->loop, on_frame, a);
	a->tick = timer_create_on(a->loop, on_tick, a);
	a->look = timer_create_on(a->loop, on_look, a);
	app_settings_open(a);
	char *state FREE_ON_EXIT = paths_state_dir();
	a->remember_path = paths_join(state, REMEMBER_FILE);
	remember_load(&remembered, a->remember_path);
	a->dash = dash_create(&app_dash_ops, a, &a->settings, &remembered);
	a->panes = panes_create(a->loop, on_pane, a);
	a->notify = notify_create(a->loop, on_problem, a);
	a->jobs = jobs_create(a->loop, NULL, &JOBS, a);
	a->fleet = fleet_open(a->loop, on_fleet, a, e);
	if (!a->fleet)
		return false;
	a->feed = feed_open(a->loop, FEED_KEEP, FEED_PER_VM, app_changed, a);
	feed_sync(a->feed, a->fleet);
	return true;
}

static bool start(struct app *a, struct err *e)
{
	static const int SIGNALS[] = {SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCONT, 0};
	static const int STOP[] = {SIGTSTP, SIGTTIN, SIGTTOU, 0};
	static const struct tui_input_ops INPUT = {.on_event = on_input, .on_gone = on_terminal_gone};
	if (!open_parts(a, e))
		return false;
	a->signals = signals_open(a->loop, SIGNALS, on_signal, a);
	a->stop_signal = signals_open(a->loop, STOP, on_stop_signal, a);
	a->screen = tui_screen_open(a->loop, &a->theme, e);
	if (!a->screen)
		return false;
	a->input = tui_input_open(a->loop, STDIN_FILENO, &INPUT, a, e);
	if (!a->input)
		return false;
	app_settings_apply(a);
	if (a->first_problem)
		dash_notice(a->dash, a->first_problem);
	a->input_ms = clock_mono_ms();
	measure(a);
	return true;
}

static void finish(struct app *a)
{
	tui_input_close(a->input);
	tui_screen_close(a->screen);
	signals_close(a->stop_signal);
	signals_close(a->signals);
	jobs_destroy(a->jobs);
	notify_destroy(a->notify);
	panes_destroy(a->panes);
	feed_close(a->feed);
	fleet_close(a->fleet);
	app_end_batch(a);
	app_drop_requests(a);
	dash_destroy(a->dash);
	app_settings_close(a);
	timer_close(a->look);
	timer_close(a->tick);
	timer_close(a->frame);
	str_finish(&a->copied);
	console_finish(&a->console);
	canvas_finish(&a->canvas);
	free(a->remember_path);
	free(a->vms);
}

int dashboard_run(struct loop *loop)
{
	struct app *a FREE_ON_EXIT = mem_alloc(sizeof(*a));
	struct err e = ERR_INIT;
	setlocale(LC_CTYPE, "");
	a->loop = loop;
	a->has_focus = true;
	list_init(&a->asked);
	str_init(&a->copied, CLIPBOARD_TEXT_MAX);
	console_init(&a->console);
	canvas_init(&a->canvas, 1, 1);
	divert_log(a);
	bool ok = start(a, &e);
	if (ok)
		loop_run(loop);
	finish(a);
	print_log(a);
	if (ok)
		return a->exit_status;
	fprintf(stderr, "ccvm: %s\n", e.msg);
	return 1;
}
