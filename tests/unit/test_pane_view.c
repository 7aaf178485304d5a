/* tui/pane_view: pictures of panes (tests/screens/pane-*, grid-*, copy-*). UPDATE=1 rewrites them. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/term/snapshot.h"
#include "tests/lib/golden.h"
#include "tests/lib/picture.h"
#include "tests/lib/transcript_rig.h"
#include "tui/copy_mode.h"
#include "tui/pane_view.h"

#define NOW_MS INT64_C(1796073242123) /* 2026-11-30T21:14:02Z */
#define MINUTE (60 * INT64_C(1000))
#define PANES  9

/* Nine VMs with a terminal each, made as large as their panes, or as the scene says. */
struct scene {
	struct layout layout;
	struct fleet_vm vms[PANES];
	struct transcript_rig terminals[PANES];
	struct pane_source sources[PANES];
	struct pane_view views[PANES];
	int count;
	struct canvas canvas;
};

static const char *const NAMES[PANES] = {"alpha", "beta", "gamma", "delta", "epsilon",
                                         "zeta",  "eta",  "theta", "iota"};

static const char SHELL[] =
    "\033[32;1mroot@alpha\033[m:~# ls\r\nmain.c  日本.txt  e\xcc\x81te\xcc\x81.md\r\n"
    "\033[32;1mroot@alpha\033[m:~# git log --oneline\r\n"
    "a1b2c3d parser: one pass\r\n"
    "0f9e8d7 parser: the tokens carry their place, so that errors can say where they are\r\n"
    "\033[32;1mroot@alpha\033[m:~# ";

static void add_vm(struct scene *s, int i)
{
	struct fleet_vm *vm = &s->vms[i];
	vm->settled = true;
	vm->status.state = VM_READY;
	snprintf(vm->status.name, sizeof(vm->status.name), "%s", NAMES[i]);
	vm->status.attention = (struct vm_attention){
	    .state = i % 3 == 0 ? ATTENTION_WAITING : ATTENTION_WORKING, .at_ms = NOW_MS - (i + 2) * MINUTE};
	vm->status.terminal_count = 1;
	vm->status.terminal[0] =
	    (struct vm_terminal){.number = 1, .first = true, .attention = vm->status.attention};
	snprintf(vm->status.terminal[0].command, sizeof(vm->status.terminal[0].command), "claude");
}

static void add_terminal(struct scene *s, int i, unsigned rows, unsigned cols)
{
	transcript_rig_init(&s->terminals[i], rows, cols);
	transcript_rig_print(&s->terminals[i], SHELL);
	transcript_rig_sync(&s->terminals[i]);
	s->sources[i] =
	    (struct pane_source){.term = 1, .link = PANE_LIVE, .screen = &s->terminals[i].screen, .why = ""};
	snprintf(s->sources[i].vm, sizeof(s->sources[i].vm), "%s", NAMES[i]);
	s->views[i] = (struct pane_view){.vm = &s->vms[i], .source = &s->sources[i], .now_ms = NOW_MS};
}

static void begin(struct scene *s, const struct layout_wish *w)
{
	layout_compute(&s->layout, w);
	s->count = s->layout.pane_count;
	canvas_init(&s->canvas, w->rows, w->cols);
	for (int i = 0; i < s->count; i++) {
		struct rect r = s->layout.panes[i].body;
		add_vm(s, i);
		add_terminal(s, i, (unsigned)r.rows, (unsigned)r.cols);
	}
	s->views[0].selected = true;
}

static void end(struct scene *s)
{
	for (int i = 0; i < s->count; i++) {
		transcript_rig_finish(&s->terminals[i]);
		copy_mode_destroy(s->views[i].copy);
	}
	canvas_finish(&s->canvas);
	free(s);
}

static void draw(struct scene *s)
{
	canvas_clear(&s->canvas);
	canvas_fill(&s->canvas, s->layout.feed_rule, STYLE_BORDER, 0x2500);
	for (int i = 0; i < s->count; i++)
		pane_view_draw(&s->canvas, &s->layout, i, &s->views[i]);
	pane_view_join(&s->canvas, &s->layout);
}

/* ---- scenes ---- */

static void nothing(struct scene *s)
{
	(void)s;
}

static void three_terminals(struct scene *s)
{
	static const char *const COMMANDS[] = {"claude", "sh -l", "make check"};
	struct vm_status *v = &s->vms[0].status;
	v->terminal_count = 3;
	for (uint32_t i = 0; i < 3; i++) {
		v->terminal[i] = (struct vm_terminal){.number = i + 1, .first = i == 0};
		snprintf(v->terminal[i].command, sizeof(v->terminal[i].command), "%s", COMMANDS[i]);
	}
	v->terminal[2].attention =
	    (struct vm_attention){.state = ATTENTION_WAITING, .at_ms = NOW_MS - MINUTE};
	v->terminal[1].attention =
	    (struct vm_attention){.state = ATTENTION_IDLE, .at_ms = NOW_MS - 90 * MINUTE};
	s->sources[0].term = 2;
}

static void by_hook(struct scene *s)
{
	s->vms[0].status.terminal[0].attention =
	    (struct vm_attention){.state = ATTENTION_IDLE, .at_ms = NOW_MS};
}

static void many_terminals(struct scene *s)
{
	struct vm_status *v = &s->vms[0].status;
	v->terminal_count = 12;
	for (uint32_t i = 0; i < 12; i++) {
		v->terminal[i] = (struct vm_terminal){.number = i + 1, .first = i == 0};
		snprintf(v->terminal[i].title, sizeof(v->terminal[i].title), "a rather long title %u", i);
	}
	s->sources[0].term = 9;
}

static void typing(struct scene *s)
{
	s->views[0].typing = true;
}

static void typing_to_two(struct scene *s)
{
	s->views[0].typing = s->views[0].broadcast = true;
	s->views[3].broadcast = true;
}

static void remake(struct scene *s, unsigned rows, unsigned cols)
{
	transcript_rig_finish(&s->terminals[0]);
	add_terminal(s, 0, rows, cols);
	s->sources[0].foreign = true;
}

static void larger(struct scene *s)
{
	remake(s, 40, 90);
}

static void smaller(struct scene *s)
{
	remake(s, 7, 25);
}

/* A new size is on its way: no marks that are gone in a moment. */
static void settling(struct scene *s)
{
	remake(s, 7, 60);
	s->sources[0].foreign = false;
}

static void ended(struct scene *s)
{
	s->sources[0].link = PANE_ENDED;
	s->sources[0].why = "the program ended with code 3";
}

static void broken(struct scene *s)
{
	s->sources[0].link = PANE_BROKEN;
	s->sources[0].screen = NULL;
	s->sources[0].why = "the supervisor went away";
}

static void opening(struct scene *s)
{
	s->sources[0].link = PANE_OPENING;
	s->sources[0].screen = NULL;
	s->sources[0].slow = true;
}

static void hanging(struct scene *s)
{
	s->vms[0].hangs = true;
}

static void paused(struct scene *s)
{
	s->vms[0].status.paused = true;
}

static void less_vms(struct scene *s)
{
	s->views[2].vm = NULL;
	s->views[3].vm = NULL;
}

static void reversed(struct scene *s)
{
	transcript_rig_print(&s->terminals[0], "\033[?5h\033[31mred");
	transcript_rig_sync(&s->terminals[0]);
}

/* ---- copy mode ---- */

static void fetch_all(struct transcript_rig *r, struct copy_mode *c)
{
	uint64_t before, first;
	uint32_t most;
	while (copy_mode_wants(c, &before, &most)) {
		struct buf piece = BUF_INIT(SNAPSHOT_MIN * 2);
		unsigned n = transcript_encode(r->emulator, before, most, SNAPSHOT_MIN * 2, &piece, &first);
		copy_mode_lines(c, first, n, (struct bytes){piece.data, piece.len}, NULL);
		buf_finish(&piece);
	}
}

static struct copy_mode *copying(struct scene *s)
{
	for (int i = 0; i < 120; i++) {
		char line[100];
		snprintf(line, sizeof(line), "\r\nline %d: \033[33mwarning\033[m in file-%d.c", i, i % 7);
		transcript_rig_print(&s->terminals[0], line);
	}
	transcript_rig_print(&s->terminals[0], "\r\n");
	transcript_rig_print(&s->terminals[0], SHELL);
	transcript_rig_sync(&s->terminals[0]);
	struct rect r = s->layout.panes[0].body;
	s->views[0].copy = copy_mode_create(&s->terminals[0].screen, r.rows, r.cols);
	fetch_all(&s->terminals[0], s->views[0].copy);
	return s->views[0].copy;
}

static void act(struct copy_mode *c, const enum copy_action *actions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(copy_mode_act(c, actions[i]), COPY_RESULT_STAY);
}

static void copy_start(struct scene *s)
{
	copying(s);
}

static void copy_chars(struct scene *s)
{
	static const enum copy_action A[] = {
	    COPY_PAGE_UP, COPY_PAGE_UP, COPY_WINDOW_MIDDLE, COPY_WORD_NEXT, COPY_WORD_NEXT, COPY_SELECT,
	    COPY_DOWN,    COPY_DOWN,    COPY_WORD_END,      COPY_WORD_END,  COPY_WORD_END};
	act(copying(s), A, ARRAY_LEN(A));
}

static void copy_lines(struct scene *s)
{
	static const enum copy_action A[] = {COPY_UP, COPY_UP, COPY_SELECT_LINES, COPY_UP};
	act(copying(s), A, ARRAY_LEN(A));
}

static void copy_block(struct scene *s)
{
	static const enum copy_action A[] = {
	    COPY_FIRST, COPY_DOWN,         COPY_DOWN, COPY_DOWN, COPY_DOWN, COPY_DOWN,      COPY_RIGHT,
	    COPY_RIGHT, COPY_SELECT_BLOCK, COPY_DOWN, COPY_DOWN, COPY_DOWN, COPY_WORD_NEXT, COPY_WORD_NEXT};
	act(copying(s), A, ARRAY_LEN(A));
}

static void copy_search(struct scene *s)
{
	struct copy_mode *c = copying(s);
	assert_int_equal(copy_mode_act(c, COPY_SEARCH_BACK), COPY_RESULT_ASK);
	copy_mode_search(c, "file-3", true);
	copy_mode_search_done(c, false);
	static const enum copy_action A[] = {COPY_AGAIN, COPY_AGAIN};
	act(c, A, ARRAY_LEN(A));
}

static void copy_no_match(struct scene *s)
{
	struct copy_mode *c = copying(s);
	copy_mode_act(c, COPY_SEARCH);
	copy_mode_search(c, "nowhere", false);
}

/* ---- pictures ---- */

static const struct {
	const char *file, *title;
	struct layout_wish wish;
	void (*make)(struct scene *s);
} PICTURES[] = {
    {"pane-80x24",
     "beside the list: VM, what runs, size, attention",
     {24, 80, 34, 6, false, false, 0},
     nothing},
    {"pane-zoomed-40x12", "alone on a small screen", {12, 40, 34, 6, true, false, 0}, nothing},
    {"pane-typing-80x24",
     "typed into: heavy lines, the guest's cursor",
     {24, 80, 34, 6, false, false, 0},
     typing},
    {"pane-tabs-80x24",
     "three terminals, the second one shown",
     {24, 80, 34, 6, false, true, 0},
     three_terminals},
    {"pane-hook-40x12",
     "a hook says that the VM waits, its terminal is idle",
     {12, 40, 34, 6, true, false, 0},
     by_hook},
    {"pane-tabs-40x12", "more tabs than fit", {12, 40, 34, 6, true, true, 0}, many_terminals},
    {"pane-larger-40x12", "another console made it larger", {12, 40, 34, 6, true, false, 0}, larger},
    {"pane-smaller-40x12", "another console made it smaller", {12, 40, 34, 6, true, false, 0}, smaller},
    {"pane-settling-40x12", "a new size is on its way", {12, 40, 34, 6, true, false, 0}, settling},
    {"pane-ended-40x12", "its program has ended", {12, 40, 34, 6, true, false, 0}, ended},
    {"pane-broken-40x12", "the connection broke", {12, 40, 34, 6, true, false, 0}, broken},
    {"pane-opening-40x12", "it takes long to open", {12, 40, 34, 6, true, false, 0}, opening},
    {"pane-hanging-40x12", "its supervisor does not answer", {12, 40, 34, 6, true, false, 0}, hanging},
    {"pane-paused-40x12", "the VM is paused", {12, 40, 34, 6, true, false, 0}, paused},
    {"pane-reversed-40x12", "a program reversed the screen", {12, 40, 34, 6, true, false, 0}, reversed},
    {"grid-2-80x24", "two panes", {24, 80, 34, 6, false, false, 2}, nothing},
    {"grid-2-40x24", "two panes on a narrow screen", {24, 40, 34, 6, false, false, 2}, nothing},
    {"grid-4-80x24", "four panes", {24, 80, 34, 6, false, false, 4}, nothing},
    {"grid-4-typing-80x24",
     "the first is typed into, and the last as well",
     {24, 80, 34, 6, false, false, 4},
     typing_to_two},
    {"grid-4-of-2-80x24", "four places, two VMs", {24, 80, 34, 6, false, false, 4}, less_vms},
    {"grid-6-80x24", "six panes", {24, 80, 34, 6, false, false, 6}, nothing},
    {"grid-9-110x30", "nine panes", {30, 110, 34, 6, false, false, 9}, nothing},
    {"grid-9-40x12", "nine wanted on a small screen: one", {12, 40, 34, 6, false, false, 9}, nothing},
    {"copy-80x24", "copy mode begins where the screen is", {24, 80, 34, 6, false, false, 0}, copy_start},
    {"copy-chars-80x24",
     "characters are selected, in the history",
     {24, 80, 34, 6, false, false, 0},
     copy_chars},
    {"copy-chars-40x12", "the same on a small screen", {12, 40, 34, 6, true, false, 0}, copy_chars},
    {"copy-lines-40x12",
     "lines are selected: all rows of a wrapped one",
     {12, 40, 34, 6, true, false, 0},
     copy_lines},
    {"copy-block-80x24",
     "a rectangle is selected, from the oldest line on",
     {24, 80, 34, 6, false, false, 0},
     copy_block},
    {"copy-search-80x24",
     "matches of a search, the current one, and how many",
     {24, 80, 34, 6, false, false, 0},
     copy_search},
    {"copy-search-40x12", "the same on a small screen", {12, 40, 34, 6, true, false, 0}, copy_search},
    {"copy-no-match-40x12", "nothing is found", {12, 40, 34, 6, true, false, 0}, copy_no_match},
};

static void pictures_are_as_they_were(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(PICTURES); i++) {
		char path[128];
		struct scene *s = mem_alloc(sizeof(*s));
		begin(s, &PICTURES[i].wish);
		PICTURES[i].make(s);
		draw(s);
		char *text = picture_of(PICTURES[i].title, &s->canvas);
		snprintf(path, sizeof(path), "tests/screens/%s.screen", PICTURES[i].file);
		failed += !golden_check(path, text);
		free(text);
		end(s);
	}
	assert_int_equal(failed, 0);
}

/* Wide cells at every place of the edge, every size of terminal and pane: nothing leaves the pane. */
static void nothing_leaves_its_pane(void **state)
{
	(void)state;
	static const char WIDE[] = "日本語日本語日本語日本語\r\na日本語日本語日本語日本語\r\n";
	for (int cols = 2; cols < 24; cols++) {
		for (int term_cols = 2; term_cols < 24; term_cols += 3) {
			for (int foreign = 0; foreign < 2; foreign++) {
				struct scene *s = mem_alloc(sizeof(*s));
				begin(s, &(struct layout_wish){.rows = 9, .cols = cols, .zoomed = true});
				remake(s, 5, (unsigned)term_cols);
				transcript_rig_print(&s->terminals[0], WIDE);
				transcript_rig_sync(&s->terminals[0]);
				s->sources[0].foreign = foreign;
				draw(s);
				for (int row = 0; row < 9; row++) {
					const struct canvas_cell *last = canvas_at(&s->canvas, row, cols - 1);
					assert_int_not_equal(last->cell.width, CELL_WIDE);
					assert_int_not_equal(canvas_at(&s->canvas, row, 0)->cell.width,
					                     CELL_TAIL);
				}
				end(s);
			}
		}
	}
}

static void tabs_are_found_where_they_are_drawn(void **state)
{
	(void)state;
	struct scene *s = mem_alloc(sizeof(*s));
	begin(s, &(struct layout_wish){.rows = 12, .cols = 60, .zoomed = true, .tabs = true});
	many_terminals(s);
	struct rect tabs = s->layout.panes[0].tabs;
	draw(s);
	int seen = 0;
	for (int col = 0; col < tabs.cols; col++) {
		int index = pane_view_tab_at(&s->views[0], tabs, col);
		const struct canvas_cell *at = canvas_at(&s->canvas, tabs.row, tabs.col + col);
		assert_true(index >= 0 && index < 12);
		assert_int_equal(at->style == STYLE_SELECTED, index == 8);
		seen |= 1 << index;
	}
	assert_true(seen & 1 << 8);
	assert_false(seen & 1);
	assert_int_equal(pane_view_tab_at(&s->views[0], tabs, -1), -1);
	end(s);
}

static void cells_are_found_behind_the_pane(void **state)
{
	(void)state;
	struct scene *s = mem_alloc(sizeof(*s));
	int row, col;
	begin(s, &(struct layout_wish){.rows = 12, .cols = 40, .zoomed = true});
	struct rect body = s->layout.panes[0].body;
	assert_true(pane_view_cell_at(&s->views[0], body, 3, 4, &row, &col));
	assert_int_equal(row, 3);
	assert_int_equal(col, 4);
	remake(s, 40, 90); /* shown around its cursor */
	transcript_rig_print(&s->terminals[0], "\033[40;90H");
	transcript_rig_sync(&s->terminals[0]);
	assert_true(pane_view_cell_at(&s->views[0], body, 7, 38, &row, &col));
	assert_int_equal(row, 39);
	assert_int_equal(col, 89);
	assert_false(pane_view_cell_at(&s->views[0], body, 8, 0, &row, &col)); /* the mark */
	assert_false(pane_view_cell_at(&s->views[0], body, 0, 39, &row, &col));
	s->sources[0].link = PANE_ENDED;
	assert_false(pane_view_cell_at(&s->views[0], body, 0, 0, &row, &col));
	end(s);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pictures_are_as_they_were),
	    cmocka_unit_test(nothing_leaves_its_pane),
	    cmocka_unit_test(tabs_are_found_where_they_are_drawn),
	    cmocka_unit_test(cells_are_found_behind_the_pane),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
