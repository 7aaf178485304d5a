/* From top to bottom:
 *
 *     /foo  3 of 12            when there is a filter
 *       VM     STATE   FOR     from 4 rows on
 *     ▸ alpha  ● waiting  2m
 *       ...
 *       what is known of alpha          ▼ 9     from 5 rows on; takes rows that no VM needs, if it is long */
#include "tui/list_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "tui/words.h"

#define TROUBLE_COLS 5 /* where the second row of a VM begins */
#define TROUBLE_SIZE sizeof(((struct vm_status *)0)->reason)
#define HEADING_FROM 4
#define DETAIL_FROM  5
#define DETAIL_MOST  6

int list_view_cols(const struct model *m)
{
	return list_plan_make(m, LIST_STATE, CANVAS_MAX).total + 2;
}

/* ---- rows ---- */

/* The second row of a VM; "" when it needs none. */
static void trouble_of(const struct fleet_vm *vm, char out[TROUBLE_SIZE])
{
	const struct vm_status *s = &vm->status;
	out[0] = '\0';
	if (vm->hangs)
		snprintf(out, TROUBLE_SIZE, "its supervisor (pid %" PRIu32 ") does not answer",
		         s->supervisor_pid);
	else if (s->state == VM_FAILED)
		snprintf(out, TROUBLE_SIZE, "%s", s->reason[0] ? s->reason : "no reason known");
	else if (s->state == VM_READY && s->egress == VM_EGRESS_BROKEN)
		snprintf(out, TROUBLE_SIZE, "%s", s->reason[0] ? s->reason : "its way out does not work");
	else if (s->state == VM_READY && s->attention.state == ATTENTION_FAILED && !s->attention.seen)
		snprintf(out, TROUBLE_SIZE, "agent: %s",
		         s->attention.text[0] ? s->attention.text : "it failed");
}

static int height_of(const struct fleet_vm *vm)
{
	char trouble[TROUBLE_SIZE];
	trouble_of(vm, trouble);
	return trouble[0] ? 2 : 1;
}

static bool has_filter(const struct list_view *v)
{
	return v->filter && v->filter[0];
}

static int head_rows(const struct list_view *v, int rows)
{
	return (rows >= HEADING_FROM) + (rows >= HEADING_FROM && has_filter(v));
}

/* Rows for VMs: what filter, heading and one line of details leave. */
static int body_rows(const struct list_view *v, int rows)
{
	return rows - head_rows(v, rows) - (rows >= DETAIL_FROM);
}

int list_view_rows(const struct model *m)
{
	int rows = 2;
	for (size_t i = 0; i < m->vm_count; i++)
		rows += height_of(m->vms[i]);
	return rows;
}

/* No row stays empty below the last VM while others are hidden above. */
static size_t fill_up(const struct list_view *v, size_t top, int room)
{
	for (size_t i = top; i < v->model->vm_count && room >= 0; i++)
		room -= height_of(v->model->vms[i]);
	while (top > 0 && room >= height_of(v->model->vms[top - 1]))
		room -= height_of(v->model->vms[--top]);
	return top;
}

size_t list_view_scroll(const struct list_view *v, int rows)
{
	if (v->model->vm_count == 0)
		return 0;
	size_t selected = v->selected < v->model->vm_count ? v->selected : 0;
	int room = body_rows(v, rows);
	if (v->top >= selected)
		return fill_up(v, selected, room);
	size_t top = selected;
	room -= height_of(v->model->vms[top]);
	while (top > v->top && room >= height_of(v->model->vms[top - 1]))
		room -= height_of(v->model->vms[--top]);
	return fill_up(v, top, body_rows(v, rows));
}

size_t list_view_page(const struct list_view *v, int rows)
{
	int room = body_rows(v, rows);
	size_t n = 0;
	for (size_t i = v->top; i < v->model->vm_count; i++, n++) {
		room -= height_of(v->model->vms[i]);
		if (room < 0)
			break;
	}
	return MAX(n, (size_t)1);
}

size_t list_view_at(const struct list_view *v, int rows, int row)
{
	row -= head_rows(v, rows);
	if (row < 0 || row >= body_rows(v, rows))
		return SIZE_MAX;
	for (size_t i = v->top; i < v->model->vm_count; i++) {
		row -= height_of(v->model->vms[i]);
		if (row < 0)
			return i;
	}
	return SIZE_MAX;
}

/* ---- picture ---- */

static struct rect column_rect(struct rect row, const struct list_plan *p, int i)
{
	int cols = MIN(p->cols[i], row.cols - p->at[i]);
	return (struct rect){
	    .row = row.row, .col = row.col + p->at[i], .rows = row.rows, .cols = MAX(cols, 0)};
}

static void draw_field(struct canvas *c, struct rect r, bool right, enum theme_style style, const char *text)
{
	if (right)
		canvas_text_right(c, r, 0, style, text);
	else
		canvas_text_cut(c, r, 0, style, text);
}

static void draw_heading(struct canvas *c, struct rect row, const struct list_view *v,
                         const struct list_plan *p)
{
	for (int i = 0; i < LIST_COLUMN_COUNT; i++) {
		char text[LIST_TEXT_SIZE];
		list_column_heading(text, (enum list_column)i, v->sorted);
		if (p->cols[i])
			draw_field(c, column_rect(row, p, i), list_column_is_right((enum list_column)i),
			           STYLE_HEADING, text);
	}
}

static void draw_filter(struct canvas *c, struct rect row, const struct list_view *v)
{
	char count[LIST_TEXT_SIZE];
	snprintf(count, sizeof(count), " %zu of %zu ", v->model->vm_count, v->unfiltered);
	int end = canvas_text_right(c, row, 0, STYLE_MUTED, count);
	row.cols = MAX(end, 0);
	int at = canvas_text(c, row, 1, STYLE_NOTICE, "/");
	canvas_text_cut(c, row, at, STYLE_NOTICE, v->filter);
}

static enum theme_style field_style(const struct fleet_vm *vm, int column)
{
	struct words_look look = words_vm(vm, NULL);
	if (column == LIST_STATE)
		return look.style;
	if (column == LIST_NAME && look.style == STYLE_STATE_WAITING)
		return look.style;
	return column == LIST_DENIED ? STYLE_DENIED : STYLE_PLAIN;
}

static void draw_vm(struct canvas *c, struct rect row, const struct list_view *v, const struct list_plan *p,
                    size_t i)
{
	const struct fleet_vm *vm = v->model->vms[i];
	for (int k = 0; k < LIST_COLUMN_COUNT; k++) {
		char text[LIST_TEXT_SIZE];
		list_column_text(text, (enum list_column)k, vm, v->model->now_ms);
		if (p->cols[k])
			draw_field(c, column_rect(row, p, k), list_column_is_right((enum list_column)k),
			           field_style(vm, k), text);
	}
	if (i == v->selected) {
		canvas_text(c, row, 1, STYLE_PLAIN, "▸");
		canvas_restyle(c, row, v->focused ? STYLE_SELECTED : STYLE_SELECTED_IDLE);
	}
	if (v->marked && v->marked[i])
		canvas_text(c, row, 0, STYLE_MARKED, "*");
}

/* How many are out of sight; returns where it starts. */
static int draw_more(struct canvas *c, struct rect row, const struct list_view *v, size_t after)
{
	char above[WORDS_SIZE] = "", below[WORDS_SIZE] = "", text[LIST_TEXT_SIZE];
	if (v->top > 0)
		snprintf(above, sizeof(above), "▲ %zu ", v->top);
	if (after < v->model->vm_count)
		snprintf(below, sizeof(below), "▼ %zu ", v->model->vm_count - after);
	snprintf(text, sizeof(text), "%s%s", above, below);
	return canvas_text_right(c, row, 0, STYLE_NOTICE, text);
}

/* Lines of pieces; a piece is not broken unless it is longer than a line. */
struct pieces {
	struct str text;
	int cols, at;
};

static void add_piece(struct pieces *p, const char *piece)
{
	int width = canvas_text_width(piece);
	if (width == 0)
		return;
	bool fits = p->at + 3 + width <= p->cols;
	if (p->at > 0)
		str_append(&p->text, fits ? " · " : "\n");
	p->at = width + (p->at > 0 && fits ? p->at + 3 : 0);
	str_append(&p->text, piece);
}

static void add_count(struct pieces *p, uint64_t n, const char *what)
{
	char text[LIST_TEXT_SIZE];
	snprintf(text, sizeof(text), "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
	if (n > 0)
		add_piece(p, text);
}

static void add_facts(struct pieces *p, const struct fleet_vm *vm, int64_t now_ms)
{
	const struct vm_status *s = &vm->status;
	char denied[LIST_TEXT_SIZE], memory[WORDS_SIZE], uptime[LIST_TEXT_SIZE], up[LIST_TEXT_SIZE + 4];
	snprintf(denied, sizeof(denied), "%" PRIu32 " denied in all", s->denied);
	words_memory(memory, s->memory_bytes);
	list_column_text(uptime, LIST_UP, vm, now_ms);
	snprintf(up, sizeof(up), "up %s", uptime);
	add_piece(p, s->denied ? denied : "");
	add_count(p, s->terminal_count, "terminal");
	add_count(p, s->tunnels, "tunnel");
	add_piece(p, s->image);
	add_piece(p, s->backend);
	add_count(p, s->cpus, "cpu");
	add_piece(p, s->memory_bytes ? memory : "");
	add_piece(p, uptime[0] ? up : "");
}

/* What it says itself, or what is wrong with it and does not fit under its row. */
static void words_of(const struct fleet_vm *vm, int cols, char out[TROUBLE_SIZE])
{
	trouble_of(vm, out);
	if (canvas_text_width(out) + TROUBLE_COLS > cols)
		return;
	out[0] = '\0';
	if (vm->status.state == VM_READY && vm->status.attention.state != ATTENTION_FAILED)
		snprintf(out, TROUBLE_SIZE, "%s", vm->status.attention.text);
	else if (vm->status.state != VM_FAILED && vm->status.egress != VM_EGRESS_BROKEN)
		snprintf(out, TROUBLE_SIZE, "%s", vm->status.reason);
}

/* As many rows of it as there are; a text that goes on ends in "…". */
static void draw_wrapped(struct canvas *c, struct rect r, enum theme_style style, const char *text)
{
	canvas_wrap(c, r, style, text);
	if (canvas_wrap_rows(r.cols, text) <= r.rows)
		return;
	struct rect last = rect_row(r, r.rows - 1);
	int end = r.cols - 1;
	while (end > 0 && canvas_at(c, last.row, last.col + end - 1)->cell.code == 0)
		end--;
	canvas_text(c, last, end, style, "…");
}

static void draw_detail(struct canvas *c, struct rect r, const struct list_view *v, int spare, size_t after)
{
	struct rect last = rect_row(r, r.rows - 1);
	last.cols = MAX(draw_more(c, last, v, after) - 1, 0);
	if (v->selected >= v->model->vm_count || r.cols < LIST_MARK_COLS + 2)
		return;
	char says[TROUBLE_SIZE];
	const struct fleet_vm *vm = v->model->vms[v->selected];
	struct pieces facts = {.text = STR_INIT(4096), .cols = r.cols - LIST_MARK_COLS - 1};
	words_of(vm, r.cols, says);
	add_facts(&facts, vm, v->model->now_ms);
	int says_rows = canvas_wrap_rows(facts.cols, says),
	    facts_rows = canvas_wrap_rows(facts.cols, facts.text.s);
	int rows = MIN(MIN(says_rows + facts_rows, DETAIL_MOST), 1 + MAX(spare, 0));
	struct rect box = {
	    .row = last.row - rows + 1, .col = r.col + LIST_MARK_COLS, .rows = rows, .cols = facts.cols};
	if (rows <= 1)
		box.cols = MIN(box.cols,
		               last.cols - LIST_MARK_COLS); /* what is out of sight stands on the same line */
	struct rect above = box, below = box;
	above.rows = MIN(says_rows, MAX(rows - 1, 1));
	below.row += above.rows;
	below.rows -= above.rows;
	if (says_rows > 0)
		draw_wrapped(c, above, STYLE_PLAIN, says);
	if (below.rows > 0)
		draw_wrapped(c, below, STYLE_MUTED, facts.text.s);
	str_finish(&facts.text);
}

static void draw_empty(struct canvas *c, struct rect r, const struct list_view *v)
{
	char text[256];
	if (r.cols > 2) {
		r.col++;
		r.cols -= 2;
	}
	if (!v->model->settled)
		snprintf(text, sizeof(text), "Looking for VMs...");
	else if (has_filter(v) && v->unfiltered > 0)
		snprintf(text, sizeof(text), "Nothing matches /%.100s (%zu VMs without it)", v->filter,
		         v->unfiltered);
	else if (v->new_vm_key)
		snprintf(text, sizeof(text), "No VMs. %s makes one, or: ccvm up NAME --image base",
		         v->new_vm_key);
	else
		snprintf(text, sizeof(text), "No VMs. Make one: ccvm up NAME --image base");
	canvas_wrap(c, r, v->model->settled ? STYLE_PLAIN : STYLE_MUTED, text);
}

/* Returns the VM after the last one that is shown. */
static size_t draw_vms(struct canvas *c, struct rect r, const struct list_view *v, const struct list_plan *p,
                       int *used)
{
	size_t i = v->top;
	*used = 0;
	for (; i < v->model->vm_count && *used < r.rows; i++) {
		char trouble[TROUBLE_SIZE];
		trouble_of(v->model->vms[i], trouble);
		draw_vm(c, rect_row(r, (*used)++), v, p, i);
		if (trouble[0] && *used < r.rows)
			canvas_text_cut(c, rect_row(r, (*used)++), TROUBLE_COLS, STYLE_STATE_FAILED, trouble);
	}
	return i;
}

void list_view_draw(struct canvas *c, struct rect r, const struct list_view *v)
{
	if (rect_is_empty(r))
		return;
	if (v->model->vm_count == 0) {
		draw_empty(c, r, v);
		return;
	}
	struct list_plan plan = list_plan_make(v->model, v->sorted, r.cols);
	int used, head = head_rows(v, r.rows);
	struct rect body = {.row = r.row + head, .col = r.col, .rows = body_rows(v, r.rows), .cols = r.cols};
	if (head > 1)
		draw_filter(c, rect_row(r, 0), v);
	if (head > 0)
		draw_heading(c, rect_row(r, head - 1), v, &plan);
	size_t after = draw_vms(c, body, v, &plan, &used);
	if (r.rows >= DETAIL_FROM)
		draw_detail(c, r, v, body.rows - used, after);
	else if (head > 0)
		draw_more(c, rect_row(r, 0), v, after);
}
