/* When the picture changes by itself, with nothing happening: ages and the clock. Pure.
 *
 * An age is told in seconds for its first minute, and then in minutes or more. All are drawn together, on the second while one
 * is told in seconds, else on the minute when the clock in the title changes: so an age may be told one unit late, and fifty
 * VMs wake the dashboard no oftener than one. */
#ifndef CCVM_TUI_TICKS_H
#define CCVM_TUI_TICKS_H

#include <stdint.h>

#include "tui/model.h"

/* Milliseconds, 1 to 60,000, until it is to be drawn again. */
int64_t ticks_next(const struct model *m);

#endif
