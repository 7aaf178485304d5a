#include "tui/help_view.h"

#include <stdio.h>
#include <string.h>

#include "tui/box.h"

#define KEYS_COLS  20
#define BOX_COLS   72  /* inside */
#define WIDE_COLS  50  /* from here on keys and text stand side by side */
#define SHEET_ROWS 700 /* more than all lines need at any width */

struct sheet {
	struct canvas canvas;
	int row;
};

static void add_text(struct sheet *s, enum theme_style style, const char *text)
{
	struct rect r = {.row = s->row, .rows = s->canvas.rows - s->row, .cols = s->canvas.cols};
	s->row += MAX(canvas_wrap(&s->canvas, r, style, text), 1);
}

static void add_keys(struct sheet *s, const char *keys, const char *text)
{
	int indent = s->canvas.cols >= WIDE_COLS ? KEYS_COLS : 2;
	struct rect r = {.row = s->row, .rows = s->canvas.rows - s->row, .cols = s->canvas.cols};
	struct rect left = r;
	left.cols = indent == KEYS_COLS ? KEYS_COLS - 1 : r.cols;
	int rows = MAX(canvas_wrap(&s->canvas, left, STYLE_KEY, keys), 1);
	if (indent < KEYS_COLS)
		r.row += rows;
	r.col += indent;
	r.cols -= indent;
	int text_rows = MAX(canvas_wrap(&s->canvas, r, STYLE_PLAIN, text), 1);
	s->row = indent < KEYS_COLS ? r.row + text_rows : s->row + MAX(rows, text_rows);
}

/* The actions whose contexts, of those asked for, are exactly these: what works everywhere is told once. */
static void add_section(struct sheet *s, const struct keymap *k, const char *heading, unsigned asked,
                        unsigned contexts)
{
	add_text(s, STYLE_HEADING, heading);
	for (unsigned a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		struct action_info info = keymap_action((enum action)a);
		char keys[KEYMAP_KEYS_SIZE];
		if ((info.contexts & asked) != contexts)
			continue;
		keymap_keys_of(k, (enum action)a, contexts, keys);
		if (!keys[0])
			snprintf(keys, sizeof(keys), ":%s", info.name);
		add_keys(s, keys, info.help);
	}
	s->row++;
}

static const struct {
	enum key_context context;
	const char *heading;
} SECTIONS[] = {
    {KEYS_LIST, "In the list"},
    {KEYS_GRID, "In the grid"},
    {KEYS_FEED, "In the feed"},
    {KEYS_COPY, "In copy mode"},
    {KEYS_PROMPT, "While a line is typed"},
};

static const char *heading_of(enum key_context context)
{
	for (size_t i = 0; i < ARRAY_LEN(SECTIONS); i++) {
		if (SECTIONS[i].context == context)
			return SECTIONS[i].heading;
	}
	return "Here";
}

static void add_typing(struct sheet *s, const struct keymap *k)
{
	char twice[64], both[128];
	add_text(s, STYLE_HEADING, "While typing every key goes to the VM, also Esc, C-c and pastes; but");
	add_keys(s, k->leave_name, "leaves");
	snprintf(twice, sizeof(twice), "%s %s", k->leave_name, k->leave_name);
	snprintf(both, sizeof(both), "sends one %s to the VM and goes on typing", k->leave_name);
	add_keys(s, twice, both);
	s->row++;
}

/* What is here now comes first, then what else there is. */
static void compose(struct sheet *s, const struct keymap *k, enum key_context context)
{
	bool vms = context & KEYS_VMS;
	if (context == KEYS_GRID)
		add_section(s, k, heading_of(KEYS_GRID), KEYS_ALL, KEYS_GRID);
	if (vms) {
		add_section(s, k, "For the selected VM, or all marked ones", KEYS_ALL, KEYS_VMS);
		add_typing(s, k);
	} else if (context == KEYS_FEED) {
		add_section(s, k, heading_of(context), KEYS_ALL, KEYS_FEED);
	}
	if (context == KEYS_COPY)
		add_section(s, k, heading_of(context), KEYS_COPY, KEYS_COPY);
	add_section(s, k, "Everywhere", KEYS_ALL, KEYS_ALL);
	if (!vms) {
		add_section(s, k, "For the selected VM, or all marked ones", KEYS_ALL, KEYS_VMS);
		add_typing(s, k);
	}
	if (context != KEYS_GRID)
		add_section(s, k, heading_of(KEYS_GRID), KEYS_ALL, KEYS_GRID);
	if (context != KEYS_FEED)
		add_section(s, k, heading_of(KEYS_FEED), KEYS_ALL, KEYS_FEED);
	if (context != KEYS_COPY)
		add_section(s, k, heading_of(KEYS_COPY), KEYS_COPY, KEYS_COPY);
	add_section(s, k, heading_of(KEYS_PROMPT), KEYS_PROMPT, KEYS_PROMPT);
	add_text(s, STYLE_MUTED, "All of them can be changed in ccvm.ini, [keys].");
}

static void foot_of(const struct keymap *k, bool more, char *out, size_t size)
{
	char down[KEYMAP_KEYS_SIZE], up[KEYMAP_KEYS_SIZE];
	keymap_key_of(k, ACTION_DOWN, KEYS_LIST, down);
	keymap_key_of(k, ACTION_UP, KEYS_LIST, up);
	if (more && down[0] && up[0])
		snprintf(out, size, "%s %s scroll, any other key closes", down, up);
	else
		snprintf(out, size, "any key closes");
}

int help_view_draw(struct canvas *c, int top, const struct keymap *k, enum key_context context)
{
	struct sheet sheet = {.row = 0};
	char foot[64];
	bool framed = c->rows >= 3 && c->cols >= 10;
	int cols = MIN(BOX_COLS, framed ? c->cols - 4 : c->cols);
	canvas_init(&sheet.canvas, SHEET_ROWS, cols);
	compose(&sheet, k, context);
	foot_of(k, sheet.row + 2 > c->rows, foot, sizeof(foot));
	struct rect inner = box_draw(c, sheet.row, BOX_COLS, "Keys", foot);
	top = MAX(MIN(top, sheet.row - inner.rows), 0);
	canvas_blit(c, inner, &sheet.canvas, top);
	canvas_finish(&sheet.canvas);
	c->cursor_visible = false;
	return top;
}
