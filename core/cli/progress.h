/* How long work tells where it is, on stderr: one line that is written over on a terminal, plain lines elsewhere. */
#ifndef CCVM_CLI_PROGRESS_H
#define CCVM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/check.h"

struct progress {
	bool live; /* stderr is a terminal */
	bool shown;
	uint64_t since_ms;
	char last[256];
};

void progress_start(struct progress *p);
/* A new text; the same one again only moves the clock. Printable ASCII. */
void progress_say(struct progress *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Writes the seconds again on a terminal; call it now and then. */
void progress_tick(struct progress *p);
/* Takes the line away: something final will be printed. */
void progress_end(struct progress *p);
uint64_t progress_ms(const struct progress *p); /* since progress_start */

#endif
