/* core/term/scrollback: lines come back in order, the limits hold, memory stays small. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "core/term/pack.h"
#include "core/term/scrollback.h"

static void push(struct scrollback *s, unsigned number, unsigned len)
{
	struct cell cells[TERM_COLS_MAX] = {{0}};
	char text[16];
	snprintf(text, sizeof(text), "%u", number);
	for (unsigned i = 0; text[i] != '\0'; i++)
		cells[i].code = (uint8_t)text[i];
	/* Filler that does not pack well, so that blocks fill up. */
	for (unsigned i = (unsigned)strlen(text); i < len; i++) {
		cells[i].code = 'a' + i % 26;
		cells[i].fg = COLOUR_RGB(i, number, 3);
	}
	const struct pack_line line = {.cells = cells, .used = MAX(len, (unsigned)strlen(text))};
	scrollback_push(s, &line, number % 4, &(struct clusters){0});
}

static unsigned number_of(const struct cell *cells, size_t used)
{
	unsigned n = 0;
	for (size_t i = 0; i < used && cells[i].code >= '0' && cells[i].code <= '9'; i++)
		n = n * 10 + (cells[i].code - '0');
	return n;
}

static unsigned line(const struct scrollback *s, unsigned index)
{
	struct cell cells[20];
	struct clusters clusters = {0};
	unsigned flags, n = number_of(cells, scrollback_line(s, index, cells, 20, &clusters, &flags));
	assert_int_equal(flags, n % 4);
	return n;
}

static void random_steps_agree_with_a_list(void **state)
{
	(void)state;
	srand(9);
	for (int round = 0; round < 20; round++) {
		unsigned limit = 1 + (unsigned)rand() % 300, first = 1, next = 1;
		struct scrollback *s = scrollback_create(limit);
		for (int step = 0; step < 1500; step++) {
			int kind = rand() % 10;
			struct cell cells[20];
			struct clusters clusters = {0};
			bool found;
			unsigned flags;
			if (kind < 7) {
				push(s, next++, (unsigned)rand() % 300);
				if (next - first > limit)
					first++;
			} else if (kind < 9) {
				size_t used = scrollback_pop(s, cells, 20, &clusters, &flags, &found);
				assert_int_equal(found, next > first);
				if (found)
					assert_int_equal(number_of(cells, used), --next);
				assert_int_equal(flags, found ? next % 4 : 0);
			} else if (rand() % 20 == 0) {
				scrollback_clear(s);
				first = next;
			} else {
				limit = 1 + (unsigned)rand() % 300;
				scrollback_set_limit(s, limit);
				if (next - first > limit)
					first = next - limit;
			}
			assert_int_equal(scrollback_count(s), next - first);
			assert_int_equal(scrollback_first(s), first - 1);
			if (next > first) {
				unsigned index = (unsigned)rand() % (next - first);
				assert_int_equal(line(s, index), first + index);
			}
			assert_int_equal(line(s, next - first), 0);
		}
		scrollback_destroy(s);
	}
}

static void the_longest_lines_fit(void **state)
{
	(void)state;
	struct cell cells[TERM_COLS_MAX] = {{0}}, out[TERM_COLS_MAX];
	struct clusters from = {0}, to = {0};
	const uint32_t chars[CLUSTER_MAX] = {0x20000, 0x1d167, 0x1d168, 0x1d169, 0x1d17b};
	struct scrollback *s = scrollback_create(10);
	for (unsigned i = 0; i < TERM_COLS_MAX; i++)
		cells[i] = (struct cell){.code = clusters_intern(&from, chars, CLUSTER_MAX),
		                         .fg = COLOUR_RGB(i, i, 1),
		                         .bg = COLOUR_RGB(i, 1, i),
		                         .ul = COLOUR_RGB(1, i, i),
		                         .attrs = (uint16_t)(i & 0xff)};
	for (int i = 0; i < 25; i++)
		scrollback_push(s, &(struct pack_line){.cells = cells, .used = TERM_COLS_MAX}, 0, &from);
	unsigned flags;
	assert_int_equal(scrollback_line(s, 9, out, TERM_COLS_MAX, &to, &flags), TERM_COLS_MAX);
	assert_memory_equal(out, cells,
	                    sizeof(cells)); /* the only cluster has the same index in both tables */
	scrollback_destroy(s);
	clusters_finish(&from);
	clusters_finish(&to);
}

static void no_limit_means_no_lines(void **state)
{
	(void)state;
	struct scrollback *s = scrollback_create(0);
	push(s, 1, 10);
	scrollback_set_wrapped(s, true);
	assert_int_equal(scrollback_count(s), 0);
	assert_int_equal(scrollback_first(s), 1); /* the line is gone, its number too */
	scrollback_destroy(s);
	scrollback_destroy(NULL);
}

static void a_flood_costs_little(void **state)
{
	(void)state;
	struct scrollback *s = scrollback_create(10000);
	for (unsigned i = 0; i < 50000; i++)
		push(s, i, 0);
	assert_int_equal(scrollback_count(s), 10000);
	assert_in_range(scrollback_memory(s), 1, 256 * 1024);
	scrollback_clear(s);
	assert_in_range(scrollback_memory(s), 1, 2048);
	scrollback_destroy(s);
}

/* Lines that are made to be expensive: the oldest go before the limit of lines is reached, the newest stay whole. */
static void bytes_are_bounded_too(void **state)
{
	(void)state;
	struct scrollback *s = scrollback_create(10000);
	for (unsigned i = 1; i <= 6000; i++)
		push(s, i, TERM_COLS_MAX);
	assert_true(scrollback_memory(s) <= SCROLLBACK_BYTES_MAX + 200 * 1024);
	unsigned count = scrollback_count(s);
	assert_in_range(count, 500, 5999);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(line(s, i), 6000 - count + 1 + i);
	scrollback_destroy(s);
}

static void the_newest_line_knows_what_follows(void **state)
{
	(void)state;
	struct scrollback *s = scrollback_create(10000);
	for (unsigned i = 0; i < 3000; i++) { /* several blocks */
		push(s, 4 * i, 40);
		scrollback_set_wrapped(s, true);
		struct cell cells[20];
		struct clusters clusters = {0};
		unsigned flags;
		bool found;
		(void)scrollback_line(s, i, cells, 20, &clusters, &flags);
		assert_int_equal(flags, ROW_WRAPPED);
		scrollback_set_wrapped(s, false);
		if (i % 5 == 0) { /* after a pop it is another line */
			push(s, 1, 0);
			(void)scrollback_pop(s, cells, 20, &clusters, &flags, &found);
			assert_int_equal(flags, 1);
			scrollback_set_wrapped(s, false);
		}
	}
	for (unsigned i = 0; i < 3000; i++)
		assert_int_equal(line(s, i), 4 * i);
	scrollback_destroy(s);
}

/* Any range, and the last lines of it when not all fit. */
static void ranges_are_copied(void **state)
{
	(void)state;
	struct scrollback *s = scrollback_create(10000), *copy;
	for (unsigned i = 0; i < 2000; i++)
		push(s, i, i % 90);
	for (unsigned i = 0; i < 500; i++)
		scrollback_set_limit(s, 2000 - i);
	srand(4);
	for (int round = 0; round < 200; round++) {
		unsigned from = (unsigned)rand() % 1600, count = (unsigned)rand() % 300;
		size_t max = round % 3 == 0 ? 2000 + (size_t)rand() % 2000 : 1 << 20;
		struct buf b = BUF_INIT(1 << 20);
		unsigned got = scrollback_copy(s, from, count, max, &b);
		unsigned held = from >= 1501 ? 0 : MIN(count, 1501 - from);
		assert_true(b.len <= max && got <= held);
		if (round % 3 != 0)
			assert_int_equal(got, held);
		/* Read them back one by one. */
		struct reader r;
		reader_init(&r, b.data, b.len);
		for (unsigned i = 0; i < got; i++) {
			struct cell cells[TERM_COLS_MAX];
			struct clusters clusters = {0};
			size_t used;
			unsigned number = 499 + from + held - got + i;
			assert_int_equal(reader_u8(&r), number % 4);
			struct bytes packed = reader_take(&r, reader_u16(&r));
			assert_true(unpack_row(packed, cells, TERM_COLS_MAX, &clusters, &used));
			assert_int_equal(number_of(cells, used), number);
		}
		assert_true(reader_end(&r));
		buf_finish(&b);
	}
	copy = scrollback_create(10);
	struct buf none = BUF_INIT(10);
	assert_int_equal(scrollback_copy(copy, 0, 5, 10, &none), 0);
	assert_int_equal(scrollback_copy(s, 0, 5, 3, &none), 0);
	scrollback_destroy(copy);
	scrollback_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_steps_agree_with_a_list),
	    cmocka_unit_test(the_longest_lines_fit),
	    cmocka_unit_test(no_limit_means_no_lines),
	    cmocka_unit_test(a_flood_costs_little),
	    cmocka_unit_test(bytes_are_bounded_too),
	    cmocka_unit_test(the_newest_line_knows_what_follows),
	    cmocka_unit_test(ranges_are_copied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
