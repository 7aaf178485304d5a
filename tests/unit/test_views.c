/* The whole picture in golden files (tests/screens/dash-*): data and keys in, text and styles out. UPDATE=1 rewrites them. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "tests/lib/dash_rig.h"
#include "tests/lib/golden.h"
#include "tests/lib/picture.h"

#define NOW RIG_NOW_MS

/* ---- data ---- */

static void fill_terminal(struct dash_rig *r, const char *vm, unsigned rows, unsigned cols)
{
	static const struct cell PLAIN = {0}, GREEN = {.fg = COLOUR_INDEXED(2), .attrs = CELL_BOLD};
	char prompt[64];
	struct screen *s = &r->screens[r->model.pane_count];
	dash_rig_pane(r, vm, 0, rows, cols);
	snprintf(prompt, sizeof(prompt), "root@%s", vm);
	unsigned after = (unsigned)strlen(prompt);
	dash_rig_put(s, 0, 0, &GREEN, prompt);
	dash_rig_put(s, 0, after, &PLAIN, ":~# ls");
	dash_rig_put(s, 1, 0, &PLAIN, "main.c \xe6\x97\xa5\xe6\x9c\xac.txt");
	dash_rig_put(s, 2, 0, &GREEN, prompt);
	dash_rig_put(s, 2, after, &PLAIN, ":~# ");
	s->cursor = (struct term_cursor){.row = 2, .col = (uint16_t)(after + 4), .visible = true};
}

static void add_terminal(struct vm_status *s, uint32_t number, const char *command)
{
	struct vm_terminal *t = &s->terminal[s->terminal_count++];
	*t = (struct vm_terminal){.number = number, .rows = 20, .cols = 60, .first = number == 1};
	snprintf(t->command, sizeof(t->command), "%s", command);
}

static const char CONSOLE[] = "[    0.912] virtio_blk: probe of virtio1 failed with error -22\n"
                              "[    1.204] EXT4-fs: cannot find the disk\n"
                              "ccvm-guest: mount /disk: No such device\n"
                              "[    1.310] Kernel panic - not syncing: Attempted to kill init!";

static void vitals(struct vm_status *s, uint32_t cpu_permille, uint64_t used_mib)
{
	s->cpu_permille = cpu_permille;
	s->mem_used_kib = used_mib << 10;
	s->mem_total_kib = 512 << 10;
}

/* Four VMs as on the sketch of the console: one waits, one works, one is idle, one has failed. */
static void fill_four(struct dash_rig *r)
{
	struct vm_status *alpha = dash_rig_vm(r, "alpha", VM_READY);
	struct vm_status *beta = dash_rig_vm(r, "beta", VM_READY);
	dash_rig_vm(r, "gamma", VM_READY);
	struct vm_status *delta = dash_rig_vm(r, "delta", VM_FAILED);
	dash_rig_attention(r, "alpha", ATTENTION_WAITING, 2 * RIG_MINUTE);
	dash_rig_attention(r, "beta", ATTENTION_WORKING, 11 * RIG_SECOND);
	dash_rig_attention(r, "gamma", ATTENTION_IDLE, RIG_HOUR);
	snprintf(alpha->attention.text, sizeof(alpha->attention.text), "May I push the branch?");
	snprintf(delta->reason, sizeof(delta->reason), "not ready after 120 s");
	delta->started_ms = NOW - 5 * RIG_MINUTE;
	vitals(alpha, 30, 412);
	vitals(beta, 640, 500);
	vitals(&dash_rig_find(r, "gamma")->status, 2, 210);
	add_terminal(alpha, 1, "claude");
	add_terminal(alpha, 2, "sh -l");
	add_terminal(beta, 1, "claude");
	beta->tunnels = 2;
	for (int i = 0; i < 14; i++)
		dash_rig_deny(r, "alpha", 90 * RIG_SECOND - i * RIG_SECOND, "telemetry.example:443",
		              "no rule");
	dash_rig_deny(r, "beta", 60 * RIG_SECOND, "raw.githubusercontent.example:443", "no rule");
	dash_rig_deny(r, "alpha", 4 * RIG_SECOND, "10.0.0.1:22", "not a host name");
	fill_terminal(r, "alpha", 16, 60);
	fill_terminal(r, "beta", 16, 60);
	fill_terminal(r, "gamma", 16, 60);
	r->model.console = CONSOLE;
}

static void fill_none(struct dash_rig *r)
{
	(void)r;
}

static void fill_looking(struct dash_rig *r)
{
	r->model.settled = false;
}

static void fill_one(struct dash_rig *r)
{
	dash_rig_vm(r, "alpha", VM_READY);
	fill_terminal(r, "alpha", 6, 30);
}

static void fill_booting(struct dash_rig *r)
{
	struct vm_status *s = dash_rig_vm(r, "alpha", VM_BOOTING);
	s->started_ms = NOW - 4 * RIG_SECOND;
	s->ready_ms = 0;
	r->model.console = "Linux version 6.1.0-cloud\nvirtio_net: none\nccvm-guest: mounts done";
}

static void fill_job(struct dash_rig *r)
{
	fill_one(r);
	r->job = (struct job_info){.what = "image build base",
	                           .line = "layer 2 of 3: packages",
	                           .started_ms = NOW - 95 * RIG_SECOND};
	r->model.job_count = 1;
}

static void fill_failed(struct dash_rig *r)
{
	struct vm_status *s = dash_rig_vm(r, "alpha", VM_FAILED);
	s->started_ms = NOW - 5 * RIG_MINUTE;
	s->egress = VM_EGRESS_UNKNOWN;
	snprintf(s->reason, sizeof(s->reason), "not ready after 120 s");
	r->model.console = CONSOLE;
}

static void fill_ended(struct dash_rig *r)
{
	fill_one(r);
	r->panes[0].source.link = PANE_ENDED;
	r->panes[0].source.why = "the program ended with code 0";
}

static void fill_broken(struct dash_rig *r)
{
	fill_one(r);
	r->panes[0].source.link = PANE_BROKEN;
	r->panes[0].source.why = "the supervisor went away";
}

static void fill_hanging(struct dash_rig *r)
{
	fill_one(r);
	dash_rig_find(r, "alpha")->hangs = true;
}

static void fill_many(struct dash_rig *r)
{
	for (int i = 0; i < 50; i++) {
		char name[VM_NAME_MAX + 1];
		snprintf(name, sizeof(name), "agent-%02d", i);
		struct vm_status *s = dash_rig_vm(r, name, i % 7 == 3 ? VM_STOPPED : VM_READY);
		s->started_ms = NOW - (i + 1) * RIG_MINUTE;
	}
}

static void fill_hostile(struct dash_rig *r)
{
	struct vm_status *s = dash_rig_vm(r, "alpha-with-a-very-long-name-0123", VM_FAILED);
	s->started_ms = NOW - RIG_MINUTE;
	snprintf(s->reason, sizeof(s->reason), "guest said \x1b[2J\x9b\xe2\x80\xae and \r\n more");
	dash_rig_deny(r, "alpha-with-a-very-long-name-0123", RIG_SECOND,
	              "an-endless-name-that-someone-made-up-to-hide-where-it-ends.of.evil.example:8443",
	              "no \x1b]0;x\x07rule");
	r->model.console = "ok\nlast";
}

static void fill_feed(struct dash_rig *r)
{
	fill_one(r);
	for (int i = 0; i < 12; i++) {
		char target[64];
		snprintf(target, sizeof(target), "host-%02d.example:443", i);
		dash_rig_deny(r, "alpha", (20 - i) * RIG_SECOND, target, "no rule");
	}
}

/* ---- golden pictures ---- */

/* Every view on a classic terminal and on a small one. */
static const struct {
	const char *file, *title;
	void (*fill)(struct dash_rig *r);
	const char *keys, *text;
} VIEWS[] = {
    {"overview", "four VMs: who waits, who works, what failed, what was refused", fill_four, "", ""},
    {"empty", "no VMs: what to do", fill_none, "", ""},
    {"looking", "not every VM has answered yet", fill_looking, "", ""},
    {"typing", "typing: border, and the last words of the bottom line", fill_four, "Enter", ""},
    {"broadcast", "typing into two VMs at once", fill_four, "Space Space k k B", ""},
    {"grid", "several panes at once", fill_four, "g", ""},
    {"grid-typing", "typing into one of several", fill_four, "g l Enter", ""},
    {"grid-broadcast", "typing into two of four", fill_four, "Space Space k k g B", ""},
    {"zoom", "the pane alone", fill_four, "z", ""},
    {"marked", "two marked, the third selected", fill_four, "Space Space", ""},
    {"sorted", "by processor time", fill_four, "o o o", ""},
    {"filter", "a filter while it is typed", fill_four, "/", "!e"},
    {"no-match", "a filter that nothing matches", fill_four, "/", "zzz"},
    {"booting", "a VM that boots shows its console", fill_booting, "", ""},
    {"job", "long work says how it goes", fill_job, "", ""},
    {"jobs", "what long work has said", fill_job, "J", ""},
    {"failed", "a failed VM: the reason and the last lines of its console", fill_failed, "", ""},
    {"failed-zoom", "Enter on a failed VM", fill_failed, "Enter", ""},
    {"ended", "the program in the pane has ended", fill_ended, "", ""},
    {"no-terminal", "the connection broke", fill_broken, "", ""},
    {"hanging", "a supervisor that does not answer", fill_hanging, "", ""},
    {"many", "fifty VMs, one in the middle selected", fill_many, "PageDown j", ""},
    {"feed", "the feed has the focus, at an older row", fill_feed, "Tab k", ""},
    {"feed-all", "everything that VMs asked for", fill_four, "Tab l", ""},
    {"feed-handoffs", "no handoffs", fill_four, "Tab h", ""},
    {"allow", "an allow says what it will do", fill_feed, "Tab k t", ""},
    {"stop", "stopping asks, with the names", fill_four, "* x", ""},
    {"detail-vm", "all that is known of a VM", fill_four, "v", ""},
    {"detail-row", "all that is known of a refusal", fill_feed, "Tab v", ""},
    {"copy", "reading what a terminal said", fill_four, "[ k V", ""},
    {"copy-search", "searching in it", fill_four, "[ /", "main"},
    {"palette", "actions by their names", fill_four, ":", "al"},
    {"palette-argument", "and what they take", fill_four, ":", "theme "},
    {"send", "a line for a VM", fill_four, "s", "go on"},
    {"form", "a new VM", fill_none, "N", "gamma"},
    {"form-wrong", "what is wrong is said at its field", fill_none, "N Enter", ""},
    {"help", "the help, from the keymap", fill_one, "?", ""},
    {"help-feed", "the help of the feed", fill_feed, "Tab ?", ""},
    {"unknown-key", "a key without a meaning says so", fill_one, "%", ""},
    {"hostile", "nothing of a guest is raw, and the end of a host name is kept", fill_hostile, "", ""},
};

/* Other sizes, where the layout changes. */
static const struct {
	int rows, cols;
	const char *keys;
} OVERVIEWS[] = {{30, 110, ""},    {20, 60, ""},       {8, 30, ""},   {5, 20, ""},
                 {5, 20, "Enter"}, {30, 110, "Enter"}, {24, 80, "j"}, {50, 200, "g"}};

static bool check(const char *file, const char *title, int rows, int cols, void (*fill)(struct dash_rig *r),
                  const char *keys, const char *typed)
{
	char path[128];
	struct dash_rig *r = mem_alloc(sizeof(*r));
	dash_rig_init(r);
	fill(r);
	dash_resize(r->dash, rows, cols);
	dash_draw(r->dash, &r->canvas);
	dash_rig_press(r, keys);
	dash_rig_type(r, typed);
	dash_draw(r->dash, &r->canvas);
	char *text = picture_of(title, &r->canvas);
	snprintf(path, sizeof(path), "tests/screens/dash-%s-%dx%d.screen", file, cols, rows);
	bool same = golden_check(path, text);
	free(text);
	dash_rig_finish(r);
	free(r);
	return same;
}

static void every_view_is_as_it_was(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(VIEWS); i++) {
		failed += !check(VIEWS[i].file, VIEWS[i].title, 24, 80, VIEWS[i].fill, VIEWS[i].keys,
		                 VIEWS[i].text);
		failed += !check(VIEWS[i].file, VIEWS[i].title, 12, 40, VIEWS[i].fill, VIEWS[i].keys,
		                 VIEWS[i].text);
	}
	assert_int_equal(failed, 0);
}

static void other_sizes_are_as_they_were(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(OVERVIEWS); i++) {
		char file[64];
		snprintf(file, sizeof(file), "overview%s%s", OVERVIEWS[i].keys[0] ? "-" : "",
		         OVERVIEWS[i].keys);
		failed += !check(file, "four VMs", OVERVIEWS[i].rows, OVERVIEWS[i].cols, fill_four,
		                 OVERVIEWS[i].keys, "");
	}
	assert_int_equal(failed, 0);
}

static void every_size_can_be_drawn(void **state)
{
	(void)state;
	static const char *const KEYS[] = {"",  "Enter",     "z", "g", "Tab k", "?", "x",
	                                   "w", "End Enter", "N", ":", "[",     "v"};
	static void (*const FILLS[])(struct dash_rig * r) = {fill_none, fill_four, fill_many, fill_hostile,
	                                                     fill_feed};
	for (size_t i = 0; i < ARRAY_LEN(FILLS); i++) {
		for (size_t k = 0; k < ARRAY_LEN(KEYS); k++) {
			struct dash_rig *r = mem_alloc(sizeof(*r));
			dash_rig_init(r);
			FILLS[i](r);
			dash_rig_press(r, KEYS[k]);
			for (int rows = 1; rows < 34; rows += rows < 7 ? 1 : 9) {
				for (int cols = 1; cols < 130; cols += cols < 10 ? 1 : 20) {
					dash_resize(r->dash, rows, cols);
					dash_draw(r->dash, &r->canvas);
					assert_int_equal(r->canvas.rows, rows);
					assert_int_equal(r->canvas.cols, cols);
				}
			}
			dash_rig_finish(r);
			free(r);
		}
	}
}

/* Ages go on without anything happening. Each time that dash_next_ms tells there is something new to see, but for the moments of
 * what is kept still and of what counts as seen. */
static void the_picture_changes_when_it_says(void **state)
{
	(void)state;
	struct canvas before;
	unsigned vain = 0;
	struct dash_rig *r = mem_alloc(sizeof(*r));
	dash_rig_init(r);
	fill_four(r);
	canvas_init(&before, 1, 1);
	struct vm_status *gamma = &dash_rig_find(r, "gamma")->status;
	gamma->attention = (struct vm_attention){.state = ATTENTION_NONE};
	gamma->ready_ms = NOW - 10 * RIG_SECOND; /* of nobody else a second counts */
	dash_rig_attention(r, "beta", ATTENTION_WORKING, 11 * RIG_MINUTE);
	dash_resize(r->dash, 30, 110);
	for (int i = 0; i < 100; i++) { /* the seconds of one that works, then the minutes of all */
		dash_draw(r->dash, &before);
		int64_t next = dash_next_ms(r->dash);
		assert_in_range(next, 1, 60000);
		r->model.now_ms += next;
		dash_draw(r->dash, &r->canvas);
		vain += canvas_equal(&before, &r->canvas);
	}
	assert_in_range(vain, 0, 2);
	canvas_finish(&before);
	dash_rig_finish(r);
	free(r);
}

int main(void)
{
	setlocale(LC_ALL, "");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_view_is_as_it_was),
	    cmocka_unit_test(other_sizes_are_as_they_were),
	    cmocka_unit_test(every_size_can_be_drawn),
	    cmocka_unit_test(the_picture_changes_when_it_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
