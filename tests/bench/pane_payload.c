/* The program in the terminal, for benchmarks of terminals:
 *
 *     pane_payload time RESULTS RUNS MIB   waits for the file RESULTS.go, then writes each payload RUNS times and asks for the
 *                                          cursor's place; the answer stops the clock, so that everything before it was understood
 *     pane_payload flood NAME              writes one payload for ever
 *     pane_payload fill NAME LINES         writes so many of its pieces, then waits to be killed
 *
 * RESULTS gets "size ROWS COLS", lines "NAME: MICROSECONDS BYTES" and "end". */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/parse.h"
#include "tests/lib/payloads.h"

static NORETURN void die(const char *what)
{
	fprintf(stderr, "pane_payload: %s\n", what);
	exit(1);
}

static void go_raw(void)
{
	struct termios t;
	if (tcgetattr(STDIN_FILENO, &t) != 0)
		die("not a terminal");
	cfmakeraw(&t);
	tcsetattr(STDIN_FILENO, TCSANOW, &t);
}

static void put(const void *bytes, size_t len)
{
	if (!fd_write_all(STDOUT_FILENO, bytes, len))
		exit(1); /* the terminal is gone */
}

/* Reads up to the end of a cursor report. */
static void wait_report(void)
{
	char c = 0;
	put("\x1b[6n", 4);
	while (c != 'R') {
		if (read(STDIN_FILENO, &c, 1) != 1)
			exit(1);
	}
}

static void wait_go(const char *results)
{
	char *path FREE_ON_EXIT = mem_printf("%s.go", results);
	while (access(path, F_OK) != 0)
		poll(NULL, 0, 20);
}

static void time_all(const char *results, uint64_t runs, uint64_t mib)
{
	struct winsize size;
	FILE *out = fopen(results, "w");
	if (!out || ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0)
		die("no results, or no size");
	go_raw();
	fprintf(out, "size %u %u\n", size.ws_row, size.ws_col);
	fflush(out);
	wait_go(results);
	wait_report(); /* the terminal is there */
	for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
		struct buf payload;
		payload_make(&PAYLOADS[i], size.ws_row, size.ws_col, mib << 20, &payload);
		for (uint64_t k = 0; k < runs; k++) {
			uint64_t start = clock_mono_us();
			put(payload.data, payload.len);
			wait_report();
			fprintf(out, "%s: %llu %zu\n", PAYLOADS[i].name,
			        (unsigned long long)(clock_mono_us() - start), payload.len);
			fflush(out);
		}
		put("\x1b[m\x1b[r\x1b[H\x1b[2J", 13);
		buf_finish(&payload);
	}
	fputs("end\n", out);
	fclose(out);
}

static const struct payload *find(const char *name)
{
	const struct payload *p = payload_find(name);
	if (!p)
		die("no such payload");
	return p;
}

static void flood(const char *name)
{
	struct buf payload;
	go_raw();
	payload_make(find(name), 24, 80, 65536, &payload);
	for (;;)
		put(payload.data, payload.len);
}

static void fill(const char *name, uint64_t lines)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	struct buf payload = BUF_INIT((size_t)256 << 20);
	ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	go_raw();
	for (uint64_t i = 0; i < lines; i++)
		find(name)->fill(&payload, (unsigned)i, size.ws_row, size.ws_col);
	put(payload.data, payload.len);
	wait_report();
	buf_finish(&payload);
	put("FILLED", 6);
	pause();
}

int main(int argc, char **argv)
{
	uint64_t runs, mib;
	if (argc == 5 && strcmp(argv[1], "time") == 0 && parse_u64(argv[3], 1, 100, &runs) &&
	    parse_u64(argv[4], 1, 256, &mib))
		time_all(argv[2], runs, mib);
	else if (argc == 3 && strcmp(argv[1], "flood") == 0)
		flood(argv[2]);
	else if (argc == 4 && strcmp(argv[1], "fill") == 0 && parse_u64(argv[3], 1, 100000, &runs))
		fill(argv[2], runs);
	else
		die("usage: time RESULTS RUNS MIB | flood NAME | fill NAME LINES");
	return 0;
}
