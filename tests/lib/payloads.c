#include "tests/lib/payloads.h"

#include <stdio.h>
#include <string.h>

#include "core/base/check.h"

static void put(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

static void flood(struct buf *b, unsigned i, unsigned rows, unsigned cols)
{
	(void)rows;
	(void)cols;
	(void)i;
	put(b, "y\r\n");
}

static void log_lines(struct buf *b, unsigned i, unsigned rows, unsigned cols)
{
	(void)rows;
	(void)cols;
	char line[160];
	snprintf(line, sizeof(line),
	         "2026-11-30T21:%02u:%02u.%03uZ info  worker[%u]: request %u handled in %u ms, status 200, "
	         "bytes %u, cache hit\r\n",
	         i / 60 % 60, i % 60, i % 1000, i % 16, i, i % 97, i * 37 % 65536);
	put(b, line);
}

static void unicode_lines(struct buf *b, unsigned i, unsigned rows, unsigned cols)
{
	(void)rows;
	(void)cols;
	static const char *const LINES[] = {
	    "\u2514\u2500\u2500 \u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \u2502 "
	    "\u043f\u0440\u0438\u0432\u0435\u0442 "
	    "\u03b1\u03b2\u03b3\u03b4 \u2588\u2588\u2588\u2591\u2591\r\n",
	    "na\u00efve caf\u00e9 \u2014 \u201cquoted\u201d \u2026 \u4e2d\u6587\u5b57\u7b26 \u2192 \u2713 "
	    "done\r\n"};
	put(b, LINES[i % 2]);
}

static void repaint(struct buf *b, unsigned i, unsigned rows, unsigned cols)
{
	(void)rows;
	(void)cols;
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

static void history_insert(struct buf *b, unsigned i, unsigned rows, unsigned cols)
{
	(void)cols;
	char line[200];
	snprintf(line, sizeof(line),
	         "\x1b[1;%ur\x1b[%u;1H\r\n  history line %u with some text in it, as an agent writes\x1b[r"
	         "\x1b[%u;3H",
	         rows - 10, rows - 10, i, rows - 5);
	put(b, line);
}

static void colours(struct buf *b, unsigned i, unsigned rows, unsigned cols)
{
	(void)rows;
	char cell[40];
	for (unsigned k = 0; k < cols; k++) {
		snprintf(cell, sizeof(cell), "\x1b[38;5;%u;48;5;%umx", (i + k) % 256, (i * 3 + k) % 256);
		put(b, cell);
	}
	put(b, "\r\n");
}

static void cursor_motion(struct buf *b, unsigned i, unsigned rows, unsigned cols)
{
	char move[40];
	snprintf(move, sizeof(move), "\x1b[%u;%uHab", i * 7 % rows + 1, i * 31 % (cols - 2) + 1);
	put(b, move);
}

/* A frame in synchronised output: every row anew, in true colour. */
static void truecolour_frames(struct buf *b, unsigned i, unsigned rows, unsigned cols)
{
	char cell[48];
	put(b, "\x1b[?2026h\x1b[H");
	for (unsigned y = 0; y < rows; y++) {
		snprintf(cell, sizeof(cell), "\x1b[%u;1H", y + 1);
		put(b, cell);
		for (unsigned x = 0; x < cols; x++) {
			snprintf(cell, sizeof(cell), "\x1b[38;2;%u;%u;%um%c", (x + i) % 256, y * 5 % 256,
			         i % 256, 'a' + (x + y + i) % 26);
			put(b, cell);
		}
	}
	put(b, "\x1b[m\x1b[?2026l");
}

const struct payload PAYLOADS[PAYLOAD_COUNT] = {
    {"y flood", flood},
    {"log lines", log_lines},
    {"unicode lines", unicode_lines},
    {"repaint of 12 lines", repaint},
    {"history insert", history_insert},
    {"256-colour mix", colours},
    {"truecolour frames", truecolour_frames},
    {"cursor motion", cursor_motion},
};

const struct payload *payload_find(const char *name)
{
	for (size_t i = 0; i < PAYLOAD_COUNT; i++) {
		if (strcmp(PAYLOADS[i].name, name) == 0)
			return &PAYLOADS[i];
	}
	return NULL;
}

void payload_make(const struct payload *p, unsigned rows, unsigned cols, size_t size, struct buf *out)
{
	buf_init(out, size + ((size_t)8 << 20));
	for (unsigned i = 0; out->len < size; i++)
		p->fill(out, i, rows, cols);
	CHECK(buf_ok(out));
}
