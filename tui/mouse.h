/* What a mouse event means: from the event, what lies under it and the state of the panes to one deed. Pure.
 *
 *   press    on a row, a tab, a pane: selects it; twice on a pane or a row of the list: types into it; twice on the pane that is
 *            typed into (or with Shift): selects a word of it
 *   drag     from a pane: selects text in that pane (and follows the pointer along its edge)
 *   wheel    history of the pane, list or feed under the pointer
 *
 * While typing, all events inside the pane whose program asked for the mouse go to that program; with Shift they are ours.
 * Other buttons do nothing. */
#ifndef CCVM_TUI_MOUSE_H
#define CCVM_TUI_MOUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/term/keys.h"
#include "tui/layout.h"

#define MOUSE_DOUBLE_MS   400
#define MOUSE_WHEEL_LINES 3

enum mouse_deed_kind {
	MOUSE_NOTHING,
	MOUSE_SELECT,     /* what was hit */
	MOUSE_TYPE,       /* into what was hit: HIT_LIST, HIT_PANE */
	MOUSE_SCROLL,     /* what was hit, by `lines`: negative is towards older or earlier ones */
	MOUSE_TEXT_BEGIN, /* a selection in a pane, from hit.row, hit.col on */
	MOUSE_TEXT_DRAG, /* its end is here now; the place is inside the pane, at the edge when the pointer is beyond it */
	MOUSE_TEXT_END, /* the button is up: copy it */
	MOUSE_TO_GUEST  /* `event`, with the place counted in the pane */
};

struct mouse_deed {
	enum mouse_deed_kind kind;
	struct hit hit;
	int lines;
	bool words;              /* MOUSE_TEXT_BEGIN by a double click: whole words */
	int beyond;              /* MOUSE_TEXT_DRAG: -1 above the pane, 1 below it: scroll that way */
	struct term_mouse event; /* MOUSE_TO_GUEST */
};

/* Zero is the start. */
struct mouse {
	bool down;          /* the left button, since `pressed` */
	bool dragging;      /* a selection has begun since */
	uint8_t guest;      /* button whose press went to the guest: its release goes there as well */
	struct hit pressed; /* where */
	struct hit last;    /* of the click before, */
	int64_t last_ms;    /* and when */
};

struct mouse_scene {
	const struct layout *layout;
	int typing;     /* pane that is typed into; -1: command mode */
	unsigned modes; /* enum term_mode of its terminal */
	int64_t now_ms; /* of any clock */
};

struct mouse_deed mouse_event(struct mouse *m, const struct mouse_scene *s, const struct term_mouse *ev);

#endif
