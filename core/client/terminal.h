/* A terminal of a VM, seen and typed into from here. The supervisor emulates it once; what comes over are cells, which
 * are checked and applied to a screen that this object owns.
 *
 *     client_term_open ──► opening ──► open (on_opened, on_screen...) ──► ended (on_ended, once, last)
 *
 * Leaving (client_term_close) ends the watching, not the program. */
#ifndef CCVM_CLIENT_TERMINAL_H
#define CCVM_CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/term/keys.h"

struct client;
struct client_term;
struct screen;

#define CLIENT_TERM_FIRST 0u          /* the VM's first terminal; a login shell is started when it has none */
#define CLIENT_TERM_NEW   0xffffffffu /* a new one, running argv */

struct client_term_spec {    /* all borrowed during client_term_open */
	uint32_t term;       /* CLIENT_TERM_FIRST, CLIENT_TERM_NEW or a number */
	unsigned rows, cols; /* 0: watch it in whatever size it has */
	const char *const
	    *argv; /* NULL-terminated, or NULL: login shell; for CLIENT_TERM_NEW (and a first one) */
	const char *const *env; /* or NULL */
	const char *cwd;        /* or NULL */
};

struct client_term_ops {
	void (*on_opened)(void *arg, uint32_t term); /* may be NULL */
	/* Something changed: client_term_screen has it, changed rows are marked (clear them after drawing). */
	void (*on_screen)(void *arg);
	/* The program in it ended (e NULL; code counts when signum is 0), or it could not be opened, or the connection broke.
	 * The screen stays readable until client_term_close. */
	void (*on_ended)(void *arg, uint32_t code, unsigned signum, const struct err *e);
	/* Input is taken again. Not the place to close anything. May be NULL. */
	void (*on_drain)(void *arg);
};

/* Sizes are clamped to the limits of core/term/cells.h. */
struct client_term *client_term_open(struct client *c, const struct client_term_spec *spec,
                                     const struct client_term_ops *ops, void *arg, struct err *e) MUST_USE;
/* Leaves the terminal and frees. Accepts NULL; no callback afterwards. */
void client_term_close(struct client_term *t);

/* Never NULL; before the first update it is blank (generation 0). Owned by the terminal. */
struct screen *client_term_screen(struct client_term *t);
uint32_t client_term_number(const struct client_term *t); /* 0 until it is open */
bool client_term_is_open(const struct client_term *t);

#define CLIENT_TERM_INPUT_MAX (1024 * 1024) /* of one text, of one paste */

/* Input. False, and nothing of it is sent, while the terminal is not open, the connection is full (typing never piles up;
 * on_drain follows) or it is over CLIENT_TERM_INPUT_MAX. key: enum term_key or a code point; mods: enum term_mod
 * (core/term/keys.h). */
bool client_term_key(struct client_term *t, uint32_t key, unsigned mods);
bool client_term_text(struct client_term *t, const void *bytes, size_t len);
/* One paste, bracketed by the supervisor when the guest asked for that. */
bool client_term_paste(struct client_term *t, const void *bytes, size_t len);
/* The same in pieces; first and last mark its ends. The guest gets the whole paste when the last piece was sent, and nothing of it
 * if one was refused: then it must begin again. */
bool client_term_paste_part(struct client_term *t, const void *bytes, size_t len, bool first, bool last);
/* Reach the guest only if it asked for such events. */
void client_term_mouse(struct client_term *t, const struct term_mouse *m);
void client_term_focus(struct client_term *t, bool focused);
void client_term_resize(struct client_term *t, unsigned rows, unsigned cols);

/* The newest lines of the history with numbers below `before`, for transcript_prepend. `done` comes once, from the loop: how
 * many lines, the number of the first, the piece (borrowed); or the error. Not after client_term_close. False, and no callback:
 * the terminal is not open. */
typedef void client_lines_fn(void *arg, uint64_t first, uint32_t count, struct bytes lines,
                             const struct err *e);
bool client_term_history(struct client_term *t, uint64_t before, uint32_t most, client_lines_fn *done,
                         void *arg);

#endif
