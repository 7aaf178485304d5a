/* The text is lines of "label\ttext". In a wide box the labels have a column of their own, in a narrow one each stands
 * above its text. Every line is drawn on a sheet of its own height, of which the part that is in sight is copied: so a text
 * may be much longer than a canvas can be. */
#include "tui/detail_view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "tui/box.h"
#include "tui/words.h"

#define BOX_COLS     100
#define LABEL_COLS   13 /* the longest label and a gap */
#define WIDE_COLS    34
#define LABEL_INDENT 2 /* of the text below its label */

/* ---- text ---- */

static void add(struct str *out, const char *label, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A text is one line, whatever a guest has put into it. */
static void add(struct str *out, const char *label, const char *fmt, ...)
{
	char text[2048];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++) {
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	}
	str_appendf(out, "%s\t%s\n", label, text);
}

static void add_text(struct str *out, const char *label, const char *text)
{
	if (text[0])
		add(out, label, "%s", text);
}

static void add_gap(struct str *out)
{
	str_append(out, "\n");
}

static void add_moment(struct str *out, const char *label, int64_t wall_ms, int64_t now_ms)
{
	char moment[WORDS_SIZE], ago[WORDS_SIZE];
	if (wall_ms <= 0)
		return;
	words_moment(moment, wall_ms);
	words_duration(ago, now_ms - wall_ms);
	add(out, label, "%s, %s ago", moment, ago);
}

static void add_attention(struct str *out, const struct vm_attention *a, int64_t now_ms)
{
	if (a->state == ATTENTION_NONE)
		return;
	struct words_look look = words_attention(a);
	char age[WORDS_SIZE];
	words_duration(age, now_ms - a->at_ms);
	add(out, "agent", "%s %s for %s%s", look.glyph, vm_attention_name(a->state), age,
	    a->seen ? ", seen" : "");
	add_text(out, "says", a->text);
	if (a->source != ATTENTION_BY_NOTHING)
		add(out, "told by", "%s", vm_attention_source_name(a->source));
}

static void add_state(struct str *out, const struct fleet_vm *vm)
{
	const struct vm_status *s = &vm->status;
	struct words_look look = words_state(s->state);
	add(out, "state", "%s %s%s%s", look.glyph, look.word,
	    s->paused ? ", paused: its CPUs stand still" : "",
	    vm->settled ? "" : ", as it was last recorded");
	add_text(out, "reason", s->reason);
	if (!vm->hangs)
		return;
	add(out, "no answer",
	    "Its supervisor (pid %" PRIu32
	    ") runs but has not answered for %d seconds or more. When it is only "
	    "busy this goes away by itself. To end it and its VM: kill -9 %" PRIu32 "; to start the VM again "
	    "then: ccvm up %s",
	    s->supervisor_pid, FLEET_HANGS_MS / 1000, s->supervisor_pid, s->name);
}

static void add_egress(struct str *out, const struct vm_status *s)
{
	static const char *const WORDS[] = {[VM_EGRESS_UNKNOWN] = "not tried yet",
	                                    [VM_EGRESS_OK] = "works",
	                                    [VM_EGRESS_BROKEN] = "BROKEN: nothing gets out, allowed or not"};
	static_assert(ARRAY_LEN(WORDS) == VM_EGRESS_COUNT, "every egress state has words");
	if (s->state == VM_READY && (unsigned)s->egress < VM_EGRESS_COUNT)
		add_text(out, "way out", WORDS[s->egress]);
	add(out, "denied", "%" PRIu32 " in all, %" PRIu32 " since you last looked", s->denied,
	    s->denied > s->denied_seen ? s->denied - s->denied_seen : 0);
	if (vm_state_is_live(s->state))
		add(out, "tunnels", "%" PRIu32 " open", s->tunnels);
}

static void add_machine(struct str *out, const struct vm_status *s, int64_t now_ms)
{
	char has[WORDS_SIZE], used[WORDS_SIZE], total[WORDS_SIZE], cpu[WORDS_SIZE];
	words_memory(has, s->memory_bytes);
	add(out, "machine", "%" PRIu32 " cpu%s, %s of memory", s->cpus, s->cpus == 1 ? "" : "s", has);
	if (s->state == VM_READY && (s->cpu_permille || s->mem_used_kib || s->mem_total_kib)) {
		words_cpu(cpu, s->cpu_permille);
		words_memory(used, MIN(s->mem_used_kib, UINT64_MAX >> 10) << 10);
		words_memory(total, MIN(s->mem_total_kib, UINT64_MAX >> 10) << 10);
		add(out, "in use", "%s of one cpu, %s of the %s that the guest sees", cpu, used, total);
	}
	add_text(out, "image", s->image);
	add_text(out, "backend", s->backend);
	add_moment(out, "started", s->started_ms, now_ms);
	add_moment(out, "ready", s->ready_ms, now_ms);
	if (!vm_state_is_live(s->state))
		add_moment(out, "ended", s->attention.at_ms, now_ms);
	if (s->supervisor_pid && vm_state_is_live(s->state))
		add(out, "processes", "supervisor %" PRIu32 ", VMM %" PRIu32, s->supervisor_pid, s->vmm_pid);
}

static void add_terminal(struct str *out, const struct vm_terminal *t, int64_t now_ms)
{
	char label[WORDS_SIZE];
	snprintf(label, sizeof(label), "terminal %" PRIu32, t->number);
	add_gap(out);
	add(out, label, "%s%s%ux%u, watched by %" PRIu32 "%s", t->command, t->command[0] ? ", " : "", t->cols,
	    t->rows, t->watchers, t->first ? ", the first one" : "");
	add_text(out, "title", t->title);
	add_attention(out, &t->attention, now_ms);
}

void detail_of_vm(struct str *out, const struct fleet_vm *vm, int64_t now_ms)
{
	const struct vm_status *s = &vm->status;
	str_clear(out);
	add_state(out, vm);
	if (vm_state_is_live(s->state))
		add_attention(out, &s->attention, now_ms);
	add_gap(out);
	add_egress(out, s);
	add_machine(out, s, now_ms);
	for (uint32_t i = 0; i < MIN(s->terminal_count, (uint32_t)VM_TERMINALS_MOST); i++)
		add_terminal(out, &s->terminal[i], now_ms);
}

static void add_verdict(struct str *out, const struct feed_row *row)
{
	static const char *const WORDS[] = {
	    [FEED_OPEN] = "let through",
	    [FEED_DENY] = "DENIED",
	    [FEED_FAIL] = "allowed, but it could not be done",
	    [FEED_CLOSE] = "the tunnel is closed",
	    [FEED_OTHER] = "something about the proxy itself",
	};
	static_assert(ARRAY_LEN(WORDS) == FEED_EVENT_COUNT, "every event has words");
	const struct feed_entry *e = row->entry;
	if ((unsigned)e->event < FEED_EVENT_COUNT)
		add_text(out, "what", WORDS[e->event]);
	add_text(out, "reason", e->why);
	add_text(out, "by rule", e->rule);
}

static void add_remedy(struct str *out, const struct feed_row *row)
{
	char rule[FEED_RULE_SIZE];
	struct err e = ERR_INIT;
	if (row->entry->event != FEED_DENY)
		return;
	if (feed_row_rule(row, rule, &e))
		add(out, "to allow it", "ccvm allow %s %s", row->entry->vm, rule);
	else
		add(out, "to allow it", "not possible: %s", e.msg);
}

void detail_of_row(struct str *out, const struct feed_row *row, int64_t now_ms)
{
	const struct feed_entry *e = row->entry;
	char up[WORDS_SIZE], down[WORDS_SIZE], took[WORDS_SIZE];
	str_clear(out);
	add_text(out, "VM", e->vm);
	add_text(out, "host", e->target);
	add_verdict(out, row);
	add_remedy(out, row);
	add_gap(out);
	if (row->count > 1) {
		add(out, "how often", "%" PRIu64 " times", row->count);
		add_moment(out, "first", row->first_ms, now_ms);
		add_moment(out, "last", e->time_ms, now_ms);
	} else {
		add_moment(out, "when", e->time_ms, now_ms);
	}
	if (e->event == FEED_CLOSE) {
		words_bytes(up, e->up);
		words_bytes(down, e->down);
		words_duration(took, (int64_t)MIN(e->ms, (uint64_t)INT64_MAX));
		add(out, "went through", "%s out, %s in, open for %s", up, down, took);
	}
}

/* ---- picture ---- */

struct line {
	const char *label, *text; /* borrowed; text "" when there is none */
	int rows;
};

struct page {
	char *copy; /* owned: the text, cut into strings */
	struct line *lines;
	size_t count;
	int cols, rows; /* of the whole text */
};

static int text_indent(const struct page *p)
{
	return p->cols >= WIDE_COLS ? LABEL_COLS : MIN(LABEL_INDENT, p->cols - 1);
}

/* Rows of the label above its text; 0 when it stands beside it. */
static int label_rows(const struct page *p, const struct line *l)
{
	return p->cols >= WIDE_COLS ? 0 : canvas_wrap_rows(p->cols, l->label);
}

static int rows_of(const struct page *p, const struct line *l)
{
	return MAX(label_rows(p, l) + canvas_wrap_rows(p->cols - text_indent(p), l->text), 1);
}

static void page_init(struct page *p, const char *text, int cols)
{
	*p = (struct page){.copy = mem_strdup(text), .cols = cols};
	size_t count = 0;
	for (const char *c = text; *c; c++)
		count += *c == '\n';
	p->lines = mem_array(count + 1, sizeof(*p->lines));
	for (char *at = p->copy; *at;) {
		char *end = at + strcspn(at, "\n");
		char *next = *end ? end + 1 : end;
		*end = '\0';
		char *tab = strchr(at, '\t');
		struct line *l = &p->lines[p->count++];
		*l = (struct line){.label = at, .text = tab ? tab + 1 : ""};
		if (tab)
			*tab = '\0';
		l->rows = rows_of(p, l);
		p->rows += l->rows;
		at = next;
	}
}

static void page_finish(struct page *p)
{
	free(p->copy);
	free(p->lines);
}

/* The rows of a line from `from` on, into the top of `r`. */
static void draw_line(struct canvas *c, struct rect r, const struct page *p, const struct line *l, int from)
{
	struct canvas sheet;
	int indent = text_indent(p);
	int above = label_rows(p, l);
	canvas_init(&sheet, l->rows, p->cols);
	struct rect all = {.rows = l->rows, .cols = p->cols};
	struct rect text = {.row = above, .col = indent, .rows = l->rows - above, .cols = p->cols - indent};
	canvas_wrap(&sheet, all, STYLE_MUTED, l->label);
	canvas_wrap(&sheet, text, STYLE_PLAIN, l->text);
	r.rows = MIN(r.rows, l->rows - from);
	canvas_blit(c, r, &sheet, from);
	canvas_finish(&sheet);
}

static void draw_page(struct canvas *c, struct rect r, const struct page *p, int top)
{
	int row = -top;
	for (size_t i = 0; i < p->count && row < r.rows; i++) {
		int from = MAX(-row, 0);
		struct rect rest = {
		    .row = r.row + MAX(row, 0), .col = r.col, .rows = r.rows - MAX(row, 0), .cols = r.cols};
		if (from < p->lines[i].rows)
			draw_line(c, rest, p, &p->lines[i], from);
		row += p->lines[i].rows;
	}
}

/* What is below the edge matters more than the keys. */
static void foot_text(char out[256], const char *keys, int below, int cols)
{
	char more[48] = "";
	if (below > 0)
		snprintf(more, sizeof(more), "▼ %d more", below);
	snprintf(out, 256, "%s%s%s", keys, keys[0] && more[0] ? " ─ " : "", more);
	if (canvas_text_width(out) + 2 > cols)
		snprintf(out, 256, "%s", more);
}

int detail_view_draw(struct canvas *c, int top, const char *title, const char *text, const char *keys)
{
	struct page page;
	char foot[256];
	bool framed = c->rows >= 3 && c->cols >= 10;
	int cols = MIN(BOX_COLS, c->cols) - (framed ? 4 : 0), room = c->rows - (framed ? 2 : 0);
	page_init(&page, text, cols);
	int rows = MIN(page.rows, room);
	top = MAX(MIN(top, page.rows - rows), 0);
	foot_text(foot, keys, page.rows - rows - top, cols);
	draw_page(c, box_draw(c, rows, cols, title, foot[0] ? foot : NULL), &page, top);
	c->cursor_visible = false;
	page_finish(&page);
	return top;
}
