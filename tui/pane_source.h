/* One terminal as a pane shows it: plain data, borrowed from whoever has it open (pane.h), or made up by a test. */
#ifndef CCVM_TUI_PANE_SOURCE_H
#define CCVM_TUI_PANE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/parse.h" /* VM_NAME_MAX */

struct screen;

/* How it is doing. */
enum pane_link {
	PANE_NONE,    /* there is none: the VM is not ready, or the pane is not on the screen */
	PANE_OPENING, /* asked for; no picture yet */
	PANE_LIVE,
	PANE_ENDED, /* its program ended; the last picture stays */
	PANE_BROKEN /* it could not be opened, or the connection broke */
};

struct pane_source {
	char vm[VM_NAME_MAX + 1]; /* whose it is; "" when nobody's */
	uint32_t term;            /* its number; 0: the first one, and its number is not known yet */
	enum pane_link link;
	bool slow;    /* PANE_OPENING takes longer than it should */
	bool foreign; /* its size is not ours: another console has set it, or it is only watched */
	const struct screen *screen; /* of PANE_LIVE and PANE_ENDED */
	const char *why;             /* of PANE_ENDED and PANE_BROKEN: one line for people */
	const char *console;         /* printable last lines of the VM's serial console; "" when not read */
};

#endif
