/* core/term/plain: what is left of a guest's bytes for a terminal, in one piece and byte by byte. */
#include "tests/lib/test.h"

#include "core/base/str.h"
#include "core/term/plain.h"

static const struct {
	const char *in, *utf8, *ascii;
} CASES[] = {
    {"two\r\nlines\n", "two\r\nlines\n", "two\r\nlines\n"},
    {"a\tb\b\f\v\a", "a\tb\b\f\v\a", "a\tb\b\f\v\a"},
    {"\x1b[31mred\x1b[0m", "red", "red"},
    {"a\x1b]0;title\ab\x1b]52;c;aGk=\x1b\\c", "abc", "abc"},
    {"a\x1bP$qm\x1b\\b\x1b_x\x1b\\c\x1b"
     "cd",
     "abcd", "abcd"},
    {"\x0e\x0fx\x7f\x05\x1b(0q", "xq", "xq"},
    {"\u00e9\u4e2de\u0301", "\u00e9\u4e2de\u0301", "??e"},
    {"\xc2\x9b"
     "2J\xc2\x85\u202e\u200b.",
     "2J.", "2J."},
    {"\x9b"
     "31m",
     "\ufffd31m", "?31m"},
    {"\xe4\xb8", "", ""}, /* unfinished: waits */
    {"text\x1b[12", "text", "text"},
};

static void text_is_left(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(CASES); i++) {
		bool ascii = i % 2;
		const char *in = CASES[i / 2].in, *want = ascii ? CASES[i / 2].ascii : CASES[i / 2].utf8;
		struct plain whole, single;
		struct str bytewise = STR_INIT(4096);
		plain_init(&whole, ascii);
		plain_init(&single, ascii);
		struct bytes got = plain_feed(&whole, in, strlen(in));
		assert_int_equal(got.len, strlen(want));
		if (got.len)
			assert_memory_equal(got.p, want, got.len);
		for (const char *p = in; *p; p++) {
			struct bytes b = plain_feed(&single, p, 1);
			str_append_bytes(&bytewise, (const char *)b.p, b.len);
		}
		assert_string_equal(bytewise.s, want);
		str_finish(&bytewise);
		plain_finish(&whole);
		plain_finish(&single);
	}
}

static void the_longest_piece_fits(void **state)
{
	(void)state;
	static char junk[PLAIN_PIECE_MAX];
	struct plain p;
	memset(junk, '\xff', sizeof(junk)); /* each becomes three bytes */
	plain_init(&p, false);
	plain_feed(&p, "\xe4\xb8", 2);
	assert_true(plain_feed(&p, junk, sizeof(junk)).len >= 3 * sizeof(junk));
	plain_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_is_left),
	    cmocka_unit_test(the_longest_piece_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
