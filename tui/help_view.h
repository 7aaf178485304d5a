/* The help: every action of the keymap with its keys, in a box over the rest. */
#ifndef CCVM_TUI_HELP_VIEW_H
#define CCVM_TUI_HELP_VIEW_H

#include "tui/canvas.h"

/* `top` is the first line shown, clamped to what there is; `detach` is the name of the key that leaves typing. Returns
 * the `top` that was used. */
int help_view_draw(struct canvas *c, int top, const char *detach);

#endif
