/* From what cells are to what they look like: a canvas with a theme becomes a screen. Pure. */
#ifndef CCVM_TUI_DRESS_H
#define CCVM_TUI_DRESS_H

#include "core/term/screen.h"
#include "tui/canvas.h"
#include "tui/theme.h"

/* `to` gets the size of the canvas (at most that of a terminal), its cells in the colours of the theme, and its cursor.
 * `colours` as in theme_look. */
void dress_canvas(struct screen *to, const struct canvas *c, const struct theme *theme, unsigned colours);

#endif
