/* The operator's terminal, out: takes canvases and shows them. Which terminal it is, curses knows (terminfo.h); the picture is
 * written by core/term/tty.h.
 *
 * There is one terminal, so there is one of these at a time. However the program ends (close, a bug, a crash, kill -9), the
 * terminal gets back its settings and its first screen. */
#ifndef CCVM_TUI_SCREEN_H
#define CCVM_TUI_SCREEN_H

#include "core/base/err.h"
#include "tui/canvas.h"
#include "tui/theme.h"

struct input_event;
struct loop;
struct tty_caps;
struct tui_screen;

/* What this process's terminal can do, by terminfo and environment. ERR_INVALID with a line for people when it cannot be drawn on: TERM is
 * not set or not known (tty_is_known ones are taken without an entry), or its cursor is not placed as ANSI has it. */
bool tui_screen_caps(struct tty_caps *caps, struct err *e) MUST_USE;

/* Enters: raw mode, alternate screen, pastes and focus reported. stdin and stdout are the terminal. `theme` is kept. */
struct tui_screen *tui_screen_open(struct loop *loop, const struct theme *theme, struct err *e) MUST_USE;
void tui_screen_close(struct tui_screen *s); /* accepts NULL */
/* Another theme, or the same one changed: kept. */
void tui_screen_set_theme(struct tui_screen *s, const struct theme *theme);

/* Only ASCII, whatever the locale says; off: as the locale has it. */
void tui_screen_ascii(struct tui_screen *s, bool on);

/* The size of the terminal now. */
void tui_screen_measure(struct tui_screen *s, int *rows, int *cols);
/* Shows the canvas; writes nothing when it is the one that is shown. Never blocks: while the terminal has not taken the frame
 * before, the newest canvas waits. */
void tui_screen_draw(struct tui_screen *s, const struct canvas *c);
/* What is on the terminal is not what was drawn: the next draw writes every cell. */
void tui_screen_forget(struct tui_screen *s);

/* INPUT_REPLY events belong here. */
void tui_screen_reply(struct tui_screen *s, const struct input_event *ev);
/* Reports of the mouse (press, release, wheel, drag; places of all movement when `moves`). Off at first. Remembered. */
void tui_screen_mouse(struct tui_screen *s, bool on, bool moves);
/* The title of the operator's window, until the screen is closed. Remembered. */
void tui_screen_title(struct tui_screen *s, const char *title);
void tui_screen_bell(struct tui_screen *s);
/* Bytes of our own for the terminal, between two frames: OSC 52 (clipboard.h). */
void tui_screen_send(struct tui_screen *s, const void *bytes, size_t len);

/* Ctrl-Z: gives the terminal back, stops this job, takes the terminal again. For SIGTSTP, SIGTTIN and SIGTTOU. */
void tui_screen_stop(struct tui_screen *s);
/* SIGCONT: the shell may have had the terminal; everything is set up and drawn again. */
void tui_screen_resume(struct tui_screen *s);

#endif
