/* tui/words: short words for times, sizes and states. */
#include "tests/lib/test.h"

#include <locale.h>
#include <stdlib.h>

#include "tui/canvas.h"
#include "tui/words.h"

#define DAY_MS INT64_C(86400000)
#define NOW_MS INT64_C(1796073242123) /* 2026-11-30T21:14:02Z */

static void durations_have_one_unit(void **state)
{
	(void)state;
	static const struct {
		int64_t ms;
		const char *words;
	} CASES[] = {
	    {-5, "0s"},       {0, "0s"},       {999, "0s"},         {59999, "59s"}, {60000, "1m"},
	    {3599999, "59m"}, {3600000, "1h"}, {DAY_MS - 1, "23h"}, {DAY_MS, "1d"}, {400 * DAY_MS, "400d"},
	    {INT64_MIN, "0s"}};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		char out[WORDS_SIZE];
		words_duration(out, CASES[i].ms);
		assert_string_equal(out, CASES[i].words);
	}
}

static void sizes_have_few_digits(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *memory, *through;
	} CASES[] = {{0, "0M", "0B"},
	             {812, "0M", "812B"},
	             {9933, "0M", "9.7K"},
	             {41300, "0M", "40K"},
	             {412ull << 20, "412M", "412M"},
	             {512ull << 20, "512M", "512M"},
	             {999ull << 20, "999M", "999M"},
	             {1023ull << 20, "1G", "1G"},
	             {1ull << 30, "1G", "1G"},
	             {1536ull << 20, "1.5G", "1.5G"},
	             {16ull << 30, "16G", "16G"},
	             {1ull << 40, "1T", "1T"},
	             {UINT64_MAX, "16E", "1.6E"}};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		char out[WORDS_SIZE];
		words_memory(out, CASES[i].bytes);
		assert_string_equal(out, CASES[i].memory);
		words_bytes(out, CASES[i].bytes);
		assert_string_equal(out, CASES[i].through);
	}
}

static void cpu_is_rounded(void **state)
{
	(void)state;
	static const struct {
		uint32_t permille;
		const char *words;
	} CASES[] = {{0, "0%"},    {4, "0%"},      {5, "1%"},
	             {637, "64%"}, {1875, "188%"}, {UINT32_MAX, "429496730%"}};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		char out[WORDS_SIZE];
		words_cpu(out, CASES[i].permille);
		assert_string_equal(out, CASES[i].words);
	}
}

/* Always eight columns, and never a time of day that could be another day's. */
static void a_moment_is_a_time_or_a_day(void **state)
{
	(void)state;
	static const struct {
		int64_t ago;
		const char *words;
	} CASES[] = {{0, "21:14:02"},
	             {4000, "21:13:58"},
	             {INT64_C(21) * 3600 * 1000 + 15 * 60 * 1000,
	              "23:59:02"}, /* before midnight, less than a day ago */
	             {DAY_MS - 1000, "21:14:03"},
	             {DAY_MS, "29 Nov  "},
	             {30 * DAY_MS, "31 Oct  "},
	             {-3600 * 1000, "22:14:02"}, /* a clock that is ahead */
	             {-10 * DAY_MS, "10 Dec  "}};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		char out[WORDS_SIZE];
		words_when(out, NOW_MS - CASES[i].ago, NOW_MS);
		assert_string_equal(out, CASES[i].words);
		assert_int_equal(strlen(out), 8);
	}
	char out[WORDS_SIZE];
	words_moment(out, NOW_MS);
	assert_string_equal(out, "2026-11-30 21:14:02");
	words_clock(out, NOW_MS);
	assert_string_equal(out, "21:14");
	words_moment(out, INT64_MAX);
	words_when(out, INT64_MIN, NOW_MS);
}

static void check_look(struct words_look look)
{
	assert_int_equal(canvas_text_width(look.glyph), look.word[0] ? 1 : 0);
}

static void every_state_has_a_glyph_and_a_word(void **state)
{
	(void)state;
	for (int i = -1; i <= VM_STATE_COUNT; i++)
		check_look(words_state((enum vm_state)i));
	for (int i = -1; i <= ATTENTION_STATE_COUNT; i++) {
		struct vm_attention a = {.state = (enum vm_attention_state)i};
		check_look(words_attention(&a));
		a.seen = true;
		check_look(words_attention(&a));
	}
}

static void what_matters_most_of_a_vm_comes_first(void **state)
{
	(void)state;
	struct fleet_vm vm = {.settled = true,
	                      .status = {.state = VM_READY, .started_ms = 10, .ready_ms = 20}};
	int64_t since;
	assert_string_equal(words_vm(&vm, &since).word, "ready");
	assert_int_equal(since, 20);
	vm.status.attention = (struct vm_attention){.state = ATTENTION_WAITING, .at_ms = 30};
	assert_string_equal(words_vm(&vm, &since).word, "waiting");
	assert_int_equal(words_vm(&vm, NULL).style, STYLE_STATE_WAITING);
	assert_int_equal(since, 30);
	vm.status.attention.seen = true;
	assert_string_equal(words_vm(&vm, NULL).word, "seen");
	assert_int_equal(words_vm(&vm, NULL).style, STYLE_STATE_SEEN);
	vm.status.attention.state = ATTENTION_WORKING; /* nobody is called: it looks the same */
	assert_int_equal(words_vm(&vm, NULL).style, STYLE_STATE_WORKING);
	vm.status.paused = true;
	assert_string_equal(words_vm(&vm, &since).word, "paused");
	vm.status.state = VM_BOOTING;
	assert_string_equal(words_vm(&vm, &since).word, "booting");
	assert_int_equal(since, 10);
	vm.status.state = VM_FAILED;
	assert_string_equal(words_vm(&vm, &since).word, "failed");
	assert_int_equal(since, 0);
	vm.status.attention = (struct vm_attention){.state = ATTENTION_FAILED, .at_ms = 40};
	assert_int_equal(words_vm(&vm, &since).style, STYLE_STATE_FAILED);
	assert_int_equal(since, 40);
	vm.status.attention.seen = true;
	assert_int_equal(words_vm(&vm, &since).style, STYLE_STATE_SEEN);
	assert_string_equal(words_vm(&vm, &since).word, "failed");
	vm.status.state = VM_STOPPED;
	vm.status.attention = (struct vm_attention){.at_ms = 50}; /* on request: nobody is called */
	assert_string_equal(words_vm(&vm, &since).word, "stopped");
	assert_int_equal(since, 50);
	vm.status.state = VM_FAILED;
	vm.settled = false;
	assert_string_equal(words_vm(&vm, NULL).glyph, "?");
	vm.hangs = true;
	assert_string_equal(words_vm(&vm, &since).word, "no answer");
	assert_int_equal(since, 0);
}

int main(void)
{
	setlocale(LC_ALL, "");
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(durations_have_one_unit),
	    cmocka_unit_test(sizes_have_few_digits),
	    cmocka_unit_test(cpu_is_rounded),
	    cmocka_unit_test(a_moment_is_a_time_or_a_day),
	    cmocka_unit_test(every_state_has_a_glyph_and_a_word),
	    cmocka_unit_test(what_matters_most_of_a_vm_comes_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
