/* core/term/grid against a plain two-dimensional array that does the same the slow way. */
#include "tests/lib/test.h"

#include <stdlib.h>

#include "core/base/check.h"
#include "core/term/grid.h"

#define ROWS 7
#define COLS 11

/* One character a cell: '<' and '>' are the halves of a wide one, a capital letter is a blank with that background. */
struct model {
	char cells[ROWS][COLS];
};

static void model_split(struct model *m, int row, int col)
{
	if (col > 0 && col < COLS && m->cells[row][col] == '>')
		m->cells[row][col - 1] = m->cells[row][col] = ' ';
}

static void model_fill(struct model *m, struct rect r, char c)
{
	for (int row = MAX(r.top, 0); row < MIN(r.bottom, ROWS); row++) {
		if (MAX(r.left, 0) >= MIN(r.right, COLS))
			continue;
		model_split(m, row, r.left);
		model_split(m, row, r.right);
		for (int col = MAX(r.left, 0); col < MIN(r.right, COLS); col++)
			m->cells[row][col] = c;
	}
}

static void model_put(struct model *m, int row, int col, char c, bool wide)
{
	if (row < 0 || row >= ROWS || col < 0 || col + (wide ? 2 : 1) > COLS)
		return;
	model_split(m, row, col);
	model_split(m, row, col + (wide ? 2 : 1));
	m->cells[row][col] = wide ? '<' : c;
	if (wide)
		m->cells[row][col + 1] = '>';
}

static void model_scroll(struct model *m, struct rect r, int down, int right, char blank)
{
	struct model old;
	r.top = MAX(r.top, 0);
	r.left = MAX(r.left, 0);
	r.bottom = MIN(r.bottom, ROWS);
	r.right = MIN(r.right, COLS);
	if (r.left >= r.right)
		return;
	for (int row = r.top; row < r.bottom; row++) {
		model_split(m, row, r.left);
		model_split(m, row, r.right);
		if (right != 0 && abs(right) < r.right - r.left)
			model_split(m, row, right > 0 ? r.left + right : r.right + right);
	}
	old = *m;
	for (int row = r.top; row < r.bottom; row++)
		for (int col = r.left; col < r.right; col++) {
			int from_row = row + down, from_col = col + right;
			bool inside = from_row >= r.top && from_row < r.bottom && from_col >= r.left &&
			              from_col < r.right;
			m->cells[row][col] = inside ? old.cells[from_row][from_col] : blank;
		}
}

static char shown(const struct grid *g, unsigned row, unsigned col)
{
	const struct row *r = grid_row(g, row);
	if (col >= r->used)
		return ' ';
	const struct cell *c = &r->cells[col];
	if (c->width != CELL_NARROW)
		return c->width == CELL_WIDE ? '<' : '>';
	if (c->code == 0)
		return COLOUR_IS_DEFAULT(c->bg) ? ' ' : (char)('A' + COLOUR_INDEX(c->bg));
	return (char)c->code;
}

static void compare(const struct grid *g, const struct model *m, int step)
{
	for (unsigned row = 0; row < ROWS; row++)
		for (unsigned col = 0; col < COLS; col++)
			if (shown(g, row, col) != m->cells[row][col])
				fail_msg("step %d: row %u column %u is '%c', not '%c'", step, row, col,
				         shown(g, row, col), m->cells[row][col]);
}

static int some(int limit)
{
	return rand() % limit;
}

static struct rect some_rect(void)
{
	struct rect r = {some(ROWS + 2) - 1, some(COLS + 2) - 1, some(ROWS + 3) - 1, some(COLS + 3) - 1};
	if (some(2) == 0) {
		r.left = 0;
		r.right = COLS;
	}
	if (some(3) == 0) {
		r.top = 0;
		r.bottom = ROWS;
	}
	return r;
}

static void random_steps_agree_with_the_model(void **state)
{
	(void)state;
	srand(3);
	for (int round = 0; round < 200; round++) {
		uint64_t now = 1;
		struct grid g;
		struct model m;
		grid_init(&g, ROWS, COLS, &now);
		memset(&m, ' ', sizeof(m));
		for (int step = 0; step < 120; step++) {
			int kind = some(6), row = some(ROWS + 2) - 1, col = some(COLS + 2) - 1, bg = some(3);
			uint32_t colour = bg == 0 ? COLOUR_DEFAULT : COLOUR_INDEXED(bg);
			char blank = bg == 0 ? ' ' : (char)('A' + bg);
			struct rect r = some_rect();
			now++;
			if (kind < 3) {
				struct cell c = {.code = (uint32_t)('a' + some(26)),
				                 .width = some(3) == 0 ? CELL_WIDE : CELL_NARROW};
				grid_put(&g, row, col, &c);
				model_put(&m, row, col, (char)c.code, c.width == CELL_WIDE);
			} else if (kind == 3) {
				grid_erase(&g, r, colour);
				model_fill(&m, r, blank);
			} else {
				int down = kind == 4 ? some(2 * ROWS + 3) - ROWS - 1 : 0;
				int right = kind == 5 ? some(2 * COLS + 3) - COLS - 1 : 0;
				grid_scroll(&g, r, down, right, colour, NULL, NULL);
				if (down != 0 || right != 0)
					model_scroll(&m, r, down, right, blank);
			}
			/* Looking at a row makes cells of its colour, so not after every step. */
			if (some(8) == 0 || step == 119)
				compare(&g, &m, step);
		}
		grid_finish(&g);
	}
}

/* Each change must be seen by a watcher: rows that look different have a newer stamp. */
static void every_change_is_stamped(void **state)
{
	(void)state;
	srand(5);
	uint64_t now = 1;
	struct grid g;
	grid_init(&g, ROWS, COLS, &now);
	for (int step = 0; step < 3000; step++) {
		char before[ROWS][COLS];
		for (unsigned i = 0; i < ROWS * COLS; i++)
			before[i / COLS][i % COLS] = shown(&g, i / COLS, i % COLS);
		struct cell c = {.code = (uint32_t)('a' + some(26))};
		now++;
		if (some(2) == 0)
			grid_put(&g, some(ROWS), some(COLS), &c);
		else if (some(2) == 0)
			grid_erase(&g, some_rect(), COLOUR_DEFAULT);
		else
			grid_scroll(&g, some_rect(), some(5) - 2, some(5) - 2, COLOUR_DEFAULT, NULL, NULL);
		for (unsigned i = 0; i < ROWS * COLS; i++)
			if (before[i / COLS][i % COLS] != shown(&g, i / COLS, i % COLS))
				assert_int_equal(grid_row_stamp(&g, i / COLS), now);
	}
	grid_finish(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_steps_agree_with_the_model),
	    cmocka_unit_test(every_change_is_stamped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
