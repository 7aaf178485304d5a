#include "core/term/screen.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

static uint16_t clamp(unsigned v, unsigned low, unsigned high)
{
	return (uint16_t)MIN(MAX(v, low), high);
}

void screen_init(struct screen *s, unsigned rows, unsigned cols)
{
	*s = (struct screen){.rows = clamp(rows, TERM_ROWS_MIN, TERM_ROWS_MAX),
	                     .cols = clamp(cols, TERM_COLS_MIN, TERM_COLS_MAX)};
	s->cells = mem_array((size_t)s->rows * s->cols, sizeof(*s->cells));
	s->changed = mem_array(s->rows, sizeof(*s->changed));
	s->flags = mem_array(s->rows, sizeof(*s->flags));
	memset(s->changed, 1, s->rows);
	s->cursor.visible = true;
}

void screen_finish(struct screen *s)
{
	free(s->cells);
	free(s->changed);
	free(s->flags);
	clusters_finish(&s->clusters);
	*s = (struct screen){0};
}

void screen_resize(struct screen *s, unsigned rows, unsigned cols)
{
	uint16_t old_rows = s->rows, old_cols = s->cols;
	s->rows = clamp(rows, TERM_ROWS_MIN, TERM_ROWS_MAX);
	s->cols = clamp(cols, TERM_COLS_MIN, TERM_COLS_MAX);
	struct cell *old = s->cells;
	s->cells = mem_array((size_t)s->rows * s->cols, sizeof(*s->cells));
	size_t keep = MIN(old_cols, s->cols);
	for (unsigned row = 0; row < MIN(old_rows, s->rows); row++) {
		struct cell *to = &s->cells[(size_t)row * s->cols];
		memcpy(to, &old[(size_t)row * old_cols], keep * sizeof(*to));
		if (to[keep - 1].width == CELL_WIDE) {
			to[keep - 1].width = CELL_NARROW;
			to[keep - 1].code = 0;
		}
	}
	free(old);
	free(s->changed);
	s->changed = mem_array(s->rows, sizeof(*s->changed));
	s->flags = mem_resize(s->flags, s->rows, sizeof(*s->flags));
	for (unsigned row = old_rows; row < s->rows; row++)
		s->flags[row] = 0;
	memset(s->changed, 1, s->rows);
	s->cursor.row = (uint16_t)MIN(s->cursor.row, s->rows - 1);
	s->cursor.col = (uint16_t)MIN(s->cursor.col, s->cols - 1);
}

void screen_clear_changed(struct screen *s)
{
	memset(s->changed, 0, s->rows);
}

void screen_copy(struct screen *to, const struct screen *from)
{
	struct screen old = *to;
	*to = *from;
	to->cells = mem_copy(from->cells, (size_t)from->rows * from->cols * sizeof(*from->cells));
	to->changed = mem_copy(from->changed, from->rows * sizeof(*from->changed));
	to->flags = mem_copy(from->flags, from->rows * sizeof(*from->flags));
	to->clusters = (struct clusters){0};
	for (size_t i = 0; i < (size_t)to->rows * to->cols; i++)
		to->cells[i] = clusters_copy_cell(&to->clusters, &from->clusters, &from->cells[i]);
	screen_finish(&old);
}

const struct cell *screen_cell(const struct screen *s, unsigned row, unsigned col)
{
	return row < s->rows && col < s->cols ? &s->cells[(size_t)row * s->cols + col] : NULL;
}

void screen_row_text(const struct screen *s, unsigned row, struct str *out)
{
	if (row >= s->rows)
		return;
	const struct cell *cells = &s->cells[(size_t)row * s->cols];
	size_t used = s->cols;
	while (used > 0 && (cells[used - 1].code == 0 || cells[used - 1].code == ' ') &&
	       cells[used - 1].width == CELL_NARROW)
		used--;
	for (size_t i = 0; i < used; i++) {
		char text[CELL_UTF8_MAX];
		str_append_bytes(out, text, clusters_cell_utf8(&s->clusters, &cells[i], text));
	}
}

void screen_text(const struct screen *s, struct str *out)
{
	size_t end = out->len;
	for (unsigned row = 0; row < s->rows; row++) {
		size_t before = out->len;
		screen_row_text(s, row, out);
		if (out->len > before)
			end = out->len + 1;
		str_append_char(out, '\n');
	}
	/* Rows after the last one with text are only line feeds. */
	if (end < out->len && !out->overflow) {
		out->len = end;
		out->s[end] = '\0';
	}
}
