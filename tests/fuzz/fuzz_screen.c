/* The client's side: updates from a supervisor that may have been taken over, and bytes that a terminal types. What is then
 * drawn must hold nothing but printable text and our own sequences. */
#include <string.h>

#include "core/base/check.h"
#include "core/term/emulator.h"
#include "core/term/input.h"
#include "core/term/snapshot.h"
#include "core/term/tty.h"
#include "core/term/unicode.h"

/* ESC [ digits and a few marks, a letter; a hyperlink; and a reverse line feed: the only sequences that the renderer has. BEL is
 * the bell. Returns where the sequence ends. */
static size_t check_sequence(const struct buf *b, size_t i)
{
	static const char LINK[] = "]8;";
	if (i < b->len && b->data[i] == 'M')
		return i + 1;
	if (b->len - i > 3 && memcmp(b->data + i, LINK, 3) == 0) {
		while (i < b->len && b->data[i] >= 0x20 && b->data[i] < 0x7f)
			i++;
		if (b->len - i < 2 || memcmp(b->data + i, "\x1b\\", 2) != 0)
			BUG("a link has no end");
		return i + 2;
	}
	if (i >= b->len || b->data[i++] != '[')
		BUG("an odd sequence was drawn");
	while (i < b->len && strchr("0123456789;:? ", b->data[i]) != NULL)
		i++;
	if (i >= b->len || strchr("mHKJhlqrC", b->data[i++]) == NULL)
		BUG("an unknown sequence was drawn");
	return i;
}

static void check_drawn(const struct buf *b)
{
	for (size_t i = 0; i < b->len;) {
		uint32_t cp;
		size_t n = utf8_decode(b->data + i, b->len - i, &cp);
		if (n == 0 || (n == 1 && b->data[i] >= 0x80))
			BUG("broken UTF-8 was drawn");
		i += n;
		if (cp == 0x1b) {
			i = check_sequence(b, i);
		} else if (cp != '\a' && cp != '\r' && cp != '\n' && !codepoint_is_base(cp) &&
		           !codepoint_is_mark(cp)) {
			BUG("U+%04X was drawn", cp);
		}
	}
}

static void draw(const struct screen *prev, const struct screen *next)
{
	static const struct tty_caps CAPS[] = {{.colours = 0},
	                                       {.colours = 8, .ascii = true},
	                                       {.colours = 256, .sync = true, .underlines = true},
	                                       {.colours = 256, .truecolor = true, .links = true}};
	for (size_t i = 0; i < ARRAY_LEN(CAPS); i++) {
		struct buf out = BUF_INIT(64 << 20);
		tty_draw(prev, next, 5 + (unsigned)i * 3, 4 + (unsigned)i * 9, &CAPS[i], &out);
		tty_dump(next, &CAPS[i], &out);
		check_drawn(&out);
		buf_finish(&out);
	}
}

/* Updates, each with its length before it. */
static void updates(const uint8_t *data, size_t size)
{
	struct screen s, before;
	screen_init(&s, 4, 10);
	screen_init(&before, 4, 10);
	while (size > 2) {
		size_t len = MIN((size_t)data[0] << 8 | data[1], size - 2);
		struct err e = ERR_INIT;
		bool ok = snapshot_apply(&s, (struct bytes){data + 2, len}, &e);
		if (ok == (e.kind != ERR_NONE))
			BUG("result and error disagree");
		if ((size_t)s.rows * s.cols <= 4000)
			draw(&before, &s);
		screen_copy(&before, &s);
		data += 2 + len;
		size -= 2 + len;
	}
	screen_finish(&s);
	screen_finish(&before);
}

static void on_event(void *arg, const struct input_event *ev)
{
	uint32_t *sum = arg;
	if (ev->kind == INPUT_KEY) {
		uint8_t bytes[KEY_BYTES_MAX];
		if (!key_is_valid(ev->key) || key_encode(ev->key, ev->mods, *sum & TERM_MODE_ALL, bytes) == 0)
			BUG("key %x came out", ev->key);
	}
	if (ev->kind == INPUT_PASTE && ev->text.len > INPUT_PASTE_MAX)
		BUG("a paste is too long");
	*sum = *sum * 31 + ev->kind * 7 + ev->key + ev->mods * 5 + (uint32_t)ev->text.len + ev->last * 3u;
}

/* The same bytes in one piece and one by one give the same events. */
static void typing(const uint8_t *data, size_t size)
{
	uint32_t whole = 0, single = 0;
	struct input in;
	input_init(&in, on_event, &whole);
	input_feed(&in, data, size);
	if (input_wait_ms(&in) > 0)
		input_timeout(&in);
	if (input_wait_ms(&in) > 0)
		BUG("still waiting after the timeout");
	input_finish(&in);
	input_init(&in, on_event, &single);
	for (size_t i = 0; i < size; i++)
		input_feed(&in, data + i, 1);
	if (input_wait_ms(&in) > 0)
		input_timeout(&in);
	input_finish(&in);
	if (whole != single)
		BUG("the pieces made a difference");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] & 1)
		typing(data + 1, size - 1);
	else
		updates(data + 1, size - 1);
	return 0;
}
