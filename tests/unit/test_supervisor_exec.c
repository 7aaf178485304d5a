/* Programs of a client without a terminal: bytes both ways, back-pressure, and what ends them. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "tests/lib/loop_wait.h"
#include "tests/lib/session_rig.h"

/* ---- programs ---- */

static void a_program_gets_and_gives_bytes(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	peer_put_exec(&f->a, 77, ARGV("cat"));
	peer_put_stdin(&f->a, 77, "hello", 5);
	wire_put_empty(&f->a.out, WIRE_STDIN_EOF, 77);
	peer_send(&f->a);
	peer_take_ok(&f->a, 77);
	struct wire_exit end = peer_take_exit(&f->a, 77);
	assert_int_equal(end.code, 0);
	assert_int_equal(f->a.stdout_bytes, 5);
	peer_put_exec(&f->a, 77, ARGV("exit", "3")); /* the id is free again */
	peer_send(&f->a);
	peer_take_ok(&f->a, 77);
	assert_int_equal(peer_take_exit(&f->a, 77).code, 3);
	peer_put_stdin(&f->a, 77, "late", 4); /* is dropped */
	peer_send(&f->a);
	loop_settle(f->loop);
	assert_false(f->a.gone);
}

static void a_program_that_is_not_there(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	peer_put_exec(&f->a, 1, ARGV("missing"));
	peer_send(&f->a);
	struct wire_error said = peer_take_error(&f->a, 1, ERR_NOT_FOUND);
	assert_string_equal(said.text, "missing: no such program\\x1b[31m"); /* the guest's text, escaped */
	peer_put_exec(&f->a, 2, (const char *const[]){NULL});
	peer_send(&f->a);
	peer_take_error(&f->a, 2, ERR_INVALID);
	rig_set_state(f, VM_BOOTING);
	peer_put_exec(&f->a, 3, ARGV("cat"));
	peer_send(&f->a);
	assert_non_null(strstr(peer_take_error(&f->a, 3, ERR_INVALID).text, "is booting"));
}

static void an_id_in_use_is_refused(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	peer_put_exec(&f->a, 1, ARGV("cat"));
	peer_put_exec(&f->a, 1, ARGV("cat"));
	peer_send(&f->a);
	peer_take_error(&f->a, 0, ERR_PROTOCOL);
	peer_expect_closed(&f->a);
}

static void a_guest_that_misbehaves_ends_its_program(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	for (uint32_t i = 0; i < BAD_MANNERS_COUNT; i++) {
		guest_double_set(f->guest, BAD_MANNERS[i]);
		peer_put_exec(&f->a, i, ARGV("cat"));
		peer_send(&f->a);
		assert_true(loop_wait(f->loop, peer_has_frame, &f->a));
		assert_int_equal(peer_take(&f->a, WIRE_ERROR)->id, i);
	}
	guest_double_set(f->guest, GUEST_BEHAVES);
	peer_put_exec(&f->a, 99, ARGV("exit", "0"));
	peer_send(&f->a);
	peer_take_ok(&f->a, 99);
	peer_take_exit(&f->a, 99);
}

static bool no_programs(void *arg)
{
	struct rig *f = arg;
	return guest_double_programs(f->guest) == 0;
}

static void closing_the_connection_ends_its_programs(void **state)
{
	struct rig *f = *state;
	struct wire_signal sig = {.signum = 15};
	peer_greet(f, &f->a);
	peer_put_exec(&f->a, 1, ARGV("cat"));
	peer_put_exec(&f->a, 2, ARGV("cat"));
	wire_put_signal(&f->a.out, 1, &sig);
	peer_send(&f->a);
	peer_take_ok(&f->a, 1);
	peer_take_ok(&f->a, 2);
	assert_int_equal(guest_double_programs(f->guest), 2);
	loop_settle(f->loop);
	assert_int_equal(guest_double_signal(f->guest), 15);
	peer_close(&f->a);
	assert_true(loop_wait(f->loop, no_programs, f));
}

static void a_client_that_does_not_read_stops_its_program(void **state)
{
	struct rig *f = *state;
	size_t limit = 8 << 20;
	peer_greet(f, &f->a);
	peer_put_exec(&f->a, 1, ARGV("flood", "65536")); /* 64 MiB */
	peer_send(&f->a);
	peer_take_ok(&f->a, 1);
	stream_pause(f->a.stream);
	size_t before;
	do {
		before = guest_double_sent(f->guest);
		loop_settle(f->loop);
	} while (guest_double_sent(f->guest) != before);
	assert_in_range(before, 1, limit); /* some buffers are full, and that is all */
	stream_resume(f->a.stream);
	assert_int_equal(peer_take_exit(&f->a, 1).code, 0);
	assert_int_equal(f->a.stdout_bytes, 64 << 20);
}

static void a_program_that_does_not_read_stops_its_client(void **state)
{
	struct rig *f = *state;
	static uint8_t data[WIRE_DATA_MAX];
	peer_greet(f, &f->a);
	peer_put_exec(&f->a, 1, ARGV("sink"));
	peer_send(&f->a);
	peer_take_ok(&f->a, 1);
	for (int i = 0; i < 200; i++) { /* 12.5 MiB: more than all buffers on the way */
		peer_put_stdin(&f->a, 1, data, sizeof(data));
		peer_send(&f->a);
		loop_settle(f->loop);
	}
	assert_in_range(stream_queued(f->a.stream), 1 << 20, 16 << 20);
	assert_false(f->a.gone);
	/* And yet it is noticed when the client goes: the program ends with it. */
	stream_close(f->a.stream, NULL, NULL);
	f->a.stream = NULL;
	assert_true(loop_wait_flag(f->loop, &f->a.told_gone));
	assert_true(loop_wait(f->loop, no_programs, f));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(a_program_gets_and_gives_bytes),
	    T(a_program_that_is_not_there),
	    T(an_id_in_use_is_refused),
	    T(a_guest_that_misbehaves_ends_its_program),
	    T(closing_the_connection_ends_its_programs),
	    T(a_client_that_does_not_read_stops_its_program),
	    T(a_program_that_does_not_read_stops_its_client),
	};
	return cmocka_run_group_tests_name("supervisor_exec", tests, NULL, NULL);
}
