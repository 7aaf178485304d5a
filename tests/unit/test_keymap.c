/* tui/keymap: every action can be reached and is explained; no key means two things. */
#include "tests/lib/test.h"

#include "core/term/keys.h"
#include "tui/help_view.h"
#include "tui/keymap.h"

static void every_action_has_key_name_and_help(void **state)
{
	(void)state;
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		char keys[KEYMAP_KEYS_SIZE];
		assert_non_null(keymap_actions[a].name);
		assert_non_null(keymap_actions[a].help);
		assert_true(keymap_actions[a].help[0] != '\0');
		keymap_keys_of((enum action)a, KEYS_ALL, keys);
		assert_true(keys[0] != '\0');
		for (int b = a + 1; b < ACTION_COUNT; b++)
			assert_string_not_equal(keymap_actions[a].name, keymap_actions[b].name);
	}
}

static void no_key_is_bound_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < keymap_binding_count; i++) {
		const struct key_binding *a = &keymap_bindings[i];
		assert_true(key_is_valid(a->key));
		assert_true(a->contexts != 0 && (a->contexts & ~(unsigned)KEYS_ALL) == 0);
		for (size_t k = i + 1; k < keymap_binding_count; k++) {
			const struct key_binding *b = &keymap_bindings[k];
			assert_false(a->key == b->key && a->mods == b->mods && (a->contexts & b->contexts));
		}
	}
}

static void keys_are_found_in_their_context(void **state)
{
	(void)state;
	static const struct {
		enum key_context context;
		uint32_t key;
		unsigned mods;
		enum action action;
	} CASES[] = {
	    {KEYS_LIST, TERM_KEY_ENTER, 0, ACTION_TYPE},
	    {KEYS_FEED, TERM_KEY_ENTER, 0, ACTION_JUMP},
	    {KEYS_LIST, 'i', 0, ACTION_TYPE},
	    {KEYS_FEED, 'i', 0, ACTION_NONE},
	    {KEYS_LIST, 'G', TERM_SHIFT, ACTION_LAST},
	    {KEYS_LIST, 'c', TERM_CTRL, ACTION_QUIT},
	    {KEYS_LIST, 'c', TERM_CTRL | TERM_ALT, ACTION_NONE},
	    {KEYS_LIST, 'q', TERM_ALT, ACTION_NONE},
	    /* Back, in command mode; while typing a bare Escape belongs to the agent (tests/e2e/dashboard.t). */
	    {KEYS_LIST, TERM_KEY_ESCAPE, 0, ACTION_BACK},
	    {KEYS_FEED, TERM_KEY_ESCAPE, 0, ACTION_BACK},
	    {KEYS_LIST, TERM_KEY_ESCAPE, TERM_ALT, ACTION_NONE},
	    {KEYS_LIST, 'w', 0, ACTION_NONE},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
		assert_int_equal(keymap_find(CASES[i].context, CASES[i].key, CASES[i].mods), CASES[i].action);
}

static void help_tells_of_every_action(void **state)
{
	(void)state;
	struct canvas c;
	struct str out = STR_INIT(65536);
	canvas_init(&c, 60, 100);
	help_view_draw(&c, 0, "C-]");
	canvas_dump_text(&c, &out);
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		char keys[KEYMAP_KEYS_SIZE];
		assert_non_null(strstr(out.s, keymap_actions[a].help));
		keymap_keys_of((enum action)a, KEYS_ALL, keys);
		assert_non_null(strstr(out.s, keys));
	}
	assert_non_null(strstr(out.s, "C-]"));
	str_finish(&out);
	canvas_finish(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_action_has_key_name_and_help),
	    cmocka_unit_test(no_key_is_bound_twice),
	    cmocka_unit_test(keys_are_found_in_their_context),
	    cmocka_unit_test(help_tells_of_every_action),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
