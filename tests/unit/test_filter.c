/* core/term/filter: what is handed on, and that nothing else is. */
#include "tests/lib/test.h"

#include "core/base/escape.h"
#include "core/base/str.h"
#include "core/term/filter.h"

static void on_text(void *arg, const uint8_t *bytes, size_t len)
{
	str_append_bytes(arg, (const char *)bytes, len);
}

static void on_mark(void *arg, uint32_t cp)
{
	str_appendf(arg, "{mark %x}", cp);
}

static void on_control(void *arg, uint8_t c)
{
	str_appendf(arg, "{ctl %x}", c);
}

static void on_escape(void *arg, char intermediate, char final)
{
	str_appendf(arg, "{esc %c%c}", intermediate ? intermediate : '.', final);
}

static void on_csi(void *arg, const struct csi *s)
{
	str_appendf(arg, "{csi %c", s->leader ? s->leader : '.');
	for (unsigned i = 0; i < s->count && i < 20; i++)
		str_appendf(arg, "%s%d", s->sub[i] ? ":" : i > 0 ? ";" : "", s->params[i]);
	str_appendf(arg, "%c%c}", s->intermediate ? s->intermediate : '.', s->final);
}

static void on_string(void *arg, enum filter_string kind, const uint8_t *bytes, size_t len, bool bel)
{
	str_appendf(arg, "{%s %.*s%s}", kind == FILTER_OSC ? "osc" : "dcs", (int)len, (const char *)bytes,
	            bel ? " bel" : "");
}

static const struct filter_ops OPS = {on_text, on_mark, on_control, on_escape, on_csi, on_string};

static const struct {
	const char *in, *out;
} CASES[] = {
    {"plain\ttext\r\n", "plain\ttext\r\n"},
    {"nul\x01\x7f\x05", "nul"},
    {"\a\x0e\x0f", "{ctl 7}{ctl e}{ctl f}"},
    {"\x1b[m", "{csi .-1.m}"},
    {"\x1b[1;;3H", "{csi .1;-1;3.H}"},
    {"\x1b[38:2::1:2:3m", "{csi .38:2:-1:1:2:3.m}"},
    {"\x1b[?25;2004h", "{csi ?25;2004.h}"},
    {"\x1b[4 q\x1b[!p\x1b[?2026$p", "{csi .4 q}{csi .-1!p}{csi ?2026$p}"},
    {"\x1b[99999999999999999999C", "{csi .65535.C}"},
    {"\x1b[1?2hx", "x"},               /* a leader in the wrong place */
    {"\x1b[1 2hx", "x"},               /* a number after an intermediate */
    {"\x1b[1 !hx", "x"},               /* two intermediates */
    {"\x1b[?>1hx", "x"},               /* two leaders */
    {"\x1b[3\n1Cx", "\n{csi .31.C}x"}, /* a control acts at once */
    {"\x1b[3\x18"
     "4x",
     "4x"},
    {"\x1b[3\x1b[4Cx", "{csi .4.C}x"},
    {"\x1b[3\xc3\xa4x", "\xc3\xa4x"},
    {"\x1b(0\x1b#8\x1b$)B", "{esc (0}{esc #8}{esc ?B}"},
    {"\x1b"
     "7\x1b"
     "c",
     "{esc .7}{esc .c}"},
    {"\x1b]2;title\x1b\\x", "{osc 2;title}x"},
    {"\x1b]2;title\ax", "{osc 2;title bel}x"},
    {"\x1b]2;a\x18"
     "b",
     "b"},
    {"\x1b]2;a\x1b[1mb", "{csi .1.m}b"},
    {"\x1bPq\a\x1b\\x", "{dcs q}x"}, /* BEL does not end a DCS */
    {"\x1b_Ga=q\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\x", "x"},
    {"\x1b]52;c;?\a", "{osc 52;c;? bel}"},
    {"\xc3\xa4\xe2\x94\x80\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x94\x80\xf0\x9f\x98\x80"},
    {"\xff\xc0\x80z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"},
    {"\xe2\x94z", "\xef\xbf\xbd\xef\xbf\xbdz"},
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
    {"a\xc2\x9b"
     "31mb",
     "a31mb"}, /* C1 as UTF-8 */
    {"a\x9b"
     "b",
     "a\xef\xbf\xbd"
     "b"}, /* and raw */
    {"a\u202eb\u200bc\ufeffd\u200de", "abcde"},
    {"e\u0301\u0302", "e{mark 301}{mark 302}"},
    {"\u0301x", "x"}, /* nothing to join */
    {"e\n\u0301", "e\n"},
    {"e\x1b[m\u0301", "e{csi .-1.m}"},
};

static void hands_on_whole_pieces_only(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		size_t len = strlen(CASES[i].in);
		/* All at once, cut at every place, and byte by byte. */
		for (size_t cut = 0; cut <= len; cut++) {
			struct str out = STR_INIT(4096);
			struct filter f;
			const uint8_t *in = (const uint8_t *)CASES[i].in;
			filter_init(&f, &OPS, &out);
			if (cut < len) {
				filter_write(&f, in, cut);
				filter_write(&f, in + cut, len - cut);
			} else {
				for (size_t k = 0; k < len; k++)
					filter_write(&f, in + k, 1);
			}
			const char *want = CASES[i].out;
			if (strcmp(out.s, want) != 0) {
				char shown[256];
				escape_text(shown, sizeof(shown), CASES[i].in, len);
				fail_msg("%s cut at %zu gave %s", shown, cut, out.s);
			}
			str_finish(&out);
			filter_finish(&f);
		}
	}
}

static void limits_numbers_and_strings(void **state)
{
	(void)state;
	struct str out = STR_INIT(65536);
	struct filter f;
	filter_init(&f, &OPS, &out);
	filter_write(&f, (const uint8_t *)"\x1b[", 2);
	for (int i = 0; i < FILTER_PARAMS_MAX - 1; i++)
		filter_write(&f, (const uint8_t *)"1;", 2);
	filter_write(&f, (const uint8_t *)"1m", 2);
	assert_non_null(strstr(out.s, "{csi .1;1;1"));
	str_clear(&out);
	filter_write(&f, (const uint8_t *)"\x1b[", 2);
	for (int i = 0; i < FILTER_PARAMS_MAX; i++)
		filter_write(&f, (const uint8_t *)"1;", 2);
	filter_write(&f, (const uint8_t *)"1mx", 3);
	assert_string_equal(out.s, "x");
	for (int over = 0; over < 2; over++) {
		str_clear(&out);
		filter_write(&f, (const uint8_t *)"\x1b]", 2);
		for (int i = 0; i < FILTER_STRING_MAX + over; i++)
			filter_write(&f, (const uint8_t *)"t", 1);
		filter_write(&f, (const uint8_t *)"\x1b\\x", 3);
		assert_int_equal(out.len, over ? 1 : FILTER_STRING_MAX + 7);
	}
	str_finish(&out);
	filter_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hands_on_whole_pieces_only),
	    cmocka_unit_test(limits_numbers_and_strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
