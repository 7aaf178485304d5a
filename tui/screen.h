/* The operator's terminal: the one place where curses is used. Takes canvases and shows them.
 *
 * There is one terminal, and curses keeps it in globals, so there is one of these at a time. However the program ends
 * (close, a bug, a crash, kill -9), the terminal gets back its settings and its first screen. */
#ifndef CCVM_TUI_SCREEN_H
#define CCVM_TUI_SCREEN_H

#include "core/base/err.h"
#include "tui/canvas.h"
#include "tui/theme.h"

struct loop;
struct tui_screen;

/* Enters: raw mode, alternate screen, bracketed paste. stdin and stdout are the terminal. A TERM that curses does not
 * know is tried as xterm-256color; ERR_SYSTEM when that fails too. Colours are off when NO_COLOR is set and not empty.
 * `theme` is kept. Signals must be taken over before: curses installs handlers for those that nobody wants. */
struct tui_screen *tui_screen_open(struct loop *loop, const struct theme *theme, struct err *e) MUST_USE;
void tui_screen_close(struct tui_screen *s); /* accepts NULL */

/* The size of the terminal now; curses hears of it as well. */
void tui_screen_measure(struct tui_screen *s, int *rows, int *cols);
/* Shows the canvas; writes nothing when it is the one that is shown. */
void tui_screen_draw(struct tui_screen *s, const struct canvas *c);
/* What is on the terminal is not what was drawn: the next draw writes every cell. */
void tui_screen_forget(struct tui_screen *s);
/* Gives the terminal back for a while, and takes it again. Both idempotent. */
void tui_screen_suspend(struct tui_screen *s);
void tui_screen_resume(struct tui_screen *s);

#endif
