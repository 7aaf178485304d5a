/* core/term/select and find: selections, searches and motions as tables, and what must hold for any output of a guest. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "core/term/find.h"
#include "core/term/select.h"
#include "tests/lib/transcript_rig.h"

#define AT(l, c)                        \
	{                               \
		.line = (l), .col = (c) \
	}

static void read_text(struct transcript_rig *r, unsigned rows, unsigned cols, const char *output)
{
	transcript_rig_init(r, rows, cols);
	transcript_rig_print(r, output);
	transcript_rig_read(r, 3);
}

/* ---- the text of a selection ---- */

static const struct {
	const char *what;
	unsigned rows, cols;
	const char *output;
	enum select_kind kind;
	struct select_point from, to;
	const char *text;
} TEXTS[] = {
    {"within a line", 3, 20, "hello world", SELECT_CHARS, AT(0, 2), AT(0, 6), "llo w"},
    {"backwards", 3, 20, "hello world", SELECT_CHARS, AT(0, 6), AT(0, 2), "llo w"},
    {"one cell", 3, 20, "hello", SELECT_CHARS, AT(0, 1), AT(0, 1), "e"},
    {"nothing", 3, 20, "hello", SELECT_NONE, AT(0, 1), AT(0, 3), ""},
    {"over lines", 3, 20, "one\r\ntwo\r\nthree", SELECT_CHARS, AT(0, 1), AT(2, 1), "ne\ntwo\nth"},
    {"into the history", 2, 20, "one\r\ntwo\r\nthree\r\nfour", SELECT_CHARS, AT(0, 1), AT(3, 0),
     "ne\ntwo\nthree\nf"},
    {"padding is dropped", 3, 20, "ab   \r\ncd", SELECT_CHARS, AT(0, 0), AT(1, 1), "ab\ncd"},
    {"blanks inside stay", 3, 20, "a\033[5Cb", SELECT_CHARS, AT(0, 0), AT(0, 6), "a     b"},
    {"beyond the end of the text", 3, 20, "ab", SELECT_CHARS, AT(0, 1), AT(0, 15), "b"},
    {"an empty line", 4, 20, "a\r\n\r\nb", SELECT_CHARS, AT(0, 0), AT(2, 0), "a\n\nb"},
    {"a wrapped line is one", 4, 5, "abcdefghijkl", SELECT_CHARS, AT(0, 1), AT(2, 1), "bcdefghijkl"},
    {"a wrapped line in the history", 2, 5, "abcdefghijkl\r\nx\r\ny", SELECT_CHARS, AT(0, 1), AT(3, 0),
     "bcdefghijkl\nx"},
    {"blanks where it wraps stay", 4, 5, "abc  def", SELECT_CHARS, AT(0, 0), AT(1, 2), "abc  def"},
    {"and in the history", 1, 5, "abc  def\r\n\r\n", SELECT_CHARS, AT(0, 0), AT(1, 2), "abc  def"},
    {"a full line that was ended is not wrapped", 4, 5, "abcde\r\nfgh", SELECT_CHARS, AT(0, 0), AT(1, 2),
     "abcde\nfgh"},
    {"wide cells", 3, 20, "a日本b", SELECT_CHARS, AT(0, 1), AT(0, 4), "日本"},
    {"the tail of a wide cell is the cell", 3, 20, "a日本b", SELECT_CHARS, AT(0, 2), AT(0, 3), "日本"},
    {"a wide cell that wrapped", 3, 5, "abcd日x", SELECT_CHARS, AT(0, 2), AT(1, 2), "cd日x"},
    {"clusters", 3, 20, "xe\xcc\x81y", SELECT_CHARS, AT(0, 0), AT(0, 2), "xe\xcc\x81y"},
    {"block", 3, 20, "abcdef\r\nghijkl\r\nmnopqr", SELECT_BLOCK, AT(0, 1), AT(2, 3), "bcd\nhij\nnop"},
    {"block from another corner", 3, 20, "abcdef\r\nghijkl\r\nmnopqr", SELECT_BLOCK, AT(2, 1), AT(0, 3),
     "bcd\nhij\nnop"},
    {"block with short lines", 3, 20, "abcdef\r\ng\r\nmnopqr", SELECT_BLOCK, AT(0, 2), AT(2, 4),
     "cde\n\nopq"},
    {"block does not join", 3, 4, "abcdefgh", SELECT_BLOCK, AT(0, 0), AT(1, 1), "ab\nef"},
    {"block takes a wide cell by its first column", 3, 20, "a日本b\r\nabcdef", SELECT_BLOCK, AT(0, 2),
     AT(1, 3), "本\ncd"},
    {"lines", 3, 20, "one\r\ntwo\r\nthree", SELECT_LINES, AT(1, 2), AT(1, 0), "two\n"},
    {"several lines", 3, 20, "one\r\ntwo\r\nthree", SELECT_LINES, AT(2, 0), AT(1, 2), "two\nthree\n"},
    {"a line is all of its rows", 4, 5, "abcdefghijkl\r\nz", SELECT_LINES, AT(1, 2), AT(1, 2),
     "abcdefghijkl\n"},
    {"a word", 3, 30, "see src/main.c: there", SELECT_WORDS, AT(0, 6), AT(0, 6), "src/main.c:"},
    {"an address", 3, 60, "<https://a.example/x?y=1#z>", SELECT_WORDS, AT(0, 9), AT(0, 9),
     "https://a.example/x?y=1#z"},
    {"words grow at both ends", 3, 30, "alpha beta gamma", SELECT_WORDS, AT(0, 8), AT(0, 2), "alpha beta"},
    {"a word that wrapped", 3, 5, "ab cdefgh ij", SELECT_WORDS, AT(0, 4), AT(0, 4), "cdefgh"},
    {"a word ends with its line", 3, 5, "abcde\r\nfgh", SELECT_WORDS, AT(0, 2), AT(0, 2), "abcde"},
    {"other scripts are words", 3, 30, "ab größe日本 x", SELECT_WORDS, AT(0, 5), AT(0, 5), "größe日本"},
};

static void selections_have_their_text(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
		struct transcript_rig r;
		struct str out = STR_INIT(4096);
		read_text(&r, TEXTS[i].rows, TEXTS[i].cols, TEXTS[i].output);
		struct selection s = {TEXTS[i].kind, TEXTS[i].from, TEXTS[i].to};
		select_text(r.text, &s, &out);
		if (strcmp(out.s, TEXTS[i].text) != 0) {
			fprintf(stderr, "# %s: '%s' instead of '%s'\n", TEXTS[i].what, out.s, TEXTS[i].text);
			failed++;
		}
		str_finish(&out);
		transcript_rig_finish(&r);
	}
	assert_int_equal(failed, 0);
}

/* ---- searches ---- */

static const struct {
	const char *what;
	unsigned cols;
	const char *output, *needle, *found; /* "line.col-line.col" of each match */
} SEARCHES[] = {
    {"all of them", 20, "ab ab\r\nxab", "ab", "0.0-0.1 0.3-0.4 1.1-1.2"},
    {"small letters find both", 20, "Error ERROR error", "error", "0.0-0.4 0.6-0.10 0.12-0.16"},
    {"a capital is exact", 20, "Error ERROR error", "Error", "0.0-0.4"},
    {"none", 20, "abc", "abd", ""},
    {"nothing finds nothing", 20, "abc", "", ""},
    {"they do not overlap", 20, "aaaaa", "aa", "0.0-0.1 0.2-0.3"},
    {"a start that fails late", 20, "aabaabaac", "aabaac", "0.3-0.8"},
    {"over a wrapped row", 5, "abcdefgh", "ef", "0.4-1.0"},
    {"not over the end of a line", 5, "abcde\r\nfgh", "ef", ""},
    {"over two wraps", 3, "abcdefgh", "bcdefgh", "0.1-2.1"},
    {"blanks", 20, "a\033[3Cb", "a   b", "0.0-0.4"},
    {"wide cells", 20, "x日本語", "日本", "0.1-0.3"},
    {"clusters", 20, "cafe\xcc\x81!", "e\xcc\x81!", "0.3-0.4"},
    {"capitals of other scripts", 20, "GRÖSSE größe", "größe", "0.7-0.11"},
    {"no pattern", 20, "a.c abc", "a.c", "0.0-0.2"},
};

static bool note_match(void *arg, const struct find_match *m)
{
	struct str *out = arg;
	str_appendf(out, "%s%d.%u-%d.%u", out->len ? " " : "", (int)m->first.line, m->first.col,
	            (int)m->last.line, m->last.col);
	return true;
}

static void searches_find_what_is_there(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(SEARCHES); i++) {
		struct transcript_rig r;
		struct find_needle needle;
		struct str out = STR_INIT(4096);
		read_text(&r, 2, SEARCHES[i].cols, SEARCHES[i].output);
		find_needle_init(&needle, SEARCHES[i].needle);
		find_all(r.text, &needle, 0, UINT64_MAX, note_match, &out);
		if (strcmp(out.s, SEARCHES[i].found) != 0) {
			fprintf(stderr, "# %s: '%s' instead of '%s'\n", SEARCHES[i].what, out.s,
			        SEARCHES[i].found);
			failed++;
		}
		str_finish(&out);
		transcript_rig_finish(&r);
	}
	assert_int_equal(failed, 0);
}

/* Whatever the ranges, their matches together are those of the whole. */
static void a_search_may_be_cut_anywhere(void **state)
{
	(void)state;
	struct transcript_rig r;
	struct find_needle needle;
	struct str whole = STR_INIT(4096);
	read_text(&r, 2, 4, "abcabcabcab\r\nxabcabc\r\nab\r\ncabc");
	find_needle_init(&needle, "cab");
	uint64_t first = transcript_first(r.text), end = transcript_end(r.text);
	find_all(r.text, &needle, first, end, note_match, &whole);
	assert_true(whole.len > 20);
	for (uint64_t cut = first; cut <= end; cut++) {
		struct str parts = STR_INIT(4096);
		find_all(r.text, &needle, first, cut, note_match, &parts);
		find_all(r.text, &needle, cut, end, note_match, &parts);
		assert_string_equal(parts.s, whole.s);
		str_finish(&parts);
	}
	str_finish(&whole);
	transcript_rig_finish(&r);
}

/* ---- motions ---- */

#define PROMPT "\033]133;A\a"

static const struct {
	const char *what;
	unsigned rows, cols;
	const char *output;
	enum select_motion motion;
	struct select_point from, to;
} MOTIONS[] = {
    {"w", 3, 20, "foo bar.baz", SELECT_WORD_NEXT, AT(0, 0), AT(0, 4)},
    {"w to a sign", 3, 20, "foo bar.baz", SELECT_WORD_NEXT, AT(0, 5), AT(0, 7)},
    {"w from a sign", 3, 20, "foo bar.baz", SELECT_WORD_NEXT, AT(0, 7), AT(0, 8)},
    {"w to the next line", 3, 20, "foo\r\n  bar", SELECT_WORD_NEXT, AT(0, 1), AT(1, 2)},
    {"w stops at an empty line", 4, 20, "foo\r\n\r\nbar", SELECT_WORD_NEXT, AT(0, 1), AT(1, 0)},
    {"w goes on over a wrap", 3, 5, "ab cdefg h", SELECT_WORD_NEXT, AT(0, 3), AT(1, 4)},
    {"w from blanks", 3, 20, "a    b", SELECT_WORD_NEXT, AT(0, 2), AT(0, 5)},
    {"w at the end", 1, 20, "foo", SELECT_WORD_NEXT, AT(0, 1), AT(0, 2)},
    {"b", 3, 20, "foo bar.baz", SELECT_WORD_BACK, AT(0, 6), AT(0, 4)},
    {"b from a start", 3, 20, "foo bar", SELECT_WORD_BACK, AT(0, 4), AT(0, 0)},
    {"b to the line before", 3, 20, "foo\r\n  bar", SELECT_WORD_BACK, AT(1, 2), AT(0, 0)},
    {"b stops at an empty line", 4, 20, "foo\r\n\r\nbar", SELECT_WORD_BACK, AT(2, 0), AT(1, 0)},
    {"b over a wrap", 3, 5, "ab cdefg h", SELECT_WORD_BACK, AT(1, 2), AT(0, 3)},
    {"b at the start", 3, 20, "foo", SELECT_WORD_BACK, AT(0, 0), AT(0, 0)},
    {"e", 3, 20, "foo bar", SELECT_WORD_END, AT(0, 0), AT(0, 2)},
    {"e from an end", 3, 20, "foo bar", SELECT_WORD_END, AT(0, 2), AT(0, 6)},
    {"e over a wrap", 3, 5, "ab cdefg h", SELECT_WORD_END, AT(0, 3), AT(1, 2)},
    {"e to the next line", 3, 20, "foo\r\n\r\nbar", SELECT_WORD_END, AT(0, 2), AT(2, 2)},
    {"0", 3, 20, "  foo", SELECT_LINE_START, AT(0, 4), AT(0, 0)},
    {"0 of a wrapped line", 4, 5, "x\r\nabcdefgh", SELECT_LINE_START, AT(2, 2), AT(1, 0)},
    {"^", 3, 20, "  foo", SELECT_LINE_TEXT, AT(0, 4), AT(0, 2)},
    {"$", 3, 20, "  foo", SELECT_LINE_END, AT(0, 0), AT(0, 4)},
    {"$ of a wrapped line", 4, 5, "abcdefgh\r\nx", SELECT_LINE_END, AT(0, 2), AT(1, 2)},
    {"$ on a wide cell", 3, 20, "a日", SELECT_LINE_END, AT(0, 0), AT(0, 1)},
    {"h", 3, 20, "abc", SELECT_LEFT, AT(0, 1), AT(0, 0)},
    {"h over a wide cell", 3, 20, "a日b", SELECT_LEFT, AT(0, 3), AT(0, 1)},
    {"h stays in its line", 3, 20, "abc\r\nd", SELECT_LEFT, AT(1, 0), AT(1, 0)},
    {"l over a wide cell", 3, 20, "a日b", SELECT_RIGHT, AT(0, 1), AT(0, 3)},
    {"l stays in the text", 3, 20, "abc\r\nd", SELECT_RIGHT, AT(0, 2), AT(0, 2)},
    {"k", 3, 20, "abc\r\nd", SELECT_UP, AT(1, 0), AT(0, 0)},
    {"j onto a shorter line", 3, 20, "abc\r\nd", SELECT_DOWN, AT(0, 2), AT(1, 0)},
    {"j at the end", 2, 20, "abc\r\nd", SELECT_DOWN, AT(1, 0), AT(1, 0)},
    {"gg", 2, 20, "a\r\nb\r\nc\r\nd", SELECT_FIRST, AT(3, 0), AT(0, 0)},
    {"G is the last text", 5, 20, "a\r\nb\r\nccc", SELECT_LAST, AT(0, 0), AT(2, 0)},
    {"}", 5, 20, "a\r\nb\r\n\r\nc", SELECT_PARAGRAPH_NEXT, AT(0, 0), AT(2, 0)},
    {"} from an empty line", 6, 20, "\r\na\r\n\r\nb", SELECT_PARAGRAPH_NEXT, AT(0, 0), AT(2, 0)},
    {"{", 5, 20, "a\r\n\r\nb\r\nc", SELECT_PARAGRAPH_BACK, AT(3, 0), AT(1, 0)},
    {"{ to the first line", 5, 20, "a\r\nb\r\nc", SELECT_PARAGRAPH_BACK, AT(2, 0), AT(0, 0)},
    {"[", 2, 20, PROMPT "$ ls\r\nx\r\n" PROMPT "$ cd\r\ny", SELECT_PROMPT_PREVIOUS, AT(3, 0), AT(2, 0)},
    {"[ again", 2, 20, PROMPT "$ ls\r\nx\r\n" PROMPT "$ cd\r\ny", SELECT_PROMPT_PREVIOUS, AT(2, 0), AT(0, 0)},
    {"[ with none before", 2, 20, "x\r\n" PROMPT "$ cd\r\ny", SELECT_PROMPT_PREVIOUS, AT(1, 1), AT(1, 1)},
    {"]", 2, 20, PROMPT "$ ls\r\nx\r\n" PROMPT "$ cd\r\ny", SELECT_PROMPT_NEXT, AT(0, 0), AT(2, 0)},
    {"] with none after", 2, 20, PROMPT "$ ls\r\nx", SELECT_PROMPT_NEXT, AT(0, 1), AT(0, 1)},
};

static void motions_lead_where_vi_does(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(MOTIONS); i++) {
		struct transcript_rig r;
		read_text(&r, MOTIONS[i].rows, MOTIONS[i].cols, MOTIONS[i].output);
		struct select_point p = select_move(r.text, MOTIONS[i].motion, MOTIONS[i].from);
		if (select_compare(p, MOTIONS[i].to) != 0) {
			fprintf(stderr, "# %s: %d.%u instead of %d.%u\n", MOTIONS[i].what, (int)p.line, p.col,
			        (int)MOTIONS[i].to.line, MOTIONS[i].to.col);
			failed++;
		}
		transcript_rig_finish(&r);
	}
	assert_int_equal(failed, 0);
}

/* ---- any output ---- */

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 0x7fff;
}

/* Text as programs print it: words, wide ones, marks, tabs, cursor motion, long lines, prompts. */
static void write_something(struct transcript_rig *r, unsigned *seed, unsigned pieces)
{
	static const char *const PIECES[] = {"word ",
	                                     "x",
	                                     "日本",
	                                     "e\xcc\x81",
	                                     "   ",
	                                     "\r\n",
	                                     "\r\n",
	                                     "\t",
	                                     "a-rather-long-word-that-wraps",
	                                     "\033[3C",
	                                     "\033[7mR\033[m",
	                                     "\033[2;5H",
	                                     "\033[K",
	                                     "\n",
	                                     PROMPT "$ ",
	                                     "\033[31mred ",
	                                     "\xf0\x9f\x98\x80"};
	for (unsigned i = 0; i < pieces; i++) {
		const char *p = PIECES[next_random(seed) % ARRAY_LEN(PIECES)];
		transcript_rig_print(r, p);
	}
}

static void add_cells(struct str *out, const struct cell *cells, size_t used, const struct clusters *clusters)
{
	for (size_t i = 0; i < used; i++) {
		char text[CELL_UTF8_MAX];
		str_append_bytes(out, text, clusters_cell_utf8(clusters, &cells[i], text));
	}
}

static void end_row(struct str *out, unsigned flags, bool last)
{
	if (flags & ROW_WRAPPED && !last)
		return;
	while (out->len > 0 && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
	str_append_char(out, '\n');
}

/* The same from the emulator itself. */
static void text_of_emulator(const struct emulator *e, struct str *out)
{
	for (unsigned i = 0; i < emulator_history_count(e); i++) {
		struct cell cells[TERM_COLS_MAX];
		struct clusters clusters = {0};
		unsigned flags;
		size_t used = emulator_history_row(e, i, cells, TERM_COLS_MAX, &clusters, &flags);
		add_cells(out, cells, used, &clusters);
		end_row(out, flags, false);
		clusters_finish(&clusters);
	}
	for (unsigned row = 0; row < emulator_rows(e); row++) {
		unsigned used;
		const struct cell *cells = emulator_row(e, row, &used);
		unsigned flags = emulator_row_flags(e, row);
		while (used > 0 && cells[used - 1].code == 0 && cells[used - 1].width == CELL_NARROW)
			used--;
		add_cells(out, cells, used, emulator_clusters(e));
		end_row(out, flags, row + 1 == emulator_rows(e));
	}
}

static void all_of_it_is_the_emulators_text(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct transcript_rig r;
		struct str want = STR_INIT(1 << 20), have = STR_INIT(1 << 20);
		unsigned random = seed;
		transcript_rig_init(&r, 2 + seed % 7, 5 + seed % 23);
		write_something(&r, &random, 400);
		if (seed % 3 == 0) {
			emulator_resize(r.emulator, 3, 11);
			write_something(&r, &random, 100);
		}
		transcript_rig_read(&r, 1 + seed % 40);
		struct selection all = {
		    SELECT_LINES, {.line = transcript_first(r.text)}, {.line = transcript_end(r.text) - 1}};
		select_text(r.text, &all, &have);
		text_of_emulator(r.emulator, &want);
		assert_false(want.overflow || have.overflow);
		assert_true(want.len > 100);
		assert_string_equal(have.s, want.s);
		str_finish(&want);
		str_finish(&have);
		transcript_rig_finish(&r);
	}
}

static void every_motion_stays_inside_and_ends(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct transcript_rig r;
		unsigned random = seed;
		transcript_rig_init(&r, 4, 5 + seed);
		write_something(&r, &random, 300);
		transcript_rig_read(&r, 1000);
		for (int m = 0; m < SELECT_MOTION_COUNT; m++) {
			/* From both ends, as often as it takes to come to rest. */
			struct select_point p = {.line = m % 2 ? 0 : transcript_end(r.text) + 7, .col = 9999};
			for (unsigned steps = 0;; steps++) {
				struct select_point q = select_move(r.text, (enum select_motion)m, p);
				struct select_point c = select_clamp(r.text, q);
				assert_int_equal(select_compare(q, c), 0);
				if (select_compare(q, p) == 0)
					break;
				p = q;
				assert_true(steps < 5000);
			}
		}
		transcript_rig_finish(&r);
	}
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(selections_have_their_text),
	    cmocka_unit_test(searches_find_what_is_there),
	    cmocka_unit_test(a_search_may_be_cut_anywhere),
	    cmocka_unit_test(motions_lead_where_vi_does),
	    cmocka_unit_test(all_of_it_is_the_emulators_text),
	    cmocka_unit_test(every_motion_stays_inside_and_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
