/* Canvas to the cells that core/term/tty.h draws: styles become colours and attributes here, by the theme.
 *
 * Curses is asked for what it knows (terminfo.h) and does not draw: it has no RGB with the terminfo of most machines, no kinds of underline, no hyperlinks and no synchronised
 * output, it does not place the cursor anew after a cell whose width terminals do not agree on, and it blocks while
 * the terminal is slow. */
#include "tui/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/loop/rawtty.h"
#include "core/term/input.h"
#include "core/term/tty.h"
#include "tui/dress.h"
#include "tui/terminfo.h"

#define FRAME_MOST ((size_t)32 * 1024 * 1024)
#define TITLE_MOST 256

struct tui_screen {
	const struct theme *theme; /* kept */
	struct rawtty *tty;        /* owned */
	struct tty_caps caps;
	struct screen shown, next; /* what the terminal has; what it should have */
	int rows, cols;            /* of `next` */
	bool has_shown;            /* false: not known, write all */
	bool late;                 /* `next` waits for the terminal */
	bool ascii_locale;         /* caps.ascii as it was found */
	unsigned mouse;            /* enum term_mode */
	char title[TITLE_MOST];
	struct buf frame;
};

/* ---- what the terminal can do ---- */

bool tui_screen_caps(struct tty_caps *caps, struct err *e)
{
	struct tty_env env = tty_env_get();
	struct err why = ERR_INIT;
	if (!env.term || !env.term[0])
		return err_set(e, ERR_INVALID, "TERM is not set: it has to name the terminal");
	if (!terminfo_ask(env.term, &env.colours, &why)) {
		if (why.kind != ERR_NOT_FOUND || !tty_is_known(env.term))
			return err_set(e, why.kind, "%s", why.msg);
		env.colours = -1;
	}
	*caps = tty_caps_guess(&env);
	return true;
}

/* ---- frames ---- */

static void paint(struct tui_screen *s)
{
	bool same_size = s->shown.rows == s->next.rows && s->shown.cols == s->next.cols;
	buf_clear(&s->frame);
	tty_draw(s->has_shown && same_size ? &s->shown : NULL, &s->next, (unsigned)s->rows, (unsigned)s->cols,
	         &s->caps, &s->frame);
	struct screen old = s->shown;
	s->shown = s->next;
	s->next = old;
	s->has_shown = buf_ok(&s->frame);
	s->late = false;
	rawtty_write(s->tty, s->frame.data, s->frame.len);
}

void tui_screen_draw(struct tui_screen *s, const struct canvas *c)
{
	if (!rawtty_is_taken(s->tty))
		return;
	dress_canvas(&s->next, c, s->theme, s->caps.truecolor ? THEME_ALL_COLOURS : s->caps.colours);
	s->rows = s->next.rows;
	s->cols = s->next.cols;
	if (rawtty_is_drained(s->tty))
		paint(s);
	else
		s->late = true;
}

static void on_drain(void *arg)
{
	struct tui_screen *s = arg;
	if (s->late)
		paint(s);
}

static void on_gone(void *arg)
{
	(void)arg; /* the input hears of it as well, and its owner ends */
}

void tui_screen_forget(struct tui_screen *s)
{
	s->has_shown = false;
}

void tui_screen_set_theme(struct tui_screen *s, const struct theme *theme)
{
	s->theme = theme;
	tui_screen_forget(s);
}

void tui_screen_ascii(struct tui_screen *s, bool on)
{
	bool ascii = on || s->ascii_locale;
	if (ascii != s->caps.ascii)
		tui_screen_forget(s);
	s->caps.ascii = ascii;
}

void tui_screen_measure(struct tui_screen *s, int *rows, int *cols)
{
	unsigned r, c;
	rawtty_size(&r, &c);
	*rows = (int)MIN(r, (unsigned)TERM_ROWS_MAX);
	*cols = (int)MIN(c, (unsigned)TERM_COLS_MAX);
	if (*rows != s->rows || *cols != s->cols)
		tui_screen_forget(s); /* terminals differ in what they leave where */
}

/* ---- modes ---- */

static void send_frame(struct tui_screen *s)
{
	rawtty_write(s->tty, s->frame.data, s->frame.len);
	buf_clear(&s->frame);
}

/* After entering: what the terminal was told before, and what there is to ask it. */
static void set_up(struct tui_screen *s)
{
	struct bytes questions = tty_questions();
	buf_clear(&s->frame);
	if (s->mouse)
		tty_mouse(s->mouse, &s->frame);
	if (s->title[0])
		tty_title(s->title, &s->frame);
	buf_put(&s->frame, questions.p, questions.len);
	send_frame(s);
	rawtty_answered(s->tty, false);
	tui_screen_forget(s);
}

void tui_screen_reply(struct tui_screen *s, const struct input_event *ev)
{
	buf_clear(&s->frame);
	tty_answer(&s->caps, ev, &s->frame);
	send_frame(s);
	if (ev->reply == REPLY_DEVICE)
		rawtty_answered(s->tty, true);
}

void tui_screen_mouse(struct tui_screen *s, bool on, bool moves)
{
	unsigned mouse = !on ? 0 : moves ? TERM_MOUSE_MOVE : TERM_MOUSE_DRAG;
	if (mouse == s->mouse)
		return;
	s->mouse = mouse;
	buf_clear(&s->frame);
	tty_mouse(mouse, &s->frame);
	send_frame(s);
}

void tui_screen_title(struct tui_screen *s, const char *title)
{
	if (strncmp(s->title, title, sizeof(s->title) - 1) == 0)
		return;
	snprintf(s->title, sizeof(s->title), "%s", title);
	buf_clear(&s->frame);
	tty_title(s->title, &s->frame);
	send_frame(s);
}

void tui_screen_bell(struct tui_screen *s)
{
	rawtty_write(s->tty, "\a", 1);
}

void tui_screen_send(struct tui_screen *s, const void *bytes, size_t len)
{
	rawtty_write(s->tty, bytes, len);
}

/* ---- opening and closing ---- */

struct tui_screen *tui_screen_open(struct loop *loop, const struct theme *theme, struct err *e)
{
	static const struct rawtty_ops OPS = {.on_drain = on_drain, .on_gone = on_gone};
	const struct rawtty_spec spec = {.enter = tty_enter_bytes(), .leave = tty_leave_bytes()};
	struct tty_caps caps;
	if (!tui_screen_caps(&caps, e))
		return NULL;
	struct tui_screen *s = mem_alloc(sizeof(*s));
	*s = (struct tui_screen){.theme = theme, .caps = caps};
	buf_init(&s->frame, FRAME_MOST);
	screen_init(&s->shown, 1, 1);
	screen_init(&s->next, 1, 1);
	s->tty = rawtty_open(loop, &spec, &OPS, s, e);
	if (!s->tty) {
		tui_screen_close(s);
		return NULL;
	}
	s->ascii_locale = caps.ascii;
	set_up(s);
	return s;
}

void tui_screen_close(struct tui_screen *s)
{
	if (!s)
		return;
	rawtty_close(s->tty);
	screen_finish(&s->shown);
	screen_finish(&s->next);
	buf_finish(&s->frame);
	free(s);
}

void tui_screen_stop(struct tui_screen *s)
{
	rawtty_stop(s->tty);
	set_up(s);
}

void tui_screen_resume(struct tui_screen *s)
{
	rawtty_take(s->tty);
	set_up(s);
}
