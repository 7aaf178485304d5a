#include "tui/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "core/base/mem.h"
#include "core/term/unicode.h"

#define TEXT_MAX 2048 /* bytes of one formatted text; the rest is cut */

static struct canvas_cell *cell_at(struct canvas *c, int row, int col)
{
	if (row < 0 || col < 0 || row >= c->rows || col >= c->cols)
		return NULL;
	return &c->cells[(size_t)row * (size_t)c->cols + (size_t)col];
}

void canvas_init(struct canvas *c, int rows, int cols)
{
	*c = (struct canvas){0};
	canvas_resize(c, rows, cols);
}

void canvas_finish(struct canvas *c)
{
	free(c->cells);
	clusters_finish(&c->clusters);
	*c = (struct canvas){0};
}

void canvas_resize(struct canvas *c, int rows, int cols)
{
	rows = MIN(MAX(rows, 1), CANVAS_MAX);
	cols = MIN(MAX(cols, 1), CANVAS_MAX);
	if (rows == c->rows && cols == c->cols)
		return;
	free(c->cells);
	c->cells = mem_array((size_t)rows * (size_t)cols, sizeof(*c->cells));
	c->rows = rows;
	c->cols = cols;
	canvas_clear(c);
}

void canvas_clear(struct canvas *c)
{
	memset(c->cells, 0, (size_t)c->rows * (size_t)c->cols * sizeof(*c->cells));
	clusters_clear(&c->clusters);
	c->cursor_row = c->cursor_col = 0;
	c->cursor_visible = false;
	c->cursor_shape = CURSOR_DEFAULT;
}

static bool same_cell(const struct canvas *a, const struct canvas *b, size_t i)
{
	const struct canvas_cell *x = &a->cells[i], *y = &b->cells[i];
	if (x->style != y->style || x->cell.width != y->cell.width ||
	    (x->style == STYLE_GUEST && !cell_same_style(&x->cell, &y->cell)))
		return false;
	if (!CELL_IS_CLUSTER(x->cell.code) && !CELL_IS_CLUSTER(y->cell.code))
		return x->cell.code == y->cell.code;
	/* An index means something only in its own table. */
	uint32_t xs[CLUSTER_MAX] = {0}, ys[CLUSTER_MAX] = {0};
	size_t xn = clusters_get(&a->clusters, x->cell.code, xs);
	size_t yn = clusters_get(&b->clusters, y->cell.code, ys);
	return xn == yn && memcmp(xs, ys, sizeof(xs)) == 0;
}

bool canvas_row_equal(const struct canvas *a, const struct canvas *b, int row)
{
	CHECK(a->rows == b->rows && a->cols == b->cols && row >= 0 && row < a->rows);
	size_t first = (size_t)row * (size_t)a->cols;
	for (size_t i = first; i < first + (size_t)a->cols; i++) {
		if (!same_cell(a, b, i))
			return false;
	}
	return true;
}

bool canvas_equal(const struct canvas *a, const struct canvas *b)
{
	if (a->rows != b->rows || a->cols != b->cols || a->cursor_visible != b->cursor_visible)
		return false;
	if (a->cursor_visible && (a->cursor_row != b->cursor_row || a->cursor_col != b->cursor_col ||
	                          a->cursor_shape != b->cursor_shape))
		return false;
	for (int row = 0; row < a->rows; row++) {
		if (!canvas_row_equal(a, b, row))
			return false;
	}
	return true;
}

void canvas_copy(struct canvas *to, const struct canvas *from)
{
	canvas_resize(to, from->rows, from->cols);
	canvas_clear(to);
	for (size_t i = 0; i < (size_t)from->rows * (size_t)from->cols; i++) {
		to->cells[i] = from->cells[i];
		to->cells[i].cell = clusters_copy_cell(&to->clusters, &from->clusters, &from->cells[i].cell);
	}
	to->cursor_row = from->cursor_row;
	to->cursor_col = from->cursor_col;
	to->cursor_visible = from->cursor_visible;
	to->cursor_shape = from->cursor_shape;
}

const struct canvas_cell *canvas_at(const struct canvas *c, int row, int col)
{
	if (row < 0 || col < 0 || row >= c->rows || col >= c->cols)
		return NULL;
	return &c->cells[(size_t)row * (size_t)c->cols + (size_t)col];
}

/* Whatever is written over half of a wide character leaves a space in the other half. */
static void make_room(struct canvas *c, int row, int col)
{
	struct canvas_cell *here = cell_at(c, row, col);
	struct canvas_cell *other = NULL;
	if (here->cell.width == CELL_TAIL)
		other = cell_at(c, row, col - 1);
	else if (here->cell.width == CELL_WIDE)
		other = cell_at(c, row, col + 1);
	if (other) {
		other->cell.code = ' ';
		other->cell.width = CELL_NARROW;
	}
}

/* `width` is 1 or 2 columns, all of them inside the canvas. */
static void set_cell(struct canvas *c, int row, int col, int width, const struct cell *cell,
                     enum theme_style style)
{
	for (int i = 0; i < width; i++) {
		make_room(c, row, col + i);
		struct canvas_cell *to = cell_at(c, row, col + i);
		to->cell = *cell;
		to->style = (uint8_t)style;
		to->cell.width = width == 1 ? CELL_NARROW : i == 0 ? CELL_WIDE : CELL_TAIL;
		if (i > 0)
			to->cell.code = 0;
	}
}

/* ---- texts ---- */

/* One character of a UI text: its code points (base first) and columns. */
struct glyph {
	uint32_t chars[CLUSTER_MAX];
	size_t count;
	int width;
};

static size_t decode(const char *text, size_t left, uint32_t *cp)
{
	size_t n = utf8_decode((const uint8_t *)text, left, cp);
	if (n > 0)
		return n;
	*cp = UNICODE_REPLACEMENT; /* cut in the middle of a character */
	return left;
}

/* The next glyph of `text`, with marks joined to their base. Returns the bytes used, 0 at the end. Width is what the
 * C library says, as for all text that is not a terminal's (it is 1 where the locale does not know). */
static size_t next_glyph(const char *text, size_t left, struct glyph *g)
{
	if (left == 0)
		return 0;
	uint32_t cp;
	size_t used = decode(text, left, &cp);
	if (!codepoint_is_base(cp))
		cp = UNICODE_REPLACEMENT;
	*g = (struct glyph){.chars = {cp}, .count = 1, .width = wcwidth((wchar_t)cp) == 2 ? 2 : 1};
	while (used < left) {
		size_t n = decode(text + used, left - used, &cp);
		if (!codepoint_is_mark(cp))
			break;
		if (g->count < CLUSTER_MAX)
			g->chars[g->count++] = cp;
		used += n;
	}
	return used;
}

static int draw_bytes(struct canvas *c, struct rect r, int at, enum theme_style style, const char *text,
                      size_t len)
{
	struct glyph g;
	if (rect_is_empty(r) || at < 0)
		return at;
	for (size_t n; (n = next_glyph(text, len, &g)) > 0; text += n, len -= n) {
		if (at + g.width > r.cols || r.col + at + g.width > c->cols)
			break;
		if (r.row >= 0 && r.row < c->rows && r.col + at >= 0) {
			struct cell cell = {.code = clusters_intern(&c->clusters, g.chars, g.count)};
			if (cell.code == 0)
				cell.code = g.chars[0]; /* the table is full: the marks are lost */
			set_cell(c, r.row, r.col + at, g.width, &cell, style);
		}
		at += g.width;
	}
	return at;
}

int canvas_text(struct canvas *c, struct rect r, int at, enum theme_style style, const char *text)
{
	return draw_bytes(c, r, at, style, text, strlen(text));
}

int canvas_textf(struct canvas *c, struct rect r, int at, enum theme_style style, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n < 0 ? at : canvas_text(c, r, at, style, text);
}

int canvas_text_cut(struct canvas *c, struct rect r, int at, enum theme_style style, const char *text)
{
	if (at < 0 || at >= r.cols || canvas_text_width(text) <= r.cols - at)
		return canvas_text(c, r, at, style, text);
	r.cols--;
	at = canvas_text(c, r, at, style, text);
	r.cols++;
	return canvas_text(c, r, at, style, "…");
}

int canvas_text_right(struct canvas *c, struct rect r, int least, enum theme_style style, const char *text)
{
	int at = MAX(r.cols - canvas_text_width(text), least);
	canvas_text(c, r, at, style, text);
	return at;
}

int canvas_text_width(const char *text)
{
	struct glyph g;
	int width = 0;
	size_t len = strlen(text);
	for (size_t n; (n = next_glyph(text, len, &g)) > 0; text += n, len -= n)
		width += g.width;
	return width;
}

/* Bytes of `text` that fit into `cols` columns and end at a blank, or as many as fit when there is none. At least one
 * glyph, so that the caller always gets on. */
static size_t line_length(const char *text, size_t len, int cols)
{
	struct glyph g;
	size_t used = 0, blank = 0;
	int width = 0;
	for (size_t n; (n = next_glyph(text + used, len - used, &g)) > 0; used += n) {
		if (text[used] == '\n')
			return used;
		if (text[used] == ' ')
			blank = used;
		width += g.width;
		if (width > cols)
			return blank > 0 ? blank : MAX(used, n);
	}
	return used;
}

int canvas_wrap_rows(int cols, const char *text)
{
	size_t left = strlen(text);
	int rows = 0;
	while (left > 0 && cols > 0) {
		size_t n = line_length(text, left, cols);
		if (n < left && (text[n] == ' ' || text[n] == '\n'))
			n++;
		text += n;
		left -= n;
		rows++;
	}
	return rows;
}

int canvas_wrap(struct canvas *c, struct rect r, enum theme_style style, const char *text)
{
	size_t left = strlen(text);
	int row = 0;
	while (left > 0 && row < r.rows && r.cols > 0) {
		size_t n = line_length(text, left, r.cols);
		draw_bytes(c, rect_row(r, row++), 0, style, text, n);
		if (n < left && (text[n] == ' ' || text[n] == '\n'))
			n++;
		text += n;
		left -= n;
	}
	return row;
}

/* ---- areas ---- */

static struct rect clip(const struct canvas *c, struct rect r)
{
	int bottom = MIN(r.row + r.rows, c->rows), right = MIN(r.col + r.cols, c->cols);
	r.row = MAX(r.row, 0);
	r.col = MAX(r.col, 0);
	r.rows = MAX(bottom - r.row, 0);
	r.cols = MAX(right - r.col, 0);
	return r;
}

void canvas_fill(struct canvas *c, struct rect r, enum theme_style style, uint32_t code)
{
	r = clip(c, r);
	struct cell cell = {.code = code};
	for (int row = 0; row < r.rows; row++) {
		for (int col = 0; col < r.cols; col++)
			set_cell(c, r.row + row, r.col + col, 1, &cell, style);
	}
}

void canvas_restyle(struct canvas *c, struct rect r, enum theme_style style)
{
	r = clip(c, r);
	for (int row = 0; row < r.rows; row++) {
		for (int col = 0; col < r.cols; col++)
			cell_at(c, r.row + row, r.col + col)->style = (uint8_t)style;
	}
}

void canvas_put_cell(struct canvas *c, struct rect r, int row, int col, const struct cell *cell,
                     const struct clusters *from)
{
	if (row < 0 || col < 0 || row >= r.rows || col >= r.cols || cell->width == CELL_TAIL ||
	    !cell_at(c, r.row + row, r.col + col))
		return;
	struct cell copy = clusters_copy_cell(&c->clusters, from, cell);
	int width = cell->width == CELL_WIDE ? 2 : 1;
	if (width == 2 && (col + 1 >= r.cols || !cell_at(c, r.row + row, r.col + col + 1))) {
		copy.code = ' ';
		width = 1;
	}
	set_cell(c, r.row + row, r.col + col, width, &copy, STYLE_GUEST);
}

/* Only the ends can meet a wide character that is half overwritten; in between it is a copy. */
void canvas_put_row(struct canvas *c, struct rect r, int row, const struct cell *cells, int count,
                    const struct clusters *from)
{
	int skip = MAX(-r.col, 0);
	count = MIN(MIN(count, r.cols), c->cols - r.col);
	if (row < 0 || row >= r.rows || r.row + row < 0 || r.row + row >= c->rows || skip >= count)
		return;
	struct canvas_cell *to = cell_at(c, r.row + row, r.col + skip);
	make_room(c, r.row + row, r.col + skip);
	make_room(c, r.row + row, r.col + count - 1);
	for (int i = skip; i < count; i++, to++) {
		to->cell = cells[i];
		to->style = STYLE_GUEST;
		if (CELL_IS_CLUSTER(cells[i].code) || cells[i].link)
			to->cell = clusters_copy_cell(&c->clusters, from, &cells[i]);
		bool torn =
		    cells[i].width == CELL_WIDE ? i + 1 >= count : cells[i].width == CELL_TAIL && i == skip;
		if (torn) {
			to->cell.code = ' ';
			to->cell.width = CELL_NARROW;
		}
	}
}

void canvas_blit(struct canvas *c, struct rect r, const struct canvas *from, int top)
{
	r = clip(c, r);
	for (int row = 0; row < r.rows; row++) {
		for (int col = 0; col < r.cols; col++) {
			const struct canvas_cell *at = canvas_at(from, top + row, col);
			if (!at || at->cell.width == CELL_TAIL)
				continue;
			canvas_put_cell(c, r, row, col, &at->cell, &from->clusters);
			cell_at(c, r.row + row, r.col + col)->style = at->style;
		}
	}
}

/* ---- pictures ---- */

void canvas_dump_text(const struct canvas *c, struct str *out)
{
	for (int row = 0; row < c->rows; row++) {
		int blanks = 0; /* written only when something follows */
		for (int col = 0; col < c->cols; col++) {
			const struct canvas_cell *at = canvas_at(c, row, col);
			char text[CELL_UTF8_MAX];
			size_t n = clusters_cell_utf8(&c->clusters, &at->cell, text);
			if (n == 1 && text[0] == ' ') {
				blanks++;
				continue;
			}
			for (; blanks > 0 && n > 0; blanks--)
				str_append_char(out, ' ');
			str_append_bytes(out, text, n);
		}
		str_append_char(out, '\n');
	}
}

void canvas_dump_styles(const struct canvas *c, struct str *out)
{
	for (int row = 0; row < c->rows; row++) {
		int end = c->cols;
		while (end > 0 && canvas_at(c, row, end - 1)->style == STYLE_PLAIN)
			end--;
		for (int col = 0; col < end; col++)
			str_append_char(out, theme_style_letter(canvas_at(c, row, col)->style));
		str_append_char(out, '\n');
	}
}
