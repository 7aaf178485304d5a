/* How fast libvterm's state layer alone takes the payloads, with callbacks that do nothing and in the pieces that a pty gives:
 * what a terminal without cells, history and checks would cost. bare_state MIB ROWS COLS; prints as term_throughput does. */
#include <stdio.h>
#include <stdlib.h>
#include <vterm.h>

#include "core/base/clock.h"
#include "core/base/parse.h"
#include "tests/lib/payloads.h"

#define PIECE 4096
#define RUNS  5

static int on_glyph(VTermGlyphInfo *info, VTermPos pos, void *user)
{
	(void)info, (void)pos, (void)user;
	return 1;
}

static int on_rect(VTermRect r, int selective, void *user)
{
	(void)r, (void)selective, (void)user;
	return 1;
}

static int on_scroll(VTermRect r, int down, int right, void *user)
{
	(void)r, (void)down, (void)right, (void)user;
	return 1;
}

static double run(const struct buf *payload, int rows, int cols)
{
	static const VTermStateCallbacks SILENT = {
	    .putglyph = on_glyph, .erase = on_rect, .scrollrect = on_scroll};
	VTerm *vt = vterm_new(rows, cols);
	vterm_set_utf8(vt, 1);
	vterm_state_set_callbacks(vterm_obtain_state(vt), &SILENT, NULL);
	vterm_state_reset(vterm_obtain_state(vt), 1);
	uint64_t start = clock_mono_us();
	for (size_t at = 0; at < payload->len; at += PIECE)
		vterm_input_write(vt, (const char *)payload->data + at,
		                  MIN((size_t)PIECE, payload->len - at));
	uint64_t us = MAX(clock_mono_us() - start, 1);
	vterm_free(vt);
	return (double)payload->len / (double)us;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	uint64_t mib, rows, cols;
	if (argc != 4 || !parse_u64(argv[1], 1, 256, &mib) || !parse_u64(argv[2], 11, 1000, &rows) ||
	    !parse_u64(argv[3], 2, 1000, &cols)) {
		fprintf(stderr, "usage: bare_state MIB ROWS COLS\n");
		return 2;
	}
	for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
		struct buf payload;
		double results[RUNS];
		payload_make(&PAYLOADS[i], (unsigned)rows, (unsigned)cols, mib << 20, &payload);
		for (unsigned k = 0; k < RUNS; k++)
			results[k] = run(&payload, (int)rows, (int)cols);
		qsort(results, RUNS, sizeof(*results), by_value);
		printf("%-20s %7.1f MB/s\n", PAYLOADS[i].name, results[RUNS / 2]);
		buf_finish(&payload);
	}
	return 0;
}
