#include "tests/lib/term_test.h"

#include <string.h>

#include "core/base/check.h"
#include "core/base/escape.h"

#define UPDATE_MAX ((size_t)4 * 1024 * 1024)

static void on_reply(void *arg, const uint8_t *bytes, size_t len)
{
	struct term_test *t = arg;
	buf_put(&t->replies, bytes, len);
}

static void on_event(void *arg, const struct emulator_event *ev)
{
	static const char *const NAMES[] = {"bell",   "title",   "notice", "progress",
	                                    "prompt", "command", "done"};
	struct term_test *t = arg;
	t->event_count++;
	str_appendf(&t->events, "%s%s", t->events.len > 0 ? "|" : "", NAMES[ev->kind]);
	if (ev->kind == EMULATOR_TITLE || ev->kind == EMULATOR_NOTICE)
		str_appendf(&t->events, " %s", ev->text);
	if (ev->kind == EMULATOR_PROGRESS || ev->kind == EMULATOR_COMMAND_DONE)
		str_appendf(&t->events, " %d", ev->value);
	if (ev->kind == EMULATOR_PROGRESS)
		str_appendf(&t->events, " %d", ev->percent);
}

void term_test_init(struct term_test *t, unsigned rows, unsigned cols)
{
	static const struct emulator_ops OPS = {.write_reply = on_reply, .on_event = on_event};
	*t = (struct term_test){.text = STR_INIT(1 << 20), .events = STR_INIT(1 << 20)};
	buf_init(&t->replies, 1 << 20);
	t->e = emulator_create(rows, cols, &OPS, t);
	screen_init(&t->screen, 1, 2);
}

void term_test_finish(struct term_test *t)
{
	emulator_destroy(t->e);
	screen_finish(&t->screen);
	buf_finish(&t->replies);
	str_finish(&t->text);
	str_finish(&t->events);
}

void term_test_write(struct term_test *t, const char *bytes)
{
	emulator_write(t->e, bytes, strlen(bytes));
}

static bool same_link(const struct clusters *ta, const struct cell *a, const struct clusters *tb,
                      const struct cell *b)
{
	const struct link *x = links_get(&ta->links, a->link), *y = links_get(&tb->links, b->link);
	return x == NULL || y == NULL ? a->link == b->link : x->id == y->id && strcmp(x->uri, y->uri) == 0;
}

/* What the client has must be what the emulator has. */
static void compare(const struct term_test *t)
{
	for (unsigned row = 0; row < t->screen.rows; row++) {
		unsigned used;
		const struct cell *cells = emulator_row(t->e, row, &used);
		if (t->screen.flags[row] != emulator_row_flags(t->e, row))
			BUG("the flags of row %u differ after an update", row);
		for (unsigned col = 0; col < t->screen.cols; col++) {
			const struct cell *shown = screen_cell(&t->screen, row, col);
			struct cell c = col < used ? cells[col] : (struct cell){0};
			char a[CELL_UTF8_MAX], b[CELL_UTF8_MAX];
			if (c.width == CELL_WIDE && col + 1 >= used)
				c.width = CELL_NARROW, c.code = 0;
			size_t n = clusters_cell_utf8(emulator_clusters(t->e), &c, a);
			size_t m = clusters_cell_utf8(&t->screen.clusters, shown, b);
			bool blank = cell_is_blank(&c) && cell_is_blank(shown);
			if (!blank && !same_link(emulator_clusters(t->e), &c, &t->screen.clusters, shown))
				BUG("the link of row %u column %u differs after an update", row, col);
			if (!blank && (n != m || memcmp(a, b, n) != 0 || !cell_same_style(&c, shown) ||
			               c.width != shown->width))
				BUG("row %u column %u differs after an update", row, col);
		}
	}
}

void term_test_sync(struct term_test *t)
{
	bool done = false;
	while (!done) {
		struct buf b = BUF_INIT(UPDATE_MAX);
		struct err e = ERR_INIT;
		done = snapshot_encode(t->e, &t->cursor, UPDATE_MAX, &b);
		if (!snapshot_apply(&t->screen, (struct bytes){b.data, b.len}, &e))
			BUG("our own update is refused: %s", e.msg);
		buf_finish(&b);
	}
	compare(t);
}

const char *term_test_row(struct term_test *t, unsigned row)
{
	term_test_sync(t);
	str_clear(&t->text);
	screen_row_text(&t->screen, row, &t->text);
	return t->text.s;
}

const char *term_test_rows(struct term_test *t)
{
	term_test_sync(t);
	str_clear(&t->text);
	screen_text(&t->screen, &t->text);
	if (t->text.len > 0)
		t->text.s[--t->text.len] = '\0';
	for (char *p = t->text.s; *p != '\0'; p++)
		*p = *p == '\n' ? '|' : *p;
	return t->text.s;
}

const char *term_test_replies(struct term_test *t)
{
	char text[4096];
	escape_text(text, sizeof(text), (const char *)t->replies.data, t->replies.len);
	buf_clear(&t->replies);
	str_clear(&t->text);
	str_append(&t->text, text);
	return t->text.s;
}

const char *term_test_events(struct term_test *t)
{
	str_clear(&t->text);
	str_append(&t->text, t->events.s);
	str_clear(&t->events);
	return t->text.s;
}

struct cell term_test_cell(struct term_test *t, unsigned row, unsigned col)
{
	term_test_sync(t);
	const struct cell *c = screen_cell(&t->screen, row, col);
	if (c == NULL)
		BUG("no cell at %u,%u", row, col);
	return *c;
}

void term_test_same(const struct screen *a, const struct screen *b)
{
	if (a->rows != b->rows || a->cols != b->cols)
		BUG("sizes differ");
	for (unsigned i = 0; i < (unsigned)a->rows * a->cols; i++) {
		char x[CELL_UTF8_MAX], y[CELL_UTF8_MAX];
		size_t n = clusters_cell_utf8(&a->clusters, &a->cells[i], x);
		size_t m = clusters_cell_utf8(&b->clusters, &b->cells[i], y);
		if (n != m || memcmp(x, y, n) != 0 || !cell_same_style(&a->cells[i], &b->cells[i]) ||
		    a->cells[i].width != b->cells[i].width)
			BUG("row %u column %u differs", i / a->cols, i % a->cols);
	}
	if (a->cursor.row != b->cursor.row || a->cursor.col != b->cursor.col ||
	    a->cursor.visible != b->cursor.visible || a->cursor.shape != b->cursor.shape)
		BUG("cursors differ");
	if (a->modes != b->modes || a->bells != b->bells || a->history != b->history)
		BUG("modes, bells or history differ");
	if (strcmp(a->title, b->title) != 0)
		BUG("titles differ");
}

void term_test_equal(const struct screen *a, const struct screen *b)
{
	term_test_same(a, b);
	for (unsigned i = 0; i < (unsigned)a->rows * a->cols; i++)
		if (!same_link(&a->clusters, &a->cells[i], &b->clusters, &b->cells[i]))
			BUG("links of row %u column %u differ", i / a->cols, i % a->cols);
	if (memcmp(a->flags, b->flags, a->rows * sizeof(*a->flags)) != 0)
		BUG("flags of rows differ");
	if (a->history_first != b->history_first)
		BUG("numbers of lines differ");
}
