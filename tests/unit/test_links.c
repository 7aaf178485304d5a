/* core/term/links, and hyperlinks on their way from a program to the cells of a client. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "core/term/pack.h"
#include "core/term/transcript.h"
#include "tests/lib/term_test.h"

static void only_harmless_uris_are_links(void **state)
{
	(void)state;
	static const char *const GOOD[] = {"http://h.test", "https://h.test/a?b=c;d#e", "HTTPS://h.test",
	                                   "file:///root/a.c", "mailto:a@h.test"};
	static const char *const BAD[] = {
	    "",          "http:",           "javascript:alert(1)",     "data:text/html,x",
	    "h.test",    "ssh://h.test",    "https://h.test/a b",      "https://h.test/\u00e4",
	    " http://h", "https://h\x1b[m", "https://h.test/\x7f",     "httpx://h.test",
	    "vscode://", "x-man-page://ls", "https://h.test/\xc2\x9b", "//h.test"};
	char longest[LINK_URI_MAX + 1] = "https://h.test/";
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
		if (!link_is_valid(GOOD[i], strlen(GOOD[i])))
			fail_msg("%s is refused", GOOD[i]);
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
		if (link_is_valid(BAD[i], strlen(BAD[i])))
			fail_msg("%s is taken", BAD[i]);
	memset(longest + 15, 'x', sizeof(longest) - 15);
	assert_true(link_is_valid(longest, LINK_URI_MAX));
	assert_false(link_is_valid(longest, LINK_URI_MAX + 1));
	assert_false(link_is_valid("http://h\0x", 10));
}

static void the_table_is_bounded(void **state)
{
	(void)state;
	struct links t = {0};
	char uri[LINK_URI_MAX] = "http://h/";
	for (unsigned i = 0; i < 2 * LINKS_MOST; i++) {
		int len = snprintf(uri, sizeof(uri), "http://h/%u", i);
		unsigned link = links_intern(&t, 0, uri, (size_t)len);
		assert_int_equal(link, i < LINKS_MOST ? i + 1 : 0);
		assert_int_equal(links_intern(&t, 0, uri, (size_t)len), link);
	}
	assert_string_equal(links_get(&t, 18)->uri, "http://h/17");
	assert_null(links_get(&t, 0));
	assert_null(links_get(&t, LINKS_MOST + 1));
	assert_int_equal(links_intern(&t, 7, "http://h/17", 11), 0); /* another one of that name */
	links_clear(&t);
	unsigned kept = 0;
	memset(uri + 9, 'x', sizeof(uri) - 9);
	for (unsigned i = 0; i < 1000; i++) {
		memcpy(uri + 9,
		       &(char[]){(char)('a' + i % 26), (char)('a' + i / 26 % 26), (char)('a' + i / 676)}, 3);
		kept += links_intern(&t, i, uri, sizeof(uri)) != 0;
	}
	assert_int_equal(kept, LINKS_BYTES_MAX / LINK_URI_MAX);
	assert_true(links_memory(&t) < LINKS_BYTES_MAX + 256 * 1024);
	links_finish(&t);
}

/* ---- from the program to the client ------------------------------------------------------------------------------ */

/* Each cell of the first row as a letter: '.' no link, then in the order of their appearance. */
static const char *letters(struct term_test *t)
{
	unsigned seen[26] = {0};
	term_test_sync(t);
	str_clear(&t->text);
	for (unsigned col = 0; col < t->screen.cols; col++) {
		unsigned link = screen_cell(&t->screen, 0, col)->link, i = 0;
		while (link != 0 && seen[i] != 0 && seen[i] != link)
			i++;
		seen[i] = link;
		str_append_char(&t->text, link == 0 ? '.' : (char)('a' + i));
	}
	return t->text.s;
}

#define A   "\x1b]8;;http://a.test\x1b\\"
#define B   "\x1b]8;id=1;http://b.test\a"
#define END "\x1b]8;;\x1b\\"

static const struct {
	const char *in, *links;
} PICTURES[] = {
    {"x" A "yz" END "x", ".aa......."},
    {A "a" B "b" END " ", "ab........"},
    {A "a\x1b[0;1mb" END "\x1b[mc", "aa........"}, /* SGR 0 is not the end of a link */
    {A "a" END "-" A "a" END, "a.a......."},
    {B "a" END "-" B "a" END, "a.a......."},
    {B "a" END "\x1b]8;id=2;http://b.test\ab" END, "ab........"}, /* the same place, another link */
    {B "a" END "\x1b]8;x=y:id=1:z=;http://b.test\ab" END, "aa........"},
    {B "a" END "\x1b]8;xid=1;http://b.test\ab" END, "ab........"},
    {A "\u4e2d" END "x", "aa........"},
    {A "e\u0301" END "x", "a........."},
    {A "abc" END "\x1b[2G-\x1b[3G\x1b[X", "a........."},
    {A "ab" END "\x1b[G\x1b[@", ".aa......."},
    {A "a\x1b[2Kb" END, ".a........"}, /* erasing leaves no link behind */
    {A "\x1b"
       "7" END "\x1b"
       "8a",
     ".........."}, /* a cursor that is saved */
    {"\x1b"
     "7" A "\x1b"
     "8a" END,
     "a........."},
    {A "a\x1b[?1049hb\x1b[?1049lc" END, "aa........"},
    {A "a\x1b[!pb", "a........."},
    {A "a\x1b"
       "cb",
     ".........."},
    {A "a\x1b]8;;javascript:x\ab", "a........."},
    {A "a\x1b]8;;http://a b\ac", "a........."},
    {A "a\x1b]8;\ab\x1b]8\ac", "a........."},
    {"\x1b]8;;http://a.test/?a;b=c\aq", "a........."},
};

static void cells_carry_their_links(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(PICTURES); i++) {
		struct term_test t;
		term_test_init(&t, 3, 10);
		term_test_write(&t, PICTURES[i].in);
		const char *got = letters(&t);
		if (strcmp(got, PICTURES[i].links) != 0)
			fail_msg("picture %zu: %s", i, got);
		term_test_finish(&t);
	}
}

static void a_link_is_known_to_the_client(void **state)
{
	(void)state;
	struct term_test t;
	struct screen copy;
	term_test_init(&t, 2, 10);
	term_test_write(&t, A "0123456789ab" END "\r\n");
	term_test_sync(&t);
	assert_string_equal(clusters_link(&t.screen.clusters, screen_cell(&t.screen, 0, 1)->link),
	                    "http://a.test");
	assert_null(clusters_link(&t.screen.clusters, screen_cell(&t.screen, 0, 2)->link));
	screen_init(&copy, 1, 2);
	screen_copy(&copy, &t.screen);
	term_test_equal(&copy, &t.screen);
	screen_finish(&copy);
	/* And in the history, where both rows of it are still one link. */
	struct transcript *tr = transcript_create(&t.screen);
	struct buf b = BUF_INIT(1 << 20);
	struct err e = ERR_INIT;
	uint64_t first;
	unsigned n = transcript_encode(t.e, transcript_first(tr), 10, SNAPSHOT_ROW_MAX, &b, &first);
	assert_true(transcript_prepend(tr, first, n, (struct bytes){b.data, b.len}, &e));
	struct cell above[10], below[10];
	assert_int_equal(transcript_line(tr, 0, above, 10, NULL), 10);
	assert_int_equal(transcript_line(tr, 1, below, 10, NULL), 2);
	assert_int_equal(above[9].link, below[0].link);
	assert_string_equal(clusters_link(transcript_clusters(tr), above[9].link), "http://a.test");
	/* It comes back onto a taller screen. */
	term_test_write(&t, "\x1b[2J");
	emulator_resize(t.e, 4, 10);
	assert_string_equal(letters(&t), "aaaaaaaaaa");
	buf_finish(&b);
	transcript_destroy(tr);
	term_test_finish(&t);
}

/* More links than the table holds: those that are no longer shown make room, those that are stay what they are. */
static void links_are_swept(void **state)
{
	(void)state;
	struct term_test t;
	term_test_init(&t, 4, 20);
	term_test_write(&t, A "stays" END "\x1b[2;1H");
	for (unsigned i = 0; i < 3 * LINKS_MOST; i++) {
		char text[64];
		snprintf(text, sizeof(text), "\x1b[2;1H\x1b]8;;http://h.test/%u\ax" END, i);
		term_test_write(&t, text);
		if (i % 100 == 0) {
			term_test_sync(&t);
			const char *uri =
			    clusters_link(&t.screen.clusters, screen_cell(&t.screen, 1, 0)->link);
			assert_non_null(uri);
			assert_int_equal(strtoul(strrchr(uri, '/') + 1, NULL, 10), i);
			assert_string_equal(
			    clusters_link(&t.screen.clusters, screen_cell(&t.screen, 0, 0)->link),
			    "http://a.test");
		}
	}
	assert_true(emulator_clusters(t.e)->links.count <= LINKS_MOST);
	/* A link that is open while the table is swept stays open. */
	term_test_write(&t, "\x1b[H\x1b[2J" B);
	for (unsigned i = 0; i < 2 * CLUSTERS_MOST; i++) {
		const char text[] = {
		    '\r',       (char)('a' + i / 2304),     (char)0xcc, (char)(0x80 + i % 48),
		    (char)0xcc, (char)(0x80 + i / 48 % 48), 0};
		term_test_write(&t, text);
	}
	assert_string_equal(letters(&t), "a...................");
	term_test_finish(&t);
}

/* A full screen of links, none like the other, and longer than the table holds: text is text. */
static void too_many_links_are_left_out(void **state)
{
	(void)state;
	struct term_test t;
	char uri[LINK_URI_MAX + 1] = "", text[LINK_URI_MAX + 64];
	term_test_init(&t, 24, 80);
	memset(uri, 'x', LINK_URI_MAX - 20);
	for (unsigned i = 0; i < 24 * 80; i++) {
		snprintf(text, sizeof(text), "\x1b]8;;http://h/%04u/%s\a%c", i, uri, 'a' + (int)(i % 26));
		term_test_write(&t, text);
	}
	assert_true(emulator_memory(t.e) < 1 << 20);
	unsigned used, linked = 0;
	for (unsigned row = 0; row < 24; row++) {
		const struct cell *cells = emulator_row(t.e, row, &used);
		for (unsigned col = 0; col < used; col++)
			linked += cells[col].link != 0;
	}
	assert_in_range(linked, 200, 260);
	/* A row gives away no more than its share of an update. */
	struct buf b = BUF_INIT(4 << 20);
	struct snapshot_cursor c = {0};
	assert_true(snapshot_encode(t.e, &c, 4 << 20, &b));
	assert_in_range(b.len, 1, 24 * (80 * 8 + PACK_LINKS_MAX));
	struct err e = ERR_INIT;
	assert_true(snapshot_apply(&t.screen, (struct bytes){b.data, b.len}, &e));
	assert_non_null(clusters_link(&t.screen.clusters, screen_cell(&t.screen, 0, 0)->link));
	assert_null(clusters_link(&t.screen.clusters, screen_cell(&t.screen, 0, 79)->link));
	buf_finish(&b);
	term_test_finish(&t);
}

/* Rows at the edge of that share: what is packed always unpacks, and never needs more than it may. */
static void rows_of_links_fit(void **state)
{
	(void)state;
	struct cell cells[TERM_COLS_MAX], out[TERM_COLS_MAX];
	char uri[LINK_URI_MAX + 1] = "http://h/";
	for (size_t len = 10; len <= LINK_URI_MAX; len = len * 3 / 2) {
		struct clusters from = {0}, to = {0};
		struct buf b = BUF_INIT(PACK_ROW_MAX);
		size_t used, linked = 0;
		for (unsigned i = 0; i < TERM_COLS_MAX; i++) {
			memset(uri + 9, 'x', sizeof(uri) - 9);
			uri[9] = (char)('a' + i % 26);
			cells[i] = (struct cell){.code = 'a' + i % 3,
			                         .fg = COLOUR_RGB(i, 1, 2),
			                         .bg = COLOUR_RGB(1, i, 2),
			                         .ul = COLOUR_RGB(1, 2, i),
			                         .attrs = (uint16_t)(i & 0xff)};
			if (i % 3 != 0)
				cells[i].link = links_intern(&from.links, i % 7, uri, len) & CELL_LINK_MASK;
		}
		pack_row(&b, cells, TERM_COLS_MAX, &from);
		assert_true(buf_ok(&b));
		assert_true(unpack_row((struct bytes){b.data, b.len}, out, TERM_COLS_MAX, &to, &used));
		assert_int_equal(used, TERM_COLS_MAX);
		for (unsigned i = 0; i < TERM_COLS_MAX; i++) {
			const struct link *x = links_get(&from.links, cells[i].link),
			                  *y = links_get(&to.links, out[i].link);
			assert_int_equal(out[i].code, cells[i].code);
			if (y != NULL) {
				linked++;
				assert_int_equal(x->id, y->id);
				assert_string_equal(x->uri, y->uri);
			}
		}
		assert_in_range(linked, 5, TERM_COLS_MAX);
		buf_finish(&b);
		clusters_finish(&from);
		clusters_finish(&to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_harmless_uris_are_links),
	    cmocka_unit_test(the_table_is_bounded),
	    cmocka_unit_test(cells_carry_their_links),
	    cmocka_unit_test(a_link_is_known_to_the_client),
	    cmocka_unit_test(links_are_swept),
	    cmocka_unit_test(too_many_links_are_left_out),
	    cmocka_unit_test(rows_of_links_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
