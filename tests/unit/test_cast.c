/* core/cli/cast: a recording, played in an emulator, shows every screen that was recorded. */
#include "tests/lib/test.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/cli/cast.h"
#include "tests/lib/term_test.h"

struct player {
	struct term_test t;
	bool begun;
	unsigned outputs, resizes;
	double time;
	char title[TERM_TITLE_MAX + 1];
};

static void play_header(struct player *p, const cJSON *o)
{
	const cJSON *title = cJSON_GetObjectItem(o, "title");
	assert_int_equal(cJSON_GetObjectItem(o, "version")->valueint, 2);
	assert_int_equal(cJSON_GetObjectItem(o, "timestamp")->valueint, 1796120400);
	assert_string_equal(cJSON_GetObjectItem(cJSON_GetObjectItem(o, "env"), "TERM")->valuestring,
	                    "xterm-256color");
	if (title)
		snprintf(p->title, sizeof(p->title), "%s", title->valuestring);
	term_test_init(&p->t, (unsigned)cJSON_GetObjectItem(o, "height")->valueint,
	               (unsigned)cJSON_GetObjectItem(o, "width")->valueint);
	p->begun = true;
}

static void play_event(struct player *p, const cJSON *a)
{
	assert_int_equal(cJSON_GetArraySize(a), 3);
	const char *kind = cJSON_GetArrayItem(a, 1)->valuestring;
	const char *data = cJSON_GetArrayItem(a, 2)->valuestring;
	unsigned rows, cols;
	assert_true(cJSON_GetArrayItem(a, 0)->valuedouble >= p->time);
	p->time = cJSON_GetArrayItem(a, 0)->valuedouble;
	if (strcmp(kind, "o") == 0) {
		p->outputs++;
		term_test_write(&p->t, data);
		return;
	}
	assert_string_equal(kind, "r");
	assert_int_equal(sscanf(data, "%ux%u", &cols, &rows), 2);
	p->resizes++;
	emulator_resize(p->t.e, rows, cols);
}

static void play(struct player *p, struct str *lines)
{
	for (char *line = lines->s, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		cJSON *json = cJSON_Parse(line);
		assert_non_null(json);
		if (p->begun)
			play_event(p, json);
		else
			play_header(p, json);
		cJSON_Delete(json);
	}
	str_clear(lines);
}

/* What a picture has: cells and the place of the cursor. Modes of the guest are none of a player's business. */
static void expect_same_picture(struct player *p, const struct screen *want)
{
	struct screen got, shown;
	term_test_sync(&p->t);
	screen_init(&got, 1, 2);
	screen_init(&shown, 1, 2);
	screen_copy(&got, &p->t.screen);
	screen_copy(&shown, want);
	for (size_t i = 0; (shown.modes & TERM_REVERSE_VIDEO) && i < (size_t)shown.rows * shown.cols; i++)
		shown.cells[i].attrs ^= CELL_REVERSE;
	for (size_t i = 0; i < (size_t)shown.rows * shown.cols; i++) {
		shown.cells[i].link = got.cells[i].link = 0;
		if (shown.cells[i].code == ' ')
			shown.cells[i].code = 0;
		if (got.cells[i].code == ' ')
			got.cells[i].code = 0;
	}
	got.modes = shown.modes;
	got.history = shown.history;
	got.history_first = shown.history_first;
	memset(got.flags, 0, got.rows);
	memset(shown.flags, 0, shown.rows);
	if (!shown.cursor.visible)
		got.cursor = shown.cursor;
	term_test_same(&got, &shown);
	screen_finish(&got);
	screen_finish(&shown);
}

static void record(struct cast *c, struct term_test *t, uint64_t now_ms, struct str *lines)
{
	term_test_sync(t);
	cast_frame(c, &t->screen, now_ms, 1796120400123, lines);
	assert_false(lines->overflow);
}

static void a_recording_shows_what_was_shown(void **state)
{
	(void)state;
	struct term_test t;
	struct cast c;
	struct player p = {.begun = false};
	struct str lines = STR_INIT(CAST_TEXT_MAX);
	cast_init(&c);
	term_test_init(&t, 5, 20);
	term_test_write(&t, "\x1b]2;a \"title\"\a$ ");
	record(&c, &t, 1000, &lines);
	assert_ptr_equal(strstr(lines.s, "{\"version\":2,\"width\":20,\"height\":5,"), lines.s);
	play(&p, &lines);
	assert_string_equal(p.title, "a \"title\"");
	assert_string_equal(emulator_title(p.t.e), "a \"title\"");
	expect_same_picture(&p, &t.screen);
	record(&c, &t, 1100, &lines); /* nothing new: no event */
	assert_string_equal(lines.s, "");
	term_test_write(
	    &t, "\x1b[1;31mls\x1b[0m\r\nx\xe4\xbd\xa0y e\xcc\x81 \xf0\x9f\x98\x80|\x1b[7m \x1b[0m\x1b[4:3mz");
	record(&c, &t, 1500, &lines);
	assert_non_null(strstr(lines.s, "[0.5,\"o\",\""));
	play(&p, &lines);
	expect_same_picture(&p, &t.screen);
	emulator_resize(t.e, 3, 12);
	record(&c, &t, 2000, &lines);
	assert_ptr_equal(strstr(lines.s, "[1,\"r\",\"12x3\"]\n"), lines.s);
	play(&p, &lines);
	expect_same_picture(&p, &t.screen);
	term_test_write(&t, "\x1b[?25l\x1b[?5h\x1b]2;other\a");
	record(&c, &t, 2000, &lines);
	play(&p, &lines);
	assert_string_equal(emulator_title(p.t.e), "other");
	expect_same_picture(&p, &t.screen);
	assert_int_equal(p.resizes, 1);
	term_test_finish(&p.t);
	term_test_finish(&t);
	cast_finish(&c);
	str_finish(&lines);
}

static void any_screen_can_be_recorded(void **state)
{
	(void)state;
	static const char *const PIECES[] = {
	    "text ",       "\xe4\xbd\xa0", "e\xcc\x81",        "\xf0\x9f\x91\xa9",

	    "\r\n",        "\x1b[31m",     "\x1b[48;2;1;2;3m", "\x1b[4:3m",
	    "\x1b[0m",     "\x1b[2J",      "\x1b[H",           "\x1b[3;5H",
	    "\x1b[K",      "\x1b[L",       "\x1b[M",           "\x1b[?1049h",
	    "\x1b[?1049l", "\x1b[?5h",     "\x1b[?5l",         "\x1b[7m",
	    "\t",          "\b",           "\x1b[5 q",         "\x1b[9;53m",
	    "\"\\/",       "\x7f"};
	struct term_test t;
	struct cast c;
	struct player p = {.begun = false};
	struct str lines = STR_INIT(CAST_TEXT_MAX);
	uint32_t seed = 7;
	cast_init(&c);
	term_test_init(&t, 6, 18);
	for (unsigned step = 0; step < 400; step++) {
		for (unsigned i = 0; i < 12; i++) {
			seed = seed * 1664525 + 1013904223;
			term_test_write(&t, PIECES[(seed >> 16) % ARRAY_LEN(PIECES)]);
		}
		if (step % 20 == 19)
			emulator_resize(t.e, 2 + seed % 9, 2 + (seed >> 8) % 30);
		record(&c, &t, 1000 + step, &lines);
		play(&p, &lines);
		expect_same_picture(&p, &t.screen);
	}
	assert_true(p.outputs > 100 && p.resizes > 10);
	term_test_finish(&p.t);
	term_test_finish(&t);
	cast_finish(&c);
	str_finish(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_recording_shows_what_was_shown),
	    cmocka_unit_test(any_screen_can_be_recorded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
