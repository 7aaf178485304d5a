/* What the dashboard does, without a terminal and without VMs: keys and data in, a picture and wishes out.
 *
 *     typing ◄──────── Enter ────────── command mode: list and pane, grid, feed ◄────► a question, a line, a form, help
 *        └──────────── C-] ───────────►       │    ▲
 *                                             [    q
 *                                             ▼    │
 *                                           copy mode
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
#include "core/base/str.h"
#include "core/term/keys.h"
#include "tui/canvas.h"
#include "tui/model.h"
#include "tui/palette.h"
#include "tui/pane.h"
#include "tui/remember.h"
#include "tui/settings.h"

struct dash;

/* What a VM is asked. */
enum dash_verb {
	DASH_ALLOW, /* text: the rule; seconds: its life, 0: for good */
	DASH_DENY,  /* text: the rule */
	DASH_STOP,
	DASH_KILL,
	DASH_PAUSE,
	DASH_RESUME,
	DASH_SEND,       /* text and Enter, for a terminal that need not be open here */
	DASH_INTERRUPT,  /* C-c for it */
	DASH_HANG_UP,    /* ends the terminal's program */
	DASH_SEEN,       /* the operator has looked at what it wants, */
	DASH_SEEN_DENIED /* at what it was refused; both are answered by nothing */
};

struct dash_request {
	enum dash_verb verb;
	const char *vm;
	uint32_t term; /* of those for a terminal; 0: the first one */
	const char *text;
	uint32_t seconds;
};

/* Called from inside dash_*; must not call back into the dash, except dash_notice. */
struct dash_ops {
	/* The data as they are now; what is borrowed stays valid until the dash_* call returns. */
	void (*get_model)(void *arg, struct model *out);

	/* Input for a terminal that is open; false: it is not, or takes nothing now. */
	bool (*send_key)(void *arg, const char *vm, uint32_t term, uint32_t key, unsigned mods);
	/* A piece of one paste; `first` and `last` mark its ends. */
	bool (*send_paste)(void *arg, const char *vm, uint32_t term, struct bytes text, bool first,
	                   bool last);
	void (*send_mouse)(void *arg, const char *vm, uint32_t term, const struct term_mouse *m);
	void (*reopen)(void *arg, const char *vm, uint32_t term); /* it ended or broke: open it again */
	/* One more shell; answered by dash_new_terminal, unless it fails (a notice then). */
	void (*new_terminal)(void *arg, const char *vm, unsigned rows, unsigned cols);
	/* Lines of its history, answered by dash_history with the same tag. False: not to be had. */
	bool (*history)(void *arg, const char *vm, uint32_t term, uint32_t tag, uint64_t before,
	                uint32_t most);

	void (*request)(void *arg, const struct dash_request *r); /* answered by a notice */
	void (*run)(void *arg, const char *const *argv);          /* "up", "alpha", NULL: as a job */
	void (*write_allow)(void *arg, const char *rule);         /* into ccvm.ini; answered by a notice */
	void (*jobs_text)(void *arg, struct str *out);
	void (*copy)(void *arg, struct bytes text);        /* to the clipboard; answered by a notice */
	void (*copy_again)(void *arg, const char *method); /* the last text; "": the same way */

	void (*set_theme)(void *arg, const char *name);
	void (*offer)(void *arg, enum action_takes takes, palette_offer_fn *offer,
	              void *to); /* themes, images */
	void (*remember)(void *arg, const struct remember *r);
	void (*reload)(void *arg);
	void (*repaint)(void *arg); /* whatever is on the real screen is wrong */
	void (*suspend)(void *arg);
	void (*quit)(void *arg);
};

/* All are kept. `settings` may change between two calls; `remembered` is copied. */
struct dash *dash_create(const struct dash_ops *ops, void *arg, const struct settings *settings,
                         const struct remember *remembered) MUST_USE;
void dash_destroy(struct dash *d); /* accepts NULL */

void dash_resize(struct dash *d, int rows, int cols);
void dash_key(struct dash *d, uint32_t key, unsigned mods);
void dash_paste(struct dash *d, struct bytes text, bool first, bool last);
void dash_mouse(struct dash *d, const struct term_mouse *m);
/* The operator went to another window or came back: keys before and after it do not belong together. */
void dash_focus_moved(struct dash *d);
/* One line for the operator, shown until the next key. Copied; cut at 400 bytes. */
void dash_notice(struct dash *d, const char *text);
/* A VM has taken a rule (`seconds`: its life, 0: for good), or has taken it back. */
void dash_allowed(struct dash *d, const char *vm, const char *rule, uint32_t seconds);
void dash_denied(struct dash *d, const char *vm, const char *rule);
void dash_new_terminal(struct dash *d, const char *vm, uint32_t number);
/* The answer to `history`, as client_lines_fn has it. */
void dash_history(struct dash *d, uint32_t tag, uint64_t first, uint32_t count, struct bytes lines,
                  const struct err *e);
/* Data or time have changed: what the operator looks at for a while becomes seen. */
void dash_look(struct dash *d);

/* Draws all of it; resizes the canvas to the size of the dash. */
void dash_draw(struct dash *d, struct canvas *c);
/* Milliseconds, 1 or more, until the picture changes or dash_look has something to do though nothing happens. */
int64_t dash_next_ms(struct dash *d);

/* Which terminals should be open: those on the screen, and those that are typed into. Rows 0: in whatever size it has. Returns how
 * many; at most `most`. */
#define DASH_PANES_MOST 64
size_t dash_wanted_panes(struct dash *d, struct pane_wish *out, size_t most);
/* The terminal that the operator types into; false: command mode. */
bool dash_typed_pane(struct dash *d, struct pane_wish *out);
/* The VM whose console log is wanted, "": none. */
const char *dash_wanted_console(struct dash *d);
bool dash_is_typing(const struct dash *d);

#endif
