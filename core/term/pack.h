/* Rows of cells as few bytes: what the scrollback keeps and what goes over the wire. Text is UTF-8, styles are written when
 * they change, repeats once. A log line costs its text and some ten bytes; the worst row of TERM_COLS_MAX cells
 * costs less than PACK_ROW_MAX.
 *
 * Operations, each one byte with its operands (numbers big-endian):
 *   COLOUR + 3 * (0 fg, 1 bg, 2 underline) + (0 default; 1 indexed, u8; 2 RGB, 3 bytes)
 *   ATTRS u16                   the style from here on; it starts at defaults, zero attributes
 *   CHAR UTF-8                  one narrow cell
 *   TEXT u16 n, n bytes         narrow cells, one per code point
 *   WIDE u16 n, n bytes         wide cells (with their tails), one per code point
 *   BLANK u16 n                 n cells that nothing was written to
 *   REPEAT u16 n, UTF-8         n times the same narrow code point
 *   CLUSTER u8 n|0x80 if wide, UTF-8   one cell of n code points
 *   LINK u32 id, u16 n, n bytes        the hyperlink from here on (links.h); id and n 0: none
 * Links of a row that need more than PACK_LINKS_MAX bytes are left out. */
#ifndef CCVM_TERM_PACK_H
#define CCVM_TERM_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/term/cells.h"
#include "core/term/clusters.h"

#define PACK_LINKS_MAX ((size_t)16 * 1024)
#define PACK_ROW_MAX   ((size_t)TERM_COLS_MAX * 48 + PACK_LINKS_MAX)

/* Appends the first `used` cells; those at the end that nothing was written to are left out (a written space stays: the next row
 * may go on after it). A wide cell without its tail (cut by a narrower screen) becomes blank. */
void pack_row(struct buf *out, const struct cell *cells, size_t used, const struct clusters *clusters);
/* The same for `used` cells and blank ones with background `fill` after them, up to `cols`. */
struct pack_line {
	const struct cell *cells; /* borrowed */
	size_t used, cols;
	uint32_t fill;
};
void pack_line(struct buf *out, const struct pack_line *line, const struct clusters *clusters);
/* Writes at most `most` cells; their number goes to *used. False unless the bytes are exactly such a row: known operations,
 * printable characters, valid colours and attributes, no more than `most` columns. */
bool unpack_row(struct bytes packed, struct cell *out, size_t most, struct clusters *clusters, size_t *used);

#endif
