/* The terminals of a VM: programs on a pty in the guest, emulated here once, watched by any number of clients.
 *
 *     terminals_open ─► (the guest starts the program) ─► on_opened ─► on_due... ─► on_closed
 *                                   └─► on_failed
 *
 * - A terminal lives as long as its program, whether or not anybody watches.
 * - on_due says that a watcher could be sent something; it then calls term_watch_take when its connection has room, and
 *   gets what is newest. The first change after a quiet time or after a key is due at once, further ones every
 *   TERMINALS_FRAME_MS. Nothing is ever queued for a slow watcher.
 * - The size is that of the watcher who opened or typed last; when he resizes the terminal follows, and when he leaves it gets
 *   the size of the one before him. Of a storm of sizes the guest gets the first at once,
 *   one every TERMINALS_RESIZE_MS, and always the last.
 * - A guest that floods its terminal is read in bounded pieces, so that others get their turn. */
#ifndef CCVM_SUPERVISOR_TERMINALS_H
#define CCVM_SUPERVISOR_TERMINALS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/term/keys.h"
#include "core/wire/wire.h"

struct board;
struct emulator_event;
struct loop;
struct term_watch;
struct terminals;

#define TERMINALS_MOST      32 /* of one VM */
#define TERMINALS_FRAME_MS  16
#define TERMINALS_RESIZE_MS 50
#define TERMINALS_PASTE_MAX (1024 * 1024) /* one paste */

/* Only on_failed and on_closed may close a watch from inside the callback, and only their own. */
struct term_watch_ops {
	void (*on_opened)(void *arg, uint32_t term);
	void (*on_failed)(void *arg, const struct err *e); /* last; the watch is over: close it */
	void (*on_due)(void *arg);
	void (*on_closed)(void *arg, uint32_t term, uint32_t code, uint8_t signum); /* the same */
};

/* What happens in the terminals, for whoever judges it (lookout.h). Any may be NULL. None may open or close a terminal or a
 * watch; the entry of the terminal is in the status (board_terminal) during the call. */
struct terminals_ops {
	void (*on_event)(void *arg, uint32_t number, const struct emulator_event *ev);
	void (*on_output)(void *arg, uint32_t number, size_t len); /* after its events */
	void (*on_input)(void *arg, uint32_t number); /* a key, text, a paste or a click of an operator */
	/* He did something else after which programs draw: its start, size, focus, mouse, a signal. */
	void (*on_touched)(void *arg, uint32_t number);
	/* Its program has ended, or (code 255, signum 0) is out of reach. */
	void (*on_ended)(void *arg, uint32_t number, uint32_t code, uint8_t signum);
};

/* Everything is kept; ops may be NULL. The list of terminals in the status of `board` is kept up to date here, but for the
 * attention in it, which is only made zero for a new one. */
struct terminals *terminals_create(struct loop *loop, struct board *board, const char *vsock_path,
                                   const struct terminals_ops *ops, void *arg);
/* Accepts NULL. Ends every program; every watch has been closed. */
void terminals_destroy(struct terminals *ts);

/* Callbacks come from the loop only. ERR_NOT_FOUND: no terminal of that number. rows or cols of 0: whatever it has. */
struct term_watch *terminals_open(struct terminals *ts, const struct wire_term_open *m,
                                  const struct term_watch_ops *ops, void *arg, struct err *e) MUST_USE;
void term_watch_close(struct term_watch *w); /* accepts NULL; no callback afterwards */

/* Appends one update of at most `max` bytes when one is due. False: nothing to send now (on_due comes again). */
bool term_watch_take(struct term_watch *w, size_t max, struct buf *out);
uint32_t term_watch_number(const struct term_watch *w);

/* Appends the newest lines of the history with numbers below `before`, at most `most` and `max` bytes (transcript.h). Returns
 * how many; *first is the number of the first. */
uint32_t term_watch_history(struct term_watch *w, uint64_t before, uint32_t most, size_t max, struct buf *out,
                            uint64_t *first);

/* What the client types. While the guest takes no input it is lost, as on a real line. */
void term_watch_key(struct term_watch *w, uint32_t key, unsigned mods);
void term_watch_text(struct term_watch *w, struct bytes text);
void term_watch_mouse(struct term_watch *w, const struct term_mouse *m);
/* A piece of a paste. Pieces are kept until the last one is there; a paste over TERMINALS_PASTE_MAX, and one that is not finished
 * when another begins or the watch ends, never reaches the guest. */
void term_watch_paste(struct term_watch *w, struct bytes text, bool first, bool last);
void term_watch_resize(struct term_watch *w, unsigned rows, unsigned cols);
/* The guest is told that its terminal has the focus while that of any watcher has. */
void term_watch_focus(struct term_watch *w, bool focused);

/* For the program of a terminal; number 0: the first one. Only what a terminal can cause, SIGTERM and SIGKILL (ERR_INVALID). */
bool terminals_signal(struct terminals *ts, uint32_t number, int signum, struct err *e) MUST_USE;

#endif
