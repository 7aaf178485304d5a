/* core/config and core/vm: settings are all or nothing, mistakes are named by file and line. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/config/config.h"
#include "core/config/paths.h"

static bool load(struct config *c, const char *text, struct err *e)
{
	char path[] = "/tmp/ccvm-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_true(fd_write_all(fd, text, strlen(text)));
	close(fd);
	bool ok = config_load(c, path, e);
	unlink(path);
	return ok;
}

static void good_settings_arrive(void **state)
{
	(void)state;
	struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	assert_true(
	    load(&c,
	         "[vm]\nimage = claude\nmemory = 2G\ncpus = 3\nready_timeout = 90s\nbackend = qemu-tcg\n"
	         "[keys]\ndetach = C-g\n"
	         "[egress]\nallow = api.example\nallow = *.pkg.example:8443\ndeny = bad.pkg.example\n"
	         "[resolve]\ngit.example = 127.0.0.1:4443\n",
	         &e));
	assert_string_equal(c.defaults.image, "claude");
	assert_true(c.defaults.memory_bytes == 2ull << 30);
	assert_int_equal(c.defaults.cpus, 3);
	assert_int_equal(c.defaults.ready_timeout_ms, 90000);
	assert_int_equal(c.detach_key, 'G' & 0x1f);
	assert_int_equal(c.policy_count, 4);
	assert_string_equal(c.policy[1], "allow *.pkg.example:8443");
	assert_string_equal(c.policy[3], "resolve git.example 127.0.0.1:4443");
	config_finish(&c);
}

static void the_example_shows_the_built_in_values(void **state)
{
	(void)state;
	struct config builtin, example;
	struct err e = ERR_INIT;
	config_init(&builtin);
	config_init(&example);
	assert_int_equal(builtin.defaults.ready_timeout_ms, 120000);
	assert_string_equal(builtin.defaults.backend, "auto");
	assert_int_equal(builtin.policy_count, 0);
	example.defaults = (struct vm_spec){0};
	char *text FREE_ON_EXIT = fd_read_file("ccvm.ini.example", 65536, NULL, &e);
	assert_non_null(text);
	assert_true(load(&example, text, &e));
	assert_string_equal(example.defaults.image, builtin.defaults.image);
	assert_string_equal(example.defaults.backend, builtin.defaults.backend);
	assert_true(example.defaults.memory_bytes == builtin.defaults.memory_bytes);
	assert_true(example.defaults.disk_bytes == builtin.defaults.disk_bytes);
	assert_int_equal(example.defaults.cpus, builtin.defaults.cpus);
	assert_int_equal(example.defaults.ready_timeout_ms, builtin.defaults.ready_timeout_ms);
	assert_int_equal(example.detach_key, builtin.detach_key);
	assert_int_equal(example.policy_count, 0);
	config_finish(&example);
	/* What is commented out is right as well. */
	for (char *p = strchr(text, '#'); p; p = strchr(p + 1, '#'))
		if (p[-1 + (p == text)] == '\n' && p[1] != ' ')
			memmove(p, p + 1, strlen(p)); /* a blank there would continue the value before */
	config_init(&example);
	assert_true(load(&example, text, &e));
	assert_int_equal(example.policy_count, 4);
	assert_string_equal(example.policy[1], "allow *.pkg.example:8443");
	config_finish(&example);
	config_finish(&builtin);
}

static void mistakes_name_the_line_and_change_nothing(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} BAD[] = {
	    {"[vm]\nmemory = lots\n", ":2: bad value for memory: 'lots'"},
	    {"[vm]\n\ncpu = 1\n", ":3: unknown setting 'cpu' in section [vm]"},
	    {"[vms]\ncpus = 1\n", ":2: unknown setting"},
	    {"[keys]\ndetach = C-[\n", ":2: bad value for detach"},
	    {"[vm]\ncpus = 0\n", ":2: bad value for cpus"},
	    {"[vm]\nmemory = 1M\n", "memory must be"},
	    {"[vm]\nimage = ../x\n", "image name"},
	    {"nonsense\n", ":1: "},
	    {"[egress]\nallow = a.test\nallow = *.com\n", ":3: '*.com' covers a whole top-level domain"},
	    {"[egress]\ndeny = 10.0.0.1\n", ":2: '10.0.0.1' is an IP address"},
	    {"[resolve]\na.test = b.test\n", ":2: 'b.test' is not ADDRESS:PORT"},
	    {"[egress]\nallow = "
	     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	     "aaaaa"
	     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	     "bbbbbbbbb\n",
	     ":"}, /* longer than inih reads: never half a rule */
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct config c;
		struct err e = ERR_INIT;
		config_init(&c);
		assert_false(load(&c, BAD[i].text, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		if (!strstr(e.msg, BAD[i].says))
			fail_msg("'%s' does not say '%s'", e.msg, BAD[i].says);
		assert_int_equal(c.policy_count, 0);
		assert_string_equal(c.defaults.image, "base");
		config_finish(&c);
	}
}

static void a_missing_file_means_defaults(void **state)
{
	(void)state;
	struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	assert_true(config_load(&c, "/nonexistent/ccvm.ini", &e));
	assert_int_equal(c.policy_count, 0); /* and no allow rule: deny all */
	config_finish(&c);
}

static void runtime_folder_must_be_ours_alone(void **state)
{
	(void)state;
	char dir[] = "/tmp/ccvm-test-XXXXXX";
	assert_non_null(mkdtemp(dir));
	setenv("XDG_RUNTIME_DIR", dir, 1);
	struct err e = ERR_INIT;
	char *path = paths_runtime_dir(&e);
	assert_non_null(path);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	chmod(path, 0755);
	assert_null(paths_runtime_dir(&e));
	assert_int_equal(e.kind, ERR_DENIED);
	err_clear(&e);
	rmdir(path);
	assert_int_equal(symlink(dir, path), 0); /* one of ours, and private: the link is what is wrong */
	assert_null(paths_runtime_dir(&e));
	assert_int_equal(e.kind, ERR_DENIED);
	unlink(path);
	rmdir(dir);
	free(path);
	unsetenv("XDG_RUNTIME_DIR");
}

static void state_names_go_both_ways(void **state)
{
	(void)state;
	for (int i = 0; i < VM_STATE_COUNT; i++) {
		enum vm_state s;
		assert_true(vm_state_parse(vm_state_name((enum vm_state)i), &s));
		assert_int_equal(s, i);
	}
	enum vm_state s;
	assert_false(vm_state_parse("gone", &s));
	assert_string_equal(vm_state_name((enum vm_state)77), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_settings_arrive),
	    cmocka_unit_test(the_example_shows_the_built_in_values),
	    cmocka_unit_test(mistakes_name_the_line_and_change_nothing),
	    cmocka_unit_test(a_missing_file_means_defaults),
	    cmocka_unit_test(runtime_folder_must_be_ours_alone),
	    cmocka_unit_test(state_names_go_both_ways),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
