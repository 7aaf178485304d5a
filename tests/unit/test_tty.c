/* core/term/tty: what an operator's terminal gets. Most checks let our own emulator be that terminal. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/escape.h"
#include "core/term/ascii.h"
#include "core/term/input.h"
#include "core/term/tty.h"
#include "tests/lib/term_test.h"

static const struct tty_caps FULL = {.colours = 256, .truecolor = true, .underlines = true, .links = true};

static const char *const STEPS[] = {
    "text \x1b[1;31mred\x1b[m\r\n",
    "\x1b[3;4H\u4e2d\u6587\u4e2d",
    "\x1b[38;2;9;8;7m\x1b[44m  \x1b[K\x1b[m",
    "\x1b[2;1H\x1b[P\x1b[2@",
    "e\u0301o\u0302",
    "\x1b[H\x1b[2K",
    "\x1b[2J",
    "\x1b[4:3;58:5:3mcurly\x1b[m \x1b[2;7;9;53mx\x1b[m",
    "0123456789012345678901234567890123456789",
    "\r\n\r\n\r\n",
    "\x1b[?25l",
    "\x1b[?25h\x1b[4 q",
    "\x1b[?5h",
    "\x1b[?5l",
    "\U0001f600\u26a0 x",
    "\x1b[7m \x1b[m",
    "\x1b]8;;http://a.example/b\x1b\\li\x1b[1mnk\x1b[m\x1b]8;;\x1b\\ x",
    "\x1b[H\x1b]8;id=1;mailto:c@d.example\x1b\\mail\x1b]8;;\x1b\\",
    "\x1b[2S",
    "\x1b[1;4r\x1b[1;1H\x1bM\x1bM\x1b[r",
    "a\r\nb\r\nc\r\nd\r\n",
};

static void feed(struct term_test *t, const struct buf *b)
{
	emulator_write(t->e, b->data, b->len);
}

/* Draws `now` over `before` on the terminal and compares what it shows. */
static void draw_and_compare(struct term_test *terminal, struct screen *before, const struct screen *now,
                             bool first)
{
	struct buf out = BUF_INIT(1 << 22);
	struct screen want;
	tty_draw(first ? NULL : before, now, now->rows, now->cols, &FULL, &out);
	feed(terminal, &out);
	term_test_sync(terminal);
	screen_init(&want, now->rows, now->cols);
	screen_copy(&want, now);
	for (size_t i = 0; i < (size_t)want.rows * want.cols; i++) {
		struct cell *w = &want.cells[i], *shown = &terminal->screen.cells[i];
		if (now->modes & TERM_REVERSE_VIDEO)
			w->attrs ^= CELL_REVERSE;
		/* A blank cell and a space look the same; so do their invisible foregrounds. */
		w->code = w->code == ' ' ? 0 : w->code;
		shown->code = shown->code == ' ' ? 0 : shown->code;
		if (cell_is_blank(w) && cell_is_blank(shown))
			*w = *shown;
	}
	want.modes = terminal->screen.modes;
	want.bells = terminal->screen.bells;
	want.history = 0;
	want.history_first = terminal->screen.history_first;
	memcpy(want.flags, terminal->screen.flags, want.rows); /* lines are never wrapped here */
	memcpy(want.title, terminal->screen.title, sizeof(want.title));
	if (!now->cursor.visible) {
		want.cursor.row = terminal->screen.cursor.row;
		want.cursor.col = terminal->screen.cursor.col;
	}
	term_test_same(&want, &terminal->screen);
	/* Nothing changed: nothing to send. */
	buf_clear(&out);
	screen_copy(before, now);
	tty_draw(before, now, now->rows, now->cols, &FULL, &out);
	assert_int_equal(out.len, 0);
	screen_finish(&want);
	buf_finish(&out);
}

static void a_terminal_shows_every_frame(void **state)
{
	(void)state;
	srand(11);
	for (int round = 0; round < 60; round++) {
		struct term_test guest, terminal;
		struct screen before;
		term_test_init(&guest, 5, 17);
		term_test_init(&terminal, 5, 17);
		screen_init(&before, 5, 17);
		emulator_write(terminal.e, tty_enter_bytes().p, tty_enter_bytes().len);
		for (int step = 0; step < 25; step++) {
			term_test_write(&guest, STEPS[rand() % (int)ARRAY_LEN(STEPS)]);
			if (rand() % 2)
				continue;
			term_test_sync(&guest);
			draw_and_compare(&terminal, &before, &guest.screen, before.generation == 0);
		}
		assert_int_equal(emulator_history_count(terminal.e), 0);
		screen_finish(&before);
		term_test_finish(&guest);
		term_test_finish(&terminal);
	}
}

static const char *drawn(struct str *text, const char *bytes, unsigned rows, unsigned cols,
                         const struct tty_caps *caps, bool dump)
{
	struct term_test t;
	struct buf out = BUF_INIT(1 << 20);
	char escaped[4096];
	term_test_init(&t, 4, 12);
	term_test_write(&t, bytes);
	term_test_sync(&t);
	if (dump)
		tty_dump(&t.screen, caps, &out);
	else
		tty_draw(NULL, &t.screen, rows, cols, caps, &out);
	escape_text(escaped, sizeof(escaped), (const char *)out.data, out.len);
	str_clear(text);
	str_append(text, escaped);
	buf_finish(&out);
	term_test_finish(&t);
	return text->s;
}

#define STYLED "\x1b[1;38;2;255;0;0;48;5;30;4mx\x1b[m\u4e2de\u0301"

static void colours_follow_the_terminal(void **state)
{
	(void)state;
	static const struct {
		struct tty_caps caps;
		const char *dump;
	} CASES[] = {
	    {{.colours = 256, .truecolor = true, .underlines = true},
	     "\\x1b[0;1;4;38;2;255;0;0;48;5;30mx\\x1b[0m\\xe4\\xb8\\xade\\xcc\\x81\\x0d\\n"},
	    {{.colours = 256, .underlines = true},
	     "\\x1b[0;1;4;38;5;196;48;5;30mx\\x1b[0m\\xe4\\xb8\\xade\\xcc\\x81\\x0d\\n"},
	    {{.colours = 16}, "\\x1b[0;1;4;91;46mx\\x1b[0m\\xe4\\xb8\\xade\\xcc\\x81\\x0d\\n"},
	    {{.colours = 8, .ascii = true}, "\\x1b[0;1;4;31;46mx\\x1b[0m? e\\x0d\\n"},
	    {{.ascii = true}, "\\x1b[0;1;4mx\\x1b[0m? e\\x0d\\n"},
	};
	struct str text = STR_INIT(4096);
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		assert_string_equal(drawn(&text, STYLED, 4, 12, &CASES[i].caps, true), CASES[i].dump);
	str_finish(&text);
}

static void frames_are_cut_to_the_terminal(void **state)
{
	(void)state;
	struct str text = STR_INIT(4096);
	/* The row of the cursor stays visible; a wide cell at the edge is left out. */
	const char *got = drawn(&text, "a\r\nb\r\nc\r\nd\u4e2de", 2, 2, &FULL, false);
	assert_non_null(strstr(got, "[1;1H\\x1b[0mc"));
	assert_non_null(strstr(got, "c\\x0d\\nd"));
	assert_null(strstr(got, "\\xe4"));
	assert_null(strstr(got, "?25h")); /* the cursor is outside */
	struct tty_caps sync = FULL;
	sync.sync = true;
	got = drawn(&text, "x", 4, 12, &sync, false);
	assert_memory_equal(got, "\\x1b[?2026h\\x1b[?25l", 20);
	assert_string_equal(got + strlen(got) - 11, "\\x1b[?2026l");
	/* A dumped screen has no moves and no empty lines at its end. */
	assert_string_equal(drawn(&text, "\r\n a\r\n\r\n", 4, 12, &FULL, true), "\\x0d\\n a\\x0d\\n");
	str_finish(&text);
}

/* After a glyph whose width terminals do not agree on, and in the last column, the next cell is placed absolutely. */
static void unsure_widths_are_corrected(void **state)
{
	(void)state;
	struct str text = STR_INIT(4096);
	assert_non_null(
	    strstr(drawn(&text, "\u26a0\ufe0fx", 4, 12, &FULL, false), "\\xe2\\x9a\\xa0\\x1b[1;2Hx"));
	assert_null(strstr(text.s, "\\xef\\xb8\\x8f")); /* the variation selector would widen it */
	assert_non_null(
	    strstr(drawn(&text, "\u4e2dx\u00e4y", 4, 12, &FULL, false), "\\xe4\\xb8\\xadx\\xc3\\xa4y"));
	str_finish(&text);
}

/* A glyph that may be drawn wide gets room where nothing is, and what is beside it is written over what it spilled. */
static void odd_glyphs_get_room_and_shift_nothing(void **state)
{
	(void)state;
	struct str text = STR_INIT(4096);
	assert_non_null(
	    strstr(drawn(&text, "\u26a0", 4, 12, &FULL, false), "[1;2H\\x1b[0m \\x1b[1;1H\\xe2\\x9a\\xa0"));
	/* The right half of a wide one is emptied first, for a terminal where it is narrow. */
	assert_non_null(strstr(drawn(&text, "\U0001f600x", 4, 12, &FULL, false),
	                       "[1;2H\\x1b[0m \\x1b[1;1H\\xf0\\x9f\\x98\\x80\\x1b[1;3Hx"));
	str_finish(&text);

	struct term_test t;
	struct screen before;
	struct buf out = BUF_INIT(1 << 20);
	term_test_init(&t, 1, 12);
	screen_init(&before, 1, 12);
	term_test_write(&t, "\u26a0 |");
	term_test_sync(&t);
	screen_copy(&before, &t.screen);
	term_test_write(&t, "\x1b[1;2Hx"); /* the cell beside it: both are written */
	term_test_sync(&t);
	tty_draw(&before, &t.screen, 1, 12, &FULL, &out);
	assert_non_null(memmem(out.data, out.len, "\u26a0\x1b[1;2Hx", 3 + 6 + 1));
	buf_finish(&out);
	screen_finish(&before);
	term_test_finish(&t);
}

/* What has only scrolled is moved by the terminal. */
static void scrolling_is_left_to_the_terminal(void **state)
{
	(void)state;
	static const struct {
		const char *bytes, *moves;
	} CASES[] = {
	    {"\x1b[20;1H\nnew", "\x1b[1;20r\x1b[20;1H\n\x1b[r"},
	    {"\x1b[20;1H\n\n\nnew", "\x1b[1;20r\x1b[20;1H\n\n\n\x1b[r"},
	    {"\x1b[H\x1bMnew", "\x1b[1;20r\x1b[1;1H\x1bM\x1b[r"},
	    {"\x1b[3;18r\x1b[18;1H\n\nnew\x1b[r", "\x1b[3;18r\x1b[18;1H\n\n\x1b[r"},
	    {"\x1b[5;1H\x1b[2Mnew", "\x1b[6;20r\x1b[20;1H\n\n\x1b[r"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct term_test t, terminal;
		struct screen before;
		struct buf out = BUF_INIT(1 << 20);
		term_test_init(&t, 20, 40);
		term_test_init(&terminal, 20, 40);
		emulator_write(terminal.e, tty_enter_bytes().p, tty_enter_bytes().len);
		screen_init(&before, 20, 40);
		for (int row = 0; row < 20; row++) {
			char line[64];
			snprintf(line, sizeof(line), "\x1b[%d;1H\x1b[3%dmline %d of some text", row + 1,
			         row % 8, row);
			term_test_write(&t, line);
		}
		term_test_sync(&t);
		draw_and_compare(&terminal, &before, &t.screen, true);
		term_test_write(&t, CASES[i].bytes);
		term_test_sync(&t);
		tty_draw(&before, &t.screen, 20, 40, &FULL, &out);
		if (!memmem(out.data, out.len, CASES[i].moves, strlen(CASES[i].moves)) || out.len > 120)
			fail_msg("case %zu: %zu bytes", i, out.len);
		draw_and_compare(&terminal, &before, &t.screen, false);
		assert_int_equal(emulator_history_count(terminal.e), 0);
		buf_finish(&out);
		screen_finish(&before);
		term_test_finish(&t);
		term_test_finish(&terminal);
	}
}

static void links_are_passed_on_where_they_are_known(void **state)
{
	(void)state;
#define LINKED(uri) "\x1b]8;;" uri "\x1b\\ab\x1b]8;;\x1b\\c"
	struct str text = STR_INIT(4096);
	struct tty_caps none = FULL;
	none.links = false;
	const char *got = drawn(&text, LINKED("https://x.example/"), 4, 12, &FULL, true);
	const char *link = strstr(got, "\\x1b]8;id=");
	assert_non_null(link);
	assert_string_equal(link + strlen("\\x1b]8;id=01234567"),
	                    ";https://x.example/\\x1b\\\\ab\\x1b]8;;\\x1b\\\\c\\x0d\\n");
	assert_null(strstr(drawn(&text, LINKED("https://x.example/"), 4, 12, &none, true), "]8"));
	/* A guest's file is none of the operator's. */
	assert_null(strstr(drawn(&text, LINKED("file:///etc/passwd"), 4, 12, &FULL, true), "]8"));
	str_finish(&text);
}

static void ascii_has_likenesses(void **state)
{
	(void)state;
	static const struct tty_caps ASCII = {.ascii = true};
	struct str text = STR_INIT(4096);
	assert_string_equal(drawn(&text,
	                          "\u250c\u2500\u2510\u2502\u256d\u2550\u2588\u25cf\u2713\u2192\u2026\u2014",
	                          4, 12, &ASCII, true),
	                    "+-+|+=#*+>~-\\x0d\\n");
	assert_string_equal(drawn(&text, "Se\u00f1or\u2019s \u4e2d\u0416", 4, 12, &ASCII, true),
	                    "Senor's ? ?\\x0d\\n");
	for (uint32_t cp = 0; cp < 0x30000; cp++) {
		char c = ascii_likeness(cp);
		assert_true(c >= 0x20 && c < 0x7f);
	}
	str_finish(&text);
}

static void answers_switch_things_on(void **state)
{
	(void)state;
	struct tty_caps caps = FULL;
	struct buf out = BUF_INIT(256);
	struct input_event ev = {.kind = INPUT_REPLY, .reply = REPLY_SYNC, .yes = true};
	tty_answer(&caps, &ev, &out);
	assert_true(caps.sync);
	assert_int_equal(out.len, 0);
	ev.reply = REPLY_KEYS;
	tty_answer(&caps, &ev, &out);
	assert_int_equal(out.len, 5);
	assert_memory_equal(out.data, "\x1b[>1u", 5);
	ev.reply = REPLY_DEVICE;
	tty_answer(&caps, &ev, &out);
	assert_int_equal(out.len, 5);

	struct term_test t;
	term_test_init(&t, 4, 12);
	static const unsigned MODES[] = {TERM_MOUSE_DRAG, TERM_MOUSE_MOVE, TERM_MOUSE_CLICK, 0};
	for (size_t i = 0; i < ARRAY_LEN(MODES); i++) {
		buf_clear(&out);
		tty_mouse(MODES[i], &out);
		feed(&t, &out);
		assert_int_equal(emulator_modes(t.e), MODES[i] | (MODES[i] ? TERM_MOUSE_SGR : 0));
	}
	/* What is asked gets its answers from any terminal, the last one last. */
	emulator_write(t.e, tty_questions().p, tty_questions().len);
	const char *replies = term_test_replies(&t);
	assert_non_null(strstr(replies, "?2026;"));
	assert_string_equal(strrchr(replies, '?') + strcspn(strrchr(replies, '?'), "c"), "c");
	term_test_finish(&t);
	buf_finish(&out);
}

static void the_terminal_is_left_as_it_was(void **state)
{
	(void)state;
	struct term_test t;
	struct bytes enter = tty_enter_bytes(), leave = tty_leave_bytes();
	term_test_init(&t, 4, 20);
	term_test_write(&t, "\x1b]2;mine\ashell$ ");
	emulator_write(t.e, enter.p, enter.len);
	term_test_write(&t, "\x1b]2;guest\a\x1b[?25l\x1b[?1004;1000;1006h\x1b[3 q\x1b[31mguest\x1b[2;3r");
	assert_string_equal(emulator_title(t.e), "guest");
	/* It may come in the middle of anything. */
	term_test_write(&t, "\x1b]2;half");
	emulator_write(t.e, leave.p, leave.len);
	assert_string_equal(term_test_rows(&t), "shell$");
	assert_string_equal(emulator_title(t.e), "mine");
	assert_int_equal(emulator_modes(t.e), 0);
	struct term_cursor c = emulator_cursor(t.e);
	assert_int_equal(c.col, 7);
	assert_true(c.visible);
	assert_int_equal(c.shape, CURSOR_DEFAULT);
	term_test_write(&t, "x");
	assert_int_equal(term_test_cell(&t, 0, 7).fg, COLOUR_DEFAULT);
	term_test_finish(&t);
}

static void titles_carry_no_controls(void **state)
{
	(void)state;
	struct buf out = BUF_INIT(1024);
	tty_title("a\x1b\\b\ac\u202ed\xff\u00e4", &out);
	assert_int_equal(out.len, 4 + 7 + 2);
	assert_memory_equal(out.data, "\x1b]2;a\\bcd\xc3\xa4\x1b\\", out.len);
	buf_finish(&out);
}

#define UTF8(...)                                              \
	{                                                      \
		.codeset = "UTF-8", .colours = -1, __VA_ARGS__ \
	}

/* The short way to the nearest of 256 colours against looking at all of them. */
static unsigned distance(uint32_t rgb, unsigned index)
{
	uint32_t p = colour_palette_rgb((uint8_t)index);
	int r = COLOUR_RED(rgb) - COLOUR_RED(p), g = COLOUR_GREEN(rgb) - COLOUR_GREEN(p),
	    b = COLOUR_BLUE(rgb) - COLOUR_BLUE(p);
	return (unsigned)(3 * r * r + 6 * g * g + b * b);
}

static void the_nearest_colour_is_found(void **state)
{
	(void)state;
	for (uint32_t rgb = 0; rgb < 0x1000000; rgb += 199) {
		unsigned best = 16;
		for (unsigned i = 17; i < 256; i++)
			best = distance(rgb, i) < distance(rgb, best) ? i : best;
		if (colour_nearest(COLOUR_RGB(0, 0, 0) | rgb, 256) != best)
			fail_msg("#%06x", rgb);
	}
}

static void capabilities_are_guessed(void **state)
{
	(void)state;
	static const struct {
		struct tty_env env;
		struct tty_caps want;
	} CASES[] = {
	    {UTF8(.term = "xterm-256color"), {.colours = 256, .underlines = true, .links = true}},
	    {UTF8(.term = "xterm-256color", .colorterm = "truecolor"),
	     {.colours = 256, .truecolor = true, .underlines = true, .links = true}},
	    {UTF8(.term = "xterm-256color", .colorterm = "truecolor", .no_color = "1"),
	     {.underlines = true, .links = true}},
	    {UTF8(.term = "xterm-256color", .colorterm = "24bit", .no_color = ""),
	     {.colours = 256, .truecolor = true, .underlines = true, .links = true}},
	    {UTF8(.term = "xterm"), {.colours = 8, .underlines = true, .links = true}},
	    /* terminfo is asked first; a monochrome terminal stays one, whatever was inherited */
	    {{.term = "xterm-mono", .codeset = "UTF-8", .colorterm = "truecolor", .colours = 0},
	     {.underlines = true, .links = true}},
	    {{.term = "xterm-88color", .codeset = "UTF-8", .colours = 88},
	     {.colours = 16, .underlines = true, .links = true}},
	    {{.term = "xterm-direct", .codeset = "UTF-8", .colours = 1 << 24},
	     {.colours = 256, .truecolor = true, .underlines = true, .links = true}},
	    /* over ssh COLORTERM is lost, the name is not */
	    {UTF8(.term = "xterm-kitty"),
	     {.colours = 256, .truecolor = true, .underlines = true, .links = true}},
	    /* GNU screen hands COLORTERM on and knows no RGB; tmux may have the same name */
	    {UTF8(.term = "screen.xterm-256color", .colorterm = "truecolor", .sty = "1.x"), {.colours = 256}},
	    {UTF8(.term = "screen-256color", .colorterm = "truecolor", .sty = "1.x", .tmux = "/tmp/x,1,0"),
	     {.colours = 256}},
	    {UTF8(.term = "tmux-256color", .colorterm = "truecolor", .sty = "1.x", .tmux = "/tmp/x,1,0"),
	     {.colours = 256, .truecolor = true, .underlines = true, .links = true}},
	    {UTF8(.term = "screen-256color", .colorterm = "truecolor", .tmux = "/tmp/x,1,0"),
	     {.colours = 256, .truecolor = true, .underlines = true, .links = true}},
	    {{.term = "screen", .codeset = "ANSI_X3.4-1968", .colours = -1}, {.colours = 8, .ascii = true}},
	    {{.term = "linux", .codeset = "utf-8", .colours = 8}, {.colours = 8}},
	    {{.term = "dumb", .colours = -1}, {.ascii = true}},
	    {{.colours = -1}, {.ascii = true}},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct tty_caps got = tty_caps_guess(&CASES[i].env), want = CASES[i].want;
		if (got.colours != want.colours || got.truecolor != want.truecolor ||
		    got.ascii != want.ascii || got.sync || got.underlines != want.underlines ||
		    got.links != want.links)
			fail_msg("case %zu: %u colours, %d %d %d %d", i, got.colours, got.truecolor,
			         got.ascii, got.underlines, got.links);
	}
	assert_true(tty_is_known("foot-extra") && tty_is_known("alacritty"));
	assert_false(tty_is_known("xterm") || tty_is_known("no-such-direct") || tty_is_known(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_terminal_shows_every_frame),
	    cmocka_unit_test(colours_follow_the_terminal),
	    cmocka_unit_test(frames_are_cut_to_the_terminal),
	    cmocka_unit_test(unsure_widths_are_corrected),
	    cmocka_unit_test(odd_glyphs_get_room_and_shift_nothing),
	    cmocka_unit_test(scrolling_is_left_to_the_terminal),
	    cmocka_unit_test(links_are_passed_on_where_they_are_known),
	    cmocka_unit_test(ascii_has_likenesses),
	    cmocka_unit_test(answers_switch_things_on),
	    cmocka_unit_test(the_terminal_is_left_as_it_was),
	    cmocka_unit_test(titles_carry_no_controls),
	    cmocka_unit_test(capabilities_are_guessed),
	    cmocka_unit_test(the_nearest_colour_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
