/* A client's session: phases, status, stop, ping, policy; and that nothing a guest says does more than end its own
 * connection. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/supervisor/board.h"
#include "tests/lib/loop_wait.h"
#include "tests/lib/session_rig.h"

/* ---- hello and phases ---- */

static void another_version_gets_one_readable_refusal(void **state)
{
	struct rig *f = *state;
	struct wire_hello m = {
	    .magic = WIRE_MAGIC, .major = WIRE_MAJOR + 1, .role = "client", .version = "9.9"};
	peer_open(f, &f->a);
	wire_put_hello(&f->a.out, 0, &m);
	wire_put_empty(&f->a.out, WIRE_KILL, 1);
	peer_send(&f->a);
	peer_take(&f->a, WIRE_HELLO);
	struct wire_error said = peer_take_error(&f->a, 0, ERR_PROTOCOL);
	assert_non_null(strstr(said.text, "stop the VM with the version that started it"));
	peer_expect_closed(&f->a);
	assert_int_equal(f->kills, 0); /* what came behind it was not looked at */
}

static void a_request_before_hello_is_refused(void **state)
{
	struct rig *f = *state;
	peer_open(f, &f->a);
	wire_put_empty(&f->a.out, WIRE_KILL, 1);
	peer_send(&f->a);
	peer_take(&f->a, WIRE_HELLO);
	peer_take_error(&f->a, 0, ERR_PROTOCOL);
	peer_expect_closed(&f->a);
	assert_int_equal(f->kills, 0);
}

static void put_bad(struct buf *out, size_t which)
{
	size_t mark;
	struct wire_exit end = {.code = 1};
	struct wire_signal sig = {.signum = 65};
	struct wire_exec exec = {.argv = {.p = (const uint8_t *)"no end", .len = 6}};
	switch (which) {
	case 0: wire_put_my_hello(out, "client"); break; /* twice */
	case 1:                                          /* unknown */
		buf_put_u64(out, 9999);
		buf_put_u32(out, 1);
		break;
	case 2: wire_put_exit(out, 1, &end); break; /* not for a supervisor */
	case 3:                                     /* short */
		mark = frame_begin(out, WIRE_STATUS, 1);
		frame_end(out, mark);
		break;
	case 4: /* over the maximum */
		buf_put_u32(out, 2);
		buf_put_u16(out, WIRE_STATUS);
		buf_put_u16(out, 0);
		buf_put_u32(out, 1);
		break;
	case 5: wire_put_signal(out, 1, &sig); break;
	case 6: wire_put_exec(out, 1, &exec); break; /* a list of strings without an end */
	case 7:                                      /* a flag */
		buf_put_u32(out, 0);
		buf_put_u16(out, WIRE_PING);
		buf_put_u16(out, 1);
		buf_put_u32(out, 1);
		break;
	default: break;
	}
}

static void every_broken_message_ends_the_session(void **state)
{
	struct rig *f = *state;
	for (size_t i = 0; i < 8; i++) {
		memset(&f->a, 0, sizeof(f->a));
		peer_greet(f, &f->a);
		put_bad(&f->a.out, i);
		assert_true(f->a.out.len > 0);
		peer_send(&f->a);
		peer_take_error(&f->a, 0, ERR_PROTOCOL);
		peer_expect_closed(&f->a);
		peer_close(&f->a);
	}
}

static void messages_may_come_byte_by_byte(void **state)
{
	struct rig *f = *state;
	struct wire_status m = {.watch = 0};
	peer_open(f, &f->a);
	wire_put_my_hello(&f->a.out, "client");
	wire_put_status(&f->a.out, 5, &m);
	for (size_t i = 0; i < f->a.out.len; i++) {
		assert_true(stream_send(f->a.stream, f->a.out.data + i, 1));
		loop_settle(f->loop);
	}
	peer_take(&f->a, WIRE_HELLO);
	assert_string_equal(peer_take_status(&f->a).name, "alpha");
}

static void a_client_that_goes_is_noticed(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	stream_close(f->a.stream, NULL, NULL);
	f->a.stream = NULL;
	assert_true(loop_wait_flag(f->loop, &f->a.told_gone));
}

/* ---- status ---- */

static void a_watch_is_told_of_changes_only(void **state)
{
	struct rig *f = *state;
	struct wire_status m = {.watch = 1};
	peer_greet(f, &f->a);
	wire_put_status(&f->a.out, 5, &m);
	peer_send(&f->a);
	assert_int_equal(peer_take_status(&f->a).state, VM_READY);
	loop_settle(f->loop);
	assert_int_equal(f->a.taken, f->a.count); /* nothing more while nothing changes */
	board_edit(f->board)->denied = 3;
	board_changed(f->board);
	assert_int_equal(peer_take_status(&f->a).denied, 3);
	for (int i = 0; i < 1000; i++) { /* many changes at once are told together */
		board_edit(f->board)->denied++;
		board_changed(f->board);
	}
	assert_int_equal(peer_take_status(&f->a).denied, 1003);
	assert_int_equal(f->a.taken, f->a.count);
}

static void the_last_status_reaches_a_slow_watcher(void **state)
{
	struct rig *f = *state;
	struct wire_status m = {.watch = 1};
	peer_greet(f, &f->a);
	wire_put_status(&f->a.out, 5, &m);
	peer_send(&f->a);
	peer_take_status(&f->a);
	m.watch = 0;
	for (int i = 0; i < 5000; i++) /* its answers fill the connection */
		wire_put_status(&f->a.out, 6, &m);
	stream_pause(f->a.stream);
	peer_send(&f->a);
	loop_settle(f->loop);
	rig_set_state(f, VM_FAILED);
	snprintf(board_edit(f->board)->reason, 20, "because");
	board_flush(f->board);
	session_close_told(f->a.session);
	f->a.session = NULL;
	stream_resume(f->a.stream);
	while (peer_take_status(&f->a).state == VM_READY)
		continue;
	assert_string_equal(board_status(f->board)->reason, "because");
	assert_true(loop_wait_flag(f->loop, &f->a.gone));
}

/* ---- stop, kill ---- */

static void stop_is_answered_when_it_is_over(void **state)
{
	struct rig *f = *state;
	struct wire_stop m = {.grace_ms = 1234};
	peer_greet(f, &f->a);
	wire_put_stop(&f->a.out, 7, &m);
	wire_put_empty(&f->a.out, WIRE_KILL, 8);
	peer_send(&f->a);
	loop_settle(f->loop);
	assert_int_equal(f->stops, 1);
	assert_int_equal(f->kills, 1);
	assert_int_equal(f->stop_grace, 1234);
	rig_set_state(f, VM_STOPPING);
	loop_settle(f->loop);
	assert_int_equal(f->a.taken, f->a.count);
	rig_set_state(f, VM_STOPPED);
	assert_string_equal(peer_take_ok(&f->a, 7).text, "stopped");
	peer_take_ok(&f->a, 8);
}

/* ---- ping ---- */

static void ping_asks_both_halves(void **state)
{
	struct rig *f = *state;
	struct wire_pong m;
	struct err e = ERR_INIT;
	peer_greet(f, &f->a);
	wire_put_empty(&f->a.out, WIRE_PING, 3);
	peer_send(&f->a);
	assert_true(wire_get_pong(got_body(peer_take(&f->a, WIRE_PONG)), &m, &e));
	assert_true(m.agent_ok && m.relay_listening && m.vsock_reachable && m.lo_up && m.proxy_ok);
	assert_string_equal(m.text, "");
	assert_int_equal(m.uptime_ms, 1234);
	assert_int_equal(board_status(f->board)->egress, VM_EGRESS_OK);

	guest_double_set(f->guest, GUEST_EGRESS_BROKEN);
	wire_put_empty(&f->a.out, WIRE_PING, 4);
	peer_send(&f->a);
	assert_true(wire_get_pong(got_body(peer_take(&f->a, WIRE_PONG)), &m, &e));
	assert_false(m.relay_listening);
	assert_non_null(strstr(m.text, "relay"));
	assert_int_equal(board_status(f->board)->egress, VM_EGRESS_BROKEN); /* shown to everybody */
	assert_non_null(strstr(board_status(f->board)->reason, "relay"));

	guest_double_set(f->guest, GUEST_BEHAVES);
	fd_close(&f->proxy_fd);
	wire_put_empty(&f->a.out, WIRE_PING, 5);
	peer_send(&f->a);
	assert_true(wire_get_pong(got_body(peer_take(&f->a, WIRE_PONG)), &m, &e));
	assert_false(m.proxy_ok);
	assert_true(m.agent_ok);
	assert_non_null(strstr(m.text, "proxy"));
}

static void a_guest_that_misbehaves_is_only_not_ok(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	for (size_t i = 0; i < BAD_MANNERS_COUNT; i++) {
		struct wire_pong m;
		struct err e = ERR_INIT;
		guest_double_set(f->guest, BAD_MANNERS[i]);
		wire_put_empty(&f->a.out, WIRE_PING, 3);
		peer_send(&f->a);
		assert_true(wire_get_pong(got_body(peer_take(&f->a, WIRE_PONG)), &m, &e));
		assert_false(m.agent_ok);
		assert_true(m.proxy_ok);
		assert_string_not_equal(m.text, "");
	}
	guest_double_set(f->guest, GUEST_BEHAVES);
	wire_put_empty(&f->a.out, WIRE_PING, 3);
	peer_send(&f->a);
	peer_take(&f->a, WIRE_PONG);
	assert_int_equal(board_status(f->board)->egress, VM_EGRESS_OK);
}

/* ---- policy ---- */

static void ask_rule(struct peer *p, uint16_t type, uint32_t id, const char *rule)
{
	struct wire_allow allow;
	struct wire_deny deny;
	snprintf(allow.rule, sizeof(allow.rule), "%s", rule);
	snprintf(deny.rule, sizeof(deny.rule), "%s", rule);
	if (type == WIRE_ALLOW)
		wire_put_allow(&p->out, id, &allow);
	else
		wire_put_deny(&p->out, id, &deny);
	peer_send(p);
}

static void expect_policy(struct rig *f, const char *want)
{
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(f->policy_path, 4096, NULL, &e);
	assert_non_null(text);
	assert_string_equal(text, want);
}

static void a_rule_is_answered_when_it_is_in_force(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	f->proxy_is_deaf = true;
	ask_rule(&f->a, WIRE_ALLOW, 1, "B.Example.");
	loop_settle(f->loop);
	assert_int_equal(f->reloads, 1);
	assert_int_equal(f->a.taken, f->a.count); /* written, but not confirmed yet */
	expect_policy(f, "allow a.example:443\nallow b.example:443\n");
	f->proxy_is_deaf = false;
	rig_answer_reload(f);
	assert_string_equal(peer_take_ok(&f->a, 1).text, "allow b.example:443: in force");
	ask_rule(&f->a, WIRE_ALLOW, 2, "b.example:443");
	assert_non_null(strstr(peer_take_ok(&f->a, 2).text, "nothing to change"));
	assert_int_equal(f->reloads, 1);
	ask_rule(&f->a, WIRE_DENY, 3, "b.example");
	assert_non_null(strstr(peer_take_ok(&f->a, 3).text, "deny b.example:"));
	expect_policy(f, "allow a.example:443\ndeny b.example\n");
}

static void a_refused_rule_changes_nothing(void **state)
{
	struct rig *f = *state;
	static const char *const BAD[] = {
	    "*", "*.example", "127.0.0.1", "a b.example", "", "x.example:0", "x.example\nallow y.example"};
	peer_greet(f, &f->a);
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		ask_rule(&f->a, WIRE_ALLOW, 1, BAD[i]);
		peer_take_error(&f->a, 1, ERR_INVALID);
	}
	expect_policy(f, "allow a.example:443\n");
	assert_int_equal(f->reloads, 0);
	f->proxy_refuses = true;
	ask_rule(&f->a, WIRE_ALLOW, 1, "b.example");
	peer_take_error(&f->a, 1, ERR_INVALID);
	expect_policy(f, "allow a.example:443\n"); /* taken back, and the proxy told */
	assert_int_equal(f->reloads, 2);
	f->proxy_refuses = false;
	f->proxy_is_deaf = true;
	ask_rule(&f->a, WIRE_ALLOW, 2,
	         "c.example"); /* the answer to the taking back does not count for this one */
	loop_settle(f->loop);
	assert_int_equal(f->a.taken, f->a.count);
	assert_int_equal(f->reloads, 3);
	rig_answer_reload(f);
	peer_take_ok(&f->a, 2);
}

static void many_changes_queue_up(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	for (uint32_t i = 0; i < 20; i++) {
		char rule[40];
		snprintf(rule, sizeof(rule), "h%u.example", i);
		ask_rule(&f->a, i % 2 ? WIRE_DENY : WIRE_ALLOW, i, rule);
	}
	for (uint32_t i = 0; i < 20; i++)
		peer_take_ok(&f->a, i);
	assert_int_equal(f->reloads, 20);
}

static void a_client_that_goes_does_not_stop_its_change(void **state)
{
	struct rig *f = *state;
	peer_greet(f, &f->a);
	f->proxy_is_deaf = true;
	ask_rule(&f->a, WIRE_ALLOW, 1, "b.example");
	loop_settle(f->loop);
	peer_close(&f->a);
	rig_answer_reload(f); /* nobody is there to be told */
	expect_policy(f, "allow a.example:443\nallow b.example:443\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(another_version_gets_one_readable_refusal),
	    T(a_request_before_hello_is_refused),
	    T(every_broken_message_ends_the_session),
	    T(messages_may_come_byte_by_byte),
	    T(a_client_that_goes_is_noticed),
	    T(a_watch_is_told_of_changes_only),
	    T(the_last_status_reaches_a_slow_watcher),
	    T(stop_is_answered_when_it_is_over),
	    T(ping_asks_both_halves),
	    T(a_guest_that_misbehaves_is_only_not_ok),
	    T(a_rule_is_answered_when_it_is_in_force),
	    T(a_refused_rule_changes_nothing),
	    T(many_changes_queue_up),
	    T(a_client_that_goes_does_not_stop_its_change),
	};
	return cmocka_run_group_tests_name("supervisor_session", tests, NULL, NULL);
}
