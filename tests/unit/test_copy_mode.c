/* tui/copy_mode: what actions lead to, and that older lines may come in at any time. Its pictures are in test_pane_view. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/term/keys.h"
#include "core/term/snapshot.h"
#include "tests/lib/transcript_rig.h"
#include "tui/copy_mode.h"

struct copying {
	struct transcript_rig terminal;
	struct copy_mode *copy;
};

/* "line 0" to "line 99" and an empty one, of which a screen of `rows` rows holds the last. */
static void begin(struct copying *c, unsigned rows, unsigned cols, unsigned lines)
{
	transcript_rig_init(&c->terminal, rows, cols);
	for (unsigned i = 0; i < lines; i++) {
		char text[64];
		snprintf(text, sizeof(text), "line %u\r\n", i);
		transcript_rig_print(&c->terminal, text);
	}
	transcript_rig_sync(&c->terminal);
	c->copy = copy_mode_create(&c->terminal.screen, (int)rows, (int)cols);
}

static void end(struct copying *c)
{
	copy_mode_destroy(c->copy);
	transcript_rig_finish(&c->terminal);
}

/* One piece of at most `most` lines. False: none is wanted. */
static bool fetch(struct copying *c, unsigned most)
{
	uint64_t before, first;
	uint32_t wanted;
	struct buf piece = BUF_INIT(SNAPSHOT_MIN * 2);
	if (!copy_mode_wants(c->copy, &before, &wanted))
		return false;
	assert_true(wanted > 0);
	assert_false(copy_mode_wants(c->copy, &before, &wanted)); /* once for each piece */
	unsigned n = transcript_encode(c->terminal.emulator, before, MIN(most, wanted), SNAPSHOT_MIN * 2,
	                               &piece, &first);
	copy_mode_lines(c->copy, first, n, (struct bytes){piece.data, piece.len}, NULL);
	buf_finish(&piece);
	return true;
}

static void fetch_all(struct copying *c)
{
	while (fetch(c, 7)) {
	}
}

static enum copy_result act(struct copying *c, enum copy_action a)
{
	return copy_mode_act(c->copy, a);
}

static void expect_text(const struct copying *c, const char *want)
{
	struct str text = STR_INIT(1 << 20);
	copy_mode_text(c->copy, &text);
	assert_string_equal(text.s, want);
	str_finish(&text);
}

static void expect_position(const struct copying *c, const char *want)
{
	char position[COPY_POSITION_SIZE];
	copy_mode_position(c->copy, position);
	assert_string_equal(position, want);
}

/* What is in the first row of the pane. */
static void expect_top(const struct copying *c, const char *want)
{
	struct canvas canvas;
	struct str text = STR_INIT(1 << 16);
	canvas_init(&canvas, c->terminal.screen.rows, c->terminal.screen.cols);
	copy_mode_draw(c->copy, &canvas, (struct rect){0, 0, canvas.rows, canvas.cols});
	canvas_dump_text(&canvas, &text);
	text.s[strcspn(text.s, "\n")] = '\0';
	assert_string_equal(text.s, want);
	str_finish(&text);
	canvas_finish(&canvas);
}

static void selections_are_copied(void **state)
{
	(void)state;
	static const struct {
		enum copy_action actions[12];
		const char *text;
	} CASES[] = {
	    {{COPY_UP, COPY_SELECT, COPY_WORD_END, COPY_WORD_END}, "line 99"},
	    {{COPY_UP, COPY_UP, COPY_SELECT_LINES, COPY_DOWN}, "line 98\nline 99\n"},
	    {{COPY_UP, COPY_LINE_END, COPY_SELECT, COPY_WORD_BACK}, "99"},
	    {{COPY_UP, COPY_UP, COPY_SELECT_BLOCK, COPY_DOWN, COPY_RIGHT, COPY_RIGHT}, "lin\nlin"},
	    {{COPY_UP, COPY_RIGHT, COPY_SELECT_WORDS}, "line"},
	    {{COPY_UP, COPY_SELECT, COPY_LINE_END, COPY_SWAP, COPY_WORD_NEXT}, "99"},
	    {{COPY_UP, COPY_SELECT, COPY_LINE_END, COPY_SELECT_LINES}, "line 99\n"},
	    {{COPY_FIRST, COPY_SELECT_LINES}, "line 0\n"},
	    {{COPY_HALF_UP, COPY_WINDOW_TOP, COPY_SELECT_LINES}, "line 86\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct copying c;
		begin(&c, 10, 40, 100);
		fetch_all(&c);
		for (size_t k = 0; k < ARRAY_LEN(CASES[i].actions); k++) {
			if (CASES[i].actions[k] != COPY_LEAVE) /* 0: the list is over */
				assert_int_equal(act(&c, CASES[i].actions[k]), COPY_RESULT_STAY);
		}
		expect_text(&c, CASES[i].text);
		assert_int_equal(act(&c, COPY_COPY), COPY_RESULT_COPY);
		end(&c);
	}
}

static void without_a_selection_nothing_is_copied(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	assert_int_equal(act(&c, COPY_COPY), COPY_RESULT_LEAVE);
	act(&c, COPY_SELECT);
	act(&c, COPY_SELECT); /* and no longer */
	assert_int_equal(act(&c, COPY_COPY), COPY_RESULT_LEAVE);
	assert_int_equal(act(&c, COPY_LEAVE), COPY_RESULT_LEAVE);
	expect_text(&c, "");
	end(&c);
}

static void output_goes_on_behind_it(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	transcript_rig_print(&c.terminal, "\r\nNEW\r\nNEW\033[H");
	transcript_rig_sync(&c.terminal);
	expect_top(&c, "line 91");
	expect_position(&c, "0/91");
	assert_true(fetch(&c, 30)); /* the numbers of its lines are still right */
	act(&c, COPY_UP);
	act(&c, COPY_HALF_UP);
	expect_top(&c, "line 86");
	end(&c);
}

static void older_lines_move_nothing(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	act(&c, COPY_SELECT);
	act(&c, COPY_WINDOW_TOP);
	expect_top(&c, "line 91");
	expect_position(&c, "0/91");
	unsigned pieces = 0;
	for (; fetch(&c, 30); pieces++)
		expect_top(&c, "line 91");
	assert_int_equal(pieces, 4);
	act(&c, COPY_FIRST);
	expect_top(&c, "line 0");
	expect_position(&c, "-91/91");
	assert_false(fetch(&c, 30));
	end(&c);
}

/* Whoever scrolls faster than the lines come is taken there when they are. */
static void what_is_not_there_yet_is_owed(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	assert_false(copy_mode_scroll(c.copy, -3));
	assert_false(copy_mode_scroll(c.copy, -3));
	expect_top(&c, "line 91");
	fetch(&c, 2);
	expect_top(&c, "line 89");
	fetch(&c, 30);
	expect_top(&c, "line 85");
	act(&c, COPY_PAGE_UP);
	expect_top(&c, "line 77");
	act(&c, COPY_FIRST);
	fetch(&c, 20);
	act(&c, COPY_DOWN); /* and whoever does something else is not */
	fetch(&c, 20);
	expect_top(&c, "line 39");
	act(&c, COPY_FIRST);
	fetch_all(&c);
	expect_top(&c, "line 0");
	end(&c);
}

static void lines_that_do_not_come_are_not_asked_for_again(void **state)
{
	(void)state;
	struct copying c;
	uint64_t before;
	uint32_t most;
	struct err gone = ERR_INIT;
	err_set(&gone, ERR_GONE, "gone");
	begin(&c, 10, 40, 100);
	assert_true(copy_mode_wants(c.copy, &before, &most));
	copy_mode_lines(c.copy, 0, 0, (struct bytes){NULL, 0}, &gone);
	assert_false(copy_mode_wants(c.copy, &before, &most));
	expect_position(&c, "0/0"); /* there is no more to be had */
	end(&c);
	begin(&c, 10, 40, 100);
	assert_true(copy_mode_wants(c.copy, &before, &most));
	copy_mode_lines(c.copy, 3, 1, (struct bytes){(const uint8_t *)"nonsense", 8}, NULL);
	assert_false(copy_mode_wants(c.copy, &before, &most));
	expect_top(&c, "line 91");
	end(&c);
}

static void pages_and_scrolling(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	fetch_all(&c);
	act(&c, COPY_PAGE_UP);
	expect_top(&c, "line 83"); /* two lines of the old page stay */
	act(&c, COPY_PAGE_DOWN);
	expect_top(&c, "line 91");
	act(&c, COPY_SCROLL_UP);
	expect_top(&c, "line 90");
	assert_false(copy_mode_scroll(c.copy, -5));
	expect_top(&c, "line 85");
	assert_true(copy_mode_scroll(c.copy, 50)); /* the wheel may leave */
	expect_top(&c, "line 91");
	assert_false(copy_mode_scroll(c.copy, -1000));
	expect_top(&c, "line 0");
	act(&c, COPY_LAST);
	act(&c, COPY_SELECT);
	assert_false(copy_mode_scroll(c.copy, 1000)); /* not with a selection */
	end(&c);
}

static void searches_go_both_ways(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	fetch_all(&c);
	assert_int_equal(act(&c, COPY_SEARCH_BACK), COPY_RESULT_ASK);
	copy_mode_search(c.copy, "line 9", true); /* while it is typed */
	expect_position(&c, "0/91 · 11/11");
	copy_mode_search(c.copy, "line 95", true);
	expect_position(&c, "0/91 · 1/1");
	copy_mode_search(c.copy, "LINE 95", true);
	expect_position(&c, "0/91 · no match");
	copy_mode_search(c.copy, "e 9", true);
	copy_mode_search_done(c.copy, false);
	act(&c, COPY_AGAIN);
	expect_position(&c, "0/91 · 10/11");
	act(&c, COPY_AGAIN_BACK);
	act(&c, COPY_AGAIN_BACK); /* around */
	expect_position(&c, "-82/91 · 1/11");
	expect_top(&c, "line 9");
	act(&c, COPY_AGAIN);
	expect_position(&c, "-1/91 · 11/11");
	end(&c);
}

static void a_cancelled_search_goes_back(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	fetch_all(&c);
	act(&c, COPY_HALF_UP);
	expect_top(&c, "line 86");
	act(&c, COPY_SEARCH);
	copy_mode_search(c.copy, "line 5", false); /* around to the start */
	expect_top(&c, "line 5");
	copy_mode_search_done(c.copy, true);
	expect_top(&c, "line 86");
	expect_position(&c, "-5/91");
	assert_int_equal(act(&c, COPY_AGAIN), COPY_RESULT_STAY);
	expect_top(&c, "line 86");
	end(&c);
}

static void a_search_back_waits_for_older_lines(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	act(&c, COPY_SEARCH_BACK);
	copy_mode_search(c.copy, "line 42", true);
	copy_mode_search_done(c.copy, false);
	expect_position(&c, "0/91 · searching…");
	expect_top(&c, "line 91");
	fetch(&c, 20);
	expect_top(&c, "line 91");
	fetch(&c, 40);
	expect_top(&c, "line 42");
	expect_position(&c, "-49/91 · 1/1…");
	fetch_all(&c);
	expect_position(&c, "-49/91 · 1/1");
	expect_top(&c, "line 42");
	end(&c);
}

/* How many matches there are of `needle` in one long line, which comes in pieces of `most` rows. */
static unsigned count_in_pieces(const char *unit, unsigned units, const char *needle, unsigned most)
{
	struct copying c;
	char position[COPY_POSITION_SIZE];
	transcript_rig_init(&c.terminal, 2, 5);
	for (unsigned i = 0; i < units; i++)
		transcript_rig_print(&c.terminal, unit);
	transcript_rig_sync(&c.terminal);
	c.copy = copy_mode_create(&c.terminal.screen, 2, 5);
	act(&c, COPY_SEARCH_BACK);
	copy_mode_search(c.copy, needle, true);
	while (fetch(&c, most)) {
	}
	copy_mode_position(c.copy, position);
	end(&c);
	return (unsigned)strtoul(strrchr(position, '/') + 1, NULL, 10);
}

/* A match that lies over the border of two pieces is one, and none lies over another. */
static void pieces_do_not_cut_matches(void **state)
{
	(void)state;
	for (unsigned most = 1; most < 9; most++) {
		assert_int_equal(count_in_pieces("abcabcab", 30, "abab", most), 29);
		assert_in_range(count_in_pieces("aaaaaaaaaa", 24, "aaa", most), 40, 80);
	}
}

/* Up and down keep the column, over lines that are shorter. */
static void the_column_is_kept(void **state)
{
	(void)state;
	struct copying c;
	transcript_rig_init(&c.terminal, 5, 40);
	transcript_rig_print(&c.terminal, "a long line\r\nx\r\n\r\nanother line");
	transcript_rig_sync(&c.terminal);
	c.copy = copy_mode_create(&c.terminal.screen, 5, 40);
	act(&c, COPY_FIRST);
	act(&c, COPY_WORD_NEXT);
	for (int i = 0; i < 3; i++)
		act(&c, COPY_DOWN);
	act(&c, COPY_SELECT);
	act(&c, COPY_RIGHT);
	expect_text(&c, "ot");
	end(&c);
}

static void the_mouse_selects(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	fetch_all(&c);
	copy_mode_begin(c.copy, 0, 5, SELECT_CHARS);
	copy_mode_drag(c.copy, 1, 3, 0);
	expect_text(&c, "91\nline");
	copy_mode_drag(c.copy, 0, 0, -1); /* above the pane: it scrolls */
	expect_top(&c, "line 90");
	expect_text(&c, "line 90\nline 9");
	copy_mode_begin(c.copy, 2, 2, SELECT_WORDS);
	expect_text(&c, "line");
	copy_mode_drag(c.copy, 99, 99, 0);
	assert_int_equal(act(&c, COPY_COPY), COPY_RESULT_COPY);
	end(&c);
}

static void a_resize_keeps_the_place(void **state)
{
	(void)state;
	struct copying c;
	begin(&c, 10, 40, 100);
	fetch_all(&c);
	act(&c, COPY_HALF_UP);
	act(&c, COPY_WINDOW_TOP);
	copy_mode_resize(c.copy, 4, 7);
	expect_position(&c, "-11/97");
	copy_mode_resize(c.copy, 200, 7);
	expect_position(&c, "0/0");
	act(&c, COPY_LINE_END);
	copy_mode_resize(c.copy, 1, 2);
	copy_mode_resize(c.copy, 0, 0); /* not shown */
	act(&c, COPY_SELECT_LINES);
	expect_text(&c, "line 86\n");
	end(&c);
}

static void a_full_screen_program_has_no_history(void **state)
{
	(void)state;
	struct copying c;
	transcript_rig_init(&c.terminal, 5, 40);
	transcript_rig_print(&c.terminal, "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\033[?1049h\033[HFULL");
	transcript_rig_sync(&c.terminal);
	c.copy = copy_mode_create(&c.terminal.screen, 5, 40);
	assert_false(fetch(&c, 5));
	expect_top(&c, "FULL");
	expect_position(&c, "0/0");
	end(&c);
}

static void every_action_has_a_name_and_keys(void **state)
{
	(void)state;
	for (int a = 0; a < COPY_ACTION_COUNT; a++) {
		assert_int_equal(strncmp(copy_action_name((enum copy_action)a), "copy-", 5), 0);
		assert_true(strlen(copy_action_help((enum copy_action)a)) > 0);
		char *keys = mem_strdup(copy_action_keys((enum copy_action)a));
		int count = 0;
		for (char *save = NULL, *name = strtok_r(keys, " ", &save); name;
		     name = strtok_r(NULL, " ", &save)) {
			uint32_t key;
			unsigned mods;
			assert_true(key_parse(name, &key, &mods));
			count++;
		}
		assert_true(count > 0);
		free(keys);
	}
}

/* Whatever is pressed in whatever order: it can be drawn, and the place is inside. */
static void any_order_of_actions_is_safe(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct copying c;
		struct canvas canvas;
		unsigned random = seed;
		canvas_init(&canvas, 12, 30);
		begin(&c, 4 + seed % 9, 8 + seed % 20, seed * 3);
		transcript_rig_print(&c.terminal, "日本 a-long-line-that-wraps and e\xcc\x81 日本");
		for (int i = 0; i < 300; i++) {
			random = random * 1103515245u + 12345u;
			unsigned what = random >> 16 & 0x7fff;
			if (what % 41 == 0)
				fetch(&c, 1 + what % 13);
			else if (what % 37 == 0)
				copy_mode_resize(c.copy, (int)(what % 12) + 1, (int)(what % 30) + 1);
			else if (what % 31 == 0)
				copy_mode_search(c.copy, "ne 1", what & 64);
			else if (what % 29 == 0)
				copy_mode_drag(c.copy, (int)(what % 14) - 1, (int)(what % 40) - 1,
				               (int)(what % 3) - 1);
			else
				copy_mode_act(c.copy, (enum copy_action)(what % COPY_ACTION_COUNT));
			struct str text = STR_INIT(1 << 16);
			copy_mode_text(c.copy, &text);
			str_finish(&text);
			canvas_clear(&canvas);
			copy_mode_draw(c.copy, &canvas, (struct rect){1, 1, 9, 25});
			assert_true(canvas.cursor_visible);
		}
		canvas_finish(&canvas);
		end(&c);
	}
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(selections_are_copied),
	    cmocka_unit_test(without_a_selection_nothing_is_copied),
	    cmocka_unit_test(output_goes_on_behind_it),
	    cmocka_unit_test(older_lines_move_nothing),
	    cmocka_unit_test(what_is_not_there_yet_is_owed),
	    cmocka_unit_test(lines_that_do_not_come_are_not_asked_for_again),
	    cmocka_unit_test(pages_and_scrolling),
	    cmocka_unit_test(searches_go_both_ways),
	    cmocka_unit_test(a_cancelled_search_goes_back),
	    cmocka_unit_test(a_search_back_waits_for_older_lines),
	    cmocka_unit_test(pieces_do_not_cut_matches),
	    cmocka_unit_test(the_column_is_kept),
	    cmocka_unit_test(the_mouse_selects),
	    cmocka_unit_test(a_resize_keeps_the_place),
	    cmocka_unit_test(a_full_screen_program_has_no_history),
	    cmocka_unit_test(every_action_has_a_name_and_keys),
	    cmocka_unit_test(any_order_of_actions_is_safe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
