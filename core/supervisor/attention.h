/* Does a program need the operator? Turns what happens in its terminal, and what its hooks say, into struct vm_attention.
 *
 * Pure: time is given, and attention_deadline says when to come back with ATTENTION_TIME. Nothing is due while nothing
 * happens. Any sequence of signals gives a valid state; everything but SEEN, TYPED and TOUCHED comes from the guest. */
#ifndef CCVM_SUPERVISOR_ATTENTION_H
#define CCVM_SUPERVISOR_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/vm/vm.h"

#define ATTENTION_QUIET_MS 10000 /* this long without output: idle */
#define ATTENTION_LONG_MS \
	10000 /* a command that ran so long is told when it ends; a shorter one is no news */
#define ATTENTION_ECHO_MS  1000 /* output that follows the operator's doing so soon is its answer */
#define ATTENTION_RAISE_MS 2000 /* what was seen does not call again before this is over */
#define ATTENTION_PACE_MS  250  /* what is shown changes no faster */

struct attention_time {
	uint64_t mono_ms;
	int64_t wall_ms;
};

enum attention_kind {
	ATTENTION_HOOK,     /* state, text: what the program's hooks say */
	ATTENTION_NOTICE,   /* text */
	ATTENTION_PROGRESS, /* value and percent as in struct emulator_event */
	ATTENTION_BELL,
	ATTENTION_PROMPT,       /* a shell asks for a command */
	ATTENTION_COMMAND,      /* it runs one */
	ATTENTION_COMMAND_DONE, /* value: its exit status; below 0: not known */
	ATTENTION_TITLE,
	ATTENTION_OUTPUT,
	ATTENTION_EXIT,    /* value, and signum when a signal ended it */
	ATTENTION_SEEN,    /* the operator has looked */
	ATTENTION_TYPED,   /* the operator gave it input */
	ATTENTION_TOUCHED, /* the operator did what makes it draw: its size, the focus, its start */
	ATTENTION_WOKEN,   /* its CPUs stood still until now */
	ATTENTION_TIME,    /* time passes */
	ATTENTION_KIND_COUNT
};

struct attention_signal {
	enum attention_kind kind;
	enum vm_attention_state state;
	int value, percent, signum;
	const char *text; /* borrowed, printable, at most 200 bytes; NULL: "" */
};

/* Zeroed is the start; plain data, to be copied as one likes. Only `shown` is for others. */
struct attention {
	struct vm_attention shown;
	uint64_t shown_ms; /* monotonic, as all below; 0: never */
	struct vm_attention claim;
	uint64_t raised_ms;               /* the last call that was unseen */
	bool looked;                      /* the operator has, since then */
	uint64_t command_ms, progress_ms; /* when the command, or what has a progress, began; 0: none runs */
	uint64_t active_ms;               /* output or a title that was nobody's answer */
	uint64_t acted_ms;                /* the operator typed or touched */
};

/* True when `shown` has changed. */
bool attention_signal(struct attention *a, const struct attention_signal *s, struct attention_time now);
/* The time for ATTENTION_TIME: monotonic; 0: never. */
uint64_t attention_deadline(const struct attention *a);

#endif
