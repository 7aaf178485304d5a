/* The open terminals of the dashboard: those that are wanted now.
 *
 * Each is on a connection of its own: whatever one VM does (floods, hangs, dies), it holds up no key and no picture of
 * another. None is kept open while it is not wanted: to open one again costs a message there and back, to keep one would
 * cost the drawing of everything that it says. One that ended or broke is not opened again by itself. */
#ifndef CCVM_TUI_PANES_H
#define CCVM_TUI_PANES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"
#include "tui/pane.h"

struct panes;

/* Comes from the loop whenever pane_describe of one of them, `which`, would say something else. */
typedef void panes_change_fn(void *arg, const struct pane *which);
struct panes *panes_create(struct loop *loop, panes_change_fn *on_change, void *arg) MUST_USE;
void panes_destroy(struct panes *p); /* accepts NULL; no callback afterwards */

/* Opens, resizes and leaves, so that just these are there. Of two wishes for one terminal the first one counts. */
void panes_sync(struct panes *p, const struct pane_wish *wishes, size_t count);
/* The pane of a terminal, by the number that it was wished with or by its real one; NULL: there is none. Valid until the
 * next panes_sync, panes_reset or panes_destroy. */
struct pane *panes_find(const struct panes *p, const char *vm, uint32_t term);
/* Lets go of one, so that the next panes_sync opens it anew: after its end, or when it broke. */
void panes_reset(struct panes *p, const char *vm, uint32_t term);

/* Starts a new terminal in wish->vm (its number is ignored), which runs argv (borrowed; NULL: a login shell). `done` comes once, from the loop: its
 * number, or 0 and why not; never after panes_destroy. It must not call panes_*; the next panes_sync should wish the terminal,
 * which is left otherwise. */
typedef void panes_new_fn(void *arg, const char *vm, uint32_t number, const char *why);
void panes_new(struct panes *p, const struct pane_wish *wish, const char *const *argv, panes_new_fn *done,
               void *arg);

#endif
