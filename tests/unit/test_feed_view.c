/* tui/feed_rows and tui/feed_view: that nothing moves under the cursor, and pictures of the feed (tests/screens/feed-*).
 * UPDATE=1 rewrites them. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/client/feed_store.h"
#include "tests/lib/golden.h"
#include "tests/lib/picture.h"
#include "tui/feed_view.h"

#define NOW_MS INT64_C(1796073242123) /* 2026-11-30T21:14:02Z */
#define SECOND INT64_C(1000)
#define KEEP   2000

static const char *const NAMES[] = {"alpha", "beta", "gamma-with-a-very-long-name-0123"};

/* The feed's own store, without files. */
struct scene {
	struct feed_store *store;
	struct feed_owner owners[ARRAY_LEN(NAMES)];
	struct feed_rows rows;
	struct feed_view view;
	int height;
};

static void begin(struct scene *s, size_t keep)
{
	*s = (struct scene){.height = 4};
	s->store = feed_store_create(keep);
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		feed_store_join(s->store, &s->owners[i]);
	feed_rows_init(&s->rows);
	s->view = (struct feed_view){.rows = &s->rows, .now_ms = NOW_MS};
}

static void finish(struct scene *s)
{
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++)
		feed_store_leave(s->store, &s->owners[i]);
	feed_store_destroy(s->store);
	feed_rows_finish(&s->rows);
}

static void update(struct scene *s)
{
	struct feed_list list;
	feed_store_look(s->store, &list);
	feed_rows_update(&s->rows, &list, s->height);
}

static void add(struct scene *s, size_t vm, int64_t age_ms, enum feed_event event, const char *target,
                const char *why)
{
	struct feed_entry e = {.event = event, .time_ms = NOW_MS - age_ms};
	snprintf(e.vm, sizeof(e.vm), "%s", NAMES[vm]);
	snprintf(e.target, sizeof(e.target), "%s", target);
	snprintf(e.why, sizeof(e.why), "%s", why);
	if (event == FEED_CLOSE) {
		e.up = 41300;
		e.down = 3 << 20;
		e.ms = 12340;
	}
	feed_store_add(s->store, &s->owners[vm], &e);
}

static void deny(struct scene *s, size_t vm, const char *target)
{
	add(s, vm, 0, FEED_DENY, target, "no rule allows it");
}

/* The targets of the rows, from the first that is shown, with "*" before the one under the cursor. */
static const char *shown(struct scene *s)
{
	static char text[4096];
	size_t len = 0;
	update(s);
	for (size_t i = s->rows.top; i < s->rows.count && i < s->rows.top + (size_t)s->height; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s", len ? " " : "",
		                        i == s->rows.selected ? "*" : "", s->rows.rows[i].entry->target);
	text[len] = '\0';
	return text;
}

static void deny_each(struct scene *s, const char *letters)
{
	for (; *letters; letters++)
		deny(s, 0, (char[]){*letters, '\0'});
}

/* ---- rows ---- */

static void equal_refusals_fold(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, KEEP);
	deny_each(&s, "abcab");
	deny(&s, 1, "a");                                        /* another VM */
	add(&s, 0, 0, FEED_DENY, "a", "a deny rule refuses it"); /* another reason */
	s.height = 10;
	assert_string_equal(shown(&s), "c a b a *a");
	assert_int_equal(s.rows.rows[1].count, 2);
	assert_int_equal(s.rows.rows[3].count, 1);
	assert_string_equal(s.rows.rows[3].entry->vm, "beta");
	deny(&s, 0, "c");
	assert_string_equal(shown(&s), "a b a a *c"); /* at the place of its newest one */
	assert_int_equal(s.rows.rows[4].count, 2);
	finish(&s);
}

static void a_count_outlives_its_entries(void **state)
{
	(void)state;
	struct scene s;
	struct feed_list list;
	begin(&s, 8);
	for (int i = 0; i < 100; i++)
		deny_each(&s, "ab");
	feed_store_look(s.store, &list);
	assert_int_equal(list.entry_count, 8);
	assert_int_equal(list.denial_count, 2);
	assert_int_equal(list.denials[0]->count, 100);
	assert_int_equal(list.denials[1]->count, 100);
	finish(&s);
}

/* With one place there is one bucket: only the texts tell refusals apart. */
static void what_differs_is_not_folded(void **state)
{
	(void)state;
	struct scene s;
	struct feed_list list;
	begin(&s, 1);
	deny(&s, 0, "a");
	deny(&s, 0, "a");
	feed_store_look(s.store, &list);
	assert_int_equal(list.denials[0]->count, 2);
	add(&s, 0, 0, FEED_DENY, "a", "another reason");
	feed_store_look(s.store, &list);
	assert_int_equal(list.denials[0]->count, 1);
	add(&s, 1, 0, FEED_DENY, "a", "another reason");
	feed_store_look(s.store, &list);
	assert_int_equal(list.denials[0]->count, 1);
	add(&s, 1, 0, FEED_DENY, "b", "another reason");
	feed_store_look(s.store, &list);
	assert_int_equal(list.denials[0]->count, 1);
	assert_int_equal(list.denial_count, 1);
	finish(&s);
}

static void a_flood_pushes_out_only_its_own(void **state)
{
	(void)state;
	struct scene s;
	struct feed_list list;
	begin(&s, 100);
	for (int i = 0; i < 20; i++) {
		char target[32];
		snprintf(target, sizeof(target), "host-%d.example:443", i);
		deny(&s, 1, target);
	}
	for (int i = 0; i < 10000; i++) {
		char target[32];
		snprintf(target, sizeof(target), "flood-%d.example:443", i);
		deny(&s, 0, target);
	}
	feed_store_look(s.store, &list);
	size_t of_beta = 0;
	for (size_t i = 0; i < list.denial_count; i++)
		of_beta += strcmp(list.denials[i]->newest.vm, "beta") == 0;
	assert_int_equal(list.denial_count, 100);
	assert_int_equal(list.entry_count, 100);
	assert_int_equal(of_beta, 20);
	assert_string_equal(list.denials[99]->newest.target, "flood-9999.example:443");
	assert_string_equal(list.entries[0]->target, "host-0.example:443");
	finish(&s);
}

static void a_vm_that_leaves_takes_its_rows(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, KEEP);
	deny_each(&s, "ab");
	deny(&s, 1, "x");
	s.height = 10;
	assert_string_equal(shown(&s), "a b *x");
	feed_rows_hold(&s.rows);
	feed_rows_move(&s.rows, -1); /* on b */
	uint64_t id_of_b = feed_rows_selected(&s.rows)->id;
	feed_store_leave(s.store, &s.owners[0]);
	feed_store_join(s.store, &s.owners[0]);
	assert_string_equal(shown(&s), "*x"); /* the row after it */
	deny_each(&s, "b");                   /* made again under the same name: a count of its own */
	assert_string_equal(shown(&s), "*x b");
	assert_int_equal(s.rows.rows[1].count, 1);
	assert_true(s.rows.rows[1].id > id_of_b);
	finish(&s);
}

static void nothing_moves_under_the_cursor(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, KEEP);
	deny_each(&s, "abcdef");
	assert_string_equal(shown(&s), "c d e *f");
	feed_rows_hold(&s.rows);
	feed_rows_move(&s.rows, -2);
	assert_string_equal(shown(&s), "c *d e f");
	deny_each(&s, "dxcy"); /* two known ones, two new ones */
	assert_string_equal(shown(&s), "c *d e f");
	assert_int_equal(s.rows.rows[3].count, 2);
	assert_int_equal(s.rows.unseen, 2);
	feed_rows_move(&s.rows, 3);
	assert_string_equal(shown(&s), "d e f *x");
	assert_int_equal(s.rows.unseen, 1);
	feed_rows_move(&s.rows, 100);
	assert_string_equal(shown(&s), "e f x *y");
	assert_int_equal(s.rows.unseen, 0);
	deny_each(&s, "z");
	assert_string_equal(shown(&s), "e f x *y");
	assert_int_equal(s.rows.unseen, 1);
	feed_rows_release(&s.rows);
	assert_string_equal(shown(&s), "x c y *z"); /* in the order of the newest again */
	finish(&s);
}

static void rows_that_go_hand_the_cursor_on(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, 6);
	deny_each(&s, "abcdef");
	shown(&s);
	feed_rows_hold(&s.rows);
	feed_rows_move(&s.rows, -5);
	assert_string_equal(shown(&s), "*a b c d");
	deny_each(&s, "gh"); /* a and b are pushed out */
	assert_string_equal(shown(&s), "*c d e f");
	deny_each(&s, "ijklmno");
	assert_string_equal(shown(&s), "l m n *o"); /* nothing of what was there is left */
	finish(&s);
}

static void kept_denied_is_left_out(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, KEEP);
	deny_each(&s, "abcd");
	shown(&s);
	feed_rows_move(&s.rows, -2);
	assert_string_equal(shown(&s), "a *b c d");
	assert_true(feed_rows_hide(&s.rows, feed_rows_selected(&s.rows)));
	assert_string_equal(shown(&s), "a *c d");
	assert_int_equal(s.rows.hidden, 1);
	deny_each(&s, "b"); /* comes again */
	assert_string_equal(shown(&s), "a *c d");
	deny(&s, 1, "b"); /* of another VM: not the same */
	assert_string_equal(shown(&s), "a *c d b");
	assert_string_equal(feed_rows_newest(&s.rows, "alpha")->entry->target, "d");
	assert_null(feed_rows_newest(&s.rows, "nobody"));
	feed_rows_show(&s.rows, FEED_TAB_ALL); /* there it is still */
	s.height = 10;
	assert_string_equal(shown(&s), "a b c d b *b");
	feed_rows_show(&s.rows, FEED_TAB_DENIED);
	shown(&s);
	feed_rows_unhide_all(&s.rows);
	feed_rows_release(&s.rows);
	assert_string_equal(shown(&s), "a c d b *b");
	assert_int_equal(s.rows.hidden, 0);
	add(&s, 0, 0, FEED_OPEN, "open.example:443", "");
	feed_rows_show(&s.rows, FEED_TAB_ALL);
	shown(&s);
	assert_false(feed_rows_hide(&s.rows, feed_rows_selected(&s.rows)));
	finish(&s);
}

static void tabs_have_their_own_rows(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, KEEP);
	assert_string_equal(shown(&s), "");
	assert_null(feed_rows_selected(&s.rows));
	feed_rows_hold(&s.rows);
	feed_rows_move(&s.rows, 1);
	assert_null(feed_rows_selected(&s.rows));
	deny_each(&s, "aab");
	add(&s, 1, 0, FEED_OPEN, "o", "");
	assert_string_equal(shown(&s), "a *b");
	feed_rows_show(&s.rows, FEED_TAB_ALL);
	assert_string_equal(shown(&s), "a a b *o");
	feed_rows_show(&s.rows, FEED_TAB_HANDOFFS);
	assert_string_equal(shown(&s), "");
	assert_null(feed_rows_selected(&s.rows));
	feed_rows_show(&s.rows, FEED_TAB_DENIED);
	assert_string_equal(shown(&s), "a *b");
	finish(&s);
}

/* The rule as the operator would write it, or none. */
static void a_row_names_the_narrowest_rule(void **state)
{
	(void)state;
	static const struct {
		const char *target, *rule;
	} CASES[] = {
	    {"telemetry.example:443", "telemetry.example"},
	    {"telemetry.example:8443", "telemetry.example:8443"},
	    {"10.0.0.1:443", NULL},
	    {"*.example:443", NULL},
	    {"GET / HTTP/1.1", NULL},
	    {"", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct feed_entry e = {.event = FEED_DENY};
		struct feed_row row = {.entry = &e, .count = 1};
		char rule[FEED_RULE_SIZE];
		struct err err = ERR_INIT;
		snprintf(e.target, sizeof(e.target), "%s", CASES[i].target);
		bool ok = feed_row_rule(&row, rule, &err);
		assert_int_equal(ok, CASES[i].rule != NULL);
		if (ok)
			assert_string_equal(rule, CASES[i].rule);
		else
			assert_true(err.msg[0] != '\0');
	}
}

/* ---- pictures ---- */

static void fill_denied(struct scene *s)
{
	for (int i = 0; i < 14; i++)
		add(s, 0, (60 - i) * SECOND, FEED_DENY, "telemetry.example:443", "no rule allows it");
	for (int i = 0; i < 2; i++)
		add(s, 1, (50 - i) * SECOND, FEED_DENY, "raw.githubusercontent.example:8443",
		    "no rule allows it");
	add(s, 0, 4 * SECOND, FEED_DENY, "10.0.0.1:22", "an address, not a name");
	add(s, 1, 3 * SECOND, FEED_OPEN, "api.anthropic.example:443", "");
}

static void fill_all(struct scene *s)
{
	add(s, 0, 90000 * SECOND, FEED_OTHER, "", "start");
	add(s, 0, 60 * SECOND, FEED_OPEN, "api.anthropic.example:443", "");
	add(s, 1, 50 * SECOND, FEED_DENY, "telemetry.example:443", "no rule allows it");
	add(s, 0, 40 * SECOND, FEED_CLOSE, "api.anthropic.example:443", "");
	add(s, 1, 30 * SECOND, FEED_FAIL, "git.example:443", "the connection was refused");
	feed_rows_show(&s->rows, FEED_TAB_ALL);
}

static void fill_hidden(struct scene *s)
{
	fill_denied(s);
	update(s);
	feed_rows_hide(&s->rows, &s->rows.rows[0]);
	feed_rows_hold(&s->rows);
	s->view.focused = true;
}

static void fill_all_hidden(struct scene *s)
{
	deny_each(s, "a");
	update(s);
	feed_rows_hide(&s->rows, &s->rows.rows[0]);
}

static void fill_new(struct scene *s)
{
	deny_each(s, "abcdef");
	update(s);
	feed_rows_move(&s->rows, -4);
	deny_each(s, "aaghij");
	s->view.focused = true;
}

static void fill_nothing(struct scene *s)
{
	(void)s;
}

static void fill_no_requests(struct scene *s)
{
	feed_rows_show(&s->rows, FEED_TAB_ALL);
}

static void fill_handoffs(struct scene *s)
{
	fill_denied(s);
	feed_rows_show(&s->rows, FEED_TAB_HANDOFFS);
	s->view.focused = true;
}

static void fill_hostile(struct scene *s)
{
	add(s, 2, SECOND, FEED_DENY,
	    "an-endless-name-that-someone-made-up-to-hide-where-it-ends.of.evil.example:8443",
	    "no \x1b]0;x\x07rule \xe2\x80\xae and a reason that has no end because it goes on and on");
	add(s, 0, -3600 * SECOND, FEED_DENY, "\\x1b[2J.example:443", "a name with a byte that no name has");
	s->view.denied = UINT64_MAX;
}

static void fill_long_ago(struct scene *s)
{
	add(s, 0, 200000 * SECOND, FEED_DENY, "days.example:443", "no rule allows it");
	add(s, 0, 80000 * SECOND, FEED_DENY, "yesterday.example:443", "no rule allows it");
	add(s, 0, SECOND, FEED_DENY, "now.example:443", "no rule allows it");
}

static const struct {
	const char *file, *title;
	int rows, cols; /* with the tabs; one row: folded */
	void (*fill)(struct scene *s);
} PICTURES[] = {
    {"feed-denied-110x7", "who was refused what, how often, and which rule would change that", 7, 110,
     fill_denied},
    {"feed-denied-80x5", "the same at 80 columns", 5, 80, fill_denied},
    {"feed-denied-40x4", "the same at 40 columns", 4, 40, fill_denied},
    {"feed-denied-20x3", "the same at 20 columns", 3, 20, fill_denied},
    {"feed-denied-80x1", "folded into one line", 1, 80, fill_denied},
    {"feed-denied-30x1", "the same at 30 columns", 1, 30, fill_denied},
    {"feed-all-110x7", "every request and what became of it", 7, 110, fill_all},
    {"feed-all-80x7", "the same at 80 columns", 7, 80, fill_all},
    {"feed-all-40x7", "the same at 40 columns", 7, 40, fill_all},
    {"feed-hidden-80x4", "one refusal is kept denied", 4, 80, fill_hidden},
    {"feed-all-hidden-80x3", "all of them are", 3, 80, fill_all_hidden},
    {"feed-new-80x5", "new rows below the edge; what came again counts where it stands", 5, 80, fill_new},
    {"feed-empty-80x3", "nothing was refused", 3, 80, fill_nothing},
    {"feed-no-requests-40x4", "nothing was asked for", 4, 40, fill_no_requests},
    {"feed-handoffs-80x3", "no handoffs", 3, 80, fill_handoffs},
    {"feed-handoffs-40x4", "the same at 40 columns", 4, 40, fill_handoffs},
    {"feed-hostile-80x4", "the end of a long host name is kept, nothing is raw", 4, 80, fill_hostile},
    {"feed-long-ago-80x4", "days ago, yesterday after this time of day, now", 4, 80, fill_long_ago},
};

static void draw(struct scene *s, struct canvas *c, int rows, int cols)
{
	struct rect rule = {.rows = 1, .cols = cols}, r = {.row = 1, .rows = rows - 1, .cols = cols};
	if (rows == 1) {
		r = rule;
		rule = (struct rect){0};
	}
	s->height = r.rows;
	update(s);
	canvas_resize(c, rows, cols);
	canvas_clear(c);
	feed_view_draw(c, rule, r, &s->view);
}

static void pictures_are_as_they_were(void **state)
{
	(void)state;
	int failed = 0;
	for (size_t i = 0; i < ARRAY_LEN(PICTURES); i++) {
		char path[128];
		struct canvas c;
		struct scene s;
		begin(&s, KEEP);
		s.height = PICTURES[i].rows - 1;
		PICTURES[i].fill(&s);
		canvas_init(&c, 1, 1);
		draw(&s, &c, PICTURES[i].rows, PICTURES[i].cols);
		char *text = picture_of(PICTURES[i].title, &c);
		snprintf(path, sizeof(path), "tests/screens/%s.screen", PICTURES[i].file);
		failed += !golden_check(path, text);
		free(text);
		canvas_finish(&c);
		finish(&s);
	}
	assert_int_equal(failed, 0);
}

/* ---- anything ---- */

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static void add_random(struct scene *s, uint64_t *seed)
{
	char target[320], why[80];
	size_t len = next_random(seed) % 4 ? next_random(seed) % 20 : next_random(seed) % sizeof(target);
	for (size_t i = 0; i < len; i++)
		target[i] = (char)(1 + next_random(seed) % 255);
	snprintf(target + len, sizeof(target) - len, ":%u", next_random(seed) % 4);
	if (next_random(seed) % 2)
		snprintf(target, sizeof(target), "host-%u.example:443", next_random(seed) % 30);
	snprintf(why, sizeof(why), "reason %u", next_random(seed) % 3);
	add(s, next_random(seed) % ARRAY_LEN(NAMES), (int64_t)next_random(seed) % 100000,
	    (enum feed_event)(next_random(seed) % FEED_EVENT_COUNT), target, why);
}

/* What must be true after every update, whatever happened before. */
static void check_rows(const struct scene *s)
{
	const struct feed_rows *f = &s->rows;
	for (size_t i = 0; i < f->count; i++) {
		assert_non_null(f->rows[i].entry);
		assert_true(f->rows[i].count >= 1);
		for (size_t k = 0; k < i && i < 50; k++)
			assert_true(f->rows[k].id != f->rows[i].id);
	}
	if (f->count == 0) {
		assert_int_equal(f->selected, SIZE_MAX);
		return;
	}
	assert_true(f->selected < f->count);
	assert_true(f->top <= f->selected && f->selected < f->top + (size_t)s->height);
	assert_true(f->unseen <= f->count);
}

static void any_story_keeps_the_cursor_on_its_row(void **state)
{
	(void)state;
	uint64_t seed = 20261130;
	struct canvas c;
	canvas_init(&c, 1, 1);
	for (int round = 0; round < 40; round++) {
		struct scene s;
		begin(&s, 1 + next_random(&seed) % 60);
		for (int step = 0; step < 60; step++) {
			uint32_t what = next_random(&seed) % 12;
			update(&s);
			const struct feed_row *row = feed_rows_selected(&s.rows);
			uint64_t id = row ? row->id : 0;
			for (uint32_t i = 0; what < 6 && i < what; i++)
				add_random(&s, &seed);
			if (what == 6)
				feed_rows_hold(&s.rows);
			else if (what == 7)
				feed_rows_release(&s.rows);
			else if (what == 8)
				feed_rows_move(&s.rows, (long)(next_random(&seed) % 9) - 4);
			else if (what == 9)
				feed_rows_show(&s.rows, (enum feed_tab)(next_random(&seed) % FEED_TAB_COUNT));
			else if (what == 10 && row && next_random(&seed) % 4 == 0)
				(void)feed_rows_hide(&s.rows, row);
			int rows = 1 + (int)(next_random(&seed) % 30),
			    cols = 1 + (int)(next_random(&seed) % 200);
			draw(&s, &c, rows, cols);
			check_rows(&s);
			row = feed_rows_selected(&s.rows);
			bool there = false;
			for (size_t i = 0; i < s.rows.count; i++)
				there |= s.rows.rows[i].id == id;
			if (what < 6 && s.rows.held && there)
				assert_int_equal(row->id, id);
		}
		finish(&s);
	}
	canvas_finish(&c);
}

static void every_size_can_be_drawn(void **state)
{
	(void)state;
	static void (*const FILLS[])(struct scene * s) = {fill_denied,  fill_all,      fill_hidden, fill_new,
	                                                  fill_nothing, fill_handoffs, fill_hostile};
	struct canvas c;
	canvas_init(&c, 1, 1);
	for (size_t i = 0; i < ARRAY_LEN(FILLS); i++) {
		struct scene s;
		begin(&s, KEEP);
		FILLS[i](&s);
		for (int rows = 1; rows <= 200; rows += rows < 13 ? 1 : 47) {
			for (int cols = 1; cols <= 500; cols += cols < 90 ? 1 : 61)
				draw(&s, &c, rows, cols);
		}
		finish(&s);
	}
	canvas_finish(&c);
}

int main(void)
{
	setlocale(LC_ALL, "");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_refusals_fold),
	    cmocka_unit_test(a_count_outlives_its_entries),
	    cmocka_unit_test(what_differs_is_not_folded),
	    cmocka_unit_test(a_flood_pushes_out_only_its_own),
	    cmocka_unit_test(a_vm_that_leaves_takes_its_rows),
	    cmocka_unit_test(nothing_moves_under_the_cursor),
	    cmocka_unit_test(rows_that_go_hand_the_cursor_on),
	    cmocka_unit_test(kept_denied_is_left_out),
	    cmocka_unit_test(tabs_have_their_own_rows),
	    cmocka_unit_test(a_row_names_the_narrowest_rule),
	    cmocka_unit_test(pictures_are_as_they_were),
	    cmocka_unit_test(any_story_keeps_the_cursor_on_its_row),
	    cmocka_unit_test(every_size_can_be_drawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
