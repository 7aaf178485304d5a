#include "core/term/sgr.h"

struct attr_code {
	uint16_t code;
	uint16_t set, clear;
};

#define UNDERLINE_AS(kind) ((uint16_t)((kind) << CELL_UNDERLINE_SHIFT))

static const struct attr_code ATTRS[] = {
    {1, CELL_BOLD, 0},
    {2, CELL_DIM, 0},
    {3, CELL_ITALIC, 0},
    {5, CELL_BLINK, 0},
    {6, CELL_BLINK, 0},
    {7, CELL_REVERSE, 0},
    {8, CELL_CONCEAL, 0},
    {9, CELL_STRIKE, 0},
    {21, UNDERLINE_AS(UNDERLINE_DOUBLE), CELL_UNDERLINE_MASK},
    {22, 0, CELL_BOLD | CELL_DIM},
    {23, 0, CELL_ITALIC},
    {24, 0, CELL_UNDERLINE_MASK},
    {25, 0, CELL_BLINK},
    {27, 0, CELL_REVERSE},
    {28, 0, CELL_CONCEAL},
    {29, 0, CELL_STRIKE},
    {53, CELL_OVERLINE, 0},
    {55, 0, CELL_OVERLINE},
};

/* How many parameters after `i` hang on it by colons. */
static unsigned sub_count(const struct csi *seq, unsigned i)
{
	unsigned n = 0;
	while (i + n + 1 < seq->count && seq->sub[i + n + 1])
		n++;
	return n;
}

static bool byte_param(const struct csi *seq, unsigned i, int *out)
{
	*out = csi_param(seq, i, 0);
	return i < seq->count && *out <= 255;
}

/* RGB from three parameters at `i`. */
static bool rgb_params(const struct csi *seq, unsigned i, uint32_t *colour)
{
	int r, g, b;
	if (!byte_param(seq, i, &r) || !byte_param(seq, i + 1, &g) || !byte_param(seq, i + 2, &b))
		return false;
	*colour = COLOUR_RGB(r, g, b);
	return true;
}

/* 38, 48 and 58 at `i` in their three spellings: 38;5;n and 38;2;r;g;b, the same with colons, and 38:2:space:r:g:b
 * as ISO has it. Returns how many parameters after `i` belong to it. */
static unsigned extended_colour(const struct csi *seq, unsigned i, uint32_t *colour)
{
	unsigned subs = sub_count(seq, i);
	int kind = csi_param(seq, i + 1, -1), index;
	if (subs > 0) {
		if (kind == 5 && subs >= 2 && byte_param(seq, i + 2, &index))
			*colour = COLOUR_INDEXED(index);
		else if (kind == 2 && subs >= 4)
			(void)rgb_params(seq, i + (subs >= 5 ? 3 : 2), colour);
		return subs;
	}
	if (kind == 5) {
		if (byte_param(seq, i + 2, &index))
			*colour = COLOUR_INDEXED(index);
		return 2;
	}
	if (kind == 2) {
		(void)rgb_params(seq, i + 2, colour);
		return 4;
	}
	return 1;
}

static void apply_underline(struct cell *pen, const struct csi *seq, unsigned i)
{
	int kind = sub_count(seq, i) > 0 ? csi_param(seq, i + 1, 1) : UNDERLINE_SINGLE;
	if (kind > UNDERLINE_DASHED)
		kind = UNDERLINE_SINGLE;
	pen->attrs = (uint16_t)((pen->attrs & ~CELL_UNDERLINE_MASK) | UNDERLINE_AS((unsigned)kind));
}

static void apply_attr(struct cell *pen, int code)
{
	for (size_t i = 0; i < ARRAY_LEN(ATTRS); i++)
		if (ATTRS[i].code == code)
			pen->attrs = (uint16_t)((pen->attrs & ~ATTRS[i].clear) | ATTRS[i].set);
}

static void apply_simple(struct cell *pen, int code)
{
	if (code == 0) {
		pen->fg = pen->bg = pen->ul = COLOUR_DEFAULT;
		pen->attrs = 0;
	} else if (code >= 30 && code <= 37) {
		pen->fg = COLOUR_INDEXED(code - 30);
	} else if (code >= 40 && code <= 47) {
		pen->bg = COLOUR_INDEXED(code - 40);
	} else if (code >= 90 && code <= 97) {
		pen->fg = COLOUR_INDEXED(code - 90 + 8);
	} else if (code >= 100 && code <= 107) {
		pen->bg = COLOUR_INDEXED(code - 100 + 8);
	} else if (code == 39) {
		pen->fg = COLOUR_DEFAULT;
	} else if (code == 49) {
		pen->bg = COLOUR_DEFAULT;
	} else if (code == 59) {
		pen->ul = COLOUR_DEFAULT;
	} else {
		apply_attr(pen, code);
	}
}

void sgr_apply(struct cell *pen, const struct csi *seq)
{
	for (unsigned i = 0; i < seq->count; i++) {
		int code = csi_param(seq, i, 0);
		if (code == 38)
			i += extended_colour(seq, i, &pen->fg);
		else if (code == 48)
			i += extended_colour(seq, i, &pen->bg);
		else if (code == 58)
			i += extended_colour(seq, i, &pen->ul);
		else {
			if (code == 4)
				apply_underline(pen, seq, i);
			else
				apply_simple(pen, code);
			i += sub_count(seq, i);
		}
	}
}

/* ---- a style as bytes: a dense frame has a style for each of its cells, so this is written without formatting ---- */

#define SGR_MAX 96 /* the longest has all attributes and three RGB colours: 77 bytes */

static char *put_number(char *p, unsigned n) /* up to 999 */
{
	if (n >= 100)
		*p++ = (char)('0' + n / 100);
	if (n >= 10)
		*p++ = (char)('0' + n / 10 % 10);
	*p++ = (char)('0' + n % 10);
	return p;
}

static char *put_text(char *p, const char *text)
{
	while (*text)
		*p++ = *text++;
	return p;
}

static char *put_rgb(char *p, const char *before, uint32_t colour, char between)
{
	p = put_number(put_text(p, before), COLOUR_RED(colour));
	*p++ = between;
	p = put_number(p, COLOUR_GREEN(colour));
	*p++ = between;
	return put_number(p, COLOUR_BLUE(colour));
}

/* ";30", ";90", ";38;5;n" or ";38;2;r;g;b" */
static char *put_colour(char *p, uint32_t colour, bool background, unsigned colours, bool truecolor)
{
	unsigned base = background ? 40 : 30;
	if (COLOUR_IS_DEFAULT(colour) || (colours == 0 && !truecolor))
		return p;
	if (truecolor && COLOUR_IS_RGB(colour))
		return put_rgb(p, background ? ";48;2;" : ";38;2;", colour, ';');
	unsigned index = colour_nearest(colour, truecolor ? 256 : colours);
	if (index >= 16)
		return put_number(put_text(p, background ? ";48;5;" : ";38;5;"), index);
	*p++ = ';';
	return put_number(p, index < 8 ? base + index : base + 60 + index - 8);
}

static char *put_underline(char *p, const struct cell *style, unsigned colours, bool truecolor)
{
	unsigned kind = CELL_UNDERLINE(style->attrs);
	if (kind == UNDERLINE_NONE)
		return p;
	p = put_text(p, ";4");
	if (kind != UNDERLINE_SINGLE)
		p = put_number(put_text(p, ":"), kind);
	/* Only colons: a terminal that does not know 58 then skips it whole instead of blinking. */
	if (COLOUR_IS_RGB(style->ul) && truecolor)
		return put_rgb(p, ";58:2::", style->ul, ':');
	if (!COLOUR_IS_DEFAULT(style->ul) && colours >= 256)
		return put_number(put_text(p, ";58:5:"), colour_nearest(style->ul, 256));
	return p;
}

void sgr_put(struct buf *out, const struct cell *style, unsigned colours, bool truecolor)
{
	static const struct {
		uint16_t attr;
		const char *code;
	} ON[] = {{CELL_BOLD, ";1"},    {CELL_DIM, ";2"},     {CELL_ITALIC, ";3"}, {CELL_BLINK, ";5"},
	          {CELL_REVERSE, ";7"}, {CELL_CONCEAL, ";8"}, {CELL_STRIKE, ";9"}, {CELL_OVERLINE, ";53"}};
	char text[SGR_MAX], *p = put_text(text, "\x1b[0");
	for (size_t i = 0; style->attrs != 0 && i < ARRAY_LEN(ON); i++)
		if (style->attrs & ON[i].attr)
			p = put_text(p, ON[i].code);
	p = put_underline(p, style, colours, truecolor);
	p = put_colour(p, style->fg, false, colours, truecolor);
	p = put_colour(p, style->bg, true, colours, truecolor);
	*p++ = 'm';
	buf_put(out, text, (size_t)(p - text));
}
