/* core/term: what is known of lines beside their cells. Which rows were wrapped, where prompts begin, and their numbers. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "tests/lib/term_test.h"

#define ROWS 4
#define COLS 10

static char letter(unsigned flags)
{
	static const char LETTERS[] = ".wpb"; /* nothing, wrapped, prompt, both */
	return LETTERS[flags & ROW_FLAG_ALL];
}

/* One letter for each line of the history, a bar, one for each row. */
static const char *flags_of(struct term_test *t)
{
	struct cell cells[COLS];
	struct clusters clusters = {0};
	unsigned flags;
	term_test_sync(t);
	str_clear(&t->text);
	for (unsigned i = 0; i < emulator_history_count(t->e); i++) {
		(void)emulator_history_row(t->e, i, cells, COLS, &clusters, &flags);
		str_append_char(&t->text, letter(flags));
	}
	str_append_char(&t->text, '|');
	for (unsigned row = 0; row < t->screen.rows; row++)
		str_append_char(&t->text, letter(t->screen.flags[row]));
	clusters_finish(&clusters);
	return t->text.s;
}

#define FULL   "0123456789"
#define PROMPT "\x1b]133;A\a"

static const struct {
	const char *name, *in, *flags;
} CASES[] = {
    {"text that wraps", FULL "ab", "|w..."},
    {"three rows", FULL FULL "ab", "|ww.."},
    {"a full row and a line break", FULL "\r\nab", "|...."},
    {"a full row alone", FULL, "|...."},
    {"a full row and a line feed only", FULL "\nab", "|.w.."}, /* which stays in the column */
    {"a carriage return first", FULL "\r\n\r" FULL "x", "|.w.."},
    {"the cursor is put there", FULL "\x1b[2;1Hab", "|...."},
    {"a style between", FULL "\x1b[1;31mab", "|w..."},
    {"a link between", FULL "\x1b]8;;http://a.test\aab", "|w..."},
    {"erasing between", FULL "\x1b[Ka", "|...."}, /* takes the wrap back: a is the last cell again */
    {"a backspace between", FULL "\bab", "|...."},
    {"wide characters at the edge", "012345678\u4e2d", "|w..."},
    {"wide characters up to the edge", "01234567\u4e2d\u4e2d", "|w..."},
    {"a narrow one does not wrap early", "012345678\r\nx", "|...."},
    {"wide, moved there", "012345678\x1b[2;1H\u4e2d", "|...."},
    {"a mark at the edge", "012345678e\u0301x", "|w..."},
    {"wrapping off", "\x1b[?7l" FULL "ab", "|...."},
    {"wrapping off at the edge", FULL "\x1b[?7lab", "|...."},
    {"at the bottom", "\r\n\r\n\r\n" FULL "ab", ".|..w."},
    {"into the history", FULL "ab\r\n\r\n\r\n\r\n", "w.|...."},
    {"one row in the history, one on the screen", FULL "ab\r\n\r\n\r\n", "w|...."},
    {"in a region", "\x1b[2;3r\x1b[3;1H" FULL "ab", "|.w.."},
    {"region at the top", "\x1b[1;2r\x1b[2;1H" FULL "ab", ".|w..."},
    {"the last cell is overwritten", FULL "ab\x1b[1;10Hx", "|...."},
    {"another cell is overwritten", FULL "ab\x1b[1;5Hx", "|w..."},
    {"the row is overwritten and wraps again", FULL "ab\x1b[H" FULL "cd", "|w..."},
    {"the last cell is erased", FULL "ab\x1b[1;10H\x1b[X", "|...."},
    {"another cell is erased", FULL "ab\x1b[1;5H\x1b[X", "|w..."},
    {"the end is erased", FULL "ab\x1b[1;5H\x1b[K", "|...."},
    {"the row is erased", FULL "ab\x1b[1;5H\x1b[2K", "|...."},
    {"the row after it is erased", FULL "ab\x1b[2K", "|...."},
    {"the start of the row after it is erased", FULL "abc\x1b[2D\x1b[1K", "|w..."},
    {"the screen is erased", FULL FULL FULL "ab\x1b[2J", "|...."},
    {"history before an erased screen", FULL FULL FULL FULL "ab\x1b[2J", ".|...."},
    {"history before an erased row", FULL FULL FULL FULL "ab\x1b[H\x1b[2K", ".|.ww."},
    {"a character is deleted", FULL "ab\x1b[H\x1b[P", "|...."},
    {"a character is inserted", FULL "ab\x1b[H\x1b[@", "|...."},
    {"a line is inserted between", FULL "ab\x1b[2;1H\x1b[L", "|...."},
    {"a line is inserted above", FULL "ab\x1b[H\x1b[L", "|.w.."},
    {"a line is inserted under the history", FULL FULL FULL FULL "ab\x1b[H\x1b[L", ".|.ww."},
    {"the second line is deleted", FULL "ab\r\ncd\x1b[2;1H\x1b[M", "|...."},
    {"a line is deleted under the history", FULL FULL FULL FULL "ab\x1b[H\x1b[M", ".|ww.."},
    {"the last row of a region moves away", "\x1b[3;1H" FULL "ab\x1b[1;3r\x1b[3;1H\n", ".|...."},
    {"scrolled down", FULL FULL "ab\x1b[T", "|.ww."},
    {"scrolled down out of the screen", "\r\n\r\n" FULL "ab\x1b[T", "|...."},
    {"scrolled out as a whole", "\x1b[3;1H" FULL "ab\x1b[9S", "..w.|...."},
    {"scrolled out up to where it went on", FULL FULL "ab\x1b[1;2r\x1b[9S", "w.|...."},
    {"the free place at the edge is taken", "012345678\u4e2d\x1b[1;10Hx", "|...."},
    {"reverse index", FULL "ab\x1b[H\x1bM", "|.w.."},
    {"saved and restored",
     FULL "\x1b"
          "7\x1b[H\x1b"
          "8ab",
     "|w..."},
    {"saved and restored, wide", "01234567\u4e2d\x1b[s\x1b[H\x1b[uab", "|w..."},
    {"after the alternate screen", FULL "\x1b[?1049h\x1b[2J\x1b[Hvi\x1b[?1049lab", "|w..."},
    {"on the alternate screen", "\x1b[?1049h\x1b[H" FULL "ab", "|w..."},
    {"the alternate screen does not reach the history", FULL FULL FULL FULL "ab\x1b[?1049h\x1b[2J\x1b[?1049l",
     "w|www."},
    {"a reset",
     FULL "ab\x1b"
          "c",
     "|...."},
    {"prompts", PROMPT "$ ls\r\na b\r\n" PROMPT "$ ", "|p.p."},
    {"a prompt that wraps", PROMPT "$ " FULL, "|b..."},
    {"the rest of the line is erased after it was marked", PROMPT "\r\x1b[m\x1b[J$ ", "|p..."},
    {"so is the line", PROMPT "\r\x1b[K$ ", "|p..."},
    {"its row is erased", PROMPT "$ x\x1b[2K", "|...."},
    {"the screen above is", "\r\n" PROMPT "$ \x1b[3;5H\x1b[1J", "|...."},
    {"the screen is", PROMPT "$ \x1b[H\x1b[2J", "|...."},
    {"it scrolls away", PROMPT "$ \r\n\r\n\r\n\r\n", "p|...."},
    {"it is overwritten", PROMPT "$ \rhello", "|p..."},
    {"a continuation is none", "\x1b]133;A;k=s\a> ", "|...."},
    {"a prompt on the alternate screen", "\x1b[?1049h" PROMPT "x\x1b[?1049l", "|...."},
};

static void rows_know_what_they_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		for (int bytewise = 0; bytewise < 2; bytewise++) {
			struct term_test t;
			term_test_init(&t, ROWS, COLS);
			size_t len = strlen(CASES[i].in);
			for (size_t k = 0; bytewise && k < len; k++)
				emulator_write(t.e, CASES[i].in + k, 1);
			if (!bytewise)
				emulator_write(t.e, CASES[i].in, len);
			const char *got = flags_of(&t);
			if (strcmp(got, CASES[i].flags) != 0)
				fail_msg("%s: %s", CASES[i].name, got);
			term_test_finish(&t);
		}
}

static void one_row_is_enough(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 1, COLS);
	term_test_write(&t, FULL FULL "ab\r\ncd");
	assert_string_equal(flags_of(&t), "ww.|.");
	term_test_write(&t, "\x1b[?1049h" FULL "ab");
	assert_string_equal(flags_of(&t), "ww.|.");
	term_test_finish(&t);
}

static const struct {
	const char *name, *in;
	unsigned rows, cols;
	const char *then, *rows_after, *flags;
} SIZES[] = {
    {"lower", FULL "ab\r\nc\r\nd", 2, COLS, "", "c|d", "w.|.."},
    {"lower, in the middle of it", FULL "ab\r\nc", 2, COLS, "", "ab|c", "w|.."},
    {"lower and higher again", FULL "ab\r\nc\r\nd", 2, COLS, "", "c|d", "w.|.."},
    {"higher", FULL "ab\r\nc\r\nd\r\ne", 6, COLS, "", FULL "|ab|c|d|e", "|w....."},
    {"cut below", FULL "ab\x1b[H", 1, COLS, "", FULL, "|."},
    {"wider", FULL "ab", ROWS, 15, "", FULL "|ab", "|w..."},
    {"narrower and wider again", FULL "ab", ROWS, 6, "", "012345|ab", "|w..."},
    {"at the edge, lower", FULL, 2, COLS, "x", FULL "|x", "|w."},
    {"at the edge, wider", FULL, ROWS, 15, "x", FULL "x", "|...."},
    {"at the edge, narrower", FULL, ROWS, 8, "x", "01234567|x", "|w..."},
    {"at the edge, wide", "01234567\u4e2d", 3, COLS, "x", "01234567\u4e2d|x", "|w.."},
    {"saved at the edge, lower",
     FULL "\x1b"
          "7\x1b[H",
     3, COLS,
     "\x1b"
     "8x",
     FULL "|x", "|w.."},
    {"saved at the edge, wider",
     FULL "\x1b"
          "7\x1b[H",
     ROWS, 15,
     "\x1b"
     "8x",
     FULL "x", "|...."},
};

static void sizes_keep_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
		struct term_test t;
		term_test_init(&t, ROWS, COLS);
		term_test_write(&t, SIZES[i].in);
		emulator_resize(t.e, SIZES[i].rows, SIZES[i].cols);
		term_test_write(&t, SIZES[i].then);
		if (strcmp(term_test_rows(&t), SIZES[i].rows_after) != 0)
			fail_msg("%s: %s", SIZES[i].name, term_test_rows(&t));
		if (strcmp(flags_of(&t), SIZES[i].flags) != 0)
			fail_msg("%s: %s", SIZES[i].name, flags_of(&t));
		term_test_finish(&t);
	}
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static uint64_t row0(const struct term_test *t)
{
	return emulator_history_first(t->e) + emulator_history_count(t->e);
}

static void numbers_stay(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	for (unsigned i = 0; i < 100; i++)
		term_test_write(&t, "line\r\n");
	assert_int_equal(emulator_history_first(t.e), 0);
	assert_int_equal(row0(&t), 97);
	emulator_set_scrollback(t.e, 10);
	assert_int_equal(emulator_history_first(t.e), 87);
	emulator_resize(t.e, 9, 20); /* five lines come back and keep their numbers */
	assert_int_equal(row0(&t), 92);
	emulator_resize(t.e, 4, 20);
	assert_int_equal(row0(&t), 97);
	term_test_sync(&t);
	assert_int_equal(t.screen.history_first, 87);
	assert_int_equal(t.screen.history, 10);
	term_test_write(&t, "\x1b[?1049h\n\n\n\n\n\n");
	assert_int_equal(row0(&t), 97);
	term_test_write(&t, "\x1b[?1049l\x1b[3J");
	assert_int_equal(emulator_history_count(t.e), 0);
	assert_int_equal(row0(&t), 97);
	emulator_set_scrollback(t.e, 0);
	term_test_write(&t, "\n\n");
	assert_int_equal(row0(&t), 99);
	emulator_reset(t.e);
	assert_int_equal(row0(&t), 99);
	term_test_finish(&t);
}

/* Lines that go because they are too many bytes take their numbers along. */
static void numbers_follow_the_bytes(void **state)
{
	(void)state;
	struct term_test t;
	char cell[64];
	term_test_init(&t, 2, TERM_COLS_MAX);
	for (unsigned i = 0; i < 1100; i++) {
		for (unsigned col = 0; col < TERM_COLS_MAX; col++) {
			unsigned v = (i + col) % 256;
			snprintf(cell, sizeof(cell), "\x1b[38;2;%u;1;1;48;2;%u;2;2;58;2;3;3;%umx", v, v, v);
			term_test_write(&t, cell);
		}
		assert_int_equal(row0(&t), i == 0 ? 0 : i - 1);
	}
	assert_in_range(emulator_history_first(t.e), 1, 1000);
	term_test_finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_know_what_they_are),
	    cmocka_unit_test(one_row_is_enough),
	    cmocka_unit_test(sizes_keep_it),
	    cmocka_unit_test(numbers_stay),
	    cmocka_unit_test(numbers_follow_the_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
