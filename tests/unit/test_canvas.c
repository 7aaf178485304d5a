/* tui/canvas: clipping, wide characters, and the filter that every string passes. */
#include "tests/lib/test.h"

#include <locale.h>

#include "tui/canvas.h"

static void expect(const struct canvas *c, const char *text)
{
	struct str out = STR_INIT(65536);
	canvas_dump_text(c, &out);
	assert_string_equal(out.s, text);
	str_finish(&out);
}

static struct rect whole(const struct canvas *c)
{
	return (struct rect){.rows = c->rows, .cols = c->cols};
}

static void text_stays_inside(void **state)
{
	(void)state;
	struct canvas c;
	canvas_init(&c, 3, 6);
	struct rect r = {.row = 1, .col = 2, .rows = 1, .cols = 3};
	assert_int_equal(canvas_text(&c, r, 0, STYLE_PLAIN, "abcdef"), 3);
	assert_int_equal(canvas_text(&c, r, 7, STYLE_PLAIN, "x"), 7);
	assert_int_equal(canvas_text(&c, r, -1, STYLE_PLAIN, "x"), -1);
	struct rect outside = {.row = 9, .col = 0, .rows = 1, .cols = 6};
	canvas_text(&c, outside, 0, STYLE_PLAIN, "x");
	struct rect past = {.row = 0, .col = 4, .rows = 9, .cols = 9};
	canvas_text(&c, past, 0, STYLE_PLAIN, "yyyy");
	canvas_fill(&c, (struct rect){.row = 2, .col = -3, .rows = 50, .cols = 5}, STYLE_MUTED, '#');
	expect(&c, "    yy\n  abc\n##\n");
	canvas_finish(&c);
}

static void text_stands_at_the_right(void **state)
{
	(void)state;
	struct canvas c;
	canvas_init(&c, 2, 8);
	assert_int_equal(canvas_text_right(&c, rect_row(whole(&c), 0), 0, STYLE_PLAIN, "abc"), 5);
	assert_int_equal(canvas_text_right(&c, rect_row(whole(&c), 1), 6, STYLE_PLAIN, "abc"), 6);
	expect(&c, "     abc\n      ab\n");
	canvas_finish(&c);
}

static void controls_never_pass(void **state)
{
	(void)state;
	static const char *const HOSTILE[] = {
	    "\x1b",
	    "\x9b",
	    "\n",
	    "\x7f",
	    "\xc2\x9b" /* U+009B */,
	    "\xe2\x80\xae" /* U+202E */,
	    "\xe2\x80\x8b" /* U+200B */,
	    "\xef\xbb\xbf" /* U+FEFF */,
	    "\xed\xa0\x80" /* surrogate */,
	    "\xf4\x90\x80\x80" /* over U+10FFFF */,
	    "\xe2\x80" /* cut */,
	};
	for (size_t i = 0; i < ARRAY_LEN(HOSTILE); i++) {
		struct canvas c;
		canvas_init(&c, 1, 20);
		canvas_textf(&c, whole(&c), 0, STYLE_PLAIN, "a%sb", HOSTILE[i]);
		for (int col = 0; col < c.cols; col++) {
			uint32_t chars[CLUSTER_MAX];
			size_t n = clusters_get(&c.clusters, canvas_at(&c, 0, col)->cell.code, chars);
			for (size_t k = 0; k < n; k++)
				assert_true(chars[k] == 'a' || chars[k] == 'b' || chars[k] == 0xfffd);
		}
		assert_int_equal(canvas_at(&c, 0, 0)->cell.code, 'a');
		assert_true(canvas_at(&c, 0, 1)->cell.code == 0xfffd);
		canvas_finish(&c);
	}
}

static void wide_characters_keep_whole(void **state)
{
	(void)state;
	struct canvas c;
	canvas_init(&c, 3, 4);
	struct rect all = whole(&c);
	canvas_text(&c, rect_row(all, 0), 0, STYLE_PLAIN,
	            "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"); /* three wide ones: two fit */
	canvas_text(&c, rect_row(all, 1), 0, STYLE_PLAIN, "\xe6\x97\xa5\xe6\x9c\xac");
	canvas_text(&c, rect_row(all, 1), 1, STYLE_PLAIN, "xy"); /* over the halves of both */
	struct cell wide = {.code = 0x65e5, .width = CELL_WIDE};
	struct clusters none = {0};
	canvas_put_cell(&c, all, 2, 3, &wide, &none); /* only half would fit */
	canvas_put_cell(&c, all, 2, 0, &wide, &none);
	expect(&c, "\xe6\x97\xa5\xe6\x9c\xac\n xy\n\xe6\x97\xa5\n");
	assert_int_equal(canvas_at(&c, 2, 3)->cell.width, CELL_NARROW);
	assert_int_equal(canvas_text_width("a\xe6\x97\xa5"), 3);
	canvas_finish(&c);
}

static void marks_join_their_base(void **state)
{
	(void)state;
	struct canvas c;
	canvas_init(&c, 1, 4);
	canvas_text(&c, whole(&c), 0, STYLE_PLAIN, "e\xcc\x81x");
	assert_true(CELL_IS_CLUSTER(canvas_at(&c, 0, 0)->cell.code));
	assert_int_equal(canvas_at(&c, 0, 1)->cell.code, 'x');
	canvas_text(&c, whole(&c), 2, STYLE_PLAIN,
	            "\xcc\x81"); /* a mark without base never reaches a neighbour */
	assert_true(canvas_at(&c, 0, 2)->cell.code == 0xfffd);
	expect(&c, "e\xcc\x81x\xef\xbf\xbd\n");
	canvas_finish(&c);
}

static void wrapping_breaks_at_blanks(void **state)
{
	(void)state;
	struct canvas c;
	canvas_init(&c, 5, 6);
	assert_int_equal(canvas_wrap(&c, whole(&c), STYLE_PLAIN, "one two abcdefgh\nx"), 5);
	expect(&c, "one\ntwo\nabcdef\ngh\nx\n");
	canvas_clear(&c);
	assert_int_equal(canvas_wrap(&c, (struct rect){.rows = 2, .cols = 0}, STYLE_PLAIN, "one"), 0);
	assert_int_equal(canvas_wrap(&c, (struct rect){.rows = 2, .cols = 3}, STYLE_PLAIN, "one two three"),
	                 2);
	expect(&c, "one\ntwo\n\n\n\n");
	canvas_finish(&c);
}

static void equality_sees_every_change(void **state)
{
	(void)state;
	struct canvas a, b;
	canvas_init(&a, 2, 4);
	canvas_init(&b, 2, 4);
	canvas_text(&a, whole(&a), 0, STYLE_PLAIN, "o\xcc\x88 u\xcc\x88"); /* clusters get other indices */
	canvas_text(&b, whole(&b), 2, STYLE_PLAIN, "u\xcc\x88");
	canvas_text(&b, whole(&b), 0, STYLE_PLAIN, "o\xcc\x88 ");
	assert_true(canvas_equal(&a, &b));
	canvas_text(&b, whole(&b), 0, STYLE_PLAIN, "u\xcc\x88");
	assert_false(canvas_equal(&a, &b));
	canvas_text(&b, whole(&b), 0, STYLE_MUTED, "o\xcc\x88");
	assert_false(canvas_equal(&a, &b));
	canvas_text(&b, whole(&b), 0, STYLE_PLAIN, "o\xcc\x88");
	assert_true(canvas_equal(&a, &b));
	b.cursor_visible = true;
	assert_false(canvas_equal(&a, &b));
	canvas_resize(&b, 2, 5);
	assert_false(canvas_equal(&a, &b));
	canvas_finish(&a);
	canvas_finish(&b);
}

static void sizes_are_clamped(void **state)
{
	(void)state;
	struct canvas c;
	canvas_init(&c, -4, 0);
	assert_int_equal(c.rows, 1);
	assert_int_equal(c.cols, 1);
	canvas_text(&c, whole(&c), 0, STYLE_PLAIN, "\xe6\x97\xa5");
	expect(&c, "\n");
	assert_null(canvas_at(&c, 0, 1));
	canvas_finish(&c);
}

int main(void)
{
	setlocale(LC_ALL, "");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_stays_inside),          cmocka_unit_test(text_stands_at_the_right),
	    cmocka_unit_test(controls_never_pass),        cmocka_unit_test(wide_characters_keep_whole),
	    cmocka_unit_test(marks_join_their_base),      cmocka_unit_test(wrapping_breaks_at_blanks),
	    cmocka_unit_test(equality_sees_every_change), cmocka_unit_test(sizes_are_clamped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
