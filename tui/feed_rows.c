/* The rows are made anew when the list has changed. While held, rows that were there keep their order: each is looked up by
 * its id among the new ones, what is left over comes behind them. Cursor and top are ids; one whose row is gone goes to the
 * row that came after it. */
#include "tui/feed_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/egress/narrow.h"

#define HIDDEN_MOST 1000
#define PORT_443    ":443"

static_assert(FEED_RULE_SIZE >= RULE_TEXT_SIZE, "a rule fits");

/* A refusal that is kept denied, by its texts: it may come again after the feed has forgotten it. */
struct hidden {
	char vm[sizeof(((struct feed_entry *)0)->vm)];
	char target[sizeof(((struct feed_entry *)0)->target)];
	char why[sizeof(((struct feed_entry *)0)->why)];
};

struct feed_rows_state {
	struct feed_list list; /* of the last update */
	enum feed_tab tab;     /* what the rows are of */
	int height;
	bool dirty;             /* make the rows anew, whatever the list says, */
	bool to_end;            /* and put the cursor on the newest */
	uint64_t selected, top; /* ids, while held */
	uint64_t seen;          /* the highest id when the cursor was last at the end */
	struct hidden *hidden;  /* owned, sorted */
	size_t hidden_count;
	struct feed_row newest; /* what feed_rows_newest gave out */
};

void feed_rows_init(struct feed_rows *f)
{
	*f = (struct feed_rows){.selected = SIZE_MAX};
	f->state = mem_alloc(sizeof(*f->state));
	f->state->dirty = true;
	f->state->height = 1;
}

void feed_rows_finish(struct feed_rows *f)
{
	free(f->state->hidden);
	free(f->state);
	free(f->rows);
	*f = (struct feed_rows){.selected = SIZE_MAX};
}

bool feed_row_rule(const struct feed_row *row, char out[FEED_RULE_SIZE], struct err *e)
{
	if (!narrow_rule(row->entry->target, row->entry->rule, out, e))
		return false;
	size_t len = strlen(out), port = strlen(PORT_443);
	if (len > port && strcmp(out + len - port, PORT_443) == 0)
		out[len - port] = '\0';
	return true;
}

/* ---- what is hidden ---- */

static int compare_hidden(const struct hidden *h, const struct feed_entry *e)
{
	int order = strcmp(h->target, e->target);
	if (order == 0)
		order = strcmp(h->vm, e->vm);
	return order ? order : strcmp(h->why, e->why);
}

/* Where it is, or where it would be. */
static size_t hidden_place(const struct feed_rows_state *s, const struct feed_entry *e, bool *found)
{
	size_t low = 0, high = s->hidden_count;
	*found = false;
	while (low < high && !*found) {
		size_t middle = low + (high - low) / 2;
		int order = compare_hidden(&s->hidden[middle], e);
		*found = order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return *found ? high : low;
}

static bool is_hidden(const struct feed_rows_state *s, const struct feed_entry *e)
{
	bool found = false;
	if (s->hidden_count > 0)
		hidden_place(s, e, &found);
	return found;
}

bool feed_rows_hide(struct feed_rows *f, const struct feed_row *row)
{
	struct feed_rows_state *s = f->state;
	const struct feed_entry *e = row->entry;
	bool found;
	size_t at = hidden_place(s, e, &found);
	if (e->event != FEED_DENY || s->hidden_count == HIDDEN_MOST)
		return false;
	if (found)
		return true;
	s->hidden = mem_resize(s->hidden, s->hidden_count + 1, sizeof(*s->hidden));
	memmove(s->hidden + at + 1, s->hidden + at, (s->hidden_count - at) * sizeof(*s->hidden));
	memcpy(s->hidden[at].vm, e->vm, sizeof(e->vm));
	memcpy(s->hidden[at].target, e->target, sizeof(e->target));
	memcpy(s->hidden[at].why, e->why, sizeof(e->why));
	s->hidden_count++;
	s->dirty = true;
	return true;
}

void feed_rows_unhide_all(struct feed_rows *f)
{
	f->state->hidden_count = 0;
	f->state->dirty = true;
}

/* ---- making the rows ---- */

/* All rows of the tab in the order of time; the caller frees. */
static struct feed_row *collect(struct feed_rows *f, size_t *count)
{
	const struct feed_list *list = &f->state->list;
	struct feed_row *rows = mem_array(MAX(list->denial_count, list->entry_count) + 1, sizeof(*rows));
	size_t n = 0;
	f->hidden = 0;
	for (size_t i = 0; f->tab == FEED_TAB_DENIED && i < list->denial_count; i++) {
		const struct feed_denial *d = list->denials[i];
		if (is_hidden(f->state, &d->newest))
			f->hidden++;
		else
			rows[n++] = (struct feed_row){
			    .entry = &d->newest, .id = d->id, .count = d->count, .first_ms = d->first_ms};
	}
	for (size_t i = 0; f->tab == FEED_TAB_ALL && i < list->entry_count; i++) {
		const struct feed_entry *e = list->entries[i];
		rows[n++] =
		    (struct feed_row){.entry = e, .id = e->serial, .count = 1, .first_ms = e->time_ms};
	}
	*count = n;
	return rows;
}

struct place {
	uint64_t id;
	size_t index;
	bool taken;
};

static int places_by_id(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

static struct place *find_place(struct place *places, size_t count, uint64_t id)
{
	struct place key = {.id = id};
	return count ? bsearch(&key, places, count, sizeof(*places), places_by_id) : NULL;
}

/* Rows of `old` that are still there, in their order, then the other ones. Rows that `selected` and `top` named and that are
 * gone hand over to the next one that is still there. */
static void keep_order(struct feed_rows *f, const struct feed_row *old, size_t old_count,
                       struct feed_row *rows, size_t count)
{
	struct feed_rows_state *s = f->state;
	struct place *places = mem_array(count + 1, sizeof(*places));
	struct feed_row *out = mem_array(count + 1, sizeof(*out));
	bool selected_gone = false, top_gone = false;
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){.id = rows[i].id, .index = i};
	qsort(places, count, sizeof(*places), places_by_id);
	for (size_t i = 0; i < old_count; i++) {
		struct place *p = find_place(places, count, old[i].id);
		selected_gone |= !p && old[i].id == s->selected;
		top_gone |= !p && old[i].id == s->top;
		if (!p)
			continue;
		if (selected_gone)
			s->selected = p->id;
		if (top_gone)
			s->top = p->id;
		selected_gone = top_gone = false;
		p->taken = true;
		out[n++] = rows[p->index];
	}
	for (size_t i = 0; i < count; i++) {
		if (!find_place(places, count, rows[i].id)->taken)
			out[n++] = rows[i];
	}
	memcpy(rows, out, n * sizeof(*out));
	free(places);
	free(out);
}

static uint64_t highest_id(const struct feed_rows *f)
{
	uint64_t highest = 0;
	for (size_t i = 0; i < f->count; i++)
		highest = MAX(highest, f->rows[i].id);
	return highest;
}

static void make_rows(struct feed_rows *f)
{
	struct feed_rows_state *s = f->state;
	struct feed_row *old = f->rows;
	size_t old_count = f->count;
	f->rows = collect(f, &f->count);
	if (f->held && !s->to_end && s->tab == f->tab)
		keep_order(f, old, old_count, f->rows, f->count);
	s->tab = f->tab;
	free(old);
}

/* ---- the place ---- */

static size_t last_top(const struct feed_rows *f)
{
	size_t room = (size_t)f->state->height;
	return f->count > room ? f->count - room : 0;
}

static size_t find_row(const struct feed_rows *f, uint64_t id, size_t otherwise)
{
	for (size_t i = 0; i < f->count; i++) {
		if (f->rows[i].id == id)
			return i;
	}
	return otherwise;
}

static void remember(struct feed_rows *f)
{
	struct feed_rows_state *s = f->state;
	s->selected = f->count ? f->rows[f->selected].id : 0;
	s->top = f->count ? f->rows[f->top].id : 0;
	if (f->count == 0 || f->selected == f->count - 1)
		s->seen = highest_id(f);
}

static void go_to_end(struct feed_rows *f)
{
	f->top = last_top(f);
	f->selected = f->count ? f->count - 1 : SIZE_MAX;
	f->unseen = 0;
	f->state->to_end = false;
	remember(f);
}

static void scroll(struct feed_rows *f)
{
	size_t room = (size_t)f->state->height;
	f->top = MIN(f->top, f->selected);
	if (f->selected >= f->top + room)
		f->top = f->selected - room + 1;
	f->top = MIN(f->top, last_top(f)); /* no empty rows at the end after the area has grown */
	f->unseen = 0;
	for (size_t i = f->top + room; i < f->count; i++)
		f->unseen += f->rows[i].id > f->state->seen;
	f->state->selected = f->rows[f->selected].id;
	f->state->top = f->rows[f->top].id;
}

void feed_rows_update(struct feed_rows *f, const struct feed_list *list, int height)
{
	struct feed_rows_state *s = f->state;
	bool same = list->generation != 0 && list->generation == s->list.generation && !s->dirty;
	s->list = *list;
	s->height = MAX(height, 1);
	if (!same)
		make_rows(f);
	s->dirty = false;
	if (!f->held || s->to_end || f->count == 0) {
		go_to_end(f);
		return;
	}
	f->selected = find_row(f, s->selected, f->count - 1);
	f->top = find_row(f, s->top, f->selected);
	scroll(f);
}

void feed_rows_hold(struct feed_rows *f)
{
	if (!f->held)
		go_to_end(f);
	f->held = true;
}

void feed_rows_release(struct feed_rows *f)
{
	f->held = false;
	f->state->dirty = true;
}

void feed_rows_show(struct feed_rows *f, enum feed_tab tab)
{
	if ((unsigned)tab >= FEED_TAB_COUNT || tab == f->tab)
		return;
	f->tab = tab;
	f->state->dirty = f->state->to_end = true;
}

void feed_rows_move(struct feed_rows *f, long by)
{
	feed_rows_hold(f);
	if (f->count == 0)
		return;
	if (by < 0)
		f->selected -= MIN(f->selected, (size_t)-by);
	else
		f->selected = MIN(f->selected + (size_t)by, f->count - 1);
	scroll(f);
	remember(f);
	if (f->selected == f->count - 1)
		f->unseen = 0;
}

const struct feed_list *feed_rows_list(const struct feed_rows *f)
{
	return &f->state->list;
}

const struct feed_row *feed_rows_selected(const struct feed_rows *f)
{
	return f->selected < f->count ? &f->rows[f->selected] : NULL;
}

const struct feed_row *feed_rows_newest(const struct feed_rows *f, const char *vm)
{
	struct feed_rows_state *s = f->state;
	for (size_t i = s->list.denial_count; i > 0; i--) {
		const struct feed_denial *d = s->list.denials[i - 1];
		if (strcmp(d->newest.vm, vm) != 0 || is_hidden(s, &d->newest))
			continue;
		s->newest = (struct feed_row){
		    .entry = &d->newest, .id = d->id, .count = d->count, .first_ms = d->first_ms};
		return &s->newest;
	}
	return NULL;
}
