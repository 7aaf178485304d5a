/* From a guest's terminal to the status of its VM, and what of an operator's doing answers a call. */
#include "tests/lib/test.h"

#include "core/base/clock.h"
#include "core/loop/loop.h"
#include "core/supervisor/attention.h"
#include "core/supervisor/board.h"
#include "core/supervisor/terminals.h"
#include "core/term/keys.h"
#include "tests/lib/loop_wait.h"
#include "tests/lib/term_rig.h"

static const struct vm_attention *attention(const struct rig *f)
{
	return &board_status(f->board)->attention;
}

static bool is_waiting(void *arg)
{
	return attention(arg)->state == ATTENTION_WAITING;
}

static bool is_answered(void *arg)
{
	return attention(arg)->state == ATTENTION_IDLE;
}

static uint32_t open_terminal(struct rig *f)
{
	peer_greet(f, &f->a);
	rig_open_term(&f->a, 1, 0, 24, 80);
	return rig_take_opened(&f->a, 1);
}

static void write_guest(struct rig *f, const char *bytes)
{
	guest_double_write(f->guest, bytes, strlen(bytes));
}

/* A notice counts whenever it comes, also as an answer to keys. */
static void call(struct rig *f)
{
	write_guest(f, "\x1b]9;your turn\a");
	assert_true(loop_wait(f->loop, is_waiting, f));
	assert_string_equal(attention(f)->text, "your turn");
	assert_int_equal(attention(f)->source, ATTENTION_BY_NOTICE);
}

static void a_terminal_calls(void **state)
{
	struct rig *f = *state;
	uint32_t term = open_terminal(f);
	assert_int_equal(attention(f)->state, ATTENTION_NONE);
	call(f);
	assert_false(attention(f)->seen);
	const struct vm_attention *own = &board_terminal(f->board, term)->attention;
	assert_int_equal(own->state, ATTENTION_WAITING);
	assert_string_equal(own->text, "your turn");
	struct wire_seen seen = {.attention = 1};
	wire_put_seen(&f->a.out, 5, &seen);
	peer_send(&f->a);
	assert_int_equal(rig_take_after_screens(&f->a, WIRE_OK)->id, 5);
	assert_true(attention(f)->seen);
	assert_true(board_terminal(f->board, term)->attention.seen);
}

static void put_key(struct peer *p, uint32_t term)
{
	struct wire_term_key m = {.term = term, .key = 'y'};
	wire_put_term_key(&p->out, 0, &m);
}

static void put_text(struct peer *p, uint32_t term)
{
	struct wire_term_text m = {.term = term, .text = {.p = (const uint8_t *)"y", .len = 1}};
	wire_put_term_text(&p->out, 0, &m);
}

static void put_paste(struct peer *p, uint32_t term)
{
	struct wire_term_paste m = {
	    .term = term, .first = 1, .last = 1, .text = {.p = (const uint8_t *)"y", .len = 1}};
	wire_put_term_paste(&p->out, 0, &m);
}

static void put_mouse(struct peer *p, uint32_t term, enum term_mouse_kind kind, uint8_t button)
{
	struct wire_term_mouse m = {.term = term, .kind = (uint8_t)kind, .button = button};
	wire_put_term_mouse(&p->out, 0, &m);
}

static void put_click(struct peer *p, uint32_t term)
{
	put_mouse(p, term, MOUSE_PRESS, MOUSE_LEFT);
}

static void put_wheel(struct peer *p, uint32_t term)
{
	put_mouse(p, term, MOUSE_PRESS, MOUSE_WHEEL_UP);
}

static void put_move(struct peer *p, uint32_t term)
{
	put_mouse(p, term, MOUSE_MOVE, MOUSE_NONE);
}

static void put_focus(struct peer *p, uint32_t term)
{
	struct wire_term_focus m = {.term = term, .focused = 1};
	wire_put_term_focus(&p->out, 0, &m);
}

static void put_size(struct peer *p, uint32_t term)
{
	struct wire_term_resize m = {.term = term, .rows = 30, .cols = 90};
	wire_put_term_resize(&p->out, 0, &m);
}

typedef void put_fn(struct peer *p, uint32_t term);

static void keys_and_clicks_answer(void **state)
{
	struct rig *f = *state;
	static put_fn *const ANSWERS[] = {put_key, put_text, put_paste, put_click};
	uint32_t term = open_terminal(f);
	write_guest(f, "\x1b[?1000h");
	for (size_t i = 0; i < ARRAY_LEN(ANSWERS); i++) {
		call(f);
		ANSWERS[i](&f->a, term);
		peer_send(&f->a);
		assert_true(loop_wait(f->loop, is_answered, f));
	}
}

static void looking_around_does_not(void **state)
{
	struct rig *f = *state;
	static put_fn *const OTHERS[] = {put_click, put_wheel, put_move, put_focus, put_size};
	uint32_t term = open_terminal(f);
	call(f);
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++) {
		OTHERS[i](&f->a, term);
		peer_send(&f->a);
		loop_settle(f->loop);
		if (i == 0)
			write_guest(f, "\x1b[?1003h\x1b[?1004h"); /* from here on it hears mouse and focus */
		loop_settle(f->loop);
		assert_true(is_waiting(f));
		assert_false(attention(f)->seen);
	}
}

/* What a program draws because of the operator is no work of its own. */
static void what_follows_the_operator_is_no_work(void **state)
{
	struct rig *f = *state;
	static put_fn *const TOUCHES[] = {put_focus, put_size, put_key, put_move};
	uint32_t term = open_terminal(f);
	write_guest(f, "\x1b[?1003h\x1b[?1004h");
	for (size_t i = 0; i < ARRAY_LEN(TOUCHES); i++) {
		uint64_t since = clock_mono_ms();
		TOUCHES[i](&f->a, term);
		peer_send(&f->a);
		write_guest(f, "drawn again\a\x1b]2;again\a");
		loop_settle(f->loop);
		if (clock_mono_ms() - since < ATTENTION_ECHO_MS / 2)
			assert_int_equal(attention(f)->state, ATTENTION_NONE);
	}
}

static bool has_failed(void *arg)
{
	return attention(arg)->state == ATTENTION_FAILED;
}

/* The double's program ends with 7 at a line feed. */
static void who_ends_a_program_needs_no_news(void **state)
{
	struct rig *f = *state;
	uint32_t term = open_terminal(f);
	call(f);
	rig_type(&f->a, term, "\n");
	rig_take_after_screens(&f->a, WIRE_TERM_CLOSED);
	assert_int_equal(board_status(f->board)->terminal_count, 0);
	assert_false(has_failed(f));
	peer_close(&f->a);
	peer_greet(f, &f->b);
	rig_open_term(&f->b, 1, 0, 24, 80);
	rig_take_opened(&f->b, 1);
	assert_int_equal(attention(f)->source, ATTENTION_BY_NOTHING);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(a_terminal_calls),
	    T(keys_and_clicks_answer),
	    T(looking_around_does_not),
	    T(what_follows_the_operator_is_no_work),
	    T(who_ends_a_program_needs_no_news),
	};
	return cmocka_run_group_tests_name("supervisor_attention", tests, NULL, NULL);
}
