/* Draws a screen on a real terminal: pure functions that append bytes. No byte of the guest is passed on: only
 * printable characters of cells, our own SGR and cursor moves. */
#ifndef CCVM_TERM_TTY_H
#define CCVM_TERM_TTY_H

#include <stdbool.h>

#include "core/base/buf.h"
#include "core/term/screen.h"

struct input_event;

struct tty_caps {
	unsigned colours; /* 0: attributes only (NO_COLOR); 8, 16 or 256 */
	bool truecolor;   /* RGB is sent as it is; else the nearest of `colours` */
	bool sync;        /* wrap each frame in mode 2026 */
	bool ascii;       /* not a UTF-8 locale: likenesses (ascii.h) for everything that is not ASCII */
	bool underlines;  /* curly, dotted..., and their colours; else a plain underline */
	bool links;       /* hyperlinks (OSC 8) */
};

/* What there is to know without asking the terminal: variables as getenv gives them (NULL: not set), nl_langinfo(CODESET). */
struct tty_env {
	const char *term, *colorterm, *no_color, *codeset;
	const char *sty, *tmux; /* set inside GNU screen, inside tmux */
	int colours;            /* as terminfo has them; negative: it was not asked, go by the name */
};
/* Its makers ship its terminfo entry with it, so machines that are reached over ssh lack that; it is drawn on all the same: names that begin with
 * xterm-kitty, xterm-ghostty, ghostty, foot, alacritty or wezterm. */
bool tty_is_known(const char *term);
/* This process's; nothing is copied. `colours` is negative. */
struct tty_env tty_env_get(void);
/* `sync` stays false: see tty_answer. */
struct tty_caps tty_caps_guess(const struct tty_env *env);

/* What enters and leaves: alternate screen, title saved, pastes and focus reported, the wheel not turned into arrow keys, and
 * everything back as it was, also after a program has died half way: safe at any time, more than once. Constant texts of
 * at most TTY_BYTES_MAX bytes, so that a signal handler or another process can have them. */
#define TTY_BYTES_MAX 512
struct bytes tty_enter_bytes(void);
struct bytes tty_leave_bytes(void);
/* Questions to send after entering. The answers come as input (INPUT_REPLY): pass each to tty_answer, which notes it in `caps` and
 * appends what is to be sent then (kitty's keyboard mode). REPLY_DEVICE is the last of them, and the one that every terminal gives. */
struct bytes tty_questions(void);
void tty_answer(struct tty_caps *caps, const struct input_event *reply, struct buf *out);
/* Reports of the mouse: which of TERM_MOUSE_CLICK, _DRAG and _MOVE (cells.h); 0: none. */
void tty_mouse(unsigned modes, struct buf *out);
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
