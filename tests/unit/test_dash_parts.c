/* The small parts of the dashboard that need no dash: the line editor, order and filter of VMs, ticks, completion. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "tests/lib/dash_rig.h"
#include "tui/line_edit.h"
#include "tui/palette.h"
#include "tui/ticks.h"
#include "tui/vm_order.h"
#include "tui/words.h"

/* ---- line editor ---- */

static void lines_are_edited(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum action actions[4];
		const char *insert, *result;
	} CASES[] = {
	    {"one two", {ACTION_EDIT_KILL_WORD}, "x", "one x"},
	    {"one two  ", {ACTION_EDIT_KILL_WORD}, "", "one "},
	    {"abc", {ACTION_EDIT_HOME, ACTION_EDIT_DELETE}, "X", "Xbc"},
	    {"abc", {ACTION_EDIT_LEFT, ACTION_EDIT_BACKSPACE}, "", "ac"},
	    {"abc", {ACTION_EDIT_LEFT, ACTION_EDIT_LEFT, ACTION_EDIT_KILL_END}, "", "a"},
	    {"abc", {ACTION_EDIT_LEFT, ACTION_EDIT_KILL_START}, "", "c"},
	    {"abc",
	     {ACTION_EDIT_HOME, ACTION_EDIT_LEFT, ACTION_EDIT_BACKSPACE, ACTION_EDIT_END},
	     "d",
	     "abcd"},
	    {"", {ACTION_EDIT_DELETE, ACTION_EDIT_BACKSPACE, ACTION_EDIT_KILL_WORD}, "a", "a"},
	    {"a\xe6\x97\xa5z", {ACTION_EDIT_LEFT, ACTION_EDIT_BACKSPACE}, "", "az"}, /* a wide one is one */
	    {"e\xcc\x81z", {ACTION_EDIT_HOME, ACTION_EDIT_DELETE}, "", "z"},         /* with its mark */
	    {"e\xcc\x81z", {ACTION_EDIT_LEFT, ACTION_EDIT_LEFT}, "x", "xe\xcc\x81z"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct line_edit l = {.len = 0};
		line_edit_set(&l, CASES[i].text);
		for (size_t k = 0; k < 4 && CASES[i].actions[k]; k++)
			assert_true(line_edit_act(&l, CASES[i].actions[k]));
		for (const char *p = CASES[i].insert; *p; p++)
			assert_true(line_edit_insert(&l, (uint32_t)(unsigned char)*p));
		assert_string_equal(l.text, CASES[i].result);
		assert_int_equal(l.len, strlen(l.text));
	}
	struct line_edit l = {.len = 0};
	assert_false(line_edit_act(&l, ACTION_EDIT_ACCEPT));
	assert_false(line_edit_insert(&l, 0x1b));
	assert_false(line_edit_insert(&l, TERM_KEY_UP));
	for (int i = 0; i < 2 * LINE_EDIT_SIZE; i++)
		line_edit_insert(&l, 'x');
	assert_int_equal(l.len, LINE_EDIT_SIZE - 1);
	line_edit_set(&l, "");
	line_edit_paste(&l, (struct bytes){.p = (const uint8_t *)"a\x1b[31mb\tc\nd", .len = 11});
	assert_string_equal(l.text, "a[31mbc");
}

static void the_cursor_is_always_seen(void **state)
{
	(void)state;
	struct canvas c;
	struct line_edit l = {.len = 0};
	canvas_init(&c, 1, 10);
	line_edit_set(&l, "0123456789abcdef");
	line_edit_draw(&l, &c, (struct rect){.rows = 1, .cols = 10}, STYLE_PLAIN);
	assert_true(c.cursor_visible && c.cursor_col == 9);
	assert_int_equal(canvas_at(&c, 0, 8)->cell.code, 'f');
	canvas_clear(&c);
	line_edit_act(&l, ACTION_EDIT_HOME);
	line_edit_draw(&l, &c, (struct rect){.rows = 1, .cols = 10}, STYLE_PLAIN);
	assert_int_equal(c.cursor_col, 0);
	assert_int_equal(canvas_at(&c, 0, 0)->cell.code, '0');
	canvas_finish(&c);
}

/* ---- order and filter ---- */

static void set(struct fleet_vm *vm, const char *name, enum vm_state state, enum vm_attention_state attention,
                bool seen, int64_t at_ms)
{
	*vm = (struct fleet_vm){.settled = true, .status = {.state = state, .started_ms = at_ms}};
	vm->status.attention = (struct vm_attention){.state = attention, .seen = seen, .at_ms = at_ms};
	snprintf(vm->status.name, sizeof(vm->status.name), "%s", name);
}

static void who_waits_is_first_in_each_order(void **state)
{
	(void)state;
	static const char *const ORDERS[SORT_COUNT] = {
	    [SORT_STATE] = "new old seen done boot busy idle fail stop ",
	    [SORT_NAME] = "new old seen boot busy done fail idle stop ",
	    [SORT_AGE] = "old new seen ",
	    [SORT_CPU] = "new old seen busy ",
	    [SORT_MEM] = "new old seen idle ",
	    [SORT_DENIED] = "new old seen fail ",
	};
	struct fleet_vm vms[9];
	set(&vms[0], "stop", VM_STOPPED, ATTENTION_NONE, true, 0);
	set(&vms[1], "fail", VM_FAILED, ATTENTION_NONE, true, 50);
	set(&vms[2], "idle", VM_READY, ATTENTION_IDLE, true, 40);
	set(&vms[3], "busy", VM_READY, ATTENTION_WORKING, true, 30);
	set(&vms[4], "boot", VM_BOOTING, ATTENTION_NONE, true, 20);
	set(&vms[5], "done", VM_READY, ATTENTION_FINISHED, false, 10);
	set(&vms[6], "seen", VM_READY, ATTENTION_WAITING, true, 5);
	set(&vms[7], "old", VM_READY, ATTENTION_WAITING, false, 6);
	set(&vms[8], "new", VM_READY, ATTENTION_WAITING, false, 7);
	vms[3].status.cpu_permille = 900;
	vms[2].status.mem_used_kib = 1000;
	vms[1].status.denied = 3;
	vms[5].status.denied = vms[5].status.denied_seen = 9;
	for (int sort = 0; sort < SORT_COUNT; sort++) {
		const struct fleet_vm *list[9];
		struct str order = STR_INIT(1000);
		for (size_t i = 0; i < 9; i++)
			list[i] = &vms[i];
		vm_order_sort(list, 9, (enum vm_sort)sort);
		for (size_t i = 0; i < 9; i++)
			str_appendf(&order, "%s ", list[i]->status.name);
		if (strncmp(order.s, ORDERS[sort], strlen(ORDERS[sort])) != 0)
			fail_msg("%s: %s", vm_sort_name((enum vm_sort)sort), order.s);
		str_finish(&order);
	}
}

static void filters_match(void **state)
{
	(void)state;
	static const struct {
		const char *filter;
		bool matches;
	} CASES[] = {
	    {"", true},
	    {"alp", true},
	    {"ALP", true},
	    {"beta", false},
	    {"!alp", false},
	    {"!beta", true},
	    {"!", true},
	    {"alp claude", true},
	    {"alp !claude", false},
	    {"state:wait", true},
	    {"state:ready", true},
	    {"state:stopped", false},
	    {"!state:idle", true},
	    {"state:", true},
	    {"image:base", true},
	    {"image:rust", false},
	    {"backend:kvm", false},
	    {"  alp  ", true},
	    {"state:paused", false},
	};
	struct fleet_vm vm;
	set(&vm, "alpha", VM_READY, ATTENTION_WAITING, false, 1);
	snprintf(vm.status.image, sizeof(vm.status.image), "base");
	snprintf(vm.status.backend, sizeof(vm.status.backend), "qemu-tcg");
	vm.status.terminal_count = 1;
	snprintf(vm.status.terminal[0].title, sizeof(vm.status.terminal[0].title), "Claude: tests");
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		if (vm_filter_matches(CASES[i].filter, &vm) != CASES[i].matches)
			fail_msg("'%s'", CASES[i].filter);
	}
	vm.status.paused = true;
	assert_true(vm_filter_matches("state:paused", &vm));
	vm.hangs = true;
	assert_true(vm_filter_matches("state:no", &vm)); /* "no answer" */
}

/* ---- ticks ---- */

/* Fifty VMs of different ages change their texts at fifty moments; they are drawn at one. */
static void ages_are_drawn_together(void **state)
{
	(void)state;
	enum { VMS = 50 };
	const int64_t start = INT64_C(1796120400000), minute = 60000;
	struct fleet_vm vms[VMS] = {0};
	const struct fleet_vm *all[VMS];
	struct model m = {.vms = all, .vm_count = VMS};
	for (size_t i = 0; i < VMS; i++) {
		vms[i].settled = true;
		vms[i].status.state = VM_READY;
		vms[i].status.started_ms = vms[i].status.ready_ms = start - 777 * (int64_t)i;
		all[i] = &vms[i];
	}
	unsigned drawn = 0;
	for (m.now_ms = start + 1; m.now_ms < start + 3 * minute; m.now_ms += ticks_next(&m)) {
		char told[WORDS_SIZE], due[WORDS_SIZE];
		int64_t next = ticks_next(&m), age = m.now_ms - start;
		words_duration(told, age);
		words_duration(due, age + next - 1);
		if (age < minute)
			assert_string_equal(told, due);
		assert_in_range(next, 1, minute);
		drawn++;
	}
	assert_in_range(drawn, 60, 64);
	vms[7].status.attention = (struct vm_attention){.state = ATTENTION_WAITING, .at_ms = m.now_ms - 4300};
	assert_in_range(ticks_next(&m), 1, 1000);
	vms[7].status.attention.at_ms = m.now_ms + 5; /* its clock is a little ahead */
	assert_in_range(ticks_next(&m), 1, 1000);
	vms[7].status.attention.at_ms = m.now_ms + 2 * minute;
	assert_int_equal(ticks_next(&m), minute - m.now_ms % minute);
}

/* ---- completion ---- */

static void no_words(void *arg, enum action_takes takes, palette_offer_fn *offer, void *to)
{
	(void)arg, (void)takes, (void)offer, (void)to;
}

static void words_are_completed(void **state)
{
	(void)state;
	static const struct {
		const char *line, *common;
	} CASES[] = {
	    {"reloa", "reload"}, {"allow", "allow"},
	    {"al", "allow"},     {"close", "close-terminal"},
	    {"zzz", ""},         {"terminal", "close-terminal"}, /* the only one that has it inside */
	    {"down", ""},                                        /* moving about is not for the palette */
	};
	struct palette_words words;
	char common[PALETTE_WORD_SIZE];
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		palette_complete(CASES[i].line, no_words, NULL, &words);
		palette_common(CASES[i].line, &words, common);
		assert_string_equal(common, CASES[i].common);
	}
	palette_complete("", no_words, NULL, &words);
	assert_true(words.count > 30 && words.total == words.count);
	palette_complete("quit x", no_words, NULL, &words);
	assert_int_equal(words.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_are_edited),
	    cmocka_unit_test(the_cursor_is_always_seen),
	    cmocka_unit_test(who_waits_is_first_in_each_order),
	    cmocka_unit_test(filters_match),
	    cmocka_unit_test(ages_are_drawn_together),
	    cmocka_unit_test(words_are_completed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
