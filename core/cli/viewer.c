#include "core/cli/viewer.h"

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
#include "core/cli/setup.h"
#include "core/cli/stdio.h"
#include "core/client/client.h"
#include "core/loop/loop.h"
#include "core/loop/rawtty.h"
#include "core/loop/signals.h"
#include "core/loop/timer.h"
#include "core/term/input.h"
#include "core/term/screen.h"
#include "core/term/tty.h"

/* The supervisor sends cells; they are applied to the terminal object's screen. What our window should show of it is composed
 * in `next`, and a frame is the difference to what it shows (`shown`). A frame is made at most every FRAME_MS and only when
 * the one before is written, so a slow terminal skips frames and never falls behind. */

#define FRAME_MS    10
#define FRAME_MOST  (8u * 1024 * 1024)
#define FOREIGN_MS  1000 /* a guest needs a moment to follow our size */
#define LINE_SIZE   200
#define MOUSE_MODES (TERM_MOUSE_CLICK | TERM_MOUSE_DRAG | TERM_MOUSE_MOVE)

struct viewer {
	struct cli *cli;
	const struct viewer_spec *spec;
	struct client *client;
	struct client_term *term;
	struct rawtty *tty; /* from when the terminal in the VM is open */
	struct inlet *in;
	struct signals *signals;
	struct timer *frame_timer, *input_timer, *foreign_timer;
	struct input input;
	struct prefix prefix;
	struct tty_caps caps;
	unsigned rows, cols; /* of our window */
	unsigned top;        /* row of the terminal that is the window's first */
	struct screen shown, next;
	bool has_shown; /* false: repaint all */
	bool dirty;
	char line[LINE_SIZE]; /* covers the last row until a key is pressed; "": none */
	bool foreign_told;    /* that the terminal has another size than our window */
	unsigned mouse;       /* what the terminal was told: enum term_mode */
	uint32_t bells;
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

/* The part of the terminal that fits, with the row of its cursor. */
static void compose_cells(struct viewer *v, const struct screen *now)
{
	struct screen *to = &v->next;
	v->top = now->rows > v->rows && now->cursor.row >= v->rows ? now->cursor.row - v->rows + 1u : 0;
	if (to->rows != v->rows || to->cols != v->cols)
		screen_resize(to, v->rows, v->cols);
	clusters_clear(&to->clusters);
	memset(to->cells, 0, (size_t)to->rows * to->cols * sizeof(*to->cells));
	for (unsigned row = 0; row < to->rows && row + v->top < now->rows; row++) {
		const struct cell *from = screen_cell(now, row + v->top, 0);
		struct cell *cells = &to->cells[(size_t)row * to->cols];
		for (unsigned col = 0; col < MIN(to->cols, now->cols); col++)
			cells[col] = clusters_copy_cell(&to->clusters, &now->clusters, &from[col]);
	}
	to->modes = now->modes;
	to->cursor = now->cursor;
	to->cursor.visible = now->cursor.visible && now->cursor.row >= v->top &&
	                     now->cursor.row - v->top < v->rows && now->cursor.col < v->cols;
	to->cursor.row = (uint16_t)(to->cursor.visible ? now->cursor.row - v->top : 0);
	to->cursor.col = (uint16_t)(to->cursor.visible ? now->cursor.col : 0);
}

static void compose_line(struct viewer *v)
{
	struct cell *cells = &v->next.cells[(size_t)(v->next.rows - 1) * v->next.cols];
	size_t len = strlen(v->line);
	for (size_t col = 0; col < v->next.cols && len > 0; col++)
		cells[col] = (struct cell){.code = col < len ? (uint8_t)v->line[col] : ' ',
		                           .attrs = v->next.modes & TERM_REVERSE_VIDEO ? 0 : CELL_REVERSE};
}

/* What is not a cell: title, bell, reports of the mouse. */
static void put_rest(struct viewer *v, const struct screen *now)
{
	if (!v->has_shown || strcmp(v->title, now->title) != 0) {
		char title[sizeof(now->title) + VM_NAME_MAX + 8];
		memcpy(v->title, now->title, sizeof(v->title));
		snprintf(title, sizeof(title), "%s%s%s", v->spec->vm, now->title[0] ? ": " : "", now->title);
		tty_title(title, &v->frame);
	}
	if (v->has_shown && now->bells != v->bells)
		buf_put(&v->frame, "\a", 1);
	v->bells = now->bells;
	if (v->mouse != (now->modes & MOUSE_MODES)) {
		v->mouse = now->modes & MOUSE_MODES;
		tty_mouse(v->mouse, &v->frame);
	}
}

static void draw(struct viewer *v)
{
	struct screen *now = client_term_screen(v->term);
	if (!v->tty || !v->dirty || !rawtty_is_drained(v->tty))
		return;
	v->dirty = false;
	v->drawn_ms = clock_mono_ms();
	compose_cells(v, now);
	compose_line(v);
	screen_clear_changed(now);
	buf_clear(&v->frame);
	tty_draw(v->has_shown ? &v->shown : NULL, &v->next, v->rows, v->cols, &v->caps, &v->frame);
	put_rest(v, now);
	struct screen old = v->shown;
	v->shown = v->next;
	v->next = old;
	v->has_shown = buf_ok(&v->frame); /* a frame that was cut is followed by a whole one */
	rawtty_write(v->tty, v->frame.data, v->frame.len);
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

static void on_drain(void *arg)
{
	struct viewer *v = arg;
	if (v->dirty)
		draw_soon(v);
}

static void on_gone(void *arg)
{
	finish(arg, 128 + SIGHUP);
}

static const struct rawtty_ops TTY_OPS = {.on_drain = on_drain, .on_gone = on_gone};

static void show_line(struct viewer *v, const char *text)
{
	if (strcmp(v->line, text) == 0)
		return;
	snprintf(v->line, sizeof(v->line), "%s", text);
	draw_soon(v);
}

static void show_help(struct viewer *v)
{
	char name[4], text[LINE_SIZE];
	prefix_name(&v->prefix, name);
	snprintf(text, sizeof(text),
	         " %s d leaves, %s %s sends %s, %s z suspends, %s ? shows this; any key closes this line",
	         name, name, name, name, name, name);
	show_line(v, text);
}

/* ---- another size than ours ---- */

static bool is_foreign(const struct viewer *v)
{
	const struct screen *now = client_term_screen(v->term);
	return now->generation > 0 &&
	       (now->rows != v->rows || now->cols != MAX(v->cols, (unsigned)TERM_COLS_MIN));
}

static void on_foreign_due(void *arg)
{
	struct viewer *v = arg;
	const struct screen *now = client_term_screen(v->term);
	char text[LINE_SIZE];
	if (!is_foreign(v))
		return;
	v->foreign_told = true;
	snprintf(text, sizeof(text),
	         " another client has set %s to %ux%u, this window is %ux%u; typing sets it back",
	         v->spec->vm, now->cols, now->rows, v->cols, v->rows);
	show_line(v, text);
}

/* Who types has the size. */
static void claim_size(struct viewer *v)
{
	if (v->foreign_told && is_foreign(v))
		client_term_resize(v->term, v->rows, v->cols);
}

static void watch_size(struct viewer *v)
{
	if (!is_foreign(v)) {
		timer_stop(v->foreign_timer);
		v->foreign_told = false;
	} else if (!v->foreign_told && !timer_is_active(v->foreign_timer)) {
		timer_once(v->foreign_timer, FOREIGN_MS);
	}
}

/* ---- typing ---- */

static void on_key(struct viewer *v, uint32_t key, unsigned mods)
{
	show_line(v, "");
	switch (prefix_key(&v->prefix, key, mods)) {
	case PREFIX_PASS:
	case PREFIX_LITERAL:
		claim_size(v);
		client_term_key(v->term, key, mods);
		break;
	case PREFIX_SWALLOW: break;
	case PREFIX_DETACH:
		v->detached = true;
		finish(v, CLI_OK);
		break;
	case PREFIX_SUSPEND: kill(getpid(), SIGTSTP); break;
	case PREFIX_HELP: show_help(v); break;
	}
}

static void on_paste(struct viewer *v, const struct input_event *ev)
{
	if (!client_term_paste_part(v->term, ev->text.p, ev->text.len, ev->first, ev->last) && ev->last)
		show_line(v, " the paste is too long: nothing of it was sent; any key closes this line");
}

/* Places in the window become places in the terminal; the guest gets what it asked for. */
static void on_mouse(struct viewer *v, struct term_mouse m)
{
	const struct screen *now = client_term_screen(v->term);
	if (m.row + v->top >= now->rows || m.col >= now->cols)
		return;
	m.row = (uint16_t)(m.row + v->top);
	client_term_mouse(v->term, &m);
}

static void on_reply(struct viewer *v, const struct input_event *ev)
{
	struct buf out = BUF_INIT(64);
	tty_answer(&v->caps, ev, &out);
	rawtty_write(v->tty, out.data, out.len);
	buf_finish(&out);
	if (ev->reply == REPLY_DEVICE)
		rawtty_answered(v->tty, true);
}

static void on_input(void *arg, const struct input_event *ev)
{
	struct viewer *v = arg;
	if (v->done)
		return;
	switch (ev->kind) {
	case INPUT_KEY: on_key(v, ev->key, ev->mods); break;
	case INPUT_PASTE: on_paste(v, ev); break;
	case INPUT_REPLY: on_reply(v, ev); break;
	case INPUT_FOCUS: client_term_focus(v->term, ev->focused); break;
	case INPUT_MOUSE: on_mouse(v, ev->mouse); break;
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
	unsigned rows, cols;
	rawtty_size(&rows, &cols);
	v->rows = MIN(rows, (unsigned)TERM_ROWS_MAX);
	v->cols = MIN(cols, (unsigned)TERM_COLS_MAX);
	v->foreign_told = false;
	if (v->term)
		client_term_resize(v->term, v->rows, v->cols);
	repaint(v);
}

/* After the terminal was taken. */
static void set_up(struct viewer *v)
{
	struct bytes questions = tty_questions();
	v->mouse = 0;
	rawtty_write(v->tty, questions.p, questions.len);
	rawtty_answered(v->tty, false);
	repaint(v);
}

static void suspend(struct viewer *v)
{
	if (!v->tty) {
		kill(getpid(), SIGSTOP);
		return;
	}
	rawtty_stop(v->tty);
	set_up(v);
}

static void on_signal(void *arg, int signum)
{
	struct viewer *v = arg;
	switch (signum) {
	case SIGWINCH: break;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU: suspend(v); break;
	case SIGCONT: /* the shell may have had the terminal */
		if (v->tty) {
			rawtty_take(v->tty);
			set_up(v);
		}
		break;
	default: finish(v, 128 + signum); return;
	}
	take_size(v);
}

/* ---- the other end ---- */

static void on_opened(void *arg, uint32_t term)
{
	const struct rawtty_spec spec = {.enter = tty_enter_bytes(), .leave = tty_leave_bytes()};
	struct viewer *v = arg;
	v->term_number = term;
	v->tty = rawtty_open(v->cli->loop, &spec, &TTY_OPS, v, &v->why);
	if (!v->tty) {
		finish(v, CLI_FAILED);
		return;
	}
	inlet_resume(v->in);
	set_up(v);
}

static void on_screen(void *arg)
{
	struct viewer *v = arg;
	watch_size(v);
	draw_soon(v);
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

static bool open_terminal(struct viewer *v, struct err *e)
{
	const struct viewer_spec *spec = v->spec;
	struct client_term_spec term = {.term = spec->term,
	                                .rows = v->rows,
	                                .cols = v->cols,
	                                .argv = spec->argv,
	                                .env = spec->env,
	                                .cwd = spec->cwd};
	v->client = client_connect(v->cli->loop, spec->vm, &CLIENT_OPS, v, e);
	if (!v->client)
		return false;
	v->term = client_term_open(v->client, &term, &TERM_OPS, v, e);
	if (v->term)
		return true;
	client_close(v->client);
	v->client = NULL;
	return false;
}

static bool start(struct viewer *v, struct err *e)
{
	static const int SIGNALS[] = {SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT,
	                              SIGINT,   SIGTERM, SIGHUP,  SIGQUIT, 0};
	struct loop *loop = v->cli->loop;
	if (!setup_check_vm(v->spec->vm, e) || !v->cli->hooks->terminal(&v->caps, e))
		return false;
	take_size(v);
	if (!open_terminal(v, e))
		return false;
	v->prefix.control = v->spec->detach_key;
	v->in = inlet_open(loop, STDIN_FILENO, &INLET_OPS, v);
	v->signals = signals_open(loop, SIGNALS, on_signal, v);
	return true;
}

static void init(struct viewer *v)
{
	struct loop *loop = v->cli->loop;
	buf_init(&v->frame, FRAME_MOST);
	screen_init(&v->shown, 1, 1);
	screen_init(&v->next, 1, 1);
	input_init(&v->input, on_input, v);
	v->frame_timer = timer_create_on(loop, on_frame_due, v);
	v->input_timer = timer_create_on(loop, on_input_timeout, v);
	v->foreign_timer = timer_create_on(loop, on_foreign_due, v);
}

static void finish_parts(struct viewer *v)
{
	client_term_close(v->term);
	client_close(v->client);
	inlet_close(v->in);
	signals_close(v->signals);
	timer_close(v->frame_timer);
	timer_close(v->input_timer);
	timer_close(v->foreign_timer);
	input_finish(&v->input);
	screen_finish(&v->shown);
	screen_finish(&v->next);
	buf_finish(&v->frame);
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
	init(&v);
	bool started = start(&v, &e);
	if (!started)
		v.status = cli_error(cli, &e);
	while (started && !v.done)
		loop_turn(cli->loop, false);
	rawtty_close(v.tty);
	if (v.ended && spec->keep_last_screen)
		print_last_screen(&v);
	if (started)
		say_how_it_ended(&v);
	finish_parts(&v);
	return v.status;
}
