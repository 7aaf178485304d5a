/* A terminal's screen as a recording in the asciicast v2 format: one line of JSON at the start, then one for each event. Pure.
 *
 * What is recorded is drawn from cells, frame by frame: a recording holds no sequence of the guest, and a terminal that plays it
 * shows the screens that were seen. */
#ifndef CCVM_CLI_CAST_H
#define CCVM_CLI_CAST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/str.h"
#include "core/term/screen.h"

#define CAST_TEXT_MAX ((size_t)256 * 1024 * 1024)

struct cast {
	struct screen shown; /* what whoever plays it sees */
	bool begun;
	uint64_t start_ms;
};

void cast_init(struct cast *c);
void cast_finish(struct cast *c);
/* Appends the lines that lead from what is shown to this screen, at first the header and a whole picture. now_ms: a monotonic
 * clock; wall_ms counts for the header. */
void cast_frame(struct cast *c, const struct screen *s, uint64_t now_ms, int64_t wall_ms, struct str *out);

#endif
