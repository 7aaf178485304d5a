/* core/backend: the console log of a guest that means harm, and the VM's own disk. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/backend/console_log.h"
#include "core/backend/disk.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "tests/lib/loop_wait.h"

struct fixture {
	char dir[32];
	char *path;
	struct loop *loop;
	bool done;
	struct err e;
};

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	strcpy(f->dir, "/tmp/ccvm-t.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->path = mem_printf("%s/file", f->dir);
	f->loop = loop_create();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	loop_destroy(f->loop);
	bool ok = fd_remove_tree(f->dir, &e);
	free(f->path);
	free(f);
	return ok ? 0 : -1;
}

static void put(struct console_log *log, const char *text)
{
	console_log_write(log, (const uint8_t *)text, strlen(text));
}

static char *content(struct fixture *f, size_t *len)
{
	struct err e = ERR_INIT;
	char *text = fd_read_file(f->path, 8 << 20, len, &e);
	assert_non_null(text);
	return text;
}

static struct console_log *open_log(struct fixture *f)
{
	struct err e = ERR_INIT;
	struct console_log *log = console_log_open(f->path, &e);
	assert_non_null(log);
	return log;
}

static void only_plain_text_gets_in(void **state)
{
	struct fixture *f = *state;
	struct console_log *log = open_log(f);
	put(log, "a\tb\r\n\x1b[2J\x9b\x7f\xc3\xa9~\n");
	console_log_write(log, (const uint8_t *)"\0z", 2);
	console_log_close(log);
	log = open_log(f); /* goes on where it was */
	put(log, "next\n");
	console_log_close(log);
	char *text FREE_ON_EXIT = content(f, NULL);
	assert_string_equal(text, "a\tb\n\\x1b[2J\\x9b\\x7f\\xc3\\xa9~\n\\x00znext\n");
	struct stat st;
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_flood_stays_bounded_and_the_newest_is_kept(void **state)
{
	struct fixture *f = *state;
	struct console_log *log = open_log(f);
	char line[64];
	for (int i = 0; i < 200000; i++) {
		struct stat st;
		snprintf(line, sizeof(line), "line %06d of a flood\n", i);
		put(log, line);
		if (i % 1000 == 0 && (stat(f->path, &st) != 0 || st.st_size > CONSOLE_LOG_MOST))
			fail_msg("%jd bytes", (intmax_t)st.st_size);
	}
	console_log_close(log);
	size_t len;
	char *text FREE_ON_EXIT = content(f, &len);
	assert_true(len <= CONSOLE_LOG_MOST && len >= CONSOLE_LOG_MOST / 2 - 4096);
	int first = -1;
	assert_int_equal(sscanf(text, "line %d of a flood\n", &first), 1); /* cut at a line */
	const char *p = text;
	for (int i = first; i < 200000; i++) { /* without a gap */
		snprintf(line, sizeof(line), "line %06d of a flood\n", i);
		assert_memory_equal(p, line, strlen(line));
		p += strlen(line);
	}
	assert_int_equal(*p, '\0');
}

static void one_endless_line_of_binary(void **state)
{
	struct fixture *f = *state;
	struct console_log *log = open_log(f);
	uint8_t *bytes FREE_ON_EXIT = mem_alloc(3 << 20);
	console_log_write(log, bytes, 3 << 20); /* 12 MiB of \x00 */
	console_log_close(log);
	size_t len;
	char *text FREE_ON_EXIT = content(f, &len);
	assert_true(len <= CONSOLE_LOG_MOST && len > CONSOLE_LOG_MOST / 4);
	assert_string_equal(text + len - 8, "\\x00\\x00");
}

static void an_oversized_old_log_is_cut_at_the_start(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(close(open(f->path, O_CREAT | O_WRONLY, 0600)), 0);
	assert_int_equal(truncate(f->path, 5 << 20), 0);
	struct console_log *log = open_log(f);
	console_log_close(log);
	struct stat st;
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, CONSOLE_LOG_MOST / 2);
}

static void only_a_regular_file_is_a_log(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	assert_int_equal(symlink("/etc/passwd", f->path), 0);
	assert_null(console_log_open(f->path, &e));
	assert_int_equal(e.sys, ELOOP);
	err_clear(&e);
	assert_null(console_log_open(f->dir, &e));
}

static void tails(void **state)
{
	static const struct {
		const char *text;
		size_t lines, size;
		const char *want;
	} table[] = {
	    {"", 3, 64, ""},
	    {"\n\n", 3, 64, ""},
	    {"one", 3, 64, "one"},
	    {"a\nb\nc\nd\n", 2, 64, "c\nd"},
	    {"a\nb\nc\nd\n", 9, 64, "a\nb\nc\nd"},
	    {"a\n\nb\n\n\n", 2, 64, "a\n\nb"},
	    {"abcdefgh\nijklmnop\n", 2, 6, "lmnop"},
	};
	struct fixture *f = *state;
	char out[64];
	console_log_tail(f->path, 3, out, sizeof(out)); /* no file */
	assert_string_equal(out, "");
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct err e = ERR_INIT;
		assert_true(fd_write_file(f->path, table[i].text, strlen(table[i].text), 0600, &e));
		memset(out, 'x', sizeof(out));
		console_log_tail(f->path, table[i].lines, out, table[i].size);
		assert_string_equal(out, table[i].want);
	}
}

/* ---- the disk --------------------------------------------------------------------------------------------------- */

static void on_made(void *arg, const struct err *e)
{
	struct fixture *f = arg;
	assert_false(f->done);
	f->done = true;
	if (e)
		f->e = *e;
}

static bool make(struct fixture *f, const char *path, uint64_t size)
{
	struct err e = ERR_INIT;
	f->done = false;
	f->e = e;
	if (!disk_create(f->loop, path, size, on_made, f, &e)) {
		f->e = e;
		loop_run(f->loop);
		assert_false(f->done);
		return false;
	}
	assert_false(f->done);
	assert_true(loop_wait_flag(f->loop, &f->done));
	return f->e.kind == ERR_NONE;
}

static size_t files_in(struct fixture *f)
{
	char *command FREE_ON_EXIT = mem_printf("ls -A %s | wc -l", f->dir);
	FILE *p = popen(command, "r");
	size_t n = 99;
	assert_non_null(p);
	assert_int_equal(fscanf(p, "%zu", &n), 1);
	pclose(p);
	return n;
}

static void a_disk_is_sparse_private_and_ext4(void **state)
{
	struct fixture *f = *state;
	assert_true(make(f, f->path, 2ull << 30));
	struct stat st;
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 2ll << 30);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_nlink, 1);
	assert_true(st.st_blocks < (16 << 20) / 512);
	uint8_t magic[2];
	int fd CLOSE_ON_EXIT = open(f->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, magic, 2, 1024 + 56), 2);
	assert_int_equal(magic[0] | magic[1] << 8, 0xef53);
	assert_int_equal(files_in(f), 1);
}

static void an_existing_disk_is_not_touched(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	assert_true(fd_write_file(f->path, "mine", 4, 0600, &e));
	assert_false(make(f, f->path, 1ull << 30));
	assert_int_equal(f->e.kind, ERR_EXISTS);
	assert_non_null(strstr(f->e.msg, f->path));
	char *text FREE_ON_EXIT = content(f, NULL);
	assert_string_equal(text, "mine");
	assert_int_equal(files_in(f), 1);
}

static void a_disk_that_appears_meanwhile_wins(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	assert_non_null(disk_create(f->loop, f->path, 1ull << 30, on_made, f, &e));
	assert_true(fd_write_file(f->path, "mine", 4, 0600, &e));
	assert_true(loop_wait_flag(f->loop, &f->done));
	assert_int_equal(f->e.kind, ERR_EXISTS);
	char *text FREE_ON_EXIT = content(f, NULL);
	assert_string_equal(text, "mine");
	assert_int_equal(files_in(f), 1);
}

static void failures_name_the_disk_and_leave_nothing(void **state)
{
	struct fixture *f = *state;
	assert_false(make(f, f->path, 4096));
	assert_non_null(strstr(f->e.msg, f->path));
	assert_non_null(strstr(f->e.msg, "mkfs.ext4 failed (exit code 1)"));
	assert_false(make(f, f->path, UINT64_MAX));
	assert_int_equal(f->e.kind, ERR_LIMIT);
	assert_false(make(f, "/nonexistent/disk.img", 1 << 30));
	assert_non_null(strstr(f->e.msg, "/nonexistent/disk.img: No such file"));
	assert_int_equal(files_in(f), 0);
}

static void mkfs_is_found_outside_of_path(void **state)
{
	struct fixture *f = *state;
	char *old FREE_ON_EXIT = mem_strdup(getenv("PATH"));
	setenv("PATH", "relative::/nonexistent", 1);
	bool made = make(f, f->path, 1 << 30);
	setenv("PATH", old, 1);
	assert_true(made);
}

static void a_canceled_disk_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	disk_cancel(disk_create(f->loop, f->path, 1ull << 30, on_made, f, &e));
	loop_run(f->loop);
	assert_false(f->done);
	assert_int_equal(files_in(f), 0);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
	child_guard(argc, argv);
	const struct CMUnitTest tests[] = {
	    WITH_FIXTURE(only_plain_text_gets_in),
	    WITH_FIXTURE(a_flood_stays_bounded_and_the_newest_is_kept),
	    WITH_FIXTURE(one_endless_line_of_binary),
	    WITH_FIXTURE(an_oversized_old_log_is_cut_at_the_start),
	    WITH_FIXTURE(only_a_regular_file_is_a_log),
	    WITH_FIXTURE(tails),
	    WITH_FIXTURE(a_disk_is_sparse_private_and_ext4),
	    WITH_FIXTURE(an_existing_disk_is_not_touched),
	    WITH_FIXTURE(a_disk_that_appears_meanwhile_wins),
	    WITH_FIXTURE(failures_name_the_disk_and_leave_nothing),
	    WITH_FIXTURE(mkfs_is_found_outside_of_path),
	    WITH_FIXTURE(a_canceled_disk_leaves_nothing),
	};
	return cmocka_run_group_tests_name("console_log and disk", tests, NULL, NULL);
}
