/* An update:
 *
 *     u8  version (2)
 *     u8  flags: FIRST part of an update, LAST part, has a TITLE
 *     u16 rows, u16 cols            size of the terminal
 *     u16 row, u16 col, u8 cursor   place; bit 0 visible, bit 1 blinking, from bit 4 the shape
 *     u32 modes, u32 bells, u32 lines of history, u64 number of the oldest
 *     u64 generation
 *     string title                  if TITLE
 *     rows to the end:  u16 row (rising), u8 flags, u16 length, that many bytes as in pack.h
 *
 * Rows that are not there did not change. In the first update for a watcher all are there. */
#include "core/term/snapshot.h"

#include <string.h>

#include "core/term/pack.h"
#include "core/term/unicode.h"

#define VERSION 2

enum { FLAG_FIRST = 1, FLAG_LAST = 2, FLAG_TITLE = 4, FLAG_ALL = 7 };
/* Nobody scrolls that far; numbers of lines can be added up without a thought. */
#define HISTORY_FIRST_MAX ((uint64_t)1 << 62)

enum { CURSOR_IS_VISIBLE = 1, CURSOR_IS_BLINKING = 2, CURSOR_SHAPE_SHIFT = 4 };

_Static_assert(PACK_ROW_MAX + 5 <= SNAPSHOT_ROW_MAX && PACK_ROW_MAX <= UINT16_MAX,
               "a row fits its length field");

bool snapshot_pending(const struct emulator *e, const struct snapshot_cursor *c)
{
	return c->next_row != 0 || c->generation != emulator_generation(e);
}

static void put_header(struct buf *out, const struct emulator *e, unsigned flags, uint64_t generation)
{
	struct term_cursor cursor = emulator_cursor(e);
	buf_put_u8(out, VERSION);
	buf_put_u8(out, (uint8_t)flags);
	buf_put_u16(out, (uint16_t)emulator_rows(e));
	buf_put_u16(out, (uint16_t)emulator_cols(e));
	buf_put_u16(out, cursor.row);
	buf_put_u16(out, cursor.col);
	buf_put_u8(out,
	           (uint8_t)((cursor.visible ? CURSOR_IS_VISIBLE : 0) |
	                     (cursor.blink ? CURSOR_IS_BLINKING : 0) | cursor.shape << CURSOR_SHAPE_SHIFT));
	buf_put_u32(out, emulator_modes(e));
	buf_put_u32(out, emulator_bells(e));
	buf_put_u32(out, emulator_history_count(e));
	buf_put_u64(out, emulator_history_first(e));
	buf_put_u64(out, generation);
	if (flags & FLAG_TITLE)
		buf_put_string(out, emulator_title(e));
}

static void put_row(struct buf *out, const struct emulator *e, unsigned row)
{
	unsigned used;
	const struct cell *cells = emulator_row(e, row, &used);
	buf_put_u16(out, (uint16_t)row);
	buf_put_u8(out, (uint8_t)emulator_row_flags(e, row));
	size_t at = out->len;
	buf_put_u16(out, 0);
	pack_row(out, cells, used, emulator_clusters(e));
	size_t len = out->len - at - 2;
	if (buf_ok(out)) {
		out->data[at] = (uint8_t)(len >> 8);
		out->data[at + 1] = (uint8_t)len;
	}
}

bool snapshot_encode(const struct emulator *e, struct snapshot_cursor *c, size_t max, struct buf *out)
{
	unsigned rows = emulator_rows(e), cols = emulator_cols(e), flags = 0, row;
	size_t start = out->len;
	CHECK(max >= SNAPSHOT_MIN);
	if (c->rows != rows || c->cols != cols)
		*c = (struct snapshot_cursor){.rows = (uint16_t)rows, .cols = (uint16_t)cols};
	if (c->next_row == 0) {
		c->pass = emulator_generation(e);
		flags |= FLAG_FIRST;
		if (c->generation == 0 || emulator_title_stamp(e) > c->generation)
			flags |= FLAG_TITLE;
	}
	put_header(out, e, flags, c->pass);
	for (row = c->next_row; row < rows && out->len - start + SNAPSHOT_ROW_MAX <= max; row++)
		if (emulator_row_stamp(e, row) > c->generation)
			put_row(out, e, row);
	CHECK(buf_ok(out));
	if (row < rows) {
		c->next_row = (uint16_t)row;
		return false;
	}
	out->data[start + 1] |= FLAG_LAST;
	c->generation = c->pass;
	c->next_row = 0;
	return true;
}

struct header {
	unsigned flags, rows, cols;
	struct term_cursor cursor;
	uint32_t modes, bells, history;
	uint64_t history_first, generation;
	char title[TERM_TITLE_MAX + 1];
};

static bool title_is_clean(const char *title)
{
	size_t len = strlen(title);
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		size_t n = utf8_decode((const uint8_t *)title + i, len - i, &cp);
		if (n == 0 || (n == 1 && (title[i] & 0x80)) ||
		    (!codepoint_is_base(cp) && !codepoint_is_mark(cp)))
			return false;
		i += n;
	}
	return true;
}

static bool get_header(struct reader *r, struct header *h)
{
	uint8_t version = reader_u8(r);
	h->flags = reader_u8(r);
	h->rows = reader_u16(r);
	h->cols = reader_u16(r);
	h->cursor.row = reader_u16(r);
	h->cursor.col = reader_u16(r);
	uint8_t cursor = reader_u8(r);
	h->cursor.visible = (cursor & CURSOR_IS_VISIBLE) != 0;
	h->cursor.blink = (cursor & CURSOR_IS_BLINKING) != 0;
	h->cursor.shape = cursor >> CURSOR_SHAPE_SHIFT;
	h->modes = reader_u32(r);
	h->bells = reader_u32(r);
	h->history = reader_u32(r);
	h->history_first = reader_u64(r);
	h->generation = reader_u64(r);
	h->title[0] = '\0';
	if (h->flags & FLAG_TITLE)
		reader_string(r, h->title, sizeof(h->title));
	return !r->bad && version == VERSION && (h->flags & ~(unsigned)FLAG_ALL) == 0 &&
	       (cursor & 0x0c) == 0 && h->cursor.shape <= CURSOR_BAR && h->rows >= TERM_ROWS_MIN &&
	       h->rows <= TERM_ROWS_MAX && h->cols >= TERM_COLS_MIN && h->cols <= TERM_COLS_MAX &&
	       h->cursor.row < h->rows && h->cursor.col < h->cols &&
	       (h->modes & ~(unsigned)TERM_MODE_ALL) == 0 && h->generation > 0 &&
	       h->history_first <= HISTORY_FIRST_MAX && title_is_clean(h->title);
}

static void sweep(struct screen *s)
{
	struct clusters fresh = {0};
	for (size_t i = 0; i < (size_t)s->rows * s->cols; i++)
		s->cells[i] = clusters_copy_cell(&fresh, &s->clusters, &s->cells[i]);
	clusters_finish(&s->clusters);
	s->clusters = fresh;
}

static bool get_row(struct reader *r, struct screen *s, int *last)
{
	struct cell cells[TERM_COLS_MAX];
	size_t used, size = s->cols * sizeof(*cells);
	unsigned row = reader_u16(r), flags = reader_u8(r);
	struct bytes packed = reader_take(r, reader_u16(r));
	if (r->bad || row >= s->rows || (int)row <= *last || (flags & ~(unsigned)ROW_FLAG_ALL) != 0)
		return false;
	*last = (int)row;
	memset(cells, 0, size);
	if (!unpack_row(packed, cells, s->cols, &s->clusters, &used))
		return false;
	s->flags[row] = (uint8_t)flags;
	struct cell *to = &s->cells[(size_t)row * s->cols];
	if (memcmp(to, cells, size) != 0) {
		memcpy(to, cells, size);
		s->changed[row] = true;
	}
	return true;
}

bool snapshot_apply(struct screen *s, struct bytes update, struct err *e)
{
	struct reader r;
	struct header h;
	reader_init(&r, update.p, update.len);
	if (!get_header(&r, &h))
		return err_set(e, ERR_PROTOCOL, "screen update: bad header");
	bool same_size = h.rows == s->rows && h.cols == s->cols;
	if (!same_size && (h.flags & FLAG_FIRST) == 0)
		return err_set(e, ERR_PROTOCOL, "screen update: the size changed half way");
	if (!same_size)
		screen_resize(s, h.rows, h.cols);
	/* Once an update at most: it looks at every cell. */
	if (clusters_are_crowded(&s->clusters))
		sweep(s);
	int last = -1;
	while (r.left > 0)
		if (!get_row(&r, s, &last))
			return err_set(e, ERR_PROTOCOL, "screen update: bad row after row %d", last);
	s->cursor = h.cursor;
	s->modes = h.modes;
	s->bells = h.bells;
	s->history = h.history;
	s->history_first = h.history_first;
	s->generation = h.generation;
	s->whole = (h.flags & FLAG_LAST) != 0;
	if (h.flags & FLAG_TITLE)
		memcpy(s->title, h.title, sizeof(s->title));
	return true;
}
