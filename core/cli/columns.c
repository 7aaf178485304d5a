#include "core/cli/columns.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

void columns_init(struct columns *t, const char *const *heads)
{
	*t = (struct columns){.heads = heads};
	while (heads[t->count])
		t->count++;
	CHECK(t->count > 0 && t->count <= COLUMNS_MOST);
}

void columns_finish(struct columns *t)
{
	for (size_t i = 0; i < t->cell_count; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct columns){0};
}

void columns_add(struct columns *t, const char *text)
{
	t->cells = mem_resize(t->cells, t->cell_count + 1, sizeof(*t->cells));
	t->cells[t->cell_count++] = mem_strdup(text ? text : "");
}

void columns_addf(struct columns *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	columns_add(t, text);
}

static size_t width_of(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80; /* not the inside of a UTF-8 sequence */
	return n;
}

static bool is_right(const struct columns *t, size_t column)
{
	return t->heads[column][0] == '>';
}

static const char *head_of(const struct columns *t, size_t column)
{
	return t->heads[column] + is_right(t, column);
}

static void pad(struct str *out, size_t n)
{
	while (n--)
		str_append_char(out, ' ');
}

static void render_cell(const struct columns *t, size_t column, const char *text, size_t width, bool last,
                        struct str *out)
{
	size_t missing = width - width_of(text);
	if (is_right(t, column))
		pad(out, missing);
	str_append(out, text);
	if (last)
		return;
	if (!is_right(t, column))
		pad(out, missing);
	pad(out, 2);
}

static void render_row(const struct columns *t, char *const *cells, const size_t *widths, struct str *out)
{
	size_t last = 0; /* blanks after the last text are left out */
	for (size_t c = 0; c < t->count; c++) {
		if (!cells || cells[c][0])
			last = c;
	}
	for (size_t c = 0; c <= last; c++)
		render_cell(t, c, cells ? cells[c] : head_of(t, c), widths[c], c == last, out);
	str_append_char(out, '\n');
}

void columns_render(const struct columns *t, struct str *out)
{
	size_t widths[COLUMNS_MOST] = {0};
	CHECK(t->cell_count % t->count == 0);
	for (size_t c = 0; c < t->count; c++)
		widths[c] = width_of(head_of(t, c));
	for (size_t i = 0; i < t->cell_count; i++)
		widths[i % t->count] = MAX(widths[i % t->count], width_of(t->cells[i]));
	render_row(t, NULL, widths, out);
	for (size_t i = 0; i < t->cell_count; i += t->count)
		render_row(t, t->cells + i, widths, out);
}
