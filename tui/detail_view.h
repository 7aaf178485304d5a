/* Everything that is known of one VM or of one row of the feed, as text that is wrapped and scrolled and never cut. */
#ifndef CCVM_TUI_DETAIL_VIEW_H
#define CCVM_TUI_DETAIL_VIEW_H

#include <stdint.h>

#include "core/base/str.h"
#include "core/client/fleet.h"
#include "tui/canvas.h"
#include "tui/feed_rows.h"

#define DETAIL_TEXT_MAX (64u * 1024)

/* Replace `out` by lines of "label\ttext"; an empty label continues, an empty line is a gap. */
void detail_of_vm(struct str *out, const struct fleet_vm *vm, int64_t now_ms);
void detail_of_row(struct str *out, const struct feed_row *row, int64_t now_ms);

/* Draws a box over the middle of the canvas, as large as the text needs and the canvas allows. Returns `top` as far as it can
 * be: the first line that is shown. `keys`: what scrolls and closes, for the lower edge. */
int detail_view_draw(struct canvas *c, int top, const char *title, const char *text, const char *keys);

#endif
