/* Searching a transcript for a text. Pure. */
#ifndef CCVM_TERM_FIND_H
#define CCVM_TERM_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/term/select.h"
#include "core/term/transcript.h"

#define FIND_NEEDLE_MAX 256 /* code points */

/* What is searched for: the text itself, no pattern. Capitals count only if it has one. */
struct find_needle {
	uint32_t chars[FIND_NEEDLE_MAX];
	size_t count; /* 0: finds nothing */
	bool exact;   /* capitals count */
};
void find_needle_init(struct find_needle *n, const char *utf8); /* what is too long is cut */

/* `last` is its last cell. It may go over rows that were wrapped, never over the end of a line. */
struct find_match {
	struct select_point first, last;
};
/* Calls `found` for every match that begins in the lines [from, to), from the oldest to the newest; they do not overlap. It may
 * return false to end the search. */
void find_all(const struct transcript *t, const struct find_needle *n, uint64_t from, uint64_t to,
              bool (*found)(void *arg, const struct find_match *m), void *arg);

#endif
