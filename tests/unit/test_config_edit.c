/* core/config/config_edit: one line more, every other byte as it was, or nothing at all. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/config/config.h"
#include "core/config/config_edit.h"

struct place {
	char dir[32];
	char *path; /* of ccvm.ini, not made yet */
};

static int setup(void **state)
{
	struct place *p = mem_alloc(sizeof(*p));
	strcpy(p->dir, "/tmp/ccvm-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->path = mem_printf("%s/ccvm.ini", p->dir);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;
	struct err e = ERR_INIT;
	assert_true(fd_remove_tree(p->dir, &e));
	free(p->path);
	free(p);
	return 0;
}

static void put(const struct place *p, const char *text)
{
	struct err e = ERR_INIT;
	assert_true(fd_write_file(p->path, text, strlen(text), 0644, &e));
}

static void expect(const char *path, const char *want)
{
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(path, 1 << 20, NULL, &e);
	if (!text)
		fail_msg("%s", e.msg);
	assert_string_equal(text, want);
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode;
}

/* Nothing but ccvm.ini is left in the folder. */
static void expect_alone(const struct place *p)
{
	char *command FREE_ON_EXIT = mem_printf("test \"$(ls -A %s)\" = ccvm.ini", p->dir);
	assert_int_equal(system(command), 0);
}

static void every_other_byte_stays(void **state)
{
	struct place *p = *state;
	static const struct {
		const char *name, *before, *after;
	} ROWS[] = {
	    {"an empty file", "", "[egress]\nallow = a.test:443\n"},
	    {"no section", "# mine\n[vm]\ncpus = 2 ; two\n",
	     "# mine\n[vm]\ncpus = 2 ; two\n\n[egress]\nallow = a.test:443\n"},
	    {"no line end", "[vm]\ncpus = 2", "[vm]\ncpus = 2\n\n[egress]\nallow = a.test:443\n"},
	    {"an empty section", "[egress]\n[vm]\ncpus = 2\n",
	     "[egress]\nallow = a.test:443\n[vm]\ncpus = 2\n"},
	    {"a section at the end", "[vm]\ncpus = 2\n\n[egress]",
	     "[vm]\ncpus = 2\n\n[egress]\nallow = a.test:443\n"},
	    {"after the last allow",
	     "[egress]\n# hosts\nallow = b.test\nallow : c.test ; why\n# others\ndeny = d.test\n",
	     "[egress]\n# hosts\nallow = b.test\nallow : c.test ; why\nallow = a.test:443\n# others\ndeny = "
	     "d.test\n"},
	    {"a commented one is none", "[egress]\n# allow = a.test\n;allow = a.test\ndeny = b.test\n",
	     "[egress]\nallow = a.test:443\n# allow = a.test\n;allow = a.test\ndeny = b.test\n"},
	    {"a value that goes on", "[egress]\nallow = b.test\n  c.test\n# x\n\td.test\n[vm]\ncpus = 2\n",
	     "[egress]\nallow = b.test\n  c.test\n# x\n\td.test\nallow = a.test:443\n[vm]\ncpus = 2\n"},
	    {"the section twice", "[egress]\nallow = b.test\n[vm]\ncpus = 2\n[egress]\n",
	     "[egress]\nallow = b.test\nallow = a.test:443\n[vm]\ncpus = 2\n[egress]\n"},
	    {"CR LF", "[egress]\r\nallow = b.test\r\n\r\n[vm]\r\ncpus = 2\r\n",
	     "[egress]\r\nallow = b.test\r\nallow = a.test:443\r\n\r\n[vm]\r\ncpus = 2\r\n"},
	    {"a byte order mark", "\xef\xbb\xbf[egress]\ndeny = b.test\n",
	     "\xef\xbb\xbf[egress]\nallow = a.test:443\ndeny = b.test\n"},
	    {"another port", "[egress]\nallow = a.test:80\n",
	     "[egress]\nallow = a.test:80\nallow = a.test:443\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct err e = ERR_INIT;
		bool changed = false;
		put(p, ROWS[i].before);
		if (!config_add_allow(p->path, "A.test", &changed, &e))
			fail_msg("%s: %s", ROWS[i].name, e.msg);
		assert_true(changed);
		expect(p->path, ROWS[i].after);
		/* Once more changes nothing. */
		assert_true(config_add_allow(p->path, "a.test:443", &changed, &e));
		assert_false(changed);
		expect(p->path, ROWS[i].after);
		expect_alone(p);
	}
}

static void what_is_there_already_is_not_touched(void **state)
{
	struct place *p = *state;
	struct err e = ERR_INIT;
	bool changed = true;
	put(p, "[egress]\nallow = A.Test.\n");
	mode_t mode = mode_of(p->path);
	assert_true(config_add_allow(p->path, "a.test", &changed, &e));
	assert_false(changed);
	expect(p->path, "[egress]\nallow = A.Test.\n");
	assert_int_equal(mode_of(p->path), mode);
}

static void a_file_with_an_error_is_left_alone(void **state)
{
	struct place *p = *state;
	static const struct {
		const char *text, *says;
	} ROWS[] = {
	    {"[vm]\nmemory = lots\n", "ccvm.ini:2: bad value for memory"},
	    {"[egress]\nallow = *.com\n", "ccvm.ini:2: "},
	    {"nonsense\n", "ccvm.ini:1: "},
	    {"[egress]\ndeny = *.a.test\n", "says 'deny *.a.test', which would win"},
	    {"[egress]\ndeny = x.a.test\n", "says 'deny x.a.test'"},
	    /* Our line would make a value of the indented header: what must not be guessed is refused. */
	    {"[egress]\n  [vm]\ncpus = 2\n", "no place for one more line"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		struct err e = ERR_INIT;
		bool changed = true;
		put(p, ROWS[i].text);
		assert_false(config_add_allow(p->path, "x.a.test", &changed, &e));
		if (!strstr(e.msg, ROWS[i].says))
			fail_msg("'%s' does not say '%s'", e.msg, ROWS[i].says);
		assert_false(changed);
		expect(p->path, ROWS[i].text);
		expect_alone(p);
	}
	struct err e = ERR_INIT;
	assert_true(fd_write_file(p->path, "[vm]\n\0[egress]\n", 15, 0600, &e));
	assert_false(config_add_allow(p->path, "a.test", NULL, &e));
	assert_non_null(strstr(e.msg, "NUL"));
}

static void bad_rules_are_refused(void **state)
{
	struct place *p = *state;
	static const char *const BAD[] = {
	    "", "*.com", "10.0.0.1", "a.test until 2026-12-01T10:20:00Z", "a.test\n[vm]", "a.test ; x"};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct err e = ERR_INIT;
		assert_false(config_add_allow(p->path, BAD[i], NULL, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		assert_int_equal(access(p->path, F_OK), -1);
	}
	/* A host name that inih could not read back whole. */
	char host[260] = "";
	struct err e = ERR_INIT;
	for (size_t i = 0; i < 240; i++)
		host[i] = i % 60 == 59 ? '.' : 'a';
	strcat(host, "test");
	put(p, "");
	assert_false(config_add_allow(p->path, host, NULL, &e));
	assert_non_null(strstr(e.msg, "no place"));
	expect(p->path, "");
	expect_alone(p);
}

static void a_missing_file_is_made_private(void **state)
{
	struct place *p = *state;
	struct err e = ERR_INIT;
	bool changed = false;
	char *path FREE_ON_EXIT = mem_printf("%s/config/ccvm/ccvm.ini", p->dir);
	char *folder FREE_ON_EXIT = mem_printf("%s/config/ccvm", p->dir);
	if (!config_add_allow(path, "*.a.test:8443", &changed, &e))
		fail_msg("%s", e.msg);
	assert_true(changed);
	expect(path, "[egress]\nallow = *.a.test:8443\n");
	assert_int_equal(mode_of(path) & 07777, 0600);
	assert_int_equal(mode_of(folder) & 07777, 0700);
}

static void a_link_is_followed_and_the_mode_stays(void **state)
{
	struct place *p = *state;
	struct err e = ERR_INIT;
	char *real FREE_ON_EXIT = mem_printf("%s/dotfiles.ini", p->dir);
	mode_t old = umask(077);
	assert_true(fd_write_file(real, "", 0, 0600, &e));
	assert_int_equal(chmod(real, 0664), 0);
	assert_int_equal(symlink("dotfiles.ini", p->path), 0);
	if (!config_add_allow(p->path, "a.test", NULL, &e))
		fail_msg("%s", e.msg);
	umask(old);
	assert_true(S_ISLNK(mode_of(p->path)));
	assert_int_equal(mode_of(real) & 07777, 0664);
	expect(real, "[egress]\nallow = a.test:443\n");
	unlink(real);
	assert_false(config_add_allow(p->path, "a.test", NULL, &e));
	assert_non_null(strstr(e.msg, "link to nothing"));
}

static void two_at_once_do_not_lose_a_line(void **state)
{
	struct place *p = *state;
	struct err e = ERR_INIT;
	int other = open(p->dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(other, LOCK_EX), 0);
	assert_false(config_add_allow(p->path, "a.test", NULL, &e));
	assert_int_equal(e.kind, ERR_BUSY);
	assert_int_equal(access(p->path, F_OK), -1);
	close(other);
	err_clear(&e);
	assert_true(config_add_allow(p->path, "a.test", NULL, &e));
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(every_other_byte_stays),
	    TEST(what_is_there_already_is_not_touched),
	    TEST(a_file_with_an_error_is_left_alone),
	    TEST(bad_rules_are_refused),
	    TEST(a_missing_file_is_made_private),
	    TEST(a_link_is_followed_and_the_mode_stays),
	    TEST(two_at_once_do_not_lose_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
