/* The open terminals of the dashboard: those that are wanted now and a few that were a moment ago.
 *
 * Each is on a connection of its own: whatever one VM does (floods, hangs, dies), it holds up no key and no picture of
 * another. One that is no longer wanted is closed, but for the PANES_KEPT last ones, which stay open without a size of
 * their own, so that going back to one shows it at once. One that ended or broke is not opened again by itself. */
#ifndef CCVM_TUI_PANES_H
#define CCVM_TUI_PANES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"
#include "core/base/parse.h" /* VM_NAME_MAX */

struct loop;
struct panes;
struct pane;
struct err;

#define PANES_KEPT 2

struct pane_wish {
	char vm[VM_NAME_MAX + 1];
	uint32_t term;       /* its number; 0: the VM's first one, which is started if need be */
	unsigned rows, cols; /* 0: watch it in whatever size it has */
};

/* on_change comes from the loop whenever pane_describe of one that is wanted would say something else. */
struct panes *panes_create(struct loop *loop, void (*on_change)(void *arg), void *arg) MUST_USE;
void panes_destroy(struct panes *p); /* accepts NULL; no callback afterwards */

/* Opens, resizes and leaves, so that just these are there. Two wishes for one terminal: the first one counts. */
void panes_sync(struct panes *p, const struct pane_wish *wishes, size_t count);
/* The pane of a terminal, by the number that it was wished with or by its real one; NULL: there is none. Valid until the
 * next panes_* call that may close it. Its own functions are in pane.h. */
struct pane *panes_find(const struct panes *p, const char *vm, uint32_t term);
/* Lets go of one, so that the next panes_sync opens it anew: after its end, or when it broke. */
void panes_reset(struct panes *p, const char *vm, uint32_t term);

/* Starts a new terminal in a VM, which runs argv (NULL: a login shell). `done` comes once, from the loop: its number, or the
 * error (term is 0 then); never after panes_destroy. It is open from then on as if it had been wished. */
typedef void panes_new_fn(void *arg, const char *vm, uint32_t term, const struct err *e);
void panes_new(struct panes *p, const struct pane_wish *wish, const char *const *argv, panes_new_fn *done,
               void *arg);

#endif
