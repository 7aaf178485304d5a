/* The overlay that tells what every key does, written from the keymap. */
#ifndef CCVM_TUI_HELP_VIEW_H
#define CCVM_TUI_HELP_VIEW_H

#include "tui/canvas.h"
#include "tui/keymap.h"

/* Draws over the whole canvas, from line `top` on: first what the keys do here (`context`), then everywhere else. Returns `top`
 * as far as it can be. */
int help_view_draw(struct canvas *c, int top, const struct keymap *k, enum key_context context);

#endif
