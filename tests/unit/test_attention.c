/* core/supervisor/attention: sequences of signals and what is made of them; then all sequences at random. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/supervisor/attention.h"

#define START_MS 5000
#define WALL_MS  1796073811000ll

#define NONE   ATTENTION_NONE, ATTENTION_BY_NOTHING
#define SEEN   true
#define UNSEEN false

/* At this time (seconds since the start) the signal comes, and then this is so. */
struct step {
	double at;
	struct attention_signal signal;
	enum vm_attention_state state;
	enum vm_attention_source source;
	bool seen;
	const char *text; /* NULL: does not matter */
};

#define HOOK(st, t)                                                          \
	{                                                                    \
		.kind = ATTENTION_HOOK, .state = ATTENTION_##st, .text = (t) \
	}
#define NOTICE(t)                                     \
	{                                             \
		.kind = ATTENTION_NOTICE, .text = (t) \
	}
#define PROGRESS(v, p)                                                   \
	{                                                                \
		.kind = ATTENTION_PROGRESS, .value = (v), .percent = (p) \
	}
#define DONE(v)                                              \
	{                                                    \
		.kind = ATTENTION_COMMAND_DONE, .value = (v) \
	}
#define EXIT(v, s)                                                  \
	{                                                           \
		.kind = ATTENTION_EXIT, .value = (v), .signum = (s) \
	}
#define JUST(k)                       \
	{                             \
		.kind = ATTENTION_##k \
	}

#define STEPS_MOST 16

static const struct {
	const char *name;
	struct step steps[STEPS_MOST]; /* ends with kind TIME at 0 */
} CASES[] = {
    {"output is work, silence is none",
     {
         {0, JUST(TOUCHED), NONE, UNSEEN, ""},
         {0.9, JUST(OUTPUT), NONE, UNSEEN, ""},
         {1.1, JUST(OUTPUT), ATTENTION_WORKING, ATTENTION_BY_OUTPUT, SEEN, ""},
         {9, JUST(OUTPUT), ATTENTION_WORKING, ATTENTION_BY_OUTPUT, SEEN, ""},
         {18.9, JUST(TIME), ATTENTION_WORKING, ATTENTION_BY_OUTPUT, SEEN, ""},
         {19, JUST(TIME), ATTENTION_IDLE, ATTENTION_BY_OUTPUT, SEEN, ""},
         {20, JUST(OUTPUT), ATTENTION_WORKING, ATTENTION_BY_OUTPUT, SEEN, ""},
     }},
    {"an echo is no work",
     {
         {0, JUST(TYPED), ATTENTION_NONE, ATTENTION_BY_NOTHING, SEEN, ""},
         {0.5, JUST(OUTPUT), ATTENTION_NONE, ATTENTION_BY_NOTHING, SEEN, ""},
         {0.6, JUST(BELL), ATTENTION_NONE, ATTENTION_BY_NOTHING, SEEN, ""},
         {0.7, JUST(TITLE), ATTENTION_NONE, ATTENTION_BY_NOTHING, SEEN, ""},
         {1.7, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
     }},
    {"a hook is believed against guesses",
     {
         {0, HOOK(WORKING, "tests"), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, "tests"},
         {1, JUST(OUTPUT), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, "tests"},
         {2, JUST(TITLE), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, "tests"},
         {3, JUST(BELL), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, "tests"},
         {4, PROGRESS(0, 0), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, "tests"},
         {5, PROGRESS(2, 0), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, "tests"},
         {900, JUST(TIME), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, "tests"},
         {901, JUST(TYPED), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, "tests"},
         {902, HOOK(IDLE, ""), ATTENTION_IDLE, ATTENTION_BY_HOOK, SEEN, ""},
         {910, JUST(OUTPUT), ATTENTION_IDLE, ATTENTION_BY_HOOK, SEEN, ""},
         {911, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
         {912, HOOK(WAITING, "may I?"), ATTENTION_WAITING, ATTENTION_BY_HOOK, UNSEEN, "may I?"},
         {913, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_HOOK, UNSEEN, "may I?"},
         {914, NOTICE("hey"), ATTENTION_WAITING, ATTENTION_BY_HOOK, UNSEEN, "may I?"},
     }},
    {"a notice is a call, whatever a hook said",
     {
         {0, HOOK(WORKING, ""), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, ""},
         {1, NOTICE("permission"), ATTENTION_WAITING, ATTENTION_BY_NOTICE, UNSEEN, "permission"},
         {2, JUST(OUTPUT), ATTENTION_WAITING, ATTENTION_BY_NOTICE, UNSEEN, "permission"},
         {3, PROGRESS(1, 10), ATTENTION_WAITING, ATTENTION_BY_NOTICE, UNSEEN, "permission"},
         {4, JUST(PROMPT), ATTENTION_WAITING, ATTENTION_BY_NOTICE, UNSEEN, "permission"},
         {5, HOOK(WORKING, ""), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, ""},
     }},
    {"typing answers",
     {
         {0, NOTICE("a?"), ATTENTION_WAITING, ATTENTION_BY_NOTICE, UNSEEN, "a?"},
         {5, JUST(TYPED), ATTENTION_IDLE, ATTENTION_BY_NOTHING, SEEN, ""},
         {5.5, JUST(OUTPUT), ATTENTION_IDLE, ATTENTION_BY_NOTHING, SEEN, ""},
         {6.5, JUST(OUTPUT), ATTENTION_WORKING, ATTENTION_BY_OUTPUT, SEEN, ""},
         {8, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
         {9, JUST(TYPED), ATTENTION_IDLE, ATTENTION_BY_NOTHING, SEEN, ""},
         {30, HOOK(IDLE, "done"), ATTENTION_IDLE, ATTENTION_BY_HOOK, SEEN, "done"},
         {31, JUST(TYPED), ATTENTION_IDLE, ATTENTION_BY_NOTHING, SEEN, ""},
         {33, JUST(TITLE), ATTENTION_WORKING, ATTENTION_BY_TITLE, SEEN, ""},
         {43, JUST(TIME), ATTENTION_IDLE, ATTENTION_BY_OUTPUT, SEEN, ""},
     }},
    {"looking is not answering; a new call is unseen again",
     {
         {0, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
         {1, JUST(SEEN), ATTENTION_WAITING, ATTENTION_BY_BELL, SEEN, ""},
         {1.5, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, SEEN, ""},
         {1.6, JUST(OUTPUT), ATTENTION_WAITING, ATTENTION_BY_BELL, SEEN, ""},
         {2.1, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
         {2.2, JUST(SEEN), ATTENTION_WAITING, ATTENTION_BY_BELL, SEEN, ""},
         {2.9, HOOK(WAITING, "q"), ATTENTION_WAITING, ATTENTION_BY_HOOK, SEEN, "q"},
         {3.2, HOOK(WORKING, ""), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, ""},
         {3.5, HOOK(FAILED, "x"), ATTENTION_FAILED, ATTENTION_BY_HOOK, SEEN, "x"},
         {4.2, HOOK(WAITING, "q"), ATTENTION_WAITING, ATTENTION_BY_HOOK, UNSEEN, "q"},
     }},
    {"a call that nobody has looked at stays unseen, however often it comes",
     {
         {0, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
         {0.5, HOOK(WORKING, ""), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, ""},
         {1, HOOK(FINISHED, ""), ATTENTION_FINISHED, ATTENTION_BY_HOOK, UNSEEN, ""},
     }},
    {"a seen call of a hook gives way to a new call of another",
     {
         {0, HOOK(FINISHED, "ok"), ATTENTION_FINISHED, ATTENTION_BY_HOOK, UNSEEN, "ok"},
         {1, JUST(BELL), ATTENTION_FINISHED, ATTENTION_BY_HOOK, UNSEEN, "ok"},
         {3, JUST(SEEN), ATTENTION_FINISHED, ATTENTION_BY_HOOK, SEEN, "ok"},
         {4, JUST(OUTPUT), ATTENTION_FINISHED, ATTENTION_BY_HOOK, SEEN, "ok"},
         {5, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
     }},
    {"short commands are no news",
     {
         {0, JUST(PROMPT), ATTENTION_IDLE, ATTENTION_BY_PROMPT, SEEN, ""},
         {1, JUST(TYPED), ATTENTION_IDLE, ATTENTION_BY_PROMPT, SEEN, ""},
         {2, JUST(COMMAND), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
         {11, JUST(OUTPUT), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
         {11.9, DONE(1), ATTENTION_IDLE, ATTENTION_BY_PROMPT, SEEN, ""},
         {12, JUST(PROMPT), ATTENTION_IDLE, ATTENTION_BY_PROMPT, SEEN, ""},
         {60, JUST(OUTPUT), ATTENTION_IDLE, ATTENTION_BY_PROMPT, SEEN, ""},
         {80, DONE(0), ATTENTION_IDLE, ATTENTION_BY_PROMPT, SEEN, ""},
     }},
    {"long commands end with a call",
     {
         {0, JUST(COMMAND), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
         {10, DONE(0), ATTENTION_FINISHED, ATTENTION_BY_PROMPT, UNSEEN, ""},
         {10.01, JUST(PROMPT), ATTENTION_FINISHED, ATTENTION_BY_PROMPT, UNSEEN, ""},
         {20, JUST(TYPED), ATTENTION_IDLE, ATTENTION_BY_PROMPT, SEEN, ""},
         {21, JUST(COMMAND), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
         {99, DONE(130), ATTENTION_FAILED, ATTENTION_BY_PROMPT, UNSEEN, "exit status 130"},
         {100, JUST(COMMAND), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
         {105, PROGRESS(1, 3), ATTENTION_WORKING, ATTENTION_BY_PROGRESS, SEEN, "3%"},
         {112, DONE(0), ATTENTION_FINISHED, ATTENTION_BY_PROMPT, UNSEEN, ""},
         {120, JUST(COMMAND), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
         {130, DONE(-1), ATTENTION_FINISHED, ATTENTION_BY_PROMPT, UNSEEN, ""},
     }},
    {"the shell is back: the agent that worked is gone, what it called for is not",
     {
         {0, JUST(COMMAND), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
         {1, HOOK(WORKING, ""), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, ""},
         {2, JUST(PROMPT), ATTENTION_IDLE, ATTENTION_BY_PROMPT, SEEN, ""},
         {3, JUST(COMMAND), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
         {4, HOOK(WAITING, "need you"), ATTENTION_WAITING, ATTENTION_BY_HOOK, UNSEEN, "need you"},
         {4.1, DONE(0), ATTENTION_WAITING, ATTENTION_BY_HOOK, UNSEEN, "need you"},
         {4.2, JUST(PROMPT), ATTENTION_WAITING, ATTENTION_BY_HOOK, UNSEEN, "need you"},
         {5, JUST(TYPED), ATTENTION_IDLE, ATTENTION_BY_NOTHING, SEEN, ""},
         {6, JUST(COMMAND), ATTENTION_WORKING, ATTENTION_BY_PROMPT, SEEN, ""},
     }},
    {"progress",
     {
         {0, PROGRESS(0, 0), NONE, UNSEEN, ""},
         {1, PROGRESS(1, 40), ATTENTION_WORKING, ATTENTION_BY_PROGRESS, SEEN, "40%"},
         {2, PROGRESS(1, 4000), ATTENTION_WORKING, ATTENTION_BY_PROGRESS, SEEN, "100%"},
         {9, PROGRESS(0, 0), ATTENTION_IDLE, ATTENTION_BY_PROGRESS, SEEN, ""},
         {10, PROGRESS(3, 0), ATTENTION_WORKING, ATTENTION_BY_PROGRESS, SEEN, ""},
         {20, PROGRESS(0, 0), ATTENTION_FINISHED, ATTENTION_BY_PROGRESS, UNSEEN, ""},
         {21, PROGRESS(2, 0), ATTENTION_FAILED, ATTENTION_BY_PROGRESS, UNSEEN, ""},
         {22, PROGRESS(0, 0), ATTENTION_FAILED, ATTENTION_BY_PROGRESS, UNSEEN, ""},
         {23, PROGRESS(4, 50), ATTENTION_WAITING, ATTENTION_BY_PROGRESS, UNSEEN, ""},
         {24, PROGRESS(77, -5), ATTENTION_WORKING, ATTENTION_BY_PROGRESS, SEEN, ""},
         {25, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
     }},
    {"the end",
     {
         {0, JUST(BELL), ATTENTION_WAITING, ATTENTION_BY_BELL, UNSEEN, ""},
         {1, EXIT(0, 0), ATTENTION_FINISHED, ATTENTION_BY_EXIT, UNSEEN, ""},
         {2, EXIT(3, 0), ATTENTION_FAILED, ATTENTION_BY_EXIT, UNSEEN, "exit status 3"},
         {3, HOOK(WORKING, ""), ATTENTION_WORKING, ATTENTION_BY_HOOK, SEEN, ""},
         {4, EXIT(0, 9), ATTENTION_FAILED, ATTENTION_BY_EXIT, UNSEEN, "ended by signal 9"},
     }},
    {"who ends it knows",
     {
         {0, JUST(TYPED), ATTENTION_NONE, ATTENTION_BY_NOTHING, SEEN, ""},
         {9, EXIT(1, 0), ATTENTION_FAILED, ATTENTION_BY_EXIT, SEEN, "exit status 1"},
     }},
    {"a pause is no silence",
     {
         {0, JUST(OUTPUT), ATTENTION_WORKING, ATTENTION_BY_OUTPUT, SEEN, ""},
         {500, JUST(WOKEN), ATTENTION_WORKING, ATTENTION_BY_OUTPUT, SEEN, ""},
         {509, JUST(TIME), ATTENTION_WORKING, ATTENTION_BY_OUTPUT, SEEN, ""},
         {510, JUST(TIME), ATTENTION_IDLE, ATTENTION_BY_OUTPUT, SEEN, ""},
     }},
    {"a hook cannot say nothing, or nonsense",
     {
         {0, HOOK(NONE, ""), NONE, UNSEEN, ""},
         {1, HOOK(STATE_COUNT, ""), NONE, UNSEEN, ""},
     }},
};

static struct attention_time time_at(double seconds)
{
	uint64_t ms = (uint64_t)(seconds * 1000 + 0.5);
	return (struct attention_time){.mono_ms = START_MS + ms, .wall_ms = WALL_MS + (int64_t)ms};
}

static void check_step(const char *name, size_t i, const struct step *s, const struct vm_attention *got)
{
	if (got->state == s->state && got->source == s->source && got->seen == s->seen &&
	    strcmp(got->text, s->text) == 0)
		return;
	fail_msg("%s, step %zu: %s by %s, %s, '%s'", name, i + 1, vm_attention_name(got->state),
	         vm_attention_source_name(got->source), got->seen ? "seen" : "unseen", got->text);
}

static void sequences(void **state)
{
	(void)state;
	for (size_t c = 0; c < ARRAY_LEN(CASES); c++) {
		struct attention a = {0};
		for (size_t i = 0; i < STEPS_MOST && CASES[c].steps[i].text; i++) {
			const struct step *s = &CASES[c].steps[i];
			attention_signal(&a, &s->signal, time_at(s->at));
			check_step(CASES[c].name, i, s, &a.claim);
		}
	}
}

static bool give(struct attention *a, enum attention_kind kind, double at)
{
	return attention_signal(a, &(struct attention_signal){.kind = kind}, time_at(at));
}

/* The age in the list counts from when it began, not from its last sign of life. */
static void the_time_is_that_of_the_change(void **state)
{
	(void)state;
	struct attention a = {0};
	give(&a, ATTENTION_OUTPUT, 1);
	give(&a, ATTENTION_OUTPUT, 5);
	assert_int_equal(a.claim.at_ms, WALL_MS + 1000);
	give(&a, ATTENTION_TIME, 15);
	assert_int_equal(a.claim.at_ms, WALL_MS + 15000);
	give(&a, ATTENTION_BELL, 20);
	give(&a, ATTENTION_BELL, 30);
	give(&a, ATTENTION_SEEN, 40);
	assert_int_equal(a.claim.at_ms, WALL_MS + 20000);
	give(&a, ATTENTION_BELL, 50); /* a new call */
	assert_int_equal(a.claim.at_ms, WALL_MS + 50000);
}

static void a_timer_runs_only_while_something_is_due(void **state)
{
	(void)state;
	struct attention a = {0};
	assert_int_equal(attention_deadline(&a), 0);
	assert_true(give(&a, ATTENTION_OUTPUT, 1));
	assert_int_equal(attention_deadline(&a), START_MS + 11000);
	assert_false(give(&a, ATTENTION_OUTPUT, 3));
	assert_int_equal(attention_deadline(&a), START_MS + 13000);
	assert_true(give(&a, ATTENTION_TIME, 13));
	assert_int_equal(attention_deadline(&a), 0);
	static const enum attention_kind QUIET[] = {
	    ATTENTION_BELL,   ATTENTION_SEEN,         ATTENTION_PROMPT, ATTENTION_COMMAND, ATTENTION_TYPED,
	    ATTENTION_NOTICE, ATTENTION_COMMAND_DONE, ATTENTION_EXIT,   ATTENTION_TOUCHED};
	for (size_t i = 0; i < ARRAY_LEN(QUIET); i++) {
		give(&a, QUIET[i], 20 + (double)i * 3);
		assert_int_equal(attention_deadline(&a), 0);
	}
}

/* The first change shows at once, then four a second at most, and the last one always. */
static void a_flood_is_shown_at_a_pace(void **state)
{
	(void)state;
	struct attention a = {0};
	char text[16];
	unsigned shown = 0;
	for (int i = 0; i < 10000; i++) { /* in one second */
		snprintf(text, sizeof(text), "%d", i);
		struct attention_signal s = {.kind = ATTENTION_HOOK,
		                             .state = i % 2 ? ATTENTION_WAITING : ATTENTION_WORKING,
		                             .text = text};
		shown += attention_signal(&a, &s, time_at(i / 10000.0));
		if (i == 0)
			assert_int_equal(a.shown.state, ATTENTION_WORKING);
	}
	assert_in_range(shown, 4, 5);
	uint64_t due = attention_deadline(&a);
	assert_in_range(due, START_MS + 1000, START_MS + 1250);
	assert_true(attention_signal(&a, &(struct attention_signal){.kind = ATTENTION_TIME},
	                             (struct attention_time){.mono_ms = due, .wall_ms = WALL_MS}));
	assert_string_equal(a.shown.text, "9999");
	assert_int_equal(attention_deadline(&a), 0);
}

/* Bells without end ring once, and once more after each look. */
static void a_flood_of_bells_rings_once(void **state)
{
	(void)state;
	struct attention a = {0};
	unsigned rings = 0;
	for (int ms = 0; ms < 60000; ms++) {
		bool was = a.shown.state == ATTENTION_WAITING && !a.shown.seen;
		give(&a, ATTENTION_BELL, ms / 1000.0);
		rings += a.shown.state == ATTENTION_WAITING && !a.shown.seen && !was;
		if (ms == 30000)
			give(&a, ATTENTION_SEEN, ms / 1000.0);
		if (ms == 30000)
			assert_true(a.shown.seen);
	}
	assert_int_equal(rings, 2);
}

static void check_valid(const struct vm_attention *v)
{
	assert_in_range(v->state, 0, ATTENTION_STATE_COUNT - 1);
	assert_in_range(v->source, 0, ATTENTION_SOURCE_COUNT - 1);
	assert_non_null(memchr(v->text, '\0', sizeof(v->text)));
	assert_true(v->seen || vm_attention_calls(v->state) || v->state == ATTENTION_NONE);
	if (v->source == ATTENTION_BY_BELL || v->source == ATTENTION_BY_NOTICE)
		assert_int_equal(v->state, ATTENTION_WAITING);
	if (v->source == ATTENTION_BY_EXIT)
		assert_true(v->state == ATTENTION_FINISHED || v->state == ATTENTION_FAILED);
	if (v->source == ATTENTION_BY_TITLE)
		assert_int_equal(v->state, ATTENTION_WORKING);
	if (v->source == ATTENTION_BY_OUTPUT)
		assert_true(v->state == ATTENTION_WORKING || v->state == ATTENTION_IDLE);
}

/* An unseen call is taken back by these only, and of which sources (that one and worse ones). The end of a program does it when
 * the operator has just typed. */
static const enum vm_attention_source SILENCED[ATTENTION_KIND_COUNT] = {
    [ATTENTION_HOOK] = ATTENTION_BY_HOOK,           [ATTENTION_NOTICE] = ATTENTION_SOURCE_COUNT,
    [ATTENTION_PROGRESS] = ATTENTION_BY_PROGRESS,   [ATTENTION_BELL] = ATTENTION_SOURCE_COUNT,
    [ATTENTION_PROMPT] = ATTENTION_BY_PROMPT,       [ATTENTION_COMMAND] = ATTENTION_BY_PROMPT,
    [ATTENTION_COMMAND_DONE] = ATTENTION_BY_PROMPT, [ATTENTION_TITLE] = ATTENTION_BY_TITLE,
    [ATTENTION_OUTPUT] = ATTENTION_BY_OUTPUT,       [ATTENTION_EXIT] = ATTENTION_BY_HOOK,
    [ATTENTION_SEEN] = ATTENTION_BY_HOOK,           [ATTENTION_TYPED] = ATTENTION_BY_HOOK,
    [ATTENTION_TOUCHED] = ATTENTION_SOURCE_COUNT,   [ATTENTION_WOKEN] = ATTENTION_SOURCE_COUNT,
    [ATTENTION_TIME] = ATTENTION_SOURCE_COUNT,
};

static void check_silence(const struct vm_attention *before, const struct vm_attention *after,
                          enum attention_kind kind, unsigned seed)
{
	bool called = vm_attention_calls(before->state) && !before->seen;
	bool calls = vm_attention_calls(after->state) && !after->seen;
	if (called && !calls && before->source < SILENCED[kind])
		fail_msg("seed %u: signal %d silenced %s by %s", seed, (int)kind,
		         vm_attention_name(before->state), vm_attention_source_name(before->source));
}

static struct attention_signal random_signal(void)
{
	return (struct attention_signal){
	    .kind = (enum attention_kind)(random() % ATTENTION_KIND_COUNT),
	    .state = (enum vm_attention_state)(random() % (ATTENTION_STATE_COUNT + 2)),
	    .value = (int)(random() % 7) - 1,
	    .percent = (int)(random() % 300) - 100,
	    .signum = (int)(random() % 3),
	    .text = random() % 2 ? "text" : NULL,
	};
}

static void random_step(struct attention *a, uint64_t at, unsigned seed)
{
	struct attention_signal s = random_signal();
	struct attention_time now = {.mono_ms = at, .wall_ms = WALL_MS + (int64_t)at};
	struct vm_attention before = a->claim;
	attention_signal(a, &s, now);
	check_valid(&a->claim);
	check_valid(&a->shown);
	check_silence(&before, &a->claim, s.kind, seed);
	uint64_t due = attention_deadline(a);
	if (due == 0)
		return;
	assert_true(due <= at + ATTENTION_QUIET_MS);
	attention_signal(a, &(struct attention_signal){.kind = ATTENTION_TIME}, now);
	due = attention_deadline(a);
	assert_true(due == 0 || due > at); /* nobody spins for it */
}

/* A random walk: whatever comes in whatever order, the state is a valid one, no call is lost, and what is due ends. */
static void no_sequence_breaks_it(void **state)
{
	(void)state;
	static const uint64_t STEPS[] = {0, 0, 1, 10, 240, 260, 1000, 2500, 11000};
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct attention a = {0};
		uint64_t at = START_MS;
		srandom(seed);
		for (int i = 0; i < 2000; i++) {
			at += STEPS[(size_t)random() % ARRAY_LEN(STEPS)];
			random_step(&a, at, seed);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sequences),
	    cmocka_unit_test(the_time_is_that_of_the_change),
	    cmocka_unit_test(a_timer_runs_only_while_something_is_due),
	    cmocka_unit_test(a_flood_is_shown_at_a_pace),
	    cmocka_unit_test(a_flood_of_bells_rings_once),
	    cmocka_unit_test(no_sequence_breaks_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
