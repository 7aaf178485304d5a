/* tui/mouse: whole gestures as tables: events in, deeds out. */
#include "tests/lib/test.h"

#include "core/base/check.h"
#include "core/term/cells.h"
#include "tui/mouse.h"

/* 80x24, four panes: title row 0, panes from row 1 on, feed under them. */
static struct layout grid(void)
{
	struct layout l;
	layout_compute(
	    &l, &(struct layout_wish){.rows = 24, .cols = 80, .list_cols = 40, .list_rows = 6, .grid = 4});
	assert_int_equal(l.pane_count, 4);
	return l;
}

static struct layout beside(void)
{
	struct layout l;
	layout_compute(
	    &l, &(struct layout_wish){.rows = 24, .cols = 80, .list_cols = 34, .list_rows = 6, .tabs = true});
	return l;
}

#define PRESS   MOUSE_PRESS, MOUSE_LEFT
#define RELEASE MOUSE_RELEASE, MOUSE_LEFT
#define DRAG    MOUSE_MOVE, MOUSE_LEFT
#define HOVER   MOUSE_MOVE, MOUSE_NONE
#define UP      MOUSE_PRESS, MOUSE_WHEEL_UP
#define DOWN    MOUSE_PRESS, MOUSE_WHEEL_DOWN

enum where { LIST, PANE, TITLE, TABS, EDGE, FEED, RULE, STATUS };

struct step {
	enum where where;
	int row, col; /* inside that; may lie outside */
	uint8_t kind, button, mods;
	int64_t ms;
	enum mouse_deed_kind deed;
	int want_row, want_col; /* of the deed's hit, where that is a pane */
	int extra;              /* lines, beyond or words */
};

static struct rect rect_of(const struct layout *l, enum where where, int pane)
{
	const struct layout_pane *p = &l->panes[pane];
	switch (where) {
	case LIST: return l->list;
	case PANE: return p->body;
	case TITLE: return p->title;
	case TABS: return p->tabs;
	case EDGE: return p->edge;
	case FEED: return l->feed;
	case RULE: return l->feed_rule;
	case STATUS: return l->status;
	}
	return (struct rect){0};
}

static void run(const struct layout *l, int pane, int typing, unsigned modes, const struct step *steps,
                size_t count)
{
	struct mouse m = {0};
	for (size_t i = 0; i < count; i++) {
		const struct step *s = &steps[i];
		struct rect r = rect_of(l, s->where, pane);
		assert_false(rect_is_empty(r));
		struct mouse_scene scene = {
		    .layout = l, .typing = typing, .modes = modes, .now_ms = 1000 + s->ms};
		struct term_mouse ev = {.kind = s->kind,
		                        .button = s->button,
		                        .mods = s->mods,
		                        .row = (uint16_t)(r.row + s->row),
		                        .col = (uint16_t)(r.col + s->col)};
		struct mouse_deed deed = mouse_event(&m, &scene, &ev);
		if (deed.kind != s->deed)
			fail_msg("step %zu: deed %d instead of %d", i, deed.kind, s->deed);
		if (deed.kind == MOUSE_NOTHING)
			continue;
		if (deed.hit.kind == HIT_PANE) {
			assert_int_equal(deed.hit.pane, pane);
			assert_int_equal(deed.hit.row, s->want_row);
			assert_int_equal(deed.hit.col, s->want_col);
		}
		if (deed.kind == MOUSE_TO_GUEST) {
			assert_int_equal(deed.event.row, s->want_row);
			assert_int_equal(deed.event.col, s->want_col);
			assert_int_equal(deed.event.button, s->button);
		}
		assert_int_equal(deed.lines + deed.beyond + deed.words, s->extra);
	}
}

#define RUN(l, pane, typing, modes, steps) run(&(l), pane, typing, modes, steps, ARRAY_LEN(steps))

static void clicks_select_and_type(void **state)
{
	(void)state;
	struct layout l = beside();
	static const struct step LIST_TWICE[] = {{LIST, 2, 3, PRESS, 0, 0, MOUSE_SELECT, 0, 0, 0},
	                                         {LIST, 2, 3, RELEASE, 0, 50, MOUSE_NOTHING, 0, 0, 0},
	                                         {LIST, 2, 3, PRESS, 0, 200, MOUSE_TYPE, 0, 0, 0},
	                                         {LIST, 2, 3, RELEASE, 0, 250, MOUSE_NOTHING, 0, 0, 0},
	                                         {LIST, 2, 3, PRESS, 0, 300, MOUSE_SELECT, 0, 0, 0}};
	static const struct step SLOWLY[] = {{LIST, 2, 3, PRESS, 0, 0, MOUSE_SELECT, 0, 0, 0},
	                                     {LIST, 2, 3, PRESS, 0, 500, MOUSE_SELECT, 0, 0, 0}};
	static const struct step TWO_PLACES[] = {{LIST, 2, 3, PRESS, 0, 0, MOUSE_SELECT, 0, 0, 0},
	                                         {LIST, 3, 3, PRESS, 0, 100, MOUSE_SELECT, 0, 0, 0}};
	static const struct step PANE_TWICE[] = {{PANE, 4, 5, PRESS, 0, 0, MOUSE_SELECT, 4, 5, 0},
	                                         {PANE, 4, 5, RELEASE, 0, 10, MOUSE_NOTHING, 0, 0, 0},
	                                         {PANE, 4, 5, PRESS, 0, 100, MOUSE_TYPE, 4, 5, 0}};
	static const struct step OTHERS[] = {{TABS, 0, 3, PRESS, 0, 0, MOUSE_SELECT, 0, 0, 0},
	                                     {TITLE, 0, 3, PRESS, 0, 1, MOUSE_SELECT, 0, 0, 0},
	                                     {FEED, 0, 3, PRESS, 0, 2, MOUSE_SELECT, 0, 0, 0},
	                                     {RULE, 0, 3, PRESS, 0, 3, MOUSE_SELECT, 0, 0, 0},
	                                     {EDGE, 3, 0, PRESS, 0, 4, MOUSE_NOTHING, 0, 0, 0},
	                                     {STATUS, 0, 3, PRESS, 0, 5, MOUSE_NOTHING, 0, 0, 0}};
	static const struct step NOT_LEFT[] = {
	    {PANE, 1, 1, MOUSE_PRESS, MOUSE_RIGHT, 0, 0, MOUSE_NOTHING, 0, 0, 0},
	    {PANE, 1, 1, MOUSE_PRESS, MOUSE_MIDDLE, 0, 1, MOUSE_NOTHING, 0, 0, 0},
	    {PANE, 2, 1, HOVER, 0, 2, MOUSE_NOTHING, 0, 0, 0},
	    {PANE, 2, 1, RELEASE, 0, 3, MOUSE_NOTHING, 0, 0, 0}};
	RUN(l, 0, -1, 0, LIST_TWICE);
	RUN(l, 0, -1, 0, SLOWLY);
	RUN(l, 0, -1, 0, TWO_PLACES);
	RUN(l, 0, -1, 0, PANE_TWICE);
	RUN(l, 0, -1, 0, OTHERS);
	RUN(l, 0, -1, 0, NOT_LEFT);
}

static void wheel_scrolls_what_is_under_it(void **state)
{
	(void)state;
	struct layout l = beside();
	static const struct step WHEEL[] = {
	    {PANE, 2, 3, UP, 0, 0, MOUSE_SCROLL, 2, 3, -MOUSE_WHEEL_LINES},
	    {PANE, 2, 3, DOWN, 0, 0, MOUSE_SCROLL, 2, 3, MOUSE_WHEEL_LINES},
	    {LIST, 1, 0, DOWN, 0, 0, MOUSE_SCROLL, 0, 0, MOUSE_WHEEL_LINES},
	    {FEED, 0, 0, UP, 0, 0, MOUSE_SCROLL, 0, 0, -MOUSE_WHEEL_LINES},
	    {STATUS, 0, 0, UP, 0, 0, MOUSE_NOTHING, 0, 0, 0},
	    {PANE, 2, 3, MOUSE_PRESS, MOUSE_WHEEL_LEFT, 0, 0, MOUSE_NOTHING, 0, 0, 0}};
	RUN(l, 0, -1, 0, WHEEL);
	RUN(l, 0, 0, 0, WHEEL); /* typing into a program that did not ask */
}

static void drags_select_text(void **state)
{
	(void)state;
	struct layout l = grid();
	static const struct step TEXT[] = {{PANE, 2, 3, PRESS, 0, 0, MOUSE_SELECT, 2, 3, 0},
	                                   {PANE, 2, 3, DRAG, 0, 5, MOUSE_NOTHING, 0, 0, 0},
	                                   {PANE, 2, 7, DRAG, 0, 10, MOUSE_TEXT_BEGIN, 2, 3, 0},
	                                   {PANE, 3, 8, DRAG, 0, 15, MOUSE_TEXT_DRAG, 3, 8, 0},
	                                   {PANE, -2, -4, DRAG, 0, 20, MOUSE_TEXT_DRAG, 0, 0, -1},
	                                   {PANE, 9, 2, DRAG, 0, 20, MOUSE_TEXT_DRAG, 6, 2, 1},
	                                   {STATUS, 0, 0, RELEASE, 0, 30, MOUSE_TEXT_END, 2, 3, 0},
	                                   {PANE, 4, 4, DRAG, 0, 40, MOUSE_NOTHING, 0, 0, 0}};
	static const struct step WORD[] = {{PANE, 2, 3, PRESS, 0, 0, MOUSE_SELECT, 2, 3, 0},
	                                   {PANE, 2, 3, RELEASE, 0, 5, MOUSE_NOTHING, 0, 0, 0},
	                                   {PANE, 2, 3, PRESS, 0, 100, MOUSE_TEXT_BEGIN, 2, 3, 1},
	                                   {PANE, 2, 3, RELEASE, 0, 110, MOUSE_TEXT_END, 2, 3, 0}};
	static const struct step FROM_LIST[] = {{FEED, 0, 3, PRESS, 0, 0, MOUSE_SELECT, 0, 0, 0},
	                                        {PANE, 2, 3, DRAG, 0, 5, MOUSE_NOTHING, 0, 0, 0},
	                                        {PANE, 2, 3, RELEASE, 0, 5, MOUSE_NOTHING, 0, 0, 0}};
	assert_int_equal(l.panes[1].body.rows, 7);
	RUN(l, 1, -1, 0, TEXT);
	RUN(l, 1, 1, 0, TEXT);
	RUN(l, 1, 1, 0, WORD);
	RUN(l, 1, -1, 0, FROM_LIST);
}

static void programs_that_ask_get_the_mouse(void **state)
{
	(void)state;
	struct layout l = grid();
	static const struct step GUEST[] = {
	    {PANE, 2, 3, PRESS, 0, 0, MOUSE_TO_GUEST, 2, 3, 0},
	    {PANE, 2, 5, DRAG, TERM_SHIFT, 1, MOUSE_TO_GUEST, 2, 5, 0},
	    {PANE, 15, -3, DRAG, 0, 1, MOUSE_TO_GUEST, 6, 0, 0},
	    {LIST, 0, 0, RELEASE, 0, 2, MOUSE_TO_GUEST, 0, 0, 0},
	    {PANE, 2, 3, UP, 0, 3, MOUSE_TO_GUEST, 2, 3, 0},
	    {PANE, 1, 1, MOUSE_PRESS, MOUSE_RIGHT, 0, 3, MOUSE_TO_GUEST, 1, 1, 0},
	    {PANE, 1, 1, MOUSE_RELEASE, MOUSE_RIGHT, 0, 3, MOUSE_TO_GUEST, 1, 1, 0},
	    {PANE, 0, 0, HOVER, 0, 4, MOUSE_TO_GUEST, 0, 0, 0}};
	static const struct step SHIFT[] = {
	    {PANE, 2, 3, PRESS, TERM_SHIFT, 0, MOUSE_NOTHING, 2, 3, 0},
	    {PANE, 2, 6, DRAG, TERM_SHIFT, 1, MOUSE_TEXT_BEGIN, 2, 3, 0},
	    {PANE, 2, 7, DRAG, 0, 1, MOUSE_TEXT_DRAG, 2, 7, 0},
	    {PANE, 2, 7, RELEASE, 0, 2, MOUSE_TEXT_END, 2, 3, 0},
	    {PANE, 2, 7, UP, TERM_SHIFT, 2, MOUSE_SCROLL, 2, 7, -MOUSE_WHEEL_LINES}};
	static const struct step ELSEWHERE[] = {{FEED, 0, 3, PRESS, 0, 0, MOUSE_SELECT, 0, 0, 0},
	                                        {TITLE, 0, 3, PRESS, 0, 1, MOUSE_SELECT, 0, 0, 0}};
	static const struct step OTHER_PANE[] = {
	    {PANE, 2, 3, PRESS, 0, 0, MOUSE_SELECT, 2, 3, 0},
	    {PANE, 2, 3, UP, 0, 0, MOUSE_SCROLL, 2, 3, -MOUSE_WHEEL_LINES}};
	struct layout one = beside();
	run(&one, 0, 0, TERM_MOUSE_DRAG | TERM_MOUSE_SGR, GUEST, 1);
	l.list = (struct rect){0, 0, 1, 80}; /* "somewhere at the top left" */
	RUN(l, 1, 1, TERM_MOUSE_MOVE, GUEST);
	RUN(l, 1, 1, TERM_MOUSE_CLICK, SHIFT);
	RUN(l, 1, 1, TERM_MOUSE_CLICK, ELSEWHERE);
	RUN(l, 0, 1, TERM_MOUSE_CLICK, OTHER_PANE);
	RUN(l, 1, -1, TERM_MOUSE_CLICK, OTHER_PANE); /* command mode: nothing goes to guests */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(clicks_select_and_type),
	    cmocka_unit_test(wheel_scrolls_what_is_under_it),
	    cmocka_unit_test(drags_select_text),
	    cmocka_unit_test(programs_that_ask_get_the_mouse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
