#include "tui/bar_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/term/keys.h"
#include "tui/feed_view.h"
#include "tui/words.h"

/* ---- title ---- */

static size_t count_state(const struct model *m, enum vm_state state)
{
	size_t n = 0;
	for (size_t i = 0; i < m->vm_count; i++)
		n += m->vms[i]->status.state == state;
	return n;
}

static size_t count_broken(const struct model *m)
{
	size_t n = 0;
	for (size_t i = 0; i < m->vm_count; i++)
		n += m->vms[i]->status.state == VM_READY && m->vms[i]->status.egress == VM_EGRESS_BROKEN;
	return n;
}

/* A count that is not zero and fits whole. */
static int add_count(struct canvas *c, struct rect r, int at, enum theme_style style, uint64_t n,
                     const char *what)
{
	char text[2 * WORDS_SIZE];
	snprintf(text, sizeof(text), "%" PRIu64 " %s", n, what);
	if (n == 0 || at + 3 + canvas_text_width(text) > r.cols)
		return at;
	at = canvas_text(c, r, at, STYLE_MUTED, " · ");
	return canvas_text(c, r, at, style, text);
}

void title_view_draw(struct canvas *c, struct rect r, const struct model *m)
{
	if (rect_is_empty(r))
		return;
	char right[2 * WORDS_SIZE], clock[WORDS_SIZE];
	words_clock(clock, m->now_ms);
	snprintf(right, sizeof(right), "%s  ? help ", clock);
	struct rect left = r;
	if (r.cols > 44) {
		int end = canvas_text_right(c, r, 0, STYLE_MUTED, right);
		left.cols = MAX(end - 1, 0);
	}
	int at = canvas_text(c, left, 1, STYLE_TITLE, "ccvm");
	at = canvas_textf(c, left, at, STYLE_PLAIN, "   %zu VM%s", m->vm_count, m->vm_count == 1 ? "" : "s");
	at = add_count(c, left, at, STYLE_TITLE_ALERT, count_state(m, VM_FAILED), "failed");
	at = add_count(c, left, at, STYLE_TITLE_ALERT, count_broken(m), "egress broken");
	at = add_count(c, left, at, STYLE_DENIED, feed_view_total(m), "denied");
	add_count(c, left, at, STYLE_PLAIN, count_state(m, VM_BOOTING) + count_state(m, VM_CREATING),
	          "booting");
}

/* ---- bottom line ---- */

/* Most useful first; as many as fit whole. */
static const struct {
	enum action action;
	enum key_context context;
	const char *words;
} HINTS[] = {
    {ACTION_TYPE, KEYS_LIST, "type"},  {ACTION_JUMP, KEYS_FEED, "go to VM"},
    {ACTION_HELP, KEYS_ALL, "help"},   {ACTION_QUIT, KEYS_ALL, "quit"},
    {ACTION_ALLOW, KEYS_ALL, "allow"}, {ACTION_FOCUS, KEYS_LIST, "feed"},
    {ACTION_FOCUS, KEYS_FEED, "list"}, {ACTION_ZOOM, KEYS_ALL, "zoom"},
    {ACTION_STOP, KEYS_LIST, "stop"},
};

static void draw_hints(struct canvas *c, struct rect r, const struct status_view *v)
{
	int at = 1;
	for (size_t i = 0; i < ARRAY_LEN(HINTS); i++) {
		char key[KEYMAP_KEYS_SIZE];
		const char *words = HINTS[i].words;
		if (!(HINTS[i].context & v->context) || (v->useless & 1u << HINTS[i].action))
			continue;
		if (HINTS[i].action == ACTION_TYPE && v->only_console)
			words = v->zoomed ? "list" : "console";
		else if (HINTS[i].action == ACTION_ZOOM && v->zoomed)
			words = "list";
		keymap_key_of(HINTS[i].action, v->context, key);
		if (at + canvas_text_width(key) + 1 + canvas_text_width(words) > r.cols)
			continue;
		at = canvas_text(c, r, at, STYLE_KEY, key);
		at = canvas_textf(c, r, at, STYLE_MUTED, " %s", words) + 2;
	}
}

/* A question is read whole before it is answered: it takes as many rows as it needs, upwards. */
static void draw_question(struct canvas *c, struct rect r, const char *text)
{
	int rows = MIN(canvas_wrap_rows(MAX(r.cols - 2, 1), text), r.row + 1);
	r.row -= rows - 1;
	r.rows = rows;
	canvas_fill(c, r, STYLE_QUESTION, ' ');
	struct rect inner = {.row = r.row, .col = r.col + 1, .rows = rows, .cols = MAX(r.cols - 2, 1)};
	canvas_wrap(c, inner, STYLE_QUESTION, text);
}

/* The longest form of the mode that fits. */
static void mode_text(char out[160], const struct status_view *v, int room)
{
	if (!v->typing) {
		snprintf(out, 160, " %s ", v->context == KEYS_FEED ? "FEED" : "COMMAND");
		return;
	}
	snprintf(out, 160, " TYPING %s — %s leaves ", v->typing, v->detach);
	if (canvas_text_width(out) > room)
		snprintf(out, 160, " TYPING — %s leaves ", v->detach);
	if (canvas_text_width(out) > room)
		snprintf(out, 160, "TYPING %s", v->detach);
}

void status_view_draw(struct canvas *c, struct rect r, const struct status_view *v)
{
	if (rect_is_empty(r))
		return;
	if (v->question) {
		draw_question(c, r, v->question);
		return;
	}
	char mode[160];
	mode_text(mode, v, r.cols);
	bool needed = v->typing || (!v->notice && r.cols >= 30) || r.cols >= 60;
	struct rect left = r;
	if (needed) {
		int end =
		    canvas_text_right(c, r, 0, v->typing ? STYLE_MODE_TYPING : STYLE_MODE_COMMAND, mode);
		left.cols = MAX(end - 1, 0);
	}
	if (v->notice)
		canvas_text_cut(c, left, 1, STYLE_NOTICE, v->notice);
	else if (!v->typing)
		draw_hints(c, left, v);
}
