/* One emulated terminal: bytes of a guest program in, a grid of cells out.
 *
 *     guest bytes ─► filter ─► libvterm's state layer ─► grid (primary, alternate) + scrollback
 *                       │               │
 *                       └──► replies ◄──┘──► write_reply (also keys, text and pastes: one queue to the guest)
 *
 * Any byte string is safe, in any pieces; the pieces make no difference to the result. Nothing of the guest's bytes
 * leaves but as cells, as a sanitised title and as the answers a terminal gives. Not thread-safe, no I/O.
 *
 * Change stamps: every call that may change something raises the generation; a row carries the generation of its
 * last change. snapshot.h turns that into updates. */
#ifndef CCVM_TERM_EMULATOR_H
#define CCVM_TERM_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"
#include "core/term/cells.h"
#include "core/term/clusters.h"
#include "core/term/keys.h"

struct emulator;
struct scrollback;

#define EMULATOR_SCROLLBACK_DEFAULT 10000 /* lines */
#define EMULATOR_HOLD_MS            150   /* the longest time that synchronised output delays drawing */

/* What a program says about itself in its output. Texts are printable UTF-8 of at most 200 bytes. */
enum emulator_event_kind {
	EMULATOR_BELL,
	EMULATOR_TITLE,       /* text; also in emulator_title */
	EMULATOR_NOTICE,      /* OSC 9, 777, 99: text, "title: body" when it has both */
	EMULATOR_PROGRESS,    /* OSC 9;4: value 0 none, 1 at `percent`, 2 error, 3 busy, 4 paused */
	EMULATOR_PROMPT,      /* OSC 133;A: a shell asks for a command */
	EMULATOR_COMMAND,     /* OSC 133;C: it runs one */
	EMULATOR_COMMAND_DONE /* OSC 133;D: value is its exit status, -1 when that was not said */
};
struct emulator_event {
	enum emulator_event_kind kind;
	int value, percent;
	const char *text; /* borrowed; never NULL */
};

/* Callbacks fire from inside emulator_* calls and must not call back into the emulator. Any may be NULL. */
struct emulator_ops {
	/* Bytes for the guest's pty, in order; borrowed. */
	void (*write_reply)(void *arg, const uint8_t *bytes, size_t len);
	/* At most EMULATOR_EVENTS_MOST in one call of emulator_write; more are dropped. */
	void (*on_event)(void *arg, const struct emulator_event *ev);
};
#define EMULATOR_EVENTS_MOST 32
#define EMULATOR_TEXT_MAX    200 /* bytes of an event's text, without the NUL */

/* Sizes are clamped to TERM_*_MIN..MAX here and in emulator_resize. Never NULL. `ops` is copied, `arg` kept. */
struct emulator *emulator_create(unsigned rows, unsigned cols, const struct emulator_ops *ops,
                                 void *arg) MUST_USE;
void emulator_destroy(struct emulator *e); /* accepts NULL */
/* Lines kept at most; older ones go. 0: none. */
void emulator_set_scrollback(struct emulator *e, unsigned lines);
/* What OSC 10 and 11 queries are answered with (COLOUR_RGB); default: light grey on black. */
void emulator_set_default_colours(struct emulator *e, uint32_t fg, uint32_t bg);

/* Output of the guest. Costs time proportional to len (at 20 MB/s or better): give it at most 64 KiB per loop turn. */
void emulator_write(struct emulator *e, const void *bytes, size_t len);
void emulator_resize(struct emulator *e, unsigned rows, unsigned cols);
/* Back to power-on state (the program has ended and another one will use it); history stays. */
void emulator_reset(struct emulator *e);

/* Input for the guest, encoded by its modes and handed to write_reply. `key`: enum term_key or a code point; mods:
 * enum term_mod (keys.h). Text and pastes: any bytes. A paste loses ESC and other controls (LF becomes CR, TAB stays)
 * and gets its brackets only if the guest asked for them. emulator_paste is one whole paste; for a long one call
 * emulator_paste_part with first and last set on the outer pieces. */
void emulator_key(struct emulator *e, uint32_t key, unsigned mods);
/* Sent only if the guest asked for it. A wheel also moves the text of an alternate screen whose program did not (pager,
 * manual) by arrow keys. Places outside count as the nearest inside, but nothing is pressed there. */
void emulator_mouse(struct emulator *e, const struct term_mouse *m);
void emulator_text(struct emulator *e, const void *utf8, size_t len);
void emulator_paste(struct emulator *e, const void *bytes, size_t len);
void emulator_paste_part(struct emulator *e, const void *bytes, size_t len, bool first, bool last);
void emulator_focus(struct emulator *e, bool focused); /* sent only if the guest asked for it */

uint64_t emulator_generation(const struct emulator *e); /* 1 or more; only grows */
unsigned emulator_rows(const struct emulator *e);
unsigned emulator_cols(const struct emulator *e);
struct term_cursor emulator_cursor(const struct emulator *e);
unsigned emulator_modes(const struct emulator *e);       /* enum term_mode */
const char *emulator_title(const struct emulator *e);    /* "" when none was set */
uint64_t emulator_title_stamp(const struct emulator *e); /* generation of its last change */
uint32_t emulator_bells(const struct emulator *e);       /* counted since the start; wraps */

/* The cells of a row: *used (at most cols) of them, the rest is blank. Valid until the next call that writes. */
const struct cell *emulator_row(const struct emulator *e, unsigned row, unsigned *used);
uint64_t emulator_row_stamp(const struct emulator *e, unsigned row);
unsigned emulator_row_flags(const struct emulator *e, unsigned row); /* enum row_flag */
const struct clusters *emulator_clusters(const struct emulator *e);

/* Synchronised output (mode 2026): the guest is in the middle of a frame. Milliseconds to wait before drawing,
 * 0: draw now. Never holds longer than EMULATOR_HOLD_MS after the last time it said 0. now_ms: clock_mono_ms. */
uint64_t emulator_hold_ms(struct emulator *e, uint64_t now_ms);

/* Scrollback: lines that left the top of the primary screen. 0 is the oldest. emulator_history_row writes at most
 * `most` cells and returns how many; their clusters are interned in `clusters` (the caller's).
 *
 * Lines have numbers that stay: emulator_history_first is that of the oldest line kept, and grows when it goes away; row 0
 * of the primary screen has the number first + count. A line that comes back onto a taller screen keeps its number. */
unsigned emulator_history_count(const struct emulator *e);
uint64_t emulator_history_first(const struct emulator *e);
size_t emulator_history_row(const struct emulator *e, unsigned index, struct cell *out, size_t most,
                            struct clusters *clusters, unsigned *flags);
const struct scrollback *emulator_history(const struct emulator *e);
/* A row of the primary screen, also while the alternate one is shown. */
const struct cell *emulator_primary_row(const struct emulator *e, unsigned row, unsigned *used,
                                        unsigned *flags);
/* Bytes that this terminal holds, for figures and limits. */
size_t emulator_memory(const struct emulator *e);

#endif
