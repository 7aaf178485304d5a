/* A framed box over what is drawn already. */
#ifndef CCVM_TUI_BOX_H
#define CCVM_TUI_BOX_H

#include "tui/canvas.h"

/* Blanks a rectangle in the middle of the canvas, as large as wanted and possible, and frames it when there is room for a
 * frame. Returns what is inside. `title` and `foot` (or NULL) stand in the frame. */
struct rect box_draw(struct canvas *c, int rows, int cols, const char *title, const char *foot);

#endif
