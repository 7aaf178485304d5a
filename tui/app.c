/* Joins the parts: client library and terminal on one side, the dash on the other.
 *
 * Nothing is drawn when something happens; it only sets the frame timer. The first change after a pause is drawn in the
 * same turn of the loop, later ones at most every FRAME_MS. The 1 Hz tick is for durations and draws only if one of them
 * changed. So an idle dashboard does nothing between two ticks, and a flooding VM costs a fixed number of frames. */
#include "tui/app.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/feed.h"
#include "core/client/fleet.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "core/loop/timer.h"
#include "tui/console.h"
#include "tui/dash.h"
#include "tui/input.h"
#include "tui/panes.h"
#include "tui/screen.h"

#define FRAME_MS      16
#define TICK_MS       1000
#define FEED_KEEP     2000
#define FEED_PER_VM   200
#define STOP_GRACE_MS 10000
#define WIDE_ENOUGH   600 /* for a name and an error */
#define LOG_KEEP      ((size_t)64 * 1024)

/* Something that a VM was asked to do. The answer comes once, or never when the VM is removed meanwhile. */
struct request {
	struct list link;
	struct app *app;
	char vm[VM_NAME_MAX + 1];
};

struct app {
	struct loop *loop;
	struct dash *dash;
	struct tui_screen *screen;
	struct tui_input *input;
	struct fleet *fleet;
	struct feed *feed;
	struct panes *panes;
	struct pane_wish wish; /* the pane that is on the screen; vm "": none */
	struct timer *frame, *tick;
	struct signals *signals, *stop_signal;
	struct list requests;
	struct console console;
	struct canvas canvas;
	uint64_t drawn_ms;
	int log_fd; /* where the log goes while the screen is ours */
	int exit_status;
	/* The model as arrays of pointers, made anew for each event. */
	const struct fleet_vm **vms;
	const struct feed_entry **denials;
	size_t vm_room, denial_room;
};

static void end(struct app *a, int exit_status)
{
	a->exit_status = exit_status;
	loop_stop(a->loop);
}

static void changed(void *arg)
{
	struct app *a = arg;
	if (timer_is_active(a->frame))
		return;
	uint64_t since = clock_mono_ms() - a->drawn_ms;
	timer_once(a->frame, since >= FRAME_MS ? 0 : FRAME_MS - since);
}

/* ---- data for the dash ---- */

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

static void collect_denials(struct app *a, struct model *m)
{
	size_t count = feed_count(a->feed);
	if (count > a->denial_room) {
		a->denials = mem_resize(a->denials, count, sizeof(*a->denials));
		a->denial_room = count;
	}
	for (size_t i = 0; i < count; i++) {
		const struct feed_entry *e = feed_at(a->feed, i);
		if (e->event == FEED_DENY)
			a->denials[m->denial_count++] = e;
	}
	m->denials = a->denials;
}

static struct pane *shown_pane(struct app *a)
{
	return panes_find(a->panes, a->wish.vm, a->wish.term);
}

static void get_model(void *arg, struct model *m)
{
	struct app *a = arg;
	*m = (struct model){.now_ms = clock_wall_ms()};
	collect_vms(a, m);
	collect_denials(a, m);
	struct pane *pane = shown_pane(a);
	m->pane.why = "";
	if (pane)
		pane_describe(pane, &m->pane);
	m->pane.console = a->console.text.s;
}

/* ---- what the dash asks for ---- */

static void send_key(void *arg, uint32_t key, unsigned mods)
{
	struct pane *pane = shown_pane(arg);
	if (pane)
		pane_key(pane, key, mods);
}

static void send_paste(void *arg, struct bytes text, bool first, bool last)
{
	struct app *a = arg;
	struct pane *pane = shown_pane(a);
	if (pane && !pane_paste(pane, text, first, last))
		dash_notice(a->dash, "the paste is too long: nothing of it was sent");
}

static void reopen_pane(void *arg)
{
	struct app *a = arg;
	panes_reset(a->panes, a->wish.vm, a->wish.term);
}

static void notice_of(struct app *a, const char *vm, const char *what)
{
	char text[WIDE_ENOUGH];
	snprintf(text, sizeof(text), "%s: %s", vm, what);
	dash_notice(a->dash, text);
}

static void end_request(struct request *r)
{
	list_remove(&r->link);
	free(r);
}

static void on_answer(void *arg, const char *text, const struct err *e)
{
	struct request *r = arg;
	notice_of(r->app, r->vm, e ? e->msg : text);
	changed(r->app);
	end_request(r);
}

static struct request *new_request(struct app *a, const char *vm)
{
	struct request *r = mem_alloc(sizeof(*r));
	r->app = a;
	snprintf(r->vm, sizeof(r->vm), "%s", vm);
	list_append(&a->requests, &r->link);
	return r;
}

/* The connection to a VM, or a notice. */
static struct client *client_of(struct app *a, const char *vm)
{
	const struct fleet_vm *found = fleet_find(a->fleet, vm);
	if (!found || !found->client)
		notice_of(a, vm, "its supervisor does not answer");
	return found ? found->client : NULL;
}

static void allow(void *arg, const char *vm, const char *rule)
{
	struct app *a = arg;
	struct client *c = client_of(a, vm);
	if (c)
		client_allow(c, rule, 0, on_answer, new_request(a, vm));
}

static void stop(void *arg, const char *vm)
{
	struct app *a = arg;
	struct client *c = client_of(a, vm);
	if (!c)
		return;
	notice_of(a, vm, "stopping...");
	client_stop(c, STOP_GRACE_MS, on_answer, new_request(a, vm));
}

static void repaint(void *arg)
{
	struct app *a = arg;
	tui_screen_forget(a->screen);
}

static void on_stop_signal(void *arg, int signum);

static void suspend(void *arg)
{
	struct app *a = arg;
	static const int STOP[] = {SIGTSTP, 0};
	tui_screen_suspend(a->screen);
	signals_close(a->stop_signal); /* the default action is what stops a process */
	kill(0, SIGTSTP);              /* all of the job, as the terminal itself does it */
	a->stop_signal = signals_open(a->loop, STOP, on_stop_signal, a);
	tui_screen_resume(a->screen);
}

static void quit(void *arg)
{
	end(arg, 0);
}

static const struct dash_ops DASH_OPS = {
    .get_model = get_model,
    .send_key = send_key,
    .send_paste = send_paste,
    .reopen_pane = reopen_pane,
    .allow = allow,
    .stop = stop,
    .repaint = repaint,
    .suspend = suspend,
    .quit = quit,
};

/* ---- what happens ---- */

static void draw(struct app *a)
{
	struct dash_pane want = dash_wanted_pane(a->dash);
	if (want.rows > 0 ||
	    strcmp(want.vm, a->wish.vm) != 0) { /* one that is hidden for a while stays as it is */
		a->wish = (struct pane_wish){.rows = want.rows, .cols = want.cols};
		if (want.rows > 0)
			memcpy(a->wish.vm, want.vm, sizeof(a->wish.vm));
	}
	panes_sync(a->panes, &a->wish, a->wish.vm[0] ? 1 : 0);
	/* A VM with a terminal needs no console log: only the others are read for it. */
	console_update(&a->console, want.vm[0] ? "" : dash_selected(a->dash));
	dash_draw(a->dash, &a->canvas);
	tui_screen_draw(a->screen, &a->canvas);
	a->drawn_ms = clock_mono_ms();
}

static void on_frame(void *arg)
{
	draw(arg);
}

static void on_tick(void *arg)
{
	changed(arg);
}

static void on_fleet(void *arg)
{
	struct app *a = arg;
	feed_sync(a->feed, a->fleet);
	changed(a);
}

static void on_input(void *arg, const struct input_event *ev)
{
	struct app *a = arg;
	if (ev->kind == INPUT_KEY)
		dash_key(a->dash, ev->key, ev->mods);
	else if (ev->kind == INPUT_PASTE)
		dash_paste(a->dash, ev->text, ev->first, ev->last);
	else
		return;
	changed(a);
}

static void on_terminal_gone(void *arg)
{
	end(arg, 128 + SIGHUP);
}

static void measure(struct app *a)
{
	int rows, cols;
	tui_screen_measure(a->screen, &rows, &cols);
	dash_resize(a->dash, rows, cols);
	changed(a);
}

static void on_stop_signal(void *arg, int signum)
{
	(void)signum;
	suspend(arg);
}

static void on_signal(void *arg, int signum)
{
	struct app *a = arg;
	if (signum == SIGWINCH) {
		measure(a);
	} else if (signum == SIGCONT) {
		tui_screen_resume(a->screen); /* the shell has had the terminal */
		measure(a);
	} else {
		end(a, 128 + signum);
	}
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

static bool start(struct app *a, char detach_key, struct err *e)
{
	static const int SIGNALS[] = {SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCONT, 0};
	static const int STOP[] = {SIGTSTP, 0};
	static const struct tui_input_ops INPUT = {.on_event = on_input, .on_gone = on_terminal_gone};
	a->frame = timer_create_on(a->loop, on_frame, a);
	a->tick = timer_create_on(a->loop, on_tick, a);
	a->dash = dash_create(&DASH_OPS, a, detach_key);
	a->panes = panes_create(a->loop, changed, a);
	a->fleet = fleet_open(a->loop, on_fleet, a, e);
	if (!a->fleet)
		return false;
	a->feed = feed_open(a->loop, FEED_KEEP, FEED_PER_VM, changed, a);
	feed_sync(a->feed, a->fleet);
	a->signals = signals_open(a->loop, SIGNALS, on_signal, a);
	a->stop_signal = signals_open(a->loop, STOP, on_stop_signal, a);
	a->screen = tui_screen_open(a->loop, &theme_default, e);
	if (!a->screen)
		return false;
	a->input = tui_input_open(a->loop, STDIN_FILENO, &INPUT, a, e);
	if (!a->input)
		return false;
	timer_every(a->tick, TICK_MS);
	measure(a);
	return true;
}

static void finish(struct app *a)
{
	tui_input_close(a->input);
	tui_screen_close(a->screen);
	signals_close(a->stop_signal);
	signals_close(a->signals);
	panes_destroy(a->panes);
	feed_close(a->feed);
	fleet_close(a->fleet);
	LIST_FOREACH (item, &a->requests)
		end_request(LIST_ENTRY(item, struct request, link));
	dash_destroy(a->dash);
	timer_close(a->tick);
	timer_close(a->frame);
	console_finish(&a->console);
	canvas_finish(&a->canvas);
	free(a->vms);
	free(a->denials);
}

int dashboard_run(struct loop *loop, char detach_key)
{
	struct app a = {.loop = loop};
	struct err e = ERR_INIT;
	setlocale(LC_CTYPE, "");
	list_init(&a.requests);
	console_init(&a.console);
	canvas_init(&a.canvas, 1, 1);
	divert_log(&a);
	bool ok = start(&a, detach_key, &e);
	if (ok)
		loop_run(loop);
	finish(&a);
	print_log(&a);
	if (ok)
		return a.exit_status;
	fprintf(stderr, "ccvm: %s\n", e.msg);
	return 1;
}
