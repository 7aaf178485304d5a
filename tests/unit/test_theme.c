/* Themes: what a file may say, and that those that come with the program can be read: by the parser and by people. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/term/cells.h"
#include "tui/theme_file.h"

static const char *const SHIPPED[] = {"default", "dark", "light", "high-contrast", "mono"};

static struct theme parsed(const char *text)
{
	struct theme t;
	struct err e = ERR_INIT;
	if (!theme_parse(&t, text, strlen(text), "x.ini", &e))
		fail_msg("%s", e.msg);
	return t;
}

static void looks_are_parsed(void **state)
{
	(void)state;
	static const struct {
		const char *value;
		struct theme_look want;
	} CASES[] = {
	    {"", {0}},
	    {"red", {.fg = COLOUR_INDEXED(1)}},
	    {"bright-white on black", {.fg = COLOUR_INDEXED(15), .bg = COLOUR_INDEXED(0)}},
	    {"on 236 bold", {.bg = COLOUR_INDEXED(236), .attrs = CELL_BOLD}},
	    {"#FF8000 on #000001 dim italic",
	     {.fg = COLOUR_RGB(255, 128, 0), .bg = COLOUR_RGB(0, 0, 1), .attrs = CELL_DIM | CELL_ITALIC}},
	    {"default on default", {0}},
	    {"underline reverse strike",
	     {.attrs = UNDERLINE_SINGLE << CELL_UNDERLINE_SHIFT | CELL_REVERSE | CELL_STRIKE}},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		char text[128];
		snprintf(text, sizeof(text), "# a theme\n\n \tnotice\t=  %s \r\nkey = 7", CASES[i].value);
		struct theme t = parsed(text);
		assert_memory_equal(&t.looks[STYLE_NOTICE], &CASES[i].want, sizeof(CASES[i].want));
		assert_int_equal(t.looks[STYLE_KEY].fg, COLOUR_INDEXED(7));
		/* The rest is as it is built in. */
		assert_memory_equal(&t.looks[STYLE_STATE_FAILED], &theme_default.looks[STYLE_STATE_FAILED],
		                    sizeof(struct theme_look));
	}
}

static void mistakes_are_named_with_their_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *error;
	} CASES[] = {
	    {"key = rot", "x.ini:1: 'rot' is no colour and no attribute at this place"},
	    {"\n\nkey = bold red", "x.ini:3: 'red' is no colour and no attribute at this place"},
	    {"key = red blue", "x.ini:1: 'blue' is no colour and no attribute at this place"},
	    {"key = red on", "x.ini:1: a colour is missing after 'on'"},
	    {"key = 256", "x.ini:1: '256' is no colour and no attribute at this place"},
	    {"key = #12345", "x.ini:1: '#12345' is no colour and no attribute at this place"},
	    {"key = #12345g", "x.ini:1: '#12345g' is no colour and no attribute at this place"},
	    {"key = bright-", "x.ini:1: 'bright-' is no colour and no attribute at this place"},
	    {"kye = red", "x.ini:1: there is no style 'kye'"},
	    {"= red", "x.ini:1: there is no style ''"},
	    {"key = red\nkey = blue", "x.ini:2: 'key' is there twice"},
	    {"[colours]", "x.ini:1: not a line of the form NAME = LOOK"},
	    {"key = \x1b[31m", "x.ini:1: '\\x1b[31m' is no colour and no attribute at this place"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct theme t = theme_default;
		struct err e = ERR_INIT;
		t.looks[STYLE_KEY].fg = 77;
		assert_false(theme_parse(&t, CASES[i].text, strlen(CASES[i].text), "x.ini", &e));
		assert_string_equal(e.msg, CASES[i].error);
		assert_int_equal(t.looks[STYLE_KEY].fg, 77); /* as before */
	}
	char wide[300];
	struct theme t;
	struct err e = ERR_INIT, nul = ERR_INIT;
	memset(wide, 'k', sizeof(wide));
	assert_false(theme_parse(&t, wide, sizeof(wide), "x.ini", &e));
	assert_string_equal(e.msg, "x.ini:1: longer than 255 characters");
	assert_false(theme_parse(&t, "key = red\n\0x", 12, "x.ini", &nul));
	assert_string_equal(nul.msg, "x.ini:2: a byte that is no text");
}

static void the_users_own_file_comes_first(void **state)
{
	(void)state;
	char folder[] = "/tmp/ccvm-theme-XXXXXX";
	struct theme t;
	struct err e = ERR_INIT, none = ERR_INIT, odd = ERR_INIT;
	assert_non_null(mkdtemp(folder));
	char *themes FREE_ON_EXIT = mem_printf("%s/ccvm/themes", folder);
	char *path FREE_ON_EXIT = mem_printf("%s/mine.ini", themes);
	setenv("XDG_CONFIG_HOME", folder, 1);
	assert_true(theme_load(&t, "default", &e));
	assert_memory_equal(&t, &theme_default, sizeof(t));
	assert_false(theme_load(&t, "mine", &none));
	assert_int_equal(none.kind, ERR_NOT_FOUND);
	assert_false(theme_load(&t, "../mine", &odd));
	assert_true(fd_make_dirs(themes, 0700, &e));
	assert_true(fd_write_file(path, "key = 9\n", 8, 0600, &e));
	assert_true(theme_load(&t, "mine", &e));
	assert_int_equal(t.looks[STYLE_KEY].fg, COLOUR_INDEXED(9));
	err_clear(&none);
	assert_true(fd_write_file(path, "key = x\n", 8, 0600, &e));
	assert_false(theme_load(&t, "mine", &none));
	assert_non_null(strstr(none.msg, "/ccvm/themes/mine.ini:1: 'x' is no colour"));
	assert_true(fd_remove_tree(folder, &e));
	unsetenv("XDG_CONFIG_HOME");
}

/* ---- the themes that come with the program ---- */

static char *text_of(const char *name, size_t *len)
{
	char path[64];
	struct err e = ERR_INIT;
	snprintf(path, sizeof(path), "themes/%s.ini", name);
	char *text = fd_read_file(path, THEME_FILE_MAX, len, &e);
	assert_non_null(text);
	return text;
}

static struct theme shipped(const char *name)
{
	size_t len;
	struct theme t;
	struct err e = ERR_INIT;
	char *text = text_of(name, &len);
	if (!theme_parse(&t, text, len, name, &e))
		fail_msg("%s", e.msg);
	free(text);
	return t;
}

static void each_theme_has_every_style(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(SHIPPED); i++) {
		size_t len;
		char *text = text_of(SHIPPED[i], &len);
		for (unsigned style = 0; style < STYLE_COUNT; style++) {
			char line[64];
			snprintf(line, sizeof(line), "\n%s =", theme_style_name((enum theme_style)style));
			if (!strstr(text, line))
				fail_msg("%s lacks %s", SHIPPED[i], line + 1);
		}
		free(text);
	}
	struct theme t = shipped("default");
	assert_memory_equal(&t, &theme_default, sizeof(t));
}

/* x^2.4 for 0 < x < 1.1, as the fifth root of x^12, by Newton. */
static double power(double x)
{
	double square = x * x, wanted = square * square * square, root = x;
	wanted *= wanted;
	for (int i = 0; i < 60; i++)
		root -= (root - wanted / (root * root * root * root)) / 5;
	return root;
}

static bool is_near(double a, double b)
{
	return a - b < 0.01 && b - a < 0.01;
}

/* Relative luminance and contrast as WCAG 2 has them. */
static double channel(unsigned byte)
{
	double c = byte / 255.0;
	return c <= 0.03928 ? c / 12.92 : power((c + 0.055) / 1.055);
}

static double luminance(uint32_t c)
{
	return 0.2126 * channel(COLOUR_RED(c)) + 0.7152 * channel(COLOUR_GREEN(c)) +
	       0.0722 * channel(COLOUR_BLUE(c));
}

static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a), y = luminance(b);
	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

static uint32_t fewer(uint32_t colour, unsigned colours)
{
	return COLOUR_RGB(0, 0, 0) | colour_palette_rgb(colour_nearest(colour, colours));
}

static void check_contrast(const char *name, double least)
{
	struct theme t = shipped(name);
	for (unsigned style = 0; style < STYLE_COUNT; style++) {
		struct theme_look look = theme_look(&t, (enum theme_style)style, THEME_ALL_COLOURS);
		const char *what = theme_style_name((enum theme_style)style);
		if (!COLOUR_IS_RGB(look.fg) || !COLOUR_IS_RGB(look.bg))
			fail_msg("%s: %s depends on the terminal's colours", name, what);
		if (look.attrs & CELL_DIM)
			fail_msg("%s: nobody knows the contrast of %s, which is dim", name, what);
		double got = contrast(look.fg, look.bg);
		if (got < least)
			fail_msg("%s: %s has a contrast of %.2f, under %.1f", name, what, got, least);
	}
}

static void texts_can_be_read(void **state)
{
	(void)state;
	assert_true(is_near(contrast(COLOUR_RGB(0, 0, 0), COLOUR_RGB(255, 255, 255)), 21));
	assert_true(is_near(contrast(COLOUR_RGB(119, 119, 119), COLOUR_RGB(255, 255, 255)), 4.48));
	check_contrast("dark", 4.5);
	check_contrast("light", 4.5);
	check_contrast("high-contrast", 7);
}

/* Fewer colours, which are xterm's here: texts can be read, and what has a background of its own is still told from the rest. */
static void few_colours_show_it_all(void **state)
{
	(void)state;
	static const char *const NAMES[] = {"dark", "light", "high-contrast"};
	static const unsigned COLOURS[] = {256, 16, 8, 0};
	for (size_t i = 0; i < ARRAY_LEN(NAMES) * ARRAY_LEN(COLOURS); i++) {
		const char *name = NAMES[i / ARRAY_LEN(COLOURS)];
		unsigned colours = COLOURS[i % ARRAY_LEN(COLOURS)];
		struct theme t = shipped(name);
		struct theme_look plain = theme_look(&t, STYLE_PLAIN, colours);
		for (unsigned style = 0; style < STYLE_COUNT; style++) {
			struct theme_look look = theme_look(&t, (enum theme_style)style, colours);
			const char *what = theme_style_name((enum theme_style)style);
			bool alike = colours == 0 ||
			             colour_nearest(look.bg, colours) == colour_nearest(plain.bg, colours);
			if (!COLOUR_IS_DEFAULT(t.looks[style].bg) &&
			    t.looks[style].bg != t.looks[STYLE_PLAIN].bg && alike &&
			    !(look.attrs & CELL_REVERSE))
				fail_msg("%s: %s looks as plain does with %u colours", name, what, colours);
			if (colours > 0 && contrast(fewer(look.fg, colours), fewer(look.bg, colours)) < 3)
				fail_msg("%s: %s cannot be read with %u colours", name, what, colours);
		}
	}
	struct theme t = shipped("dark");
	assert_false(theme_look(&t, STYLE_SELECTED, THEME_ALL_COLOURS).attrs & CELL_REVERSE);
	assert_false(theme_look(&t, STYLE_SELECTED, 256).attrs & CELL_REVERSE);
	assert_false(theme_look(&t, STYLE_KEY, 0).attrs & CELL_REVERSE);
}

/* Without colours, and for who does not see them. */
static void states_differ_by_attributes(void **state)
{
	(void)state;
	static const char *const NAMES[] = {"mono", "high-contrast"};
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		struct theme t = shipped(NAMES[i]);
		for (unsigned a = STYLE_STATE_BUSY; a <= STYLE_STATE_SEEN; a++)
			for (unsigned b = STYLE_STATE_BUSY; b < a; b++)
				if (t.looks[a].attrs == t.looks[b].attrs)
					fail_msg("%s: %s and %s look alike", NAMES[i],
					         theme_style_name((enum theme_style)a),
					         theme_style_name((enum theme_style)b));
	}
	struct theme mono = shipped("mono");
	for (unsigned style = 0; style < STYLE_COUNT; style++)
		assert_true(COLOUR_IS_DEFAULT(mono.looks[style].fg) &&
		            COLOUR_IS_DEFAULT(mono.looks[style].bg));
}

static void plain_is_below_all(void **state)
{
	(void)state;
	struct theme t = parsed("plain = #010203 on #040506\nkey = red\nnotice = on blue bold\nguest =\n");
	struct theme_look key = theme_look(&t, STYLE_KEY, THEME_ALL_COLOURS),
	                  notice = theme_look(&t, STYLE_NOTICE, THEME_ALL_COLOURS);
	assert_int_equal(key.fg, COLOUR_INDEXED(1));
	assert_int_equal(key.bg, COLOUR_RGB(4, 5, 6));
	assert_int_equal(notice.fg, COLOUR_RGB(1, 2, 3));
	assert_int_equal(theme_look(&t, STYLE_GUEST, THEME_ALL_COLOURS).bg, COLOUR_RGB(4, 5, 6));
	struct theme_look bare = theme_look(&t, STYLE_NOTICE, 0);
	assert_true(COLOUR_IS_DEFAULT(bare.fg) && COLOUR_IS_DEFAULT(bare.bg) &&
	            bare.attrs == (CELL_BOLD | CELL_REVERSE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(looks_are_parsed),
	    cmocka_unit_test(mistakes_are_named_with_their_line),
	    cmocka_unit_test(the_users_own_file_comes_first),
	    cmocka_unit_test(each_theme_has_every_style),
	    cmocka_unit_test(texts_can_be_read),
	    cmocka_unit_test(few_colours_show_it_all),
	    cmocka_unit_test(states_differ_by_attributes),
	    cmocka_unit_test(plain_is_below_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
