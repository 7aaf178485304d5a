/* Copy mode, selections and searches over a screen and a history from a supervisor that may have been taken over, with whatever
 * the operator does meanwhile. What comes out must be printable, whatever came in. */
#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/term/snapshot.h"
#include "core/term/unicode.h"
#include "tui/copy_mode.h"

#define STEPS_MOST 400 /* of one input */

struct input {
	const uint8_t *data;
	size_t size;
};

static unsigned take(struct input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

static struct bytes take_bytes(struct input *in)
{
	unsigned high = take(in), low = take(in);
	struct bytes b = {.p = in->data, .len = MIN((size_t)high << 8 | low, in->size)};
	in->data += b.len;
	in->size -= b.len;
	return b;
}

static void check_text(const struct copy_mode *c)
{
	struct str text = STR_INIT(1 << 18);
	copy_mode_text(c, &text);
	for (size_t i = 0; i < text.len && !text.overflow;) {
		uint32_t cp;
		size_t n = utf8_decode((const uint8_t *)text.s + i, text.len - i, &cp);
		if (n == 0 || (cp != '\n' && !codepoint_is_base(cp) && !codepoint_is_mark(cp)))
			BUG("U+%04X would be copied", cp);
		i += n;
	}
	str_finish(&text);
}

static void check_picture(struct copy_mode *c, struct canvas *canvas, int rows, int cols)
{
	char position[COPY_POSITION_SIZE];
	canvas_clear(canvas);
	copy_mode_draw(c, canvas, (struct rect){1, 2, rows, cols});
	copy_mode_position(c, position);
	if (!canvas->cursor_visible || canvas->cursor_row < 1 || canvas->cursor_row > rows ||
	    canvas->cursor_col < 2 || canvas->cursor_col > cols + 1)
		BUG("the cursor is not in the pane");
	for (int i = 0; i < canvas->rows; i++) {
		if (canvas_at(canvas, i, 1)->cell.code != 0 || canvas_at(canvas, i, cols + 2)->cell.code != 0)
			BUG("something was drawn beside the pane");
	}
}

static void feed_lines(struct copy_mode *c, struct input *in)
{
	uint64_t before;
	uint32_t most;
	unsigned count = take(in);
	struct bytes lines = take_bytes(in);
	if (copy_mode_wants(c, &before, &most))
		copy_mode_lines(c, before - MIN(before, count), count, lines, NULL);
}

static void search(struct copy_mode *c, struct input *in)
{
	char text[32];
	struct bytes b = take_bytes(in);
	size_t n = MIN(b.len, sizeof(text) - 1);
	memcpy(text, b.p, n);
	text[n] = '\0';
	copy_mode_act(c, take(in) & 1 ? COPY_SEARCH : COPY_SEARCH_BACK);
	copy_mode_search(c, text, take(in) & 1);
	copy_mode_search_done(c, (take(in) & 3) == 0);
}

static void step(struct copy_mode *c, struct input *in, int *rows, int *cols)
{
	int a, b;
	switch (take(in) % 8) {
	case 0: feed_lines(c, in); return;
	case 1: search(c, in); return;
	case 2:
		*rows = 1 + (int)take(in) % 20;
		*cols = 1 + (int)take(in) % 40;
		return;
	case 3:
		a = (int)take(in) - 4;
		copy_mode_begin(c, a, (int)take(in) - 4, (enum select_kind)(take(in) % (SELECT_BLOCK + 1)));
		return;
	case 4:
		a = (int)take(in) - 4;
		b = (int)take(in) - 4;
		copy_mode_drag(c, a, b, (int)(take(in) % 3) - 1);
		return;
	case 5: copy_mode_scroll(c, (int)take(in) - 128); return;
	default: copy_mode_act(c, (enum copy_action)(take(in) % COPY_ACTION_COUNT)); return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct screen s;
	struct canvas canvas;
	struct err e = ERR_INIT;
	int rows = 6, cols = 20;
	screen_init(&s, 4, 10);
	/* One that is refused leaves a screen as well. */
	bool whole = snapshot_apply(&s, take_bytes(&in), &e);
	if (whole == (e.kind != ERR_NONE))
		BUG("result and error disagree");
	canvas_init(&canvas, 22, 43);
	struct copy_mode *c = copy_mode_create(&s, rows, cols);
	for (int i = 0; i < STEPS_MOST && in.size > 0; i++) {
		step(c, &in, &rows, &cols);
		check_picture(c, &canvas, rows, cols);
		check_text(c);
	}
	copy_mode_destroy(c);
	canvas_finish(&canvas);
	screen_finish(&s);
	return 0;
}
