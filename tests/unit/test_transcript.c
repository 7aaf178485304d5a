/* core/term/transcript: a terminal read from its end to its beginning, and pieces that are no such thing. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "core/term/transcript.h"
#include "tests/lib/term_test.h"

#define PIECE_MAX ((size_t)1 << 20)

static void write_lines(struct term_test *t, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		char line[32];
		snprintf(line, sizeof(line), "line %u e\u0301\r\n", i);
		term_test_write(t, line);
	}
}

/* Text of a line, marks included. */
static const char *text_of(struct term_test *t, const struct transcript *tr, uint64_t number)
{
	struct cell cells[TERM_COLS_MAX];
	size_t used = transcript_line(tr, number, cells, TERM_COLS_MAX, NULL);
	str_clear(&t->text);
	for (size_t i = 0; i < used; i++) {
		char text[CELL_UTF8_MAX];
		str_append_bytes(&t->text, text,
		                 clusters_cell_utf8(transcript_clusters(tr), &cells[i], text));
	}
	return t->text.s;
}

static void assert_line(struct term_test *t, const struct transcript *tr, uint64_t number, unsigned i)
{
	char want[32];
	snprintf(want, sizeof(want), "line %u e\u0301", i);
	assert_string_equal(text_of(t, tr, number), want);
}

/* One round of question and answer; returns how many lines came. */
static unsigned ask(struct term_test *t, struct transcript *tr, unsigned most, size_t max)
{
	struct buf b = BUF_INIT(PIECE_MAX);
	struct err e = ERR_INIT;
	uint64_t first;
	unsigned count = transcript_encode(t->e, transcript_first(tr), most, max, &b, &first);
	assert_true(b.len <= max);
	if (!transcript_prepend(tr, first, count, (struct bytes){b.data, b.len}, &e))
		fail_msg("%s", e.msg);
	buf_finish(&b);
	return count;
}

static void a_terminal_is_read_to_its_beginning(void **state)
{
	(void)state;
	static const struct {
		unsigned most;
		size_t max;
	} STEPS[] = {{7, PIECE_MAX}, {1000, SNAPSHOT_ROW_MAX}, {100000, PIECE_MAX}};
	struct term_test t;
	term_test_init(&t, 5, 40);
	emulator_set_scrollback(t.e, 9000);
	write_lines(&t, 0, 9100);
	term_test_sync(&t);
	for (size_t i = 0; i < ARRAY_LEN(STEPS); i++) {
		struct transcript *tr = transcript_create(&t.screen);
		assert_int_equal(transcript_end(tr), 9101);
		assert_int_equal(transcript_first(tr), 9096);
		unsigned rounds = 0;
		while (!transcript_is_whole(tr)) {
			ask(&t, tr, STEPS[i].most, STEPS[i].max);
			rounds++;
		}
		assert_true(rounds > 1);
		assert_int_equal(transcript_first(tr), 96); /* those before were dropped */
		for (unsigned n = 96; n < 9100; n += n < 9000 ? 37 : 1)
			assert_line(&t, tr, n, n);
		assert_string_equal(text_of(&t, tr, 9100), ""); /* the cursor's row */
		assert_string_equal(text_of(&t, tr, 95), "");
		assert_string_equal(text_of(&t, tr, 9101), "");
		assert_true(transcript_memory(tr) < 1024 * 1024);
		transcript_destroy(tr);
	}
	term_test_finish(&t);
	transcript_destroy(NULL);
}

static void what_the_guest_does_afterwards_moves_nothing(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 5, 40);
	write_lines(&t, 0, 20);
	term_test_sync(&t);
	struct transcript *tr = transcript_create(&t.screen);
	write_lines(&t, 20, 50);
	term_test_write(&t, "\x1b[2J");
	assert_int_equal(ask(&t, tr, 10, PIECE_MAX), 10);
	/* The taller screen takes lines back that were asked for as history. */
	emulator_resize(t.e, 60, 40);
	assert_int_equal(emulator_history_count(t.e), 0);
	while (!transcript_is_whole(tr))
		ask(&t, tr, 3, PIECE_MAX);
	assert_int_equal(transcript_first(tr), 0);
	for (unsigned n = 0; n < 20; n++)
		assert_line(&t, tr, n, n);
	transcript_destroy(tr);
	term_test_finish(&t);
}

static void an_alternate_screen_stands_alone(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 5, 40);
	write_lines(&t, 0, 20);
	term_test_write(&t, "\x1b[?1049h\x1b[2J\x1b[Heditor");
	term_test_sync(&t);
	struct transcript *tr = transcript_create(&t.screen);
	assert_true(transcript_is_whole(tr));
	assert_int_equal(transcript_end(tr) - transcript_first(tr), 5);
	assert_string_equal(text_of(&t, tr, transcript_first(tr)), "editor");
	transcript_destroy(tr);
	term_test_finish(&t);
}

static void flags_come_along(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 3, 10);
	term_test_write(&t,
	                "\x1b]133;A\a$ 0123456789abcdefghi\r\nnext\r\n\x1b]133;A\a$ \r\n\r\n\r\nwrap: 56789");
	term_test_write(&t, "x");
	term_test_sync(&t);
	struct transcript *tr = transcript_create(&t.screen);
	while (!transcript_is_whole(tr))
		ask(&t, tr, 2, PIECE_MAX);
	static const unsigned WANT[] = {ROW_WRAPPED, ROW_WRAPPED, 0, 0, 0, 0, 0, ROW_WRAPPED, 0};
	assert_int_equal(transcript_end(tr) - transcript_first(tr), ARRAY_LEN(WANT));
	for (unsigned n = 0; n < ARRAY_LEN(WANT); n++) {
		struct cell cells[20];
		unsigned flags;
		(void)transcript_line(tr, n, cells, 20, &flags);
		if ((flags & ROW_WRAPPED) != WANT[n])
			fail_msg("line %u has flags %u", n, flags);
	}
	transcript_destroy(tr);
	term_test_finish(&t);
}

/* ---- pieces that are none ---------------------------------------------------------------------------------------- */

#define LINES(bytes)                                        \
	{                                                   \
		(const uint8_t *)(bytes), sizeof(bytes) - 1 \
	}

static const struct {
	uint64_t first; /* the transcript begins at 15 */
	uint32_t count;
	struct bytes lines;
	bool good;
} PIECES[] = {
    {14, 1, LINES("\0\0\0"), true},
    {13, 2, LINES("\3\0\0\1\0\4\5\0\1a"), true},
    {15, 0, {NULL, 0}, true},
    {0, 0, {NULL, 0}, true},
    {15, 1, LINES("\0\0\0"), false},
    {13, 1, LINES("\0\0\0"), false},
    {14, 1, {NULL, 0}, false},
    {14, 1, LINES("\0\0"), false},
    {14, 1, LINES("\0\0\0\0"), false},
    {14, 1, LINES("\4\0\0"), false},
    {14, 1, LINES("\0\0\5\5\0\1a"), false},
    {14, 1, LINES("\0\0\4\5\0\1\x1b"), false},
    {13, 2, LINES("\0\0\0"), false},
    {15, 0, LINES("\0\0\0"), false},
    {(uint64_t)-1, 16, LINES("\0\0\0"), false},
    {0xffffffff00000010, 0xffffffff, LINES("\0\0\0"), false},
};

static void bad_pieces_change_nothing(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 5, 40);
	write_lines(&t, 0, 19);
	term_test_sync(&t);
	for (size_t i = 0; i < ARRAY_LEN(PIECES); i++) {
		struct transcript *tr = transcript_create(&t.screen);
		struct err e = ERR_INIT;
		bool ok = transcript_prepend(tr, PIECES[i].first, PIECES[i].count, PIECES[i].lines, &e);
		if (ok != PIECES[i].good)
			fail_msg("piece %zu: %s", i, ok ? "taken" : e.msg);
		assert_int_equal(e.kind, ok ? ERR_NONE : ERR_PROTOCOL);
		assert_int_equal(transcript_first(tr), 15 - (ok ? PIECES[i].count : 0));
		assert_int_equal(transcript_is_whole(tr), ok && PIECES[i].count == 0);
		if (transcript_is_whole(tr)) /* that was the beginning */
			assert_false(transcript_prepend(tr, 14, 1, (struct bytes)LINES("\0\0\0"), &e));
		transcript_destroy(tr);
	}
	term_test_finish(&t);
}

/* Somebody who sends for ever is stopped. */
static void a_transcript_is_bounded(void **state)
{
	(void)state;
	struct screen s;
	struct err e = ERR_INIT;
	screen_init(&s, 2, 10);
	s.history = UINT32_MAX;
	struct transcript *tr = transcript_create(&s);
	uint8_t *lines = calloc(1, PIECE_MAX);
	uint32_t count = PIECE_MAX / 3, pieces = 0;
	assert_non_null(lines);
	while (transcript_prepend(tr, transcript_first(tr) - count, count,
	                          (struct bytes){lines, (size_t)count * 3}, &e))
		pieces++;
	assert_in_range(pieces, 1, TRANSCRIPT_BYTES_MAX / PIECE_MAX);
	assert_int_equal(e.kind, ERR_PROTOCOL);
	assert_true(transcript_memory(tr) < TRANSCRIPT_BYTES_MAX + 64 * 1024);
	free(lines);
	transcript_destroy(tr);
	screen_finish(&s);
}

/* More clusters than a table holds, spread over many lines: each line shows its own when it is read. */
static void reading_sweeps_the_clusters(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 2, 40);
	for (unsigned i = 0; i < 2 * CLUSTERS_MOST; i++) {
		char line[64];
		const char mark[3] = {(char)0xcc, (char)(0x80 + i % 48), 0};
		const char mark2[3] = {(char)0xcc, (char)(0x80 + i / 48 % 48), 0};
		snprintf(line, sizeof(line), "%c%s%s\r\n", 'a' + (int)(i / 48 / 48), mark, mark2);
		term_test_write(&t, line);
	}
	term_test_sync(&t);
	struct transcript *tr = transcript_create(&t.screen);
	while (!transcript_is_whole(tr))
		ask(&t, tr, 100000, PIECE_MAX);
	for (unsigned i = 0; i < 2 * CLUSTERS_MOST; i++)
		assert_int_equal(strlen(text_of(&t, tr, i)), 5);
	assert_true(transcript_clusters(tr)->count <= CLUSTERS_MOST);
	transcript_destroy(tr);
	term_test_finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_terminal_is_read_to_its_beginning),
	    cmocka_unit_test(what_the_guest_does_afterwards_moves_nothing),
	    cmocka_unit_test(an_alternate_screen_stands_alone),
	    cmocka_unit_test(flags_come_along),
	    cmocka_unit_test(bad_pieces_change_nothing),
	    cmocka_unit_test(a_transcript_is_bounded),
	    cmocka_unit_test(reading_sweeps_the_clusters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
