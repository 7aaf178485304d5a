/* What the dashboard does, without a terminal and without VMs: keys and data in, a picture and wishes out.
 *
 *              Enter, i                              Tab, F
 *     typing ◄────────── command: the list ◄──────────────────► command: the feed
 *        └──────C-]──────────►  │  ▲                                │  ▲
 *                          x, a │  │ y, n, Esc                    a │  │ y, n, Esc
 *                               ▼  │                                ▼  │
 *                             a question                          a question          ? help over either
 *
 * Typing ends by itself when its VM is no longer ready or its terminal ended. The app asks for the data through the
 * vtable when it needs them, so that no pointer is kept from one event to the next. */
#ifndef CCVM_TUI_DASH_H
#define CCVM_TUI_DASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/check.h"
#include "tui/canvas.h"
#include "tui/model.h"

struct dash;

/* Called from inside dash_*; must not call back into the dash, except dash_notice. */
struct dash_ops {
	/* The data as they are now; what is borrowed stays valid until the dash_* call returns. */
	void (*get_model)(void *arg, struct model *out);
	void (*send_key)(void *arg, uint32_t key, unsigned mods);
	/* A piece of one paste; `first` and `last` mark its ends. */
	void (*send_paste)(void *arg, struct bytes text, bool first, bool last);
	void (*reopen_pane)(void *arg); /* the terminal ended or broke: open it again */
	void (*allow)(void *arg, const char *vm, const char *rule);
	void (*stop)(void *arg, const char *vm);
	void (*repaint)(void *arg); /* whatever is on the real screen is wrong */
	void (*suspend)(void *arg);
	void (*quit)(void *arg);
};

/* `ops` and `arg` are kept. `detach` is the control byte that leaves typing. */
struct dash *dash_create(const struct dash_ops *ops, void *arg, char detach) MUST_USE;
void dash_destroy(struct dash *d); /* accepts NULL */

void dash_resize(struct dash *d, int rows, int cols);
void dash_key(struct dash *d, uint32_t key, unsigned mods);
void dash_paste(struct dash *d, struct bytes text, bool first, bool last);
/* One line for the operator, shown until the next key. Copied; cut at 400 bytes. */
void dash_notice(struct dash *d, const char *text);

/* Draws all of it; resizes the canvas to the size of the dash. */
void dash_draw(struct dash *d, struct canvas *c);

/* Which terminal should be open: that of the selected VM, when it can have one. With rows 0 it is not on the screen now: one
 * that is open may stay as it is. */
struct dash_pane {
	char vm[VM_NAME_MAX + 1]; /* "": none */
	unsigned rows, cols;
};
struct dash_pane dash_wanted_pane(struct dash *d);
/* The selected VM, "" when there is none. */
const char *dash_selected(struct dash *d);
bool dash_is_typing(const struct dash *d);

#endif
