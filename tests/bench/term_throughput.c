/* How fast the emulator takes a guest's output: MB/s for payloads of different kinds, on a 50x200 terminal with the usual
 * scrollback, in pieces of 64 KiB, no drawing. One line each: name and median of five.
 *
 *     build/tests/bench/term_throughput [MiB per payload, default 8 [rows cols]] */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/parse.h"
#include "core/term/emulator.h"
#include "core/term/snapshot.h"
#include "tests/lib/payloads.h"

#define ROWS       50 /* unless it is told otherwise */
#define COLS       200
#define PIECE      65536
#define RUNS       5
#define UPDATE_MAX ((size_t)4 << 20)

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double run(const struct buf *payload, unsigned rows, unsigned cols)
{
	struct emulator *e = emulator_create(rows, cols, NULL, NULL);
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
		payload_find("log lines")->fill(&text, i, ROWS, COLS);
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
	uint64_t mib = 8, rows = ROWS, cols = COLS;
	if ((argc > 1 && !parse_u64(argv[1], 1, 256, &mib)) ||
	    (argc > 2 &&
	     (argc != 4 || !parse_u64(argv[2], 11, 1000, &rows) || !parse_u64(argv[3], 2, 1000, &cols)))) {
		fprintf(stderr, "usage: term_throughput [MiB [ROWS COLS]]\n");
		return 2;
	}
	for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
		struct buf payload;
		double results[RUNS];
		payload_make(&PAYLOADS[i], (unsigned)rows, (unsigned)cols, mib << 20, &payload);
		for (unsigned k = 0; k < RUNS; k++)
			results[k] = run(&payload, (unsigned)rows, (unsigned)cols);
		qsort(results, RUNS, sizeof(*results), by_value);
		printf("%-20s %7.1f MB/s\n", PAYLOADS[i].name, results[RUNS / 2]);
		buf_finish(&payload);
	}
	time_snapshots();
	return 0;
}
