/* What the files of the terminals share: terminals.c is the guest's side (programs, their output, their end), term_watch.c the
 * clients' (who is sent what when, input, size), term_entry.c what the status says of them. */
#ifndef CCVM_SUPERVISOR_TERMINALS_INTERNAL_H
#define CCVM_SUPERVISOR_TERMINALS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/supervisor/guest_link.h"
#include "core/supervisor/terminals.h"
#include "core/term/emulator.h"
#include "core/term/snapshot.h"

#define TERMINAL_SPAWN_ID 1 /* each program has a connection of its own */

struct terminals {
	struct loop *loop;
	struct board *board;
	const char *vsock_path;
	struct list all;
	uint32_t count;
	uint32_t last_number;
	const struct terminals_ops *ops; /* never NULL */
	void *arg;
};

struct terminal {
	struct list link;
	struct terminals *owner;
	uint32_t number;
	bool first; /* what TERM_OPEN with term 0 means */
	bool running;
	struct guest_link *guest;
	struct emulator *emulator;
	uint64_t title_stamp; /* of the title in the status */
	struct list watches;
	unsigned want_rows, want_cols; /* the size that it has, or gets when `resize` fires */
	struct timer *resize;
	uint64_t resized_ms;   /* monotonic; 0: never */
	uint64_t claims;       /* of the size, counted */
	bool focused;          /* as the guest was told */
	struct timer *frame;   /* the next time that something may be due, */
	uint64_t frame_at_ms;  /* monotonic */
	bool ending;           /* no pace any more: the last screen goes out */
	struct timer *breathe; /* reads on after a flood */
	uint64_t turn;         /* loop time of the turn that turn_bytes counts */
	size_t turn_bytes;
};

struct term_watch {
	struct list link;
	struct terminal *terminal; /* NULL once it has ended */
	struct snapshot_cursor cursor;
	uint64_t sent_ms;    /* monotonic; 0: never */
	unsigned rows, cols; /* of the client; 0: it does not care */
	uint64_t claim;      /* number of its last one */
	bool told_opened;
	bool focused;
	bool pasting, paste_lost; /* between the first and the last piece; too long */
	struct buf paste;
	const struct term_watch_ops *ops;
	void *arg;
};

/* Something may have changed: tells the watchers for whom an update is due, and arms the timer for the others. */
void terminal_offer(struct terminal *t);
/* terminal_offer in so many milliseconds; the earliest of those asked for counts. */
void terminal_arm_frame(struct terminal *t, uint64_t ms);
/* Reads the guest's output or not, after what it takes of its input. */
void terminal_may_read(struct terminal *t);
/* Its client opened or typed: the terminal has its size, unless it does not care, until another one does. */
void term_watch_claim_size(struct term_watch *w);
/* The size that is wanted goes to the emulator and to the guest: what the timer `resize` does. */
void terminal_apply_size(struct terminal *t);
/* Tells on_touched. */
void terminal_touched(struct terminal *t);
/* The watchers have changed: their number, the focus. */
void terminal_count_watches(struct terminal *t);

/* The entry in the status: there while the terminal is. `argv` as in TERM_OPEN. */
void term_entry_add(struct terminal *t, struct bytes argv);
void term_entry_remove(struct terminal *t);
/* Size, title and number of watchers, if they have changed. */
void term_entry_update(struct terminal *t);

#endif
