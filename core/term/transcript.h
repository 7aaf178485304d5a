/* What a terminal has said: its history and its screen as one run of numbered lines, as a client keeps them for reading,
 * searching and copying. Packed as they came, so that ten thousand lines cost about what their text costs.
 *
 * It begins with a copy of the screen (whatever the guest does afterwards does not move it under the reader) and grows at
 * the old end, piece by piece as TERM_LINES brings them. Numbers are those of emulator.h.
 *
 * A piece (`lines` of TERM_LINES) holds for each line, oldest first: u8 flags (enum row_flag), u16 length, that many bytes as
 * in pack.h.
 *
 * transcript_line unpacks a line each time: some microseconds. */
#ifndef CCVM_TERM_TRANSCRIPT_H
#define CCVM_TERM_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/term/cells.h"
#include "core/term/clusters.h"
#include "core/term/emulator.h"
#include "core/term/screen.h"

struct transcript;

#define TRANSCRIPT_BYTES_MAX (24 * 1024 * 1024) /* of history; more than any terminal keeps */

/* The rows of `s` are its first lines; on an alternate screen it has only those. */
struct transcript *transcript_create(const struct screen *s) MUST_USE;
void transcript_destroy(struct transcript *t); /* accepts NULL */

uint64_t transcript_first(const struct transcript *t); /* number of the oldest line held, */
uint64_t transcript_end(const struct transcript *t);   /* and one more than that of the newest */
/* False: older lines may be had by asking for those before transcript_first. */
bool transcript_is_whole(const struct transcript *t);

/* Adds a piece at the old end: `count` lines, the first of which has the number `first`. Strict: any byte string is safe, and
 * one that is not exactly such a piece, does not end where the transcript begins, or is more than a terminal keeps, is
 * ERR_PROTOCOL and changes nothing. count 0: nothing older exists. */
bool transcript_prepend(struct transcript *t, uint64_t first, uint32_t count, struct bytes lines,
                        struct err *e) MUST_USE;

/* The cells of a line: at most `most`, returns how many; their clusters and links are in transcript_clusters until the next call
 * of transcript_line, which may need the room. *flags (may be NULL): enum row_flag. A number that is not held gives 0. */
size_t transcript_line(const struct transcript *t, uint64_t number, struct cell *out, size_t most,
                       unsigned *flags);
const struct clusters *transcript_clusters(const struct transcript *t);
size_t transcript_memory(const struct transcript *t);

/* The sending side: appends the newest lines of the history with numbers below `before`, at most `most` of them and `max` bytes
 * (SNAPSHOT_ROW_MAX or more), oldest first. Returns how many; *first is the number of the first. */
unsigned transcript_encode(const struct emulator *e, uint64_t before, unsigned most, size_t max,
                           struct buf *out, uint64_t *first);

#endif
