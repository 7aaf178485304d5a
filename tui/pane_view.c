#include "tui/pane_view.h"

#include <stdio.h>
#include <string.h>

#include "core/term/screen.h"
#include "tui/words.h"

#define LINE_MOST 1024 /* bytes of a console line that count for its height */

/* The part of a screen that is shown when it is larger than the pane (another console has made it so): its top left,
 * moved as far as the cursor needs. */
static int first_shown(int cursor, int have, int room)
{
	if (have <= room || cursor < room)
		return 0;
	return MIN(cursor - room + 1, have - room);
}

static struct cell look_of(const struct screen *s, const struct cell *from, bool under_cursor)
{
	struct cell cell = *from;
	if (s->modes & TERM_REVERSE_VIDEO)
		cell.attrs ^= CELL_REVERSE;
	if (under_cursor) /* an idle cursor: seen, but not taken for the operator's */
		cell.attrs = (uint16_t)((cell.attrs & ~CELL_UNDERLINE_MASK) | UNDERLINE_SINGLE
		                                                                  << CELL_UNDERLINE_SHIFT);
	return cell;
}

static void draw_screen(struct canvas *c, struct rect r, const struct pane_view *v, bool live)
{
	const struct screen *s = v->source->screen;
	int top = first_shown(s->cursor.row, s->rows, r.rows);
	int left = first_shown(s->cursor.col, s->cols, r.cols);
	int row = s->cursor.row - top, col = s->cursor.col - left;
	bool idle_cursor = live && !v->typing && s->cursor.visible;
	for (int i = 0; i < r.rows; i++) {
		for (int k = 0; k < r.cols; k++) {
			const struct cell *from = screen_cell(s, (unsigned)(top + i), (unsigned)(left + k));
			if (!from)
				break;
			struct cell cell = look_of(s, from, idle_cursor && i == row && k == col);
			canvas_put_cell(c, r, i, k, &cell, &s->clusters);
		}
	}
	if (live && v->typing && s->cursor.visible && row < r.rows && col < r.cols) {
		c->cursor_visible = true;
		c->cursor_row = r.row + row;
		c->cursor_col = r.col + col;
		c->cursor_shape = s->cursor.shape;
	}
}

/* The last lines of a text that fit whole, wrapped, at the top of `r`. */
static void draw_tail(struct canvas *c, struct rect r, const char *text)
{
	const char *from = text + strlen(text);
	int rows = 0;
	while (from > text) {
		const char *line = from - 1;
		while (line > text && line[-1] != '\n')
			line--;
		char copy[LINE_MOST];
		snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(line, "\n"), line);
		rows += MAX(canvas_wrap_rows(r.cols, copy), 1);
		if (rows > r.rows)
			break;
		from = line;
	}
	canvas_wrap(c, r, STYLE_MUTED, from);
}

/* A text for people, and under it what the VM's console said last. */
static void draw_story(struct canvas *c, struct rect r, const struct pane_view *v, enum theme_style style,
                       const char *text)
{
	struct rect inner = r;
	if (inner.cols > 20) {
		inner.col++;
		inner.cols -= 2;
	}
	int used = canvas_wrap(c, inner, style, text) + 1;
	inner.row += used;
	inner.rows -= used;
	if (!v->console || !v->console[0]) {
		if (v->vm->status.state == VM_FAILED)
			canvas_text(c, inner, 0, STYLE_MUTED, "Its console is empty.");
		return;
	}
	if (inner.rows < 2)
		return;
	canvas_text(c, inner, 0, STYLE_HEADING, "Last lines of its console:");
	inner.row++;
	inner.rows--;
	draw_tail(c, inner, v->console);
}

static void tell_state(struct canvas *c, struct rect r, const struct pane_view *v)
{
	const struct vm_status *s = &v->vm->status;
	char age[WORDS_SIZE], text[WORDS_SIZE + 600];
	words_duration(age, v->now_ms - s->started_ms);
	const char *backend = s->backend[0] ? s->backend : "a backend still to be found";
	switch (s->state) {
	case VM_CREATING:
		snprintf(text, sizeof(text), "Being made%s%s.", s->reason[0] ? ": " : "", s->reason);
		draw_story(c, r, v, STYLE_PLAIN, text);
		return;
	case VM_BOOTING:
		snprintf(text, sizeof(text), "Booting with %s, for %s%s%s.", backend,
		         s->started_ms ? age : "0s", s->reason[0] ? ": " : "", s->reason);
		draw_story(c, r, v, STYLE_PLAIN, text);
		return;
	case VM_STOPPING: draw_story(c, r, v, STYLE_PLAIN, "Stopping."); return;
	case VM_STOPPED:
		snprintf(text, sizeof(text), "Stopped. Start it again: ccvm up %s", s->name);
		draw_story(c, r, v, STYLE_PLAIN, text);
		return;
	case VM_FAILED:
		snprintf(text, sizeof(text), "Failed: %s", s->reason[0] ? s->reason : "no reason known");
		draw_story(c, r, v, STYLE_STATE_FAILED, text);
		return;
	case VM_READY:
		draw_story(c, r, v, STYLE_MUTED,
		           v->vm->settled ? "Opening its terminal." : "Asking its supervisor.");
		return;
	case VM_STATE_COUNT: break;
	}
}

static bool is_live(const struct pane_view *v)
{
	const struct pane_source *p = v->source;
	return v->vm && p && p->link == PANE_LIVE && p->screen && strcmp(p->vm, v->vm->status.name) == 0;
}

static bool has_ended(const struct pane_view *v)
{
	const struct pane_source *p = v->source;
	return v->vm && p && v->vm->status.state == VM_READY && p->link == PANE_ENDED && p->screen &&
	       strcmp(p->vm, v->vm->status.name) == 0;
}

static void draw_inner(struct canvas *c, struct rect r, const struct pane_view *v)
{
	const struct pane_source *p = v->source;
	if (rect_is_empty(r) || !v->vm)
		return;
	bool ours = p && strcmp(p->vm, v->vm->status.name) == 0;
	if (is_live(v)) {
		draw_screen(c, r, v, true);
	} else if (has_ended(v)) {
		draw_screen(c, r, v, false);
		struct rect last = rect_row(r, r.rows - 1);
		canvas_fill(c, last, STYLE_NOTICE, ' ');
		canvas_textf(c, last, 0, STYLE_NOTICE, "%s. Enter starts a shell.", p->why);
	} else if (ours && p->link == PANE_BROKEN && v->vm->status.state == VM_READY) {
		char text[700];
		snprintf(text, sizeof(text), "No terminal: %s. Enter tries again.", p->why);
		draw_story(c, r, v, STYLE_STATE_FAILED, text);
	} else {
		tell_state(c, r, v);
	}
}

/* "alpha · vim main.c · 66x20", with the guest's own words last of what can be cut. */
static void draw_title(struct canvas *c, struct rect r, const struct pane_view *v)
{
	enum theme_style style = v->typing ? STYLE_BORDER_TYPING : STYLE_BORDER;
	canvas_fill(c, r, style, v->typing ? 0x2501 : 0x2500); /* heavy or light line */
	if (!v->vm)
		return;
	const struct pane_source *p = v->source;
	char size[48];
	if (is_live(v))
		snprintf(size, sizeof(size), " %ux%u ", p->screen->cols, p->screen->rows);
	else
		snprintf(size, sizeof(size), " %s ",
		         has_ended(v) ? "ended" : vm_state_name(v->vm->status.state));
	int end = canvas_text_right(c, r, 0, style, size);
	r.cols = MAX(end - 1, 0);
	enum theme_style name_style = v->typing ? STYLE_BORDER_TYPING : STYLE_TITLE;
	int at = canvas_textf(c, r, 1, name_style, " %s ", v->vm->status.name);
	if (is_live(v) && p->screen->title[0])
		canvas_textf(c, r, at, style, "· %s ", p->screen->title);
}

void pane_view_draw(struct canvas *c, const struct layout *l, int index, const struct pane_view *v)
{
	const struct layout_pane *p = &l->panes[index];
	enum theme_style style = v->typing ? STYLE_BORDER_TYPING : STYLE_BORDER;
	canvas_fill(c, p->edge, style, v->typing ? 0x2503 : 0x2502); /* heavy or light line */
	draw_title(c, p->title, v);
	if (!rect_is_empty(p->edge) && !rect_is_empty(p->title))
		canvas_text(c, rect_row(p->edge, 0), 0, style, v->typing ? "┏" : "┌");
	draw_inner(c, p->body, v);
}
