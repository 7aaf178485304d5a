/* The first and the last line of the screen. */
#ifndef CCVM_TUI_BAR_VIEW_H
#define CCVM_TUI_BAR_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/canvas.h"
#include "tui/keymap.h"
#include "tui/model.h"

/* "ccvm   4 VMs · 1 failed · 16 denied                        21:14  ? help" */
void title_view_draw(struct canvas *c, struct rect r, const struct model *m);

struct status_view {
	enum key_context context;
	uint32_t useless;     /* bit 1 << action: it would do nothing now, and is not offered */
	bool only_console;    /* the selected VM has no terminal, only something to read */
	bool zoomed;          /* the keys that would zoom lead back */
	const char *typing;   /* the VM that is typed into, or NULL: command mode */
	const char *detach;   /* name of the key that leaves typing: "C-]" */
	const char *question; /* the whole text of it, waiting for y or n, or NULL */
	const char *notice;   /* one line until the next key, or NULL */
};

/* A question, a notice or hints on the left; the mode is the last thing on the line. */
void status_view_draw(struct canvas *c, struct rect r, const struct status_view *v);

#endif
