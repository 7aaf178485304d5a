/* tui/layout: at every size all rectangles are inside, none overlap, and the rules of the three shapes hold. */
#include "tests/lib/test.h"

#include "core/base/check.h"
#include "tui/layout.h"

#define PARTS (5 + 4 * LAYOUT_PANES_MOST)

static void parts_of(const struct layout *l, struct rect out[PARTS])
{
	const struct rect fixed[] = {l->title, l->list, l->feed_rule, l->feed, l->status};
	memcpy(out, fixed, sizeof(fixed));
	memcpy(out + ARRAY_LEN(fixed), l->panes, sizeof(l->panes));
}

static bool overlap(struct rect a, struct rect b)
{
	return a.row < b.row + b.rows && b.row < a.row + a.rows && a.col < b.col + b.cols &&
	       b.col < a.col + a.cols;
}

static void check_one(const struct layout_wish *w)
{
	struct layout l;
	struct rect parts[PARTS];
	layout_compute(&l, w);
	parts_of(&l, parts);
	int area = 0;
	for (size_t i = 0; i < PARTS; i++) {
		struct rect r = parts[i];
		if (rect_is_empty(r))
			continue;
		assert_true(r.row >= 0 && r.col >= 0 && r.row + r.rows <= w->rows &&
		            r.col + r.cols <= w->cols);
		for (size_t k = i + 1; k < PARTS; k++)
			assert_false(!rect_is_empty(parts[k]) && overlap(r, parts[k]));
		area += r.rows * r.cols;
	}
	assert_int_equal(l.status.rows, 1); /* the mode is always seen */
	assert_int_equal(l.status.cols, w->cols);
	if (!rect_is_empty(l.panes[0].body)) {
		assert_true(l.panes[0].body.cols >= 2);
		assert_int_equal(l.panes[0].title.row, l.panes[0].body.row - 1);
	}
	/* Nothing is wasted: every cell has an owner, unless a zoomed pane has no room. */
	if (!(w->zoomed && rect_is_empty(l.panes[0].body)))
		assert_int_equal(area, w->rows * w->cols);
}

static void every_size_works(void **state)
{
	(void)state;
	static const int LIST[][2] = {{0, 0}, {30, 3}, {57, 6}, {57, 60}, {5000, 5000}};
	for (int rows = 1; rows <= 70; rows++) {
		for (int cols = 1; cols <= 240; cols++) {
			for (size_t i = 0; i < ARRAY_LEN(LIST); i++) {
				struct layout_wish w = {.rows = rows,
				                        .cols = cols,
				                        .list_cols = LIST[i][0],
				                        .list_rows = LIST[i][1]};
				check_one(&w);
				w.zoomed = true;
				check_one(&w);
			}
		}
	}
	check_one(&(struct layout_wish){.rows = 200, .cols = 500, .list_cols = 57, .list_rows = 52});
}

static void shapes_follow_the_width(void **state)
{
	(void)state;
	static const struct {
		int rows, cols;
		bool zoomed, list, pane, beside, feed, folded;
	} CASES[] = {
	    {30, 110, false, true, true, true, true, false},
	    {24, 80, false, true, true, true, true, false},
	    {24, 79, false, true, true, false, true, false},
	    {24, 50, false, true, true, false, true, false},
	    {24, 49, false, true, false, false, true, false},
	    {12, 40, false, true, false, false, true, false},
	    {11, 40, false, true, false, false, true, true},
	    {11, 100, false, true, true, true, true, true},
	    {8, 30, false, true, false, false, true, true},
	    {24, 49, true, false, true, false, false, false},
	    {24, 110, true, false, true, false, false, false},
	    {1, 1, false, false, false, false, false, false},
	    {2, 1, false, true, false, false, false, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct layout l;
		layout_compute(&l, &(struct layout_wish){.rows = CASES[i].rows,
		                                         .cols = CASES[i].cols,
		                                         .list_cols = 57,
		                                         .list_rows = 6,
		                                         .zoomed = CASES[i].zoomed});
		assert_int_equal(!rect_is_empty(l.list), CASES[i].list);
		assert_int_equal(!rect_is_empty(l.panes[0].body), CASES[i].pane);
		assert_int_equal(!rect_is_empty(l.panes[0].edge), CASES[i].beside);
		assert_int_equal(!rect_is_empty(l.feed), CASES[i].feed);
		assert_int_equal(!rect_is_empty(l.feed) && rect_is_empty(l.feed_rule), CASES[i].folded);
		if (CASES[i].folded)
			assert_int_equal(l.feed.rows, 1);
	}
}

static void pane_gets_the_larger_part(void **state)
{
	(void)state;
	struct layout l;
	layout_compute(&l, &(struct layout_wish){.rows = 30, .cols = 110, .list_cols = 70, .list_rows = 6});
	assert_true(l.panes[0].body.cols > 110 / 2);
	layout_compute(&l, &(struct layout_wish){.rows = 24, .cols = 60, .list_cols = 70, .list_rows = 50});
	assert_true(l.panes[0].body.rows > l.list.rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_size_works),
	    cmocka_unit_test(shapes_follow_the_width),
	    cmocka_unit_test(pane_gets_the_larger_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
