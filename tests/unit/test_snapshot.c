/* core/term/pack, snapshot and screen: what goes over the wire, and that nothing else is believed. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/term/pack.h"
#include "core/term/unicode.h"
#include "tests/lib/term_test.h"

#define UPDATE_MAX ((size_t)4 * 1024 * 1024)

static void only_changed_rows_are_sent(void **state)
{
	(void)state;
	struct term_test t;
	struct buf b = BUF_INIT(UPDATE_MAX);
	term_test_init(&t, 10, 40);
	term_test_write(&t, "one\r\ntwo\r\nthree");
	assert_true(snapshot_pending(t.e, &t.cursor));
	term_test_sync(&t);
	assert_false(snapshot_pending(t.e, &t.cursor));
	screen_clear_changed(&t.screen);
	term_test_write(&t, "\x1b[2;1HTWO\x1b[10;1H");
	assert_true(snapshot_pending(t.e, &t.cursor));
	struct snapshot_cursor again = t.cursor;
	assert_true(snapshot_encode(t.e, &again, UPDATE_MAX, &b));
	assert_true(b.len < 60);
	term_test_sync(&t);
	for (unsigned row = 0; row < 10; row++)
		assert_int_equal(t.screen.changed[row], row == 1);
	assert_int_equal(t.screen.cursor.row, 9);
	/* A watcher that comes later gets everything, the same. */
	struct screen late;
	struct snapshot_cursor fresh = {0};
	struct err e = ERR_INIT;
	buf_clear(&b);
	screen_init(&late, 3, 3);
	assert_true(snapshot_encode(t.e, &fresh, UPDATE_MAX, &b));
	assert_true(snapshot_apply(&late, (struct bytes){b.data, b.len}, &e));
	assert_true(late.whole);
	term_test_equal(&late, &t.screen);
	screen_finish(&late);
	buf_finish(&b);
	term_test_finish(&t);
}

static void slow_watchers_skip_frames(void **state)
{
	(void)state;
	struct term_test fast, slow;
	term_test_init(&fast, 5, 20);
	term_test_init(&slow, 5, 20);
	for (int i = 0; i < 50; i++) {
		const char *text = i % 3 ? "\x1b[31mab\r\n" : "\x1b[2;1H\x1b[Lx\u4e2d";
		term_test_write(&fast, text);
		term_test_write(&slow, text);
		term_test_sync(&fast);
		if (i % 7 == 6)
			term_test_sync(&slow);
	}
	term_test_sync(&slow);
	term_test_equal(&fast.screen, &slow.screen);
	term_test_finish(&fast);
	term_test_finish(&slow);
}

/* The worst screen: largest size, every cell a cluster with all colours and other than the one before. It needs several
 * updates, none over the limit, even while it changes between them. */
static void the_worst_screen_comes_in_parts(void **state)
{
	(void)state;
	struct term_test t;
	char cell[128];
	unsigned parts = 0;
	bool done = false;
	term_test_init(&t, TERM_ROWS_MAX, TERM_COLS_MAX);
	for (unsigned row = 0; row < 200; row++)
		for (unsigned col = 0; col < TERM_COLS_MAX; col++) {
			unsigned v = (row + col) % 250;
			snprintf(cell, sizeof(cell),
			         "\x1b[38;2;%u;1;2;48;2;1;%u;2;58;2;1;2;%u;%umx\u0301\u0302\u0303\u0304", v,
			         v, v, col % 2 ? 1 : 22);
			term_test_write(&t, cell);
		}
	while (!done) {
		struct buf b = BUF_INIT(UPDATE_MAX);
		struct err e = ERR_INIT;
		done = snapshot_encode(t.e, &t.cursor, UPDATE_MAX, &b);
		assert_true(b.len <= UPDATE_MAX);
		assert_true(snapshot_apply(&t.screen, (struct bytes){b.data, b.len}, &e));
		assert_int_equal(t.screen.whole, done);
		if (parts++ == 0)
			term_test_write(&t, "\x1b[H\x1b[mchanged meanwhile");
		buf_finish(&b);
	}
	assert_true(parts >= 2);
	assert_true(snapshot_pending(t.e, &t.cursor));
	term_test_sync(&t);
	term_test_row(&t, 0);
	assert_memory_equal(t.text.s, "changed meanwhile", 17);
	term_test_finish(&t);
}

static void a_resize_begins_again(void **state)
{
	(void)state;
	struct term_test t;
	struct buf b = BUF_INIT(UPDATE_MAX);
	term_test_init(&t, TERM_ROWS_MAX, TERM_COLS_MAX);
	for (int i = 0; i < 300; i++) {
		for (int k = 0; k < 70; k++)
			term_test_write(&t, "abcdefghijklm");
		term_test_write(&t, "\r\n");
	}
	assert_false(snapshot_encode(t.e, &t.cursor, SNAPSHOT_MIN, &b));
	assert_int_not_equal(t.cursor.next_row, 0);
	emulator_resize(t.e, 5, 20);
	term_test_sync(&t);
	assert_int_equal(t.screen.rows, 5);
	assert_string_equal(term_test_rows(&t), "abcdefghijklmabcdefg|abcdefghijklmabcdefg|"
	                                        "abcdefghijklmabcdefg|abcdefghijklmabcdefg");
	buf_finish(&b);
	term_test_finish(&t);
}

/* ---- hostile updates --------------------------------------------------------------------------------------------- */

static size_t good_update(struct buf *b)
{
	struct emulator *e = emulator_create(3, 10, NULL, NULL);
	struct snapshot_cursor c = {0};
	const char *text = "\x1b]2;ti\a\x1b[1;31mab\u4e2de\u0301\x1b[m\r\nxxxxxxxxx";
	emulator_write(e, text, strlen(text));
	snapshot_encode(e, &c, UPDATE_MAX, b);
	emulator_destroy(e);
	return b->len;
}

static bool apply(const uint8_t *bytes, size_t len)
{
	struct screen s;
	struct err e = ERR_INIT;
	screen_init(&s, 3, 10);
	bool ok = snapshot_apply(&s, (struct bytes){bytes, len}, &e);
	assert_int_equal(ok, e.kind == ERR_NONE);
	if (!ok)
		assert_int_equal(e.kind, ERR_PROTOCOL);
	for (unsigned i = 0; i < (unsigned)s.rows * s.cols; i++) {
		uint32_t chars[CLUSTER_MAX];
		if (clusters_get(&s.clusters, s.cells[i].code, chars) > 0)
			assert_true(codepoint_is_base(chars[0]));
	}
	screen_finish(&s);
	return ok;
}

static void every_byte_is_checked(void **state)
{
	(void)state;
	struct buf b = BUF_INIT(UPDATE_MAX);
	size_t len = good_update(&b);
	assert_true(apply(b.data, len));
	for (size_t cut = 0; cut < len; cut++)
		if (cut < len - 5) /* the last row is empty: its five bytes may be left out */
			apply(b.data, cut);
	for (size_t i = 0; i < len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			b.data[i] ^= (uint8_t)(1u << bit);
			apply(b.data, len);
			b.data[i] ^= (uint8_t)(1u << bit);
		}
	buf_finish(&b);
}

/* Offsets of the header, as snapshot.c lays it out. */
static void bad_headers_are_refused(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		uint8_t value;
	} BAD[] = {{0, 1},     {1, 8 | 7}, {2, 0xff},  {3, 0},  {4, 0xff},  {5, 1},  {6, 1},
	           {7, 3},     {8, 1},     {9, 10},    {10, 4}, {10, 0x41}, {11, 1}, {12, 0x40},
	           {23, 0x80}, {38, 0},    {43, 0x1b}, {44, 0}, {47, 4}};
	struct buf b = BUF_INIT(UPDATE_MAX);
	size_t len = good_update(&b);
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		uint8_t old = b.data[BAD[i].at];
		b.data[BAD[i].at] = BAD[i].value;
		if (apply(b.data, len))
			fail_msg("byte %zu = %d is taken", BAD[i].at, BAD[i].value);
		b.data[BAD[i].at] = old;
	}
	assert_true(apply(b.data, len));
	buf_finish(&b);
}

#define ROW(bytes)                       \
	{                                \
		bytes, sizeof(bytes) - 1 \
	}

static void bad_rows_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
	} GOOD[] = {ROW(""),
	            ROW("\5\0\1a"),
	            ROW("\7\0\3"),
	            ROW("\22\1\2\3\4\0\1\5\0\2ab"),
	            ROW("\1x\1\xc3\xa4"),
	            ROW("\20\21\377\23\24\1\25\1\2\3\26\27\1\30\1\2\3"),
	            ROW("\6\0\3\xe4\xb8\xad"),
	            ROW("\10\0\5x"),
	            ROW("\11\2e\xcc\x81"),
	            ROW("\12\0\0\0\7\0\10http://a\5\0\1a\12\0\0\0\0\0\0\5\0\1a"),
	            ROW("\11\x82\xe4\xb8\xad\xcc\x81")},
	  BAD[] = {ROW("\0"),
	           ROW("\13"),
	           ROW("\12"),
	           ROW("\12\0\0\0\1\0\0"),
	           ROW("\12\0\0\0\1\0\11http://a"),
	           ROW("\12\0\0\0\1\0\10httq://a"),
	           ROW("\12\0\0\0\1\0\11http://\x1b["),
	           ROW("\5\0\0"),
	           ROW("\5\0\2a"),
	           ROW("\5\0\1\x1b"),
	           ROW("\5\0\2\xc2\x9b"),
	           ROW("\5\0\3\xe2\x80\xae"),
	           ROW("\5\0\2\xcc\x81"),
	           ROW("\5\0\1\xff"),
	           ROW("\5\0\2\xe4\xb8"),
	           ROW("\5\0\6"
	               "abcdef"),
	           ROW("\6\0\11\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad"),
	           ROW("\7\0\0"),
	           ROW("\7\0\6"),
	           ROW("\10\0\6x"),
	           ROW("\10\0\1\x07"),
	           ROW("\10\0\1"),
	           ROW("\11\1e"),
	           ROW("\11\6eeeeee"),
	           ROW("\11\2ee"),
	           ROW("\11\2\xcc\x81\xcc\x81"),
	           ROW("\1"),
	           ROW("\1\x1b"),
	           ROW("\1\xcc\x81"),
	           ROW("\1\xe4\xb8"),
	           ROW("\1a\1b\1c\1d\1e\1f"),
	           ROW("\2"),
	           ROW("\3"),
	           ROW("\17"),
	           ROW("\31"),
	           ROW("\21"),
	           ROW("\22\1\2"),
	           ROW("\377"),
	           ROW("\4\10\0"),
	           ROW("\4\6\0"),
	           ROW("\4\0")};
	struct cell cells[5];
	struct clusters clusters = {0};
	size_t used;
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
		if (!unpack_row((struct bytes){(const uint8_t *)GOOD[i].bytes, GOOD[i].len}, cells, 5,
		                &clusters, &used))
			fail_msg("good row %zu is refused", i);
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
		if (unpack_row((struct bytes){(const uint8_t *)BAD[i].bytes, BAD[i].len}, cells, 5, &clusters,
		               &used))
			fail_msg("bad row %zu is taken", i);
	clusters_finish(&clusters);
}

/* Random rows come back as they were, torn wide cells as blanks. */
static void rows_pack_and_unpack(void **state)
{
	(void)state;
	static const uint32_t CODES[] = {0, ' ', 'a', 'a', 'a', 0xe4, 0x2500, 0x1f600};
	srand(7);
	for (int round = 0; round < 500; round++) {
		struct cell in[60] = {{0}}, out[60] = {{0}};
		struct clusters from = {0}, to = {0};
		size_t n = (size_t)rand() % 60, used;
		for (size_t i = 0; i < n; i++) {
			uint32_t chars[] = {'e', 0x301, 0x302};
			if (rand() % 3 == 0 && i > 0)
				in[i] = in[i - 1];
			in[i].code = CODES[rand() % (int)ARRAY_LEN(CODES)];
			in[i].width = CELL_NARROW;
			if (rand() % 10 == 0)
				in[i].fg = COLOUR_RGB(rand(), 2, 3);
			if (rand() % 20 == 0)
				in[i].attrs = CELL_REVERSE;
			if (rand() % 15 == 0)
				in[i].code = clusters_intern(&from, chars, 3);
			if (rand() % 6 == 0 && i + 1 < n) {
				in[i].code = 0x4e2d;
				in[i].width = CELL_WIDE;
				in[i + 1] = in[i];
				in[++i].code = 0;
				in[i].width = CELL_TAIL;
			}
		}
		struct buf b = BUF_INIT(PACK_ROW_MAX);
		pack_row(&b, in, n, &from);
		assert_true(buf_ok(&b));
		assert_true(unpack_row((struct bytes){b.data, b.len}, out, 60, &to, &used));
		for (size_t i = 0; i < 60; i++) {
			struct cell want = clusters_copy_cell(&to, &from, &in[i]);
			if (!cell_equal(&want, &out[i]) && !(i >= used && cell_is_blank(&in[i])))
				fail_msg("round %d: cell %zu differs", round, i);
		}
		buf_finish(&b);
		clusters_finish(&from);
		clusters_finish(&to);
	}
}

static void screens_copy_and_resize(void **state)
{
	(void)state;
	struct term_test t;
	struct screen copy;
	term_test_init(&t, 3, 10);
	term_test_write(&t, "e\u0301\u4e2d\u4e2d\u4e2d\r\nabc\x1b]2;t\a");
	term_test_sync(&t);
	screen_init(&copy, 1, 2);
	screen_copy(&copy, &t.screen);
	term_test_equal(&copy, &t.screen);
	screen_resize(&copy, 2, 4);
	struct str text = STR_INIT(100);
	screen_text(&copy, &text);
	assert_string_equal(text.s, "e\u0301\u4e2d\nabc\n"); /* the cut wide cell is blank */
	assert_null(screen_cell(&copy, 2, 0));
	assert_null(screen_cell(&copy, 0, 4));
	str_finish(&text);
	screen_finish(&copy);
	term_test_finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_changed_rows_are_sent),
	    cmocka_unit_test(slow_watchers_skip_frames),
	    cmocka_unit_test(the_worst_screen_comes_in_parts),
	    cmocka_unit_test(a_resize_begins_again),
	    cmocka_unit_test(every_byte_is_checked),
	    cmocka_unit_test(bad_headers_are_refused),
	    cmocka_unit_test(bad_rows_are_refused),
	    cmocka_unit_test(rows_pack_and_unpack),
	    cmocka_unit_test(screens_copy_and_resize),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
