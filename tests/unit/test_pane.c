/* Runs tests/pane/NAME.vt: what programs send to a terminal, and a picture of what it must show. A file has, line by line:
 *
 *     # a comment; the first line is the title
 *     SIZE rows cols            once, first
 *     PUSH "bytes"              output of the program: \e \r \n \t \a \\ \" \xHH, \V our version, UTF-8 as it is
 *     TIMES n "bytes"           the same n times
 *     RESIZE rows cols
 *     KEY name                  a key as the config names it (C-x, Up, F5)
 *     MOUSE what button row col press, release or move; none left middle right up down wleft wright; from 0
 *     PASTE "bytes"             FOCUS in, FOCUS out
 *     REPLY "bytes"             what the program got since the last REPLY
 *     EVENT "text"              what it has said since the last EVENT (as in tests/lib/term_test.h)
 *     CURSOR row col            from 0
 *     SHAPE shape motion sight  default block underline bar, blink steady, shown hidden
 *     TITLE "text"
 *     HISTORY lines
 *     PAST line "text"          a line of the history, 0 is the oldest
 *     FLAGS letters             one for each row: w wrapped, p prompt, b both, '.' neither
 *     LINK row col "uri"        "" for none
 *     SCREEN                    a picture follows: one line per row, each between bars
 *     STYLE                     the same with one letter per column; '.' is the default style
 *     WHERE letter words        before STYLE: what a letter means (fg=1 bg=#rrggbb ul=3 bold dim italic blink reverse
 *                               conceal strike overline underline=1..5)
 *
 * Each PUSH is sent whole in one run and byte by byte in another. A failing file prints the screen as it is.
 *
 * tests/pane/known-libvterm.txt names the files that cannot show what they should because of libvterm, with its version
 * and the reason; one that does not fail there any more has to be taken off. */
#include "tests/lib/test.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/term/engine.h"
#include "core/term/keys.h"
#include "tests/lib/term_test.h"

#define LETTERS 26

struct run {
	const char *file;
	int line;
	bool bytewise;
	struct term_test t;
	bool started;
	char where[LETTERS][128];
	int checks;
	bool broken;
	jmp_buf failed;
	struct str why;
};

static NORETURN void bad(struct run *r, const char *what)
{
	str_appendf(&r->why, "tests/pane/%s:%d (%s): %s\n", r->file, r->line,
	            r->bytewise ? "byte by byte" : "whole", what);
	longjmp(r->failed, 1);
}

/* The text between quotes; returns its length. */
static size_t unquote(struct run *r, const char *in, char *out, size_t size)
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
		if (in[1] == 'V') {
			n += (size_t)snprintf(out + n, size - n, "%s", CCVM_VERSION);
			in += 2;
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

static char style_letter(struct run *r, const struct cell *c)
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
		str_appendf(&r->why, "no letter for:%s\n", words.s);
	str_finish(&words);
	return letter;
}

static void draw_row(struct run *r, unsigned row, bool style, struct str *out)
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
		str_appendf(&want, "%s\n", line != NULL ? line : "");
		draw_row(r, row, style, &is);
	}
	if (strcmp(is.s, want.s) != 0) {
		str_appendf(&r->why, "expected:\n%sis:\n%s", want.s, is.s);
		r->broken = true;
	}
	r->checks++;
	str_finish(&is);
	str_finish(&want);
	if (r->broken)
		bad(r, "the picture differs");
}

static void check_text(struct run *r, const char *what, const char *is, const char *want)
{
	if (strcmp(is, want) != 0) {
		str_appendf(&r->why, "%s is \"%s\", not \"%s\"\n", what, is, want);
		bad(r, "differs");
	}
	r->checks++;
}

static void push(struct run *r, const char *bytes, size_t len)
{
	for (size_t i = 0; r->bytewise && i < len; i++)
		emulator_write(r->t.e, bytes + i, 1);
	if (!r->bytewise)
		emulator_write(r->t.e, bytes, len);
}

static void do_push(struct run *r, const char *rest)
{
	char bytes[4096];
	push(r, bytes, unquote(r, rest, bytes, sizeof(bytes)));
}

/* A number and a quoted text. */
static size_t number_and_text(struct run *r, const char *rest, unsigned *n, char *bytes, size_t size)
{
	int used = 0;
	if (sscanf(rest, "%u %n", n, &used) != 1 || used == 0)
		bad(r, "a number is missing");
	return unquote(r, rest + used, bytes, size);
}

static void do_times(struct run *r, const char *rest)
{
	char bytes[4096];
	unsigned n;
	size_t len = number_and_text(r, rest, &n, bytes, sizeof(bytes));
	while (n-- > 0)
		push(r, bytes, len);
}

static void do_paste(struct run *r, const char *rest)
{
	char bytes[4096];
	emulator_paste(r->t.e, bytes, unquote(r, rest, bytes, sizeof(bytes)));
}

static void do_focus(struct run *r, const char *rest)
{
	emulator_focus(r->t.e, strcmp(rest, "in") == 0);
}

static uint8_t name_index(struct run *r, const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return (uint8_t)i;
	bad(r, "an unknown name");
}

static void do_mouse(struct run *r, const char *rest)
{
	static const char *const KINDS[] = {"press", "release", "move"};
	static const char *const BUTTONS[] = {"none", "left", "middle", "right",
	                                      "up",   "down", "wleft",  "wright"};
	char kind[16], button[16];
	struct term_mouse m = {0};
	if (sscanf(rest, "%15s %15s %hu %hu", kind, button, &m.row, &m.col) != 4)
		bad(r, "MOUSE needs four words");
	m.kind = name_index(r, kind, KINDS, ARRAY_LEN(KINDS));
	m.button = name_index(r, button, BUTTONS, ARRAY_LEN(BUTTONS));
	emulator_mouse(r->t.e, &m);
}

static void do_event(struct run *r, const char *rest)
{
	char want[4096];
	unquote(r, rest, want, sizeof(want));
	check_text(r, "event", term_test_events(&r->t), want);
}

static void do_title(struct run *r, const char *rest)
{
	char want[4096];
	unquote(r, rest, want, sizeof(want));
	check_text(r, "title", emulator_title(r->t.e), want);
}

static void do_shape(struct run *r, const char *rest)
{
	static const char *const SHAPES[] = {"default", "block", "underline", "bar"};
	struct term_cursor c = emulator_cursor(r->t.e);
	char is[64];
	snprintf(is, sizeof(is), "%s %s %s", SHAPES[c.shape], c.blink ? "blink" : "steady",
	         c.visible ? "shown" : "hidden");
	check_text(r, "shape", is, rest);
}

static void do_past(struct run *r, const char *rest)
{
	struct cell cells[TERM_COLS_MAX];
	struct clusters clusters = {0};
	struct str is = STR_INIT(1 << 16);
	char want[4096], got[4096];
	unsigned line, flags;
	number_and_text(r, rest, &line, want, sizeof(want));
	size_t used = emulator_history_row(r->t.e, line, cells, TERM_COLS_MAX, &clusters, &flags);
	for (size_t i = 0; i < used; i++) {
		char text[CELL_UTF8_MAX];
		str_append_bytes(&is, text, clusters_cell_utf8(&clusters, &cells[i], text));
	}
	snprintf(got, sizeof(got), "%s", is.s);
	str_finish(&is);
	clusters_finish(&clusters);
	check_text(r, "line of the history", got, want);
}

static void do_flags(struct run *r, const char *rest)
{
	char is[TERM_ROWS_MAX + 1] = "";
	term_test_sync(&r->t);
	for (unsigned row = 0; row < r->t.screen.rows; row++)
		is[row] = ".wpb"[r->t.screen.flags[row]];
	check_text(r, "flags", is, rest);
}

static void do_link(struct run *r, const char *rest)
{
	unsigned row, col;
	int used = 0;
	char want[4096];
	if (sscanf(rest, "%u %u %n", &row, &col, &used) != 2 || used == 0)
		bad(r, "a place is missing");
	unquote(r, rest + used, want, sizeof(want));
	struct cell c = term_test_cell(&r->t, row, col);
	const char *uri = clusters_link(&r->t.screen.clusters, c.link);
	check_text(r, "link", uri != NULL ? uri : "", want);
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

static void two_numbers(struct run *r, const char *rest, unsigned *a, unsigned *b)
{
	if (sscanf(rest, "%u %u", a, b) != 2)
		bad(r, "numbers are missing");
}

static void do_size(struct run *r, const char *rest)
{
	unsigned rows, cols;
	two_numbers(r, rest, &rows, &cols);
	if (r->started)
		bad(r, "SIZE comes once");
	term_test_init(&r->t, rows, cols);
	r->started = true;
}

static void do_resize(struct run *r, const char *rest)
{
	unsigned rows, cols;
	two_numbers(r, rest, &rows, &cols);
	emulator_resize(r->t.e, rows, cols);
}

static void do_cursor(struct run *r, const char *rest)
{
	struct term_cursor c = emulator_cursor(r->t.e);
	char is[32];
	snprintf(is, sizeof(is), "%u %u", c.row, c.col);
	check_text(r, "cursor", is, rest);
}

static void do_history(struct run *r, const char *rest)
{
	char is[32];
	snprintf(is, sizeof(is), "%u", emulator_history_count(r->t.e));
	check_text(r, "history", is, rest);
}

static const struct {
	const char *word;
	void (*run)(struct run *r, const char *rest);
} WORDS[] = {
    {"PUSH", do_push},   {"TIMES", do_times},   {"RESIZE", do_resize}, {"KEY", do_key},
    {"MOUSE", do_mouse}, {"PASTE", do_paste},   {"FOCUS", do_focus},   {"REPLY", do_reply},
    {"EVENT", do_event}, {"CURSOR", do_cursor}, {"SHAPE", do_shape},   {"TITLE", do_title},
    {"PAST", do_past},   {"FLAGS", do_flags},   {"LINK", do_link},     {"HISTORY", do_history},
    {"WHERE", do_where}, {"SIZE", do_size},
};

static void do_line(struct run *r, char *line, char **rest)
{
	char *args = strchr(line, ' ');
	if (args != NULL)
		*args++ = '\0';
	else
		args = line + strlen(line);
	if (!r->started && strcmp(line, "SIZE") != 0)
		bad(r, "SIZE must come first");
	if (strcmp(line, "SCREEN") == 0 || strcmp(line, "STYLE") == 0) {
		check_picture(r, rest, line[1] == 'T');
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
		if (strcmp(line, WORDS[i].word) == 0) {
			WORDS[i].run(r, args);
			return;
		}
	bad(r, "an unknown word");
}

static void run_lines(struct run *r, char *text)
{
	char *rest = text, *line;
	while ((line = strsep(&rest, "\n")) != NULL) {
		r->line++;
		if (r->line == 1 && line[0] != '#')
			bad(r, "the first line is the title");
		if (line[0] != '#' && line[0] != '\0')
			do_line(r, line, &rest);
	}
	if (r->checks == 0)
		bad(r, "nothing is checked");
}

static char *read_text(const char *name)
{
	char path[300];
	size_t len;
	struct err e = ERR_INIT;
	snprintf(path, sizeof(path), "tests/pane/%s", name);
	char *text = fd_read_file(path, 1 << 20, &len, &e);
	if (text == NULL)
		fail_msg("%s", e.msg);
	return text;
}

/* Appends to `why` what was wrong; true when nothing was. */
static bool run_file(const char *name, bool bytewise, struct str *why)
{
	struct run *r = mem_alloc(sizeof(*r));
	char *text = read_text(name);
	r->file = name;
	r->bytewise = bytewise;
	str_init(&r->why, 1 << 20);
	volatile bool good = false;
	if (setjmp(r->failed) == 0) {
		run_lines(r, text);
		good = true;
	}
	str_append(why, r->why.s);
	if (r->started)
		term_test_finish(&r->t);
	str_finish(&r->why);
	free(text);
	free(r);
	return good;
}

/* Is the file listed for this libvterm? A line: file, versions ("0.1", "0.3" or "all"), reason. */
static bool is_known(const char *list, const char *name)
{
	char file[100], versions[20];
	for (const char *line = list; line != NULL && *line != '\0';) {
		if (*line != '#' && sscanf(line, "%99s %19s", file, versions) == 2 &&
		    strcmp(file, name) == 0 &&
		    (strcmp(versions, "all") == 0 || strcmp(versions, engine_library()) == 0))
			return true;
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return false;
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
	char *known = read_text("known-libvterm.txt");
	struct str wrong = STR_INIT(1 << 20);
	int count = scandir("tests/pane", &names, is_pane_file, alphasort);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		struct str why = STR_INIT(1 << 20);
		bool good = run_file(name, false, &why);
		good = run_file(name, true, &why) && good;
		bool listed = is_known(known, name);
		if (good && listed)
			str_appendf(&wrong, "tests/pane/%s passes with libvterm %s: take it off the list\n",
			            name, engine_library());
		if (!good && !listed)
			str_append(&wrong, why.s);
		str_finish(&why);
		free(names[i]);
	}
	free(names);
	free(known);
	if (wrong.len > 0) {
		fputs(wrong.s, stderr); /* longer than a message of cmocka may be */
		fail_msg("some files do not show what they should");
	}
	str_finish(&wrong);
}

/* Every file that is listed is there. */
static void the_list_names_files(void **state)
{
	(void)state;
	char *known = read_text("known-libvterm.txt"), *rest = known, *line;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char file[100], versions[20];
		int reason = 0;
		if (line[0] == '#' || line[0] == '\0')
			continue;
		if (sscanf(line, "%99s %19s %n", file, versions, &reason) != 2 || line[reason] == '\0')
			fail_msg("no file, versions and reason: %s", line);
		free(read_text(file));
	}
	free(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_files_show_their_pictures),
	                                   cmocka_unit_test(the_list_names_files)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
