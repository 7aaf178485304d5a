/* How fast the emulator takes a guest's output: MB/s for payloads of different kinds, on a 50x200 terminal with the usual
 * scrollback, in pieces of 64 KiB, no drawing. One line each: name and median of five.
 *
 *     build/tests/bench/term_throughput [MiB per payload, default 8] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/parse.h"
#include "core/term/emulator.h"
#include "core/term/snapshot.h"

#define ROWS       50
#define COLS       200
#define PIECE      65536
#define RUNS       5
#define UPDATE_MAX ((size_t)4 << 20)

static void put(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

static void flood(struct buf *b, unsigned i)
{
	(void)i;
	put(b, "y\r\n");
}

static void log_lines(struct buf *b, unsigned i)
{
	char line[160];
	snprintf(line, sizeof(line),
	         "2026-11-30T21:%02u:%02u.%03uZ info  worker[%u]: request %u handled in %u ms, status 200, "
	         "bytes %u, cache hit\r\n",
	         i / 60 % 60, i % 60, i % 1000, i % 16, i, i % 97, i * 37 % 65536);
	put(b, line);
}

static void unicode_lines(struct buf *b, unsigned i)
{
	static const char *const LINES[] = {
	    "\u2514\u2500\u2500 \u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \u2502 "
	    "\u043f\u0440\u0438\u0432\u0435\u0442 "
	    "\u03b1\u03b2\u03b3\u03b4 \u2588\u2588\u2588\u2591\u2591\r\n",
	    "na\u00efve caf\u00e9 \u2014 \u201cquoted\u201d \u2026 \u4e2d\u6587\u5b57\u7b26 \u2192 \u2713 "
	    "done\r\n"};
	put(b, LINES[i % 2]);
}

static void repaint(struct buf *b, unsigned i)
{
	char line[200];
	for (int k = 0; k < 12; k++)
		put(b, "\x1b[2K\x1b[1A");
	put(b, "\x1b[2K\x1b[G");
	for (unsigned k = 0; k < 12; k++) {
		snprintf(line, sizeof(line),
		         "\x1b[2m%u\x1b[22m \x1b[38;2;%u;120;200mThinking about step %u\x1b[39m "
		         "and the lines that follow it here\r\n",
		         k, (i + k) % 256, i);
		put(b, line);
	}
}

static void history_insert(struct buf *b, unsigned i)
{
	char line[200];
	snprintf(line, sizeof(line),
	         "\x1b[1;40r\x1b[40;1H\r\n  history line %u with some text in it, as an agent writes\x1b[r"
	         "\x1b[45;3H",
	         i);
	put(b, line);
}

static void colours(struct buf *b, unsigned i)
{
	char cell[40];
	for (unsigned k = 0; k < COLS; k++) {
		snprintf(cell, sizeof(cell), "\x1b[38;5;%u;48;5;%umx", (i + k) % 256, (i * 3 + k) % 256);
		put(b, cell);
	}
	put(b, "\r\n");
}

static void cursor_motion(struct buf *b, unsigned i)
{
	char move[40];
	snprintf(move, sizeof(move), "\x1b[%u;%uHab", i * 7 % ROWS + 1, i * 31 % (COLS - 2) + 1);
	put(b, move);
}

static const struct {
	const char *name;
	void (*fill)(struct buf *b, unsigned i);
} PAYLOADS[] = {
    {"y flood", flood},
    {"log lines", log_lines},
    {"unicode lines", unicode_lines},
    {"repaint of 12 lines", repaint},
    {"history insert", history_insert},
    {"256-colour mix", colours},
    {"cursor motion", cursor_motion},
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double run(const struct buf *payload)
{
	struct emulator *e = emulator_create(ROWS, COLS, NULL, NULL);
	uint64_t start = clock_mono_us();
	for (size_t at = 0; at < payload->len; at += PIECE)
		emulator_write(e, payload->data + at, MIN((size_t)PIECE, payload->len - at));
	uint64_t us = MAX(clock_mono_us() - start, 1);
	emulator_destroy(e);
	return (double)payload->len / (double)us;
}

/* The cost of one full and one small update of a screen full of text. */
static void time_snapshots(void)
{
	struct emulator *e = emulator_create(ROWS, COLS, NULL, NULL);
	struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(UPDATE_MAX);
	struct screen s;
	screen_init(&s, ROWS, COLS);
	for (unsigned i = 0; i < 60; i++)
		log_lines(&text, i);
	emulator_write(e, text.data, text.len);
	uint64_t encode = 0, apply = 0;
	const unsigned rounds = 500;
	for (unsigned i = 0; i < rounds; i++) {
		struct snapshot_cursor c = {0};
		struct err err = ERR_INIT;
		buf_clear(&out);
		uint64_t t0 = clock_mono_us();
		snapshot_encode(e, &c, UPDATE_MAX, &out);
		uint64_t t1 = clock_mono_us();
		if (!snapshot_apply(&s, (struct bytes){out.data, out.len}, &err))
			abort();
		apply += clock_mono_us() - t1;
		encode += t1 - t0;
	}
	printf("%-20s %7.1f us to encode, %.1f us to apply, %zu bytes\n", "full update",
	       (double)encode / rounds, (double)apply / rounds, out.len);
	emulator_destroy(e);
	screen_finish(&s);
	buf_finish(&text);
	buf_finish(&out);
}

int main(int argc, char **argv)
{
	uint64_t mib = 8;
	if (argc > 2 || (argc == 2 && !parse_u64(argv[1], 1, 256, &mib))) {
		fprintf(stderr, "usage: term_throughput [MiB]\n");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_LEN(PAYLOADS); i++) {
		struct buf payload = BUF_INIT((mib << 20) + PIECE);
		double results[RUNS];
		for (unsigned k = 0; payload.len < mib << 20; k++)
			PAYLOADS[i].fill(&payload, k);
		for (unsigned k = 0; k < RUNS; k++)
			results[k] = run(&payload);
		qsort(results, RUNS, sizeof(*results), by_value);
		printf("%-20s %7.1f MB/s\n", PAYLOADS[i].name, results[RUNS / 2]);
		buf_finish(&payload);
	}
	time_snapshots();
	return 0;
}
