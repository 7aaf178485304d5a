/* tui/list_view: pictures of the list (tests/screens/list-*), and what must hold at every size. UPDATE=1 rewrites them. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "tests/lib/golden.h"
#include "tests/lib/picture.h"
#include "tui/list_view.h"

#define NOW_MS  1796073242123 /* 2026-11-30T21:14:02Z */
#define SECOND  INT64_C(1000)
#define MINUTE  (60 * SECOND)
#define HOUR    (60 * MINUTE)
#define VM_MOST 60

struct scene {
	struct fleet_vm vms[VM_MOST];
	const struct fleet_vm *list[VM_MOST];
	bool marked[VM_MOST];
	struct model model;
	struct list_view view;
};

static struct vm_status *add_vm(struct scene *s, const char *name, enum vm_state state, int64_t age_ms)
{
	struct fleet_vm *vm = &s->vms[s->model.vm_count];
	vm->settled = true;
	vm->status = (struct vm_status){.state = state, .cpus = 1, .memory_bytes = 512ull << 20};
	snprintf(vm->status.name, sizeof(vm->status.name), "%s", name);
	snprintf(vm->status.backend, sizeof(vm->status.backend), "qemu-tcg");
	snprintf(vm->status.image, sizeof(vm->status.image), "base");
	vm->status.started_ms = NOW_MS - age_ms;
	vm->status.ready_ms = state == VM_READY ? NOW_MS - age_ms + 4 * SECOND : 0;
	vm->status.egress = state == VM_READY ? VM_EGRESS_OK : VM_EGRESS_UNKNOWN;
	vm->status.supervisor_pid = 4711;
	s->list[s->model.vm_count++] = vm;
	return &vm->status;
}

static void set_attention(struct vm_status *s, enum vm_attention_state state, int64_t age_ms, bool seen,
                          const char *text)
{
	s->attention = (struct vm_attention){
	    .state = state, .at_ms = NOW_MS - age_ms, .seen = seen, .source = ATTENTION_BY_HOOK};
	snprintf(s->attention.text, sizeof(s->attention.text), "%s", text);
}

static void set_vitals(struct vm_status *s, uint32_t permille, uint64_t mib)
{
	s->cpu_permille = permille;
	s->mem_used_kib = mib << 10;
	s->mem_total_kib = 2u << 20;
}

/* The four of the sketch. */
static void fill_four(struct scene *s)
{
	struct vm_status *alpha = add_vm(s, "alpha", VM_READY, 40 * MINUTE);
	set_attention(
	    alpha, ATTENTION_WAITING, 2 * MINUTE, false,
	    "I need two things from the host before I can go on: the release notes, and the branch pushed.");
	set_vitals(alpha, 30, 412);
	alpha->denied = 14;
	alpha->tunnels = 2;
	alpha->terminal_count = 2;
	struct vm_status *beta = add_vm(s, "beta", VM_READY, 3 * HOUR);
	set_attention(beta, ATTENTION_WORKING, 11 * SECOND, false, "");
	set_vitals(beta, 637, 890);
	beta->denied = 120;
	beta->denied_seen = 118;
	struct vm_status *gamma = add_vm(s, "gamma", VM_READY, 26 * HOUR);
	set_attention(gamma, ATTENTION_IDLE, HOUR, true, "");
	set_vitals(gamma, 0, 210);
	struct vm_status *delta = add_vm(s, "delta", VM_FAILED, 5 * MINUTE);
	snprintf(delta->reason, sizeof(delta->reason), "not ready after 120 s");
	set_attention(delta, ATTENTION_FAILED, 5 * MINUTE, false, delta->reason);
}

/* Each thing that can stand in the column STATE. */
static void fill_states(struct scene *s)
{
	set_attention(add_vm(s, "asks", VM_READY, HOUR), ATTENTION_WAITING, 2 * MINUTE, false, "may I push?");
	set_attention(add_vm(s, "asked", VM_READY, HOUR), ATTENTION_WAITING, 9 * MINUTE, true, "may I push?");
	set_attention(add_vm(s, "broken", VM_READY, HOUR), ATTENTION_FAILED, MINUTE, false,
	              "the tests do not pass");
	set_attention(add_vm(s, "broken-seen", VM_READY, HOUR), ATTENTION_FAILED, MINUTE, true, "");
	set_attention(add_vm(s, "busy", VM_READY, HOUR), ATTENTION_WORKING, 11 * SECOND, false, "");
	set_attention(add_vm(s, "done", VM_READY, HOUR), ATTENTION_FINISHED, 3 * MINUTE, false, "");
	set_attention(add_vm(s, "done-seen", VM_READY, HOUR), ATTENTION_FINISHED, 3 * MINUTE, true, "");
	set_attention(add_vm(s, "idle", VM_READY, HOUR), ATTENTION_IDLE, 30 * MINUTE, true, "");
	add_vm(s, "quiet", VM_READY, HOUR);
	struct vm_status *paused = add_vm(s, "still", VM_READY, HOUR);
	paused->paused = true;
	set_attention(paused, ATTENTION_WORKING, HOUR, false, "");
	add_vm(s, "new", VM_CREATING, SECOND);
	add_vm(s, "boots", VM_BOOTING, 4 * SECOND);
	add_vm(s, "ends", VM_STOPPING, HOUR);
	add_vm(s, "ended", VM_STOPPED, HOUR);
	add_vm(s, "dead", VM_FAILED, HOUR);
	struct vm_status *cut_off = add_vm(s, "cut-off", VM_READY, HOUR);
	cut_off->egress = VM_EGRESS_BROKEN;
	snprintf(cut_off->reason, sizeof(cut_off->reason), "the relay in the guest does not listen");
	add_vm(s, "hangs", VM_READY, HOUR);
	s->vms[s->model.vm_count - 1].hangs = true;
	add_vm(s, "unknown", VM_READY, HOUR);
	s->vms[s->model.vm_count - 1].settled = false;
}

static void fill_fifty(struct scene *s)
{
	for (int i = 0; i < 50; i++) {
		char name[VM_NAME_MAX + 1];
		snprintf(name, sizeof(name), "agent-%02d", i);
		struct vm_status *vm = add_vm(s, name, i % 7 == 3 ? VM_STOPPED : VM_READY, (i + 1) * MINUTE);
		if (i % 7 != 3)
			set_attention(vm, i < 4 ? ATTENTION_WAITING : ATTENTION_WORKING, i * SECOND, false,
			              "");
	}
	s->view.selected = 30;
	s->view.top = 10;
}

static void fill_marked(struct scene *s)
{
	fill_four(s);
	s->marked[0] = s->marked[2] = true;
	s->view.marked = s->marked;
	s->view.selected = 2;
	s->view.sorted = LIST_CPU;
}

static void fill_filtered(struct scene *s)
{
	fill_four(s);
	s->model.vm_count = 2;
	s->view.filter = "ta";
	s->view.unfiltered = 12;
	s->view.selected = 1;
}

static void fill_no_match(struct scene *s)
{
	s->view.filter = "zeta";
	s->view.unfiltered = 12;
}

static void fill_none(struct scene *s)
{
	s->view.new_vm_key = "N";
}

static void fill_unfocused(struct scene *s)
{
	fill_four(s);
	s->view.focused = false;
	s->view.selected = 3;
}

static void fill_hostile(struct scene *s)
{
	struct vm_status *vm = add_vm(s, "alpha-with-a-very-long-name-0123", VM_READY, MINUTE);
	set_attention(vm, ATTENTION_WAITING, SECOND, false,
	              "\x1b[2J\x1b]0;x\x07 \xe2\x80\xae"
	              "evil \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb e\xcc\x81 \xff\xfe "
	              "\xe6\x97\xa5\xe6\x9c\xac");
	vm->denied = UINT32_MAX;
	vm->cpu_permille = UINT32_MAX;
	vm->mem_used_kib = UINT64_MAX;
	vm = add_vm(s, "beta", VM_FAILED, -HOUR);
	snprintf(vm->reason, sizeof(vm->reason), "guest said \x1b[2J\x9b and \r\n more");
	vm->denied_seen = 7; /* more than there are */
}

static const struct {
	const char *file, *title;
	int rows, cols;
	void (*fill)(struct scene *s);
} PICTURES[] = {
    {"list-four-49x20", "the list of a 110 column screen: who waits, who failed and why", 20, 49, fill_four},
    {"list-four-35x12", "the list of an 80 column screen", 12, 35, fill_four},
    {"list-four-40x8", "the list of a 40 column screen", 8, 40, fill_four},
    {"list-four-20x3", "the list of the smallest screen", 3, 20, fill_four},
    {"list-four-110x10", "room for all columns", 10, 110, fill_four},
    {"list-states-60x24", "each state and each attention has a glyph and a word of its own", 24, 60,
     fill_states},
    {"list-fifty-49x10", "fifty VMs, one in the middle selected", 10, 49, fill_fifty},
    {"list-marked-49x10", "two are marked; the order is that of CPU", 10, 49, fill_marked},
    {"list-filter-49x8", "a filter", 8, 49, fill_filtered},
    {"list-no-match-40x4", "a filter that lets nothing through", 4, 40, fill_no_match},
    {"list-empty-49x4", "no VMs: what to do", 4, 49, fill_none},
    {"list-unfocused-49x9", "the keys go elsewhere; the selected one failed", 9, 49, fill_unfocused},
    {"list-hostile-49x12", "nothing of a guest reaches the screen raw", 12, 49, fill_hostile},
};

static struct scene *make_scene(void (*fill)(struct scene *s))
{
	struct scene *s = mem_alloc(sizeof(*s));
	s->model = (struct model){.vms = s->list, .settled = true, .now_ms = NOW_MS};
	s->view = (struct list_view){.model = &s->model, .focused = true, .sorted = LIST_NO_COLUMN};
	fill(s);
	return s;
}

static void draw(struct scene *s, struct canvas *c, int rows, int cols)
{
	canvas_resize(c, rows, cols);
	canvas_clear(c);
	s->view.top = list_view_scroll(&s->view, rows);
	list_view_draw(c, (struct rect){.rows = rows, .cols = cols}, &s->view);
}

static void pictures_are_as_they_were(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(PICTURES); i++) {
		char path[128];
		struct canvas c;
		struct scene *s = make_scene(PICTURES[i].fill);
		canvas_init(&c, 1, 1);
		draw(s, &c, PICTURES[i].rows, PICTURES[i].cols);
		char *text = picture_of(PICTURES[i].title, &c);
		snprintf(path, sizeof(path), "tests/screens/%s.screen", PICTURES[i].file);
		failed += !golden_check(path, text);
		free(text);
		canvas_finish(&c);
		free(s);
	}
	assert_int_equal(failed, 0);
}

/* What must be seen at every size that has room for a name: the selected VM. */
static bool shows(const struct canvas *c, const char *text)
{
	struct str all = STR_INIT(1 << 22);
	canvas_dump_text(c, &all);
	bool found = strstr(all.s, text) != NULL;
	str_finish(&all);
	return found;
}

static void the_selected_one_is_seen_at_every_size(void **state)
{
	(void)state;
	struct canvas c;
	struct scene *s = make_scene(fill_fifty);
	canvas_init(&c, 1, 1);
	for (size_t selected = 0; selected < s->model.vm_count; selected += 7) {
		char name[VM_NAME_MAX + 8];
		snprintf(name, sizeof(name), "▸ agent-%02zu", selected);
		s->view.selected = selected;
		for (int rows = 1; rows < 60; rows += 1 + rows / 4) {
			draw(s, &c, rows, 40);
			assert_true(shows(&c, name));
		}
	}
	canvas_finish(&c);
	free(s);
}

/* Which columns are left out depends on the width alone, and the state never is. */
static void columns_go_by_importance(void **state)
{
	(void)state;
	static const char *const RANKS[] = {"VM",  "STATE", "DENIED",  "FOR",     "CPU",
	                                    "MEM", "UP",    "TUNNELS", "BACKEND", "IMAGE"};
	struct canvas c;
	struct scene *s = make_scene(fill_four);
	canvas_init(&c, 1, 1);
	for (int cols = 18; cols < 120; cols++) {
		bool missing = false;
		draw(s, &c, 10, cols);
		for (size_t i = 0; i < ARRAY_LEN(RANKS); i++) {
			char heading[32];
			snprintf(heading, sizeof(heading), " %s", RANKS[i]);
			bool there = shows(&c, heading);
			assert_false(there && missing);
			missing |= !there;
		}
		assert_true(shows(&c, "waiting"));
	}
	draw(s, &c, 10, list_view_cols(&s->model));
	assert_true(shows(&c, "IMAGE"));
	canvas_finish(&c);
	free(s);
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static void fill_random(struct scene *s, uint64_t *seed)
{
	size_t count = next_random(seed) % VM_MOST;
	for (size_t i = 0; i < count; i++) {
		char name[VM_NAME_MAX + 1];
		snprintf(name, sizeof(name), "%.*s%zu", (int)(next_random(seed) % 30),
		         "a-name-that-may-be-long-or-short", i);
		struct vm_status *vm = add_vm(s, name, (enum vm_state)(next_random(seed) % VM_STATE_COUNT),
		                              (int64_t)next_random(seed) * 1000);
		struct fleet_vm *f = &s->vms[s->model.vm_count - 1];
		f->hangs = next_random(seed) % 8 == 0;
		f->settled = next_random(seed) % 8 != 0;
		set_attention(vm, (enum vm_attention_state)(next_random(seed) % (ATTENTION_STATE_COUNT + 1)),
		              next_random(seed), next_random(seed) % 2,
		              "something to say about this and that");
		set_vitals(vm, next_random(seed), next_random(seed));
		vm->denied = next_random(seed);
		vm->denied_seen = next_random(seed);
		vm->paused = next_random(seed) % 8 == 0;
		vm->egress = (enum vm_egress)(next_random(seed) % VM_EGRESS_COUNT);
		for (size_t k = 0; k + 1 < sizeof(vm->reason) && next_random(seed) % 60; k++)
			vm->reason[k] = (char)(1 + next_random(seed) % 255);
		s->marked[i] = next_random(seed) % 2;
	}
	s->view.marked = next_random(seed) % 2 ? s->marked : NULL;
	s->view.sorted = (enum list_column)(next_random(seed) % (LIST_COLUMN_COUNT + 1));
	s->view.filter = next_random(seed) % 3 ? NULL : "name";
	s->view.unfiltered = count + next_random(seed) % 3;
	s->view.selected = next_random(seed) % 4 ? next_random(seed) % (count + 1) : SIZE_MAX;
	s->view.top = next_random(seed) % (count + 3);
}

static void fill_nothing(struct scene *s)
{
	(void)s;
}

static void any_model_fits_any_size(void **state)
{
	(void)state;
	uint64_t seed = 20261130;
	struct canvas c;
	canvas_init(&c, 1, 1);
	for (int round = 0; round < 300; round++) {
		struct scene *s = make_scene(fill_nothing);
		fill_random(s, &seed);
		int rows = 1 + (int)(next_random(&seed) % (round % 10 ? 40 : 200));
		int cols = 1 + (int)(next_random(&seed) % (round % 10 ? 130 : 500));
		draw(s, &c, rows, cols);
		assert_true(list_view_page(&s->view, rows) >= 1);
		/* Into a part of a canvas: nothing outside of it changes. */
		canvas_clear(&c);
		struct rect r = {.row = rows / 3, .col = cols / 3, .rows = rows / 2, .cols = cols / 2};
		list_view_draw(&c, r, &s->view);
		for (int i = 0; i < rows * cols; i++) {
			int row = i / cols, col = i % cols;
			bool inside =
			    row >= r.row && row < r.row + r.rows && col >= r.col && col < r.col + r.cols;
			assert_true(inside || c.cells[i].cell.code == 0);
		}
		free(s);
	}
	canvas_finish(&c);
}

int main(void)
{
	setlocale(LC_ALL, "");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pictures_are_as_they_were),
	    cmocka_unit_test(the_selected_one_is_seen_at_every_size),
	    cmocka_unit_test(columns_go_by_importance),
	    cmocka_unit_test(any_model_fits_any_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
