/* core/term/svg: a picture that holds what the cells hold, on the grid, and nothing that a guest could say in XML. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/term/svg.h"
#include "tests/lib/term_test.h"

static const struct svg_look LOOK = {.title = "a <b> & \"c\"\x01", .fg = 0xd8d8d8, .bg = 0x14161b};

static const char *draw(struct term_test *t, const struct svg_look *look, struct str *out)
{
	str_clear(out);
	term_test_sync(t);
	svg_draw(&t->screen, look, out);
	assert_false(out->overflow);
	return out->s;
}

static void expect(const char *svg, const char *part)
{
	if (!strstr(svg, part))
		fail_msg("no '%s' in:\n%s", part, svg);
}

static unsigned count(const char *svg, const char *part)
{
	unsigned n = 0;
	for (const char *p = strstr(svg, part); p; p = strstr(p + 1, part))
		n++;
	return n;
}

static void text_is_escaped_and_on_the_grid(void **state)
{
	(void)state;
	struct term_test t;
	struct str out = STR_INIT(1 << 20);
	term_test_init(&t, 3, 20);
	term_test_write(&t, "  <a href=\"x\">&\r\n\r\nlast");
	const char *svg = draw(&t, &LOOK, &out);
	expect(svg, "viewBox=\"0 0 196 70\"");
	expect(svg, "<title>a &lt;b&gt; &amp; &quot;c&quot;</title>");
	expect(svg, "<text x=\"26\" y=\"22\" textLength=\"117\" fill=\"#d8d8d8\">&lt;a "
	            "href=&quot;x&quot;&gt;&amp;</text>");
	expect(svg, "<text x=\"8\" y=\"58\" textLength=\"36\" fill=\"#d8d8d8\">last</text>");
	assert_int_equal(count(svg, "<text"), 2);
	assert_int_equal(count(svg, "<rect"),
	                 1); /* no cell has a background of its own, no cursor was asked for */
	term_test_finish(&t);
	str_finish(&out);
}

static void styles_become_attributes(void **state)
{
	(void)state;
	static const struct {
		const char *bytes, *part;
	} ROWS[] = {
	    {"\x1b[1mx", "fill=\"#d8d8d8\" font-weight=\"bold\">x<"},
	    {"\x1b[2;3mx", "fill=\"#d8d8d8\" font-style=\"italic\" opacity=\"0.6\">x<"},
	    {"\x1b[31mx", "fill=\"#cd0000\">x<"},
	    {"\x1b[38;5;208mx", "fill=\"#ff8700\">x<"},
	    {"\x1b[38;2;1;2;255mx", "fill=\"#0102ff\">x<"},
	    {"\x1b[44mx", "<rect x=\"8\" y=\"8\" width=\"9\" height=\"18\" fill=\"#0000ee\"/>"},
	    {"\x1b[7mx", "<rect x=\"8\" y=\"8\" width=\"9\" height=\"18\" fill=\"#d8d8d8\"/>"},
	    {"\x1b[7mx", "fill=\"#14161b\">x<"},
	    {"\x1b[?5hx", "<rect x=\"8\" y=\"8\" width=\"90\" height=\"18\" fill=\"#d8d8d8\"/>"},
	    {"\x1b[4mx y ", "textLength=\"36\" fill=\"#d8d8d8\" style=\"text-decoration:underline\">x y <"},
	    {"\x1b[4:3;9mx", "style=\"text-decoration:underline line-through wavy\">x<"},
	    {"\x1b[53mx", "style=\"text-decoration: overline\">x<"},
	    {"ab\x1b[31mcd", "<text x=\"26\" y=\"22\" textLength=\"18\" fill=\"#cd0000\">cd<"},
	    /* Wide characters and clusters are runs of their own: nothing behind them moves. */
	    {"a\xe4\xbd\xa0z", "<text x=\"17\" y=\"22\" textLength=\"18\" fill=\"#d8d8d8\">\xe4\xbd\xa0<"},
	    {"a\xe4\xbd\xa0z", "<text x=\"35\" y=\"22\" textLength=\"9\" fill=\"#d8d8d8\">z<"},
	    {"ae\xcc\x81z", "<text x=\"17\" y=\"22\" textLength=\"9\" fill=\"#d8d8d8\">e\xcc\x81<"},
	};
	struct str out = STR_INIT(1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct term_test t;
		term_test_init(&t, 1, 10);
		term_test_write(&t, ROWS[i].bytes);
		expect(draw(&t, &LOOK, &out), ROWS[i].part);
		term_test_finish(&t);
	}
	struct term_test t;
	term_test_init(&t, 1, 10);
	term_test_write(&t, "\x1b[8msecret");
	assert_null(strstr(draw(&t, &LOOK, &out), "secret"));
	term_test_finish(&t);
	str_finish(&out);
}

static void the_cursor_is_drawn_when_asked_for(void **state)
{
	(void)state;
	struct svg_look look = SVG_LOOK_DARK;
	struct term_test t;
	struct str out = STR_INIT(1 << 20);
	term_test_init(&t, 2, 10);
	term_test_write(&t, "\r\nab");
	look.cursor = true;
	expect(draw(&t, &look, &out),
	       "<rect x=\"26\" y=\"26\" width=\"9\" height=\"18\" fill=\"#d8d8d8\" fill-opacity");
	assert_int_equal(count(out.s, "<title"), 0);
	term_test_write(&t, "\x1b[?25l");
	assert_int_equal(count(draw(&t, &look, &out), "<rect"), 1);
	term_test_finish(&t);
	str_finish(&out);
}

/* Well-formed for a reader that knows nothing of us, whatever a guest printed. */
static void any_screen_is_well_formed(void **state)
{
	(void)state;
	struct term_test t;
	struct str out = STR_INIT(SVG_TEXT_MAX);
	uint32_t seed = 1;
	char path[] = "/tmp/ccvm-test-XXXXXX";
	int fd = mkstemp(path);
	term_test_init(&t, 30, 80);
	for (size_t i = 0; i < 40000; i++) {
		static const char *const PIECES[] = {"<",
		                                     "&",
		                                     "]]>",
		                                     "\x1b[7m",
		                                     "\x1b[0m",
		                                     "\xe4\xbd\xa0",
		                                     "e\xcc\x81",
		                                     "\xef\xbf\xbe",
		                                     "\xc2\x85",
		                                     "\"",
		                                     "\x1b[4:3m",
		                                     "\xf0\x9f\x98\x80",
		                                     "\x1b[48;5;9m",
		                                     "\x7f",
		                                     "\x1b[9;53m"};
		seed = seed * 1664525 + 1013904223;
		term_test_write(&t, PIECES[(seed >> 16) % ARRAY_LEN(PIECES)]);
	}
	draw(&t, &LOOK, &out);
	assert_int_equal(write(fd, out.s, out.len), (ssize_t)out.len);
	close(fd);
	char command[200];
	snprintf(command, sizeof(command),
	         "python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' %s", path);
	assert_int_equal(system(command), 0);
	unlink(path);
	term_test_finish(&t);
	str_finish(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_is_escaped_and_on_the_grid),
	    cmocka_unit_test(styles_become_attributes),
	    cmocka_unit_test(the_cursor_is_drawn_when_asked_for),
	    cmocka_unit_test(any_screen_is_well_formed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
