/* The columns are a table: each has a heading, a least width, a rank and a function that writes its text. Where the list
 * is narrow the columns with the highest rank go first, and the rest keeps the order of the table. Widths come from the
 * texts, but are never less than what a column usually needs, so that nothing moves from one second to the next. */
#include "tui/list_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/canvas.h"
#include "tui/words.h"

#define GAP_COLS       2  /* between columns; one in a narrow list, but not after the name */
#define WIDE_RANKS     6  /* a list without room for the columns of these ranks is narrow */
#define NAME_LEAST     12 /* a longer name is cut to this before a column of the first ranks is left out */
#define NAME_MUST_HAVE 4  /* columns of these ranks (and the name): state, denied, for */

/* ---- what stands in a column ---- */

struct column {
	const char *heading;
	void (*text)(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms);
	int least;
	int rank;   /* 0 is shown always, the highest is the first to go */
	bool right; /* numbers stand at the right edge of their column */
};

static void name_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	snprintf(out, LIST_TEXT_SIZE, "%s", vm->status.name);
}

static void state_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	struct words_look look = words_vm(vm, NULL);
	snprintf(out, LIST_TEXT_SIZE, "%s %s", look.glyph, look.word);
}

static void duration_text(char out[LIST_TEXT_SIZE], int64_t since_ms, int64_t now_ms)
{
	char words[WORDS_SIZE] = "";
	if (since_ms > 0)
		words_duration(words, now_ms - since_ms);
	snprintf(out, LIST_TEXT_SIZE, "%s", words);
}

static void for_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	int64_t since;
	words_vm(vm, &since);
	duration_text(out, since, now_ms);
}

static void uptime_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	duration_text(out, vm_state_is_live(vm->status.state) ? vm->status.started_ms : 0, now_ms);
}

/* The guest tells all of it or nothing. */
static bool has_vitals(const struct vm_status *s)
{
	return s->state == VM_READY && (s->cpu_permille || s->mem_used_kib || s->mem_total_kib);
}

static void cpu_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	char words[WORDS_SIZE] = "";
	if (has_vitals(&vm->status))
		words_cpu(words, vm->status.cpu_permille);
	snprintf(out, LIST_TEXT_SIZE, "%s", words);
}

static void mem_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	char words[WORDS_SIZE] = "";
	if (has_vitals(&vm->status))
		words_memory(words, MIN(vm->status.mem_used_kib, UINT64_MAX >> 10) << 10);
	snprintf(out, LIST_TEXT_SIZE, "%s", words);
}

static void count_text(char out[LIST_TEXT_SIZE], uint32_t n)
{
	out[0] = '\0';
	if (n > 0)
		snprintf(out, LIST_TEXT_SIZE, "%" PRIu32, n);
}

static void denied_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	const struct vm_status *s = &vm->status;
	count_text(out, s->denied > s->denied_seen ? s->denied - s->denied_seen : 0);
}

static void tunnels_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	count_text(out, vm->status.tunnels);
}

static void backend_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	snprintf(out, LIST_TEXT_SIZE, "%s", vm->status.backend);
}

static void image_text(char out[LIST_TEXT_SIZE], const struct fleet_vm *vm, int64_t now_ms)
{
	(void)now_ms;
	snprintf(out, LIST_TEXT_SIZE, "%s", vm->status.image);
}

static const struct column COLUMNS[] = {
    [LIST_NAME] = {"VM", name_text, 2, 0, false},
    [LIST_STATE] = {"STATE", state_text, 11, 1, false},
    [LIST_FOR] = {"FOR", for_text, 3, 3, true},
    [LIST_CPU] = {"CPU", cpu_text, 4, 4, true},
    [LIST_MEM] = {"MEM", mem_text, 4, 5, true},
    [LIST_DENIED] = {"DENIED", denied_text, 6, 2, true},
    [LIST_UP] = {"UP", uptime_text, 3, 6, true},
    [LIST_TUNNELS] = {"TUNNELS", tunnels_text, 7, 7, true},
    [LIST_BACKEND] = {"BACKEND", backend_text, 8, 8, false},
    [LIST_IMAGE] = {"IMAGE", image_text, 6, 9, false},
};
static_assert(ARRAY_LEN(COLUMNS) == LIST_COLUMN_COUNT, "every column is there");

void list_column_text(char out[LIST_TEXT_SIZE], enum list_column column, const struct fleet_vm *vm,
                      int64_t now_ms)
{
	COLUMNS[column].text(out, vm, now_ms);
}

bool list_column_is_right(enum list_column column)
{
	return COLUMNS[column].right;
}

/* ---- where columns stand ---- */

void list_column_heading(char out[LIST_TEXT_SIZE], enum list_column column, enum list_column sorted)
{
	snprintf(out, LIST_TEXT_SIZE, "%s%s", COLUMNS[column].heading, column == sorted ? "▼" : "");
}

static int natural_cols(const struct model *m, enum list_column column, enum list_column sorted)
{
	char text[LIST_TEXT_SIZE];
	list_column_heading(text, column, sorted);
	int cols = MAX(canvas_text_width(text), COLUMNS[column].least);
	for (size_t i = 0; i < m->vm_count; i++) {
		COLUMNS[column].text(text, m->vms[i], m->now_ms);
		cols = MAX(cols, canvas_text_width(text));
	}
	return cols;
}

static enum list_column column_of_rank(int rank)
{
	int i = 0;
	while (COLUMNS[i].rank != rank)
		i++;
	return (enum list_column)i;
}

static int gap_before(const struct list_plan *p, enum list_column i)
{
	return i == LIST_NAME ? 0 : i == LIST_STATE ? GAP_COLS : p->gap;
}

/* Takes columns in the order of their ranks until one has no room. Returns the rank of that one. */
static int choose_columns(struct list_plan *p, const int natural[LIST_COLUMN_COUNT], int room, int gap)
{
	*p = (struct list_plan){.gap = gap, .total = LIST_MARK_COLS};
	int must_have = LIST_MARK_COLS, rank = 1;
	for (int i = LIST_STATE; i < LIST_COLUMN_COUNT; i++) {
		if (COLUMNS[i].rank < NAME_MUST_HAVE)
			must_have += gap_before(p, (enum list_column)i) + natural[i];
	}
	int name = MIN(natural[LIST_NAME], MAX(room - must_have, NAME_LEAST));
	name = MAX(MIN(name, room - LIST_MARK_COLS - GAP_COLS - COLUMNS[LIST_STATE].least), 2);
	p->cols[LIST_NAME] = name;
	p->total += name;
	for (; rank < LIST_COLUMN_COUNT; rank++) {
		enum list_column i = column_of_rank(rank);
		int cols = gap_before(p, i) + natural[i];
		if (rank > 1 && p->total + cols > room)
			break;
		p->cols[i] = natural[i];
		p->total += cols;
	}
	return rank;
}

/* Numbers should not touch the border, and columns stand two apart; but to see more of the first ones is better. */
static const struct {
	int free, gap;
} WAYS[] = {{1, GAP_COLS}, {1, 1}, {0, 1}};

struct list_plan list_plan_make(const struct model *m, enum list_column sorted, int room)
{
	struct list_plan p = {.total = 0};
	int natural[LIST_COLUMN_COUNT];
	for (int i = 0; i < LIST_COLUMN_COUNT; i++)
		natural[i] = natural_cols(m, (enum list_column)i, sorted);
	for (size_t i = 0, best = 0; i < ARRAY_LEN(WAYS) && best < WIDE_RANKS; i++) {
		struct list_plan way;
		int free = room >= 2 * NAME_LEAST ? WAYS[i].free : 0; /* with less each column counts */
		int rank = choose_columns(&way, natural, room - free, WAYS[i].gap);
		if ((size_t)rank <= best)
			continue;
		best = (size_t)rank;
		p = way;
	}
	int at = LIST_MARK_COLS;
	for (int i = 0; i < LIST_COLUMN_COUNT; i++) {
		p.at[i] = at + (p.cols[i] ? gap_before(&p, (enum list_column)i) : 0);
		at = p.cols[i] ? p.at[i] + p.cols[i] : at;
	}
	return p;
}
