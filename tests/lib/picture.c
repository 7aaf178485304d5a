#include "tests/lib/picture.h"

#include <string.h>

#define PICTURE_MAX (1u << 20)

static void add_box(struct str *out, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");
		str_appendf(out, "|%.*s\n", (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

static void add_legend(struct str *out, const struct canvas *c)
{
	bool used[STYLE_COUNT] = {false};
	for (int i = 0; i < c->rows * c->cols; i++)
		used[c->cells[i].style] = true;
	for (int i = STYLE_PLAIN + 1; i < STYLE_COUNT; i++) {
		if (used[i])
			str_appendf(out, "%c %s\n", theme_style_letter((enum theme_style)i),
			            theme_style_name((enum theme_style)i));
	}
}

char *picture_of(const char *title, const struct canvas *c)
{
	struct str out = STR_INIT(PICTURE_MAX), text = STR_INIT(PICTURE_MAX), styles = STR_INIT(PICTURE_MAX);
	canvas_dump_text(c, &text);
	canvas_dump_styles(c, &styles);
	str_appendf(&out, "%s\n%dx%d", title, c->cols, c->rows);
	if (c->cursor_visible)
		str_appendf(&out, ", cursor at row %d, column %d", c->cursor_row, c->cursor_col);
	str_append(&out, "\n");
	add_box(&out, text.s);
	str_append(&out, "styles\n");
	add_box(&out, styles.s);
	add_legend(&out, c);
	str_finish(&text);
	str_finish(&styles);
	CHECK(!out.overflow);
	return str_detach(&out);
}
