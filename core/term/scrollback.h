/* Lines that left the top of a screen, packed (pack.h) into blocks. Bounded by a number of lines, and in bytes for lines that
 * were made to be long and colourful; the oldest go first. */
#ifndef CCVM_TERM_SCROLLBACK_H
#define CCVM_TERM_SCROLLBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/term/cells.h"
#include "core/term/clusters.h"

#define SCROLLBACK_BYTES_MAX (16 * 1024 * 1024) /* of one terminal */

struct scrollback;

struct scrollback *scrollback_create(unsigned most_lines);
void scrollback_destroy(struct scrollback *s); /* accepts NULL */
void scrollback_set_limit(struct scrollback *s, unsigned most_lines);
void scrollback_clear(struct scrollback *s);

void scrollback_push(struct scrollback *s, const struct cell *cells, size_t used,
                     const struct clusters *clusters);
/* Takes the newest line back: writes at most `most` cells, returns how many; 0 and *found false when there is none. */
size_t scrollback_pop(struct scrollback *s, struct cell *out, size_t most, struct clusters *clusters,
                      bool *found);

unsigned scrollback_count(const struct scrollback *s);
/* Line 0 is the oldest. A line longer than `most` is cut. */
size_t scrollback_line(const struct scrollback *s, unsigned index, struct cell *out, size_t most,
                       struct clusters *clusters);
size_t scrollback_memory(const struct scrollback *s);

#endif
