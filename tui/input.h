/* What the operator types, as events from the loop. */
#ifndef CCVM_TUI_INPUT_H
#define CCVM_TUI_INPUT_H

#include "core/base/err.h"
#include "core/term/input.h"

struct loop;
struct tui_input;

struct tui_input_ops {
	void (*on_event)(void *arg, const struct input_event *ev);
	void (*on_gone)(void *arg); /* the terminal went away; once, nothing follows */
};

/* `fd` is borrowed during the call and its flags stay as they are: they are shared with the shell, so the terminal is opened once more.
 * `ops` is kept. */
struct tui_input *tui_input_open(struct loop *loop, int fd, const struct tui_input_ops *ops, void *arg,
                                 struct err *e) MUST_USE;
void tui_input_close(struct tui_input *in); /* accepts NULL; no event afterwards */

#endif
