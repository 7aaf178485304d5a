/* The inside of an emulator, shared by emulator.c (grid, resize), emulator_input.c, and what the guest asks for: sequences.c,
 * modes.c, strings.c, notices.c. Nobody else includes this. */
#ifndef CCVM_TERM_STATE_H
#define CCVM_TERM_STATE_H

#include "core/term/emulator.h"
#include "core/term/engine.h"
#include "core/term/filter.h"
#include "core/term/grid.h"
#include "core/term/scrollback.h"

/* Modes that nobody outside needs, beside enum term_mode in the same word. */
enum state_mode {
	MODE_ORIGIN = 1 << 16,
	MODE_AUTOWRAP = 1 << 17,
	MODE_INSERT = 1 << 18,
	MODE_CURSOR_VISIBLE = 1 << 19,
	MODE_CURSOR_BLINK = 1 << 20,
	MODE_SYNC = 1 << 21,
	MODE_COLOUR_REPORT = 1 << 22, /* ?2031: wants to hear when light and dark change */
	MODE_ALT_SCROLL = 1 << 23,    /* ?1007: the wheel is arrow keys on the alternate screen */
	MODE_START = MODE_AUTOWRAP | MODE_CURSOR_VISIBLE | MODE_CURSOR_BLINK | MODE_ALT_SCROLL
};

struct charsets {
	char set[4]; /* 'B' ASCII, '0' line drawing, 'A' British */
	uint8_t active;
};

struct saved_cursor {
	int row, col;
	bool wrap; /* the next glyph would have wrapped */
	struct cell pen;
	bool origin;
	struct charsets charsets;
};

#define TITLE_STACK 4

/* What kinds of keys were asked for (kitty's flags, of which we have one): [0] holds when nothing was pushed. */
#define KEYS_STACK 8
struct keys_stack {
	uint8_t flags[KEYS_STACK];
	uint8_t top;
};

/* A notification that comes in pieces (OSC 99): its raw bytes so far. */
#define NOTICE_PART_MAX 256
struct notice {
	char id[32];
	char title[NOTICE_PART_MAX], body[NOTICE_PART_MAX];
	size_t title_len, body_len;
};

struct emulator {
	struct emulator_ops ops;
	void *arg;
	struct filter filter;
	struct engine *engine;
	unsigned rows, cols;
	uint64_t generation;

	struct grid screens[2]; /* primary, alternate */
	unsigned active;
	struct scrollback *history;
	struct clusters clusters;
	unsigned sweep_wait; /* clusters and links that are refused before the table is swept again */
	int wrap_row;        /* row whose last cell was just written, see emulator.c */
	int wrap_gap;        /* columns that it left free at its end: 0 or 1 */
	bool deleting_lines; /* lines that leave the top now are not history */

	struct cell pen; /* only its style counts */
	struct saved_cursor saved[2];
	int parked_row[2]; /* cursor row of the screen that is not shown */
	struct charsets charsets;
	int region_top;
	int glyph_row, glyph_col; /* where the last glyph went; row -1: nowhere yet */
	uint32_t glyph_code;      /* and what it is now, with its marks */
	unsigned fill_left;       /* glyphs that short sequences may still draw, see sequences.c */

	unsigned modes;            /* enum term_mode and enum state_mode */
	struct keys_stack keys[2]; /* primary, alternate */
	uint8_t cursor_shape;
	uint64_t hold_since_ms; /* 0: no frame is being held */
	uint32_t default_fg, default_bg;
	uint32_t bells;
	unsigned events_left; /* that may still be told of in this write */
	struct notice notice;
	char title[TERM_TITLE_MAX + 1];
	uint64_t title_stamp;
	char title_stack[TITLE_STACK][TERM_TITLE_MAX + 1];
	unsigned title_depth;

	bool paste_bracketed;    /* the paste that is under way began with a bracket */
	bool paste_cr, paste_c2; /* its last byte was CR, or the first half of a possible C1 control */
};

/* emulator.c */
void state_reply(struct emulator *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
void state_reply_bytes(struct emulator *e, const void *bytes, size_t len);
void state_set_title(struct emulator *e, const char *title);
void state_touch_all(struct emulator *e);
/* Makes room in the table of clusters and links; e->sweep_wait says how long it is of no use to do that again. */
void state_sweep(struct emulator *e);
/* The same as `n` glyphs of printable ASCII from the engine, which stay in this row and off its last column. The engine's
 * cursor stays where it is. */
void state_put_run(struct emulator *e, int row, int col, const uint8_t *text, size_t n);
#define NO_WRAP (-2)
/* The next glyph will wrap: the last one went to the last column. */
bool state_wrap_pending(const struct emulator *e);
void state_restore_wrap(struct emulator *e, int row, int col);
void state_event(struct emulator *e, enum emulator_event_kind kind, int value, int percent, const char *text);

/* sequences.c: the callbacks of the filter. */
extern const struct filter_ops SEQUENCE_OPS;
/* What a power-on sets, but for the cells; the modes in `keep` stay as they are. */
void sequences_reset(struct emulator *e, unsigned keep);
void sequences_move_cursor(struct emulator *e, int row, int col);
void sequences_save_cursor(struct emulator *e);
void sequences_restore_cursor(struct emulator *e);
void sequences_break_wrap(struct emulator *e);
void sequences_set_region(struct emulator *e, int top, int bottom); /* from 1; less: the edges */
void sequences_report_colours(struct emulator *e);

/* modes.c */
void modes_put(struct emulator *e, unsigned bits, bool on); /* only the bits */
void modes_set_origin(struct emulator *e, bool on);
void modes_reset(struct emulator *e, unsigned keep);
void modes_set(struct emulator *e, const struct csi *s);
void modes_request(struct emulator *e, const struct csi *s);
void modes_keys_push(struct emulator *e, const struct csi *s);
void modes_keys_pop(struct emulator *e, const struct csi *s);
void modes_keys_set(struct emulator *e, const struct csi *s);
void modes_keys_query(struct emulator *e, const struct csi *s);
/* Another screen is shown, or its stack changed. */
void modes_keys_changed(struct emulator *e);

/* notices.c: what comes after the number of an OSC 9, 99, 133 and 777. They may write to the text. */
void notices_osc9(struct emulator *e, char *text, bool bel);
void notices_osc99(struct emulator *e, char *text, bool bel);
void notices_osc133(struct emulator *e, char *text, bool bel);
void notices_osc777(struct emulator *e, char *text, bool bel);

/* strings.c: OSC and DCS. */
void strings_handle(struct emulator *e, enum filter_string kind, const uint8_t *bytes, size_t len, bool bel);

#endif
