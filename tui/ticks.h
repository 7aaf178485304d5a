/* When the picture changes by itself, with nothing happening: durations and the clock. So that an idle dashboard sleeps until
 * then and not until the next second. Pure. */
#ifndef CCVM_TUI_TICKS_H
#define CCVM_TUI_TICKS_H

#include <stdint.h>

#include "tui/model.h"

/* Milliseconds, 1 or more, until words_duration of (now_ms - since_ms) is another text. */
int64_t ticks_of_duration(int64_t since_ms, int64_t now_ms);
/* Until the first text of this model changes; never more than a minute, for the clock in the title. */
int64_t ticks_next(const struct model *m);

#endif
