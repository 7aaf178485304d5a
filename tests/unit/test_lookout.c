/* core/supervisor/lookout: what is heard comes into the status. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "core/loop/loop.h"
#include "core/supervisor/board.h"
#include "core/supervisor/lookout.h"
#include "core/term/emulator.h"
#include "tests/lib/loop_wait.h"

struct fixture {
	struct loop *loop;
	struct board *board;
	struct lookout *lookout;
	enum vm_attention_state wanted;
};

static const struct terminals_ops *const OPS = &LOOKOUT_TERMINALS;

static int set_up(void **state)
{
	static struct fixture f;
	static const struct vm_status READY = {.name = "alpha", .state = VM_READY};
	f = (struct fixture){.loop = loop_create()};
	f.board = board_create(f.loop, &READY);
	f.lookout = lookout_create(f.loop, f.board);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	lookout_destroy(f->lookout);
	board_destroy(f->board);
	loop_destroy(f->loop);
	return 0;
}

static void add_terminal(struct fixture *f, uint32_t number)
{
	struct vm_status *v = board_edit(f->board);
	v->terminal[v->terminal_count++] = (struct vm_terminal){.number = number};
}

static void remove_first_terminal(struct fixture *f)
{
	struct vm_status *v = board_edit(f->board);
	v->terminal_count--;
	memmove(v->terminal, v->terminal + 1, v->terminal_count * sizeof(v->terminal[0]));
}

static void event(struct fixture *f, uint32_t number, enum emulator_event_kind kind, const char *text)
{
	OPS->on_event(f->lookout, number, &(struct emulator_event){.kind = kind, .text = text});
}

static void notify(struct fixture *f, uint32_t term, enum vm_attention_state state, const char *text)
{
	struct wire_event_notify m = {.attention = (uint8_t)state, .term = term};
	snprintf(m.text, sizeof(m.text), "%s", text);
	lookout_notify(f->lookout, &m);
}

static const struct vm_attention *of_vm(const struct fixture *f)
{
	return &board_status(f->board)->attention;
}

static const struct vm_attention *of_terminal(const struct fixture *f, uint32_t number)
{
	return &board_terminal(f->board, number)->attention;
}

static bool is_wanted(void *arg)
{
	const struct fixture *f = arg;
	return of_vm(f)->state == f->wanted;
}

/* What is shown follows at its own pace. */
static void wait_for(struct fixture *f, enum vm_attention_state state)
{
	f->wanted = state;
	assert_true(loop_wait(f->loop, is_wanted, f));
}

static void the_vm_is_what_its_worst_terminal_is(void **state)
{
	struct fixture *f = *state;
	add_terminal(f, 1);
	add_terminal(f, 2);
	OPS->on_output(f->lookout, 1, 5);
	assert_int_equal(of_vm(f)->state, ATTENTION_WORKING);
	assert_int_equal(of_terminal(f, 2)->state, ATTENTION_NONE);
	event(f, 2, EMULATOR_NOTICE, "look");
	assert_int_equal(of_vm(f)->state, ATTENTION_WAITING);
	assert_int_equal(of_vm(f)->source, ATTENTION_BY_NOTICE);
	assert_string_equal(of_vm(f)->text, "look");
	assert_false(of_vm(f)->seen);
	assert_int_equal(of_terminal(f, 1)->state, ATTENTION_WORKING);
	lookout_seen(f->lookout);
	assert_true(of_terminal(f, 2)->seen);
	assert_int_equal(of_vm(f)->state, ATTENTION_WORKING); /* what was seen is less urgent than work */
	OPS->on_input(f->lookout, 2);
	assert_int_equal(of_terminal(f, 2)->state, ATTENTION_IDLE);
}

static void every_event_is_passed_on(void **state)
{
	struct fixture *f = *state;
	static const struct {
		struct emulator_event ev;
		enum vm_attention_state state;
		enum vm_attention_source source;
	} EVENTS[] = {
	    {{.kind = EMULATOR_BELL, .text = ""}, ATTENTION_WAITING, ATTENTION_BY_BELL},
	    {{.kind = EMULATOR_TITLE, .text = "t"}, ATTENTION_WORKING, ATTENTION_BY_TITLE},
	    {{.kind = EMULATOR_NOTICE, .text = "n"}, ATTENTION_WAITING, ATTENTION_BY_NOTICE},
	    {{.kind = EMULATOR_PROGRESS, .value = 2, .text = ""}, ATTENTION_FAILED, ATTENTION_BY_PROGRESS},
	    {{.kind = EMULATOR_PROMPT, .text = ""}, ATTENTION_IDLE, ATTENTION_BY_PROMPT},
	    {{.kind = EMULATOR_COMMAND, .text = ""}, ATTENTION_WORKING, ATTENTION_BY_PROMPT},
	    {{.kind = EMULATOR_COMMAND_DONE, .text = ""}, ATTENTION_IDLE, ATTENTION_BY_PROMPT},
	};
	for (uint32_t i = 0; i < ARRAY_LEN(EVENTS); i++) {
		add_terminal(f, i + 1);
		OPS->on_event(f->lookout, i + 1, &EVENTS[i].ev);
		assert_int_equal(of_terminal(f, i + 1)->state, EVENTS[i].state);
		assert_int_equal(of_terminal(f, i + 1)->source, EVENTS[i].source);
		assert_string_equal(of_terminal(f, i + 1)->text,
		                    i == 2 ? "n" : ""); /* the title is in the list already */
	}
}

static void hooks_speak_for_their_terminal_or_for_the_vm(void **state)
{
	struct fixture *f = *state;
	add_terminal(f, 7);
	notify(f, 7, ATTENTION_WORKING, "");
	assert_int_equal(of_terminal(f, 7)->state, ATTENTION_WORKING);
	assert_int_equal(of_terminal(f, 7)->source, ATTENTION_BY_HOOK);
	notify(f, 8, ATTENTION_WAITING, "who am I?"); /* there is no 8 */
	assert_int_equal(of_terminal(f, 7)->state, ATTENTION_WORKING);
	assert_int_equal(of_vm(f)->state, ATTENTION_WAITING);
	OPS->on_input(f->lookout, 7); /* whichever it meant */
	assert_int_equal(of_vm(f)->state, ATTENTION_WORKING);
}

/* Only what may stand on an operator's screen, cut at a whole character. */
static void texts_of_hooks_are_cleaned(void **state)
{
	struct fixture *f = *state;
	notify(f, 0, ATTENTION_WAITING, "a\x1b[31mb\xc2\x9b\tc\nd\xe2\x80\xae \xc3\xa9\xff\x7f");
	assert_string_equal(of_vm(f)->text, "a [31mb c d \xc3\xa9\xef\xbf\xbd");
	char longest[400];
	for (size_t i = 0; i + 1 < sizeof(longest); i++)
		longest[i] = "x\xc3\xa9"[i % 3];
	longest[399] = '\0';
	notify(f, 0, ATTENTION_FAILED, longest);
	wait_for(f, ATTENTION_FAILED);
	assert_int_equal(strlen(of_vm(f)->text), 199); /* 200 would end inside a character */
}

static void the_end_of_a_terminal_stays_news(void **state)
{
	struct fixture *f = *state;
	add_terminal(f, 1);
	OPS->on_output(f->lookout, 1, 1);
	OPS->on_ended(f->lookout, 1, 3, 0);
	remove_first_terminal(f);
	wait_for(f, ATTENTION_FAILED);
	assert_string_equal(of_vm(f)->text, "exit status 3");
	add_terminal(f, 2);
	OPS->on_output(f->lookout, 2, 1);
	assert_int_equal(of_vm(f)->state, ATTENTION_FAILED); /* nobody has looked */
	lookout_seen(f->lookout);
	add_terminal(f, 3);
	OPS->on_touched(f->lookout, 3);
	lookout_notify(f->lookout,
	               &(struct wire_event_notify){.attention = ATTENTION_IDLE, .term = 3, .text = ""});
	assert_int_equal(of_vm(f)->state, ATTENTION_WORKING); /* terminal 2 */
}

static void what_the_operator_ends_is_no_news(void **state)
{
	struct fixture *f = *state;
	add_terminal(f, 1);
	OPS->on_input(f->lookout, 1);
	OPS->on_ended(f->lookout, 1, 130, 0);
	remove_first_terminal(f);
	assert_int_equal(of_vm(f)->state, ATTENTION_NONE);
	add_terminal(f, 2); /* ends with the VM */
	OPS->on_event(f->lookout, 2, &(struct emulator_event){.kind = EMULATOR_PROMPT, .text = ""});
	board_edit(f->board)->state = VM_STOPPING;
	OPS->on_ended(f->lookout, 2, 255, 0);
	remove_first_terminal(f);
	assert_int_equal(of_vm(f)->state, ATTENTION_NONE);
}

/* Terminals that never start have no end that is told: their places are found again. */
static void terminals_come_and_go(void **state)
{
	struct fixture *f = *state;
	for (uint32_t n = 1; n < 5 * VM_TERMINALS_MOST; n++) {
		add_terminal(f, n);
		OPS->on_touched(f->lookout, n);
		if (board_status(f->board)->terminal_count == VM_TERMINALS_MOST)
			remove_first_terminal(f);
	}
	event(f, 5 * VM_TERMINALS_MOST - 1, EMULATOR_NOTICE, "x");
	assert_int_equal(of_vm(f)->state, ATTENTION_WAITING);
}

static void the_last_word(void **state)
{
	struct fixture *f = *state;
	add_terminal(f, 1);
	OPS->on_output(f->lookout, 1, 1);
	lookout_pause(f->lookout, true);
	lookout_pause(f->lookout, false);
	assert_int_equal(of_vm(f)->state, ATTENTION_WORKING);
	lookout_end(f->lookout, ATTENTION_FAILED, "it burned");
	assert_int_equal(of_vm(f)->state, ATTENTION_FAILED);
	assert_int_equal(of_vm(f)->source, ATTENTION_BY_EXIT);
	assert_string_equal(of_vm(f)->text, "it burned");
	assert_false(of_vm(f)->seen);
	event(f, 1, EMULATOR_BELL, "");
	notify(f, 1, ATTENTION_IDLE, "");
	OPS->on_input(f->lookout, 1);
	OPS->on_ended(f->lookout, 1, 0, 0);
	assert_int_equal(of_vm(f)->state, ATTENTION_FAILED);
	lookout_seen(f->lookout);
	assert_true(of_vm(f)->seen);
	lookout_end(f->lookout, ATTENTION_NONE, "");
	assert_int_equal(of_vm(f)->source, ATTENTION_BY_NOTHING);
	assert_true(of_vm(f)->at_ms > 0); /* one that was stopped ended at some time, too */
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(the_vm_is_what_its_worst_terminal_is),
	    T(every_event_is_passed_on),
	    T(hooks_speak_for_their_terminal_or_for_the_vm),
	    T(texts_of_hooks_are_cleaned),
	    T(the_end_of_a_terminal_stays_news),
	    T(what_the_operator_ends_is_no_news),
	    T(terminals_come_and_go),
	    T(the_last_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
