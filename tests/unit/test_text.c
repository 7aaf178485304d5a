/* Text in runs and text byte by byte must leave the same terminal behind: a run of ASCII goes past the engine, a single byte
 * never does. Random streams of what matters to it, in all the states that turn it off. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>

#include "core/term/emulator.h"
#include "tests/lib/term_test.h"

#define STREAMS 400
#define PIECES  60

static const char *const PIECES_OF[] = {
    "abcdefghij",
    "The quick brown fox",
    "    ",
    "0123456789012345678901234567890123456789",
    "word",
    "x",
    "\r\n",
    "\n",
    "\r",
    "\b\b\b",
    "\t",
    "\v",
    "\xe4\xbd\xa0\xe5\xa5\xbd",
    "e\xcc\x81",
    "\xf0\x9f\x98\x80",
    "\xcc\x88",
    "line one\r\nline two\r\n",
    "past the end\b\b!",
    "\xc3\xa4\xc3\xb6 between \xc3\xbc",
    "\033[4h",
    "\033[4l",
    "\033[?7l",
    "\033[?7h",
    "\033[?7h",
    "\033(0",
    "\033(B",
    "\033(B",
    "\016",
    "\017",
    "\033)0",
    "\033)B",
    "\033[31;44;1m",
    "\033[m",
    "\033[5b",
    "\033[300b",
    "\033[K",
    "\033[1K",
    "\033[2J",
    "\033[H",
    "\033[3;5H",
    "\033[99;99H",
    "\033[5D",
    "\033[7C",
    "\033[2A",
    "\033[3P",
    "\033[2@",
    "\033[4X",
    "\033[L",
    "\033[M",
    "\033[2;5r",
    "\033[r",
    "\033[?6h",
    "\033[?6l",
    "\033[?1049h",
    "\033[?1049l",
    "\033"
    "7",
    "\033"
    "8",
    "\033M",
    "\033D",
    "\033E",
    "\033]8;;http://a.test/\033\\",
    "\033]8;;\033\\",
    "\033]133;A\033\\",
    "\033[!p",
    "\033[?69h",
    "\033[2;8s",
    "\033#8",
    "\033nabcdefgh\017",
    "\033Nabcdefgh",
    "\xff",
    "\x7f",
};

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void by_byte(struct emulator *e, const char *text)
{
	for (; *text != 0; text++)
		emulator_write(e, text, 1);
}

static void same_history(const struct emulator *a, const struct emulator *b)
{
	static struct cell x[TERM_COLS_MAX], y[TERM_COLS_MAX];
	struct clusters cx = {0}, cy = {0};
	assert_int_equal(emulator_history_count(a), emulator_history_count(b));
	assert_int_equal(emulator_history_first(a), emulator_history_first(b));
	for (unsigned i = 0; i < emulator_history_count(a); i++) {
		unsigned fx, fy;
		size_t n = emulator_history_row(a, i, x, ARRAY_LEN(x), &cx, &fx);
		assert_int_equal(n, emulator_history_row(b, i, y, ARRAY_LEN(y), &cy, &fy));
		assert_int_equal(fx, fy);
		assert_memory_equal(x, y, n * sizeof(*x));
	}
	clusters_finish(&cx);
	clusters_finish(&cy);
}

/* `ga`, `gb`: the generations before the last piece; the same rows must have changed since. */
static void same_screen(const struct emulator *a, const struct emulator *b, uint64_t ga, uint64_t gb)
{
	struct term_cursor x = emulator_cursor(a), y = emulator_cursor(b);
	assert_int_equal(x.row, y.row);
	assert_int_equal(x.col, y.col);
	for (unsigned row = 0; row < emulator_rows(a); row++) {
		unsigned ux, uy;
		const struct cell *cx = emulator_row(a, row, &ux), *cy = emulator_row(b, row, &uy);
		assert_int_equal(ux, uy);
		if (ux > 0)
			assert_memory_equal(cx, cy, ux * sizeof(*cx));
		assert_int_equal(emulator_row_flags(a, row), emulator_row_flags(b, row));
		assert_int_equal(emulator_row_stamp(a, row) > ga, emulator_row_stamp(b, row) > gb);
	}
}

static void runs_and_bytes_are_the_same(void **state)
{
	(void)state;
	uint32_t seed = 1;
	for (unsigned stream = 0; stream < STREAMS; stream++) {
		struct term_test a, b;
		unsigned rows = 2 + next_random(&seed) % 9, cols = 2 + next_random(&seed) % 40;
		term_test_init(&a, rows, cols);
		term_test_init(&b, rows, cols);
		for (unsigned i = 0; i < PIECES; i++) {
			/* Two at once, so that what follows a run is in its piece. */
			const char *text = PIECES_OF[next_random(&seed) % ARRAY_LEN(PIECES_OF)];
			const char *more = PIECES_OF[next_random(&seed) % ARRAY_LEN(PIECES_OF)];
			char both[256];
			snprintf(both, sizeof(both), "%s%s", text, more);
			uint64_t ga = emulator_generation(a.e), gb = emulator_generation(b.e);
			term_test_write(&a, both);
			by_byte(b.e, both);
			same_screen(a.e, b.e, ga, gb);
			if (next_random(&seed) % 40 == 0) {
				rows = 2 + next_random(&seed) % 9;
				cols = 2 + next_random(&seed) % 40;
				emulator_resize(a.e, rows, cols);
				emulator_resize(b.e, rows, cols);
			}
		}
		same_history(a.e, b.e);
		term_test_finish(&a);
		term_test_finish(&b);
	}
}

/* What the engine was not told of must not be missing where it goes on. */
static void the_cursor_goes_on_behind_a_run(void **state)
{
	(void)state;
	static const struct {
		const char *bytes, *rows;
		unsigned row, col;
	} T[] = {
	    {"abcdefgh", "abcdefgh", 0, 8},
	    {"abcdefgh\n12345", "abcdefgh|        12345", 1, 13},
	    {"abcdefgh\r12345", "12345fgh", 0, 5},
	    {"abcdefgh\r", "abcdefgh", 0, 0},
	    {"abcdefghijklmnopqr", "abcdefghijklmnopqr", 0, 18},
	    {"abcdefghijklmnopqrs", "abcdefghijklmnopqrs", 0, 19},
	    {"abcdefghijklmnopqrst", "abcdefghijklmnopqrst", 0, 19},
	    {"abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrst|uvwxyz", 1, 6},
	    {"abcdefghijklmnopqrst\r\nuvwxyz", "abcdefghijklmnopqrst|uvwxyz", 1, 6},
	    {"12345\033[4h\rabcdefgh", "abcdefgh12345", 0, 8},
	    {"\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\xe4\xbd\xa0\033[2Gabcd", " abcd \xe4\xbd\xa0", 0, 5},
	    {"abcdef\xcc\x81\033[2b",
	     "abcdef\xcc\x81"
	     "f\xcc\x81"
	     "f\xcc\x81",
	     0, 8},
	};
	for (size_t i = 0; i < ARRAY_LEN(T); i++) {
		struct term_test t;
		term_test_init(&t, 3, 20);
		term_test_write(&t, T[i].bytes);
		assert_string_equal(term_test_rows(&t), T[i].rows);
		assert_int_equal(emulator_cursor(t.e).row, T[i].row);
		assert_int_equal(emulator_cursor(t.e).col, T[i].col);
		term_test_finish(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(runs_and_bytes_are_the_same),
	                                   cmocka_unit_test(the_cursor_goes_on_behind_a_run)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
