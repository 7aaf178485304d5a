#include "tui/mouse.h"

#include <string.h>

#include "core/base/check.h"
#include "core/term/cells.h"

#define MOUSE_MODES (TERM_MOUSE_CLICK | TERM_MOUSE_DRAG | TERM_MOUSE_MOVE)

static struct mouse_deed deed_at(enum mouse_deed_kind kind, const struct hit *hit)
{
	return (struct mouse_deed){.kind = kind, .hit = *hit};
}

static bool same_place(const struct hit *a, const struct hit *b)
{
	return a->kind == b->kind && a->pane == b->pane && a->row == b->row && a->col == b->col;
}

/* The place inside the body of a pane, or the nearest one. `beyond` as in mouse.h. */
static struct hit clamp_into(const struct layout *l, int pane, const struct term_mouse *ev, int *beyond)
{
	struct rect r = l->panes[pane].body;
	int row = ev->row - r.row, col = ev->col - r.col;
	*beyond = row < 0 ? -1 : row >= r.rows ? 1 : 0;
	return (struct hit){.kind = HIT_PANE,
	                    .pane = pane,
	                    .row = MAX(MIN(row, r.rows - 1), 0),
	                    .col = MAX(MIN(col, r.cols - 1), 0)};
}

/* ---- for the program in the pane ---- */

/* Whoever got the press gets the release and what is between, wherever the pointer goes meanwhile. */
static bool is_for_guest(const struct mouse *m, const struct mouse_scene *s, const struct term_mouse *ev,
                         const struct hit *hit)
{
	if (s->typing < 0 || s->typing >= s->layout->pane_count)
		return false;
	if (m->guest)
		return true;
	bool inside = hit->kind == HIT_PANE && hit->pane == s->typing;
	return inside && !m->down && (s->modes & MOUSE_MODES) && !(ev->mods & TERM_SHIFT);
}

static struct mouse_deed to_guest(struct mouse *m, const struct mouse_scene *s, const struct term_mouse *ev)
{
	int beyond;
	struct hit hit = clamp_into(s->layout, s->typing, ev, &beyond);
	struct mouse_deed deed = deed_at(MOUSE_TO_GUEST, &hit);
	deed.event = *ev;
	deed.event.row = (uint16_t)hit.row;
	deed.event.col = (uint16_t)hit.col;
	if (ev->kind == MOUSE_PRESS && ev->button < MOUSE_WHEEL_UP)
		m->guest = ev->button;
	else if (ev->kind == MOUSE_RELEASE)
		m->guest = MOUSE_NONE;
	return deed;
}

/* ---- for us ---- */

static struct mouse_deed wheel(const struct term_mouse *ev, const struct hit *hit)
{
	struct mouse_deed deed = deed_at(MOUSE_NOTHING, hit);
	if (ev->button != MOUSE_WHEEL_UP && ev->button != MOUSE_WHEEL_DOWN)
		return deed;
	if (hit->kind == HIT_PANE || hit->kind == HIT_LIST || hit->kind == HIT_FEED) {
		deed.kind = MOUSE_SCROLL;
		deed.event = *ev;
		deed.event.row = (uint16_t)hit->row;
		deed.event.col = (uint16_t)hit->col;
		deed.lines = ev->button == MOUSE_WHEEL_UP ? -MOUSE_WHEEL_LINES : MOUSE_WHEEL_LINES;
	}
	return deed;
}

static bool can_be_selected(enum hit_kind kind)
{
	return kind == HIT_LIST || kind == HIT_PANE || kind == HIT_PANE_TITLE || kind == HIT_PANE_TABS ||
	       kind == HIT_FEED || kind == HIT_FEED_RULE;
}

static struct mouse_deed press(struct mouse *m, const struct mouse_scene *s, const struct term_mouse *ev,
                               const struct hit *hit)
{
	bool twice = m->last.kind != HIT_NOTHING && same_place(hit, &m->last) &&
	             s->now_ms - m->last_ms >= 0 && s->now_ms - m->last_ms <= MOUSE_DOUBLE_MS;
	m->down = true;
	m->dragging = false;
	m->pressed = *hit;
	m->last = twice ? (struct hit){.kind = HIT_NOTHING} : *hit; /* a third click is a first one */
	m->last_ms = s->now_ms;
	bool shift = ev->mods & TERM_SHIFT;
	if (twice && hit->kind == HIT_PANE && (shift || s->typing == hit->pane)) {
		m->dragging = true;
		struct mouse_deed deed = deed_at(MOUSE_TEXT_BEGIN, hit);
		deed.words = true;
		return deed;
	}
	if (twice && (hit->kind == HIT_LIST || hit->kind == HIT_PANE))
		return deed_at(MOUSE_TYPE, hit);
	if (shift && hit->kind == HIT_PANE)
		return deed_at(MOUSE_NOTHING, hit); /* only the start of a selection */
	return deed_at(can_be_selected(hit->kind) ? MOUSE_SELECT : MOUSE_NOTHING, hit);
}

static struct mouse_deed move(struct mouse *m, const struct mouse_scene *s, const struct term_mouse *ev)
{
	int beyond = 0;
	if (!m->down || m->pressed.kind != HIT_PANE || m->pressed.pane >= s->layout->pane_count ||
	    rect_is_empty(s->layout->panes[m->pressed.pane].body))
		return (struct mouse_deed){.kind = MOUSE_NOTHING};
	struct hit hit = clamp_into(s->layout, m->pressed.pane, ev, &beyond);
	if (!m->dragging) {
		if (same_place(&hit, &m->pressed))
			return deed_at(MOUSE_NOTHING, &hit);
		m->dragging = true;
		m->last.kind = HIT_NOTHING;
		return deed_at(MOUSE_TEXT_BEGIN, &m->pressed);
	}
	struct mouse_deed deed = deed_at(MOUSE_TEXT_DRAG, &hit);
	deed.beyond = beyond;
	return deed;
}

static struct mouse_deed release(struct mouse *m)
{
	struct mouse_deed deed = deed_at(m->dragging ? MOUSE_TEXT_END : MOUSE_NOTHING, &m->pressed);
	m->down = m->dragging = false;
	return deed;
}

struct mouse_deed mouse_event(struct mouse *m, const struct mouse_scene *s, const struct term_mouse *ev)
{
	struct hit hit = layout_hit(s->layout, ev->row, ev->col);
	if (is_for_guest(m, s, ev, &hit))
		return to_guest(m, s, ev);
	m->guest = MOUSE_NONE;
	if (ev->button >= MOUSE_WHEEL_UP)
		return wheel(ev, &hit);
	if (ev->kind == MOUSE_MOVE)
		return move(m, s, ev);
	if (ev->kind == MOUSE_RELEASE && m->down && (ev->button == MOUSE_LEFT || ev->button == MOUSE_NONE))
		return release(m);
	if (ev->kind == MOUSE_PRESS && ev->button == MOUSE_LEFT)
		return press(m, s, ev, &hit);
	return deed_at(MOUSE_NOTHING, &hit);
}
