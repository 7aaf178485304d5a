/* Draws a screen on a real terminal: pure functions that append bytes. No byte of the guest is passed on: only
 * printable characters of cells, our own SGR and cursor moves. */
#ifndef CCVM_TERM_TTY_H
#define CCVM_TERM_TTY_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/term/screen.h"

struct tty_caps {
	unsigned colours; /* 0: attributes only (NO_COLOR); 8, 16 or 256 */
	bool truecolor;   /* RGB is sent as it is; else the nearest of `colours` */
	bool sync;        /* wrap each frame in mode 2026 */
	bool ascii;       /* '?' for everything that is not ASCII (not a UTF-8 locale) */
};

/* From the environment: TERM, COLORTERM, NO_COLOR (as getenv gives them, may be NULL) and nl_langinfo(CODESET). `sync`
 * stays false: switch it on when the terminal answered the query. */
struct tty_caps tty_caps_guess(const char *term, const char *colorterm, const char *no_color,
                               const char *codeset);

/* Alternate screen, title saved, bracketed paste on; and everything back as it was, also after a program has died
 * half way: safe to send at any time, more than once. tty_leave_bytes gives the same as a constant text for signal handlers. */
void tty_enter(struct buf *out);
void tty_leave(struct buf *out);
const char *tty_leave_bytes(size_t *len);
/* The window title; anything not printable is left out. */
void tty_title(const char *title, struct buf *out);

/* Brings a terminal of rows x cols that shows `prev` (drawn by this function with the same rows and cols) to show `next`.
 * prev NULL: repaint all. A screen larger than the terminal is cut to the part with the cursor's row at
 * the bottom edge or above; a smaller one leaves the rest empty. */
void tty_draw(const struct screen *prev, const struct screen *next, unsigned rows, unsigned cols,
              const struct tty_caps *caps, struct buf *out);
/* The screen's text with its colours as plain lines (no cursor moves), empty ones at the end left out: what stays in the
 * scrollback of the operator's terminal when `exec -t` ends. */
void tty_dump(const struct screen *s, const struct tty_caps *caps, struct buf *out);

#endif
