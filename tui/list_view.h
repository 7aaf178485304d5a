/* The list of VMs: one row each, a second row for whoever has something broken, which says what, and below the list what
 * is known of the selected one and stands in no column.
 *
 * The order, and which VMs are there, is the model's: a filter and a sorting are only named here. */
#ifndef CCVM_TUI_LIST_VIEW_H
#define CCVM_TUI_LIST_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"
#include "tui/list_columns.h"
#include "tui/model.h"

struct list_view {
	const struct model *model;
	size_t selected; /* index into model->vms; SIZE_MAX: none */
	size_t top;      /* first VM shown; see list_view_scroll */
	bool focused;
	const bool *marked;      /* one for each VM of the model; NULL: none is marked */
	enum list_column sorted; /* its heading says so; LIST_NO_COLUMN: none does */
	const char *filter;      /* what is looked for; NULL or "": nothing */
	size_t unfiltered;       /* how many VMs there are without the filter */
	const char *new_vm_key;  /* for "no VMs": the key that makes one; NULL: there is none */
};

void list_view_draw(struct canvas *c, struct rect r, const struct list_view *v);
/* The `top` nearest to the old one with which the selected VM is whole inside `rows` rows. */
size_t list_view_scroll(const struct list_view *v, int rows);
/* How many VMs are seen at once, for paging; at least 1. */
size_t list_view_page(const struct list_view *v, int rows);
/* The VM that is at this row of a list of `rows` rows; SIZE_MAX: none. */
size_t list_view_at(const struct list_view *v, int rows, int row);
/* The size that shows everything. */
int list_view_cols(const struct model *m);
int list_view_rows(const struct model *m);

#endif
