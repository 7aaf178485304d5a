/* tui/detail_view: pictures (tests/screens/detail-*), and that every word can be read at every size. UPDATE=1 rewrites
 * them. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "tests/lib/golden.h"
#include "tests/lib/picture.h"
#include "tui/detail_view.h"

#define NOW_MS INT64_C(1796073242123) /* 2026-11-30T21:14:02Z */
#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define KEYS   "j k scroll, Esc closes"

static void set_text(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text);
}

static void waiting(struct vm_attention *a, const char *text)
{
	*a = (struct vm_attention){
	    .state = ATTENTION_WAITING, .source = ATTENTION_BY_HOOK, .at_ms = NOW_MS - 2 * MINUTE};
	set_text(a->text, sizeof(a->text), text);
}

static struct fleet_vm *a_vm(void)
{
	struct fleet_vm *vm = mem_alloc(sizeof(*vm));
	struct vm_status *s = &vm->status;
	vm->settled = true;
	*s = (struct vm_status){.state = VM_READY,
	                        .egress = VM_EGRESS_OK,
	                        .started_ms = NOW_MS - 40 * MINUTE,
	                        .ready_ms = NOW_MS - 40 * MINUTE + 4 * SECOND,
	                        .denied = 120,
	                        .denied_seen = 106,
	                        .tunnels = 2,
	                        .supervisor_pid = 4711,
	                        .vmm_pid = 4712,
	                        .cpus = 2,
	                        .memory_bytes = 2ull << 30,
	                        .cpu_permille = 1034,
	                        .mem_used_kib = 421888,
	                        .mem_total_kib = 2023424};
	set_text(s->name, sizeof(s->name), "alpha");
	set_text(s->image, sizeof(s->image), "claude");
	set_text(s->backend, sizeof(s->backend), "qemu-tcg");
	waiting(&s->attention,
	        "I need two things from the host before I can go on: the release notes, and the branch "
	        "pushed.");
	s->terminal_count = 2;
	s->terminal[0] = (struct vm_terminal){
	    .number = 1, .rows = 20, .cols = 66, .first = true, .watchers = 2, .attention = s->attention};
	set_text(s->terminal[0].command, sizeof(s->terminal[0].command), "claude");
	set_text(s->terminal[0].title, sizeof(s->terminal[0].title), "fix the parser");
	s->terminal[1] = (struct vm_terminal){.number = 3, .rows = 24, .cols = 80};
	set_text(s->terminal[1].command, sizeof(s->terminal[1].command), "sh -l");
	return vm;
}

static void of_vm(struct str *out)
{
	struct fleet_vm *vm = a_vm();
	detail_of_vm(out, vm, NOW_MS);
	free(vm);
}

static void of_hanging(struct str *out)
{
	struct fleet_vm *vm = a_vm();
	vm->hangs = true;
	vm->settled = false;
	vm->status.terminal_count = 0;
	vm->status.attention = (struct vm_attention){.state = ATTENTION_NONE};
	detail_of_vm(out, vm, NOW_MS);
	free(vm);
}

static void of_failed(struct str *out)
{
	struct fleet_vm *vm = a_vm();
	vm->status.state = VM_FAILED;
	vm->status.attention = (struct vm_attention){.state = ATTENTION_FAILED, .at_ms = NOW_MS - 5 * MINUTE};
	vm->status.terminal_count = 0;
	set_text(
	    vm->status.reason, sizeof(vm->status.reason),
	    "the VMM ended with code 1: could not open /var/lib/images/base/rootfs.squashfs: No such file");
	detail_of_vm(out, vm, NOW_MS);
	free(vm);
}

static void of_hostile(struct str *out)
{
	struct fleet_vm *vm = a_vm();
	waiting(&vm->status.attention,
	        "state\tready\nstate\tready \x1b[2J\x1b]0;x\x07 \xe2\x80\xae\xff \xe6\x97\xa5\xe6\x9c\xac");
	set_text(vm->status.terminal[0].title, sizeof(vm->status.terminal[0].title), "a\tb\nc");
	vm->status.terminal_count = UINT32_MAX;
	vm->status.egress = (enum vm_egress)77;
	vm->status.cpu_permille = UINT32_MAX;
	vm->status.mem_used_kib = vm->status.mem_total_kib = UINT64_MAX;
	detail_of_vm(out, vm, NOW_MS);
	free(vm);
}

static struct feed_entry an_entry(enum feed_event event, const char *target, const char *why)
{
	struct feed_entry e = {.event = event, .time_ms = NOW_MS - 4 * SECOND};
	set_text(e.vm, sizeof(e.vm), "alpha");
	set_text(e.target, sizeof(e.target), target);
	set_text(e.why, sizeof(e.why), why);
	return e;
}

static void of_refusal(struct str *out)
{
	struct feed_entry e = an_entry(FEED_DENY, "telemetry.example:443", "no rule allows it");
	struct feed_row row = {.entry = &e, .count = 14, .first_ms = NOW_MS - 26 * 60 * MINUTE};
	detail_of_row(out, &row, NOW_MS);
}

static void of_address(struct str *out)
{
	struct feed_entry e = an_entry(FEED_DENY, "10.0.0.1:22", "it is an address, not a name");
	struct feed_row row = {.entry = &e, .count = 1, .first_ms = e.time_ms};
	detail_of_row(out, &row, NOW_MS);
}

static void of_long_host(struct str *out)
{
	struct feed_entry e = an_entry(
	    FEED_DENY, "an-endless-name-that-someone-made-up-to-hide-where-it-ends.of.evil.example:8443",
	    "a deny rule refuses it");
	set_text(e.rule, sizeof(e.rule), "deny *.evil.example");
	struct feed_row row = {.entry = &e, .count = 2, .first_ms = e.time_ms};
	detail_of_row(out, &row, NOW_MS);
}

static void of_closed(struct str *out)
{
	struct feed_entry e = an_entry(FEED_CLOSE, "api.anthropic.example:443", "");
	e.up = 41300;
	e.down = 3 << 20;
	e.ms = 12340;
	struct feed_row row = {.entry = &e, .count = 1, .first_ms = e.time_ms};
	detail_of_row(out, &row, NOW_MS);
}

static const struct {
	const char *file, *title;
	int rows, cols, top;
	void (*fill)(struct str *out);
} PICTURES[] = {
    {"detail-vm-110x30", "all that is known of a VM", 30, 110, 0, of_vm},
    {"detail-vm-80x24", "the same at 80 columns: there is more below", 24, 80, 0, of_vm},
    {"detail-vm-80x24-end", "the end of it", 24, 80, 1000, of_vm},
    {"detail-vm-40x12", "the same at 40 columns, scrolled", 12, 40, 7, of_vm},
    {"detail-vm-20x5", "the same on the smallest screen", 5, 20, 2, of_vm},
    {"detail-hangs-80x24", "a supervisor that does not answer", 24, 80, 0, of_hanging},
    {"detail-failed-80x24", "a VM that failed", 24, 80, 0, of_failed},
    {"detail-hostile-80x30", "what a guest says stays on its line", 30, 80, 0, of_hostile},
    {"detail-refusal-80x24", "a refusal that came 14 times, and what would allow it", 24, 80, 0, of_refusal},
    {"detail-refusal-40x12", "the same at 40 columns", 12, 40, 0, of_refusal},
    {"detail-address-80x24", "a refusal that cannot be allowed", 24, 80, 0, of_address},
    {"detail-long-host-40x12", "a long name is wrapped, not cut; a deny rule stands in the way", 12, 40, 0,
     of_long_host},
    {"detail-closed-80x24", "a tunnel that is over", 24, 80, 0, of_closed},
};

static void pictures_are_as_they_were(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(PICTURES); i++) {
		char path[128];
		struct canvas c;
		struct str text = STR_INIT(DETAIL_TEXT_MAX);
		PICTURES[i].fill(&text);
		canvas_init(&c, PICTURES[i].rows, PICTURES[i].cols);
		detail_view_draw(&c, PICTURES[i].top, "alpha", text.s, KEYS);
		char *picture = picture_of(PICTURES[i].title, &c);
		snprintf(path, sizeof(path), "tests/screens/%s.screen", PICTURES[i].file);
		failed += !golden_check(path, picture);
		free(picture);
		str_finish(&text);
		canvas_finish(&c);
	}
	assert_int_equal(failed, 0);
}

/* What is inside the frame, without blanks: as many characters as it says. */
static void add_row(struct str *out, const struct canvas *c, int row, bool framed)
{
	for (int col = framed ? 2 : 0; col < c->cols - (framed ? 2 : 0); col++) {
		const struct canvas_cell *at = canvas_at(c, row, col);
		if (at->cell.code > ' ' && at->cell.code < 0x7f)
			str_append_char(out, (char)at->cell.code);
	}
}

static void add_wanted(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text > ' ' && *text < 0x7f)
			str_append_char(out, *text);
	}
}

/* Scrolling line by line shows every character once, in order: nothing is cut at any size. */
static void every_word_can_be_read(void **state)
{
	(void)state;
	static const struct {
		int rows, cols;
	} SIZES[] = {{24, 80}, {12, 40}, {5, 20},    {4, 12},  {3, 10},
	             {2, 9},   {1, 5},   {200, 500}, {30, 58}, {7, 53}};
	struct str text = STR_INIT(DETAIL_TEXT_MAX), want = STR_INIT(DETAIL_TEXT_MAX);
	of_vm(&text);
	add_wanted(&want, text.s);
	for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
		struct canvas c;
		struct str got = STR_INIT(DETAIL_TEXT_MAX);
		bool framed = SIZES[i].rows >= 3 && SIZES[i].cols >= 10;
		canvas_init(&c, SIZES[i].rows, SIZES[i].cols);
		int end = detail_view_draw(&c, INT32_MAX, "alpha", text.s, KEYS);
		for (int top = 0; top <= end; top++) {
			canvas_clear(&c);
			assert_int_equal(detail_view_draw(&c, top, "alpha", text.s, KEYS), top);
			int first = framed ? 1 : 0, last = SIZES[i].rows - (framed ? 2 : 1);
			if (end == 0) /* a box in the middle: all rows but those of its frame */
				first = 0, last = SIZES[i].rows - 1;
			for (int row = first; row <= (top == end ? last : first); row++) {
				if (end > 0 ||
				    canvas_at(&c, row, (c.cols - MIN(c.cols, 100)) / 2)->cell.code == 0x2502)
					add_row(&got, &c, row, framed);
			}
		}
		assert_string_equal(got.s, want.s);
		str_finish(&got);
		canvas_finish(&c);
	}
	str_finish(&text);
	str_finish(&want);
}

static void every_size_can_be_drawn(void **state)
{
	(void)state;
	struct canvas c;
	canvas_init(&c, 1, 1);
	for (size_t i = 0; i < ARRAY_LEN(PICTURES); i++) {
		struct str text = STR_INIT(DETAIL_TEXT_MAX);
		PICTURES[i].fill(&text);
		for (int rows = 1; rows <= 200; rows += rows < 8 ? 1 : 64) {
			for (int cols = 1; cols <= 500; cols += cols < 70 ? 3 : 143) {
				canvas_resize(&c, rows, cols);
				detail_view_draw(&c, rows, "alpha", text.s, KEYS);
				detail_view_draw(&c, -1, "", "", "");
				detail_view_draw(&c, 1, "no label", "only text\n\n\t\nx", "");
			}
		}
		str_finish(&text);
	}
	canvas_finish(&c);
}

int main(void)
{
	setlocale(LC_ALL, "");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pictures_are_as_they_were),
	    cmocka_unit_test(every_word_can_be_read),
	    cmocka_unit_test(every_size_can_be_drawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
