/* A terminal whose guest has said something, and its transcript as a client has it: through updates and pieces of history. */
#ifndef CCVM_TESTS_LIB_TRANSCRIPT_RIG_H
#define CCVM_TESTS_LIB_TRANSCRIPT_RIG_H

#include <stddef.h>

#include "core/term/emulator.h"
#include "core/term/screen.h"
#include "core/term/transcript.h"

struct transcript_rig {
	struct emulator *emulator;
	struct screen screen;
	struct transcript *text; /* NULL until transcript_rig_read */
};

void transcript_rig_init(struct transcript_rig *r, unsigned rows, unsigned cols);
void transcript_rig_finish(struct transcript_rig *r);
void transcript_rig_write(struct transcript_rig *r, const void *bytes, size_t len);
void transcript_rig_print(struct transcript_rig *r, const char *text);
/* Brings the screen up to date. */
void transcript_rig_sync(struct transcript_rig *r);
/* The screen and all of the history, in pieces of at most `most` lines. */
void transcript_rig_read(struct transcript_rig *r, unsigned most);

#endif
