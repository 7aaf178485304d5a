/* Finding out that a picture has scrolled, so that it can be moved instead of written again. Pure. */
#ifndef CCVM_TERM_SHIFT_H
#define CCVM_TERM_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

/* The rows first to last moved by `lines`: up when positive, down when negative. */
struct shift {
	unsigned first, last;
	int lines;
};

#define SHIFT_GAIN 3 /* rows that a move must save at least */

/* Compares two pictures by one hash a row, 0 standing for an empty one. False: moving saves less than SHIFT_GAIN rows. Takes
 * rows x rows steps. */
bool shift_find(const uint64_t *before, const uint64_t *after, unsigned rows, struct shift *out);

#endif
