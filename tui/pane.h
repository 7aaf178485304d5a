/* One open terminal of a VM, on a connection of its own.
 *
 *     opening ──► live ──► ended (its program)
 *        └─────────┴─────► broken (could not be opened; the connection)
 *
 * Made and ended by the pool (panes.h); whoever found it there types into it. Input does nothing unless it is live. */
#ifndef CCVM_TUI_PANE_H
#define CCVM_TUI_PANE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/check.h"
#include "core/client/terminal.h"
#include "tui/pane_source.h"

struct loop;
struct pane;

#define PANE_PASTE_MOST ((size_t)1024 * 1024) /* bytes of one paste */
#define PANE_SETTLE_MS \
	500 /* a terminal that has another size for longer than this was given it by somebody else */
#define PANE_SLOW_MS 250 /* an opening that takes longer is said to the operator */

struct pane_wish {
	char vm[VM_NAME_MAX + 1];
	uint32_t term; /* its number; 0: the VM's first one, which is started if need be; CLIENT_TERM_NEW */
	unsigned rows, cols; /* 0: watch it in whatever size it has */
};

struct pane_ops {
	void (*on_change)(void *arg); /* pane_describe would say something else */
	/* Its number is known, or (number 0, and why) it could not be opened. Once, before an on_change; must not close it. */
	void (*on_opened)(void *arg, uint32_t number, const char *why);
};

/* argv: for CLIENT_TERM_NEW, borrowed; NULL is a login shell. Never NULL: what fails makes a broken pane. No callback comes from
 * inside. */
struct pane *pane_open(struct loop *loop, const struct pane_wish *wish, const char *const *argv,
                       const struct pane_ops *ops, void *arg) MUST_USE;
void pane_close(struct pane *p); /* accepts NULL; no callback afterwards; the program goes on */

const char *pane_vm(const struct pane *p);
/* It is this terminal of its VM: by the number that it was opened with or by its real one. */
bool pane_is(const struct pane *p, uint32_t term);
/* The size that it should have; with 0 it stays as it is. */
void pane_resize(struct pane *p, unsigned rows, unsigned cols);

/* Fills all but `console`. What is borrowed is valid until the next turn of the loop. */
void pane_describe(const struct pane *p, struct pane_source *out);

/* False: not sent, since it is not live or its connection is full. Keys that come while it is being opened are kept for it, some
 * dozens of them. */
bool pane_key(struct pane *p, uint32_t key, unsigned mods);
bool pane_text(struct pane *p, struct bytes text);
/* A piece of a paste. False, and nothing of it sent, when the whole is too long or cannot be sent; told with the last piece. */
bool pane_paste(struct pane *p, struct bytes text, bool first, bool last);
void pane_mouse(struct pane *p, const struct term_mouse *m); /* the place is a cell of the terminal */
/* The operator types into it, or no longer. */
void pane_focus(struct pane *p, bool focused);
/* As client_term_history. False: it is not live, `done` will not come. */
bool pane_history(struct pane *p, uint64_t before, uint32_t most, client_lines_fn *done, void *arg);

#endif
