/* A pane: a terminal of a VM, or what there is to say while there is none. */
#ifndef CCVM_TUI_PANE_VIEW_H
#define CCVM_TUI_PANE_VIEW_H

#include <stdbool.h>

#include "tui/canvas.h"
#include "tui/layout.h"
#include "tui/model.h"

struct copy_mode;

struct pane_view {
	const struct fleet_vm *vm;        /* whose it is; NULL: nobody's, an empty place */
	const struct pane_source *source; /* its terminal; NULL: none */
	const char *console;       /* printable last lines of its serial console; NULL or "": not read */
	const struct keymap *keys; /* names the key that starts the VM; NULL: only the command is named */
	struct copy_mode *copy;    /* drawn in place of the live screen, or NULL */
	int64_t now_ms;            /* wall clock */
	bool selected;             /* keys act on it; only shown in a grid */
	bool typing; /* what is typed goes here: the border says so, and the hardware cursor is the guest's */
	bool broadcast; /* and to others as well: said in the title */
};

/* Draws edge, title, tabs and body of pane `index` of the layout. */
void pane_view_draw(struct canvas *c, const struct layout *l, int index, const struct pane_view *v);
/* Once after all panes and the feed: where their lines meet. */
void pane_view_join(struct canvas *c, const struct layout *l);

/* The terminal (index into vm->status.terminal) whose tab is at this column of the row of tabs; -1: none. */
int pane_view_tab_at(const struct pane_view *v, struct rect tabs, int col);
/* The cell of the terminal at a place inside the body (for the mouse): a terminal that is larger than its pane is shown in part.
 * False: there is none. */
bool pane_view_cell_at(const struct pane_view *v, struct rect body, int row, int col, int *term_row,
                       int *term_col);

#endif
