/* What is asked of the operator to make a VM. Keys in, picture and an argument list out; no I/O. */
#ifndef CCVM_TUI_FORM_H
#define CCVM_TUI_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/vm/vm.h"
#include "tui/canvas.h"
#include "tui/line_edit.h"

enum form_field {
	FORM_NAME,
	FORM_IMAGE,
	FORM_ALLOW, /* hosts with blanks between */
	FORM_MEMORY,
	FORM_CPUS,
	FORM_DISK,
	FORM_FIELD_COUNT
};

struct form {
	struct line_edit fields[FORM_FIELD_COUNT];
	int at;            /* enum form_field that is edited */
	char problem[256]; /* why it was not accepted; "" */
};

/* Filled in with what a new VM gets; `name` may be "". */
void form_init(struct form *f, const struct vm_spec *defaults, const char *name);

enum form_result { FORM_STAYS, FORM_LEFT, FORM_ACCEPTED };
/* An ACTION_EDIT_*; accepting the last field, or any one once all are right, accepts the form. What is wrong is said in
 * it, at the field where it is. */
enum form_result form_act(struct form *f, enum action action);
/* What only others know to be wrong. */
void form_refuse(struct form *f, enum form_field field, const char *problem);
void form_insert(struct form *f, uint32_t code);
void form_paste(struct form *f, struct bytes text);

/* The command that makes this VM: "up", NAME, "--image", ... NULL. Borrowed from `f` and from `words`, which is overwritten. */
#define FORM_ARGV_MOST 64
void form_argv(const struct form *f, char words[LINE_EDIT_SIZE], const char *argv[FORM_ARGV_MOST]);

/* A box over the middle of the canvas. */
void form_draw(const struct form *f, struct canvas *c, const struct keymap *keys);

#endif
