#include "tui/help_view.h"

#include <stdio.h>
#include <string.h>

#include "tui/keymap.h"

#define KEYS_COLS  18
#define BOX_COLS   76
#define WIDE_COLS  50  /* from here on keys and text stand side by side */
#define SHEET_ROWS 200 /* more than all lines need at any width */
#define LINE_SIZE  192
#define LINES_MOST (2 * ACTION_COUNT + 16)

struct line {
	enum theme_style style;
	char keys[KEYMAP_KEYS_SIZE];
	char text[LINE_SIZE];
};

struct lines {
	struct line all[LINES_MOST];
	int count;
};

static struct line *add(struct lines *l, enum theme_style style, const char *keys, const char *text)
{
	CHECK((size_t)l->count < ARRAY_LEN(l->all));
	struct line *line = &l->all[l->count++];
	line->style = style;
	snprintf(line->keys, sizeof(line->keys), "%s", keys);
	snprintf(line->text, sizeof(line->text), "%s", text);
	return line;
}

/* The actions with exactly these contexts: those that work everywhere are told once. */
static void add_context(struct lines *l, const char *heading, unsigned contexts)
{
	add(l, STYLE_HEADING, "", heading);
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		char keys[KEYMAP_KEYS_SIZE], in_list[KEYMAP_KEYS_SIZE], in_feed[KEYMAP_KEYS_SIZE];
		enum action action = (enum action)a;
		keymap_keys_of(action, KEYS_LIST, in_list);
		keymap_keys_of(action, KEYS_FEED, in_feed);
		unsigned has = (in_list[0] ? KEYS_LIST : 0) | (in_feed[0] ? KEYS_FEED : 0);
		if (has != contexts)
			continue;
		keymap_keys_of(action, KEYS_ALL, keys);
		add(l, STYLE_PLAIN, keys, keymap_actions[action].help);
	}
	add(l, STYLE_PLAIN, "", "");
}

static void compose(struct lines *l, const char *detach)
{
	char twice[64], both[128];
	add_context(l, "Everywhere", KEYS_ALL);
	add_context(l, "In the list", KEYS_LIST);
	add_context(l, "In the denied feed", KEYS_FEED);
	add(l, STYLE_HEADING, "", "While typing every key goes to the VM, also Esc, C-c and pastes; but");
	add(l, STYLE_PLAIN, detach, "leaves");
	snprintf(twice, sizeof(twice), "%s %s", detach, detach);
	snprintf(both, sizeof(both), "sends one %s to the VM and goes on typing", detach);
	add(l, STYLE_PLAIN, twice, both);
}

static void draw_frame(struct canvas *c, struct rect r)
{
	struct rect side = {.row = r.row, .col = r.col, .rows = r.rows, .cols = 1};
	canvas_fill(c, r, STYLE_PLAIN, ' ');
	canvas_fill(c, rect_row(r, 0), STYLE_BORDER, 0x2500);
	canvas_fill(c, rect_row(r, r.rows - 1), STYLE_BORDER, 0x2500);
	canvas_fill(c, side, STYLE_BORDER, 0x2502);
	side.col += r.cols - 1;
	canvas_fill(c, side, STYLE_BORDER, 0x2502);
	canvas_text(c, rect_row(r, 0), 0, STYLE_BORDER, "┌");
	canvas_text(c, rect_row(r, 0), r.cols - 1, STYLE_BORDER, "┐");
	canvas_text(c, rect_row(r, r.rows - 1), 0, STYLE_BORDER, "└");
	canvas_text(c, rect_row(r, r.rows - 1), r.cols - 1, STYLE_BORDER, "┘");
	canvas_text(c, rect_row(r, 0), 2, STYLE_TITLE, " Keys ");
}

/* All lines on a sheet of their own as wide as the box inside: texts wrap, so nothing is cut on a narrow screen. Returns the
 * rows used. */
static int draw_sheet(struct canvas *sheet, const struct lines *lines)
{
	int row = 0, indent = sheet->cols >= WIDE_COLS ? KEYS_COLS : 2;
	for (int i = 0; i < lines->count; i++) {
		const struct line *line = &lines->all[i];
		struct rect r = {.row = row, .rows = sheet->rows - row, .cols = sheet->cols};
		if (!line->keys[0]) {
			row += MAX(canvas_wrap(sheet, r, line->style, line->text), 1);
			continue;
		}
		canvas_text_cut(sheet, r, 0, STYLE_KEY, line->keys);
		r.row += indent < KEYS_COLS;
		r.col += indent;
		r.cols -= indent;
		row = r.row + canvas_wrap(sheet, r, line->style, line->text);
	}
	return row;
}

int help_view_draw(struct canvas *c, int top, const char *detach)
{
	struct lines lines = {.count = 0};
	struct canvas sheet;
	compose(&lines, detach);
	bool framed = c->rows >= 3 && c->cols >= 10;
	int cols = MIN(BOX_COLS, c->cols), frame_rows = framed ? 2 : 0;
	canvas_init(&sheet, SHEET_ROWS, framed ? cols - 4 : cols);
	int count = draw_sheet(&sheet, &lines);
	int rows = MIN(count + frame_rows, c->rows);
	struct rect box = {
	    .row = (c->rows - rows) / 2, .col = (c->cols - cols) / 2, .rows = rows, .cols = cols};
	struct rect inner = box;
	if (framed) {
		draw_frame(c, box);
		inner =
		    (struct rect){.row = box.row + 1, .col = box.col + 2, .rows = rows - 2, .cols = cols - 4};
	}
	top = MAX(MIN(top, count - inner.rows), 0);
	canvas_blit(c, inner, &sheet, top);
	if (framed && cols >= 40)
		canvas_text(c, rect_row(box, rows - 1), 2, STYLE_MUTED,
		            inner.rows < count ? " j k scroll, any other key closes " : " any key closes ");
	canvas_finish(&sheet);
	return top;
}
