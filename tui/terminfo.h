/* What curses knows of the operator's terminal. Alone in its file because curses' headers claim many common names. */
#ifndef CCVM_TUI_TERMINFO_H
#define CCVM_TUI_TERMINFO_H

#include "core/base/err.h"

/* *colours as terminfo has them, 0 for none. ERR_NOT_FOUND: it does not know `term`; ERR_INVALID: the cursor of such a terminal is not
 * placed as ANSI has it, so that it cannot be drawn on. With a line for people. */
bool terminfo_ask(const char *term, int *colours, struct err *e) MUST_USE;

#endif
