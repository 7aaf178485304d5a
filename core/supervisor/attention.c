/* Who says what, best source first:
 *
 *   source    signal               says
 *   hook      notify STATE         that state
 *   notice    OSC 9, 777, 99       waiting
 *   progress  OSC 9;4, 1 or 3      working           2: failed   4: waiting
 *             OSC 9;4, 0           finished if it took LONG_MS, else idle
 *   bell      BEL                  waiting           (not within ECHO_MS of typing: a shell that cannot complete)
 *   prompt    OSC 133;C            working
 *             OSC 133;D            finished or failed if it took LONG_MS, else idle
 *             OSC 133;A            idle              (not over the end of a long command, which comes just before)
 *   title     another title        working           (not within ECHO_MS of typing)
 *   exit      the program's end    finished, failed: always
 *   output    any                  working           (not within ECHO_MS of typing)
 *             none for QUIET_MS    idle, when title or output said "working"
 *
 * What was said last holds until
 *  - the same or a better source says something else;
 *  - the operator types: whatever called is answered, idle until something happens, and anybody may speak again. Who says
 *    "working", and a shell that follows its commands, keeps the word;
 *  - a worse source calls (waiting, finished, failed), and
 *      what holds calls too: the operator has seen that, and not just now;
 *      a hook holds it idle or working: see OVER_HOOK;
 *  - a shell shows that the program that was working or idle is gone.
 * So a guess never takes back what somebody knew, and no call is lost to a program that speaks only sometimes.
 *
 * A call is unseen until the operator looks or types. What is seen calls again when somebody calls anew, but not within
 * RAISE_MS of the last time, whatever it says: a flood of bells rings once. */
#include "core/supervisor/attention.h"

#include <stdio.h>
#include <string.h>

#include "core/base/check.h"

#define BIT(state) (1u << (state))

/* The words of a hook against which a worse source may call. A bell means little while an agent says that it works. Progress
 * comes from the same agent as its hooks, which know better. A prompt: the agent is gone. */
static const unsigned OVER_HOOK[ATTENTION_SOURCE_COUNT] = {
    [ATTENTION_BY_NOTICE] = BIT(ATTENTION_WORKING) | BIT(ATTENTION_IDLE),
    [ATTENTION_BY_BELL] = BIT(ATTENTION_IDLE),
    [ATTENTION_BY_PROMPT] = BIT(ATTENTION_WORKING) | BIT(ATTENTION_IDLE),
};

static bool is_within(uint64_t since_ms, uint64_t ms, struct attention_time now)
{
	return since_ms && now.mono_ms - since_ms < ms;
}

static bool may_speak(const struct attention *a, enum vm_attention_source source,
                      enum vm_attention_state state, struct attention_time now)
{
	const struct vm_attention *c = &a->claim;
	if (c->source == ATTENTION_BY_NOTHING || source <= c->source || source == ATTENTION_BY_EXIT)
		return true;
	if (vm_attention_calls(c->state))
		return vm_attention_calls(state) && c->seen &&
		       !is_within(a->raised_ms, ATTENTION_RAISE_MS, now);
	if (c->source == ATTENTION_BY_HOOK)
		return (OVER_HOOK[source] & BIT(c->state)) != 0;
	return vm_attention_calls(state) || source == ATTENTION_BY_PROMPT;
}

/* Whether the operator is to look (again). */
static void raise_call(struct attention *a, bool again, struct attention_time now)
{
	bool just_now = is_within(a->raised_ms, ATTENTION_RAISE_MS, now);
	if (again && (!a->claim.seen || just_now))
		return;
	a->claim.at_ms = now.wall_ms;
	a->claim.seen = just_now && a->looked;
	if (a->claim.seen)
		return;
	a->raised_ms = now.mono_ms;
	a->looked = false;
}

static void say(struct attention *a, enum vm_attention_source source, enum vm_attention_state state,
                const char *text, struct attention_time now)
{
	struct vm_attention *c = &a->claim;
	if (!may_speak(a, source, state, now))
		return;
	bool again = c->state == state;
	c->state = state;
	c->source = source;
	snprintf(c->text, sizeof(c->text), "%s", text);
	if (vm_attention_calls(state)) {
		raise_call(a, again, now);
		return;
	}
	c->seen = true;
	if (!again)
		c->at_ms = now.wall_ms;
}

/* ---- what each signal says ---- */

typedef void signal_fn(struct attention *a, const struct attention_signal *s, struct attention_time now);

static void on_hook(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	if (s->state > ATTENTION_NONE && s->state < ATTENTION_STATE_COUNT)
		say(a, ATTENTION_BY_HOOK, s->state, s->text, now);
}

static void on_notice(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	say(a, ATTENTION_BY_NOTICE, ATTENTION_WAITING, s->text, now);
}

static bool took_long(uint64_t since_ms, struct attention_time now)
{
	return since_ms && now.mono_ms - since_ms >= ATTENTION_LONG_MS;
}

static void on_progress(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	char text[16] = "";
	const enum vm_attention_source by = ATTENTION_BY_PROGRESS;
	bool own = a->claim.source == by;
	switch (s->value) {
	case 0: /* taken away; an error that was told stays told */
		if (own && a->claim.state == ATTENTION_WORKING)
			say(a, by, took_long(a->progress_ms, now) ? ATTENTION_FINISHED : ATTENTION_IDLE, "",
			    now);
		return;
	case 1: snprintf(text, sizeof(text), "%d%%", MIN(MAX(s->percent, 0), 100)); break;
	case 2: say(a, by, ATTENTION_FAILED, "", now); return;
	case 4: say(a, by, ATTENTION_WAITING, "", now); return;
	default: break;
	}
	bool began = !own || a->claim.state != ATTENTION_WORKING;
	say(a, by, ATTENTION_WORKING, text, now);
	if (began && a->claim.source == by)
		a->progress_ms = now.mono_ms;
}

static bool is_answer(const struct attention *a, struct attention_time now)
{
	return is_within(a->acted_ms, ATTENTION_ECHO_MS, now);
}

static void on_bell(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	(void)s;
	if (!is_answer(a, now))
		say(a, ATTENTION_BY_BELL, ATTENTION_WAITING, "", now);
}

static void on_prompt(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	(void)s;
	a->command_ms = 0;
	if (a->claim.source != ATTENTION_BY_PROMPT || !vm_attention_calls(a->claim.state))
		say(a, ATTENTION_BY_PROMPT, ATTENTION_IDLE, "", now);
}

static void on_command(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	(void)s;
	a->command_ms = now.mono_ms;
	say(a, ATTENTION_BY_PROMPT, ATTENTION_WORKING, "", now);
}

static void on_command_done(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	char text[32] = "";
	if (!took_long(a->command_ms, now)) {
		on_prompt(a, s, now);
		return;
	}
	a->command_ms = 0;
	bool failed = s->value > 0;
	if (failed)
		snprintf(text, sizeof(text), "exit status %d", s->value);
	say(a, ATTENTION_BY_PROMPT, failed ? ATTENTION_FAILED : ATTENTION_FINISHED, text, now);
}

static void on_activity(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	if (is_answer(a, now))
		return;
	a->active_ms = now.mono_ms;
	say(a, s->kind == ATTENTION_TITLE ? ATTENTION_BY_TITLE : ATTENTION_BY_OUTPUT, ATTENTION_WORKING, "",
	    now);
}

/* Who ends a program with keys knows that it has ended. */
static void on_exit_told(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	char text[40] = "";
	bool failed = s->value || s->signum;
	if (s->signum)
		snprintf(text, sizeof(text), "ended by signal %d", s->signum);
	else if (failed)
		snprintf(text, sizeof(text), "exit status %d", s->value);
	say(a, ATTENTION_BY_EXIT, failed ? ATTENTION_FAILED : ATTENTION_FINISHED, text, now);
	a->claim.seen |= is_within(a->acted_ms, ATTENTION_QUIET_MS, now);
}

static void on_seen(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	(void)s;
	(void)now;
	a->looked = true;
	a->claim.seen = true;
}

static void on_touched(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	(void)s;
	a->acted_ms = now.mono_ms;
}

static void on_typed(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	struct vm_attention *c = &a->claim;
	on_touched(a, s, now);
	on_seen(a, s, now);
	bool calls = vm_attention_calls(c->state);
	if (!calls && (c->state != ATTENTION_IDLE || c->source >= ATTENTION_BY_PROMPT))
		return;
	if (calls)
		c->at_ms = now.wall_ms;
	c->state = ATTENTION_IDLE;
	if (c->source != ATTENTION_BY_PROMPT)
		c->source = ATTENTION_BY_NOTHING;
	c->text[0] = '\0';
}

/* How long it was quiet is counted anew. */
static void on_woken(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	(void)s;
	a->active_ms = now.mono_ms;
}

static bool is_guess_of_work(const struct attention *a)
{
	return a->claim.state == ATTENTION_WORKING &&
	       (a->claim.source == ATTENTION_BY_TITLE || a->claim.source == ATTENTION_BY_OUTPUT);
}

static void on_time(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	(void)s;
	if (!is_guess_of_work(a) || now.mono_ms - a->active_ms < ATTENTION_QUIET_MS)
		return;
	a->claim = (struct vm_attention){
	    .state = ATTENTION_IDLE, .source = ATTENTION_BY_OUTPUT, .seen = true, .at_ms = now.wall_ms};
}

static signal_fn *const SIGNALS[] = {
    [ATTENTION_HOOK] = on_hook,
    [ATTENTION_NOTICE] = on_notice,
    [ATTENTION_PROGRESS] = on_progress,
    [ATTENTION_BELL] = on_bell,
    [ATTENTION_PROMPT] = on_prompt,
    [ATTENTION_COMMAND] = on_command,
    [ATTENTION_COMMAND_DONE] = on_command_done,
    [ATTENTION_TITLE] = on_activity,
    [ATTENTION_OUTPUT] = on_activity,
    [ATTENTION_EXIT] = on_exit_told,
    [ATTENTION_SEEN] = on_seen,
    [ATTENTION_TYPED] = on_typed,
    [ATTENTION_TOUCHED] = on_touched,
    [ATTENTION_WOKEN] = on_woken,
    [ATTENTION_TIME] = on_time,
};
static_assert(ARRAY_LEN(SIGNALS) == ATTENTION_KIND_COUNT, "every signal is understood");

/* ---- what is shown ---- */

static bool is_same(const struct vm_attention *a, const struct vm_attention *b)
{
	return a->state == b->state && a->source == b->source && a->seen == b->seen && a->at_ms == b->at_ms &&
	       strcmp(a->text, b->text) == 0;
}

/* The guest sets the pace of its signals, not that of what others hear of it. What the operator did shows at once. */
bool attention_signal(struct attention *a, const struct attention_signal *s, struct attention_time now)
{
	struct attention_signal clean = *s;
	CHECK((unsigned)s->kind < ATTENTION_KIND_COUNT);
	clean.text = s->text ? s->text : "";
	SIGNALS[s->kind](a, &clean, now);
	bool by_operator = s->kind == ATTENTION_SEEN || s->kind == ATTENTION_TYPED;
	if (is_same(&a->claim, &a->shown) || (!by_operator && is_within(a->shown_ms, ATTENTION_PACE_MS, now)))
		return false;
	a->shown = a->claim;
	a->shown_ms = now.mono_ms;
	return true;
}

uint64_t attention_deadline(const struct attention *a)
{
	if (!is_same(&a->claim, &a->shown))
		return a->shown_ms + ATTENTION_PACE_MS;
	return is_guess_of_work(a) ? a->active_ms + ATTENTION_QUIET_MS : 0;
}
