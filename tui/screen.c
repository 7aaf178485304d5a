/* Canvas to curses.
 *
 * What curses does to odd cells is why every cell passes through one function here: it would send a control character
 * raw, glue a lone zero-width character to the neighbour, refuse more than five characters, drop what the C library
 * does not know, and shift the row where the C library and the terminal core disagree about a width. So a cell is always
 * a printable base of exactly its own width, and marks that the C library calls zero-width.
 *
 * Pairs of colours are made as they are met. There are more pairs in a 256 colour palette than curses has numbers:
 * when they run out, all are forgotten and the whole screen is drawn again with new ones. init_color is never called,
 * because it would repaint the operator's own palette. */
#include "tui/screen.h"

#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/tty_guard.h"
#include "core/term/tty.h"

#define FALLBACK_TERM "xterm-256color"
#define PAIRS_MOST    32000 /* setcchar takes a short */
#define PALETTE       257   /* 256 colours and the default one */

#define PASTE_ON "\033[?2004h"
/* What curses does not know of: pastes and the shape of the cursor. */
#define OWN_MODES_OFF "\033[?2004l\033[0 q"

struct tui_screen {
	const struct theme *theme; /* kept */
	SCREEN *curses;            /* owned */
	struct tty_guard *guard;   /* owned */
	struct canvas shown;       /* what the terminal has */
	bool forgotten;
	bool active; /* not suspended */
	bool utf8;
	bool colours;
	bool defaults;      /* the terminal's own foreground and background can be had */
	int cursor_visible; /* -1: not known */
	char cursor_shape;  /* DECSCUSR's digit */
	short *pairs;       /* owned: PALETTE * PALETTE numbers, 0: not made */
	short pair_count, pairs_most;
};

/* ---- giving the terminal back, whatever happens ---- */

/* A crash and even SIGKILL are the business of the guard, another process. A bug gives the terminal back before its
 * message is printed, so that it can be read; that hook gets no argument, hence the one variable. */
static struct {
	bool active;
	struct termios settings;
} given;

/* Without the help of curses, from wherever the program is. */
static void restore_now(void)
{
	size_t len;
	const char *bytes = tty_leave_bytes(&len);
	fd_write_all(STDOUT_FILENO, bytes, len);
	tcsetattr(STDIN_FILENO, TCSANOW, &given.settings);
	given.active = false;
}

static void on_bug(const char *msg)
{
	(void)msg;
	if (given.active)
		restore_now();
}

static bool start_guard(struct tui_screen *s, struct loop *loop, struct err *e)
{
	size_t len;
	const char *bytes = tty_leave_bytes(&len);
	s->guard = tty_guard_start(loop, STDIN_FILENO, &given.settings, bytes, len, e);
	if (!s->guard)
		return false;
	tty_guard_set(s->guard, true);
	given.active = true;
	check_on_bug(on_bug);
	return true;
}

/* ---- opening and closing ---- */

static void send_raw(const char *bytes)
{
	fflush(stdout);
	fd_write_all(STDOUT_FILENO, bytes, strlen(bytes));
}

static void start_colours(struct tui_screen *s)
{
	const char *no_color = getenv("NO_COLOR");
	if ((no_color && no_color[0]) || !has_colors() || start_color() == ERR)
		return;
	s->colours = true;
	s->defaults = use_default_colors() == OK;
	s->pairs = mem_array((size_t)PALETTE * PALETTE, sizeof(*s->pairs));
	s->pairs_most = (short)(MIN(COLOR_PAIRS, PAIRS_MOST) - 1);
}

/* Typing must deliver every key as it is: no signals, no echo, no translation of Enter, no flow control. */
static void enter(void)
{
	raw();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	typeahead(-1); /* curses must not look at the input, which is not its own */
}

static SCREEN *open_curses(struct err *e)
{
	SCREEN *curses = newterm(NULL, stdout, stdin);
	if (!curses)
		curses = newterm(FALLBACK_TERM, stdout, stdin);
	if (!curses) {
		const char *term = getenv("TERM");
		err_set(e, ERR_SYSTEM,
		        "the terminal '%s' is not known here, nor is " FALLBACK_TERM
		        " (package ncurses-base)",
		        term ? term : "");
	}
	return curses;
}

struct tui_screen *tui_screen_open(struct loop *loop, const struct theme *theme, struct err *e)
{
	if (tcgetattr(STDIN_FILENO, &given.settings) < 0) {
		err_sys(e, errno, "read the settings of the terminal");
		return NULL;
	}
	struct tui_screen *s = mem_alloc(sizeof(*s));
	*s = (struct tui_screen){.theme = theme, .forgotten = true};
	s->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	s->cursor_visible = -1;
	s->cursor_shape = '0';
	canvas_init(&s->shown, 1, 1);
	/* First the guard: curses takes the terminal at once. */
	if (!start_guard(s, loop, e) || !(s->curses = open_curses(e))) {
		tui_screen_close(s);
		return NULL;
	}
	s->active = true;
	enter();
	start_colours(s);
	send_raw(PASTE_ON);
	return s;
}

static void leave(struct tui_screen *s)
{
	if (!s->active)
		return;
	s->active = false;
	curs_set(1);
	s->cursor_visible = -1;
	s->cursor_shape = '0';
	send_raw(OWN_MODES_OFF);
	endwin();
	tcsetattr(STDIN_FILENO, TCSANOW, &given.settings);
	given.active = false;
	tty_guard_set(s->guard, false);
}

void tui_screen_close(struct tui_screen *s)
{
	if (!s)
		return;
	leave(s);
	check_on_bug(NULL);
	tty_guard_close(s->guard);
	if (s->curses)
		delscreen(s->curses);
	canvas_finish(&s->shown);
	free(s->pairs);
	free(s);
}

void tui_screen_suspend(struct tui_screen *s)
{
	leave(s);
}

void tui_screen_resume(struct tui_screen *s)
{
	reset_prog_mode();
	enter();
	s->active = true;
	given.active = true;
	tty_guard_set(s->guard, true);
	send_raw(PASTE_ON);
	tui_screen_forget(s);
}

void tui_screen_forget(struct tui_screen *s)
{
	s->forgotten = true;
}

void tui_screen_measure(struct tui_screen *s, int *rows, int *cols)
{
	struct winsize size;
	*rows = LINES;
	*cols = COLS;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
		*rows = MIN(size.ws_row, CANVAS_MAX);
		*cols = MIN(size.ws_col, CANVAS_MAX);
	}
	if (*rows != LINES || *cols != COLS) {
		resizeterm(*rows, *cols);
		tui_screen_forget(s);
	}
}

/* ---- colours ---- */

static int palette_index(const struct tui_screen *s, uint32_t colour, bool is_bg)
{
	if (COLOUR_IS_DEFAULT(colour))
		return s->defaults ? PALETTE - 1 : is_bg ? COLOR_BLACK : COLOR_WHITE;
	return colour_nearest(colour, (unsigned)MIN(COLORS, 256));
}

static short pair_of(struct tui_screen *s, uint32_t fg, uint32_t bg)
{
	int f = palette_index(s, fg, false), b = palette_index(s, bg, true);
	if (f == PALETTE - 1 && b == PALETTE - 1)
		return 0;
	short *slot = &s->pairs[f * PALETTE + b];
	if (*slot > 0)
		return *slot;
	if (s->pair_count >= s->pairs_most) {
		tui_screen_forget(s); /* the next drawing starts over */
		return 0;
	}
	short pair = (short)(s->pair_count + 1);
	if (init_pair(pair, (short)(f == PALETTE - 1 ? -1 : f), (short)(b == PALETTE - 1 ? -1 : b)) == ERR)
		return 0;
	s->pair_count = pair;
	return *slot = pair;
}

static void forget_pairs(struct tui_screen *s)
{
	if (s->pairs && s->pair_count >= s->pairs_most) {
		memset(s->pairs, 0, (size_t)PALETTE * PALETTE * sizeof(*s->pairs));
		s->pair_count = 0;
	}
}

static attr_t curses_attrs(uint16_t attrs)
{
	static const struct {
		uint16_t ours;
		attr_t theirs;
	} MAP[] = {
	    /* Blinking is left out: nothing blinks on this screen, whatever a guest says. */
	    {CELL_BOLD, A_BOLD},       {CELL_DIM, A_DIM},       {CELL_ITALIC, A_ITALIC},
	    {CELL_REVERSE, A_REVERSE}, {CELL_CONCEAL, A_INVIS}, {CELL_UNDERLINE_MASK, A_UNDERLINE},
	};
	attr_t out = A_NORMAL;
	for (size_t i = 0; i < ARRAY_LEN(MAP); i++)
		out |= attrs & MAP[i].ours ? MAP[i].theirs : A_NORMAL;
	return out;
}

/* ---- cells ---- */

/* For locales that are not UTF-8: what our own views draw has a likeness in ASCII, the rest becomes a question mark. */
static wchar_t ascii_likeness(uint32_t cp)
{
	static const struct {
		uint32_t cp;
		char ascii;
	} LIKE[] = {
	    {0x2500, '-'}, {0x2501, '='}, {0x2502, '|'}, {0x2503, '#'}, {0x250c, '+'}, {0x2510, '+'},
	    {0x2514, '+'}, {0x2518, '+'}, {0x25b8, '>'}, {0x25bc, 'v'}, {0x25cf, '*'}, {0x25d0, '~'},
	    {0x25d1, '~'}, {0x25cc, '~'}, {0x25cb, 'o'}, {0x2717, 'x'}, {0x00b7, '-'}, {0x2014, '-'},
	    {0x2026, '~'}, {0x25d4, '~'}, {0x25ce, '@'}, {0x25a1, '.'}, {0x2713, '+'}, {0x2016, '='},
	    {0x25b2, '^'}, {0x00d7, 'x'},
	};
	if (cp < 0x7f)
		return (wchar_t)cp;
	for (size_t i = 0; i < ARRAY_LEN(LIKE); i++) {
		if (LIKE[i].cp == cp)
			return LIKE[i].ascii;
	}
	return '?';
}

/* The text of a cell for curses: a base of at most `width` columns and its marks. Returns the columns that curses will
 * give it. */
static int cell_chars(const struct tui_screen *s, const struct canvas *c, const struct cell *cell, int width,
                      wchar_t out[CCHARW_MAX + 1])
{
	uint32_t chars[CLUSTER_MAX];
	size_t n = clusters_get(&c->clusters, cell->code, chars), used = 0;
	if (n == 0 || chars[0] < 0x20 || chars[0] == 0x7f)
		chars[0] = ' ';
	if (!s->utf8) {
		out[0] = ascii_likeness(chars[0]);
		out[1] = L'\0';
		return 1;
	}
	int have = wcwidth((wchar_t)chars[0]);
	if (have < 1 || have > width) {
		chars[0] = 0xfffd;
		have = 1;
		n = 1;
	}
	out[used++] = (wchar_t)chars[0];
	for (size_t i = 1; i < n && used < CCHARW_MAX; i++) {
		if (wcwidth((wchar_t)chars[i]) == 0)
			out[used++] = (wchar_t)chars[i];
	}
	out[used] = L'\0';
	return have;
}

static struct theme_look look_of(const struct tui_screen *s, const struct canvas_cell *at)
{
	if (at->style != STYLE_GUEST)
		return theme_look(s->theme, (enum theme_style)at->style, s->colours);
	struct theme_look look = {.attrs = at->cell.attrs};
	if (s->colours) {
		look.fg = at->cell.fg;
		look.bg = at->cell.bg;
	}
	return look;
}

static void draw_cell(struct tui_screen *s, const struct canvas *c, int row, int col)
{
	const struct canvas_cell *at = canvas_at(c, row, col);
	if (at->cell.width == CELL_TAIL)
		return;
	int width = at->cell.width == CELL_WIDE ? 2 : 1;
	struct theme_look look = look_of(s, at);
	attr_t attrs = curses_attrs(look.attrs);
	short pair = s->colours ? pair_of(s, look.fg, look.bg) : 0;
	wchar_t text[CCHARW_MAX + 1];
	cchar_t cch;
	int have = cell_chars(s, c, &at->cell, width, text);
	setcchar(&cch, text, attrs, pair, NULL);
	mvadd_wch(row, col, &cch);
	if (have < width) {
		setcchar(&cch, L" ", attrs, pair, NULL);
		mvadd_wch(row, col + 1, &cch);
	}
}

static void draw_rows(struct tui_screen *s, const struct canvas *c)
{
	for (int row = 0; row < c->rows; row++) {
		if (!s->forgotten && canvas_row_equal(c, &s->shown, row))
			continue;
		for (int col = 0; col < c->cols; col++)
			draw_cell(s, c, row, col);
	}
}

static void place_cursor(struct tui_screen *s, const struct canvas *c)
{
	/* DECSCUSR, with the steady variants. */
	static const char SHAPES[] = {
	    [CURSOR_DEFAULT] = '0', [CURSOR_BLOCK] = '2', [CURSOR_UNDERLINE] = '4', [CURSOR_BAR] = '6'};
	if (s->cursor_visible != c->cursor_visible) {
		s->cursor_visible = c->cursor_visible;
		curs_set(c->cursor_visible ? 1 : 0);
	}
	if (!c->cursor_visible)
		return;
	char shape = c->cursor_shape < ARRAY_LEN(SHAPES) ? SHAPES[c->cursor_shape] : '0';
	if (shape != s->cursor_shape) {
		const char bytes[] = {'\033', '[', shape, ' ', 'q', '\0'};
		s->cursor_shape = shape;
		send_raw(bytes);
	}
	move(c->cursor_row, c->cursor_col);
}

void tui_screen_draw(struct tui_screen *s, const struct canvas *c)
{
	if (!s->active || c->rows > LINES || c->cols > COLS)
		return; /* a new size is on its way */
	if (!s->forgotten && canvas_equal(c, &s->shown))
		return;
	for (int pass = 0; pass < 2; pass++) { /* the second only when the pairs ran out in the first */
		bool all = s->forgotten;
		if (all) {
			forget_pairs(s);
			erase();
			clearok(curscr, TRUE);
		}
		draw_rows(s, c);
		if (all || !s->forgotten) {
			s->forgotten = false;
			break;
		}
	}
	place_cursor(s, c);
	refresh();
	canvas_copy(&s->shown, c);
}
