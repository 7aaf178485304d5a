/* One line that the operator edits: text, cursor, and what keys do to it. Pure. */
#ifndef CCVM_TUI_LINE_EDIT_H
#define CCVM_TUI_LINE_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "tui/canvas.h"
#include "tui/keymap.h"

#define LINE_EDIT_SIZE 1024

/* Zero is an empty line. Whole UTF-8 characters only, printable ones. */
struct line_edit {
	char text[LINE_EDIT_SIZE];
	size_t len, at; /* bytes; the cursor is before text[at] */
};

void line_edit_set(struct line_edit *l,
                   const char *text); /* the cursor at the end; cut when it is too long */
/* An ACTION_EDIT_* that moves or deletes; false: it is another one, which is for whoever asked for the line. */
bool line_edit_act(struct line_edit *l, enum action action);
/* A code point at the cursor. False: it is not printable, or the line is full. */
bool line_edit_insert(struct line_edit *l, uint32_t code);
/* A paste: what is printable of it, up to its first line end. */
void line_edit_paste(struct line_edit *l, struct bytes text);

/* Draws it on the first row of `r` so that the cursor is seen; the cursor of the canvas is put there. */
void line_edit_draw(const struct line_edit *l, struct canvas *c, struct rect r, enum theme_style style);

#endif
