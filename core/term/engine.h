/* The only door to libvterm: its parser and its state layer (cursor, margins, tab stops, wrapping, character sets), behind
 * calls that cannot carry anything it does not survive. Everything else of a terminal is ours. libvterm 0.1.4 and 0.3.x.
 *
 * What is kept from it, and why, is in the theory comment of engine.c. */
#ifndef CCVM_TERM_ENGINE_H
#define CCVM_TERM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* What the state layer wants done to the cells. Coordinates are libvterm's word: cut them to the grid. */
struct engine_ops {
	void (*glyph)(void *arg, int row, int col, uint32_t code, int width);
	void (*erase)(void *arg, int top, int left, int bottom, int right);
	void (*scroll)(void *arg, int top, int left, int bottom, int right, int down, int rightward);
	/* The cursor was moved, by a control or at the end of a piece of text. */
	void (*moved)(void *arg, int row, int col);
	void (*alternate)(void *arg, bool on);
};

#define ENGINE_PARAM_MAX 9999

/* "0.1", "0.3": the library that this was built with. */
const char *engine_library(void);

/* rows >= 1, cols >= 2. `ops` is borrowed for ever, `arg` kept. */
struct engine *engine_create(unsigned rows, unsigned cols, const struct engine_ops *ops, void *arg);
void engine_destroy(struct engine *e);
void engine_resize(struct engine *e, unsigned rows, unsigned cols);

/* Only what filter.h promises as text. */
void engine_text(struct engine *e, const uint8_t *bytes, size_t len);
void engine_control(struct engine *e, uint8_t c); /* BS HT LF VT FF CR SO SI */
void engine_escape(struct engine *e, char intermediate, char final);
/* CSI with up to two numbers; negative: left out. */
void engine_csi(struct engine *e, char final, int a, int b);
void engine_dec_mode(struct engine *e, int mode, bool on);

/* The cursor stands in the last column: the next glyph wraps, as after a glyph there. Nothing is drawn. */
void engine_pend_wrap(struct engine *e);

/* Always inside the screen. */
void engine_cursor(const struct engine *e, int *row, int *col);

#endif
