/* Select Graphic Rendition, both ways: a guest's parameters into a pen, a style into bytes for a real terminal. */
#ifndef CCVM_TERM_SGR_H
#define CCVM_TERM_SGR_H

#include "core/base/buf.h"
#include "core/term/cells.h"
#include "core/term/filter.h"

/* Applies `CSI ... m` to the style fields of `pen`. Any number of parameters, colon and semicolon forms; what is not
 * understood is skipped without harm to the rest. */
void sgr_apply(struct cell *pen, const struct csi *seq);

/* Appends the sequence that sets exactly this style, whatever was set before. colours: 0 (attributes only), 8, 16
 * or 256; with truecolor RGB goes out as it is. */
void sgr_put(struct buf *out, const struct cell *style, unsigned colours, bool truecolor);

#endif
