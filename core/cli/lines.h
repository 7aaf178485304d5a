/* Lines of a transcript (core/term/transcript.h), one at a time. */
#ifndef CCVM_CLI_LINES_H
#define CCVM_CLI_LINES_H

#include <stdint.h>

#include "core/base/str.h"
#include "core/term/screen.h"
#include "core/term/transcript.h"

/* A line as a screen of one row, at least `cols` wide; screen_finish releases. */
void lines_take(const struct transcript *t, uint64_t number, unsigned cols, struct screen *out);
/* Its text is appended; returns enum row_flag. */
unsigned lines_text(const struct transcript *t, uint64_t number, struct str *out);

#endif
