/* tui/settings, tui/remember, core/config's part of the dashboard: what the file says, and what is said about a wrong one. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "tui/remember.h"
#include "tui/settings.h"

static char *file_with(const char *text)
{
	struct err e = ERR_INIT;
	char *path = mem_printf("/tmp/ccvm-test-settings-%d.ini", (int)getpid());
	assert_true(fd_write_file(path, text, strlen(text), 0600, &e));
	return path;
}

static bool load(struct settings *s, const char *text, struct err *e)
{
	char *path FREE_ON_EXIT = file_with(text);
	bool ok = settings_load(s, path, e);
	unlink(path);
	return ok;
}

static void settings_are_read(void **state)
{
	(void)state;
	struct settings s;
	struct err e = ERR_INIT;
	settings_init(&s);
	assert_true(s.config.ui.mouse);
	assert_int_equal(s.sort, SORT_STATE);
	assert_true(load(&s,
	                 "[ui]\ntheme = dark\nsort = cpu\nmouse = no\nascii = yes\nclipboard = osc52\n"
	                 "copy_command = xsel -b\non_attention = notify-send \"$CCVM_VM\"\n"
	                 "[keys]\nstop = F8\nkill =\ndetach = C-g\nzoom = x z\n",
	                 &e));
	assert_string_equal(s.config.ui.theme.text, "dark");
	assert_int_equal(s.config.ui.theme.line, 2);
	assert_int_equal(s.sort, SORT_CPU);
	assert_false(s.config.ui.mouse);
	assert_true(s.config.ui.ascii);
	assert_string_equal(s.config.ui.copy_command.text, "xsel -b");
	assert_string_equal(s.config.ui.on_attention.text, "notify-send \"$CCVM_VM\"");
	assert_int_equal(keymap_find(&s.keymap, KEYS_LIST, TERM_KEY_F1 + 7, 0), ACTION_STOP);
	assert_int_equal(keymap_find(&s.keymap, KEYS_LIST, 'x', 0), ACTION_ZOOM);
	assert_int_equal(keymap_find(&s.keymap, KEYS_LIST, 'X', 0), ACTION_NONE);
	assert_true(keymap_leaves(&s.keymap, 'g', TERM_CTRL));
	settings_finish(&s);
}

static void mistakes_name_the_line_and_change_nothing(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} BAD[] = {
	    {"[keys]\n\nstoop = x\n", ":3: no action is called 'stoop'"},
	    {"[keys]\nstop = Ctrl-x\n", ":2: 'Ctrl-x' is no key"},
	    {"[keys]\nquit = Q\nstop = z\n",
	     ":3: z is the key of 'zoom' already; with 'zoom =' that has none"},
	    {"[keys]\nzoom = F8\nstop = F8\n", ":3: F8 is the key of 'zoom' already"},
	    {"[keys]\nstop = F8\n# a line\nzoom = F8\n", ":4: F8 is the key of 'stop' already"},
	    {"[keys]\nstop = F8\nstop = F9\n", ":3: 'stop' has its keys in line 2 already"},
	    {"[keys]\nstop = a b c d e f g h i j k l m n o p q r\n", ":2: more than 16 keys"},
	    {"[ui]\nsort = size\n", ":2: no sort 'size': state, name, age, cpu, mem or denied"},
	    {"[ui]\nmouse = maybe\n", ":2: bad value for mouse: 'maybe'"},
	    {"[ui]\nascii = 1\n", ":2: bad value for ascii"},
	    {"[ui]\ncolour = red\n", ":2: unknown setting 'colour' in section [ui]"},
	};
	struct settings s;
	struct err e = ERR_INIT;
	settings_init(&s);
	assert_true(load(&s, "[keys]\nstop = F7\n[ui]\nsort = age\n", &e));
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		e = (struct err)ERR_INIT;
		assert_false(load(&s, BAD[i].text, &e));
		if (!strstr(e.msg, BAD[i].says))
			fail_msg("'%s' instead of '%s'", e.msg, BAD[i].says);
		assert_int_equal(s.sort, SORT_AGE);
		assert_int_equal(keymap_find(&s.keymap, KEYS_LIST, TERM_KEY_F1 + 6, 0), ACTION_STOP);
	}
	settings_finish(&s);
}

static void a_missing_file_is_the_built_in_settings(void **state)
{
	(void)state;
	struct settings s;
	struct err e = ERR_INIT;
	settings_init(&s);
	assert_true(load(&s, "[ui]\nsort = age\n", &e));
	assert_true(settings_load(&s, "/nonexistent/ccvm.ini", &e));
	assert_int_equal(s.sort, SORT_STATE);
	settings_finish(&s);
}

/* Every setting and every action is in the example, and what is commented out there is what is built in. */
static void the_example_is_complete_and_right(void **state)
{
	(void)state;
	static const char *const UI[] = {"theme",     "sort",         "mouse",       "ascii",
	                                 "clipboard", "copy_command", "on_attention"};
	struct err e = ERR_INIT;
	struct settings s;
	struct keymap builtin;
	char *text FREE_ON_EXIT = fd_read_file("ccvm.ini.example", 65536, NULL, &e);
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_LEN(UI); i++) {
		char line[64];
		snprintf(line, sizeof(line), "\n%s = ", UI[i]);
		char commented[64];
		snprintf(commented, sizeof(commented), "\n#%s = ", UI[i]);
		assert_true(strstr(text, line) || strstr(text, commented));
	}
	for (unsigned a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		char line[128];
		struct action_info info = keymap_action((enum action)a);
		snprintf(line, sizeof(line), "\n#%s =%s%s\n", info.name, info.keys[0] ? " " : "", info.keys);
		if (!strstr(text, line))
			fail_msg("the example lacks%s", line);
	}
	for (char *p = strchr(text, '#'); p; p = strchr(p + 1, '#')) {
		if (p > text && p[-1] == '\n' && p[1] != ' ')
			memmove(p, p + 1, strlen(p));
	}
	settings_init(&s);
	bool ok = load(&s, text, &e);
	if (!ok)
		fail_msg("%s", e.msg);
	keymap_init(&builtin, ']' & 0x1f);
	assert_int_equal(s.keymap.count, builtin.count);
	for (size_t i = 0; i < builtin.count; i++) {
		const struct key_binding *b = &builtin.bindings[i];
		for (unsigned context = 1; context <= KEYS_PROMPT; context <<= 1)
			assert_int_equal(keymap_find(&s.keymap, (enum key_context)context, b->key, b->mods),
			                 keymap_find(&builtin, (enum key_context)context, b->key, b->mods));
	}
	settings_finish(&s);
}

static void what_is_remembered_comes_back(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = mem_printf("/tmp/ccvm-test-remember-%d", (int)getpid());
	struct remember out = {.has_sort = true, .sort = SORT_MEM}, in;
	assert_true(remember_save(&out, path, &e));
	remember_load(&in, path);
	assert_true(in.has_sort);
	assert_int_equal(in.sort, SORT_MEM);
	assert_true(remember_save(&(struct remember){0}, path, &e));
	remember_load(&in, path);
	assert_false(in.has_sort);
	static const char NONSENSE[] = "sort sideways\n\x1b[2Jb\nfoo\nsort";
	assert_true(fd_write_file(path, NONSENSE, sizeof(NONSENSE) - 1, 0600, &e));
	remember_load(&in, path);
	assert_false(in.has_sort);
	unlink(path);
	remember_load(&in, path);
	assert_false(in.has_sort);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(settings_are_read),
	    cmocka_unit_test(mistakes_name_the_line_and_change_nothing),
	    cmocka_unit_test(a_missing_file_is_the_built_in_settings),
	    cmocka_unit_test(the_example_is_complete_and_right),
	    cmocka_unit_test(what_is_remembered_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
