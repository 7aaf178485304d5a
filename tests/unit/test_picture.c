/* The picture of the dashboard that the README shows, tui/dashboard.svg: it is what the program draws. `make picture` writes
 * it anew. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/term/svg.h"
#include "tests/lib/dash_rig.h"
#include "tests/lib/golden.h"
#include "tui/dress.h"
#include "tui/theme_file.h"

static void vitals(struct dash_rig *r, const char *vm, uint32_t cpu_permille, uint64_t used_mib,
                   const char *command, const char *title)
{
	struct vm_status *s = &dash_rig_find(r, vm)->status;
	s->cpu_permille = cpu_permille;
	s->mem_used_kib = used_mib << 10;
	s->mem_total_kib = 1024 << 10;
	s->terminal_count = 1;
	s->terminal[0] = (struct vm_terminal){.number = 1, .rows = 20, .cols = 66, .first = true};
	snprintf(s->terminal[0].command, sizeof(s->terminal[0].command), "%s", command);
	snprintf(s->terminal[0].title, sizeof(s->terminal[0].title), "%s", title);
}

static void fill_agent(struct screen *s)
{
	static const struct cell PLAIN = {0}, DIM = {.attrs = CELL_DIM}, GREEN = {.fg = COLOUR_INDEXED(2)},
	                         BOLD = {.attrs = CELL_BOLD}, BLUE = {.fg = COLOUR_INDEXED(4)};
	static const struct {
		const struct cell *look;
		const char *text;
	} LINES[] = {
	    {&BOLD, "● All 214 tests pass. I need two things before I go on:"},
	    {&PLAIN, "  the release notes, and the branch pushed."},
	    {&PLAIN, ""},
	    {&DIM, "  ```sh"},
	    {&GREEN, "  git fetch ccvm::alpha feature/parser"},
	    {&GREEN, "  git push origin FETCH_HEAD:feature/parser"},
	    {&DIM, "  ```"},
	    {&PLAIN, "  The first brings my commits over, the second publishes them."},
	    {&PLAIN, ""},
	    {&BLUE, "❯ "},
	};
	for (unsigned i = 0; i < ARRAY_LEN(LINES); i++)
		dash_rig_put(s, i, 0, LINES[i].look, LINES[i].text);
	s->cursor = (struct term_cursor){.row = ARRAY_LEN(LINES) - 1, .col = 2, .visible = true};
}

static void fill(struct dash_rig *r)
{
	struct vm_status *failed = dash_rig_vm(r, "delta", VM_FAILED);
	dash_rig_vm(r, "alpha", VM_READY);
	dash_rig_vm(r, "beta", VM_READY);
	dash_rig_vm(r, "gamma", VM_READY);
	failed->started_ms = RIG_NOW_MS - 5 * RIG_MINUTE;
	snprintf(failed->reason, sizeof(failed->reason), "not ready after 120 s");
	dash_rig_attention(r, "alpha", ATTENTION_WAITING, 2 * RIG_MINUTE);
	dash_rig_attention(r, "beta", ATTENTION_WORKING, 11 * RIG_SECOND);
	dash_rig_attention(r, "gamma", ATTENTION_IDLE, RIG_HOUR);
	snprintf(dash_rig_find(r, "alpha")->status.attention.text, 200, "May I push feature/parser?");
	vitals(r, "alpha", 30, 412, "claude", "feature/parser");
	vitals(r, "beta", 640, 890, "claude", "migrate the tests");
	vitals(r, "gamma", 2, 210, "sh -l", "");
	for (int i = 0; i < 14; i++)
		dash_rig_deny(r, "alpha", (64 - i) * RIG_SECOND, "telemetry.example:443",
		              "no rule allows it");
	for (int i = 0; i < 2; i++)
		dash_rig_deny(r, "beta", (31 - i) * RIG_SECOND, "raw.githubusercontent.example:443",
		              "no rule allows it");
	dash_rig_pane(r, "alpha", 0, 19, 61);
	fill_agent(&r->screens[0]);
	snprintf(r->screens[0].title, sizeof(r->screens[0].title), "feature/parser");
}

/* The background of the theme is that of the whole picture, and not drawn for each word. */
static void backdrop(struct theme *theme, struct svg_look *look)
{
	struct theme_look plain = theme->looks[STYLE_PLAIN];
	look->fg = plain.fg & 0xffffff;
	look->bg = plain.bg & 0xffffff;
	for (int i = 0; i < STYLE_COUNT; i++) {
		if (theme->looks[i].bg == plain.bg)
			theme->looks[i].bg = COLOUR_DEFAULT;
	}
}

static void the_picture_is_what_is_drawn(void **state)
{
	(void)state;
	struct dash_rig *r = mem_alloc(sizeof(*r));
	struct theme theme = theme_default;
	struct screen screen;
	struct err e = ERR_INIT;
	struct svg_look look = {.cursor = false};
	struct str svg = STR_INIT(1 << 20);
	size_t len;
	char *text FREE_ON_EXIT = fd_read_file("themes/dark.ini", 65536, &len, &e);
	assert_non_null(text);
	assert_true(theme_parse(&theme, text, len, "themes/dark.ini", &e));
	backdrop(&theme, &look);
	dash_rig_init(r);
	fill(r);
	dash_resize(r->dash, 30, 110);
	dash_draw(r->dash, &r->canvas);
	screen_init(&screen, 30, 110);
	dress_canvas(&screen, &r->canvas, &theme, THEME_ALL_COLOURS);
	look.title = "The dashboard of ccvm: four VMs, one waits for the operator, one has failed, and what "
	             "two were refused";
	svg_draw(&screen, &look, &svg);
	assert_false(svg.overflow);
	assert_true(golden_check("tui/dashboard.svg", svg.s));
	str_finish(&svg);
	screen_finish(&screen);
	dash_rig_finish(r);
	free(r);
}

int main(void)
{
	setlocale(LC_ALL, "");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_picture_is_what_is_drawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
