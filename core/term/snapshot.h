/* Updates of a screen as bytes (the body of TERM_SCREEN): what changed since the last one that this watcher got.
 *
 * The sender keeps one snapshot_cursor per watcher, zeroed at first (the first update is then everything), and calls
 * snapshot_encode when the watcher has room. A watcher that is slow skips frames, never queues them.
 *
 * An update holds rows in full, packed by runs. The rows of a huge screen full of colours need more than one message:
 * snapshot_encode stops at a row before `max` bytes and says that there is more; the next call goes on there (with
 * what the rows hold by then). One row of TERM_COLS_MAX cells always fits in SNAPSHOT_ROW_MAX. */
#ifndef CCVM_TERM_SNAPSHOT_H
#define CCVM_TERM_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/term/emulator.h"
#include "core/term/screen.h"

#define SNAPSHOT_ROW_MAX (64 * 1024)            /* bytes of the longest row */
#define SNAPSHOT_MIN     (2 * SNAPSHOT_ROW_MAX) /* least useful `max` */

struct snapshot_cursor {
	uint64_t generation; /* all changes up to this one were sent; 0: nothing was */
	uint64_t pass;       /* generation at the start of an unfinished update */
	uint16_t next_row;   /* where it goes on; 0: none is unfinished */
	uint16_t rows, cols; /* size it was begun with */
};

/* Something to send: the generation moved on, or an update is unfinished. */
bool snapshot_pending(const struct emulator *e, const struct snapshot_cursor *c);
/* Appends one update of at most `max` bytes (SNAPSHOT_MIN or more; WIRE_CELLS_MAX for TERM_SCREEN) to `out`, which must
 * have room for them. True: the watcher has everything now. False: send this one, then call again. */
bool snapshot_encode(const struct emulator *e, struct snapshot_cursor *c, size_t max, struct buf *out);

/* Applies an update. Strict and pure: any byte string is safe; one that is not exactly an update (limits, coordinates,
 * widths, printable characters) is ERR_PROTOCOL and leaves the screen valid, though some rows may be applied. A new
 * size resizes the screen. */
bool snapshot_apply(struct screen *s, struct bytes update, struct err *e) MUST_USE;

#endif
