/* What a terminal screen is made of: cells, colours, attributes, clusters, and the names of the modes that whoever
 * draws or types needs to know. Plain data; zero is a valid value everywhere (a blank cell with default colours).
 *
 * A cell holds one code point, or, when a base carries combining marks, the index of a cluster in the table of the
 * grid or screen that the cell lies in. Cells of different tables must not be mixed: copy with clusters_copy_cell (clusters.h). */
#ifndef CCVM_TERM_CELLS_H
#define CCVM_TERM_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERM_ROWS_MIN  1
#define TERM_COLS_MIN  2 /* a wide character must fit */
#define TERM_ROWS_MAX  1000
#define TERM_COLS_MAX  1000
#define TERM_TITLE_MAX 256 /* bytes of UTF-8, without the NUL */

/* Colours: 0 is the default one, else a kind in the top byte. */
#define COLOUR_DEFAULT    0u
#define COLOUR_INDEXED(i) (0x01000000u | ((uint32_t)(i)&0xffu))
#define COLOUR_RGB(r, g, b) \
	(0x02000000u | ((uint32_t)(r)&0xffu) << 16 | ((uint32_t)(g)&0xffu) << 8 | ((uint32_t)(b)&0xffu))
#define COLOUR_IS_DEFAULT(c) ((c) == COLOUR_DEFAULT)
#define COLOUR_IS_INDEXED(c) ((c) >> 24 == 1)
#define COLOUR_IS_RGB(c)     ((c) >> 24 == 2)
#define COLOUR_INDEX(c)      ((uint8_t)(c))
#define COLOUR_RED(c)        ((uint8_t)((c) >> 16))
#define COLOUR_GREEN(c)      ((uint8_t)((c) >> 8))
#define COLOUR_BLUE(c)       ((uint8_t)(c))

enum cell_attr {
	CELL_BOLD = 1 << 0,
	CELL_DIM = 1 << 1,
	CELL_ITALIC = 1 << 2,
	CELL_BLINK = 1 << 3,
	CELL_REVERSE = 1 << 4,
	CELL_CONCEAL = 1 << 5,
	CELL_STRIKE = 1 << 6,
	CELL_OVERLINE = 1 << 7,
	CELL_UNDERLINE_SHIFT = 8, /* three bits: enum cell_underline */
	CELL_UNDERLINE_MASK = 7 << 8,
	CELL_ATTR_ALL = 0x7ff
};

enum cell_underline {
	UNDERLINE_NONE,
	UNDERLINE_SINGLE,
	UNDERLINE_DOUBLE,
	UNDERLINE_CURLY,
	UNDERLINE_DOTTED,
	UNDERLINE_DASHED
};

#define CELL_UNDERLINE(attrs) (((attrs)&CELL_UNDERLINE_MASK) >> CELL_UNDERLINE_SHIFT)

enum cell_width {
	CELL_NARROW, /* one column */
	CELL_WIDE,   /* two columns: this one and the next, which is a CELL_TAIL */
	CELL_TAIL    /* right half of the wide cell before it; code is 0 */
};

struct cell {
	uint32_t code; /* 0: nothing was written here; a code point; or CELL_CLUSTER | index */
	uint32_t fg, bg, ul;
	uint16_t attrs; /* enum cell_attr */
	/* No padding: cells are compared with memcmp. */
	uint16_t width : 2; /* enum cell_width */
	uint16_t link : 14; /* 0: none, else the number of a hyperlink in the table of the clusters */
};

#define CELL_LINK_MASK 0x3fff

#define CELL_CLUSTER       0x80000000u
#define CELL_IS_CLUSTER(c) (((c)&CELL_CLUSTER) != 0)

bool cell_equal(const struct cell *a, const struct cell *b);
/* Nothing to see: blank or space, default background, no attribute that marks an empty cell. */
bool cell_is_blank(const struct cell *c);
bool cell_same_style(const struct cell *a, const struct cell *b);

/* 0-255 of the xterm palette to 0xRRGGBB, and the nearest of the 256, 16 or 8 colours. */
uint32_t colour_palette_rgb(uint8_t index);
uint8_t colour_nearest(uint32_t colour, unsigned colours);

enum term_mode {
	TERM_APP_CURSOR = 1 << 0, /* ?1: arrows are ESC O A */
	TERM_APP_KEYPAD = 1 << 1,
	TERM_NEWLINE = 1 << 2, /* 20: Enter sends CR LF */
	TERM_BRACKETED_PASTE = 1 << 3,
	TERM_FOCUS_EVENTS = 1 << 4,
	TERM_ALT_SCREEN = 1 << 5,
	TERM_REVERSE_VIDEO = 1 << 6,      /* ?5: draw every cell the other way round */
	TERM_MOUSE_CLICK = 1 << 7,        /* ?1000 */
	TERM_MOUSE_DRAG = 1 << 8,         /* ?1002 */
	TERM_MOUSE_MOVE = 1 << 9,         /* ?1003 */
	TERM_MOUSE_SGR = 1 << 10,         /* ?1006 */
	TERM_KEYS_DISAMBIGUATE = 1 << 11, /* kitty's CSI > 1 u */
	TERM_MODE_ALL = 0xfff
};

/* What is known of a row beside its cells. */
enum row_flag {
	ROW_WRAPPED =
	    1 << 0, /* its last cell was followed by the first of the next row without a line break */
	ROW_PROMPT = 1 << 1, /* a prompt begins here (OSC 133;A) */
	ROW_FLAG_ALL = 3
};

enum cursor_shape { CURSOR_DEFAULT, CURSOR_BLOCK, CURSOR_UNDERLINE, CURSOR_BAR };

struct term_cursor {
	uint16_t row, col; /* always inside the screen */
	bool visible;
	bool blink;
	uint8_t shape; /* enum cursor_shape */
};

#endif
