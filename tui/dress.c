#include "tui/dress.h"

#include "core/term/cells.h"

/* A cell of a guest has its own colours; where it has none, those of the theme. Nothing blinks on this screen. */
static void dress_guest(const struct theme *theme, struct cell *c)
{
	struct theme_look look = theme_look(theme, STYLE_GUEST, THEME_ALL_COLOURS);
	if (COLOUR_IS_DEFAULT(c->fg))
		c->fg = look.fg;
	if (COLOUR_IS_DEFAULT(c->bg))
		c->bg = look.bg;
	c->attrs &= (uint16_t)~CELL_BLINK;
}

static void dress(const struct theme *theme, enum theme_style style, unsigned colours, struct cell *c)
{
	if (style == STYLE_GUEST) {
		dress_guest(theme, c);
		return;
	}
	struct theme_look look = theme_look(theme, style, colours);
	c->fg = look.fg;
	c->bg = look.bg;
	c->ul = COLOUR_DEFAULT;
	c->attrs = look.attrs;
}

void dress_canvas(struct screen *to, const struct canvas *c, const struct theme *theme, unsigned colours)
{
	int rows = MIN(c->rows, TERM_ROWS_MAX), cols = MIN(c->cols, TERM_COLS_MAX);
	if (to->rows != rows || to->cols != cols)
		screen_resize(to, (unsigned)rows, (unsigned)cols);
	clusters_clear(&to->clusters);
	for (int row = 0; row < rows; row++) {
		const struct canvas_cell *from = canvas_at(c, row, 0);
		struct cell *cell = &to->cells[(size_t)row * to->cols];
		for (int col = 0; col < cols; col++, from++, cell++) {
			*cell = from->cell;
			if (CELL_IS_CLUSTER(cell->code) || cell->link != 0)
				*cell = clusters_copy_cell(&to->clusters, &c->clusters, &from->cell);
			dress(theme, (enum theme_style)from->style, colours, cell);
		}
	}
	to->cursor = (struct term_cursor){.row = (uint16_t)MIN(c->cursor_row, to->rows - 1),
	                                  .col = (uint16_t)MIN(c->cursor_col, to->cols - 1),
	                                  .visible = c->cursor_visible,
	                                  .shape = c->cursor_shape};
}
