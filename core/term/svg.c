/* Cells of a row that follow each other with the same style become one run: a rectangle when its background is not the
 * default one, and a <text> for what is between its first and last glyph. textLength fixes the width of a run, whatever font
 * the viewer has; a glyph whose width fonts disagree about, or that takes two columns, is a run of its own, so that it can
 * push nothing else. */
#include "core/term/svg.h"

#include <string.h>

#include "core/term/clusters.h"
#include "core/term/unicode.h"

#define CELL_W   9
#define CELL_H   18
#define BASELINE 14 /* below the top of a row */
#define PAD      8  /* around the screen */

struct run {
	unsigned row, col, cols;
	uint32_t fg, bg; /* 0xRRGGBB */
	bool has_bg;
	const struct cell *style;
};

static void put_escaped(struct str *out, const char *text, size_t len)
{
	static const char *const NAMES[] = {
	    ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};
	uint32_t cp;
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_decode((const uint8_t *)text + i, len - i, &cp);
		if (n == 0)
			return;
		if (cp < ARRAY_LEN(NAMES) && NAMES[cp])
			str_append(out, NAMES[cp]);
		else if (codepoint_is_base(cp) || codepoint_is_mark(cp))
			str_append_bytes(out, text + i, n);
	}
}

/* ---- styles ---- */

static uint32_t rgb_of(uint32_t colour, uint32_t otherwise)
{
	if (COLOUR_IS_INDEXED(colour))
		return colour_palette_rgb(COLOUR_INDEX(colour));
	return COLOUR_IS_RGB(colour) ? colour & 0xffffff : otherwise;
}

static struct run run_at(const struct screen *s, const struct svg_look *look, unsigned row, unsigned col)
{
	const struct cell *c = screen_cell(s, row, col);
	bool reverse = ((c->attrs & CELL_REVERSE) != 0) != ((s->modes & TERM_REVERSE_VIDEO) != 0);
	struct run r = {.row = row, .col = col, .style = c};
	uint32_t fg = rgb_of(c->fg, look->fg), bg = rgb_of(c->bg, look->bg);
	r.fg = reverse ? bg : fg;
	r.bg = reverse ? fg : bg;
	r.has_bg = reverse || !COLOUR_IS_DEFAULT(c->bg);
	return r;
}

static void put_decoration(struct str *out, unsigned attrs)
{
	static const char *const STYLES[] = {
	    [UNDERLINE_SINGLE] = "",        [UNDERLINE_DOUBLE] = " double", [UNDERLINE_CURLY] = " wavy",
	    [UNDERLINE_DOTTED] = " dotted", [UNDERLINE_DASHED] = " dashed",
	};
	unsigned underline = CELL_UNDERLINE(attrs);
	if (underline >= ARRAY_LEN(STYLES))
		underline = UNDERLINE_SINGLE;
	if (!underline && !(attrs & (CELL_STRIKE | CELL_OVERLINE)))
		return;
	str_appendf(out, " style=\"text-decoration:%s%s%s%s\"", underline ? "underline" : "",
	            attrs & CELL_STRIKE ? " line-through" : "", attrs & CELL_OVERLINE ? " overline" : "",
	            underline ? STYLES[underline] : "");
}

/* ---- runs ---- */

static size_t glyph_at(const struct screen *s, unsigned row, unsigned col, uint32_t chars[CLUSTER_MAX])
{
	const struct cell *c = screen_cell(s, row, col);
	size_t n = c->width == CELL_TAIL ? 0 : clusters_get(&s->clusters, c->code, chars);
	return n == 1 && chars[0] == ' ' ? 0 : n;
}

static bool stands_alone(const struct screen *s, unsigned row, unsigned col)
{
	uint32_t chars[CLUSTER_MAX];
	size_t n = glyph_at(s, row, col, chars);
	return screen_cell(s, row, col)->width == CELL_WIDE || n > 1 ||
	       (n == 1 && codepoint_is_width_unsure(chars[0]));
}

static unsigned run_end(const struct screen *s, const struct run *r)
{
	unsigned col = r->col + 1;
	if (stands_alone(s, r->row, r->col)) {
		while (col < s->cols && screen_cell(s, r->row, col)->width == CELL_TAIL)
			col++;
		return col;
	}
	while (col < s->cols && cell_same_style(screen_cell(s, r->row, col), r->style) &&
	       !stands_alone(s, r->row, col))
		col++;
	return col;
}

static void put_background(const struct run *r, struct str *out)
{
	if (r->has_bg)
		str_appendf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"#%06x\"/>\n",
		            PAD + r->col * CELL_W, PAD + r->row * CELL_H, r->cols * CELL_W, CELL_H, r->bg);
}

static void put_glyphs(const struct screen *s, unsigned row, unsigned first, unsigned end, struct str *out)
{
	for (unsigned col = first; col < end; col++) {
		char text[CELL_UTF8_MAX];
		size_t len = clusters_cell_utf8(&s->clusters, screen_cell(s, row, col), text);
		put_escaped(out, text, len);
	}
}

static void put_run_text(const struct screen *s, const struct run *r, struct str *out)
{
	uint32_t chars[CLUSTER_MAX];
	unsigned first = r->col, end = r->col + r->cols, attrs = r->style->attrs;
	bool shows_blanks = (attrs & (CELL_UNDERLINE_MASK | CELL_STRIKE | CELL_OVERLINE)) != 0;
	while (!shows_blanks && first < end && glyph_at(s, r->row, first, chars) == 0)
		first++;
	while (!shows_blanks && end > first && glyph_at(s, r->row, end - 1, chars) == 0 &&
	       screen_cell(s, r->row, end - 1)->width != CELL_TAIL)
		end--;
	if (first == end || (attrs & CELL_CONCEAL))
		return;
	str_appendf(out, "<text x=\"%u\" y=\"%u\" textLength=\"%u\" fill=\"#%06x\"", PAD + first * CELL_W,
	            PAD + r->row * CELL_H + BASELINE, (end - first) * CELL_W, r->fg);
	str_append(out, attrs & CELL_BOLD ? " font-weight=\"bold\"" : "");
	str_append(out, attrs & CELL_ITALIC ? " font-style=\"italic\"" : "");
	str_append(out, attrs & CELL_DIM ? " opacity=\"0.6\"" : "");
	put_decoration(out, attrs);
	str_append_char(out, '>');
	put_glyphs(s, r->row, first, end, out);
	str_append(out, "</text>\n");
}

/* All backgrounds before all text: a glyph may reach a little over its cell. */
static void put_runs(const struct screen *s, const struct svg_look *look, bool text, struct str *out)
{
	for (unsigned row = 0; row < s->rows; row++) {
		for (unsigned col = 0; col < s->cols;) {
			struct run r = run_at(s, look, row, col);
			r.cols = run_end(s, &r) - col;
			if (text)
				put_run_text(s, &r, out);
			else
				put_background(&r, out);
			col += r.cols;
		}
	}
}

static void put_cursor(const struct screen *s, const struct svg_look *look, struct str *out)
{
	const struct cell *c = screen_cell(s, s->cursor.row, s->cursor.col);
	if (!look->cursor || !s->cursor.visible || !c)
		return;
	unsigned width = c->width == CELL_WIDE ? 2 * CELL_W : CELL_W;
	str_appendf(out,
	            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"#%06x\" "
	            "fill-opacity=\"0.5\"/>\n",
	            PAD + (unsigned)s->cursor.col * CELL_W, PAD + (unsigned)s->cursor.row * CELL_H, width,
	            CELL_H, look->fg);
}

void svg_draw(const struct screen *s, const struct svg_look *look, struct str *out)
{
	unsigned width = 2 * PAD + (unsigned)s->cols * CELL_W, height = 2 * PAD + (unsigned)s->rows * CELL_H;
	str_appendf(out,
	            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" "
	            "height=\"%u\" font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" "
	            "font-size=\"15\" style=\"white-space:pre\" xml:space=\"preserve\">\n",
	            width, height, width, height);
	if (look->title && look->title[0]) {
		str_append(out, "<title>");
		put_escaped(out, look->title, strlen(look->title));
		str_append(out, "</title>\n");
	}
	str_appendf(out, "<rect width=\"%u\" height=\"%u\" rx=\"6\" fill=\"#%06x\"/>\n", width, height,
	            look->bg);
	put_runs(s, look, false, out);
	put_runs(s, look, true, out);
	put_cursor(s, look, out);
	str_append(out, "</svg>\n");
}
