/* The list of VMs: one row each with state, and a second row for whoever has something broken, which says what. */
#ifndef CCVM_TUI_LIST_VIEW_H
#define CCVM_TUI_LIST_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"
#include "tui/model.h"

struct list_view {
	const struct model *model;
	size_t selected; /* index into model->vms; SIZE_MAX: none */
	size_t top;      /* first VM shown; see list_view_scroll */
	bool focused;
};

void list_view_draw(struct canvas *c, struct rect r, const struct list_view *v);
/* The `top` nearest to the old one with which the selected VM is whole inside `rows` rows. */
size_t list_view_scroll(const struct list_view *v, int rows);
/* How many VMs are seen at once, for paging; at least 1. */
size_t list_view_page(const struct list_view *v, int rows);
/* The size that shows everything. */
int list_view_cols(const struct model *m);
int list_view_rows(const struct model *m);

#endif
