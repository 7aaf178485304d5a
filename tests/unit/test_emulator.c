/* core/term/emulator: what crashes stock libvterm, what it gets wrong, answers, modes, history, sizes, pastes. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "core/term/keys.h"
#include "tests/lib/term_test.h"

/* ---- inputs that break libvterm when they reach it: they must neither crash nor hang, and the terminal must go on ----- */

struct repro {
	const char *name;
	unsigned rows, cols;
	const char *first;
	unsigned then_rows, then_cols; /* 0: no resize */
	const char *second;
};

static const struct repro REPROS[] = {
    {"S1 many parameters", 24, 80, "\x1b[38;2;255;255;255;48;2;255;255;255;1;3;4;5;7;9;11m", 0, 0, "x"},
    {"S2 repeat before a glyph", 24, 80, "\x1b[5b", 0, 0, "x\x1b[99999b"},
    {"S3 region outlives a resize", 10, 20, "\x1b[8;10r", 5, 20, "\n\x1b[S\n\n\x1b[L"},
    {"S4 restore outside", 24, 80,
     "\x1b[24;80H\x1b"
     "7",
     3, 5,
     "\x1b"
     "8text\x1b[X\x1b[Z\x1bH\x1b[1J"},
    {"S5 resize after that", 24, 80, "\x1b[24;80H\x1b[s", 3, 5, "\x1b[utext\x1b[J"},
    {"S6 wide in a tiny pane", 6, 1, "\u4e2d\x1b[b\u4e2d", 1, 1, "\u4e2d\u4e2d"},
    {"S6 wide repeated", 6, 3, "\u4e2d\x1b[b\x1b[9b", 0, 0, "\u4e2d"},
    {"S7 shrink at the top", 24, 80, "\x1b[H", 1, 80, "\x1b[Xtext\x1b[J"},
    {"S8 broken UTF-8", 24, 80,
     "\xcf\n\xf9"
     "a",
     0, 0, "\xcf\xcf\n"},
    {"S9 no size", 0, 0, "text", 65535, 65535, "\x1b[9999;9999Hx"},
    {"S10 torn string end", 24, 80, "\x1b]0;CD \x1b", 0, 0, "\\x"},
    {"S11 wrapped text and sizes", 10, 80, "0123456789\u4e2d\u4e2d\u4e2d0123456789\u4e2d\u4e2d0123456789", 5,
     40, "\u4e2d0123456789\u4e2d"},
    {"S12 huge number", 24, 80, "\x1b[99999999999999999999C", 0, 0, "x\x1b[2147483648;4294967297H"},
    {"insert at a cut wide cell", 4, 9, "\x1b[4h\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d", 4, 6,
     "\x1b[H\x1b[3P\x1b[@\x1b[K"},
    {"margins and origin", 9, 9, "\x1b[3;5r\x1b[?6h\x1b[9;9H", 2, 2,
     "\x1b[?6l\x1b[?6h\x1bM\x1b[9A\x1b"
     "8x"},
    {"left and right margins", 9, 9, "\x1b[?69h\x1b[3;5s\x1b[9;9H", 2, 2, "xyz\x1b[3;2s\x1b[@\x1b['}"},
    {"double width lines", 9, 9, "\x1b#6\x1b#3abcdef\x1b[?69h", 2, 2, "\x1b#6xyz\u4e2d"},
};

static void survives_what_breaks_libvterm(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(REPROS); i++) {
		const struct repro *r = &REPROS[i];
		struct term_test t;
		term_test_init(&t, r->rows, r->cols);
		term_test_write(&t, r->first);
		if (r->then_rows > 0)
			emulator_resize(t.e, r->then_rows, r->then_cols);
		term_test_write(&t, r->second);
		emulator_resize(t.e, 7, 30);
		term_test_write(&t, "\x18\x1b[!p\x1b[2J\x1b[H\x1b[malive");
		if (strcmp(term_test_row(&t, 0), "alive") != 0)
			fail_msg("%s: %s", r->name, term_test_row(&t, 0));
		term_test_finish(&t);
	}
}

/* An endless row of combining marks on one base makes libvterm's buffer grow for ever. */
static void marks_cost_no_memory(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	term_test_write(&t, "a");
	size_t before = emulator_memory(t.e);
	for (int i = 0; i < 20000; i++)
		term_test_write(&t, "\u0301");
	assert_in_range(emulator_memory(t.e), before, before + 8192);
	assert_string_equal(term_test_row(&t, 0), "a\u0301\u0301\u0301\u0301");
	term_test_finish(&t);
}

/* More different clusters than the table holds: old ones that are no longer shown make room. */
static void cluster_table_is_swept(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	for (unsigned i = 0; i < 4 * CLUSTERS_MOST; i++) {
		char text[16];
		const char mark[3] = {(char)0xcc, (char)(0x80 + i / 256 % 48), 0};
		const char mark2[3] = {(char)0xcc, (char)(0x80 + i / 16 % 16), 0};
		snprintf(text, sizeof(text), "%c%s%s\r\n", 'a' + (int)(i % 16), mark, mark2);
		term_test_write(&t, text);
	}
	assert_true(emulator_clusters(t.e)->count <= CLUSTERS_MOST);
	term_test_write(&t, "\x1b[2J\x1b[Hz\u030f\u0323");
	assert_string_equal(term_test_row(&t, 0), "z\u030f\u0323");
	term_test_finish(&t);
}

/* ---- what a program sees ----------------------------------------------------------------------------------------- */

static const struct {
	const char *name, *in, *rows;
} PICTURES[] = {
    {"text and lines", "one\r\ntwo", "one|two"},
    {"save and restore, SCO form", "ab\x1b[s\x1b[2;1Hcd\x1b[uef", "abef|cd"},
    {"save and restore",
     "ab\x1b"
     "7\x1b[2;1Hcd\x1b"
     "8ef",
     "abef|cd"},
    {"restore without save goes home",
     "ab\r\ncd\x1b"
     "8X",
     "Xb|cd"},
    {"mode 47", "main\x1b[?47h\x1b[2Jalt", "    alt"},
    {"mode 47 and back", "main\x1b[?47h\x1b[2Jalt\x1b[?47l!", "main   !"},
    {"mode 1049 keeps the cursor", "main\x1b[?1049h\x1b[2J\x1b[Halt\x1b[?1049l!", "main!"},
    {"1049l on the primary screen does nothing",
     "\x1b"
     "7main\x1b[?1049l!",
     "main!"},
    {"several modes in one", "\x1b[?25;7;6l\x1b[?25;2004h0123456789abcdefghijZ", "0123456789abcdefghiZ"},
    {"repeat", "a\x1b[3b-", "aaaa-"},
    {"repeat what is not right before it", "a\r\x1b[2b\x1b[2Gb\x1b[1m\x1b[2b\x1b[2Gc\x1b[b\x1b[9b", "acc"},
    {"repeat wide", "\u4e2d\x1b[2b-", "\u4e2d\u4e2d\u4e2d-"},
    {"repeat with marks", "e\u0301\x1b[2b", "e\u0301e\u0301e\u0301"},
    {"repeat fills the screen and no more", "x\x1b[65535b",
     "xxxxxxxxxxxxxxxxxxxx|xxxxxxxxxxxxxxxxxxxx|"
     "xxxxxxxxxxxxxxxxxxxx|x"},
    {"line drawing", "\x1b(0lqk\x1b(Bq", "\u250c\u2500\u2510q"},
    {"line drawing with SO and SI", "\x1b)0q\x0eq\x0fq", "q\u2500q"},
    {"line drawing after a UTF-8 letter", "\x1b(0\u00e4qx", "\u00e4\u2500\u2502"},
    {"restore brings the character set back",
     "\x1b(0\x1b"
     "7\x1b(Bq\x1b"
     "8q",
     "\u2500"},
    {"wide at the edge wraps", "0123456789abcdefghi\u4e2d", "0123456789abcdefghi|\u4e2d"},
    {"half of a wide cell goes", "\u4e2d\u6587\x1b[2Gx", " x\u6587"},
    {"other half", "\u4e2d\u6587\x1b[3Gx", "\u4e2dx"},
    {"delete cuts a wide cell", "\u4e2d\u6587z\x1b[1G\x1b[P", " \u6587z"},
    {"insert cuts a wide cell", "\u4e2d\u6587z\x1b[2G\x1b[@", "   \u6587z"},
    {"insert mode", "world\x1b[H\x1b[4hhello ", "hello world"},
    {"erase in line", "hello world\x1b[6G\x1b[K", "hello"},
    {"erasing at the edge takes the wrap back", "0123456789abcdefghij\x1b[Kxy", "0123456789abcdefghix|y"},
    {"so does moving", "0123456789abcdefghij\x1b[20Gxy", "0123456789abcdefghix|y"},
    {"and switching it off", "0123456789abcdefghij\x1b[?7l\x1b[?7hxy", "0123456789abcdefghix|y"},
    {"a style does not", "0123456789abcdefghij\x1b[1mxy", "0123456789abcdefghij|xy"},
    {"saved and restored at the edge",
     "0123456789abcdefghij\x1b"
     "7\x1b[H\x1b"
     "8xy",
     "0123456789abcdefghij|xy"},
    {"but not with wrapping off",
     "0123456789abcdefghij\x1b"
     "7\x1b[?7l\x1b"
     "8xy",
     "0123456789abcdefghiy"},
    {"restored at the bottom", "\x1b[4;1H0123456789abcdefghij\x1b[s\x1b[H\x1b[ux",
     "||0123456789abcdefghij|x"},
    {"restored in insert mode", "\x1b[4h0123456789abcdefghij\x1b[s\x1b[H\x1b[ux", "0123456789abcdefghij|x"},
    {"erase characters", "hello\x1b[2G\x1b[2X", "h  lo"},
    {"erase above", "a\r\nb\r\nc\x1b[2;1H\x1b[1J", "||c"},
    {"delete and insert lines", "a\r\nb\r\nc\x1b[2;1H\x1b[M\x1b[H\x1b[L", "|a|c"},
    {"region scrolls", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\n-", "a|c|-|d"},
    {"reverse index", "a\r\nb\x1b[H\x1bMz", "z|a|b"},
    {"origin mode", "\x1b[2;3r\x1b[?6hx\x1b[9;1Hy", "|x|y"},
    {"restore in origin mode",
     "\x1b[2;3r\x1b[?6h\x1b[2;2H\x1b"
     "7\x1b[?6l\x1b[H\x1b"
     "8x",
     "|| x"},
    {"soft reset", "\x1b[2;3r\x1b[?6h\x1b[4hx\x1b[!p\x1b[Hab\x1b[Hc", "cb|x"},
    {"full reset",
     "text\x1b[2;3r\x1b[?6h\x1b(0\x1b"
     "cq",
     "q"},
    {"tabs", "\x1b[3g\x1b[5G\x1bH\rx\ty", "x   y"},
    {"alignment", "\x1b[?7h\x1b#8",
     "EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE|EEEEEEEEEEEEEEEEEEEE|"
     "EEEEEEEEEEEEEEEEEEEE"},
    {"strings are not text", "a\x1b_Gi=1\x1b\\b\x1bP1;2q\x1b\\c\x1b]52;c;QUJD\ad", "abcd"},
    {"kitty keyboard sequences draw nothing", "\x1b[?u\x1b[>1u\x1b[<u\x1b[=1ux", "x"},
    {"modifyOtherKeys is no colour", "\x1b[>4;2mx", "x"},
    {"a zero width joiner joins nothing", "\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469"},
};

/* A few bytes draw a screen, but a flood of them no more than a line each: what they scroll away is counted. */
static void a_flood_of_repeats_is_bounded(void **state)
{
	(void)state;
	static const char *const GLYPHS[] = {"x", "e\u0301\u0302", "\u4e2d"};
	for (size_t i = 0; i < ARRAY_LEN(GLYPHS); i++) {
		struct term_test t;
		term_test_init(&t, 24, 80);
		for (int n = 0; n < 100; n++) {
			term_test_write(&t, GLYPHS[i]);
			term_test_write(&t, "\x1b[9999b");
		}
		unsigned lines = emulator_history_count(t.e);
		assert_true(lines > 10);
		assert_true(lines < 2 * (100 + 2 * 24)); /* a wide glyph takes two columns */
		term_test_write(&t, "\x1b#8");
		assert_null(strchr(term_test_rows(&t), 'E'));
		for (int n = 0; n < 24; n++)
			term_test_write(&t, "\x1b[H");
		term_test_write(&t, "\x1b#8");
		assert_non_null(strchr(term_test_rows(&t), 'E'));
		term_test_finish(&t);
	}
}

static void draws_the_right_picture(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(PICTURES); i++) {
		struct term_test t;
		term_test_init(&t, 4, 20);
		term_test_write(&t, PICTURES[i].in);
		if (strcmp(term_test_rows(&t), PICTURES[i].rows) != 0)
			fail_msg("%s: %s", PICTURES[i].name, term_test_rows(&t));
		term_test_finish(&t);
	}
}

static const struct {
	const char *in;
	struct cell want;
} STYLES[] = {
    {"\x1b[1;31mx", {.fg = COLOUR_INDEXED(1), .attrs = CELL_BOLD}},
    {"\x1b[2mx", {.attrs = CELL_DIM}},
    {"\x1b[1;2;22mx", {0}},
    {"\x1b[3;5;7;8;9;53mx",
     {.attrs = CELL_ITALIC | CELL_BLINK | CELL_REVERSE | CELL_CONCEAL | CELL_STRIKE | CELL_OVERLINE}},
    {"\x1b[4mx", {.attrs = UNDERLINE_SINGLE << 8}},
    {"\x1b[4:3mx", {.attrs = UNDERLINE_CURLY << 8}},
    {"\x1b[4:5mx", {.attrs = UNDERLINE_DASHED << 8}},
    {"\x1b[4:3;4:0mx", {0}},
    {"\x1b[21mx", {.attrs = UNDERLINE_DOUBLE << 8}},
    {"\x1b[38;5;200mx", {.fg = COLOUR_INDEXED(200)}},
    {"\x1b[38:5:200mx", {.fg = COLOUR_INDEXED(200)}},
    {"\x1b[38;2;1;2;3mx", {.fg = COLOUR_RGB(1, 2, 3)}},
    {"\x1b[38:2:1:2:3mx", {.fg = COLOUR_RGB(1, 2, 3)}},
    {"\x1b[38:2::1:2:3mx", {.fg = COLOUR_RGB(1, 2, 3)}},
    {"\x1b[48;2;1;2;3;1mx", {.bg = COLOUR_RGB(1, 2, 3), .attrs = CELL_BOLD}},
    {"\x1b[58;5;1mx", {.ul = COLOUR_INDEXED(1)}}, /* no bold */
    {"\x1b[58;5;5mx", {.ul = COLOUR_INDEXED(5)}}, /* no blink */
    {"\x1b[58:2::240:143:104;59mx", {0}},
    {"\x1b[4:3m\x1b[58:2::240:143:104mx", {.ul = COLOUR_RGB(240, 143, 104), .attrs = UNDERLINE_CURLY << 8}},
    {"\x1b[38;2;255;255;255;48;2;255;255;255;1;3;4;5;7;9;11mx",
     {.fg = COLOUR_RGB(255, 255, 255),
      .bg = COLOUR_RGB(255, 255, 255),
      .attrs = CELL_BOLD | CELL_ITALIC | UNDERLINE_SINGLE << 8 | CELL_BLINK | CELL_REVERSE | CELL_STRIKE}},
    {"\x1b[38;5;300;1mx", {.attrs = CELL_BOLD}}, /* no such colour */
    {"\x1b[38;2;1mx", {0}},
    {"\x1b[38mx", {0}},
    {"\x1b[92;103mx", {.fg = COLOUR_INDEXED(10), .bg = COLOUR_INDEXED(11)}},
    {"\x1b[31;42;39;49mx", {0}},
    {"\x1b[1m\x1b"
     "7\x1b[m\x1b"
     "8x",
     {.attrs = CELL_BOLD}},
    {"\x1b[31m\x1b[Hx\x1b[0m", {.fg = COLOUR_INDEXED(1)}},
    {"\x1b[44m\x1b[K\x1b[0m", {.bg = COLOUR_INDEXED(4)}},    /* erasing takes the background */
    {"\x1b[44;7m\x1b[2J\x1b[0m", {.bg = COLOUR_INDEXED(4)}}, /* and nothing else */
    {"\x1b[44;7m\x1b#8", {0}},                               /* alignment takes nothing */
};

static void keeps_every_style(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(STYLES); i++) {
		struct term_test t;
		term_test_init(&t, 4, 20);
		term_test_write(&t, STYLES[i].in);
		struct cell c = term_test_cell(&t, 0, 0);
		if (!cell_same_style(&c, &STYLES[i].want))
			fail_msg("style %zu: fg %x bg %x ul %x attrs %x", i, c.fg, c.bg, c.ul, c.attrs);
		term_test_finish(&t);
	}
}

static const struct {
	const char *in, *replies;
} QUERIES[] = {
    {"\x1b[c", "\\x1b[?1;2c"},
    {"\x1b[0c", "\\x1b[?1;2c"},
    {"\x1b[>c", "\\x1b[>0;100;0c"},
    {"\x1b[>q", "\\x1bP>|ccvm(" CCVM_VERSION ")\\x1b\\\\"},
    {"\x1b[5n", "\\x1b[0n"},
    {"\x1b[3;4H\x1b[6n\x1b[?6n", "\\x1b[3;4R\\x1b[?3;4R"},
    {"\x1b[2;3r\x1b[?6h\x1b[2;1H\x1b[6n", "\\x1b[2;1R"},
    {"\x1b[18t\x1b[14t\x1b[16t\x1b[21t", "\\x1b[8;4;20t"},
    {"\x1b[?2026$p\x1b[?2026h\x1b[?2026$p", "\\x1b[?2026;2$y\\x1b[?2026;1$y"},
    {"\x1b[?2004h\x1b[?2004$p\x1b[?1004$p", "\\x1b[?2004;1$y\\x1b[?1004;2$y"},
    {"\x1b[?25$p\x1b[?7$p\x1b[4$p\x1b[4h\x1b[4$p", "\\x1b[?25;1$y\\x1b[?7;1$y\\x1b[4;2$y\\x1b[4;1$y"},
    {"\x1b[?69$p\x1b[?9999$p", "\\x1b[?69;0$y\\x1b[?9999;0$y"},
    {"\x1b[?1003h\x1b[?1003$p\x1b[?1000$p", "\\x1b[?1003;1$y\\x1b[?1000;2$y"},
    {"\x1b]11;?\x1b\\", "\\x1b]11;rgb:0000/0000/0000\\x1b\\\\"},
    {"\x1b]10;?\a", "\\x1b]10;rgb:d0d0/d0d0/d0d0\\x07"},
    {"\x1b]4;1;?\a", "\\x1b]4;1;rgb:cdcd/0000/0000\\x07"},
    {"\x1b]4;256;?\a\x1b]4;1;#fff\a\x1b]4;\a\x1b]4\a", ""},
    {"\x1b]52;c;?\a", ""}, /* the clipboard is nobody's business */
    {"\x1b]2;x\a\x1b[21t", ""},
    {"\x1b[?996n", "\\x1b[?997;1n"},
    {"\x1b[1;31m\x1bP$qm\x1b\\", "\\x1bP1$r0;1;31m\\x1b\\\\"},
    {"\x1b[4 q\x1bP$q q\x1b\\", "\\x1bP1$r4 q\\x1b\\\\"},
    {"\x1bP$qz\x1b\\", "\\x1bP0$r\\x1b\\\\"},
    {"\x1bP+q544e\x1b\\", ""},
    {"\x05\x1bZ", ""},
};

static void answers_what_programs_ask(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(QUERIES); i++) {
		struct term_test t;
		term_test_init(&t, 4, 20);
		term_test_write(&t, QUERIES[i].in);
		const char *got = term_test_replies(&t);
		if (strcmp(got, QUERIES[i].replies) != 0)
			fail_msg("query %zu: %s", i, got);
		term_test_finish(&t);
	}
}

static void tells_of_new_colours_when_asked_to(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	emulator_set_default_colours(t.e, COLOUR_RGB(0, 0, 0), COLOUR_RGB(250, 250, 250));
	assert_string_equal(term_test_replies(&t), "");
	term_test_write(&t, "\x1b[?2031h");
	emulator_set_default_colours(t.e, COLOUR_RGB(255, 255, 255), COLOUR_RGB(0, 0, 0));
	assert_string_equal(term_test_replies(&t), "\\x1b[?997;1n");
	term_test_finish(&t);
}

/* ---- title, bell, modes, cursor ---------------------------------------------------------------------------------- */

static void titles_are_cleaned_and_kept_apart(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	term_test_write(&t, "\x1b]0;a\tb\x7f\u202e\xc2\x9b\u00e4\xff\x1b\\");
	assert_string_equal(emulator_title(t.e), "ab\u00e4\ufffd");
	term_test_write(&t, "\x1b]1;icon\a\x1b[22;0t\x1b]2;second\a");
	assert_string_equal(emulator_title(t.e), "second");
	term_test_sync(&t);
	assert_string_equal(t.screen.title, "second");
	term_test_write(&t, "\x1b[23;0t\x1b[23;0t");
	assert_string_equal(emulator_title(t.e), "ab\u00e4\ufffd");
	char longer[1100];
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "\x1b]2;", 4);
	memcpy(longer + 600, "\a", 2);
	term_test_write(&t, longer);
	assert_int_equal(strlen(emulator_title(t.e)), TERM_TITLE_MAX);
	term_test_sync(&t);
	assert_string_equal(t.screen.title, emulator_title(t.e));
	term_test_finish(&t);
}

static void modes_are_seen_by_the_client(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	term_test_write(&t, "\x1b[?1;1004;2004;1002;1006h\x1b=\x1b[20h\a\a");
	term_test_sync(&t);
	assert_int_equal(t.screen.modes, TERM_APP_CURSOR | TERM_FOCUS_EVENTS | TERM_BRACKETED_PASTE |
	                                     TERM_MOUSE_DRAG | TERM_MOUSE_SGR | TERM_APP_KEYPAD |
	                                     TERM_NEWLINE);
	assert_int_equal(t.screen.bells, 2);
	term_test_write(&t, "\x1b[?1003h\x1b[?1049h\x1b[?25l\x1b[5 q\x1b[2;3H");
	term_test_sync(&t);
	assert_int_equal(t.screen.modes & (TERM_MOUSE_DRAG | TERM_MOUSE_MOVE), TERM_MOUSE_MOVE);
	assert_true(t.screen.modes & TERM_ALT_SCREEN);
	assert_false(t.screen.cursor.visible);
	assert_int_equal(t.screen.cursor.shape, CURSOR_BAR);
	assert_true(t.screen.cursor.blink);
	assert_int_equal(t.screen.cursor.row * 100 + t.screen.cursor.col, 102);
	term_test_write(&t, "\x1b"
	                    "c");
	term_test_sync(&t);
	assert_int_equal(t.screen.modes, 0);
	assert_true(t.screen.cursor.visible);
	term_test_finish(&t);
}

static void synchronised_frames_are_held_but_not_for_ever(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	assert_int_equal(emulator_hold_ms(t.e, 1000), 0);
	term_test_write(&t, "\x1b[?2026h");
	assert_int_equal(emulator_hold_ms(t.e, 1000), EMULATOR_HOLD_MS);
	assert_int_equal(emulator_hold_ms(t.e, 1010), EMULATOR_HOLD_MS - 10);
	/* The next frame begins before anybody could draw this one: the clock goes on. */
	term_test_write(&t, "\x1b[?2026l\x1b[?2026h");
	assert_int_equal(emulator_hold_ms(t.e, 1100), EMULATOR_HOLD_MS - 100);
	assert_int_equal(emulator_hold_ms(t.e, 1000 + EMULATOR_HOLD_MS), 0);
	assert_int_equal(emulator_hold_ms(t.e, 1001 + EMULATOR_HOLD_MS), EMULATOR_HOLD_MS);
	term_test_write(&t, "\x1b[?2026l");
	assert_int_equal(emulator_hold_ms(t.e, 1002 + EMULATOR_HOLD_MS), 0);
	term_test_write(&t, "\x1b[?2026h");
	emulator_resize(t.e, 5, 20);
	assert_int_equal(emulator_hold_ms(t.e, 2000), 0);
	term_test_finish(&t);
}

/* ---- history and sizes ------------------------------------------------------------------------------------------- */

static void write_lines(struct term_test *t, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		char line[32];
		snprintf(line, sizeof(line), "%sline %u", i > 0 ? "\r\n" : "", i);
		term_test_write(t, line);
	}
}

static const char *history_line(struct term_test *t, unsigned index)
{
	struct cell cells[40];
	struct clusters clusters = {0};
	unsigned flags;
	size_t used = emulator_history_row(t->e, index, cells, ARRAY_LEN(cells), &clusters, &flags);
	str_clear(&t->text);
	for (size_t i = 0; i < used; i++) {
		char text[CELL_UTF8_MAX];
		str_append_bytes(&t->text, text, clusters_cell_utf8(&clusters, &cells[i], text));
	}
	clusters_finish(&clusters);
	return t->text.s;
}

static void history_keeps_what_leaves_the_top(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	write_lines(&t, 0, 10);
	assert_int_equal(emulator_history_count(t.e), 6);
	assert_string_equal(history_line(&t, 0), "line 0");
	assert_string_equal(history_line(&t, 5), "line 5");
	/* A region at the top counts, one below does not; deleted lines and the alternate screen do not. */
	term_test_write(&t, "\x1b[2;4r\x1b[4;1H\n\x1b[r\x1b[H\x1b[M\x1b[?1049h\n\n\n\n\n\x1b[?1049l");
	assert_int_equal(emulator_history_count(t.e), 6);
	term_test_write(&t, "\x1b[1;2r\x1b[2;1H\n\x1b[r");
	assert_int_equal(emulator_history_count(t.e), 7);
	emulator_set_scrollback(t.e, 2);
	assert_int_equal(emulator_history_count(t.e), 2);
	assert_string_equal(history_line(&t, 0), "line 5");
	write_lines(&t, 10, 30);
	assert_int_equal(emulator_history_count(t.e), 2);
	term_test_write(&t, "\x1b[3J");
	assert_int_equal(emulator_history_count(t.e), 0);
	term_test_finish(&t);
}

static void resizing_keeps_the_lines_around_the_cursor(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 6, 20);
	write_lines(&t, 0, 6);
	emulator_resize(t.e, 3, 20);
	assert_string_equal(term_test_rows(&t), "line 3|line 4|line 5");
	assert_int_equal(emulator_history_count(t.e), 3);
	term_test_write(&t, "!");
	emulator_resize(t.e, 5, 20);
	assert_string_equal(term_test_rows(&t), "line 1|line 2|line 3|line 4|line 5!");
	assert_int_equal(t.screen.cursor.row, 4);
	/* With the cursor at the top the lines below go. */
	term_test_write(&t, "\x1b[H");
	emulator_resize(t.e, 2, 20);
	assert_string_equal(term_test_rows(&t), "line 1|line 2");
	assert_int_equal(t.screen.cursor.row, 0);
	term_test_finish(&t);
}

static void narrowing_hides_until_the_row_changes(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	term_test_write(&t, "0123456789abcdef\r\nABCDEFGHIJKLMNOP\r\n12345678\u4e2d!");
	emulator_resize(t.e, 4, 9);
	assert_string_equal(term_test_rows(&t), "012345678|ABCDEFGHI|12345678");
	term_test_write(&t, "\x1b[2;1Hx");
	emulator_resize(t.e, 4, 20);
	assert_string_equal(term_test_rows(&t), "0123456789abcdef|xBCDEFGHI|12345678\u4e2d!");
	term_test_finish(&t);
}

static void resizing_in_the_alternate_screen_keeps_the_primary(void **state)
{
	(void)state;
	struct term_test t;
	for (int with_cursor = 0; with_cursor < 2; with_cursor++) {
		term_test_init(&t, 6, 20);
		write_lines(&t, 0, 6);
		term_test_write(&t, with_cursor ? "\x1b[?1049h" : "\x1b[?1047h");
		term_test_write(&t, "\x1b[Hvim");
		emulator_resize(t.e, 3, 20);
		assert_string_equal(term_test_rows(&t), "vim");
		emulator_resize(t.e, 6, 20);
		term_test_write(&t, with_cursor ? "\x1b[?1049l" : "\x1b[?1047l\x1b[6;7H");
		term_test_write(&t, "!");
		assert_string_equal(term_test_rows(&t), "line 0|line 1|line 2|line 3|line 4|line 5!");
		term_test_finish(&t);
	}
}

/* The saved place moves with the lines that it was saved on. */
static void leaving_the_alternate_screen_finds_the_cursor(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 6, 20);
	write_lines(&t, 0, 6);
	term_test_write(&t, "\x1b[?1049h\x1b[Hvim");
	emulator_resize(t.e, 4, 20);
	term_test_write(&t, "\x1b[?1049l!");
	assert_string_equal(term_test_rows(&t), "line 2|line 3|line 4|line 5!");
	term_test_write(&t, "\x1b[?1049h\x1b[Hvim");
	emulator_resize(t.e, 5, 20); /* a line comes back out of the history */
	term_test_write(&t, "\x1b[?1049l?");
	assert_string_equal(term_test_rows(&t), "line 1|line 2|line 3|line 4|line 5!?");
	term_test_finish(&t);
}

static void an_idle_terminal_is_small(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 24, 80);
	write_lines(&t, 0, 24);
	assert_in_range(emulator_memory(t.e), 1, 100 * 1024);
	write_lines(&t, 24, 20000);
	assert_int_equal(emulator_history_count(t.e), EMULATOR_SCROLLBACK_DEFAULT);
	assert_in_range(emulator_memory(t.e), 1, 400 * 1024);
	term_test_finish(&t);
}

/* Erasing and scrolling in a colour makes no cells: a few bytes of a guest would else fill megabytes, again and again. */
static void colours_cost_no_cells(void **state)
{
	(void)state;
	static const char *const FILLS[] = {"\x1b[2J",         "\x1b[H\x1b[J",      "\x1b[999S",
	                                    "\x1b[999T",       "\x1b[999;1H\n\n\n", "\x1b[H\x1b[999L",
	                                    "\x1b[H\x1b[999M", "\x1b[?1049h"};
	for (size_t i = 0; i < ARRAY_LEN(FILLS); i++) {
		struct term_test t;
		term_test_init(&t, TERM_ROWS_MAX, TERM_COLS_MAX);
		size_t before = emulator_memory(t.e);
		term_test_write(&t, "\x1b[44m");
		term_test_write(&t, FILLS[i]);
		assert_in_range(emulator_memory(t.e), before, before + 128 * 1024);
		assert_int_equal(term_test_cell(&t, TERM_ROWS_MAX - 1, TERM_COLS_MAX - 1).bg,
		                 i == 3 || i == 5 ? COLOUR_DEFAULT : COLOUR_INDEXED(4));
		term_test_finish(&t);
	}
}

/* ---- towards the guest ------------------------------------------------------------------------------------------- */

static const struct {
	bool bracketed;
	const char *in, *out;
} PASTES[] = {
    {false, "echo hi", "echo hi"},
    {true, "echo hi", "\\x1b[200~echo hi\\x1b[201~"},
    {false, "a\nb\r\nc\rd\te", "a\\x0db\\x0dc\\x0dd\\te"},
    {true, "a\x1b[201~\rb", "\\x1b[200~a[201~\\x0db\\x1b[201~"},
    {true, "\x1b[20\x1b[201~1~", "\\x1b[200~[20[201~1~\\x1b[201~"},
    {true, "x\x03\x13\x04\x16\x7f\x07y", "\\x1b[200~xy\\x1b[201~"},
    {true,
     "\xc2\x9b"
     "201~\xc2\xa0\xc3\x9b",
     "\\x1b[200~201~\\xc2\\xa0\\xc3\\x9b\\x1b[201~"},
    {true, "\xc2", "\\x1b[200~\\x1b[201~"},
    {true, "", "\\x1b[200~\\x1b[201~"},
    {false, "", ""},
};

static void pastes_cannot_break_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(PASTES); i++) {
		size_t len = strlen(PASTES[i].in);
		for (size_t cut = 0; cut <= len; cut++) {
			struct term_test t;
			term_test_init(&t, 4, 20);
			if (PASTES[i].bracketed)
				term_test_write(&t, "\x1b[?2004h");
			emulator_paste_part(t.e, PASTES[i].in, cut, true, false);
			/* Brackets that were opened are closed, whatever the guest changes meanwhile. */
			term_test_write(&t, PASTES[i].bracketed ? "\x1b[?2004l" : "\x1b[?2004h");
			emulator_paste_part(t.e, PASTES[i].in + cut, len - cut, false, true);
			const char *got = term_test_replies(&t);
			if (strcmp(got, PASTES[i].out) != 0)
				fail_msg("paste %zu cut at %zu: %s", i, cut, got);
			term_test_finish(&t);
		}
	}
}

static void keys_follow_the_modes(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	emulator_key(t.e, TERM_KEY_UP, 0);
	term_test_write(&t, "\x1b[?1h");
	emulator_key(t.e, TERM_KEY_UP, 0);
	emulator_text(t.e, "\u00e4", 2);
	emulator_focus(t.e, true);
	term_test_write(&t, "\x1b[?1004h");
	emulator_focus(t.e, true);
	emulator_focus(t.e, false);
	assert_string_equal(term_test_replies(&t), "\\x1b[A\\x1bOA\\xc3\\xa4\\x1b[I\\x1b[O");
	term_test_finish(&t);
}

static void reset_ends_what_is_unfinished(void **state)
{
	(void)state;
	static const char *const UNFINISHED[] = {"\x1b]2;x",    "\x1b[3", "\xe2\x94",
	                                         "\x1b[?1049h", "\x1b(0", "\x1bP"};
	for (size_t i = 0; i < ARRAY_LEN(UNFINISHED); i++) {
		struct term_test t;
		term_test_init(&t, 4, 20);
		term_test_write(&t, "\x1b]2;old\aold\x1b[5;31m");
		term_test_write(&t, UNFINISHED[i]);
		emulator_reset(t.e);
		term_test_write(&t, "qnew");
		assert_string_equal(term_test_rows(&t), "qnew");
		assert_string_equal(emulator_title(t.e), "");
		assert_int_equal(emulator_modes(t.e), 0);
		assert_int_equal(term_test_cell(&t, 0, 0).attrs, 0);
		term_test_finish(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(survives_what_breaks_libvterm),
	    cmocka_unit_test(marks_cost_no_memory),
	    cmocka_unit_test(cluster_table_is_swept),
	    cmocka_unit_test(a_flood_of_repeats_is_bounded),
	    cmocka_unit_test(draws_the_right_picture),
	    cmocka_unit_test(keeps_every_style),
	    cmocka_unit_test(answers_what_programs_ask),
	    cmocka_unit_test(tells_of_new_colours_when_asked_to),
	    cmocka_unit_test(titles_are_cleaned_and_kept_apart),
	    cmocka_unit_test(modes_are_seen_by_the_client),
	    cmocka_unit_test(synchronised_frames_are_held_but_not_for_ever),
	    cmocka_unit_test(history_keeps_what_leaves_the_top),
	    cmocka_unit_test(resizing_keeps_the_lines_around_the_cursor),
	    cmocka_unit_test(narrowing_hides_until_the_row_changes),
	    cmocka_unit_test(resizing_in_the_alternate_screen_keeps_the_primary),
	    cmocka_unit_test(leaving_the_alternate_screen_finds_the_cursor),
	    cmocka_unit_test(an_idle_terminal_is_small),
	    cmocka_unit_test(colours_cost_no_cells),
	    cmocka_unit_test(pastes_cannot_break_out),
	    cmocka_unit_test(keys_follow_the_modes),
	    cmocka_unit_test(reset_ends_what_is_unfinished),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
