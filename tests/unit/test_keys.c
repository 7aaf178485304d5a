/* core/term/keys: bytes for keys, and names. */
#include "tests/lib/test.h"

#include "core/base/escape.h"
#include "core/base/check.h"
#include "core/term/cells.h"
#include "core/term/keys.h"

static const struct {
	uint32_t key;
	unsigned mods, modes;
	const char *bytes;
} KEYS[] = {
    {'a', 0, 0, "a"},
    {'a', TERM_SHIFT, 0, "A"},
    {'a', TERM_CTRL, 0, "\x01"},
    {'A', TERM_CTRL, 0, "\x01"},
    {'i', TERM_CTRL, 0, "\t"}, /* not CSI u */
    {'j', TERM_CTRL, 0, "\n"},
    {'m', TERM_CTRL, 0, "\r"},
    {'[', TERM_CTRL, 0, "\x1b"},
    {']', TERM_CTRL, 0, "\x1d"},
    {'\\', TERM_CTRL, 0, "\x1c"},
    {'/', TERM_CTRL, 0, "\x1f"},
    {'?', TERM_CTRL, 0, "\x7f"},
    {'7', TERM_CTRL, 0, "\x1f"},
    {'1', TERM_CTRL, 0, "1"},
    {0x1d, 0, 0, "\x1d"},
    {'x', TERM_ALT, 0, "\x1bx"},
    {'x', TERM_ALT | TERM_CTRL, 0, "\x1b\x18"},
    {0xe4, 0, 0, "\xc3\xa4"},
    {0xe4, TERM_CTRL, 0, "\xc3\xa4"},
    {0x1f600, TERM_ALT, 0, "\x1b\xf0\x9f\x98\x80"},
    {TERM_KEY_UP, 0, 0, "\x1b[A"},
    {TERM_KEY_UP, 0, TERM_APP_CURSOR, "\x1bOA"},
    {TERM_KEY_UP, TERM_CTRL, TERM_APP_CURSOR, "\x1b[1;5A"},
    {TERM_KEY_LEFT, TERM_SHIFT | TERM_ALT, 0, "\x1b[1;4D"},
    {TERM_KEY_HOME, 0, 0, "\x1b[H"},
    {TERM_KEY_END, 0, TERM_APP_CURSOR, "\x1bOF"},
    {TERM_KEY_PAGE_UP, 0, 0, "\x1b[5~"},
    {TERM_KEY_DELETE, TERM_CTRL, 0, "\x1b[3;5~"},
    {TERM_KEY_F1, 0, 0, "\x1bOP"},
    {TERM_KEY_F1, TERM_SHIFT, 0, "\x1b[1;2P"},
    {TERM_KEY_F1 + 4, 0, 0, "\x1b[15~"},
    {TERM_KEY_F1 + 11, 0, 0, "\x1b[24~"},
    {TERM_KEY_F1 + 12, 0, 0, "\x1b[1;2P"},
    {TERM_KEY_F20, 0, 0, "\x1b[19;2~"},
    {TERM_KEY_ENTER, 0, 0, "\r"},
    {TERM_KEY_ENTER, 0, TERM_NEWLINE, "\r\n"},
    {TERM_KEY_ENTER, TERM_SHIFT, 0, "\r"},
    {TERM_KEY_ENTER, TERM_ALT, 0, "\x1b\r"},
    {TERM_KEY_TAB, 0, 0, "\t"},
    {TERM_KEY_TAB, TERM_SHIFT, 0, "\x1b[Z"},
    {TERM_KEY_BACKSPACE, 0, 0, "\x7f"},
    {TERM_KEY_BACKSPACE, TERM_CTRL, 0, "\b"},
    {TERM_KEY_BACKSPACE, TERM_ALT, 0, "\x1b\x7f"},
    {TERM_KEY_ESCAPE, 0, 0, "\x1b"},
    {TERM_KEY_ESCAPE, TERM_ALT, 0, "\x1b\x1b"},
    /* kitty's: text and the three keys of a shell's line are as ever */
    {'a', 0, TERM_KEYS_DISAMBIGUATE, "a"},
    {'A', 0, TERM_KEYS_DISAMBIGUATE, "A"},
    {'a', TERM_SHIFT, TERM_KEYS_DISAMBIGUATE, "A"},
    {0xe4, 0, TERM_KEYS_DISAMBIGUATE, "\xc3\xa4"},
    {TERM_KEY_ENTER, 0, TERM_KEYS_DISAMBIGUATE, "\r"},
    {TERM_KEY_TAB, 0, TERM_KEYS_DISAMBIGUATE, "\t"},
    {TERM_KEY_BACKSPACE, 0, TERM_KEYS_DISAMBIGUATE, "\x7f"},
    {'c', TERM_CTRL, TERM_KEYS_DISAMBIGUATE, "\x1b[99;5u"},
    {'C', TERM_CTRL, TERM_KEYS_DISAMBIGUATE, "\x1b[99;5u"},
    {0x03, 0, TERM_KEYS_DISAMBIGUATE, "\x1b[99;5u"},
    {0x1d, 0, TERM_KEYS_DISAMBIGUATE, "\x1b[93;5u"},
    {' ', TERM_CTRL, TERM_KEYS_DISAMBIGUATE, "\x1b[32;5u"},
    {'/', TERM_CTRL, TERM_KEYS_DISAMBIGUATE, "\x1b[47;5u"},
    {'c', TERM_CTRL | TERM_SHIFT, TERM_KEYS_DISAMBIGUATE, "\x1b[99;6u"},
    {'x', TERM_ALT, TERM_KEYS_DISAMBIGUATE, "\x1b[120;3u"},
    {'X', TERM_ALT, TERM_KEYS_DISAMBIGUATE, "\x1b[120;4u"},
    {'[', TERM_ALT, TERM_KEYS_DISAMBIGUATE, "\x1b[91;3u"},
    {0x10ffff, TERM_MOD_ALL, TERM_KEYS_DISAMBIGUATE, "\x1b[1114111;8u"},
    {TERM_KEY_ESCAPE, 0, TERM_KEYS_DISAMBIGUATE, "\x1b[27u"},
    {TERM_KEY_ESCAPE, TERM_ALT, TERM_KEYS_DISAMBIGUATE, "\x1b[27;3u"},
    {TERM_KEY_ENTER, TERM_SHIFT, TERM_KEYS_DISAMBIGUATE, "\x1b[13;2u"},
    {TERM_KEY_ENTER, TERM_CTRL, TERM_KEYS_DISAMBIGUATE, "\x1b[13;5u"},
    {TERM_KEY_TAB, TERM_SHIFT, TERM_KEYS_DISAMBIGUATE, "\x1b[9;2u"},
    {TERM_KEY_BACKSPACE, TERM_CTRL, TERM_KEYS_DISAMBIGUATE, "\x1b[127;5u"},
    {TERM_KEY_UP, 0, TERM_KEYS_DISAMBIGUATE | TERM_APP_CURSOR, "\x1b[A"},
    {TERM_KEY_UP, TERM_CTRL, TERM_KEYS_DISAMBIGUATE, "\x1b[1;5A"},
    {TERM_KEY_F1, 0, TERM_KEYS_DISAMBIGUATE, "\x1b[P"},
    {TERM_KEY_F1 + 2, 0, TERM_KEYS_DISAMBIGUATE, "\x1b[13~"},
    {TERM_KEY_F1 + 2, TERM_SHIFT, TERM_KEYS_DISAMBIGUATE, "\x1b[13;2~"},
    {TERM_KEY_F1 + 4, 0, TERM_KEYS_DISAMBIGUATE, "\x1b[15~"},
    {TERM_KEY_F1 + 12, 0, TERM_KEYS_DISAMBIGUATE, "\x1b[57376u"},
    {TERM_KEY_F20, TERM_ALT, TERM_KEYS_DISAMBIGUATE, "\x1b[57383;3u"},
    {TERM_KEY_PAGE_UP, 0, TERM_KEYS_DISAMBIGUATE, "\x1b[5~"},
};

static void keys_give_their_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
		uint8_t out[KEY_BYTES_MAX];
		size_t n = key_encode(KEYS[i].key, KEYS[i].mods, KEYS[i].modes, out);
		if (n != strlen(KEYS[i].bytes) || memcmp(out, KEYS[i].bytes, n) != 0) {
			char text[64];
			escape_text(text, sizeof(text), (char *)out, n);
			fail_msg("key %zu: %s", i, text);
		}
	}
	uint8_t out[KEY_BYTES_MAX];
	assert_int_equal(key_encode(' ', TERM_CTRL, 0, out), 1);
	assert_int_equal(out[0], 0);
}

static void what_is_no_key_gives_nothing(void **state)
{
	(void)state;
	static const uint32_t BAD[] = {0xd800, 0x110000, TERM_KEY_ESCAPE + 1, TERM_KEY_F20 + 1, 0xffffffff};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		uint8_t out[KEY_BYTES_MAX];
		assert_false(key_is_valid(BAD[i]));
		assert_int_equal(key_encode(BAD[i], 255, ~0u, out), 0);
	}
}

static void every_name_reads_back(void **state)
{
	(void)state;
	static const uint32_t ALL[] = {'a',
	                               ']',
	                               '-',
	                               'Z',
	                               ' ',
	                               0xe4,
	                               TERM_KEY_UP,
	                               TERM_KEY_PAGE_DOWN,
	                               TERM_KEY_ENTER,
	                               TERM_KEY_ESCAPE,
	                               TERM_KEY_F1,
	                               TERM_KEY_F1 + 11,
	                               TERM_KEY_F1 + 12,
	                               TERM_KEY_F20};
	for (size_t i = 0; i < ARRAY_LEN(ALL); i++)
		for (unsigned mods = 0; mods <= TERM_MOD_ALL; mods++) {
			char name[KEY_NAME_SIZE];
			uint32_t key, want = ALL[i];
			unsigned got;
			if (want == 'Z' && (mods & TERM_CTRL))
				want = 'z';
			key_name(ALL[i], mods, name);
			if (!key_parse(name, &key, &got) || key != want || got != mods)
				fail_msg("%s does not read back", name);
		}
	static const char *const BAD[] = {"",   "C-",  "C",      "X-a",  "CC-a", "ab",
	                                  "F0", "F21", "C-\x01", "\x1b", "\xff", "Upp"};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		uint32_t key;
		unsigned mods;
		bool one = strcmp(BAD[i], "C") == 0; /* a letter is a key */
		if (key_parse(BAD[i], &key, &mods) != one)
			fail_msg("'%s' is taken for a key", BAD[i]);
	}
	uint32_t key;
	unsigned mods;
	assert_true(key_parse("C-]", &key, &mods));
	assert_int_equal(key, ']');
	assert_int_equal(mods, TERM_CTRL);
	assert_true(key_parse("pageup", &key, &mods));
	assert_int_equal(key, TERM_KEY_PAGE_UP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keys_give_their_bytes),
	    cmocka_unit_test(what_is_no_key_gives_nothing),
	    cmocka_unit_test(every_name_reads_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
