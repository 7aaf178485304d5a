/* How a frame is drawn: row by row, only cells that differ, with the style and the cursor tracked so that nothing is sent
 * twice. Terminals disagree about the width of emoji and the like: after such a cell, and after the last column,
 * the place of the real cursor counts as unknown and the next cell gets an absolute move. Lines are never
 * wrapped and nothing ever scrolls. */
#include "core/term/tty.h"

#include <stdio.h>
#include <string.h>

#include "core/term/sgr.h"
#include "core/term/unicode.h"

#define FRAME_MAX ((size_t)64 * 1024 * 1024) /* far over the worst case of TERM_ROWS_MAX x TERM_COLS_MAX */

/* Alternate screen with the title saved; no wrapping; pastes marked. */
static const char ENTER[] = "\x1b[22;0t\x1b[?1049h\x1b[0m\x1b[r\x1b[?7l\x1b[?2004h\x1b[2J\x1b[H";
/* Also undoes what a program might have left behind that used the terminal directly. */
static const char LEAVE[] = "\x1b[?2026l\x1b[0m\x1b[r\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l"
                            "\x1b[?2004l\x1b[<u\x1b[>4m\x1b[?7h\x1b[?25h\x1b[0 q\x1b[?1049l\x1b[23;0t";

static void put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

struct tty_caps tty_caps_guess(const char *term, const char *colorterm, const char *no_color,
                               const char *codeset)
{
	static const char *const RICH[] = {"256color", "direct",  "kitty",  "alacritty",
	                                   "foot",     "ghostty", "wezterm"};
	struct tty_caps caps = {.colours = 8};
	if (term == NULL || *term == '\0' || strcmp(term, "dumb") == 0 || strncmp(term, "vt", 2) == 0)
		caps.colours = 0;
	else
		for (size_t i = 0; i < ARRAY_LEN(RICH); i++)
			if (strstr(term, RICH[i]) != NULL)
				caps.colours = 256;
	if (colorterm != NULL && (strcmp(colorterm, "truecolor") == 0 || strcmp(colorterm, "24bit") == 0)) {
		caps.colours = 256;
		caps.truecolor = true;
	}
	if (no_color != NULL && *no_color != '\0') {
		caps.colours = 0;
		caps.truecolor = false;
	}
	caps.ascii = codeset == NULL || strcasecmp(codeset, "UTF-8") != 0;
	return caps;
}

void tty_enter(struct buf *out)
{
	put_text(out, ENTER);
}

void tty_leave(struct buf *out)
{
	put_text(out, LEAVE);
}

const char *tty_leave_bytes(size_t *len)
{
	*len = sizeof(LEAVE) - 1;
	return LEAVE;
}

void tty_title(const char *title, struct buf *out)
{
	size_t len = strlen(title), n;
	put_text(out, "\x1b]2;");
	for (size_t i = 0; i < len; i += n) {
		uint32_t cp;
		n = utf8_decode((const uint8_t *)title + i, len - i, &cp);
		if (n == 0)
			break;
		if (codepoint_is_base(cp) && cp != UNICODE_REPLACEMENT)
			buf_put(out, title + i, n);
	}
	put_text(out, "\x1b\\");
}

struct painter {
	struct buf *out;
	const struct tty_caps *caps;
	struct cell style; /* what the terminal's SGR is now */
	bool style_known;
	int row, col; /* where its cursor is; -1: unknown */
};

static void paint_style(struct painter *p, const struct cell *c)
{
	if (p->style_known && cell_same_style(&p->style, c))
		return;
	sgr_put(p->out, c, p->caps->colours, p->caps->truecolor);
	p->style = *c;
	p->style_known = true;
}

static void paint_move(struct painter *p, int row, int col)
{
	char text[32];
	if (p->row == row && p->col == col)
		return;
	buf_put(p->out, text, (size_t)snprintf(text, sizeof(text), "\x1b[%d;%dH", row + 1, col + 1));
	p->row = row;
	p->col = col;
}

/* The bytes of a cell; true when the terminal may put them in another number of columns than we think. */
static bool paint_glyph(struct painter *p, const struct clusters *clusters, const struct cell *c)
{
	uint32_t chars[CLUSTER_MAX];
	size_t n = clusters_get(clusters, c->code, chars);
	if (n == 0 || !codepoint_is_base(chars[0])) {
		chars[0] = ' ';
		n = 1;
	}
	if (p->caps->ascii && chars[0] > 0x7e) {
		buf_put(p->out, "? ", c->width == CELL_WIDE ? 2 : 1);
		return false;
	}
	bool unsure = codepoint_is_width_unsure(chars[0]) || (n > 1 && !p->caps->ascii);
	for (size_t i = 0; i < n; i++) {
		char text[4];
		/* A variation selector would make the glyph wider than its cell. */
		if (i > 0 && (p->caps->ascii || chars[i] == 0xfe0f))
			continue;
		buf_put(p->out, text, utf8_encode(chars[i], text));
	}
	return unsure;
}

/* One screen as it is shown in a window of `cols` columns, from row `top` on. */
struct view {
	const struct screen *s; /* NULL: empty */
	unsigned top, cols;
};

static struct view view_of(const struct screen *s, unsigned rows, unsigned cols)
{
	struct view v = {.s = s, .cols = cols};
	if (s != NULL && s->rows > rows && s->cursor.row >= rows)
		v.top = s->cursor.row - rows + 1u;
	return v;
}

static struct cell view_cell(const struct view *v, unsigned row, unsigned col)
{
	const struct cell *at = v->s != NULL ? screen_cell(v->s, row + v->top, col) : NULL;
	struct cell c = at != NULL ? *at : (struct cell){0};
	if (c.width == CELL_WIDE && col + 1 >= v->cols) {
		c.width = CELL_NARROW;
		c.code = 0;
	}
	if (c.code == ' ')
		c.code = 0;
	if (at != NULL && (v->s->modes & TERM_REVERSE_VIDEO))
		c.attrs ^= CELL_REVERSE;
	return c;
}

static bool cells_differ(const struct view *a, const struct cell *ca, const struct view *b,
                         const struct cell *cb)
{
	if (!CELL_IS_CLUSTER(ca->code) || !CELL_IS_CLUSTER(cb->code))
		return !cell_equal(ca, cb);
	uint32_t chars_a[CLUSTER_MAX] = {0}, chars_b[CLUSTER_MAX] = {0};
	clusters_get(&a->s->clusters, ca->code, chars_a);
	clusters_get(&b->s->clusters, cb->code, chars_b);
	return memcmp(chars_a, chars_b, sizeof(chars_a)) != 0 || ca->width != cb->width ||
	       !cell_same_style(ca, cb);
}

/* First column from which on the row is blank. */
static unsigned text_end(const struct view *v, unsigned row)
{
	unsigned end = v->cols;
	while (end > 0) {
		struct cell c = view_cell(v, row, end - 1);
		if (!cell_is_blank(&c))
			break;
		end--;
	}
	return end;
}

static void draw_cell(struct painter *p, const struct view *v, unsigned row, unsigned col,
                      const struct cell *c, bool *spills)
{
	unsigned width = c->width == CELL_WIDE ? 2 : 1;
	paint_move(p, (int)row, (int)col);
	paint_style(p, c);
	*spills = paint_glyph(p, v->s != NULL ? &v->s->clusters : NULL, c);
	p->col += (int)width;
	if (*spills || p->col >= (int)v->cols)
		p->row = -1;
}

/* A glyph that may spill into the next cell makes that one be drawn again, over it. */
static void draw_row(struct painter *p, const struct view *prev, const struct view *next, unsigned row)
{
	unsigned end = text_end(next, row), old_end = text_end(prev, row);
	bool again = false;
	for (unsigned col = 0; col < end;) {
		struct cell c = view_cell(next, row, col), old = view_cell(prev, row, col);
		unsigned width = c.width == CELL_WIDE ? 2 : 1;
		if (c.width == CELL_TAIL) {
			col++;
			continue;
		}
		bool differs = again || cells_differ(prev, &old, next, &c);
		if (!differs && width == 2) {
			struct cell tail = view_cell(next, row, col + 1),
			            old_tail = view_cell(prev, row, col + 1);
			differs = cells_differ(prev, &old_tail, next, &tail);
		}
		again = false;
		if (differs)
			draw_cell(p, next, row, col, &c, &again);
		col += width;
	}
	if (old_end > end || again) {
		static const struct cell PLAIN = {0};
		if (end >= next->cols)
			return;
		paint_move(p, (int)row, (int)end);
		paint_style(p, &PLAIN);
		put_text(p->out, "\x1b[K");
	}
}

static void draw_cursor(struct painter *p, const struct screen *prev, const struct view *next, unsigned rows)
{
	const struct term_cursor *c = &next->s->cursor;
	if (prev == NULL || prev->cursor.shape != c->shape || prev->cursor.blink != c->blink) {
		char text[16];
		int style = c->shape == CURSOR_DEFAULT ? 0 : c->shape * 2 - (c->blink ? 1 : 0);
		buf_put(p->out, text, (size_t)snprintf(text, sizeof(text), "\x1b[%d q", style));
	}
	if (c->visible && c->row - next->top < rows && c->col < next->cols) {
		p->row = -1;
		paint_move(p, (int)(c->row - next->top), c->col);
		put_text(p->out, "\x1b[?25h");
	}
}

static bool cursor_equal(const struct term_cursor *a, const struct term_cursor *b)
{
	return a->row == b->row && a->col == b->col && a->visible == b->visible && a->blink == b->blink &&
	       a->shape == b->shape;
}

void tty_draw(const struct screen *prev, const struct screen *next, unsigned rows, unsigned cols,
              const struct tty_caps *caps, struct buf *out)
{
	struct buf frame = BUF_INIT(FRAME_MAX);
	struct painter p = {.out = &frame, .caps = caps, .row = -1, .col = -1};
	struct view old = view_of(prev, rows, cols), new = view_of(next, rows, cols);
	if (prev == NULL)
		put_text(&frame, "\x1b[0m\x1b[r\x1b[?7l\x1b[2J");
	for (unsigned row = 0; row < rows; row++)
		draw_row(&p, &old, &new, row);
	if (prev != NULL && prev->bells != next->bells)
		buf_put_u8(&frame, '\a');
	if (frame.len > 0 || !cursor_equal(&prev->cursor, &next->cursor)) {
		if (p.style_known)
			put_text(&frame, "\x1b[0m");
		draw_cursor(&p, prev, &new, rows);
		put_text(out, caps->sync ? "\x1b[?2026h\x1b[?25l" : "\x1b[?25l");
		buf_put(out, frame.data, frame.len);
		if (caps->sync)
			put_text(out, "\x1b[?2026l");
	}
	buf_finish(&frame);
}

void tty_dump(const struct screen *s, const struct tty_caps *caps, struct buf *out)
{
	struct view v = {.s = s, .cols = s->cols};
	unsigned rows = s->rows;
	while (rows > 0 && text_end(&v, rows - 1) == 0)
		rows--;
	for (unsigned row = 0; row < rows; row++) {
		struct painter p = {.out = out, .caps = caps, .style_known = true};
		unsigned end = text_end(&v, row);
		for (unsigned col = 0; col < end; col++) {
			struct cell c = view_cell(&v, row, col);
			if (c.width == CELL_TAIL)
				continue;
			paint_style(&p, &c);
			(void)paint_glyph(&p, &s->clusters, &c);
		}
		static const struct cell PLAIN = {0};
		paint_style(&p, &PLAIN);
		put_text(out, "\r\n");
	}
}
