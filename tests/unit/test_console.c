/* tui/console: the last lines of a serial console, whatever the guest wrote there. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "tui/console.h"

static void only_lines_of_text_are_left(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} CASES[] = {
	    {"a\r\nb\n\n\n", "a\nb"},
	    {"\033[0;31mred\033[0m \033]0;title\007x\033]8;;u\033\\y\033cz", "red xyz"},
	    {"10%\r20%\r100%\r\nok", "100%\nok"},
	    {"tab\there", "tab  here"},
	    {"\007\b\177\x9b[2J\xc2\x9bx", "[2Jx"},
	    {"\xe2\x80\xae!\xe2\x82\xac", "!\xe2\x82\xac"},
	    {"cut \033[3", "cut"},
	    {"cut \033", "cut"},
	    {"cut \xe2\x82", "cut"},
	    {"\033]0;endless title\nnext", "\nnext"},
	    {"", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct str out = STR_INIT(1000);
		console_clean(CASES[i].in, strlen(CASES[i].in), &out);
		assert_string_equal(out.s, CASES[i].out);
		str_finish(&out);
	}
}

static void write_log(const char *dir, const char *text)
{
	struct err e = ERR_INIT;
	char *path = mem_printf("%s/ccvm/alpha/console.log", dir);
	assert_true(fd_write_file(path, text, strlen(text), 0600, &e));
	free(path);
}

static void the_end_of_the_file_is_read_when_it_grows(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct console c;
	char dir[] = "/tmp/ccvm-test-XXXXXX";
	assert_non_null(mkdtemp(dir));
	setenv("XDG_STATE_HOME", dir, 1);
	char *folder = mem_printf("%s/ccvm/alpha", dir);
	assert_true(fd_make_dirs(folder, 0700, &e));
	console_init(&c);
	console_update(&c, "alpha");
	assert_string_equal(c.text.s, "");
	write_log(dir, "one\n");
	assert_true(console_update(&c, "alpha"));
	assert_string_equal(c.text.s, "one");
	assert_false(console_update(&c, "alpha"));
	char *big = mem_alloc(CONSOLE_TAIL_BYTES * 2 + 1);
	for (size_t i = 0; i < CONSOLE_TAIL_BYTES * 2; i += 8)
		memcpy(big + i, "0123456\n", 8);
	big[0] = 'X';
	write_log(dir, big);
	assert_true(console_update(&c, "alpha"));
	assert_true(c.text.len <= CONSOLE_TAIL_BYTES);
	assert_memory_equal(c.text.s, "0123456\n0123456\n", 16); /* whole lines */
	assert_true(console_update(&c, "beta"));
	assert_string_equal(c.text.s, "");
	/* A link in place of the log is not followed. */
	char *path = mem_printf("%s/console.log", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	console_update(&c, "alpha");
	assert_string_equal(c.text.s, "");
	console_finish(&c);
	assert_true(fd_remove_tree(dir, &e));
	free(big);
	free(path);
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_lines_of_text_are_left),
	    cmocka_unit_test(the_end_of_the_file_is_read_when_it_grows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
