#include "core/term/pack.h"

#include <string.h>

#include "core/term/unicode.h"

enum op {
	OP_CHAR = 1,
	OP_ATTRS = 4,
	OP_TEXT,
	OP_WIDE,
	OP_BLANK,
	OP_REPEAT,
	OP_CLUSTER,
	OP_LINK,
	OP_COLOUR = 16 /* nine of them */
};

#define REPEAT_LEAST 6 /* shorter repeats are cheaper as text */

enum target { TARGET_FG, TARGET_BG, TARGET_UL, TARGETS };
enum kind { KIND_DEFAULT, KIND_INDEXED, KIND_RGB, KINDS }; /* the top byte of a colour */
static_assert(COLOUR_INDEXED(0) >> 24 == KIND_INDEXED && COLOUR_RGB(0, 0, 0) >> 24 == KIND_RGB,
              "as in cells.h");

static void put_colour(struct buf *out, enum target target, uint32_t colour)
{
	unsigned kind = colour >> 24;
	buf_put_u8(out, (uint8_t)(OP_COLOUR + KINDS * target + kind));
	if (kind == KIND_INDEXED)
		buf_put_u8(out, COLOUR_INDEX(colour));
	else if (kind == KIND_RGB)
		buf_put(out, (const uint8_t[]){COLOUR_RED(colour), COLOUR_GREEN(colour), COLOUR_BLUE(colour)},
		        3);
}

static void put_style(struct buf *out, struct cell *style, const struct cell *c)
{
	if (c->fg != style->fg)
		put_colour(out, TARGET_FG, c->fg);
	if (c->bg != style->bg)
		put_colour(out, TARGET_BG, c->bg);
	if (c->ul != style->ul)
		put_colour(out, TARGET_UL, c->ul);
	if (c->attrs != style->attrs) {
		buf_put_u8(out, OP_ATTRS);
		buf_put_u16(out, c->attrs);
	}
	unsigned link = style->link;
	*style = *c;
	style->link = link & CELL_LINK_MASK;
}

/* `room`: what links of this row may still cost. The end of one is always affordable. */
static void put_link(struct buf *out, struct cell *style, const struct cell *c, const struct links *links,
                     size_t *room)
{
	const size_t end_cost = 7;
	const struct link *l = links_get(links, c->link);
	if (l != NULL && l->len + 2 * end_cost > *room)
		l = NULL;
	if (l == NULL && style->link == 0)
		return;
	buf_put_u8(out, OP_LINK);
	buf_put_u32(out, l != NULL ? l->id : 0);
	buf_put_u16(out, (uint16_t)(l != NULL ? l->len : 0));
	if (l != NULL)
		buf_put(out, l->uri, l->len);
	*room -= end_cost + (l != NULL ? l->len : 0);
	style->link = l != NULL ? c->link : 0;
}

/* Length of the run of cells from `c` that one operation can hold: same style, same link, same kind. */
static size_t run_length(const struct cell *c, size_t left)
{
	size_t n = 1, step = c->width == CELL_WIDE ? 2 : 1;
	bool blank = c->code == 0;
	for (n = step; n < left; n += step)
		if (c[n].width != c->width || (c[n].code == 0) != blank || CELL_IS_CLUSTER(c[n].code) ||
		    !cell_same_style(c, &c[n]) || c[n].link != c->link ||
		    (step == 2 && c[n + 1].width != CELL_TAIL))
			break;
	return n;
}

static size_t repeat_length(const struct cell *c, size_t run)
{
	size_t n = 1;
	while (n < run && c[n].code == c->code)
		n++;
	return n;
}

/* Written in place: most of what a terminal says comes through here. */
static void put_text(struct buf *out, enum op op, const struct cell *c, size_t run, size_t step)
{
	const size_t head = 3;
	uint8_t *start = buf_reserve(out, head + run * 4);
	if (start == NULL)
		return;
	uint8_t *text = start + head;
	for (size_t i = 0; i < run; i += step) {
		if (c[i].code < 0x80)
			*text++ = (uint8_t)c[i].code;
		else
			text += utf8_encode(c[i].code, (char *)text);
	}
	size_t len = (size_t)(text - start) - head;
	start[0] = (uint8_t)op;
	start[1] = (uint8_t)(len >> 8);
	start[2] = (uint8_t)len;
	buf_commit(out, head + len);
}

/* Text up to the next long repeat. */
static size_t literal_length(const struct cell *c, size_t run)
{
	size_t n = 0;
	while (n < run) {
		size_t same = repeat_length(c + n, run - n);
		if (same >= REPEAT_LEAST)
			break;
		n += same;
	}
	return n;
}

static void put_cluster(struct buf *out, const struct cell *c, const struct clusters *clusters)
{
	uint32_t chars[CLUSTER_MAX];
	char text[CELL_UTF8_MAX];
	size_t n = clusters_get(clusters, c->code, chars), len = 0;
	for (size_t i = 0; i < n; i++)
		len += utf8_encode(chars[i], text + len);
	buf_put_u8(out, OP_CLUSTER);
	buf_put_u8(out, (uint8_t)(n | (c->width == CELL_WIDE ? 0x80 : 0)));
	buf_put(out, text, len);
}

static void put_count(struct buf *out, enum op op, size_t count)
{
	buf_put_u8(out, (uint8_t)op);
	buf_put_u16(out, (uint16_t)count);
}

/* Packs one run and returns how many cells it took. */
static size_t put_run(struct buf *out, const struct cell *c, size_t left, const struct clusters *clusters)
{
	bool wide = c->width == CELL_WIDE;
	if (CELL_IS_CLUSTER(c->code)) {
		put_cluster(out, c, clusters);
		return wide ? 2 : 1;
	}
	size_t run = run_length(c, left);
	if (wide) {
		put_text(out, OP_WIDE, c, run, 2);
		return run;
	}
	if (c->code == 0) {
		put_count(out, OP_BLANK, run);
		return run;
	}
	size_t same = repeat_length(c, run);
	if (same >= REPEAT_LEAST) {
		char text[4];
		put_count(out, OP_REPEAT, same);
		buf_put(out, text, utf8_encode(c->code, text));
		return same;
	}
	run = literal_length(c, run);
	if (run == 1) {
		char text[4];
		size_t len = utf8_encode(c->code, text);
		buf_put_u8(out, OP_CHAR);
		buf_put(out, text, len);
		return run;
	}
	put_text(out, OP_TEXT, c, run, 1);
	return run;
}

/* A wide cell needs its tail and a tail its wide cell; the halves of a torn pair are shown as blanks. */
static bool cell_is_torn(const struct cell *cells, size_t i, size_t used)
{
	if (cells[i].width == CELL_WIDE)
		return i + 1 >= used || cells[i + 1].width != CELL_TAIL;
	return cells[i].width == CELL_TAIL;
}

void pack_line(struct buf *out, const struct pack_line *line, const struct clusters *clusters)
{
	const struct cell *cells = line->cells;
	const bool filled = !COLOUR_IS_DEFAULT(line->fill) && line->cols > line->used;
	size_t used = line->used;
	struct cell style = {0};
	size_t link_room = PACK_LINKS_MAX;
	while (!filled && used > 0 && cells[used - 1].code == 0 && cell_is_blank(&cells[used - 1]))
		used--;
	for (size_t i = 0; i < used;) {
		put_style(out, &style, &cells[i]);
		if (cells[i].link != style.link)
			put_link(out, &style, &cells[i], &clusters->links, &link_room);
		if (cell_is_torn(cells, i, used)) {
			put_count(out, OP_BLANK, 1);
			i++;
			continue;
		}
		/* A run of wide cells ends where a pair is torn: only the last one can be. */
		size_t left = used - i;
		if (cells[i].width == CELL_WIDE)
			left -= left % 2;
		i += put_run(out, &cells[i], left, clusters);
	}
	if (filled) {
		const struct cell blank = {.bg = line->fill};
		put_style(out, &style, &blank);
		if (style.link != 0)
			put_link(out, &style, &blank, &clusters->links, &link_room);
		put_count(out, OP_BLANK, line->cols - used);
	}
}

void pack_row(struct buf *out, const struct cell *cells, size_t used, const struct clusters *clusters)
{
	pack_line(out, &(struct pack_line){.cells = cells, .used = used, .cols = used}, clusters);
}

struct unpacker {
	struct reader in;
	struct cell *out;
	size_t most, used;
	struct clusters *clusters;
	struct cell style;
};

static bool take_cell(struct unpacker *u, uint32_t code, bool wide)
{
	size_t columns = wide ? 2 : 1;
	if (u->most - u->used < columns)
		return false;
	struct cell *c = &u->out[u->used];
	*c = u->style;
	c->code = code;
	if (wide) {
		c->width = CELL_WIDE;
		c[1] = u->style;
		c[1].width = CELL_TAIL;
	}
	u->used += columns;
	return true;
}

/* One valid code point, or false. */
static bool take_codepoint(struct reader *r, uint32_t *cp)
{
	if (r->bad || r->left == 0)
		return false;
	size_t n = utf8_decode(r->p, r->left, cp);
	if (n == 0 || (n == 1 && r->p[0] >= 0x80))
		return false;
	reader_take(r, n);
	return true;
}

static bool take_char(struct unpacker *u)
{
	uint32_t cp;
	return take_codepoint(&u->in, &cp) && codepoint_is_base(cp) && take_cell(u, cp, false);
}

static bool take_text(struct unpacker *u, bool wide)
{
	struct reader text;
	struct bytes b = reader_take(&u->in, reader_u16(&u->in));
	reader_init(&text, b.p, b.len);
	if (u->in.bad || b.len == 0)
		return false;
	while (text.left > 0) {
		uint32_t cp;
		if (!take_codepoint(&text, &cp) || !codepoint_is_base(cp) || !take_cell(u, cp, wide))
			return false;
	}
	return true;
}

static bool take_repeat(struct unpacker *u, bool blank)
{
	uint32_t cp = 0;
	size_t n = reader_u16(&u->in);
	if (u->in.bad || n == 0 || n > u->most - u->used)
		return false;
	if (!blank && (!take_codepoint(&u->in, &cp) || !codepoint_is_base(cp)))
		return false;
	while (n-- > 0)
		take_cell(u, cp, false);
	return true;
}

static bool take_cluster(struct unpacker *u)
{
	uint8_t head = reader_u8(&u->in);
	size_t n = head & 0x7f;
	uint32_t chars[CLUSTER_MAX];
	if (u->in.bad || n < 2 || n > CLUSTER_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!take_codepoint(&u->in, &chars[i]) ||
		    !(i == 0 ? codepoint_is_base(chars[i]) : codepoint_is_mark(chars[i])))
			return false;
	uint32_t code = clusters_intern(u->clusters, chars, n);
	return take_cell(u, code != 0 ? code : chars[0], (head & 0x80) != 0);
}

static bool take_attrs(struct unpacker *u)
{
	u->style.attrs = reader_u16(&u->in);
	return (u->style.attrs & ~CELL_ATTR_ALL) == 0 && CELL_UNDERLINE(u->style.attrs) <= UNDERLINE_DASHED;
}

static bool take_colour(struct unpacker *u, uint8_t op)
{
	uint32_t colour = COLOUR_DEFAULT;
	if (op < OP_COLOUR || op >= OP_COLOUR + KINDS * TARGETS)
		return false;
	int target = (op - OP_COLOUR) / KINDS, kind = (op - OP_COLOUR) % KINDS;
	if (kind == KIND_INDEXED) {
		colour = COLOUR_INDEXED(reader_u8(&u->in));
	} else if (kind == KIND_RGB) {
		uint8_t red = reader_u8(&u->in);
		colour = COLOUR_RGB(red, 0, 0) | reader_u16(&u->in);
	}
	*(target == TARGET_FG ? &u->style.fg : target == TARGET_BG ? &u->style.bg : &u->style.ul) = colour;
	return !u->in.bad;
}

static bool take_link(struct unpacker *u)
{
	uint32_t id = reader_u32(&u->in);
	struct bytes uri = reader_take(&u->in, reader_u16(&u->in));
	u->style.link = 0;
	if (u->in.bad)
		return false;
	if (uri.len == 0)
		return id == 0;
	if (!link_is_valid((const char *)uri.p, uri.len))
		return false;
	u->style.link = links_intern(&u->clusters->links, id, (const char *)uri.p, uri.len) & CELL_LINK_MASK;
	return true;
}

bool unpack_row(struct bytes packed, struct cell *out, size_t most, struct clusters *clusters, size_t *used)
{
	struct unpacker u = {.out = out, .most = most, .clusters = clusters};
	reader_init(&u.in, packed.p, packed.len);
	while (u.in.left > 0 && !u.in.bad) {
		uint8_t op = reader_u8(&u.in);
		bool ok;
		switch (op) {
		case OP_ATTRS: ok = take_attrs(&u); break;
		case OP_CHAR: ok = take_char(&u); break;
		case OP_TEXT: ok = take_text(&u, false); break;
		case OP_WIDE: ok = take_text(&u, true); break;
		case OP_BLANK: ok = take_repeat(&u, true); break;
		case OP_REPEAT: ok = take_repeat(&u, false); break;
		case OP_CLUSTER: ok = take_cluster(&u); break;
		case OP_LINK: ok = take_link(&u); break;
		default: ok = take_colour(&u, op); break;
		}
		if (!ok)
			return false;
	}
	*used = u.used;
	return reader_end(&u.in);
}
