/* core/cli: command lines, suggestions, tables, numbers, the detach key. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/cli/args.h"
#include "core/cli/exec_plain.h"
#include "core/cli/format.h"
#include "core/base/nearest.h"
#include "core/cli/prefix.h"
#include "core/cli/target.h"
#include "core/cli/columns.h"
#include "core/term/keys.h"

static const struct arg_option OPTIONS[] = {
    {.name = "json", .kind = ARG_FLAG},
    {.name = "follow", .letter = 'f', .kind = ARG_FLAG},
    {.name = "lines", .letter = 'n', .kind = ARG_TEXT, .value = "N"},
    {.name = "allow", .letter = 'a', .kind = ARG_LIST, .value = "HOST"},
    {.name = NULL},
};

static bool parse(struct args *a, const char *const *argv, struct err *e)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	return args_parse(a, OPTIONS, argc, argv, e);
}

static void options_may_stand_anywhere(void **state)
{
	(void)state;
	const char *const argv[] = {"alpha", "-fn3", "--allow=x", "beta", "--allow", "y",
	                            "-a",    "z",    "--",        "-f",   "rest",    NULL};
	struct args a;
	struct err e = ERR_INIT;
	assert_true(parse(&a, argv, &e));
	assert_int_equal(a.word_count, 2);
	assert_string_equal(a.words[0], "alpha");
	assert_string_equal(a.words[1], "beta");
	assert_null(a.words[2]);
	assert_true(args_has(&a, "follow"));
	assert_false(args_has(&a, "json"));
	assert_string_equal(args_text(&a, "lines"), "3");
	const struct arg_values *allow = args_list(&a, "allow");
	assert_int_equal(allow->count, 3);
	assert_string_equal(allow->values[0], "x");
	assert_string_equal(allow->values[2], "z");
	/* Where each one stood: flags count, too. */
	assert_int_equal(a.word_places[0], 0);
	assert_int_equal(allow->places[0], 3);
	assert_int_equal(a.word_places[1], 4);
	assert_int_equal(allow->places[1], 5);
	assert_int_equal(allow->places[2], 6);
	assert_string_equal(a.rest[0], "-f");
	assert_string_equal(a.rest[1], "rest");
	assert_null(a.rest[2]);
	uint64_t n;
	assert_true(args_number(&a, "lines", 1, 10, 7, &n, &e));
	assert_int_equal(n, 3);
	assert_false(args_number(&a, "lines", 4, 10, 7, &n, &e));
	args_finish(&a);
}

static void a_lone_dash_is_a_word(void **state)
{
	(void)state;
	const char *const argv[] = {"-", "", NULL};
	struct args a;
	struct err e = ERR_INIT;
	assert_true(parse(&a, argv, &e));
	assert_int_equal(a.word_count, 2);
	assert_null(a.rest);
	args_finish(&a);
}

static void bad_command_lines_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *argv[4];
		const char *says;
	} BAD[] = {
	    {{"--jsno"}, "unknown option --jsno (did you mean --json?)"},
	    {{"--frobnicate"}, "unknown option --frobnicate"},
	    {{"-x"}, "unknown option -x"},
	    {{"-fx"}, "unknown option -x"},
	    {{"--lines"}, "option --lines needs a value: N"},
	    {{"-n"}, "option -n needs a value: N"},
	    {{"--json=yes"}, "option --json takes no value"},
	    {{"-n1", "-n2"}, "option --lines is given twice"},
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct args a;
		struct err e = ERR_INIT;
		assert_false(parse(&a, BAD[i].argv, &e));
		assert_string_equal(e.msg, BAD[i].says);
		args_finish(&a);
	}
}

static const char *nearest_of(const char *typed)
{
	static const char *const WORDS[] = {"up",  "ls",   "attach", "exec", "ping",
	                                    "log", "stop", "doctor", "image"};
	static struct nearest n;
	nearest_begin(&n, typed);
	for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
		nearest_offer(&n, WORDS[i]);
	return nearest_best(&n);
}

static void near_words_are_suggested(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("attachh"), "attach");
	assert_string_equal(nearest_of("attahc"), "attach"); /* a swap is one slip */
	assert_string_equal(nearest_of("lgo"), "log");
	assert_string_equal(nearest_of("dcotro"), "doctor");
	assert_null(nearest_of("frobnicate"));
	assert_null(nearest_of("x"));
	assert_null(nearest_of(""));
	char long_word[300];
	memset(long_word, 'a', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	assert_null(nearest_of(long_word));
}

static void tables_line_up(void **state)
{
	(void)state;
	static const char *const HEADS[] = {"NAME", ">N", "WHY", NULL};
	struct columns t;
	struct str out = STR_INIT(1024);
	columns_init(&t, HEADS);
	columns_add(&t, "a");
	columns_addf(&t, "%d", 1234);
	columns_add(&t, "");
	columns_add(&t, "l\xc3\xa4nger"); /* six columns in seven bytes */
	columns_addf(&t, "%d", 5);
	columns_add(&t, "because");
	columns_render(&t, &out);
	assert_string_equal(out.s, "NAME       N  WHY\n"
	                           "a       1234\n"
	                           "l\xc3\xa4nger     5  because\n");
	str_finish(&out);
	columns_finish(&t);
}

static void numbers_read_well(void **state)
{
	(void)state;
	static const struct {
		uint64_t ms;
		const char *text;
	} TIMES[] = {{0, "0s"},
	             {999, "0s"},
	             {8000, "8s"},
	             {60000, "1m"},
	             {125000, "2m 5s"},
	             {3600000, "1h"},
	             {11520000, "3h 12m"},
	             {352800000, "4d 2h"},
	             {86399000, "23h 59m"},
	             {86400000, "1d"}};
	static const struct {
		uint64_t bytes;
		const char *text;
	} SIZES[] = {{0, "0B"},      {1023, "1023B"},        {1024, "1K"},
	             {1536, "1.5K"}, {512ull << 20, "512M"}, {(3ull << 30) + (3ull << 29), "4.5G"}};
	char out[FORMAT_SIZE];
	for (size_t i = 0; i < ARRAY_LEN(TIMES); i++) {
		format_duration(out, TIMES[i].ms);
		assert_string_equal(out, TIMES[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(SIZES); i++) {
		format_bytes(out, SIZES[i].bytes);
		assert_string_equal(out, SIZES[i].text);
	}
	format_seconds(out, 4190);
	assert_string_equal(out, "4.1 s");
	format_time(out, 1796073242123, 1796073242123 + 1000);
	assert_string_equal(out, "21:14:02");
	format_time(out, 1796073242123, 1796073242123 + 86400000);
	assert_string_equal(out, "2026-11-30 21:14:02");
	format_moment(out, 1796073242123);
	assert_string_equal(out, "2026-11-30 21:14:02");
}

static void ends_become_exit_codes(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	assert_int_equal(exec_exit_status(3, 0), 3);
	assert_int_equal(exec_exit_status(0, 15), 143);
	err_set(&e, ERR_NOT_FOUND, "x");
	assert_int_equal(exec_failure_status(&e, true), 127);
	assert_int_equal(exec_failure_status(&e, false), 1); /* the VM, not the program, was not found */
	err_clear(&e);
	err_set(&e, ERR_DENIED, "x");
	assert_int_equal(exec_failure_status(&e, true), 126);
	err_clear(&e);
	err_set(&e, ERR_GONE, "x");
	assert_int_equal(exec_failure_status(&e, true), 1);
}

static void the_prefix_key_is_ours(void **state)
{
	(void)state;
	static const struct {
		uint32_t key;
		unsigned mods;
		enum prefix_action action;
	} STEPS[] = {
	    {'a', 0, PREFIX_PASS},
	    {']', 0, PREFIX_PASS},
	    {']', TERM_CTRL | TERM_ALT, PREFIX_PASS},
	    {']', TERM_CTRL, PREFIX_SWALLOW},
	    {']', TERM_CTRL, PREFIX_LITERAL},
	    {'d', 0, PREFIX_PASS}, /* the prefix is over */
	    {']', TERM_CTRL, PREFIX_SWALLOW},
	    {'d', TERM_CTRL, PREFIX_HELP},
	    {0x1d, 0, PREFIX_SWALLOW}, /* as a bare control code */
	    {'?', 0, PREFIX_HELP},
	    {']', TERM_CTRL, PREFIX_SWALLOW},
	    {'z', TERM_CTRL, PREFIX_SUSPEND},
	    {']', TERM_CTRL, PREFIX_SWALLOW},
	    {'d', 0, PREFIX_DETACH},
	};
	struct prefix p = {.control = ']' & 0x1f};
	for (size_t i = 0; i < ARRAY_LEN(STEPS); i++)
		assert_int_equal(prefix_key(&p, STEPS[i].key, STEPS[i].mods), STEPS[i].action);
	char name[4];
	prefix_name(&p, name);
	assert_string_equal(name, "C-]");
	struct prefix letter = {.control = 'A' & 0x1f};
	assert_int_equal(prefix_key(&letter, 'a', TERM_CTRL), PREFIX_SWALLOW);
	struct prefix zero = {.control = 0};
	assert_int_equal(prefix_key(&zero, ' ', TERM_CTRL), PREFIX_SWALLOW);
}

static void a_terminal_is_named_behind_its_vm(void **state)
{
	(void)state;
	static const struct {
		const char *text, *vm;
		uint32_t term;
	} GOOD[] = {{"alpha", "alpha", CLIENT_TERM_FIRST},
	            {"a:1", "a", 1},
	            {"a-2:4294967294", "a-2", 4294967294u},
	            {"abcdefghijklmnopqrstuvwxyz012345:2", "abcdefghijklmnopqrstuvwxyz012345", 2}};
	static const char *const BAD[] = {"",    ":1",   "A:1",          "a:",
	                                  "a:0", "a:-1", "a:4294967295", "a:1:2",
	                                  "a:x", "../x", "a b",          "abcdefghijklmnopqrstuvwxyz0123456"};
	struct target t = {.vm = "untouched"};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct err e = ERR_INIT;
		assert_false(target_parse(BAD[i], &t, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		assert_string_equal(t.vm, "untouched");
	}
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		struct err e = ERR_INIT;
		assert_true(target_parse(GOOD[i].text, &t, &e));
		assert_string_equal(t.vm, GOOD[i].vm);
		assert_int_equal(t.term, GOOD[i].term);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_terminal_is_named_behind_its_vm),
	    cmocka_unit_test(options_may_stand_anywhere),
	    cmocka_unit_test(a_lone_dash_is_a_word),
	    cmocka_unit_test(bad_command_lines_are_named),
	    cmocka_unit_test(near_words_are_suggested),
	    cmocka_unit_test(tables_line_up),
	    cmocka_unit_test(numbers_read_well),
	    cmocka_unit_test(ends_become_exit_codes),
	    cmocka_unit_test(the_prefix_key_is_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
