#include "tui/feed_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "tui/words.h"

#define NAME_COLS_MOST    16
#define TARGET_COLS_LEAST 20 /* below this the time is left out */
#define TARGET_COLS_MOST  52
#define TIME_COLS         8
#define WIDE_COLS         60 /* from here on columns are two apart and aligned */

/* A host name that is too long loses its front: its end says who it belongs to. */
static int draw_target(struct canvas *c, struct rect r, int at, int cols, enum theme_style style,
                       const char *target)
{
	int width = (int)strlen(target); /* ASCII: the feed has escaped it */
	if (cols < 2 || width <= cols)
		return canvas_text(c, r, at, style, target);
	return canvas_textf(c, r, at, style, "…%s", target + (width - cols + 1));
}

/* ---- columns ---- */

#define NAME_MOST   16
#define NAME_NARROW 10
#define WHERE_LEAST 20
#define WHERE_MOST  64
#define WHY_LEAST   7 /* "no rule" */
#define WHY_MOST    44
#define CLOSE_COLS  24 /* "1.5M out, 9.7K in, 12s" and some more */
#define EVENT_COLS  6
#define RULE_LEAST  8 /* "allow it" */
#define RULE_WORD   "allow "

/* What a row says, as texts; the columns are as wide as the widest of them, so that the reason stands near the host. */
struct texts {
	char when[WORDS_SIZE];
	const char *name, *event, *where;
	char why[160];
	char count[WORDS_SIZE]; /* "×14"; "" when it is one */
	enum theme_style style; /* of event and where */
};

struct table {
	int indent, gap;
	int name, event, where, why, count, rule; /* widths; 0: not shown */
	bool when;
};

static void texts_of_close(struct texts *t, const struct feed_entry *e)
{
	char up[WORDS_SIZE], down[WORDS_SIZE], took[WORDS_SIZE];
	words_bytes(up, e->up);
	words_bytes(down, e->down);
	words_duration(took, (int64_t)MIN(e->ms, (uint64_t)INT64_MAX));
	snprintf(t->why, sizeof(t->why), "%s out, %s in, %s", up, down, took);
}

/* What was let through after it was refused. NULL: it is as it was. */
static const struct feed_allowed *allowed_since(const struct feed_view *v, const struct feed_row *row)
{
	char rule[FEED_RULE_SIZE];
	struct err e = ERR_INIT;
	if (v->allowed_count == 0 || row->entry->event != FEED_DENY || !feed_row_rule(row, rule, &e))
		return NULL;
	for (size_t i = 0; i < v->allowed_count; i++) {
		const struct feed_allowed *a = &v->allowed[i];
		if (strcmp(a->vm, row->entry->vm) == 0 && strcmp(a->rule, rule) == 0 &&
		    row->entry->time_ms <= a->at_ms && (a->until_ms == 0 || v->now_ms < a->until_ms))
			return a;
	}
	return NULL;
}

static void calm(struct texts *t, const struct feed_allowed *a)
{
	char clock[WORDS_SIZE];
	if (!a)
		return;
	t->style = STYLE_MUTED;
	words_clock(clock, a->until_ms);
	snprintf(t->why, sizeof(t->why), "%s%s", a->until_ms ? "until " : "allowed",
	         a->until_ms ? clock : "");
}

static void texts_of(struct texts *t, const struct feed_row *row, int64_t now_ms)
{
	static const struct {
		const char *word;
		enum theme_style style;
	} EVENTS[] = {
	    [FEED_OPEN] = {"open", STYLE_PLAIN},          [FEED_DENY] = {"DENIED", STYLE_DENIED},
	    [FEED_FAIL] = {"FAILED", STYLE_STATE_FAILED}, [FEED_CLOSE] = {"close", STYLE_MUTED},
	    [FEED_OTHER] = {"proxy", STYLE_MUTED},
	};
	static_assert(ARRAY_LEN(EVENTS) == FEED_EVENT_COUNT, "every event has a word");
	const struct feed_entry *e = row->entry;
	unsigned event = (unsigned)e->event < FEED_EVENT_COUNT ? e->event : FEED_OTHER;
	*t = (struct texts){
	    .name = e->vm, .event = EVENTS[event].word, .where = e->target, .style = EVENTS[event].style};
	words_when(t->when, e->time_ms, now_ms);
	if (event == FEED_CLOSE)
		texts_of_close(t, e);
	else
		snprintf(t->why, sizeof(t->why), "%s", e->why);
	if (row->count > 1)
		snprintf(t->count, sizeof(t->count), "×%" PRIu64, row->count);
}

/* The widths that the texts want. All texts of an entry are ASCII, but for the sign of the count. */
static struct table natural_widths(const struct feed_view *v)
{
	struct table n = {.name = 2};
	uint64_t most = 1;
	for (size_t i = 0; i < v->rows->count; i++) {
		const struct feed_row *row = &v->rows->rows[i];
		n.name = MAX(n.name, (int)strlen(row->entry->vm));
		n.where = MAX(n.where, (int)strlen(row->entry->target));
		n.why =
		    MAX(n.why, row->entry->event == FEED_CLOSE ? CLOSE_COLS : (int)strlen(row->entry->why));
		if (allowed_since(v, row))
			n.why = MAX(n.why, (int)strlen("until 00:00"));
		most = MAX(most, row->count);
	}
	if (most > 1)
		n.count = snprintf(NULL, 0, "%" PRIu64, most) + 1;
	n.where = MIN(n.where, WHERE_MOST);
	n.why = MIN(n.why, WHY_MOST);
	return n;
}

static int with_gap(const struct table *t, int cols)
{
	return cols ? cols + t->gap : 0;
}

/* Who and where matter more than why, why more than when, and the rule is shown only where all the rest has room. */
static struct table plan_table(const struct feed_view *v, int cols)
{
	struct table t = natural_widths(v), n = t;
	bool wide = cols >= WIDE_COLS;
	t.gap = wide ? 2 : 1;
	t.indent = wide ? 3 : 1;
	t.name = MIN(n.name, wide ? NAME_MOST : NAME_NARROW);
	t.event = v->rows->tab == FEED_TAB_ALL ? EVENT_COLS : 0;
	int left = cols - t.indent - with_gap(&t, t.name) - with_gap(&t, t.event) - with_gap(&t, t.count);
	int with_when = left - (TIME_COLS + t.gap);
	t.when = with_when >= MIN(n.where, WHERE_LEAST) + with_gap(&t, MIN(n.why, WHY_LEAST));
	left = t.when ? with_when : left;
	int why_least = MIN(n.why, MAX(left / 3, WHY_LEAST));
	t.where = MAX(MIN(n.where, left - with_gap(&t, why_least)), MIN(left, WHERE_LEAST));
	t.why = MAX(MIN(n.why, left - t.where - t.gap), 0);
	left -= t.where + with_gap(&t, t.why);
	if (v->rows->tab == FEED_TAB_DENIED && left >= t.gap + RULE_LEAST)
		t.rule = left - t.gap;
	return t;
}

/* ---- rows ---- */

/* A field of a row, cut at its width; returns where the next one begins. */
static int draw_field(struct canvas *c, struct rect r, int at, int cols, const struct table *t,
                      enum theme_style style, const char *text)
{
	if (cols <= 0)
		return at;
	struct rect field = {.row = r.row, .col = r.col, .rows = 1, .cols = MIN(at + cols, r.cols)};
	canvas_text_cut(c, field, at, style, text);
	return at + cols + t->gap;
}

static void draw_rule_text(struct canvas *c, struct rect r, int at, const struct table *t,
                           const struct feed_row *row)
{
	char rule[FEED_RULE_SIZE];
	struct err e = ERR_INIT;
	if (t->rule == 0 || !feed_row_rule(row, rule, &e))
		return;
	int word = canvas_text(c, r, at, STYLE_MUTED, RULE_WORD) - at;
	/* What stands in the row already is not said twice, and a rule that is cut would say less than the row. */
	bool told = strcmp(rule, row->entry->target) == 0 || (int)strlen(rule) > t->rule - word;
	canvas_text(c, r, at + word, STYLE_MUTED, told ? "it" : rule);
}

static void draw_table_row(struct canvas *c, struct rect r, const struct feed_view *v, const struct table *t,
                           size_t i)
{
	const struct feed_row *row = &v->rows->rows[i];
	struct texts x;
	texts_of(&x, row, v->now_ms);
	calm(&x, allowed_since(v, row));
	int at = t->indent;
	if (t->when)
		at = draw_field(c, r, at, TIME_COLS, t, STYLE_MUTED, x.when);
	at = draw_field(c, r, at, t->name, t, STYLE_PLAIN, x.name);
	at = draw_field(c, r, at, t->event, t, x.style, x.event);
	draw_target(c, r, at, t->where, x.style, x.where);
	at += with_gap(t, t->where);
	at = draw_field(c, r, at, t->why, t, STYLE_PLAIN, x.why);
	if (t->count > 0) {
		struct rect field = {
		    .row = r.row, .col = r.col, .rows = 1, .cols = MIN(at + t->count, r.cols)};
		canvas_text_right(c, field, at, STYLE_DENIED, x.count);
		at += with_gap(t, t->count);
	}
	draw_rule_text(c, r, at, t, row);
	if (v->focused && i == v->rows->selected) {
		canvas_text(c, r, t->indent > 1 ? 1 : 0, STYLE_PLAIN, "▸");
		canvas_restyle(c, r, STYLE_SELECTED);
	}
}

/* ---- tabs ---- */

static uint64_t count_of(const struct feed_view *v, enum feed_tab tab)
{
	const struct feed_list *list = feed_rows_list(v->rows);
	uint64_t denied = 0;
	if (tab == FEED_TAB_ALL)
		return list->entry_count;
	if (tab == FEED_TAB_HANDOFFS)
		return v->handoffs;
	for (size_t i = 0; i < list->denial_count; i++)
		denied += list->denials[i]->count;
	return MAX(denied, v->denied);
}

static void tab_text(const struct feed_view *v, enum feed_tab tab, char out[64])
{
	static const char *const NAMES[] = {
	    [FEED_TAB_DENIED] = "Denied", [FEED_TAB_ALL] = "All", [FEED_TAB_HANDOFFS] = "Handoffs"};
	static_assert(ARRAY_LEN(NAMES) == FEED_TAB_COUNT, "every tab has a name");
	snprintf(out, 64, tab == v->rows->tab ? "[%s %" PRIu64 "]" : " %s %" PRIu64 " ", NAMES[tab],
	         count_of(v, tab));
}

static int draw_tab(struct canvas *c, struct rect r, int at, const struct feed_view *v, enum feed_tab tab)
{
	bool shown = tab == v->rows->tab;
	char text[64];
	tab_text(v, tab, text);
	if (at + canvas_text_width(text) > r.cols && !shown)
		return at;
	enum theme_style style = !shown ? STYLE_MUTED : v->focused ? STYLE_KEY : STYLE_TITLE;
	return canvas_text(c, r, at, style, text) + 1;
}

/* "2 hidden  ▼ 3 new" */
static void aside_text(const struct feed_view *v, char out[96])
{
	char hidden[48] = "", unseen[48] = "";
	if (v->rows->hidden > 0)
		snprintf(hidden, sizeof(hidden), " %zu hidden ", v->rows->hidden);
	if (v->rows->unseen > 0)
		snprintf(unseen, sizeof(unseen), " ▼ %zu new ", v->rows->unseen);
	snprintf(out, 96, "%s%s", hidden, unseen);
}

static void draw_tabs(struct canvas *c, struct rect r, const struct feed_view *v)
{
	char aside[96];
	canvas_fill(c, r, STYLE_BORDER, 0x2500);
	aside_text(v, aside);
	struct rect left = r;
	int end = r.cols - (aside[0] ? 2 : 0);
	if (aside[0]) {
		struct rect right = {.row = r.row, .col = r.col, .rows = 1, .cols = MAX(end, 0)};
		left.cols = canvas_text_right(c, right, 1, STYLE_NOTICE, aside);
	}
	int at = 1;
	for (int tab = 0; tab < FEED_TAB_COUNT; tab++)
		at = draw_tab(c, left, at, v, (enum feed_tab)tab);
}

int feed_view_tab_at(const struct feed_view *v, struct rect rule, int col)
{
	int at = 1;
	for (int tab = 0; tab < FEED_TAB_COUNT && at <= col; tab++) {
		char text[64];
		tab_text(v, (enum feed_tab)tab, text);
		int end = at + canvas_text_width(text);
		if (col < end && end <= rule.cols)
			return tab;
		at = end + 1;
	}
	return -1;
}

/* ---- the whole ---- */

static void draw_nothing(struct canvas *c, struct rect r, const struct feed_view *v)
{
	static const char *const TEXTS[] = {
	    [FEED_TAB_DENIED] =
	        "Nothing was refused. Hosts that a VM asks for and may not reach show up here.",
	    [FEED_TAB_ALL] =
	        "No VM has asked for a host yet. Each request and what became of it shows up here.",
	    [FEED_TAB_HANDOFFS] =
	        "No handoffs. Commands that an agent asks you to run on the host will show up here.",
	};
	static_assert(ARRAY_LEN(TEXTS) == FEED_TAB_COUNT, "every tab has a text");
	struct rect box = {.row = r.row, .col = r.col + 3, .rows = r.rows, .cols = r.cols - 4};
	if (r.cols < 20)
		box = r;
	if (v->rows->hidden > 0) {
		char text[80];
		snprintf(text, sizeof(text), "Nothing else was refused: %zu kept denied.", v->rows->hidden);
		canvas_wrap(c, box, STYLE_MUTED, text);
		return;
	}
	canvas_wrap(c, box, STYLE_MUTED, TEXTS[v->rows->tab]);
}

/* One line: how many, and the newest or the one under the cursor. */
static void draw_one_line(struct canvas *c, struct rect r, const struct feed_view *v)
{
	char aside[96];
	struct table table = plan_table(v, r.cols);
	int at = draw_tab(c, r, 0, v, v->rows->tab);
	aside_text(v, aside);
	at = canvas_text(c, r, at, STYLE_NOTICE, aside);
	if (v->rows->selected >= v->rows->count || r.cols - at < 4)
		return;
	struct rect rest = {.row = r.row, .col = r.col + at, .rows = 1, .cols = r.cols - at};
	table = plan_table(v, rest.cols);
	draw_table_row(c, rest, v, &table, v->rows->selected);
}

static void draw_rows(struct canvas *c, struct rect rule, struct rect r, const struct feed_view *v)
{
	if (rect_is_empty(rule)) {
		draw_one_line(c, r, v);
		return;
	}
	draw_tabs(c, rule, v);
	if (v->rows->count == 0) {
		draw_nothing(c, r, v);
		return;
	}
	struct table table = plan_table(v, r.cols);
	for (int row = 0; row < r.rows && v->rows->top + (size_t)row < v->rows->count; row++)
		draw_table_row(c, rect_row(r, row), v, &table, v->rows->top + (size_t)row);
}

void feed_view_draw(struct canvas *c, struct rect rule, struct rect r, const struct feed_view *v)
{
	if (!rect_is_empty(r))
		draw_rows(c, rule, r, v);
}
