/* Runs tests/pane/NAME.vt: what programs send to a terminal, and a picture of what it must show. A file has, line by line:
 *
 *     # a comment; the first line is the title
 *     SIZE rows cols            once, first
 *     PUSH "bytes"              output of the program: \e \r \n \t \a \\ \" \xHH, UTF-8 as it is
 *     RESIZE rows cols
 *     KEY name                  a key as the config names it (C-x, Up, F5)
 *     REPLY "bytes"             what the program got since the last REPLY
 *     CURSOR row col            from 0
 *     HISTORY lines
 *     SCREEN                    a picture follows: one line per row, each between bars
 *     STYLE                     the same with one letter per column; '.' is the default style
 *     WHERE letter words        before STYLE: what a letter means (fg=1 bg=#rrggbb ul=3 bold dim italic blink reverse
 *                               conceal strike overline underline=1..5)
 *
 * Each PUSH is sent whole in one run and byte by byte in another. A failing file prints the screen as it is. */
#include "tests/lib/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/term/keys.h"
#include "tests/lib/term_test.h"

#define LETTERS 26

struct run {
	const char *file;
	int line;
	bool bytewise;
	struct term_test t;
	bool started;
	char where[LETTERS][64];
	int checks;
};

static void bad(const struct run *r, const char *what)
{
	fail_msg("tests/pane/%s:%d: %s", r->file, r->line, what);
}

/* The text between quotes; returns its length. */
static size_t unquote(const struct run *r, const char *in, char *out, size_t size)
{
	static const char FROM[] = "ernta\\\"", TO[] = "\x1b\r\n\t\a\\\"";
	size_t n = 0;
	if (*in++ != '"')
		bad(r, "a quote is missing");
	while (*in != '"') {
		if (*in == '\0' || n + 1 >= size)
			bad(r, "the text does not end");
		if (*in != '\\') {
			out[n++] = *in++;
			continue;
		}
		const char *at = strchr(FROM, in[1]);
		unsigned value;
		if (in[1] == 'x' && sscanf(in + 2, "%2x", &value) == 1) {
			out[n++] = (char)value;
			in += 4;
		} else if (in[1] != '\0' && at != NULL) {
			out[n++] = TO[at - FROM];
			in += 2;
		} else {
			bad(r, "an unknown escape");
		}
	}
	out[n] = '\0';
	return n;
}

static void colour_words(struct str *out, const char *name, uint32_t c)
{
	if (COLOUR_IS_INDEXED(c))
		str_appendf(out, " %s=%d", name, COLOUR_INDEX(c));
	else if (COLOUR_IS_RGB(c))
		str_appendf(out, " %s=#%06x", name, c & 0xffffff);
}

static void style_words(struct str *out, const struct cell *c)
{
	static const char *const NAMES[] = {"bold",    "dim",     "italic", "blink",
	                                    "reverse", "conceal", "strike", "overline"};
	str_clear(out);
	colour_words(out, "fg", c->fg);
	colour_words(out, "bg", c->bg);
	colour_words(out, "ul", c->ul);
	for (unsigned i = 0; i < ARRAY_LEN(NAMES); i++)
		if (c->attrs & 1u << i)
			str_appendf(out, " %s", NAMES[i]);
	if (CELL_UNDERLINE(c->attrs) != 0)
		str_appendf(out, " underline=%d", CELL_UNDERLINE(c->attrs));
}

static char style_letter(const struct run *r, const struct cell *c)
{
	struct str words = STR_INIT(256);
	char letter = '?';
	style_words(&words, c);
	if (words.len == 0)
		letter = '.';
	for (int i = 0; i < LETTERS && words.len > 0; i++)
		if (strcmp(r->where[i], words.s + 1) == 0)
			letter = (char)('a' + i);
	if (letter == '?')
		print_error("no letter for:%s\n", words.s);
	str_finish(&words);
	return letter;
}

static void draw_row(const struct run *r, unsigned row, bool style, struct str *out)
{
	const struct screen *s = &r->t.screen;
	str_append_char(out, '|');
	for (unsigned col = 0; col < s->cols; col++) {
		char text[CELL_UTF8_MAX];
		const struct cell *c = screen_cell(s, row, col);
		if (style)
			str_append_char(out, style_letter(r, c));
		else
			str_append_bytes(out, text, clusters_cell_utf8(&s->clusters, c, text));
	}
	str_append(out, "|\n");
}

static void check_picture(struct run *r, char **rest, bool style)
{
	struct str is = STR_INIT(1 << 20), want = STR_INIT(1 << 20);
	term_test_sync(&r->t);
	for (unsigned row = 0; row < r->t.screen.rows; row++) {
		char *line = strsep(rest, "\n");
		r->line++;
		if (line == NULL)
			bad(r, "the picture has too few rows");
		str_appendf(&want, "%s\n", line);
		draw_row(r, row, style, &is);
	}
	if (strcmp(is.s, want.s) != 0) {
		print_error("expected:\n%sis:\n%s", want.s, is.s);
		bad(r, "the picture differs");
	}
	r->checks++;
	str_finish(&is);
	str_finish(&want);
}

static void check_text(struct run *r, const char *what, const char *is, const char *want)
{
	if (strcmp(is, want) != 0) {
		print_error("%s is %s, not %s\n", what, is, want);
		bad(r, "differs");
	}
	r->checks++;
}

static void do_push(struct run *r, const char *rest)
{
	char bytes[4096];
	size_t len = unquote(r, rest, bytes, sizeof(bytes));
	for (size_t i = 0; r->bytewise && i < len; i++)
		emulator_write(r->t.e, bytes + i, 1);
	if (!r->bytewise)
		emulator_write(r->t.e, bytes, len);
}

static void do_reply(struct run *r, const char *rest)
{
	char bytes[4096], want[4096];
	size_t len = unquote(r, rest, bytes, sizeof(bytes));
	escape_text(want, sizeof(want), bytes, len);
	check_text(r, "reply", term_test_replies(&r->t), want);
}

static void do_key(struct run *r, const char *rest)
{
	uint32_t key;
	unsigned mods;
	if (!key_parse(rest, &key, &mods))
		bad(r, "an unknown key");
	emulator_key(r->t.e, key, mods);
}

static void do_where(struct run *r, const char *rest)
{
	if (rest[0] < 'a' || rest[0] > 'z' || rest[1] != ' ')
		bad(r, "WHERE needs a letter and words");
	snprintf(r->where[rest[0] - 'a'], sizeof(r->where[0]), "%s", rest + 2);
}

/* SIZE, RESIZE, CURSOR and HISTORY: one or two numbers. */
static void do_numbers(struct run *r, const char *word, const char *rest)
{
	unsigned a = 0, b = 0;
	char is[32], want[32];
	if (sscanf(rest, "%u %u", &a, &b) < (strcmp(word, "HISTORY") == 0 ? 1 : 2))
		bad(r, "numbers are missing");
	if (strcmp(word, "SIZE") == 0) {
		if (r->started)
			bad(r, "SIZE comes once");
		term_test_init(&r->t, a, b);
		r->started = true;
	} else if (strcmp(word, "RESIZE") == 0) {
		emulator_resize(r->t.e, a, b);
	} else {
		struct term_cursor c = emulator_cursor(r->t.e);
		bool history = strcmp(word, "HISTORY") == 0;
		snprintf(is, sizeof(is), "%u %u", history ? emulator_history_count(r->t.e) : c.row,
		         history ? 0 : c.col);
		snprintf(want, sizeof(want), "%u %u", a, b);
		check_text(r, word, is, want);
	}
}

static void do_line(struct run *r, char *line, char **rest)
{
	char *args = strchr(line, ' ');
	if (args != NULL)
		*args++ = '\0';
	else
		args = line + strlen(line);
	if (!r->started && strcmp(line, "SIZE") != 0)
		bad(r, "SIZE must come first");
	if (strcmp(line, "PUSH") == 0)
		do_push(r, args);
	else if (strcmp(line, "REPLY") == 0)
		do_reply(r, args);
	else if (strcmp(line, "KEY") == 0)
		do_key(r, args);
	else if (strcmp(line, "WHERE") == 0)
		do_where(r, args);
	else if (strcmp(line, "SCREEN") == 0)
		check_picture(r, rest, false);
	else if (strcmp(line, "STYLE") == 0)
		check_picture(r, rest, true);
	else if (strcmp(line, "SIZE") == 0 || strcmp(line, "RESIZE") == 0 || strcmp(line, "CURSOR") == 0 ||
	         strcmp(line, "HISTORY") == 0)
		do_numbers(r, line, args);
	else
		bad(r, "an unknown word");
}

static void run_file(const char *name, bool bytewise)
{
	char path[300];
	size_t len;
	struct err e = ERR_INIT;
	struct run r = {.file = name, .bytewise = bytewise};
	snprintf(path, sizeof(path), "tests/pane/%s", name);
	char *text = fd_read_file(path, 1 << 20, &len, &e), *rest = text, *line;
	if (text == NULL)
		fail_msg("%s", e.msg);
	while ((line = strsep(&rest, "\n")) != NULL) {
		r.line++;
		if (r.line == 1 && line[0] != '#')
			bad(&r, "the first line is the title");
		if (line[0] != '#' && line[0] != '\0')
			do_line(&r, line, &rest);
	}
	if (r.checks == 0)
		bad(&r, "nothing is checked");
	term_test_finish(&r.t);
	free(text);
}

static int is_pane_file(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');
	return dot != NULL && strcmp(dot, ".vt") == 0;
}

static void all_files_show_their_pictures(void **state)
{
	(void)state;
	struct dirent **names;
	int count = scandir("tests/pane", &names, is_pane_file, alphasort);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		run_file(names[i]->d_name, false);
		run_file(names[i]->d_name, true);
		free(names[i]);
	}
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_files_show_their_pictures)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
