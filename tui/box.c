#include "tui/box.h"

#include <stdio.h>

static void draw_frame(struct canvas *c, struct rect r, const char *title, const char *foot)
{
	struct rect side = {.row = r.row, .col = r.col, .rows = r.rows, .cols = 1};
	struct rect top = rect_row(r, 0), bottom = rect_row(r, r.rows - 1);
	struct rect words = {.row = top.row, .col = r.col + 2, .rows = 1, .cols = r.cols - 4};
	canvas_fill(c, top, STYLE_BORDER, 0x2500);
	canvas_fill(c, bottom, STYLE_BORDER, 0x2500);
	canvas_fill(c, side, STYLE_BORDER, 0x2502);
	side.col += r.cols - 1;
	canvas_fill(c, side, STYLE_BORDER, 0x2502);
	canvas_text(c, top, 0, STYLE_BORDER, "┌");
	canvas_text(c, top, r.cols - 1, STYLE_BORDER, "┐");
	canvas_text(c, bottom, 0, STYLE_BORDER, "└");
	canvas_text(c, bottom, r.cols - 1, STYLE_BORDER, "┘");
	if (title)
		canvas_textf(c, words, 0, STYLE_TITLE, " %s ", title);
	words.row = bottom.row;
	if (foot && canvas_text_width(foot) + 2 <= words.cols)
		canvas_textf(c, words, 0, STYLE_MUTED, " %s ", foot);
}

struct rect box_draw(struct canvas *c, int rows, int cols, const char *title, const char *foot)
{
	bool framed = c->rows >= 3 && c->cols >= 10;
	struct rect box = {.rows = MIN(rows + 2 * framed, c->rows), .cols = MIN(cols + 4 * framed, c->cols)};
	box.row = (c->rows - box.rows) / 2;
	box.col = (c->cols - box.cols) / 2;
	canvas_fill(c, box, STYLE_PLAIN, ' ');
	if (!framed)
		return box;
	draw_frame(c, box, title, foot);
	return (struct rect){
	    .row = box.row + 1, .col = box.col + 2, .rows = box.rows - 2, .cols = box.cols - 4};
}
