/* Lines of a history from a supervisor that may have been taken over, and input for a guest: whatever a client sends of keys and
 * the mouse, what a program gets is one of the sequences that it knows. */
#include <string.h>

#include "core/base/check.h"
#include "core/term/keys.h"
#include "core/term/transcript.h"
#include "core/term/unicode.h"

static void read_back(const struct transcript *t)
{
	struct cell cells[TERM_COLS_MAX];
	for (uint64_t i = transcript_first(t); i < transcript_end(t); i++) {
		unsigned flags;
		size_t used = transcript_line(t, i, cells, TERM_COLS_MAX, &flags);
		if ((flags & ~(unsigned)ROW_FLAG_ALL) != 0)
			BUG("unknown flags");
		for (size_t k = 0; k < used; k++) {
			uint32_t chars[CLUSTER_MAX];
			const char *uri = clusters_link(transcript_clusters(t), cells[k].link);
			if (clusters_get(transcript_clusters(t), cells[k].code, chars) > 0 &&
			    !codepoint_is_base(chars[0]))
				BUG("U+%04X is in a cell", chars[0]);
			if ((uri == NULL) != (cells[k].link == 0) ||
			    (uri != NULL && !link_is_valid(uri, strlen(uri))))
				BUG("a bad link is in a cell");
		}
	}
}

/* Pieces, each with how far from the right place it begins, its count, and its length before it. */
static void pieces(const uint8_t *data, size_t size)
{
	struct screen s;
	screen_init(&s, 2, 10);
	s.history = 1000;
	struct transcript *t = transcript_create(&s);
	while (size > 4) {
		struct err e = ERR_INIT;
		uint32_t count = data[1];
		size_t len = MIN((size_t)data[2] << 8 | data[3], size - 4);
		uint64_t before = transcript_first(t), first = before - count + (uint64_t)(data[0] % 4 == 0);
		bool ok = transcript_prepend(t, first, count, (struct bytes){data + 4, len}, &e);
		if (ok == (e.kind != ERR_NONE) || transcript_first(t) != before - (ok ? count : 0))
			BUG("a piece that is %s changes something", ok ? "taken" : "refused");
		data += 4 + len;
		size -= 4 + len;
	}
	read_back(t);
	transcript_destroy(t);
	screen_finish(&s);
}

/* ESC [ or ESC O, digits and semicolons, one letter or '~'; old mouse events have three bytes more. */
static void check_sequence(const uint8_t *out, size_t n)
{
	size_t i = 2;
	if (n < 3 || out[0] != 0x1b || (out[1] != '[' && out[1] != 'O'))
		BUG("no sequence");
	if (out[2] == 'M' && n == 6)
		return;
	i += out[i] == '<';
	while (i < n && ((out[i] >= '0' && out[i] <= '9') || out[i] == ';'))
		i++;
	bool letter = i < n && (out[i] | 0x20) >= 'a' && (out[i] | 0x20) <= 'z';
	if (i + 1 != n || (!letter && out[i] != '~'))
		BUG("an odd sequence");
}

static void input(const uint8_t *data, size_t size)
{
	for (; size >= 8; data += 8, size -= 8) {
		unsigned modes = (unsigned)(data[0] << 8 | data[1]) & TERM_MODE_ALL;
		uint32_t key = (uint32_t)data[2] << 16 | (uint32_t)data[3] << 8 | data[4];
		const struct term_mouse m = {.kind = data[2],
		                             .button = data[3],
		                             .mods = data[4],
		                             .row = (uint16_t)(data[5] << 8 | data[6]),
		                             .col = (uint16_t)(data[6] << 8 | data[7])};
		uint8_t bytes[KEY_BYTES_MAX], mouse[MOUSE_BYTES_MAX];
		size_t n = key_encode(key, data[5], modes, bytes);
		if (n > sizeof(bytes) || (n > 0) != key_is_valid(key))
			BUG("key %x gives %zu bytes", key, n);
		if ((modes & TERM_KEYS_DISAMBIGUATE) && n > 2 && bytes[0] == 0x1b)
			check_sequence(bytes, n);
		n = mouse_encode(&m, modes, mouse);
		if (n > 0)
			check_sequence(mouse, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] & 1)
		input(data + 1, size - 1);
	else
		pieces(data + 1, size - 1);
	return 0;
}
