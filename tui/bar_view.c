#include "tui/bar_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/vm_order.h"
#include "tui/words.h"

/* ---- title ---- */

typedef bool vm_test(const struct fleet_vm *vm);

static bool is_broken(const struct fleet_vm *vm)
{
	return vm->status.state == VM_READY && vm->status.egress == VM_EGRESS_BROKEN;
}

static bool has_failed(const struct fleet_vm *vm)
{
	return vm->status.state == VM_FAILED;
}

static bool does_not_answer(const struct fleet_vm *vm)
{
	return vm->hangs;
}

static bool is_booting(const struct fleet_vm *vm)
{
	return vm->status.state == VM_BOOTING || vm->status.state == VM_CREATING;
}

/* It still waits, and the operator knows. */
static bool is_seen(const struct fleet_vm *vm)
{
	return vm_waits(vm) && !vm_waits_unseen(vm);
}

static bool is_paused(const struct fleet_vm *vm)
{
	return vm->status.paused;
}

static const struct {
	vm_test *test;
	const char *word;
	enum theme_style style;
} COUNTS[] = {
    {vm_waits_unseen, "waiting", STYLE_STATE_WAITING},
    {has_failed, "failed", STYLE_TITLE_ALERT},
    {does_not_answer, "hanging", STYLE_TITLE_ALERT},
    {is_broken, "egress broken", STYLE_TITLE_ALERT},
    {is_seen, "seen", STYLE_PLAIN},
    {is_paused, "paused", STYLE_PLAIN},
    {is_booting, "booting", STYLE_PLAIN},
};

static uint64_t count_vms(const struct title_view *v, vm_test *test)
{
	uint64_t n = 0;
	for (size_t i = 0; i < v->vm_count; i++)
		n += test(v->vms[i]);
	return n;
}

static uint64_t count_denied(const struct title_view *v)
{
	uint64_t n = 0;
	for (size_t i = 0; i < v->vm_count; i++)
		n += vm_denied_since(v->vms[i]);
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

/* A page of a grid looks like all there is. */
static int add_page(struct canvas *c, struct rect r, int at, const struct title_view *v)
{
	char text[3 * WORDS_SIZE], first[WORDS_SIZE] = "";
	if (v->page_of == 0)
		return at;
	if (v->page_first < v->page_last)
		snprintf(first, sizeof(first), "%zu-", v->page_first);
	snprintf(text, sizeof(text), "%s%zu of %zu", first, v->page_last, v->page_of);
	if (at + 3 + canvas_text_width(text) > r.cols)
		return at;
	at = canvas_text(c, r, at, STYLE_MUTED, " · ");
	return canvas_text(c, r, at, STYLE_KEY, text);
}

void title_view_draw(struct canvas *c, struct rect r, const struct title_view *v)
{
	if (rect_is_empty(r))
		return;
	char right[3 * WORDS_SIZE], clock[WORDS_SIZE];
	words_clock(clock, v->now_ms);
	snprintf(right, sizeof(right), "%s  %.20s%s", clock, v->help, v->help[0] ? " help " : "");
	struct rect left = r;
	if (r.cols > 44) {
		int end = canvas_text_right(c, r, 0, STYLE_MUTED, right);
		left.cols = MAX(end - 1, 0);
	}
	int at = canvas_text(c, left, 1, STYLE_TITLE, "ccvm");
	at = canvas_textf(c, left, at, STYLE_PLAIN, "   %zu VM%s", v->vm_count, v->vm_count == 1 ? "" : "s");
	at = add_page(c, left, at, v);
	at = add_count(c, left, at, STYLE_MARKED, v->marked, "marked");
	for (size_t i = 0; i < ARRAY_LEN(COUNTS); i++) {
		at = add_count(c, left, at, COUNTS[i].style, count_vms(v, COUNTS[i].test), COUNTS[i].word);
		if (i == 3) /* what needs somebody comes before what is only told */
			at = add_count(c, left, at, STYLE_DENIED, count_denied(v), "denied");
	}
}

/* ---- bottom line ---- */

static void draw_hints(struct canvas *c, struct rect r, const struct status_view *v)
{
	int at = 1;
	for (size_t i = 0; i < v->hint_count; i++) {
		const struct hint *h = &v->hints[i];
		if (!h->key[0] || at + canvas_text_width(h->key) + 1 + canvas_text_width(h->words) > r.cols)
			continue;
		at = canvas_text(c, r, at, STYLE_KEY, h->key);
		at = canvas_textf(c, r, at, STYLE_MUTED, " %s", h->words) + 2;
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
		snprintf(out, 160, " %s ", v->mode);
		return;
	}
	snprintf(out, 160, " TYPING %s — %s leaves ", v->typing, v->leave);
	if (canvas_text_width(out) > room)
		snprintf(out, 160, " TYPING — %s leaves ", v->leave);
	if (canvas_text_width(out) > room)
		snprintf(out, 160, "TYPING %s", v->leave);
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
	bool needed = v->typing || !v->notice || r.cols >= 60;
	struct rect left = r;
	if (needed) {
		int end =
		    canvas_text_right(c, r, 0, v->typing ? STYLE_MODE_TYPING : STYLE_MODE_COMMAND, mode);
		left.cols = MAX(end - 1, 0);
	}
	if (v->notice)
		canvas_text_cut(c, left, 1, STYLE_NOTICE, v->notice);
	else if (v->job)
		canvas_text_cut(c, left, 1, STYLE_MUTED, v->job);
	else if (!v->typing)
		draw_hints(c, left, v);
}
