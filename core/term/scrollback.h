/* Lines that left the top of a screen, packed (pack.h) into blocks. Bounded by a number of lines, and in bytes for lines that
 * were made to be long and colourful; the oldest go first. Lines have numbers that stay (emulator.h). */
#ifndef CCVM_TERM_SCROLLBACK_H
#define CCVM_TERM_SCROLLBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/term/cells.h"
#include "core/term/clusters.h"
#include "core/term/pack.h"

#define SCROLLBACK_BYTES_MAX (16 * 1024 * 1024) /* of one terminal */

struct scrollback;

struct scrollback *scrollback_create(unsigned most_lines);
void scrollback_destroy(struct scrollback *s); /* accepts NULL */
void scrollback_set_limit(struct scrollback *s, unsigned most_lines);
void scrollback_clear(struct scrollback *s);

/* flags: enum row_flag. */
void scrollback_push(struct scrollback *s, const struct pack_line *line, unsigned flags,
                     const struct clusters *clusters);
/* Takes the newest line back: writes at most `most` cells, returns how many; 0 and *found false when there is none. */
size_t scrollback_pop(struct scrollback *s, struct cell *out, size_t most, struct clusters *clusters,
                      unsigned *flags, bool *found);
/* What follows the newest line on the screen is its continuation, or (any more) not. */
void scrollback_set_wrapped(struct scrollback *s, bool on);

unsigned scrollback_count(const struct scrollback *s);
/* The number of the oldest line; without any, of the next one. */
uint64_t scrollback_first(const struct scrollback *s);
/* Line 0 is the oldest. A line longer than `most` is cut. */
size_t scrollback_line(const struct scrollback *s, unsigned index, struct cell *out, size_t most,
                       struct clusters *clusters, unsigned *flags);
/* Appends lines from..from + count as they lie here (each u8 flags, u16 length, packed cells): as many of the last ones as
 * fit in `max` bytes. Returns how many. */
unsigned scrollback_copy(const struct scrollback *s, unsigned from, unsigned count, size_t max,
                         struct buf *out);
size_t scrollback_memory(const struct scrollback *s);

#endif
