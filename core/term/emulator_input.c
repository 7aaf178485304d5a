/* What the operator does, as bytes for the guest: keys, mouse, text, pastes. */
#include <string.h>

#include "core/term/keys.h"
#include "core/term/state.h"

void emulator_key(struct emulator *e, uint32_t key, unsigned mods)
{
	uint8_t bytes[KEY_BYTES_MAX];
	state_reply_bytes(e, bytes, key_encode(key, mods, e->modes & TERM_MODE_ALL, bytes));
}

#define WHEEL_LINES 3

/* The wheel as arrow keys (mode 1007, on from the start). */
static void scroll_by_keys(struct emulator *e, const struct term_mouse *m)
{
	bool up = m->button == MOUSE_WHEEL_UP;
	if (m->kind != MOUSE_PRESS || (!up && m->button != MOUSE_WHEEL_DOWN))
		return;
	for (int i = 0; i < WHEEL_LINES; i++)
		emulator_key(e, up ? TERM_KEY_UP : TERM_KEY_DOWN, 0);
}

void emulator_mouse(struct emulator *e, const struct term_mouse *m)
{
	uint8_t bytes[MOUSE_BYTES_MAX];
	struct term_mouse inside = *m;
	bool outside = m->row >= e->rows || m->col >= e->cols;
	if (outside && m->kind == MOUSE_PRESS)
		return;
	inside.row = (uint16_t)MIN(m->row, e->rows - 1);
	inside.col = (uint16_t)MIN(m->col, e->cols - 1);
	if ((e->modes & (TERM_MOUSE_CLICK | TERM_MOUSE_DRAG | TERM_MOUSE_MOVE)) == 0 &&
	    (e->modes & TERM_ALT_SCREEN) && (e->modes & MODE_ALT_SCROLL))
		scroll_by_keys(e, &inside);
	else
		state_reply_bytes(e, bytes, mouse_encode(&inside, e->modes & TERM_MODE_ALL, bytes));
}

void emulator_text(struct emulator *e, const void *utf8, size_t len)
{
	state_reply_bytes(e, utf8, len);
}

void emulator_focus(struct emulator *e, bool focused)
{
	if (e->modes & TERM_FOCUS_EVENTS)
		state_reply(e, "\x1b[%c", focused ? 'I' : 'O');
}

/* One byte of a paste. C2 is held back until it is sure that it does not begin a C1 control. */
static void paste_byte(struct emulator *e, uint8_t c, struct buf *out)
{
	bool after_cr = e->paste_cr, after_c2 = e->paste_c2;
	e->paste_cr = c == '\r';
	e->paste_c2 = false;
	if (after_c2) {
		if (c >= 0x80 && c <= 0x9f)
			return;
		buf_put_u8(out, 0xc2);
	}
	if (c == 0xc2)
		e->paste_c2 = true;
	else if (c == '\n' && !after_cr)
		buf_put_u8(out, '\r');
	else if (c == '\t' || c == '\r' || (c >= 0x20 && c != 0x7f))
		buf_put_u8(out, c);
}

void emulator_paste_part(struct emulator *e, const void *bytes, size_t len, bool first, bool last)
{
	const uint8_t *p = bytes;
	struct buf out = BUF_INIT(len + 16);
	if (first) {
		e->paste_bracketed = (e->modes & TERM_BRACKETED_PASTE) != 0;
		e->paste_cr = e->paste_c2 = false;
		if (e->paste_bracketed)
			buf_put(&out, "\x1b[200~", 6);
	}
	for (size_t i = 0; i < len; i++)
		paste_byte(e, p[i], &out);
	if (last && e->paste_bracketed)
		buf_put(&out, "\x1b[201~", 6);
	if (last)
		e->paste_bracketed = false;
	CHECK(buf_ok(&out));
	state_reply_bytes(e, out.data, out.len);
	buf_finish(&out);
}

void emulator_paste(struct emulator *e, const void *bytes, size_t len)
{
	emulator_paste_part(e, bytes, len, true, true);
}
