/* The first and the last line of the screen. */
#ifndef CCVM_TUI_BAR_VIEW_H
#define CCVM_TUI_BAR_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/canvas.h"
#include "tui/model.h"

struct title_view {
	const struct fleet_vm *const *vms; /* all of them, whatever the list shows */
	size_t vm_count;
	size_t marked;
	size_t page_first, page_last, page_of; /* of a grid that has not all on one page; 0: no such one */
	const char *help;                      /* the key that shows the help; "" */
	int64_t now_ms;
};

/* "ccvm   4 VMs · 1 waiting · 16 denied                        21:14  ? help" */
void title_view_draw(struct canvas *c, struct rect r, const struct title_view *v);

struct hint {
	char key[32];
	const char *words;
};

struct status_view {
	const struct hint *hints; /* most useful first; as many as fit whole are shown */
	size_t hint_count;
	const char *job;      /* work that goes on, or NULL */
	const char *mode;     /* "COMMAND" */
	const char *typing;   /* who is typed into ("alpha", "3 VMs"), or NULL: `mode` counts */
	const char *leave;    /* name of the key that leaves typing: "C-]" */
	const char *question; /* the whole text of it, waiting for y or n, or NULL */
	const char *notice;   /* one line until the next key, or NULL */
};

/* A question, a notice, what goes on, or hints on the left; the mode is the last thing on the line. */
void status_view_draw(struct canvas *c, struct rect r, const struct status_view *v);

#endif
