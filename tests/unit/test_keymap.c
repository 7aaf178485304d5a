/* tui/keymap and tui/help_view: every action can be reached and is explained, no key means two things, keys can be changed. */
#include "tests/lib/test.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/term/keys.h"
#include "tui/help_view.h"
#include "tui/keymap.h"

static struct keymap *builtin(void)
{
	struct keymap *k = mem_alloc(sizeof(*k));
	keymap_init(k, ']' & 0x1f);
	return k;
}

static void every_action_has_a_name_and_help(void **state)
{
	(void)state;
	for (unsigned a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		struct action_info info = keymap_action((enum action)a);
		assert_true(info.name && info.name[0]);
		assert_true(info.help && info.help[0]);
		assert_true(info.contexts != 0);
		assert_int_equal(keymap_action_named(info.name), a); /* no name is there twice */
	}
	assert_int_equal(keymap_action_named("nothing-like-that"), ACTION_NONE);
}

static void no_built_in_key_means_two_things(void **state)
{
	(void)state;
	struct keymap *k FREE_ON_EXIT = builtin();
	enum action second;
	struct err e = ERR_INIT;
	bool fine = keymap_check(k, &second, &e);
	if (!fine)
		print_message("%s\n", e.msg);
	assert_true(fine);
}

static void keys_are_found_in_their_context(void **state)
{
	(void)state;
	static const struct {
		enum key_context context;
		uint32_t key;
		unsigned mods;
		unsigned action;
	} CASES[] = {
	    {KEYS_LIST, TERM_KEY_ENTER, 0, ACTION_TYPE},
	    {KEYS_GRID, TERM_KEY_ENTER, 0, ACTION_TYPE},
	    {KEYS_FEED, TERM_KEY_ENTER, 0, ACTION_JUMP},
	    {KEYS_COPY, TERM_KEY_ENTER, 0, ACTION_COPY + COPY_COPY},
	    {KEYS_PROMPT, TERM_KEY_ENTER, 0, ACTION_EDIT_ACCEPT},
	    {KEYS_LIST, 'i', 0, ACTION_TYPE},
	    {KEYS_FEED, 'i', 0, ACTION_NONE},
	    {KEYS_PROMPT, 'i', 0, ACTION_NONE},
	    {KEYS_LIST, 'G', TERM_SHIFT, ACTION_LAST},
	    {KEYS_LIST, 'c', TERM_CTRL, ACTION_QUIT},
	    {KEYS_LIST, 'c', TERM_CTRL | TERM_ALT, ACTION_NONE},
	    {KEYS_LIST, 'q', TERM_ALT, ACTION_NONE},
	    /* Back, in command mode; while typing a bare Escape belongs to the agent (tests/e2e/dashboard.t). */
	    {KEYS_LIST, TERM_KEY_ESCAPE, 0, ACTION_BACK},
	    {KEYS_FEED, TERM_KEY_ESCAPE, 0, ACTION_BACK},
	    {KEYS_LIST, TERM_KEY_ESCAPE, TERM_ALT, ACTION_NONE},
	    {KEYS_LIST, '/', 0, ACTION_FILTER},
	    {KEYS_COPY, '/', 0, ACTION_COPY + COPY_SEARCH},
	};
	struct keymap *k FREE_ON_EXIT = builtin();
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		assert_int_equal(keymap_find(k, CASES[i].context, CASES[i].key, CASES[i].mods),
		                 CASES[i].action);
	assert_true(keymap_leaves(k, ']', TERM_CTRL));
	assert_false(keymap_leaves(k, ']', 0));
}

static void keys_can_be_changed(void **state)
{
	(void)state;
	struct keymap *k FREE_ON_EXIT = builtin();
	struct err e = ERR_INIT;
	enum action second = ACTION_NONE;
	char keys[KEYMAP_KEYS_SIZE];
	assert_true(keymap_bind(k, "stop", "F8 C-x", &e));
	assert_int_equal(keymap_find(k, KEYS_LIST, 'x', 0), ACTION_NONE);
	assert_int_equal(keymap_find(k, KEYS_LIST, 'x', TERM_CTRL), ACTION_STOP);
	keymap_keys_of(k, ACTION_STOP, KEYS_ALL, keys);
	assert_string_equal(keys, "F8, C-x");
	assert_true(keymap_bind(k, "stop", "", &e)); /* none */
	keymap_keys_of(k, ACTION_STOP, KEYS_ALL, keys);
	assert_string_equal(keys, "");
	assert_true(keymap_check(k, &second, &e));
	/* A word that is no key changes nothing. */
	assert_false(keymap_bind(k, "zoom", "F9 Shft-x", &e));
	assert_non_null(strstr(e.msg, "'Shft-x' is no key"));
	assert_int_equal(keymap_find(k, KEYS_LIST, 'z', 0), ACTION_ZOOM);
	e = (struct err)ERR_INIT;
	assert_false(keymap_bind(k, "zom", "F9", &e));
	assert_non_null(strstr(e.msg, "no action is called 'zom'"));
	e = (struct err)ERR_INIT;
	/* The same key in two contexts is fine, twice in one is not. */
	assert_true(keymap_bind(k, "hide", "x", &e));
	assert_true(keymap_check(k, &second, &e));
	assert_true(keymap_bind(k, "kill", "z", &e));
	assert_false(keymap_check(k, &second, &e));
	assert_int_equal(second, ACTION_KILL);
	assert_non_null(strstr(e.msg, "z is the key of 'zoom' already"));
}

static void help_tells_of_every_action(void **state)
{
	(void)state;
	static const enum key_context CONTEXTS[] = {KEYS_LIST, KEYS_GRID, KEYS_FEED, KEYS_COPY};
	struct keymap *k FREE_ON_EXIT = builtin();
	struct err e = ERR_INIT;
	assert_true(keymap_bind(k, "zoom", "F7", &e)); /* the user's keys, not the built-in ones */
	for (size_t i = 0; i < ARRAY_LEN(CONTEXTS); i++) {
		struct canvas c;
		struct str out = STR_INIT(1 << 20);
		canvas_init(&c, 300, 200);
		help_view_draw(&c, 0, k, CONTEXTS[i]);
		canvas_dump_text(&c, &out);
		for (unsigned a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
			char keys[KEYMAP_KEYS_SIZE];
			struct action_info info = keymap_action((enum action)a);
			keymap_keys_of(k, (enum action)a, info.contexts, keys);
			if (!strstr(out.s, keys) || !strstr(out.s, info.help))
				fail_msg("%s is not in the help", info.name);
		}
		assert_non_null(strstr(out.s, "F7"));
		assert_non_null(strstr(out.s, ":theme")); /* it has no key: by its name */
		assert_non_null(strstr(out.s, "C-]"));
		str_finish(&out);
		canvas_finish(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_action_has_a_name_and_help),
	    cmocka_unit_test(no_built_in_key_means_two_things),
	    cmocka_unit_test(keys_are_found_in_their_context),
	    cmocka_unit_test(keys_can_be_changed),
	    cmocka_unit_test(help_tells_of_every_action),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
