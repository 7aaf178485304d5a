/* core/term: what a program says about itself, and what it gets of mouse and keyboard under the modes that it set. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "tests/lib/term_test.h"

static const struct {
	const char *in, *events;
} SAYINGS[] = {
    {"\a\a", "bell|bell"},
    {"\x1b]0;one\a\x1b]2;one\a\x1b]2;two\x1b\\", "title one|title two"},
    {"\x1b]2;a\u202e\xc2\x9b\u00e4\xff\a", "title a\u00e4\ufffd"},
    {"\x1b]9;it is done\a", "notice it is done"},
    {"\x1b]9;\a\x1b]9;\u200b\a", ""},
    {"\x1b]9;12 files\a\x1b]9;3rd;x\a\x1b]9;13;x\a", "notice 12 files|notice 3rd;x|notice 13;x"},
    {"\x1b]9;1;500\a\x1b]9;9;/root\a\x1b]9;12\a\x1b]9;2;box\a\x1b]9;4\a", ""},
    {"\x1b]9;4;1;50\a\x1b]9;4;0\a\x1b]9;4;3;\a\x1b]9;4;2;300\a\x1b]9;4;4;7;x\a",
     "progress 1 50|progress 0 0|progress 3 0|progress 2 100|progress 4 7"},
    {"\x1b]9;4;5;1\a\x1b]9;4;x\a\x1b]9;4;1;x\a\x1b]9;4;1;-1\a\x1b]9;4;\a", ""},
    {"\x1b]777;notify;Title;the body; all of it\a", "notice Title: the body; all of it"},
    {"\x1b]777;notify;Title\a\x1b]777;notify;;body\a\x1b]777;notify\a\x1b]777;other;a;b\a",
     "notice Title|notice body"},
    {"\x1b]99;;hello\x1b\\", "notice hello"},
    {"\x1b]99;i=1:d=0;He\x1b\\\x1b]99;i=1:d=0;llo\x1b\\\x1b]99;i=1:p=body;World\x1b\\",
     "notice Hello: World"},
    {"\x1b]99;i=1:d=0:p=body;b\x1b\\\x1b]99;i=1:p=title;t\x1b\\", "notice t: b"},
    {"\x1b]99;i=1:d=0;lost\x1b\\\x1b]99;i=2;kept\x1b\\\x1b]99;i=1:d=1;!\x1b\\", "notice kept|notice !"},
    {"\x1b]99;e=1;aGVsbG8gw6Q=\x1b\\\x1b]99;e=1;aGVsbG8\x1b\\", "notice hello \u00e4|notice hello"},
    {"\x1b]99;e=1;YQpi\x1b\\\x1b]99;e=1;Gxtb\x1b\\", "notice a b|notice ["}, /* LF; two ESC and a bracket */
    {"\x1b]99;i=1:d=0;a\x1b\\\x1b]99;i=1:e=1;%%\x1b\\\x1b]99;i=1;b\x1b\\", "notice b"},
    {"\x1b]99;i=1:d=0;t\x1b\\\x1b]99;i=1:p=icon:e=1;AAAA\x1b\\", "notice t"},
    {"\x1b]99;i=x:p=?;\x1b\\\x1b]99;i=x:p=close;\x1b\\\x1b]99;p=alive;\x1b\\\x1b]99;i=1\x1b\\", ""},
    {"\x1b]99;i=1:d=0;t\x1b\\\x1b"
     "c\x1b]99;i=1;u\x1b\\",
     "notice u"},
    {"\x1b]133;A\a$ \x1b]133;B\aid\r\n\x1b]133;C\aout\r\n\x1b]133;D;2\a", "prompt|command|done 2"},
    {"\x1b]133;A;cl=m;aid=7\a\x1b]133;A;k=i\a\x1b]133;A;k=s\a\x1b]133;A;aid=1;k=r\a", "prompt|prompt"},
    {"\x1b]133;D\a\x1b]133;D;0;aid=3\a\x1b]133;D;\a\x1b]133;D;x\a\x1b]133;D;-1\a",
     "done -1|done 0|done -1|done -1|done -1"},
    {"\x1b]133\a\x1b]133;\a\x1b]133;AB\a\x1b]133;X\a\x1b]133;CX;\a", ""},
    {"\x1b[?1049h\x1b]133;A\a\x1b]133;C\a\x1b[?1049l", "prompt|command"},
    {"\x1b]52;c;QUJD\a\x1b]1337;File=a\a\x1b]7;file:///\a\x1b]1;icon\a\x1b]99\a\x1b]9\a", ""},
    {"\x1bP9;not an OSC\x1b\\\x1b_9;x\x1b\\\x1b^9;x\x1b\\", ""},
};

static void programs_are_heard(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(SAYINGS); i++)
		for (int bytewise = 0; bytewise < 2; bytewise++) {
			struct term_test t;
			term_test_init(&t, 4, 20);
			size_t len = strlen(SAYINGS[i].in);
			for (size_t k = 0; bytewise && k < len; k++)
				emulator_write(t.e, SAYINGS[i].in + k, 1);
			if (!bytewise)
				emulator_write(t.e, SAYINGS[i].in, len);
			const char *got = term_test_events(&t);
			if (strcmp(got, SAYINGS[i].events) != 0)
				fail_msg("saying %zu: %s", i, got);
			term_test_finish(&t);
		}
}

static void texts_are_cut(void **state)
{
	(void)state;
	static const char *const STARTS[] = {"\x1b]9;", "\x1b]777;notify;", "\x1b]777;notify;t;", "\x1b]99;;",
	                                     "\x1b]2;"};
	for (size_t i = 0; i < ARRAY_LEN(STARTS); i++) {
		struct term_test t;
		term_test_init(&t, 4, 20);
		term_test_write(&t, STARTS[i]);
		for (int k = 0; k < 300; k++)
			term_test_write(&t, "\u00e4");
		term_test_write(&t, "\a");
		const char *got = term_test_events(&t), *text = strchr(got, ' ') + 1;
		assert_in_range(strlen(text), EMULATOR_TEXT_MAX - 2, EMULATOR_TEXT_MAX);
		assert_null(strchr(text, '\xef')); /* no half of a letter became U+FFFD */
		term_test_finish(&t);
	}
}

/* Pieces without end: what is kept stays small, and the terminal goes on. */
static void endless_strings_cost_nothing(void **state)
{
	(void)state;
	struct term_test t;
	char *flood = malloc(1 << 20);
	assert_non_null(flood);
	term_test_init(&t, 4, 20);
	size_t before = emulator_memory(t.e);
	memset(flood, 'x', 1 << 20);
	term_test_write(&t, "\x1b]9;");
	emulator_write(t.e, flood, 1 << 20);
	term_test_write(&t, "\aafter");
	assert_string_equal(term_test_row(&t, 0), "after");
	assert_string_equal(term_test_events(&t), "");
	for (int i = 0; i < 5000; i++)
		term_test_write(&t, "\x1b]99;i=1:d=0;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\x1b\\");
	term_test_write(&t, "\x1b]99;i=1;\x1b\\");
	assert_in_range(strlen(term_test_events(&t)), 100, 7 + EMULATOR_TEXT_MAX);
	assert_in_range(emulator_memory(t.e), before, before + 16384);
	free(flood);
	term_test_finish(&t);
}

static void a_flood_of_events_is_cut_off(void **state)
{
	(void)state;
	struct term_test t;
	char bells[1000];
	memset(bells, '\a', sizeof(bells));
	term_test_init(&t, 4, 20);
	for (int i = 0; i < 2; i++) {
		emulator_write(t.e, bells, sizeof(bells));
		assert_int_equal(strlen(term_test_events(&t)), EMULATOR_EVENTS_MOST * 5 - 1);
	}
	assert_int_equal(emulator_bells(t.e), 2000);
	term_test_finish(&t);
}

/* ---- the mouse --------------------------------------------------------------------------------------------------- */

static const struct {
	const char *modes;
	struct term_mouse m;
	const char *bytes;
} CLICKS[] = {
    {"", {MOUSE_PRESS, MOUSE_LEFT, 0, 1, 2}, ""},
    {"\x1b[?1000h", {MOUSE_PRESS, MOUSE_LEFT, 0, 1, 2}, "\\x1b[M #\""},
    {"\x1b[?1000h", {MOUSE_PRESS, MOUSE_RIGHT, 0, 0, 0}, "\\x1b[M\"!!"},
    {"\x1b[?1000h", {MOUSE_RELEASE, MOUSE_RIGHT, 0, 0, 0}, "\\x1b[M#!!"},
    {"\x1b[?1000h", {MOUSE_MOVE, MOUSE_LEFT, 0, 0, 0}, ""},
    {"\x1b[?1000h", {MOUSE_PRESS, MOUSE_WHEEL_UP, 0, 0, 0}, "\\x1b[M`!!"},
    {"\x1b[?1000h", {MOUSE_PRESS, MOUSE_NONE, 0, 0, 0}, ""},
    {"\x1b[?1000;1006h", {MOUSE_PRESS, MOUSE_LEFT, 0, 1, 2}, "\\x1b[<0;3;2M"},
    {"\x1b[?1000;1006h", {MOUSE_RELEASE, MOUSE_MIDDLE, 0, 1, 2}, "\\x1b[<1;3;2m"},
    {"\x1b[?1000;1006h", {MOUSE_PRESS, MOUSE_LEFT, TERM_SHIFT, 1, 2}, "\\x1b[<4;3;2M"},
    {"\x1b[?1000;1006h", {MOUSE_PRESS, MOUSE_LEFT, TERM_ALT | TERM_CTRL, 1, 2}, "\\x1b[<24;3;2M"},
    {"\x1b[?1000;1006h", {MOUSE_PRESS, MOUSE_WHEEL_DOWN, 0, 3, 19}, "\\x1b[<65;20;4M"},
    {"\x1b[?1000;1006h", {MOUSE_PRESS, MOUSE_WHEEL_LEFT, 0, 0, 0}, "\\x1b[<66;1;1M"},
    {"\x1b[?1000;1006h", {MOUSE_PRESS, MOUSE_WHEEL_RIGHT, 0, 0, 0}, "\\x1b[<67;1;1M"},
    {"\x1b[?1000;1006h", {MOUSE_RELEASE, MOUSE_WHEEL_UP, 0, 0, 0}, ""},
    {"\x1b[?1002;1006h", {MOUSE_MOVE, MOUSE_LEFT, 0, 1, 2}, "\\x1b[<32;3;2M"},
    {"\x1b[?1002;1006h", {MOUSE_MOVE, MOUSE_NONE, 0, 1, 2}, ""},
    {"\x1b[?1002h", {MOUSE_MOVE, MOUSE_LEFT, 0, 1, 2}, "\\x1b[M@#\""},
    {"\x1b[?1003;1006h", {MOUSE_MOVE, MOUSE_NONE, 0, 1, 2}, "\\x1b[<35;3;2M"},
    {"\x1b[?1003;1006h", {MOUSE_MOVE, MOUSE_WHEEL_UP, 0, 1, 2}, ""},
    {"\x1b[?1003h\x1b[?1003l", {MOUSE_PRESS, MOUSE_LEFT, 0, 1, 2}, ""},
    {"\x1b[?1000h\x1b[?1002h\x1b[?1000l", {MOUSE_PRESS, MOUSE_LEFT, 0, 1, 2}, ""},
    {"\x1b[?9h\x1b[?1005h\x1b[?1015h", {MOUSE_PRESS, MOUSE_LEFT, 0, 1, 2}, ""},
    {"\x1b[?1000;1006h", {MOUSE_PRESS, MOUSE_LEFT, 0, 4, 2}, ""}, /* below the screen */
    {"\x1b[?1002;1006h", {MOUSE_MOVE, MOUSE_LEFT, 0, 40, 60}, "\\x1b[<32;20;4M"},
    {"\x1b[?1000;1006h", {MOUSE_RELEASE, MOUSE_LEFT, 0, 40, 60}, "\\x1b[<0;20;4m"},
    {"\x1b[?1000;1006h", {9, MOUSE_LEFT, 0, 0, 0}, ""},
    {"\x1b[?1000;1006h", {MOUSE_PRESS, 9, 0, 0, 0}, ""},
    {"\x1b[?1049h", {MOUSE_PRESS, MOUSE_WHEEL_UP, 0, 0, 0}, "\\x1b[A\\x1b[A\\x1b[A"},
    {"\x1b[?1049h\x1b[?1h", {MOUSE_PRESS, MOUSE_WHEEL_DOWN, 0, 0, 0}, "\\x1bOB\\x1bOB\\x1bOB"},
    {"\x1b[?1049h", {MOUSE_PRESS, MOUSE_LEFT, 0, 0, 0}, ""},
    {"\x1b[?1049h", {MOUSE_MOVE, MOUSE_WHEEL_UP, 0, 0, 0}, ""},
    {"\x1b[?1049h\x1b[?1007l", {MOUSE_PRESS, MOUSE_WHEEL_UP, 0, 0, 0}, ""},
    {"\x1b[?1049h\x1b[?1000;1006h", {MOUSE_PRESS, MOUSE_WHEEL_UP, 0, 0, 0}, "\\x1b[<64;1;1M"},
    {"\x1b[?1049h\x1b[?1049l", {MOUSE_PRESS, MOUSE_WHEEL_UP, 0, 0, 0}, ""},
};

static void the_mouse_reaches_who_asked_for_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CLICKS); i++) {
		struct term_test t;
		term_test_init(&t, 4, 20);
		term_test_write(&t, CLICKS[i].modes);
		emulator_mouse(t.e, &CLICKS[i].m);
		const char *got = term_test_replies(&t);
		if (strcmp(got, CLICKS[i].bytes) != 0)
			fail_msg("click %zu: %s", i, got);
		term_test_finish(&t);
	}
}

/* The old form has one byte for a place. */
static void far_places_need_the_new_form(void **state)
{
	(void)state;
	uint8_t out[MOUSE_BYTES_MAX];
	struct term_mouse m = {.kind = MOUSE_PRESS, .button = MOUSE_LEFT, .row = 222, .col = 222};
	assert_int_equal(mouse_encode(&m, TERM_MOUSE_CLICK, out), 6);
	assert_int_equal(out[4], 255);
	m.col = 223;
	assert_int_equal(mouse_encode(&m, TERM_MOUSE_CLICK, out), 0);
	m.row = m.col = 65535;
	assert_int_equal(mouse_encode(&m, TERM_MOUSE_CLICK | TERM_MOUSE_SGR, out),
	                 strlen("\x1b[<0;65536;65536M"));
}

/* ---- kitty's keyboard -------------------------------------------------------------------------------------------- */

static const struct {
	const char *in, *replies;
} FLAGS[] = {
    {"\x1b[?u", "\\x1b[?0u"},
    {"\x1b[>1u\x1b[?u", "\\x1b[?1u"},
    {"\x1b[>31u\x1b[?u", "\\x1b[?1u"}, /* only what we do */
    {"\x1b[>2u\x1b[?u", "\\x1b[?0u"},
    {"\x1b[>1u\x1b[<u\x1b[?u", "\\x1b[?0u"},
    {"\x1b[>1u\x1b[>u\x1b[?u\x1b[<1u\x1b[?u", "\\x1b[?0u\\x1b[?1u"},
    {"\x1b[>1u\x1b[>1u\x1b[<2u\x1b[?u", "\\x1b[?0u"},
    {"\x1b[=1u\x1b[<u\x1b[?u", "\\x1b[?0u"}, /* popping more than there is clears */
    {"\x1b[=1u\x1b[?u\x1b[=1;3u\x1b[?u\x1b[=1;2u\x1b[?u\x1b[=0;1u\x1b[?u",
     "\\x1b[?1u\\x1b[?0u\\x1b[?1u\\x1b[?0u"},
    {"\x1b[=1;9u\x1b[?u", "\\x1b[?0u"},
    {"\x1b[>1u\x1b[?1049h\x1b[?u\x1b[>1u\x1b[?u\x1b[<u\x1b[?1049l\x1b[?u", "\\x1b[?0u\\x1b[?1u\\x1b[?1u"},
    {"\x1b[>1u\x1b[!p\x1b[?u", "\\x1b[?0u"},
    {"\x1b[>1u\x1b"
     "c\x1b[?u",
     "\\x1b[?0u"},
    /* Nine on a stack of eight: the oldest is forgotten. */
    {"\x1b[=1u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[<7u\x1b[?u", "\\x1b[?1u"},
    {"\x1b[=1u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[>u\x1b[<7u\x1b[?u", "\\x1b[?0u"},
    {"\x1b[<60000u\x1b[>60000u\x1b[?u", "\\x1b[?0u"},
    {"\x1b[>1u\x1b[s\x1b[u\x1b[?u", "\\x1b[?1u"}, /* not the cursor's */
    {"\x1b[?1007$p\x1b[?1007l\x1b[?1007$p\x1b[?1006$p\x1b[?9$p\x1b[?1005$p\x1b[?1015$p",
     "\\x1b[?1007;1$y\\x1b[?1007;2$y\\x1b[?1006;2$y\\x1b[?9;0$y\\x1b[?1005;0$y\\x1b[?1015;0$y"},
};

static void flags_are_kept_for_each_screen(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(FLAGS); i++) {
		struct term_test t;
		term_test_init(&t, 4, 20);
		term_test_write(&t, FLAGS[i].in);
		const char *got = term_test_replies(&t);
		if (strcmp(got, FLAGS[i].replies) != 0)
			fail_msg("flags %zu: %s", i, got);
		term_test_finish(&t);
	}
}

static void keys_follow_the_flags(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	emulator_key(t.e, TERM_KEY_ENTER, TERM_SHIFT);
	term_test_write(&t, "\x1b[>1u");
	term_test_sync(&t);
	assert_int_equal(t.screen.modes, TERM_KEYS_DISAMBIGUATE);
	emulator_key(t.e, TERM_KEY_ENTER, TERM_SHIFT);
	term_test_write(&t, "\x1b[?1049h");
	emulator_key(t.e, TERM_KEY_ENTER, TERM_SHIFT);
	term_test_write(&t, "\x1b[?1049l");
	emulator_key(t.e, TERM_KEY_ESCAPE, 0);
	term_test_write(&t, "\x1b[<u");
	emulator_key(t.e, TERM_KEY_ESCAPE, 0);
	assert_string_equal(term_test_replies(&t), "\\x0d\\x1b[13;2u\\x0d\\x1b[27u\\x1b");
	term_test_finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(programs_are_heard),
	    cmocka_unit_test(texts_are_cut),
	    cmocka_unit_test(endless_strings_cost_nothing),
	    cmocka_unit_test(a_flood_of_events_is_cut_off),
	    cmocka_unit_test(the_mouse_reaches_who_asked_for_it),
	    cmocka_unit_test(far_places_need_the_new_form),
	    cmocka_unit_test(flags_are_kept_for_each_screen),
	    cmocka_unit_test(keys_follow_the_flags),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
