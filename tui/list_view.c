/* The columns are a table: each has a width that is known from the model, a heading, and a function that writes its
 * text. Where the list is too narrow the last columns of the table go first; what they would say of the selected VM
 * stands in the line under the list in any case. */
#include "tui/list_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/words.h"

#define MARK_COLS 3 /* " ▸ " */
#define GAP_COLS  2
#define CELL_SIZE 64

struct column {
	const char *heading;
	void (*text)(char out[CELL_SIZE], const struct fleet_vm *vm, int64_t now_ms);
	bool right; /* numbers stand at the right edge of their column */
};

static void name_text(char out[CELL_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	snprintf(out, CELL_SIZE, "%s", vm->status.name);
}

static void state_text(char out[CELL_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	const char *glyph = vm->settled ? words_state_glyph(vm->status.state) : "?";
	snprintf(out, CELL_SIZE, "%s %s", glyph, vm_state_name(vm->status.state));
}

static void uptime_text(char out[CELL_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	char words[WORDS_SIZE] = "";
	if (vm_state_is_live(vm->status.state) && vm->status.started_ms > 0)
		words_duration(words, now_ms - vm->status.started_ms);
	snprintf(out, CELL_SIZE, "%s", words);
}

static void denied_text(char out[CELL_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	out[0] = '\0';
	if (vm->status.denied > 0)
		snprintf(out, CELL_SIZE, "%" PRIu32, vm->status.denied);
}

static void egress_text(char out[CELL_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	static const char *const WORDS[] = {
	    [VM_EGRESS_UNKNOWN] = "...", [VM_EGRESS_OK] = "ok", [VM_EGRESS_BROKEN] = "BROKEN"};
	static_assert(ARRAY_LEN(WORDS) == VM_EGRESS_COUNT, "every egress state has a word");
	bool known = vm->status.state == VM_READY && (unsigned)vm->status.egress < VM_EGRESS_COUNT;
	snprintf(out, CELL_SIZE, "%s", known ? WORDS[vm->status.egress] : "");
}

static void backend_text(char out[CELL_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	snprintf(out, CELL_SIZE, "%s", vm->status.backend);
}

static void image_text(char out[CELL_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	snprintf(out, CELL_SIZE, "%s", vm->status.image);
}

enum { COLUMN_NAME, COLUMN_STATE, COLUMN_UPTIME, COLUMN_DENIED, COLUMN_EGRESS, COLUMN_BACKEND, COLUMN_IMAGE };

static const struct column COLUMNS[] = {
    [COLUMN_NAME] = {"VM", name_text, false},         [COLUMN_STATE] = {"STATE", state_text, false},
    [COLUMN_UPTIME] = {"UP", uptime_text, true},      [COLUMN_DENIED] = {"DENIED", denied_text, true},
    [COLUMN_EGRESS] = {"EGRESS", egress_text, false}, [COLUMN_BACKEND] = {"BACKEND", backend_text, false},
    [COLUMN_IMAGE] = {"IMAGE", image_text, false},
};
#define COLUMN_COUNT ARRAY_LEN(COLUMNS)

/* A width that does not change with every second or state, so that nothing moves. */
static const int LEAST_COLS[COLUMN_COUNT] = {[COLUMN_STATE] = 10, [COLUMN_UPTIME] = 3};

struct plan {
	int at[COLUMN_COUNT], cols[COLUMN_COUNT];
	size_t count; /* columns that are shown */
	int total;
};

static struct plan make_plan(const struct model *m, int room)
{
	struct plan p = {.total = MARK_COLS};
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		int cols = MAX((int)strlen(COLUMNS[i].heading), LEAST_COLS[i]);
		for (size_t k = 0; k < m->vm_count; k++) {
			char text[CELL_SIZE];
			COLUMNS[i].text(text, m->vms[k], m->now_ms);
			cols = MAX(cols, canvas_text_width(text));
		}
		int at = p.total + (i > 0 ? GAP_COLS : 0);
		if (i == COLUMN_NAME) /* a long name is cut before the state is lost */
			cols = MAX(MIN(cols, room - at - GAP_COLS - LEAST_COLS[COLUMN_STATE]), 2);
		if (i > COLUMN_STATE && at + cols > room)
			break;
		p.at[i] = at;
		p.cols[i] = cols;
		p.total = at + cols;
		p.count++;
	}
	return p;
}

/* The second row of a VM; "" when it needs none. */
static const char *trouble_of(const struct fleet_vm *vm)
{
	const struct vm_status *s = &vm->status;
	bool broken = s->state == VM_READY && s->egress == VM_EGRESS_BROKEN;
	if (s->state != VM_FAILED && !broken)
		return "";
	if (s->reason[0])
		return s->reason;
	return broken ? "its way out does not work" : "no reason known";
}

static int height_of(const struct fleet_vm *vm)
{
	return trouble_of(vm)[0] ? 2 : 1;
}

/* Rows for VMs: what the heading and the detail line leave. */
static int body_rows(int rows)
{
	return rows >= 5 ? rows - 2 : rows >= 3 ? rows - 1 : rows;
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
	int room = body_rows(rows);
	if (v->top >= selected)
		return fill_up(v, selected, room);
	size_t top = selected;
	room -= height_of(v->model->vms[top]);
	while (top > v->top && room >= height_of(v->model->vms[top - 1]))
		room -= height_of(v->model->vms[--top]);
	return fill_up(v, top, body_rows(rows));
}

size_t list_view_page(const struct list_view *v, int rows)
{
	int room = body_rows(rows);
	size_t n = 0;
	for (size_t i = v->top; i < v->model->vm_count; i++, n++) {
		room -= height_of(v->model->vms[i]);
		if (room < 0)
			break;
	}
	return MAX(n, (size_t)1);
}

int list_view_cols(const struct model *m)
{
	return make_plan(m, CANVAS_MAX).total + 1;
}

int list_view_rows(const struct model *m)
{
	int rows = 2;
	for (size_t i = 0; i < m->vm_count; i++)
		rows += height_of(m->vms[i]);
	return rows;
}

static struct rect column_rect(struct rect row, const struct plan *p, size_t i)
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

static void draw_heading(struct canvas *c, struct rect row, const struct plan *p)
{
	for (size_t i = 0; i < p->count; i++)
		draw_field(c, column_rect(row, p, i), COLUMNS[i].right, STYLE_HEADING, COLUMNS[i].heading);
}

static enum theme_style field_style(const struct fleet_vm *vm, size_t column)
{
	if (column == COLUMN_STATE)
		return vm->settled ? words_state_style(vm->status.state) : STYLE_MUTED;
	if (column == COLUMN_DENIED)
		return STYLE_DENIED;
	if (column == COLUMN_EGRESS && vm->status.egress == VM_EGRESS_BROKEN)
		return STYLE_STATE_FAILED;
	return STYLE_PLAIN;
}

static void draw_vm(struct canvas *c, struct rect row, const struct list_view *v, const struct plan *p,
                    size_t i)
{
	const struct fleet_vm *vm = v->model->vms[i];
	bool selected = i == v->selected;
	for (size_t k = 0; k < p->count; k++) {
		char text[CELL_SIZE];
		COLUMNS[k].text(text, vm, v->model->now_ms);
		draw_field(c, column_rect(row, p, k), COLUMNS[k].right, field_style(vm, k), text);
	}
	if (selected) {
		canvas_text(c, row, 1, STYLE_PLAIN, "▸");
		canvas_restyle(c, row, v->focused ? STYLE_SELECTED : STYLE_SELECTED_IDLE);
	}
}

/* How many are out of sight; returns where it starts. */
static int draw_more(struct canvas *c, struct rect row, const struct list_view *v, size_t after)
{
	char above[WORDS_SIZE] = "", below[WORDS_SIZE] = "", text[CELL_SIZE];
	if (v->top > 0)
		snprintf(above, sizeof(above), "▲ %zu ", v->top);
	if (after < v->model->vm_count)
		snprintf(below, sizeof(below), "▼ %zu ", v->model->vm_count - after);
	snprintf(text, sizeof(text), "%s%s", above, below);
	return canvas_text_right(c, row, 0, STYLE_NOTICE, text);
}

/* Adds a piece of the line if it fits whole. */
static int add_piece(struct canvas *c, struct rect row, int at, const char *text)
{
	const char *dot = at > MARK_COLS ? " · " : "";
	if (!text[0] || at + canvas_text_width(dot) + canvas_text_width(text) > row.cols)
		return at;
	at = canvas_text(c, row, at, STYLE_MUTED, dot);
	return canvas_text(c, row, at, STYLE_MUTED, text);
}

/* What is known of the selected VM and stands in no column, with the columns that may be missing. */
static void draw_detail(struct canvas *c, struct rect row, const struct list_view *v)
{
	if (v->selected >= v->model->vm_count)
		return;
	const struct vm_status *s = &v->model->vms[v->selected]->status;
	char cpus[WORDS_SIZE] = "", memory[WORDS_SIZE] = "", tunnels[WORDS_SIZE] = "";
	if (s->cpus > 0)
		snprintf(cpus, sizeof(cpus), "%" PRIu32 " cpu%s", s->cpus, s->cpus == 1 ? "" : "s");
	if (s->memory_bytes > 0)
		words_memory(memory, s->memory_bytes);
	if (s->tunnels > 0)
		snprintf(tunnels, sizeof(tunnels), "%" PRIu32 " tunnel%s", s->tunnels,
		         s->tunnels == 1 ? "" : "s");
	const char *const pieces[] = {s->backend, s->image, cpus, memory, tunnels};
	int at = MARK_COLS;
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		at = add_piece(c, row, at, pieces[i]);
}

static void draw_empty(struct canvas *c, struct rect r, const struct model *m)
{
	if (r.cols > 2) {
		r.col++;
		r.cols -= 2;
	}
	if (m->settled)
		canvas_wrap(c, r, STYLE_PLAIN, "No VMs. Make one: ccvm up NAME --image base");
	else
		canvas_wrap(c, r, STYLE_MUTED, "looking for VMs...");
}

void list_view_draw(struct canvas *c, struct rect r, const struct list_view *v)
{
	if (rect_is_empty(r))
		return;
	if (v->model->vm_count == 0) {
		draw_empty(c, r, v->model);
		return;
	}
	struct plan plan = make_plan(v->model, r.cols);
	int row = 0, end = r.rows >= 5 ? r.rows - 1 : r.rows;
	if (r.rows >= 3)
		draw_heading(c, rect_row(r, row++), &plan);
	size_t i = v->top;
	for (; i < v->model->vm_count && row < end; i++) {
		const char *trouble = trouble_of(v->model->vms[i]);
		draw_vm(c, rect_row(r, row++), v, &plan, i);
		if (trouble[0] && row < end)
			canvas_text_cut(c, rect_row(r, row++), MARK_COLS + 2, STYLE_STATE_FAILED, trouble);
	}
	struct rect info = rect_row(r, r.rows >= 5 ? r.rows - 1 : 0);
	if (r.rows >= 3)
		info.cols = MAX(draw_more(c, info, v, i) - 1, 0);
	if (r.rows >= 5)
		draw_detail(c, info, v);
}
