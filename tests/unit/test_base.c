/* core/base: error value, escaping, bounded texts and buffers, strict parsers, files. */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/base/ring.h"
#include "core/base/str.h"

static void err_carries_context(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	assert_false(err_sys(&e, ENOENT, "open %s", "disk.img"));
	assert_false(err_wrap(&e, "start VM %s", "alpha"));
	assert_string_equal(e.msg, "start VM alpha: open disk.img: No such file or directory");
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_int_equal(e.sys, ENOENT);
	assert_string_equal(err_kind_name(ERR_TIMEOUT), "timeout");
	assert_string_equal(err_kind_name((enum err_kind)999), "internal");
}

static void escape_hides_control_bytes(void **state)
{
	(void)state;
	char out[64];
	const char bad[] = "a\x1b[31m\n\\\x80\x00z";
	escape_text(out, sizeof(out), bad, sizeof(bad) - 1);
	assert_string_equal(out, "a\\x1b[31m\\n\\\\\\x80\\x00z");
	escape_json(out, sizeof(out), bad, sizeof(bad) - 1);
	assert_string_equal(out, "a\\u001b[31m\\u000a\\\\\\u0080\\u0000z");
}

static void escape_cuts_at_whole_escapes(void **state)
{
	(void)state;
	char out[12];
	assert_int_equal(escape_json(out, sizeof(out), "abcd\x01\x02", 6), 7);
	assert_string_equal(out, "abcd...");
	assert_int_equal(escape_json(out, sizeof(out), "abcdefghijk", 11), 11);
	assert_string_equal(out, "abcdefghijk");
	for (size_t size = 8; size < 12; size++) {
		size_t n = escape_json(out, size, "\x01\x02\x03\x04", 4);
		assert_true(n < size);
		assert_string_equal(out + n - 3, "...");
	}
}

static void str_stops_at_its_maximum(void **state)
{
	(void)state;
	struct str s = STR_INIT(5);
	assert_string_equal(s.s, "");
	str_append(&s, "abc");
	str_appendf(&s, "%d", 12);
	assert_string_equal(s.s, "abc12");
	assert_false(s.overflow);
	str_append_char(&s, 'x');
	assert_true(s.overflow);
	assert_string_equal(s.s, "abc12");
	str_clear(&s);
	str_append_json(&s, "\n", 1, 64);
	assert_true(s.overflow); /* "\u000a" with quotes is longer */
	str_finish(&s);
}

static void buf_and_reader_agree(void **state)
{
	(void)state;
	struct buf b = BUF_INIT(64);
	buf_put_u8(&b, 1);
	buf_put_u16(&b, 0x0203);
	buf_put_u32(&b, 0x04050607);
	buf_put_u64(&b, 0x08090a0b0c0d0e0f);
	buf_put_string(&b, "hi");
	assert_true(buf_ok(&b));
	for (uint8_t i = 0; i < 15; i++)
		assert_int_equal(b.data[i], i + 1);
	struct reader r;
	char text[3];
	reader_init(&r, b.data, b.len);
	assert_int_equal(reader_u8(&r), 1);
	assert_int_equal(reader_u16(&r), 0x0203);
	assert_int_equal(reader_u32(&r), 0x04050607);
	assert_int_equal(reader_u64(&r), 0x08090a0b0c0d0e0f);
	reader_string(&r, text, sizeof(text));
	assert_string_equal(text, "hi");
	assert_true(reader_end(&r));
	assert_int_equal(reader_u32(&r), 0); /* past the end: zero, and bad */
	assert_false(reader_end(&r));
	buf_finish(&b);
}

static void reader_refuses_bad_strings(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
	} BAD[] = {
	    {"\0\0\0\x03"
	     "abc",
	     7}, /* does not fit in 3 bytes with its NUL */
	    {"\0\0\0\x02"
	     "a\0",
	     6}, /* NUL inside */
	    {"\xff\xff\xff\xff"
	     "a",
	     5}, /* length far past the end */
	    {"\0\0\0\x02"
	     "a",
	     5}, /* short */
	    {"\0\0", 2},
	    {"\0\0\0\x01"
	     "ab",
	     6}, /* bytes left over */
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		char text[3];
		struct reader r;
		reader_init(&r, BAD[i].bytes, BAD[i].len);
		reader_string(&r, text, sizeof(text));
		assert_false(reader_end(&r));
	}
}

static void buf_stops_at_its_maximum(void **state)
{
	(void)state;
	struct buf b = BUF_INIT(4);
	buf_put_u32(&b, 7);
	assert_true(buf_ok(&b));
	buf_put_u8(&b, 1);
	assert_false(buf_ok(&b));
	assert_int_equal(b.len, 4);
	assert_null(buf_reserve(&b, 1));
	buf_finish(&b);
}

static void ring_wraps(void **state)
{
	(void)state;
	struct ring r;
	struct iovec v[2];
	ring_init(&r, 8);
	assert_int_equal(ring_put(&r, "abcdef", 6), 6);
	ring_take(&r, 4);
	assert_int_equal(ring_put(&r, "ghijklmn", 8), 6);
	assert_int_equal(ring_free(&r), 0);
	assert_int_equal(ring_read_spans(&r, v), 2);
	assert_memory_equal(v[0].iov_base, "efgh", 4);
	assert_memory_equal(v[1].iov_base, "ijkl", 4);
	assert_int_equal(ring_write_spans(&r, v), 0);
	ring_finish(&r);
}

static void parsers_are_strict(void **state)
{
	(void)state;
	uint64_t v;
	assert_true(parse_u64("443", 1, 65535, &v));
	assert_int_equal(v, 443);
	static const char *const BAD_NUMBERS[] = {
	    "", " 1", "+1", "-1", "1 ", "1a", "0x1", "99999999999999999999", "0", "65536"};
	for (size_t i = 0; i < ARRAY_LEN(BAD_NUMBERS); i++)
		assert_false(parse_u64(BAD_NUMBERS[i], 1, 65535, &v));
	assert_true(parse_size("2G", &v));
	assert_true(v == 2ull << 30);
	assert_false(parse_size("2GB", &v));
	assert_false(parse_size("99999999999T", &v));
	assert_true(parse_duration("10m", &v));
	assert_int_equal(v, 600000);
	assert_true(parse_duration("250ms", &v));
	assert_int_equal(v, 250);
	assert_false(parse_duration("10 m", &v));
}

static void names_are_checked(void **state)
{
	(void)state;
	static const char *const GOOD[] = {"a", "alpha", "0", "a-b-9", "abcdefghijklmnopqrstuvwxyz012345"};
	static const char *const BAD[] = {
	    "", "-a", "A", "a.b", "a/b", "..", "a b", "a\n", "\xc3\xa9", "abcdefghijklmnopqrstuvwxyz0123456"};
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		struct err e = ERR_INIT;
		assert_true(parse_name("VM name", GOOD[i], &e));
	}
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct err e = ERR_INIT;
		assert_false(parse_name("VM name", BAD[i], &e));
		assert_non_null(strstr(e.msg, "VM name"));
	}
}

static void rfc3339_is_exact(void **state)
{
	(void)state;
	char out[CLOCK_RFC3339_SIZE];
	clock_rfc3339(out, 1796073242123);
	assert_string_equal(out, "2026-11-30T21:14:02.123Z");
	clock_rfc3339(out, INT64_MAX);
	assert_true(strlen(out) < CLOCK_RFC3339_SIZE);
}

static void standard_descriptors_are_filled(void **state)
{
	(void)state;
	int in = dup(STDIN_FILENO);
	close(STDIN_FILENO);
	assert_true(fd_fill_standard());
	struct stat st, null;
	assert_int_equal(fstat(STDIN_FILENO, &st), 0);
	assert_int_equal(stat("/dev/null", &null), 0);
	assert_int_equal(st.st_rdev, null.st_rdev);
	int next = dup(STDIN_FILENO); /* nothing more was left open */
	assert_true(fd_fill_standard());
	assert_int_equal(close(next), 0);
	int again = dup(STDIN_FILENO);
	assert_int_equal(again, next);
	close(again);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	fd_close(&in);
}

static void files_are_replaced_whole(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	char dir[] = "/tmp/ccvm-test-XXXXXX";
	assert_non_null(mkdtemp(dir));
	char *path = mem_printf("%s/a/b/file", dir), *parent = mem_printf("%s/a/b", dir);
	assert_true(fd_make_dirs(parent, 0700, &e));
	assert_true(fd_write_file(path, "one", 3, 0600, &e));
	assert_true(fd_write_file(path, "two!", 4, 0600, &e));
	size_t len;
	char *text = fd_read_file(path, 100, &len, &e);
	assert_string_equal(text, "two!");
	free(text);
	assert_null(fd_read_file(path, 3, NULL, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	err_clear(&e);
	int lock = fd_lock_file(path, &e);
	assert_true(lock >= 0);
	assert_int_equal(fd_lock_file(path, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	fd_close(&lock);
	err_clear(&e);
	assert_int_equal(symlink("/etc", parent), -1);
	assert_true(fd_remove_tree(dir, &e));
	assert_int_equal(access(dir, F_OK), -1);
	assert_true(fd_remove_tree(dir, &e)); /* gone already: fine */
	free(path);
	free(parent);
}

static void long_socket_paths_are_named(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	char path[200];
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(fd_unix_listen(path, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_non_null(strstr(e.msg, "xxx"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(err_carries_context),
	    cmocka_unit_test(escape_hides_control_bytes),
	    cmocka_unit_test(escape_cuts_at_whole_escapes),
	    cmocka_unit_test(str_stops_at_its_maximum),
	    cmocka_unit_test(buf_and_reader_agree),
	    cmocka_unit_test(reader_refuses_bad_strings),
	    cmocka_unit_test(buf_stops_at_its_maximum),
	    cmocka_unit_test(ring_wraps),
	    cmocka_unit_test(parsers_are_strict),
	    cmocka_unit_test(names_are_checked),
	    cmocka_unit_test(rfc3339_is_exact),
	    cmocka_unit_test(standard_descriptors_are_filled),
	    cmocka_unit_test(files_are_replaced_whole),
	    cmocka_unit_test(long_socket_paths_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
