/* core/term/scrollback: lines come back in order, the limits hold, memory stays small. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
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
	scrollback_push(s, cells, MAX(len, (unsigned)strlen(text)), &(struct clusters){0});
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
	return number_of(cells, scrollback_line(s, index, cells, 20, &clusters));
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
			if (kind < 7) {
				push(s, next++, (unsigned)rand() % 300);
				if (next - first > limit)
					first++;
			} else if (kind < 9) {
				size_t used = scrollback_pop(s, cells, 20, &clusters, &found);
				assert_int_equal(found, next > first);
				if (found)
					assert_int_equal(number_of(cells, used), --next);
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
		scrollback_push(s, cells, TERM_COLS_MAX, &from);
	assert_int_equal(scrollback_line(s, 9, out, TERM_COLS_MAX, &to), TERM_COLS_MAX);
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
	assert_int_equal(scrollback_count(s), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_steps_agree_with_a_list), cmocka_unit_test(the_longest_lines_fit),
	    cmocka_unit_test(no_limit_means_no_lines),        cmocka_unit_test(a_flood_costs_little),
	    cmocka_unit_test(bytes_are_bounded_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
