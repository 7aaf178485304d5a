#include "core/term/grid.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

static struct row *row_at(const struct grid *g, unsigned row)
{
	unsigned at = g->head + row;
	return g->rows[at >= g->count ? at - g->count : at];
}

void grid_init(struct grid *g, unsigned rows, unsigned cols, uint64_t *now)
{
	*g = (struct grid){.count = rows, .cols = cols, .now = now, .stamp = *now};
	g->rows = mem_array(rows, sizeof(*g->rows));
	for (unsigned i = 0; i < rows; i++)
		g->rows[i] = mem_alloc(sizeof(struct row));
}

static void row_free(struct row *row)
{
	free(row->cells);
	free(row);
}

void grid_finish(struct grid *g)
{
	for (unsigned i = 0; i < g->count; i++)
		row_free(g->rows[i]);
	free(g->rows);
	*g = (struct grid){0};
}

uint64_t grid_row_stamp(const struct grid *g, unsigned row)
{
	return MAX(row_at(g, row)->stamp, g->stamp);
}

static void cell_make_blank(struct cell *c)
{
	c->code = 0;
	c->width = CELL_NARROW;
}

/* Cuts the row before column `at`: a wide cell that lies across the cut becomes two blanks. */
static void row_split(struct row *r, unsigned at)
{
	if (at > 0 && at < r->used && r->cells[at].width == CELL_TAIL) {
		cell_make_blank(&r->cells[at - 1]);
		cell_make_blank(&r->cells[at]);
	}
}

/* Every change of a row starts here: stamps it, and drops what a narrower size had hidden. */
static struct row *row_touch(struct grid *g, unsigned row)
{
	struct row *r = row_at(g, row);
	r->stamp = *g->now;
	if (r->used > g->cols) {
		row_split(r, g->cols);
		r->used = (uint16_t)g->cols;
		r->flags &= ROW_PROMPT;
	}
	return r;
}

/* What follows this row, if there is one, is not (any more) what it was wrapped into. */
static inline void unwrap(struct grid *g, int row)
{
	if (row >= 0 && row_at(g, (unsigned)row)->flags & ROW_WRAPPED)
		grid_set_flag(g, row, ROW_WRAPPED, false);
}

void grid_set_flag(struct grid *g, int row, enum row_flag flag, bool on)
{
	if (row < 0 || (unsigned)row >= g->count)
		return;
	struct row *r = row_at(g, (unsigned)row);
	if (((r->flags & flag) != 0) == on)
		return;
	r->flags = (uint8_t)(r->flags ^ flag);
	r->stamp = *g->now;
}

/* Makes cells up to `end` exist; new ones are blank. */
static void row_extend(const struct grid *g, struct row *r, unsigned end)
{
	if (r->cap < end) {
		unsigned cap = MAX(g->cols, end);
		r->cells = mem_resize(r->cells, cap, sizeof(*r->cells));
		r->cap = (uint16_t)cap;
	}
	if (r->used >= end)
		return;
	if (COLOUR_IS_DEFAULT(r->fill)) {
		memset(r->cells + r->used, 0, (end - r->used) * sizeof(*r->cells));
	} else {
		const struct cell blank = {.bg = r->fill};
		for (unsigned i = r->used; i < end; i++)
			r->cells[i] = blank;
	}
	r->used = (uint16_t)end;
}

/* Makes cells of what was only a colour. */
static void row_settle(const struct grid *g, struct row *r)
{
	if (COLOUR_IS_DEFAULT(r->fill))
		return;
	row_extend(g, r, g->cols);
	r->fill = COLOUR_DEFAULT;
}

const struct row *grid_row(const struct grid *g, unsigned row)
{
	struct row *r = row_at(g, row);
	row_settle(g, r);
	return r;
}

static void push_row(struct scrollback *history, const struct grid *g, unsigned row,
                     const struct clusters *clusters)
{
	const struct row *r = row_at(g, row);
	const struct pack_line line = {
	    .cells = r->cells, .used = MIN(r->used, g->cols), .cols = g->cols, .fill = r->fill};
	scrollback_push(history, &line, r->flags, clusters);
}

static void write_cell(struct cell *c, const struct cell *glyph)
{
	*c = *glyph;
	if (glyph->width == CELL_WIDE) {
		c[1] = *glyph;
		c[1].code = 0;
		c[1].width = CELL_TAIL;
	}
}

void grid_put(struct grid *g, int row, int col, const struct cell *glyph)
{
	unsigned width = glyph->width == CELL_WIDE ? 2 : 1, at = (unsigned)col, end = at + width;
	if (row < 0 || col < 0 || (unsigned)row >= g->count || end > g->cols)
		return;
	struct row *r = row_touch(g, (unsigned)row);
	if (at == r->used && end <= r->cap) {
		/* Text that goes on: nothing is there yet. */
		r->used = (uint16_t)end;
		r->flags &= ROW_PROMPT;
		write_cell(&r->cells[at], glyph);
		return;
	}
	if (end >= r->used) {
		row_extend(g, r, end);
		r->flags &= ROW_PROMPT;
	}
	struct cell *c = &r->cells[at];
	if (c->width != CELL_NARROW || width == 2) {
		row_split(r, at);
		row_split(r, end);
	}
	write_cell(c, glyph);
}

void grid_put_run(struct grid *g, int row, int col, const struct cell *pen, const uint8_t *text, size_t n)
{
	unsigned at = (unsigned)col, end = at + (unsigned)n;
	if (row < 0 || col < 0 || (unsigned)row >= g->count || n > g->cols || end > g->cols)
		return;
	struct row *r = row_touch(g, (unsigned)row);
	if (end >= r->used) {
		row_extend(g, r, end);
		r->flags &= ROW_PROMPT;
	}
	row_split(r, at);
	row_split(r, end);
	struct cell glyph = *pen, *c = &r->cells[at];
	glyph.width = CELL_NARROW;
	for (size_t i = 0; i < n; i++) {
		glyph.code = text[i];
		c[i] = glyph;
	}
}

void grid_set_code(struct grid *g, int row, int col, uint32_t code)
{
	if (row < 0 || col < 0 || (unsigned)row >= g->count ||
	    (unsigned)col >= row_at(g, (unsigned)row)->used)
		return;
	row_touch(g, (unsigned)row)->cells[col].code = code;
}

static void row_erase(struct grid *g, struct row *r, unsigned left, unsigned right, uint32_t bg)
{
	row_split(r, left);
	row_split(r, right);
	if (right >= r->used)
		r->flags &= ROW_PROMPT;
	bool to_edge = right >= g->cols;
	if (to_edge && (left < r->used || bg != r->fill)) {
		row_extend(g, r, left);
		r->used = (uint16_t)left;
		r->fill = bg;
	} else if (bg == r->fill && right >= r->used) {
		r->used = (uint16_t)MIN(r->used, left);
	} else {
		row_extend(g, r, right);
		const struct cell blank = {.bg = bg};
		for (unsigned i = left; i < right; i++)
			r->cells[i] = blank;
	}
}

/* Cuts the rectangle to the grid; false when nothing is left. */
static bool clip(const struct grid *g, struct rect *r)
{
	r->top = MAX(r->top, 0);
	r->left = MAX(r->left, 0);
	r->bottom = MIN(r->bottom, (int)g->count);
	r->right = MIN(r->right, (int)g->cols);
	return r->top < r->bottom && r->left < r->right;
}

void grid_erase(struct grid *g, struct rect r, uint32_t bg)
{
	if (!clip(g, &r))
		return;
	bool whole = r.left == 0 && r.right == (int)g->cols;
	if (whole)
		unwrap(g, r.top - 1);
	for (int row = r.top; row < r.bottom; row++) {
		struct row *at = row_touch(g, (unsigned)row);
		row_erase(g, at, (unsigned)r.left, (unsigned)r.right, bg);
		if (whole)
			at->flags = 0;
	}
}

/* Turns the rows top..bottom of the ring by `n` towards the top. */
static void rotate_rows(struct grid *g, unsigned top, unsigned bottom, unsigned n)
{
	if (top == 0 && bottom == g->count) {
		g->head = (g->head + n) % g->count;
		g->stamp = *g->now;
		return;
	}
	struct row *moved[TERM_ROWS_MAX];
	unsigned height = bottom - top;
	for (unsigned i = 0; i < height; i++) {
		unsigned from = i + n;
		moved[i] = row_at(g, top + (from >= height ? from - height : from));
	}
	for (unsigned i = 0; i < height; i++) {
		unsigned at = g->head + top + i;
		g->rows[at >= g->count ? at - g->count : at] = moved[i];
		moved[i]->stamp = *g->now;
	}
}

static void scroll_rows(struct grid *g, struct rect r, int down, uint32_t bg, struct scrollback *history,
                        const struct clusters *clusters)
{
	unsigned top = (unsigned)r.top, bottom = (unsigned)r.bottom, height = bottom - top;
	unsigned n = MIN((unsigned)abs(down), height);
	if (down > 0 && history != NULL)
		for (unsigned i = 0; i < n; i++)
			push_row(history, g, top + i, clusters);
	if (n < height)
		rotate_rows(g, top, bottom, down > 0 ? n : height - n);
	/* Rows that no longer lie before what they were wrapped into. */
	unwrap(g, r.top - 1);
	if (n < height)
		unwrap(g, r.bottom - 1 - (down > 0 ? (int)n : 0));
	else if (down > 0 && history != NULL)
		scrollback_set_wrapped(history, false);
	struct rect freed = r;
	if (down > 0)
		freed.top = (int)(bottom - n);
	else
		freed.bottom = (int)(top + n);
	for (int row = freed.top; row < freed.bottom; row++) {
		struct row *at = row_at(g, (unsigned)row);
		at->used = 0;
		at->flags = 0;
		at->fill = bg;
		at->stamp = *g->now;
	}
}

/* Shifts columns left..right of one row by `by` to the left (negative: to the right). */
static void shift_row(struct grid *g, struct row *r, unsigned left, unsigned right, int by, uint32_t bg)
{
	unsigned width = right - left, n = MIN((unsigned)abs(by), width);
	row_split(r, left);
	row_split(r, right);
	if (right >= r->used)
		r->flags &= ROW_PROMPT;
	if (n < width && r->used > left) {
		row_extend(g, r, right);
		unsigned from = by > 0 ? left + n : left, to = by > 0 ? left : left + n;
		row_split(r, from);
		row_split(r, from + width - n);
		memmove(&r->cells[to], &r->cells[from], (width - n) * sizeof(struct cell));
		/* The moved part starts and ends with whole cells; what stays behind is erased now. */
		for (unsigned i = by > 0 ? right - n : left; i < (by > 0 ? right : left + n); i++)
			r->cells[i].width = CELL_NARROW;
	}
	if (by > 0)
		row_erase(g, r, right - n, right, bg);
	else
		row_erase(g, r, left, left + n, bg);
}

/* The general case of a rectangle that is narrower than the grid: cells are copied row by row. */
static void copy_rows(struct grid *g, struct rect r, int down, uint32_t bg)
{
	unsigned left = (unsigned)r.left, right = (unsigned)r.right;
	int height = r.bottom - r.top, n = MIN(abs(down), height);
	for (int i = 0; i < height; i++) {
		int to = down > 0 ? r.top + i : r.bottom - 1 - i;
		int from = down > 0 ? to + n : to - n;
		struct row *dst = row_touch(g, (unsigned)to);
		row_erase(g, dst, left, right, bg);
		if (i >= height - n)
			continue;
		struct row *src = row_touch(g, (unsigned)from);
		row_split(src, left);
		row_split(src, right);
		row_extend(g, src, right);
		row_extend(g, dst, right);
		memcpy(&dst->cells[left], &src->cells[left], (right - left) * sizeof(struct cell));
	}
}

void grid_scroll(struct grid *g, struct rect r, int down, int right, uint32_t bg, struct scrollback *history,
                 const struct clusters *clusters)
{
	if (!clip(g, &r))
		return;
	if (down != 0) {
		if (r.left == 0 && r.right == (int)g->cols)
			scroll_rows(g, r, down, bg, history, clusters);
		else
			copy_rows(g, r, down, bg);
	}
	if (right != 0)
		for (int row = r.top; row < r.bottom; row++)
			shift_row(g, row_touch(g, (unsigned)row), (unsigned)r.left, (unsigned)r.right, right,
			          bg);
}

/* Unrolls the ring into a fresh array of `rows` rows whose first one is row `skip` of the old grid. */
static void set_count(struct grid *g, unsigned rows, unsigned skip)
{
	struct row **fresh = mem_array(rows, sizeof(*fresh));
	for (unsigned i = 0; i < g->count; i++) {
		struct row *row = row_at(g, i);
		if (i >= skip && i - skip < rows)
			fresh[i - skip] = row;
		else
			row_free(row);
	}
	for (unsigned i = 0; i < rows; i++)
		if (fresh[i] == NULL)
			fresh[i] = mem_alloc(sizeof(struct row));
	free(g->rows);
	g->rows = fresh;
	g->head = 0;
	g->count = rows;
}

static void shrink_rows(struct grid *g, unsigned rows, int *cursor_row, struct scrollback *history,
                        const struct clusters *clusters)
{
	unsigned cursor = (unsigned)MAX(*cursor_row, 0);
	unsigned skip = cursor >= rows ? cursor - rows + 1 : 0;
	skip = MIN(skip, g->count - rows);
	for (unsigned i = 0; i < skip && history != NULL; i++)
		push_row(history, g, i, clusters);
	bool cut = g->count - skip > rows;
	set_count(g, rows, skip);
	if (cut)
		unwrap(g, (int)rows - 1);
	*cursor_row -= (int)skip;
}

static void grow_rows(struct grid *g, unsigned rows, int *cursor_row, struct scrollback *history,
                      struct clusters *clusters)
{
	unsigned added = rows - g->count, back = 0;
	set_count(g, rows, 0);
	bool found = history != NULL;
	while (back < added && found) {
		struct cell cells[TERM_COLS_MAX];
		unsigned flags;
		size_t used = scrollback_pop(history, cells, TERM_COLS_MAX, clusters, &flags, &found);
		if (!found)
			break;
		g->head = (g->head + g->count - 1) % g->count;
		struct row *top = row_at(g, 0);
		row_extend(g, top, (unsigned)used);
		if (used > 0)
			memcpy(top->cells, cells, used * sizeof(*cells));
		top->flags = (uint8_t)flags;
		back++;
	}
	*cursor_row += (int)back;
}

void grid_resize(struct grid *g, unsigned rows, unsigned cols, int *cursor_row, struct scrollback *history,
                 struct clusters *clusters)
{
	for (unsigned i = 0; i < g->count && cols != g->cols; i++)
		row_settle(g, row_at(g, i));
	if (rows < g->count)
		shrink_rows(g, rows, cursor_row, history, clusters);
	else if (rows > g->count)
		grow_rows(g, rows, cursor_row, history, clusters);
	g->cols = cols;
	g->stamp = *g->now;
}

void grid_recluster(struct grid *g, struct clusters *to, const struct clusters *from)
{
	for (unsigned i = 0; i < g->count; i++)
		for (unsigned col = 0; col < g->rows[i]->used; col++)
			g->rows[i]->cells[col] = clusters_copy_cell(to, from, &g->rows[i]->cells[col]);
}

size_t grid_memory(const struct grid *g)
{
	size_t total = g->count * (sizeof(struct row) + sizeof(struct row *));
	for (unsigned i = 0; i < g->count; i++)
		total += g->rows[i]->cap * sizeof(struct cell);
	return total;
}
