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
		assert_int_equal(l.panes[0].title.row, l.panes[0].body.row - 1 - l.panes[0].tabs.rows);
	}
	/* Nothing is wasted: every cell has an owner, unless a pane that is alone has no room. */
	if (!((w->zoomed || w->grid) && rect_is_empty(l.panes[0].body)))
		assert_int_equal(area, w->rows * w->cols);
	assert_true(l.pane_count >= 1 && l.pane_count <= LAYOUT_PANES_MOST);
	for (int i = 0; i < l.pane_count && l.pane_count > 1; i++) {
		assert_true(l.panes[i].body.rows >= LAYOUT_GRID_ROWS_LEAST);
		assert_true(l.panes[i].body.cols >= LAYOUT_GRID_COLS_LEAST);
	}
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
				w.zoomed = false;
				w.tabs = true;
				check_one(&w);
				w.grid = 1 + (rows + cols) % LAYOUT_PANES_MOST;
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

static void grid_takes_what_fits(void **state)
{
	(void)state;
	static const struct {
		int rows, cols, wanted, have;
	} CASES[] = {
	    {24, 80, 1, 1},    {24, 80, 2, 2}, {24, 80, 3, 4},  {24, 80, 4, 4},
	    {24, 80, 6, 6},    {24, 80, 9, 6}, {30, 110, 9, 9}, {30, 110, 5, 6},
	    {200, 500, 50, 9}, {12, 40, 4, 1}, {24, 40, 4, 2},  {12, 41, 4, 2},
	    {60, 41, 9, 6},    {60, 40, 9, 2}, {10, 30, 9, 1},  {24, 110, 20, 6},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct layout l;
		layout_compute(&l, &(struct layout_wish){.rows = CASES[i].rows,
		                                         .cols = CASES[i].cols,
		                                         .grid = CASES[i].wanted});
		if (l.pane_count != CASES[i].have)
			fail_msg("%dx%d, %d wanted: %d instead of %d", CASES[i].cols, CASES[i].rows,
			         CASES[i].wanted, l.pane_count, CASES[i].have);
		assert_true(rect_is_empty(l.list));
		assert_true(l.grid);
		/* Sizes differ by one at most, so that no pane looks more important. */
		for (int k = 1; k < l.pane_count; k++) {
			assert_in_range(l.panes[k].body.rows + 1 - l.panes[0].body.rows, 0, 2);
			assert_in_range(l.panes[k].body.cols + 1 - l.panes[0].body.cols, 0, 2);
		}
	}
}

static bool holds(struct rect r, int row, int col)
{
	return row >= r.row && row < r.row + r.rows && col >= r.col && col < r.col + r.cols;
}

/* Where a hit says that it is. */
static struct rect rect_of(const struct layout *l, const struct hit *h)
{
	const struct layout_pane *p = &l->panes[h->pane];
	switch (h->kind) {
	case HIT_NOTHING: break;
	case HIT_TITLE: return l->title;
	case HIT_LIST: return l->list;
	case HIT_PANE: return p->body;
	case HIT_PANE_TITLE: return p->title;
	case HIT_PANE_TABS: return p->tabs;
	case HIT_PANE_EDGE: return p->edge;
	case HIT_FEED: return l->feed;
	case HIT_FEED_RULE: return l->feed_rule;
	case HIT_STATUS: return l->status;
	}
	return (struct rect){0};
}

static void every_place_is_hit(void **state)
{
	(void)state;
	for (int grid = 0; grid <= 9; grid++) {
		struct layout l;
		int kinds = 0;
		layout_compute(&l, &(struct layout_wish){.rows = 30,
		                                         .cols = 110,
		                                         .list_cols = 40,
		                                         .list_rows = 9,
		                                         .tabs = true,
		                                         .grid = grid});
		for (int row = -1; row <= 30; row++) {
			for (int col = -1; col <= 110; col++) {
				struct hit h = layout_hit(&l, row, col);
				bool outside = row < 0 || col < 0 || row == 30 || col == 110;
				assert_int_equal(h.kind == HIT_NOTHING, outside);
				if (outside)
					continue;
				struct rect r = rect_of(&l, &h);
				assert_true(holds(r, row, col));
				assert_int_equal(h.row, row - r.row);
				assert_int_equal(h.col, col - r.col);
				kinds |= 1 << h.kind;
			}
		}
		int all = (1 << (HIT_STATUS + 1)) - 1 - (1 << HIT_NOTHING);
		if (grid)
			all &= ~(1 << HIT_LIST | 1 << HIT_PANE_TABS | (grid == 1 ? 1 << HIT_PANE_EDGE : 0));
		assert_int_equal(kinds, all);
	}
}

static void tabs_need_room(void **state)
{
	(void)state;
	struct layout_wish w = {.rows = 24, .cols = 80, .list_cols = 40, .list_rows = 6, .tabs = true};
	struct layout l;
	layout_compute(&l, &w);
	assert_int_equal(l.panes[0].tabs.rows, 1);
	assert_int_equal(l.panes[0].tabs.row, l.panes[0].body.row - 1);
	w.tabs = false;
	layout_compute(&l, &w);
	assert_true(rect_is_empty(l.panes[0].tabs));
	w = (struct layout_wish){.rows = 8, .cols = 80, .list_cols = 40, .list_rows = 6, .tabs = true};
	layout_compute(&l, &w);
	assert_true(rect_is_empty(l.panes[0].tabs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_size_works),          cmocka_unit_test(shapes_follow_the_width),
	    cmocka_unit_test(pane_gets_the_larger_part), cmocka_unit_test(grid_takes_what_fits),
	    cmocka_unit_test(every_place_is_hit),        cmocka_unit_test(tabs_need_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
