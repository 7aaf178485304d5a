/* core/loop/follow: a growing file, one that appears late, one that is replaced or cut. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/loop/follow.h"
#include "core/loop/loop.h"
#include "tests/lib/loop_wait.h"

struct fixture {
	struct loop *loop;
	char *dir, *path;
	struct follow *follow;
	struct str seen; /* "line|line|" with R for a restart and C for caught up */
	unsigned caught_up;
	const char *want;
};

static void on_line(void *arg, const char *line, size_t len)
{
	struct fixture *f = arg;
	str_append_bytes(&f->seen, line, len);
	str_append_char(&f->seen, '|');
	if (len == 5 && memcmp(line, "close", 5) == 0) {
		follow_close(f->follow);
		f->follow = NULL;
	}
}

static void on_restart(void *arg)
{
	struct fixture *f = arg;
	str_append(&f->seen, "R|");
}

static void on_caught_up(void *arg)
{
	struct fixture *f = arg;
	f->caught_up++;
}

static const struct follow_ops OPS = {on_line, on_restart, on_caught_up};

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	str_init(&f->seen, 1 << 24);
	f->loop = loop_create();
	f->dir = mem_strdup("/tmp/ccvm-follow-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->path = mem_printf("%s/log", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	follow_close(f->follow);
	loop_destroy(f->loop);
	assert_true(fd_remove_tree(f->dir, &e));
	free(f->dir);
	free(f->path);
	str_finish(&f->seen);
	free(f);
	return 0;
}

static void append(struct fixture *f, const char *text)
{
	int fd CLOSE_ON_EXIT = open(f->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd_write_all(fd, text, strlen(text)));
}

static void start(struct fixture *f, uint64_t offset)
{
	struct err e = ERR_INIT;
	f->follow = follow_open(f->loop, f->path, offset, &OPS, f, &e);
	assert_non_null(f->follow);
}

static bool is_seen(void *arg)
{
	struct fixture *f = arg;
	return strcmp(f->seen.s, f->want) == 0;
}

static void wait_seen(struct fixture *f, const char *want)
{
	f->want = want;
	loop_wait(f->loop, is_seen, f);
	assert_string_equal(f->seen.s, want);
}

static bool is_caught_up(void *arg)
{
	struct fixture *f = arg;
	return f->caught_up > 0;
}

static void wait_caught_up(struct fixture *f)
{
	f->caught_up = 0;
	assert_true(loop_wait(f->loop, is_caught_up, f));
}

static void lines_come_whole(void **state)
{
	struct fixture *f = *state;
	append(f, "one\ntwo\nthr");
	start(f, FOLLOW_START);
	assert_string_equal(f->seen.s, ""); /* nothing from inside follow_open */
	wait_seen(f, "one|two|");
	append(f, "ee\n\n");
	wait_seen(f, "one|two|three||");
}

static void a_late_file_is_found(void **state)
{
	struct fixture *f = *state;
	start(f, FOLLOW_END);
	wait_caught_up(f);
	append(f, "first\n"); /* it did not exist at FOLLOW_END: all of it is new */
	wait_seen(f, "first|");
}

static void the_end_means_only_new_lines(void **state)
{
	struct fixture *f = *state;
	append(f, "old\nhal");
	start(f, FOLLOW_END);
	wait_caught_up(f);
	append(f, "f\nnew\n");
	wait_seen(f, "new|");
}

static void an_offset_inside_a_line_skips_it(void **state)
{
	struct fixture *f = *state;
	append(f, "aaaa\nbbbb\n");
	start(f, 2);
	wait_seen(f, "bbbb|");
	follow_close(f->follow);
	str_clear(&f->seen);
	start(f, 5);
	wait_seen(f, "bbbb|");
}

static void a_renamed_file_is_read_to_its_end(void **state)
{
	struct fixture *f = *state;
	append(f, "a\n");
	start(f, FOLLOW_START);
	wait_seen(f, "a|");
	char *old FREE_ON_EXIT = mem_printf("%s.1", f->path);
	append(f, "b\n");
	assert_int_equal(rename(f->path, old), 0);
	append(f, "c\n");
	wait_seen(f, "a|b|R|c|");
}

static void a_cut_file_starts_again(void **state)
{
	struct fixture *f = *state;
	append(f, "aaaa\nbb");
	start(f, FOLLOW_START);
	wait_seen(f, "aaaa|");
	assert_int_equal(truncate(f->path, 0), 0);
	wait_seen(f, "aaaa|R|");
	append(f, "x\n");
	wait_seen(f, "aaaa|R|x|");
}

static void a_line_over_the_maximum_is_cut(void **state)
{
	struct fixture *f = *state;
	char *big FREE_ON_EXIT = mem_alloc(FOLLOW_LINE_MAX * 2 + 2);
	memset(big, 'x', FOLLOW_LINE_MAX * 2);
	big[FOLLOW_LINE_MAX * 2] = '\n';
	append(f, big);
	append(f, "next\n");
	start(f, FOLLOW_START);
	wait_caught_up(f);
	assert_int_equal(f->seen.len, FOLLOW_LINE_MAX + 1 + 5);
	assert_string_equal(f->seen.s + FOLLOW_LINE_MAX, "|next|");
}

static void a_callback_may_close(void **state)
{
	struct fixture *f = *state;
	append(f, "a\nclose\nb\n");
	start(f, FOLLOW_START);
	wait_seen(f, "a|close|");
	append(f, "c\n");
	loop_turn(f->loop, true);
	assert_string_equal(f->seen.s, "a|close|");
}

static void many_lines_come_in_pieces(void **state)
{
	struct fixture *f = *state;
	struct str all = STR_INIT(1 << 22);
	for (int i = 0; i < 50000; i++)
		str_appendf(&all, "line %d\n", i);
	append(f, all.s);
	start(f, FOLLOW_START);
	loop_turn(f->loop, true);
	loop_turn(f->loop, true);
	assert_in_range(f->seen.len, 1, all.len - 1);
	wait_caught_up(f);
	for (size_t i = 0; i < all.len; i++)
		all.s[i] = all.s[i] == '\n' ? '|' : all.s[i];
	assert_string_equal(f->seen.s, all.s);
	str_finish(&all);
}

static void a_missing_folder_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	assert_null(follow_open(f->loop, "/nonexistent-folder/log", 0, &OPS, f, &e));
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_non_null(strstr(e.msg, "/nonexistent-folder/log"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(lines_come_whole),
	    T(a_late_file_is_found),
	    T(the_end_means_only_new_lines),
	    T(an_offset_inside_a_line_skips_it),
	    T(a_renamed_file_is_read_to_its_end),
	    T(a_cut_file_starts_again),
	    T(a_line_over_the_maximum_is_cut),
	    T(a_callback_may_close),
	    T(many_lines_come_in_pieces),
	    T(a_missing_folder_is_an_error),
	};
	return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}
