#include "core/cli/viewer.h"

#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/cli/cli.h"
#include "core/cli/exec_plain.h"
#include "core/cli/prefix.h"
#include "core/cli/rawtty.h"
#include "core/cli/setup.h"
#include "core/cli/stdio.h"
#include "core/client/client.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "core/loop/timer.h"
#include "core/term/input.h"
#include "core/term/screen.h"
#include "core/term/tty.h"

/* The supervisor sends cells; they are applied to the terminal object's screen. A frame is the difference between what
 * our terminal shows (`shown`) and that screen. It is made at most every FRAME_MS and only when the frame before is
 * written, so a slow terminal skips frames and never falls behind. */

#define FRAME_MS   10
#define FRAME_MOST (8u * 1024 * 1024)

struct viewer {
	struct cli *cli;
	const struct viewer_spec *spec;
	struct client *client;
	struct client_term *term;
	struct rawtty *tty; /* from when the terminal in the VM is open */
	struct inlet *in;
	struct outlet *out;
	struct signals *signals;
	struct timer *frame_timer, *input_timer;
	struct input input;
	struct prefix prefix;
	struct tty_caps caps;
	unsigned rows, cols; /* of our terminal */
	struct screen shown;
	bool has_shown; /* false: repaint all */
	bool dirty;
	bool help; /* the help line covers the last row */
	uint64_t drawn_ms;
	uint32_t term_number;
	char title[TERM_TITLE_MAX + 1];
	struct buf frame;
	bool ended; /* the program did, `status` is its */
	bool detached;
	bool done;
	int status;
	struct err why; /* an error to print when the terminal is back */
};

static void finish(struct viewer *v, int status)
{
	if (!v->done)
		v->status = status;
	v->done = true;
}

/* ---- drawing ---- */

static void put_help(struct viewer *v)
{
	char name[4], text[160], at[32];
	prefix_name(&v->prefix, name);
	int n = snprintf(text, sizeof(text),
	                 " %s d leaves, %s %s sends %s, %s z suspends; any key closes this line", name, name,
	                 name, name, name);
	snprintf(at, sizeof(at), "\0337\033[%u;1H\033[0;7m", v->rows);
	buf_put(&v->frame, at, strlen(at));
	buf_put(&v->frame, text, MIN((size_t)n, (size_t)v->cols));
	buf_put(&v->frame, "\033[K\033[0m\0338", 9);
}

static void put_title_and_bell(struct viewer *v, const struct screen *now)
{
	if (!v->has_shown || strcmp(v->title, now->title) != 0) {
		char title[sizeof(now->title) + VM_NAME_MAX + 8];
		memcpy(v->title, now->title, sizeof(v->title));
		snprintf(title, sizeof(title), "%s%s%s", v->spec->vm, now->title[0] ? ": " : "", now->title);
		tty_title(title, &v->frame);
	}
	if (v->has_shown && now->bells != v->shown.bells)
		buf_put(&v->frame, "\a", 1);
}

static void draw(struct viewer *v)
{
	struct screen *now = client_term_screen(v->term);
	if (!v->tty || !v->dirty || !outlet_is_empty(v->out))
		return;
	v->dirty = false;
	v->drawn_ms = clock_mono_ms();
	buf_clear(&v->frame);
	tty_draw(v->has_shown ? &v->shown : NULL, now, v->rows, v->cols, &v->caps, &v->frame);
	put_title_and_bell(v, now);
	if (v->help)
		put_help(v);
	screen_copy(&v->shown, now);
	screen_clear_changed(now);
	v->has_shown = buf_ok(&v->frame); /* a frame that was cut is followed by a whole one */
	outlet_write(v->out, v->frame.data, v->frame.len);
}

static void on_frame_due(void *arg)
{
	draw(arg);
}

static void draw_soon(struct viewer *v)
{
	uint64_t since = clock_mono_ms() - v->drawn_ms;
	v->dirty = true;
	if (!timer_is_active(v->frame_timer))
		timer_once(v->frame_timer, since < FRAME_MS ? FRAME_MS - since : 0);
}

static void repaint(struct viewer *v)
{
	v->has_shown = false;
	draw_soon(v);
}

static void on_written(void *arg)
{
	struct viewer *v = arg;
	if (v->dirty)
		draw_soon(v);
}

static void on_write_error(void *arg, const struct err *e)
{
	(void)e; /* the terminal is gone */
	finish(arg, 128 + SIGHUP);
}

static const struct outlet_ops OUTLET_OPS = {.on_drain = on_written, .on_error = on_write_error};

/* ---- typing ---- */

static void set_help(struct viewer *v, bool on)
{
	if (v->help == on)
		return;
	v->help = on;
	repaint(v);
}

static void on_key(struct viewer *v, uint32_t key, unsigned mods)
{
	set_help(v, false);
	switch (prefix_key(&v->prefix, key, mods)) {
	case PREFIX_PASS:
	case PREFIX_LITERAL: client_term_key(v->term, key, mods); break;
	case PREFIX_SWALLOW: break;
	case PREFIX_DETACH:
		v->detached = true;
		finish(v, CLI_OK);
		break;
	case PREFIX_SUSPEND: kill(getpid(), SIGTSTP); break;
	case PREFIX_HELP: set_help(v, true); break;
	}
}

static void on_input(void *arg, const struct input_event *ev)
{
	struct viewer *v = arg;
	if (v->done)
		return;
	switch (ev->kind) {
	case INPUT_KEY: on_key(v, ev->key, ev->mods); break;
	case INPUT_PASTE: client_term_paste(v->term, ev->text.p, ev->text.len); break;
	case INPUT_REPLY: v->caps.sync = ev->sync; break;
	case INPUT_FOCUS:
	case INPUT_MOUSE: break;
	}
}

static void arm_input_timer(struct viewer *v)
{
	unsigned wait = input_wait_ms(&v->input);
	if (wait)
		timer_once(v->input_timer, wait);
	else
		timer_stop(v->input_timer);
}

static void on_input_timeout(void *arg)
{
	struct viewer *v = arg;
	input_timeout(&v->input);
	arm_input_timer(v);
}

static void on_stdin(void *arg, const uint8_t *bytes, size_t len)
{
	struct viewer *v = arg;
	input_feed(&v->input, bytes, len);
	arm_input_timer(v);
}

static void on_stdin_eof(void *arg)
{
	finish(arg, 128 + SIGHUP);
}

static const struct inlet_ops INLET_OPS = {.on_data = on_stdin, .on_eof = on_stdin_eof};

/* ---- signals ---- */

static void take_size(struct viewer *v)
{
	rawtty_size(&v->rows, &v->cols);
	if (v->term)
		client_term_resize(v->term, v->rows, v->cols);
	repaint(v);
}

static void on_signal(void *arg, int signum)
{
	struct viewer *v = arg;
	if (signum == SIGTSTP && v->tty)
		rawtty_suspend(v->tty);
	else if (signum == SIGTSTP)
		kill(getpid(), SIGSTOP);
	else if (signum != SIGWINCH)
		finish(v, 128 + signum);
	if (!v->done)
		take_size(v);
}

/* ---- the other end ---- */

static void on_opened(void *arg, uint32_t term)
{
	struct viewer *v = arg;
	v->term_number = term;
	v->tty = rawtty_open(v->cli->loop, &v->why);
	if (!v->tty) {
		finish(v, CLI_FAILED);
		return;
	}
	inlet_resume(v->in);
	repaint(v);
}

static void on_screen(void *arg)
{
	draw_soon(arg);
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	struct viewer *v = arg;
	if (e && !v->done)
		v->why = *e;
	v->ended = !e;
	finish(v, e ? exec_failure_status(e, client_is_open(v->client)) : exec_exit_status(code, signum));
}

static const struct client_term_ops TERM_OPS = {
    .on_opened = on_opened, .on_screen = on_screen, .on_ended = on_ended};

static void on_closed(void *arg, const struct err *e)
{
	struct viewer *v = arg;
	if (!v->done)
		v->why = *e;
	finish(v, CLI_FAILED);
}

static const struct client_ops CLIENT_OPS = {.on_closed = on_closed};

/* ---- from start to end ---- */

static bool start(struct viewer *v, struct err *e)
{
	static const int SIGNALS[] = {SIGWINCH, SIGTSTP, SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};
	const struct viewer_spec *spec = v->spec;
	struct loop *loop = v->cli->loop;
	if (!setup_check_vm(spec->vm, e))
		return false;
	v->client = client_connect(loop, spec->vm, &CLIENT_OPS, v, e);
	if (!v->client)
		return false;
	rawtty_size(&v->rows, &v->cols);
	struct client_term_spec term = {.term = spec->term,
	                                .rows = v->rows,
	                                .cols = v->cols,
	                                .argv = spec->argv,
	                                .env = spec->env,
	                                .cwd = spec->cwd};
	v->term = client_term_open(v->client, &term, &TERM_OPS, v, e);
	if (!v->term) {
		client_close(v->client);
		return false;
	}
	v->caps =
	    tty_caps_guess(getenv("TERM"), getenv("COLORTERM"), getenv("NO_COLOR"), nl_langinfo(CODESET));
	v->prefix.control = spec->detach_key;
	buf_init(&v->frame, FRAME_MOST);
	screen_init(&v->shown, v->rows, v->cols);
	input_init(&v->input, on_input, v);
	v->frame_timer = timer_create_on(loop, on_frame_due, v);
	v->input_timer = timer_create_on(loop, on_input_timeout, v);
	v->in = inlet_open(loop, STDIN_FILENO, &INLET_OPS, v);
	v->out = outlet_open(loop, STDOUT_FILENO, &OUTLET_OPS, v);
	v->signals = signals_open(loop, SIGNALS, on_signal, v);
	return true;
}

/* What it showed at last stays on the operator's terminal like the output of any other program. */
static void print_last_screen(struct viewer *v)
{
	buf_clear(&v->frame);
	tty_dump(client_term_screen(v->term), &v->caps, &v->frame);
	fd_write_all(STDOUT_FILENO, v->frame.data, v->frame.len);
}

static void say_how_it_ended(const struct viewer *v)
{
	const char *vm = v->spec->vm;
	if (v->why.kind != ERR_NONE)
		cli_error(v->cli, &v->why);
	else if (v->detached && v->term_number && v->spec->term != CLIENT_TERM_FIRST)
		fprintf(stderr, "[left %s; back with: ccvm attach %s:%u]\n", vm, vm, v->term_number);
	else if (v->detached)
		fprintf(stderr, "[left %s; back with: ccvm attach %s]\n", vm, vm);
	else if (v->ended && !v->spec->keep_last_screen)
		fprintf(stderr, "[%s: the program ended with status %d]\n", vm, v->status);
}

int viewer_run(struct cli *cli, const struct viewer_spec *spec)
{
	struct viewer v = {.cli = cli, .spec = spec};
	struct err e = ERR_INIT;
	if (!start(&v, &e))
		return cli_error(cli, &e);
	while (!v.done)
		loop_turn(cli->loop, false);
	outlet_close(v.out);
	rawtty_close(v.tty);
	if (v.ended && spec->keep_last_screen)
		print_last_screen(&v);
	say_how_it_ended(&v);
	client_term_close(v.term);
	client_close(v.client);
	inlet_close(v.in);
	signals_close(v.signals);
	timer_close(v.frame_timer);
	timer_close(v.input_timer);
	input_finish(&v.input);
	screen_finish(&v.shown);
	buf_finish(&v.frame);
	return v.status;
}
