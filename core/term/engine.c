/* libvterm's parser and state layer crash or run on for ever on some inputs, in both versions that distributions ship. This
 * file is fed by filter.c and sequences.c only, and together they keep away from it:
 *   - more than two parameters, numbers over 9999, REP, strings, SGR, 8-bit controls, broken or split UTF-8;
 *   - combining marks (it grows a buffer for them without end) and double-width lines;
 *   - save and restore of the cursor: it restores positions outside of a smaller screen;
 *   - margins that outlive a resize, and left and right margins altogether.
 * Since 0.2 it also expects its resize callback to renew the per-line array; without a callback it keeps the old, too short
 * one. on_resize below does that, for which the allocator must be known: it is ours. */
#include "core/term/engine.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <vterm.h>

#include "core/base/mem.h"

/* Piece of text handed over at once: 0.1.4 puts four times as much on the stack. A multiple of no character length, so
 * the cut looks for the start of a character. */
#define TEXT_PIECE 4096

struct engine {
	VTerm *vt; /* owned */
	VTermState *state;
	VTermAllocatorFunctions allocator;
	const struct engine_ops *ops;
	void *arg;
	unsigned rows, cols;
};

static void *engine_malloc(size_t size, void *arg)
{
	(void)arg;
	return mem_alloc(size);
}

static void engine_free(void *p, void *arg)
{
	(void)arg;
	free(p);
}

static int on_glyph(VTermGlyphInfo *info, VTermPos pos, void *user)
{
	const struct engine *e = user;
	e->ops->glyph(e->arg, pos.row, pos.col, info->chars[0], info->width);
	return 1;
}

static int on_erase(VTermRect r, int selective, void *user)
{
	(void)selective;
	const struct engine *e = user;
	e->ops->erase(e->arg, r.start_row, r.start_col, r.end_row, r.end_col);
	return 1;
}

static int on_scroll(VTermRect r, int downward, int rightward, void *user)
{
	const struct engine *e = user;
	e->ops->scroll(e->arg, r.start_row, r.start_col, r.end_row, r.end_col, downward, rightward);
	return 1;
}

static int on_move(VTermPos pos, VTermPos old, int visible, void *user)
{
	(void)old;
	(void)visible;
	const struct engine *e = user;
	e->ops->moved(e->arg, pos.row, pos.col);
	return 1;
}

static int on_property(VTermProp prop, VTermValue *value, void *user)
{
	const struct engine *e = user;
	if (prop == VTERM_PROP_ALTSCREEN)
		e->ops->alternate(e->arg, value->boolean != 0);
	return 1;
}

#if VTERM_VERSION_MAJOR > 0 || VTERM_VERSION_MINOR >= 2
static int on_resize(int rows, int cols, VTermStateFields *fields, void *user)
{
	(void)cols;
	(void)user;
	for (size_t i = 0; i < ARRAY_LEN(fields->lineinfos); i++) {
		if (fields->lineinfos[i] == NULL)
			continue;
		/* All zero: double width lines are never asked for, the continuation mark is not used. */
		free(fields->lineinfos[i]);
		fields->lineinfos[i] = mem_array((size_t)rows, sizeof(VTermLineInfo));
	}
	return 1;
}
#endif

static const VTermStateCallbacks CALLBACKS = {
    .putglyph = on_glyph,
    .erase = on_erase,
    .scrollrect = on_scroll,
    .movecursor = on_move,
    .settermprop = on_property,
#if VTERM_VERSION_MAJOR > 0 || VTERM_VERSION_MINOR >= 2
    .resize = on_resize,
#endif
};

/* All versions share one SONAME though their structs differ, so the loader takes any. Built with 0.3, a function that only
 * 0.3 has would be missing; built with an older one it must be missing. */
static void check_library(void)
{
#if VTERM_VERSION_MAJOR == 0 && VTERM_VERSION_MINOR < 3
	if (dlsym(RTLD_DEFAULT, "vterm_build") != NULL)
		BUG("this build needs libvterm 0.%d, but a newer one is installed: build again",
		    VTERM_VERSION_MINOR);
#else
	if (dlsym(RTLD_DEFAULT, "vterm_new") != NULL && dlsym(RTLD_DEFAULT, "vterm_build") == NULL)
		BUG("this build needs libvterm 0.3 or newer, but an older one is installed: build again");
#endif
}

#define TEXT_OF(n)       #n
#define VERSION_OF(a, b) TEXT_OF(a) "." TEXT_OF(b)

const char *engine_library(void)
{
	return VERSION_OF(VTERM_VERSION_MAJOR, VTERM_VERSION_MINOR);
}

struct engine *engine_create(unsigned rows, unsigned cols, const struct engine_ops *ops, void *arg)
{
	check_library();
	struct engine *e = mem_alloc(sizeof(*e));
	*e = (struct engine){.ops = ops, .arg = arg, .rows = rows, .cols = cols};
	e->allocator = (VTermAllocatorFunctions){.malloc = engine_malloc, .free = engine_free};
	e->vt = vterm_new_with_allocator((int)rows, (int)cols, &e->allocator, NULL);
	vterm_set_utf8(e->vt, 1);
	e->state = vterm_obtain_state(e->vt);
	vterm_state_set_callbacks(e->state, &CALLBACKS, e);
	vterm_state_reset(e->state, 1);
	return e;
}

void engine_destroy(struct engine *e)
{
	if (e == NULL)
		return;
	vterm_free(e->vt);
	free(e);
}

static void feed(struct engine *e, const char *bytes, size_t len)
{
	vterm_input_write(e->vt, bytes, len);
}

void engine_text(struct engine *e, const uint8_t *bytes, size_t len)
{
	while (len > TEXT_PIECE) {
		size_t n = TEXT_PIECE;
		while ((bytes[n] & 0xc0) == 0x80)
			n--;
		feed(e, (const char *)bytes, n);
		bytes += n;
		len -= n;
	}
	feed(e, (const char *)bytes, len);
}

void engine_control(struct engine *e, uint8_t c)
{
	char byte = (char)c;
	feed(e, &byte, 1);
}

void engine_escape(struct engine *e, char intermediate, char final)
{
	char seq[3] = {'\x1b', intermediate, final};
	if (intermediate == 0)
		seq[1] = final;
	feed(e, seq, intermediate == 0 ? 2 : 3);
}

/* Decimal digits of `n` at `out`; returns the place after them. By hand: this is in the way of every cursor move. */
static char *put_number(char *out, int n)
{
	char digits[8];
	size_t count = 0;
	for (n = MIN(n, ENGINE_PARAM_MAX); n > 0 || count == 0; n /= 10)
		digits[count++] = (char)('0' + n % 10);
	while (count > 0)
		*out++ = digits[--count];
	return out;
}

void engine_csi(struct engine *e, char final, int a, int b)
{
	char seq[32] = "\x1b[", *end = seq + 2;
	if (a >= 0)
		end = put_number(end, a);
	if (b >= 0) {
		*end++ = ';';
		end = put_number(end, b);
	}
	*end++ = final;
	feed(e, seq, (size_t)(end - seq));
}

void engine_dec_mode(struct engine *e, int mode, bool on)
{
	char seq[32] = "\x1b[?", *end = put_number(seq + 3, mode);
	*end++ = on ? 'h' : 'l';
	feed(e, seq, (size_t)(end - seq));
}

static void no_glyph(void *arg, int row, int col, uint32_t code, int width)
{
	(void)arg, (void)row, (void)col, (void)code, (void)width;
}

static void no_scroll(void *arg, int top, int left, int bottom, int right, int down, int rightward)
{
	(void)arg, (void)top, (void)left, (void)bottom, (void)right, (void)down, (void)rightward;
}

/* libvterm has no call for it. It is told of a space there, and nobody else is. */
void engine_pend_wrap(struct engine *e)
{
	static const struct engine_ops SILENT = {.glyph = no_glyph, .scroll = no_scroll};
	const struct engine_ops *ops = e->ops;
	e->ops = &SILENT;
	feed(e, " ", 1);
	e->ops = ops;
}

void engine_cursor(const struct engine *e, int *row, int *col)
{
	VTermPos pos;
	vterm_state_get_cursorpos(e->state, &pos);
	*row = MIN(MAX(pos.row, 0), (int)e->rows - 1);
	*col = MIN(MAX(pos.col, 0), (int)e->cols - 1);
}

void engine_resize(struct engine *e, unsigned rows, unsigned cols)
{
	e->rows = rows;
	e->cols = cols;
	vterm_set_size(e->vt, (int)rows, (int)cols);
}
