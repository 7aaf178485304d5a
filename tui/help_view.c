#include "tui/help_view.h"

#include <stdio.h>
#include <string.h>

#include "tui/keymap.h"

#define KEYS_COLS  18
#define BOX_COLS   76
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

int help_view_draw(struct canvas *c, int top, const char *detach)
{
	struct lines lines = {.count = 0};
	compose(&lines, detach);
	int cols = MIN(BOX_COLS, c->cols), rows = MIN(lines.count + 2, c->rows);
	struct rect box = {
	    .row = (c->rows - rows) / 2, .col = (c->cols - cols) / 2, .rows = rows, .cols = cols};
	struct rect inner = box;
	if (rows >= 3 && cols >= 10) {
		draw_frame(c, box);
		inner =
		    (struct rect){.row = box.row + 1, .col = box.col + 2, .rows = rows - 2, .cols = cols - 4};
	} else {
		canvas_fill(c, box, STYLE_PLAIN, ' ');
	}
	top = MAX(MIN(top, lines.count - inner.rows), 0);
	for (int row = 0; row < inner.rows && top + row < lines.count; row++) {
		const struct line *line = &lines.all[top + row];
		int at = canvas_text(c, rect_row(inner, row), 0, STYLE_KEY, line->keys);
		if (line->keys[0])
			at = MAX(at + 2, inner.cols >= 40 ? KEYS_COLS : 0);
		canvas_text(c, rect_row(inner, row), at, line->style, line->text);
	}
	if (rows >= 3 && cols >= 40) {
		const char *text =
		    inner.rows < lines.count ? " j k scroll, any other key closes " : " any key closes ";
		canvas_text(c, rect_row(box, rows - 1), 2, STYLE_MUTED, text);
	}
	return top;
}
