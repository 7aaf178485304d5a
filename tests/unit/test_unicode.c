/* core/term/unicode and cells: which characters may be shown, and that libvterm moves its cursor for each of them. */
#include "tests/lib/test.h"

#include "core/base/check.h"
#include "core/term/cells.h"
#include "core/term/engine.h"
#include "core/term/unicode.h"

static void controls_and_invisible_characters_are_never_shown(void **state)
{
	(void)state;
	static const uint32_t NEVER[] = {
	    0,      7,      0x1b,   0x7f,   0x80,    0x9b,    0x9f,     0xad,     0x34f,     0x61c,
	    0x115f, 0x1160, 0x17b4, 0x180e, 0x200b,  0x200d,  0x200e,   0x200f,   0x2028,    0x2029,
	    0x202a, 0x202e, 0x2060, 0x2066, 0x2069,  0x3164,  0xd800,   0xdfff,   0xfdd0,    0xfeff,
	    0xffa0, 0xfff9, 0xfffe, 0xffff, 0xe0001, 0xe0041, 0x10ffff, 0x110000, 0xffffffff};
	for (size_t i = 0; i < ARRAY_LEN(NEVER); i++)
		if (codepoint_is_base(NEVER[i]) || codepoint_is_mark(NEVER[i]))
			fail_msg("U+%04X is shown", NEVER[i]);
	static const uint32_t BASES[] = {' ',    '~',    0xa0,   0xe4,   0x3b1,   0x2500,
	                                 0x4e2d, 0xac00, 0xe0b0, 0xfffd, 0x1f600, 0x1fae8};
	for (size_t i = 0; i < ARRAY_LEN(BASES); i++)
		if (!codepoint_is_base(BASES[i]))
			fail_msg("U+%04X is not shown", BASES[i]);
	static const uint32_t MARKS[] = {0x300, 0x36f, 0x5b0, 0xe31, 0x1161, 0x11ff, 0x20d0, 0xfe0f, 0x1d167};
	for (size_t i = 0; i < ARRAY_LEN(MARKS); i++)
		assert_true(codepoint_is_mark(MARKS[i]));
}

struct seen {
	int glyphs, width;
	uint32_t last;
};

static void on_glyph(void *arg, int row, int col, uint32_t code, int width)
{
	struct seen *s = arg;
	(void)row;
	(void)col;
	s->glyphs++;
	s->width = width;
	s->last = code;
}

static void on_erase(void *arg, int a, int b, int c, int d)
{
	(void)arg, (void)a, (void)b, (void)c, (void)d;
}

static void on_scroll(void *arg, int a, int b, int c, int d, int e, int f)
{
	(void)arg, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
}

static void on_moved(void *arg, int row, int col)
{
	(void)arg, (void)row, (void)col;
}

static void on_alternate(void *arg, bool on)
{
	(void)arg, (void)on;
}

/* If one of our bases had no width there, libvterm would store it in a buffer that it grows without a limit. */
static void libvterm_moves_for_every_base(void **state)
{
	(void)state;
	static const struct engine_ops OPS = {on_glyph, on_erase, on_scroll, on_moved, on_alternate};
	struct seen seen = {0};
	struct engine *e = engine_create(4, 20, &OPS, &seen);
	for (uint32_t cp = 0x20; cp < 0x110000; cp++) {
		char text[6] = "\ra";
		if (codepoint_is_base(cp) && codepoint_is_mark(cp))
			fail_msg("U+%04X is both", cp);
		if (!codepoint_is_base(cp))
			continue;
		seen.glyphs = 0;
		engine_text(e, (const uint8_t *)text, 2 + utf8_encode(cp, text + 2));
		if (seen.glyphs != 2 || seen.last != cp || seen.width < 1 || seen.width > 2)
			fail_msg("U+%04X: %d glyphs, width %d", cp, seen.glyphs, seen.width);
	}
	engine_destroy(e);
}

static void utf8_round_trips_and_refuses(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp < 0x110000; cp += cp < 0x1000 ? 1 : 61) {
		char text[4];
		uint32_t back;
		size_t n = utf8_encode(cp, text);
		assert_int_equal(utf8_decode((const uint8_t *)text, n, &back), n);
		assert_int_equal(back, cp >= 0xd800 && cp <= 0xdfff ? UNICODE_REPLACEMENT : cp);
		for (size_t cut = 1; cut < n; cut++)
			assert_int_equal(utf8_decode((const uint8_t *)text, cut, &back), 0);
	}
	static const char *const BAD[] = {
	    "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",
	    "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
	    "\xf5\x80",     "\xff",         "\xe2\x28\xa1",     "\xe2\x82("};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		uint32_t cp = 0;
		assert_int_equal(utf8_decode((const uint8_t *)BAD[i], strlen(BAD[i]), &cp), 1);
		assert_int_equal(cp, UNICODE_REPLACEMENT);
	}
}

static void colours_find_their_nearest(void **state)
{
	(void)state;
	assert_int_equal(colour_nearest(COLOUR_RGB(255, 0, 0), 256), 196);
	assert_int_equal(colour_nearest(COLOUR_RGB(8, 8, 8), 256), 232);
	assert_int_equal(colour_nearest(COLOUR_RGB(250, 10, 10), 16), 9);
	assert_int_equal(colour_nearest(COLOUR_RGB(200, 10, 10), 8), 1);
	assert_int_equal(colour_nearest(COLOUR_INDEXED(5), 8), 5);
	assert_int_equal(colour_nearest(COLOUR_INDEXED(196), 16), 9);
	assert_int_equal(colour_nearest(COLOUR_INDEXED(200), 256), 200);
	for (unsigned i = 16; i < 256; i++)
		assert_int_equal(
		    colour_palette_rgb(colour_nearest(0x02000000u | colour_palette_rgb((uint8_t)i), 256)),
		    colour_palette_rgb((uint8_t)i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(controls_and_invisible_characters_are_never_shown),
	    cmocka_unit_test(libvterm_moves_for_every_base),
	    cmocka_unit_test(utf8_round_trips_and_refuses),
	    cmocka_unit_test(colours_find_their_nearest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
