/* The pane: the terminal of the selected VM, or what there is to say while it has none. */
#ifndef CCVM_TUI_PANE_VIEW_H
#define CCVM_TUI_PANE_VIEW_H

#include <stdbool.h>

#include "tui/canvas.h"
#include "tui/layout.h"
#include "tui/model.h"

struct pane_view {
	const struct model *model;
	const struct fleet_vm *vm; /* the selected one; NULL: none */
	bool typing;               /* the border says so, and the hardware cursor is the guest's */
};

/* Draws border, title and pane of the layout. */
void pane_view_draw(struct canvas *c, const struct layout *l, const struct pane_view *v);

#endif
