/* The whole picture in golden files (tests/screens): data and keys in, text and styles out. UPDATE=1 rewrites them. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/term/keys.h"
#include "core/term/screen.h"
#include "core/term/unicode.h"
#include "tests/lib/golden.h"
#include "tui/dash.h"

#define NOW_MS  1796073242123 /* 2026-11-30T21:14:02Z */
#define SECOND  INT64_C(1000)
#define MINUTE  (60 * SECOND)
#define VM_MOST 60

/* ---- data ---- */

struct fixture {
	struct fleet_vm vms[VM_MOST];
	const struct fleet_vm *vm_list[VM_MOST];
	struct feed_entry entries[64];
	const struct feed_entry *entry_list[64];
	struct screen screen;
	struct model model;
};

static struct vm_status *add_vm(struct fixture *f, const char *name, enum vm_state state, int64_t age_ms)
{
	struct fleet_vm *vm = &f->vms[f->model.vm_count];
	vm->settled = true;
	vm->status = (struct vm_status){.state = state, .cpus = 1, .memory_bytes = 512ull << 20};
	snprintf(vm->status.name, sizeof(vm->status.name), "%s", name);
	snprintf(vm->status.backend, sizeof(vm->status.backend), "qemu-tcg");
	snprintf(vm->status.image, sizeof(vm->status.image), "base");
	vm->status.started_ms = NOW_MS - age_ms;
	vm->status.egress = state == VM_READY ? VM_EGRESS_OK : VM_EGRESS_UNKNOWN;
	f->vm_list[f->model.vm_count++] = vm;
	return &vm->status;
}

static void add_denial(struct fixture *f, const char *vm, int64_t age_ms, const char *target, const char *why)
{
	struct feed_entry *e = &f->entries[f->model.denial_count];
	*e = (struct feed_entry){
	    .event = FEED_DENY, .time_ms = NOW_MS - age_ms, .serial = f->model.denial_count + 1};
	snprintf(e->vm, sizeof(e->vm), "%s", vm);
	snprintf(e->target, sizeof(e->target), "%s", target);
	snprintf(e->why, sizeof(e->why), "%s", why);
	f->entry_list[f->model.denial_count++] = e;
	for (size_t i = 0; i < f->model.vm_count; i++)
		f->vms[i].status.denied += strcmp(f->vms[i].status.name, vm) == 0;
}

/* Text with cells of their own colours; a wide character where the code is over U+2E80. */
static void put(struct screen *s, unsigned row, unsigned col, const struct cell *look, const char *text)
{
	size_t len = strlen(text);
	for (size_t i = 0; i < len && col < s->cols;) {
		uint32_t cp;
		i += utf8_decode((const uint8_t *)text + i, len - i, &cp);
		struct cell *cell = &s->cells[(size_t)row * s->cols + col];
		*cell = *look;
		cell->code = cp;
		cell->width = cp >= 0x2e80 ? CELL_WIDE : CELL_NARROW;
		col++;
		if (cell->width == CELL_WIDE && col < s->cols) {
			s->cells[(size_t)row * s->cols + col] = *look;
			s->cells[(size_t)row * s->cols + col++].width = CELL_TAIL;
		}
	}
}

static void live_pane(struct fixture *f, const char *vm, unsigned rows, unsigned cols)
{
	static const struct cell PLAIN = {0}, GREEN = {.fg = COLOUR_INDEXED(2), .attrs = CELL_BOLD};
	screen_finish(&f->screen);
	screen_init(&f->screen, rows, cols);
	f->screen.generation = 1;
	f->screen.whole = true;
	snprintf(f->screen.title, sizeof(f->screen.title), "make check");
	put(&f->screen, 0, 0, &GREEN, "root@alpha");
	put(&f->screen, 0, 10, &PLAIN, ":~# ls");
	put(&f->screen, 1, 0, &PLAIN, "main.c \xe6\x97\xa5\xe6\x9c\xac.txt");
	put(&f->screen, 2, 0, &GREEN, "root@alpha");
	put(&f->screen, 2, 10, &PLAIN, ":~# ");
	f->screen.cursor = (struct term_cursor){.row = 2, .col = 14, .visible = true};
	f->model.pane.link = PANE_LIVE;
	f->model.pane.screen = &f->screen;
	snprintf(f->model.pane.vm, sizeof(f->model.pane.vm), "%s", vm);
}

static const char CONSOLE[] = "[    0.912] virtio_blk: probe of virtio1 failed with error -22\n"
                              "[    1.204] EXT4-fs: cannot find the disk\n"
                              "ccvm-guest: mount /disk: No such device\n"
                              "[    1.310] Kernel panic - not syncing: Attempted to kill init!";

static void fill_four(struct fixture *f)
{
	add_vm(f, "alpha", VM_READY, 12 * MINUTE)->tunnels = 2;
	struct vm_status *beta = add_vm(f, "beta", VM_READY, 3 * 60 * MINUTE);
	beta->egress = VM_EGRESS_BROKEN;
	snprintf(beta->reason, sizeof(beta->reason), "the relay in the guest does not listen");
	add_vm(f, "delta", VM_BOOTING, 4 * SECOND);
	struct vm_status *gamma = add_vm(f, "gamma", VM_FAILED, 5 * MINUTE);
	snprintf(gamma->reason, sizeof(gamma->reason), "not ready after 120 s");
	add_denial(f, "alpha", 90 * SECOND, "telemetry.example:443", "no rule");
	add_denial(f, "beta", 60 * SECOND, "raw.githubusercontent.example:443", "no rule");
	add_denial(f, "alpha", 4 * SECOND, "10.0.0.1:22", "not a host name");
	live_pane(f, "alpha", 20, 60);
	f->model.pane.console = CONSOLE;
}

static void fill_none(struct fixture *f)
{
	(void)f;
}

static void fill_one(struct fixture *f)
{
	add_vm(f, "alpha", VM_READY, 12 * MINUTE);
	live_pane(f, "alpha", 6, 30);
}

static void fill_booting(struct fixture *f)
{
	add_vm(f, "alpha", VM_BOOTING, 4 * SECOND);
	f->model.pane.console = "Linux version 6.1.0-cloud\nvirtio_net: none\nccvm-guest: mounts done";
}

static void fill_ended(struct fixture *f)
{
	fill_one(f);
	f->model.pane.link = PANE_ENDED;
	f->model.pane.why = "the program ended with code 0";
}

static void fill_broken(struct fixture *f)
{
	add_vm(f, "alpha", VM_READY, 12 * MINUTE);
	f->model.pane.link = PANE_BROKEN;
	f->model.pane.why = "the supervisor went away";
	snprintf(f->model.pane.vm, sizeof(f->model.pane.vm), "alpha");
}

static void fill_many(struct fixture *f)
{
	for (int i = 0; i < 50; i++) {
		char name[VM_NAME_MAX + 1];
		snprintf(name, sizeof(name), "agent-%02d", i);
		add_vm(f, name, i % 7 == 3 ? VM_STOPPED : VM_READY, (i + 1) * MINUTE);
	}
}

static void fill_hostile(struct fixture *f)
{
	struct vm_status *s = add_vm(f, "alpha-with-a-very-long-name-0123", VM_FAILED, MINUTE);
	snprintf(s->reason, sizeof(s->reason), "guest said \x1b[2J\x9b\xe2\x80\xae and \r\n more");
	add_denial(f, "alpha-with-a-very-long-name-0123", SECOND,
	           "an-endless-name-that-someone-made-up-to-hide-where-it-ends.of.evil.example:8443",
	           "no \x1b]0;x\x07rule");
	f->model.pane.console = "ok\nlast";
}

static void fill_feed(struct fixture *f)
{
	add_vm(f, "alpha", VM_READY, 12 * MINUTE);
	for (int i = 0; i < 12; i++) {
		char target[64];
		snprintf(target, sizeof(target), "host-%02d.example:443", i);
		add_denial(f, "alpha", (20 - i) * SECOND, target, "no rule");
	}
}

/* ---- the dash on it ---- */

static void get_model(void *arg, struct model *out)
{
	*out = ((struct fixture *)arg)->model;
}

static void ignore(void *arg)
{
	(void)arg;
}

static void ignore_key(void *arg, uint32_t key, unsigned mods)
{
	(void)arg, (void)key, (void)mods;
}

static void ignore_texts(void *arg, const char *vm, const char *rule)
{
	(void)arg, (void)vm, (void)rule;
}

static void ignore_text(void *arg, const char *vm)
{
	(void)arg, (void)vm;
}

static const struct dash_ops OPS = {
    .get_model = get_model,
    .send_key = ignore_key,
    .reopen_pane = ignore,
    .allow = ignore_texts,
    .stop = ignore_text,
    .repaint = ignore,
    .suspend = ignore,
    .quit = ignore,
};

static struct fixture *make_fixture(void (*fill)(struct fixture *f))
{
	struct fixture *f = mem_alloc(sizeof(*f));
	f->model = (struct model){.vms = f->vm_list,
	                          .denials = f->entry_list,
	                          .settled = true,
	                          .now_ms = NOW_MS,
	                          .pane = {.why = "", .console = ""}};
	screen_init(&f->screen, 1, 2);
	fill(f);
	return f;
}

static void free_fixture(struct fixture *f)
{
	screen_finish(&f->screen);
	free(f);
}

static void press(struct dash *d, const char *keys)
{
	char *copy = mem_strdup(keys);
	for (char *save = NULL, *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		uint32_t key;
		unsigned mods;
		assert_true(key_parse(name, &key, &mods));
		dash_key(d, key, mods);
	}
	free(copy);
}

static void add_box(struct str *out, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");
		str_appendf(out, "|%.*s\n", (int)n, lines);
		lines += n + 1;
	}
}

static char *picture(const char *title, const struct canvas *c)
{
	struct str out = STR_INIT(1 << 20), text = STR_INIT(1 << 20), styles = STR_INIT(1 << 20);
	canvas_dump_text(c, &text);
	canvas_dump_styles(c, &styles);
	str_appendf(&out, "%s\n%dx%d", title, c->cols, c->rows);
	if (c->cursor_visible)
		str_appendf(&out, ", cursor at row %d, column %d", c->cursor_row, c->cursor_col);
	str_append(&out, "\n");
	add_box(&out, text.s);
	str_append(&out, "styles\n");
	add_box(&out, styles.s);
	bool used[STYLE_COUNT] = {false};
	for (int i = 0; i < c->rows * c->cols; i++)
		used[c->cells[i].style] = true;
	for (int i = STYLE_PLAIN + 1; i < STYLE_COUNT; i++) {
		if (used[i])
			str_appendf(&out, "%c %s\n", theme_style_letter((enum theme_style)i),
			            theme_style_name((enum theme_style)i));
	}
	str_finish(&text);
	str_finish(&styles);
	assert_false(out.overflow);
	return str_detach(&out);
}

/* ---- golden pictures ---- */

static const struct {
	const char *file, *title;
	int rows, cols;
	void (*fill)(struct fixture *f);
	const char *keys;
} PICTURES[] = {
    {"overview-110x30", "four VMs, one broken, one failed; three refusals", 30, 110, fill_four, ""},
    {"overview-80x24", "the same on a classic terminal", 24, 80, fill_four, ""},
    {"overview-60x20", "under 80 columns the pane is below the list", 20, 60, fill_four, ""},
    {"overview-40x12", "under 50 columns there is only the list", 12, 40, fill_four, ""},
    {"overview-30x8", "under 12 rows the feed is one line", 8, 30, fill_four, ""},
    {"empty-80x12", "no VMs: what to do", 12, 80, fill_none, ""},
    {"typing-110x14", "typing: border, and the last words of the bottom line", 14, 110, fill_four, "Enter"},
    {"typing-40x10", "typing on a narrow screen takes all of it", 10, 40, fill_one, "Enter"},
    {"zoom-60x10", "the pane alone", 10, 60, fill_one, "z"},
    {"booting-80x12", "a VM that boots shows its console", 12, 80, fill_booting, ""},
    {"failed-80x16", "a failed VM: the reason and the last lines of its console", 16, 80, fill_four, "End"},
    {"failed-zoom-50x10", "Enter on a failed VM", 10, 50, fill_four, "End Enter"},
    {"ended-80x12", "the program in the pane has ended", 12, 80, fill_ended, ""},
    {"no-terminal-80x12", "the connection broke", 12, 80, fill_broken, ""},
    {"many-80x14", "fifty VMs, one in the middle selected", 14, 80, fill_many, "PageDown PageDown j"},
    {"feed-80x14", "the feed has the focus, at an older row", 14, 80, fill_feed, "Tab k k k k"},
    {"feed-folded-60x9", "the folded feed with the focus", 9, 60, fill_feed, "F k"},
    {"allow-80x14", "an allow says what it will do", 14, 80, fill_feed, "Tab k a"},
    {"stop-60x9", "stopping asks", 9, 60, fill_one, "x"},
    {"help-80x30", "the help, from the keymap", 30, 80, fill_one, "?"},
    {"help-40x10", "the help on a small screen, scrolled", 10, 40, fill_one, "? j j j"},
    {"unknown-key-110x12", "a key without a meaning says so", 12, 110, fill_one, "w"},
    {"hostile-80x14", "nothing of a guest reaches the screen raw, and the end of a host name is kept", 14, 80,
     fill_hostile, ""},
};

static void pictures_are_as_they_were(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(PICTURES); i++) {
		char path[128];
		struct canvas c;
		struct fixture *f = make_fixture(PICTURES[i].fill);
		struct dash *d = dash_create(&OPS, f, 0x1d);
		canvas_init(&c, 1, 1);
		dash_resize(d, PICTURES[i].rows, PICTURES[i].cols);
		dash_draw(d, &c);
		press(d, PICTURES[i].keys);
		dash_draw(d, &c);
		char *text = picture(PICTURES[i].title, &c);
		snprintf(path, sizeof(path), "tests/screens/%s.screen", PICTURES[i].file);
		failed += !golden_check(path, text);
		free(text);
		canvas_finish(&c);
		dash_destroy(d);
		free_fixture(f);
	}
	assert_int_equal(failed, 0);
}

static void every_size_can_be_drawn(void **state)
{
	(void)state;
	static const char *const KEYS[] = {"", "Enter", "z", "Tab k", "?", "x", "w", "End Enter"};
	static void (*const FILLS[])(struct fixture * f) = {fill_none, fill_four, fill_many, fill_hostile,
	                                                    fill_feed};
	for (size_t i = 0; i < ARRAY_LEN(FILLS); i++) {
		for (size_t k = 0; k < ARRAY_LEN(KEYS); k++) {
			struct canvas c;
			struct fixture *f = make_fixture(FILLS[i]);
			struct dash *d = dash_create(&OPS, f, 0x1d);
			canvas_init(&c, 1, 1);
			press(d, KEYS[k]);
			for (int rows = 1; rows < 34; rows += rows < 13 ? 1 : 7) {
				for (int cols = 1; cols < 130; cols += cols < 12 ? 1 : 13) {
					dash_resize(d, rows, cols);
					dash_draw(d, &c);
					assert_int_equal(c.rows, rows);
					assert_int_equal(c.cols, cols);
				}
			}
			canvas_finish(&c);
			dash_destroy(d);
			free_fixture(f);
		}
	}
}

static void unchanged_data_give_the_same_picture(void **state)
{
	(void)state;
	struct canvas a, b;
	struct fixture *f = make_fixture(fill_four);
	struct dash *d = dash_create(&OPS, f, 0x1d);
	canvas_init(&a, 1, 1);
	canvas_init(&b, 1, 1);
	dash_resize(d, 30, 110);
	dash_draw(d, &a);
	f->model.now_ms += 800; /* still the same second */
	dash_draw(d, &b);
	assert_true(canvas_equal(&a, &b));
	f->model.now_ms += MINUTE;
	dash_draw(d, &b);
	assert_false(canvas_equal(&a, &b));
	canvas_finish(&a);
	canvas_finish(&b);
	dash_destroy(d);
	free_fixture(f);
}

int main(void)
{
	setlocale(LC_ALL, "");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pictures_are_as_they_were),
	    cmocka_unit_test(every_size_can_be_drawn),
	    cmocka_unit_test(unchanged_data_give_the_same_picture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
