/* The terminals of a VM: programs on a pty in the guest, emulated here once, watched by any number of clients.
 *
 *     terminals_open ─► (the guest starts the program) ─► on_opened ─► on_due... ─► on_closed
 *                                   └─► on_failed
 *
 * - A terminal lives as long as its program, whether or not anybody watches.
 * - on_due says that a watcher could be sent something; it then calls term_watch_take when its connection has room, and
 *   gets what is newest. The first change after a quiet time or after a key is due at once, further ones every
 *   TERMINALS_FRAME_MS. Nothing is ever queued for a slow watcher.
 * - The size is that of the watcher who opened, resized or typed last.
 * - A guest that floods its terminal is read in bounded pieces, so that others get their turn. */
#ifndef CCVM_SUPERVISOR_TERMINALS_H
#define CCVM_SUPERVISOR_TERMINALS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/wire/wire.h"

struct loop;
struct term_watch;
struct terminals;

#define TERMINALS_MOST     32 /* of one VM */
#define TERMINALS_FRAME_MS 16

/* Only on_failed and on_closed may close a watch from inside the callback, and only their own. */
struct term_watch_ops {
	void (*on_opened)(void *arg, uint32_t term);
	void (*on_failed)(void *arg, const struct err *e); /* last; the watch is over: close it */
	void (*on_due)(void *arg);
	void (*on_closed)(void *arg, uint32_t term, uint32_t code, uint8_t signum); /* the same */
};

/* `vsock_path` is kept; on_count is told when the number of terminals changes. */
struct terminals *terminals_create(struct loop *loop, const char *vsock_path,
                                   void (*on_count)(void *arg, uint32_t count), void *arg);
/* Accepts NULL. Ends every program; every watch has been closed. */
void terminals_destroy(struct terminals *ts);

/* Callbacks come from the loop only. ERR_NOT_FOUND: no terminal of that number. rows or cols of 0: whatever it has. */
struct term_watch *terminals_open(struct terminals *ts, const struct wire_term_open *m,
                                  const struct term_watch_ops *ops, void *arg, struct err *e) MUST_USE;
void term_watch_close(struct term_watch *w); /* accepts NULL; no callback afterwards */

/* Appends one update of at most `max` bytes when one is due. False: nothing to send now (on_due comes again). */
bool term_watch_take(struct term_watch *w, size_t max, struct buf *out);
uint32_t term_watch_number(const struct term_watch *w);

/* What the client types. While the guest takes no input it is lost, as on a real line. */
void term_watch_key(struct term_watch *w, uint32_t key, unsigned mods);
void term_watch_text(struct term_watch *w, struct bytes text);
void term_watch_paste(struct term_watch *w, struct bytes text);
void term_watch_resize(struct term_watch *w, unsigned rows, unsigned cols);

#endif
