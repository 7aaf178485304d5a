/* A client's session, over a socket pair, with a guest that behaves or not behind it: phases, requests, programs,
 * terminals, back-pressure, policy, and that nothing a guest says does more than end its own connection. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/supervisor/board.h"
#include "core/supervisor/health.h"
#include "core/supervisor/live_policy.h"
#include "core/supervisor/session.h"
#include "core/supervisor/terminals.h"
#include "core/term/keys.h"
#include "core/term/screen.h"
#include "core/term/snapshot.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"
#include "tests/lib/guest_double.h"
#include "tests/lib/loop_wait.h"

#define MOST_FRAMES 6000

struct got {
	uint16_t type;
	uint32_t id;
	uint8_t *body;
	size_t len;
};

/* The client's end of a session. */
struct peer {
	struct fixture *f;
	struct session *session;
	struct stream *stream;
	struct frame_reader frames;
	struct buf out;
	struct got got[MOST_FRAMES];
	size_t count, taken;
	size_t stdout_bytes; /* not kept, only counted */
	bool gone;           /* the session has closed */
	bool told_gone;      /* it said so to its owner */
};

struct fixture {
	struct loop *loop;
	char dir[32];
	char *vsock, *policy_path, *proxy;
	struct guest_double *guest;
	int proxy_fd; /* listens: the proxy answers */
	struct board *board;
	struct health *health;
	struct live_policy *policy;
	struct terminals *terminals;
	struct session_host host;
	struct peer a, b;
	unsigned reloads;
	bool proxy_is_deaf, proxy_refuses;
	uint32_t stop_grace;
	unsigned stops, kills;
	enum vm_state want_state;
};

/* How a guest can break the protocol. */
static const enum guest_manners BAD_MANNERS[] = {
    GUEST_REFUSES_PORT, GUEST_ANSWERS_NONSENSE, GUEST_OTHER_VERSION,   GUEST_WRONG_ID,
    GUEST_UNKNOWN_TYPE, GUEST_SHORT_BODY,       GUEST_CONTROL_MESSAGE, GUEST_HANGS_UP};

/* ---- the session's surroundings ---- */

static void answer_reload(void *arg)
{
	struct fixture *f = arg;
	live_policy_proxy_line(f->policy, f->proxy_refuses ? "policy error no such thing" : "policy ok 1");
}

static void tell_proxy(void *arg)
{
	struct fixture *f = arg;
	f->reloads++;
	if (!f->proxy_is_deaf)
		loop_defer(f->loop, answer_reload, f);
}

static void on_stop(void *arg, uint32_t grace_ms)
{
	struct fixture *f = arg;
	f->stops++;
	f->stop_grace = grace_ms;
}

static void on_kill(void *arg)
{
	struct fixture *f = arg;
	f->kills++;
}

static void set_state(struct fixture *f, enum vm_state s)
{
	board_edit(f->board)->state = s;
	board_changed(f->board);
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	struct err e = ERR_INIT;
	struct vm_status status = {.name = "alpha", .state = VM_READY, .image = "base", .generation = 1};
	strcpy(f->dir, "/tmp/ccvm-session-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->vsock = mem_printf("%s/vsock.sock", f->dir);
	f->proxy = mem_printf("%s/proxy.sock", f->dir);
	f->policy_path = mem_printf("%s/policy", f->dir);
	assert_true(fd_write_file(f->policy_path, "allow a.example:443\n", 20, 0600, &e));
	f->loop = loop_create();
	f->guest = guest_double_open(f->loop, f->vsock);
	f->proxy_fd = fd_unix_listen(f->proxy, &e);
	assert_true(f->proxy_fd >= 0);
	f->board = board_create(f->loop, &status);
	f->health = health_create(f->loop, f->board, f->vsock, f->proxy);
	f->policy = live_policy_create(f->loop, f->policy_path, tell_proxy, f);
	f->terminals = terminals_create(f->loop, f->vsock, NULL, NULL);
	f->host = (struct session_host){.loop = f->loop,
	                                .board = f->board,
	                                .health = f->health,
	                                .policy = f->policy,
	                                .terminals = f->terminals,
	                                .vsock_path = f->vsock,
	                                .on_stop = on_stop,
	                                .on_kill = on_kill,
	                                .arg = f};
	*state = f;
	return 0;
}

static void close_peer(struct peer *p)
{
	if (!p->f)
		return;
	session_close(p->session);
	stream_close(p->stream, NULL, NULL);
	frame_reader_finish(&p->frames);
	buf_finish(&p->out);
	for (size_t i = 0; i < p->count; i++)
		free(p->got[i].body);
	p->f = NULL;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	close_peer(&f->a);
	close_peer(&f->b);
	loop_settle(f->loop);
	terminals_destroy(f->terminals);
	live_policy_destroy(f->policy);
	health_destroy(f->health);
	board_destroy(f->board);
	guest_double_close(f->guest);
	loop_settle(f->loop);
	loop_destroy(f->loop);
	close(f->proxy_fd);
	assert_true(fd_remove_tree(f->dir, &e));
	free(f->vsock);
	free(f->proxy);
	free(f->policy_path);
	free(f);
	return 0;
}

/* ---- the client ---- */

static bool on_frame(void *arg, const struct frame *frame)
{
	struct peer *p = arg;
	if (frame->type == WIRE_STDOUT) {
		p->stdout_bytes += frame->body.len - 4;
		return true;
	}
	assert_true(p->count < MOST_FRAMES);
	p->got[p->count++] = (struct got){.type = frame->type,
	                                  .id = frame->id,
	                                  .body = mem_copy(frame->body.p, MAX(frame->body.len, 1)),
	                                  .len = frame->body.len};
	return true;
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct peer *p = arg;
	struct err e = ERR_INIT;
	assert_int_equal(frame_feed(&p->frames, bytes, len, on_frame, p, &e), FRAME_MORE);
}

static void on_eof(void *arg)
{
	struct peer *p = arg;
	p->gone = true;
}

static void on_error(void *arg, const struct err *e)
{
	(void)e;
	on_eof(arg);
}

static const struct stream_ops PEER_OPS = {.on_data = on_data, .on_eof = on_eof, .on_error = on_error};

static void on_session_gone(void *arg, struct session *s)
{
	struct peer *p = arg;
	assert_ptr_equal(p->session, s);
	p->told_gone = true;
	p->session = NULL;
	session_close(s);
}

static void open_peer(struct fixture *f, struct peer *p)
{
	int fds[2];
	struct err e = ERR_INIT;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
	p->f = f;
	frame_reader_init(&p->frames);
	buf_init(&p->out, 8 << 20);
	p->stream = stream_open(f->loop, fds[0], &PEER_OPS, p, &e);
	assert_non_null(p->stream);
	stream_resume(p->stream);
	p->session = session_open(&f->host, fds[1], on_session_gone, p, &e);
	assert_non_null(p->session);
}

static void send_out(struct peer *p)
{
	assert_true(stream_send(p->stream, p->out.data, p->out.len));
	buf_clear(&p->out);
}

static bool has_frame(void *arg)
{
	struct peer *p = arg;
	return p->taken < p->count || p->gone;
}

static const struct got *take(struct peer *p, uint16_t type)
{
	assert_true(loop_wait(p->f->loop, has_frame, p));
	if (p->taken == p->count)
		fail_msg("closed instead of %s", wire_type_name(type));
	const struct got *g = &p->got[p->taken++];
	if (g->type != type) {
		char text[300];
		wire_dump(text, sizeof(text), g->type, (struct bytes){.p = g->body, .len = g->len});
		fail_msg("%s instead of %s", text, wire_type_name(type));
	}
	return g;
}

static struct bytes body_of(const struct got *g)
{
	return (struct bytes){.p = g->body, .len = g->len};
}

static struct wire_error take_error(struct peer *p, uint32_t id, enum err_kind kind)
{
	struct wire_error m;
	struct err e = ERR_INIT;
	const struct got *g = take(p, WIRE_ERROR);
	assert_true(wire_get_error(body_of(g), &m, &e));
	if (m.kind != kind || g->id != id)
		fail_msg("error %u of id %u: %s", m.kind, g->id, m.text);
	return m;
}

static struct wire_ok take_ok(struct peer *p, uint32_t id)
{
	struct wire_ok m;
	struct err e = ERR_INIT;
	const struct got *g = take(p, WIRE_OK);
	assert_true(wire_get_ok(body_of(g), &m, &e));
	assert_int_equal(g->id, id);
	return m;
}

static struct wire_status_reply take_status(struct peer *p)
{
	struct wire_status_reply m;
	struct err e = ERR_INIT;
	assert_true(wire_get_status_reply(body_of(take(p, WIRE_STATUS_REPLY)), &m, &e));
	return m;
}

static struct wire_exit take_exit(struct peer *p, uint32_t id)
{
	struct wire_exit m;
	struct err e = ERR_INIT;
	const struct got *g = take(p, WIRE_EXIT);
	assert_true(wire_get_exit(body_of(g), &m, &e));
	assert_int_equal(g->id, id);
	return m;
}

static void expect_closed(struct peer *p)
{
	assert_true(loop_wait_flag(p->f->loop, &p->gone));
	assert_int_equal(p->taken, p->count);
	assert_true(p->told_gone);
}

static void greet(struct fixture *f, struct peer *p)
{
	open_peer(f, p);
	wire_put_my_hello(&p->out, "client");
	send_out(p);
	take(p, WIRE_HELLO);
}

static void put_exec(struct peer *p, uint32_t id, const char *const *argv)
{
	struct buf packed = BUF_INIT(1024);
	assert_true(wire_pack_strings(&packed, argv));
	struct wire_exec m = {.argv = {.p = packed.data, .len = packed.len}};
	wire_put_exec(&p->out, id, &m);
	buf_finish(&packed);
}

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void put_stdin(struct peer *p, uint32_t id, const void *bytes, size_t len)
{
	struct wire_stdin_data m = {.data = {.p = bytes, .len = len}};
	wire_put_stdin_data(&p->out, id, &m);
}

/* ---- hello and phases ---- */

static void another_version_gets_one_readable_refusal(void **state)
{
	struct fixture *f = *state;
	struct wire_hello m = {.magic = WIRE_MAGIC, .major = 2, .role = "client", .version = "9.9"};
	open_peer(f, &f->a);
	wire_put_hello(&f->a.out, 0, &m);
	wire_put_empty(&f->a.out, WIRE_KILL, 1);
	send_out(&f->a);
	take(&f->a, WIRE_HELLO);
	struct wire_error said = take_error(&f->a, 0, ERR_PROTOCOL);
	assert_non_null(strstr(said.text, "stop the VM with the version that started it"));
	expect_closed(&f->a);
	assert_int_equal(f->kills, 0); /* what came behind it was not looked at */
}

static void a_request_before_hello_is_refused(void **state)
{
	struct fixture *f = *state;
	open_peer(f, &f->a);
	wire_put_empty(&f->a.out, WIRE_KILL, 1);
	send_out(&f->a);
	take(&f->a, WIRE_HELLO);
	take_error(&f->a, 0, ERR_PROTOCOL);
	expect_closed(&f->a);
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
	struct fixture *f = *state;
	for (size_t i = 0; i < 8; i++) {
		memset(&f->a, 0, sizeof(f->a));
		greet(f, &f->a);
		put_bad(&f->a.out, i);
		assert_true(f->a.out.len > 0);
		send_out(&f->a);
		take_error(&f->a, 0, ERR_PROTOCOL);
		expect_closed(&f->a);
		close_peer(&f->a);
	}
}

static void messages_may_come_byte_by_byte(void **state)
{
	struct fixture *f = *state;
	struct wire_status m = {.watch = 0};
	open_peer(f, &f->a);
	wire_put_my_hello(&f->a.out, "client");
	wire_put_status(&f->a.out, 5, &m);
	for (size_t i = 0; i < f->a.out.len; i++) {
		assert_true(stream_send(f->a.stream, f->a.out.data + i, 1));
		loop_settle(f->loop);
	}
	take(&f->a, WIRE_HELLO);
	assert_string_equal(take_status(&f->a).name, "alpha");
}

static void a_client_that_goes_is_noticed(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	stream_close(f->a.stream, NULL, NULL);
	f->a.stream = NULL;
	assert_true(loop_wait_flag(f->loop, &f->a.told_gone));
}

/* ---- status ---- */

static void a_watch_is_told_of_changes_only(void **state)
{
	struct fixture *f = *state;
	struct wire_status m = {.watch = 1};
	greet(f, &f->a);
	wire_put_status(&f->a.out, 5, &m);
	send_out(&f->a);
	assert_int_equal(take_status(&f->a).state, VM_READY);
	loop_settle(f->loop);
	assert_int_equal(f->a.taken, f->a.count); /* nothing more while nothing changes */
	board_edit(f->board)->denied = 3;
	board_changed(f->board);
	assert_int_equal(take_status(&f->a).denied, 3);
	for (int i = 0; i < 1000; i++) { /* many changes at once are told together */
		board_edit(f->board)->denied++;
		board_changed(f->board);
	}
	assert_int_equal(take_status(&f->a).denied, 1003);
	assert_int_equal(f->a.taken, f->a.count);
}

static void the_last_status_reaches_a_slow_watcher(void **state)
{
	struct fixture *f = *state;
	struct wire_status m = {.watch = 1};
	greet(f, &f->a);
	wire_put_status(&f->a.out, 5, &m);
	send_out(&f->a);
	take_status(&f->a);
	m.watch = 0;
	for (int i = 0; i < 5000; i++) /* its answers fill the connection */
		wire_put_status(&f->a.out, 6, &m);
	stream_pause(f->a.stream);
	send_out(&f->a);
	loop_settle(f->loop);
	set_state(f, VM_FAILED);
	snprintf(board_edit(f->board)->reason, 20, "because");
	board_flush(f->board);
	session_close_told(f->a.session);
	f->a.session = NULL;
	stream_resume(f->a.stream);
	while (take_status(&f->a).state == VM_READY)
		continue;
	assert_string_equal(board_status(f->board)->reason, "because");
	assert_true(loop_wait_flag(f->loop, &f->a.gone));
}

/* ---- stop, kill ---- */

static void stop_is_answered_when_it_is_over(void **state)
{
	struct fixture *f = *state;
	struct wire_stop m = {.grace_ms = 1234};
	greet(f, &f->a);
	wire_put_stop(&f->a.out, 7, &m);
	wire_put_empty(&f->a.out, WIRE_KILL, 8);
	send_out(&f->a);
	loop_settle(f->loop);
	assert_int_equal(f->stops, 1);
	assert_int_equal(f->kills, 1);
	assert_int_equal(f->stop_grace, 1234);
	set_state(f, VM_STOPPING);
	loop_settle(f->loop);
	assert_int_equal(f->a.taken, f->a.count);
	set_state(f, VM_STOPPED);
	assert_string_equal(take_ok(&f->a, 7).text, "stopped");
	take_ok(&f->a, 8);
}

/* ---- ping ---- */

static void ping_asks_both_halves(void **state)
{
	struct fixture *f = *state;
	struct wire_pong m;
	struct err e = ERR_INIT;
	greet(f, &f->a);
	wire_put_empty(&f->a.out, WIRE_PING, 3);
	send_out(&f->a);
	assert_true(wire_get_pong(body_of(take(&f->a, WIRE_PONG)), &m, &e));
	assert_true(m.agent_ok && m.relay_listening && m.vsock_reachable && m.lo_up && m.proxy_ok);
	assert_string_equal(m.text, "");
	assert_int_equal(m.uptime_ms, 1234);
	assert_int_equal(board_status(f->board)->egress, VM_EGRESS_OK);

	guest_double_set(f->guest, GUEST_EGRESS_BROKEN);
	wire_put_empty(&f->a.out, WIRE_PING, 4);
	send_out(&f->a);
	assert_true(wire_get_pong(body_of(take(&f->a, WIRE_PONG)), &m, &e));
	assert_false(m.relay_listening);
	assert_non_null(strstr(m.text, "relay"));
	assert_int_equal(board_status(f->board)->egress, VM_EGRESS_BROKEN); /* shown to everybody */
	assert_non_null(strstr(board_status(f->board)->reason, "relay"));

	guest_double_set(f->guest, GUEST_BEHAVES);
	fd_close(&f->proxy_fd);
	wire_put_empty(&f->a.out, WIRE_PING, 5);
	send_out(&f->a);
	assert_true(wire_get_pong(body_of(take(&f->a, WIRE_PONG)), &m, &e));
	assert_false(m.proxy_ok);
	assert_true(m.agent_ok);
	assert_non_null(strstr(m.text, "proxy"));
}

static void a_guest_that_misbehaves_is_only_not_ok(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	for (size_t i = 0; i < ARRAY_LEN(BAD_MANNERS); i++) {
		struct wire_pong m;
		struct err e = ERR_INIT;
		guest_double_set(f->guest, BAD_MANNERS[i]);
		wire_put_empty(&f->a.out, WIRE_PING, 3);
		send_out(&f->a);
		assert_true(wire_get_pong(body_of(take(&f->a, WIRE_PONG)), &m, &e));
		assert_false(m.agent_ok);
		assert_true(m.proxy_ok);
		assert_string_not_equal(m.text, "");
	}
	guest_double_set(f->guest, GUEST_BEHAVES);
	wire_put_empty(&f->a.out, WIRE_PING, 3);
	send_out(&f->a);
	take(&f->a, WIRE_PONG);
	assert_int_equal(board_status(f->board)->egress, VM_EGRESS_OK);
}

/* ---- policy ---- */

static void ask_rule(struct peer *p, uint16_t type, uint32_t id, const char *rule)
{
	struct wire_allow m;
	snprintf(m.rule, sizeof(m.rule), "%s", rule);
	if (type == WIRE_ALLOW)
		wire_put_allow(&p->out, id, &m);
	else
		wire_put_deny(&p->out, id, &(struct wire_deny){.rule = ""}), p->out.len = 0;
	if (type == WIRE_DENY) {
		struct wire_deny d;
		snprintf(d.rule, sizeof(d.rule), "%s", rule);
		wire_put_deny(&p->out, id, &d);
	}
	send_out(p);
}

static void expect_policy(struct fixture *f, const char *want)
{
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(f->policy_path, 4096, NULL, &e);
	assert_non_null(text);
	assert_string_equal(text, want);
}

static void a_rule_is_answered_when_it_is_in_force(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	f->proxy_is_deaf = true;
	ask_rule(&f->a, WIRE_ALLOW, 1, "B.Example.");
	loop_settle(f->loop);
	assert_int_equal(f->reloads, 1);
	assert_int_equal(f->a.taken, f->a.count); /* written, but not confirmed yet */
	expect_policy(f, "allow a.example:443\nallow b.example:443\n");
	f->proxy_is_deaf = false;
	answer_reload(f);
	assert_string_equal(take_ok(&f->a, 1).text, "allow b.example:443: in force");
	ask_rule(&f->a, WIRE_ALLOW, 2, "b.example:443");
	assert_non_null(strstr(take_ok(&f->a, 2).text, "nothing to change"));
	assert_int_equal(f->reloads, 1);
	ask_rule(&f->a, WIRE_DENY, 3, "b.example");
	assert_non_null(strstr(take_ok(&f->a, 3).text, "deny b.example:"));
	expect_policy(f, "allow a.example:443\ndeny b.example\n");
}

static void a_refused_rule_changes_nothing(void **state)
{
	struct fixture *f = *state;
	static const char *const BAD[] = {
	    "*", "*.example", "127.0.0.1", "a b.example", "", "x.example:0", "x.example\nallow y.example"};
	greet(f, &f->a);
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		ask_rule(&f->a, WIRE_ALLOW, 1, BAD[i]);
		take_error(&f->a, 1, ERR_INVALID);
	}
	expect_policy(f, "allow a.example:443\n");
	assert_int_equal(f->reloads, 0);
	f->proxy_refuses = true;
	ask_rule(&f->a, WIRE_ALLOW, 1, "b.example");
	take_error(&f->a, 1, ERR_INVALID);
	expect_policy(f, "allow a.example:443\n"); /* taken back, and the proxy told */
	assert_int_equal(f->reloads, 2);
	f->proxy_refuses = false;
	f->proxy_is_deaf = true;
	ask_rule(&f->a, WIRE_ALLOW, 2,
	         "c.example"); /* the answer to the taking back does not count for this one */
	loop_settle(f->loop);
	assert_int_equal(f->a.taken, f->a.count);
	assert_int_equal(f->reloads, 3);
	answer_reload(f);
	take_ok(&f->a, 2);
}

static void many_changes_queue_up(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	for (uint32_t i = 0; i < 20; i++) {
		char rule[40];
		snprintf(rule, sizeof(rule), "h%u.example", i);
		ask_rule(&f->a, i % 2 ? WIRE_DENY : WIRE_ALLOW, i, rule);
	}
	for (uint32_t i = 0; i < 20; i++)
		take_ok(&f->a, i);
	assert_int_equal(f->reloads, 20);
}

static void a_client_that_goes_does_not_stop_its_change(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	f->proxy_is_deaf = true;
	ask_rule(&f->a, WIRE_ALLOW, 1, "b.example");
	loop_settle(f->loop);
	close_peer(&f->a);
	answer_reload(f); /* nobody is there to be told */
	expect_policy(f, "allow a.example:443\nallow b.example:443\n");
}

/* ---- programs ---- */

static void a_program_gets_and_gives_bytes(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	put_exec(&f->a, 77, ARGV("cat"));
	put_stdin(&f->a, 77, "hello", 5);
	wire_put_empty(&f->a.out, WIRE_STDIN_EOF, 77);
	send_out(&f->a);
	take_ok(&f->a, 77);
	struct wire_exit end = take_exit(&f->a, 77);
	assert_int_equal(end.code, 0);
	assert_int_equal(f->a.stdout_bytes, 5);
	put_exec(&f->a, 77, ARGV("exit", "3")); /* the id is free again */
	send_out(&f->a);
	take_ok(&f->a, 77);
	assert_int_equal(take_exit(&f->a, 77).code, 3);
	put_stdin(&f->a, 77, "late", 4); /* is dropped */
	send_out(&f->a);
	loop_settle(f->loop);
	assert_false(f->a.gone);
}

static void a_program_that_is_not_there(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	put_exec(&f->a, 1, ARGV("missing"));
	send_out(&f->a);
	struct wire_error said = take_error(&f->a, 1, ERR_NOT_FOUND);
	assert_string_equal(said.text, "missing: no such program\\x1b[31m"); /* the guest's text, escaped */
	put_exec(&f->a, 2, (const char *const[]){NULL});
	send_out(&f->a);
	take_error(&f->a, 2, ERR_INVALID);
	set_state(f, VM_BOOTING);
	put_exec(&f->a, 3, ARGV("cat"));
	send_out(&f->a);
	assert_non_null(strstr(take_error(&f->a, 3, ERR_INVALID).text, "is booting"));
}

static void an_id_in_use_is_refused(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	put_exec(&f->a, 1, ARGV("cat"));
	put_exec(&f->a, 1, ARGV("cat"));
	send_out(&f->a);
	take_error(&f->a, 0, ERR_PROTOCOL);
	expect_closed(&f->a);
}

static void a_guest_that_misbehaves_ends_its_program(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	for (uint32_t i = 0; i < ARRAY_LEN(BAD_MANNERS); i++) {
		guest_double_set(f->guest, BAD_MANNERS[i]);
		put_exec(&f->a, i, ARGV("cat"));
		send_out(&f->a);
		assert_true(loop_wait(f->loop, has_frame, &f->a));
		assert_int_equal(take(&f->a, WIRE_ERROR)->id, i);
	}
	guest_double_set(f->guest, GUEST_BEHAVES);
	put_exec(&f->a, 99, ARGV("exit", "0"));
	send_out(&f->a);
	take_ok(&f->a, 99);
	take_exit(&f->a, 99);
}

static bool no_programs(void *arg)
{
	struct fixture *f = arg;
	return guest_double_programs(f->guest) == 0;
}

static void closing_the_connection_ends_its_programs(void **state)
{
	struct fixture *f = *state;
	struct wire_signal sig = {.signum = 15};
	greet(f, &f->a);
	put_exec(&f->a, 1, ARGV("cat"));
	put_exec(&f->a, 2, ARGV("cat"));
	wire_put_signal(&f->a.out, 1, &sig);
	send_out(&f->a);
	take_ok(&f->a, 1);
	take_ok(&f->a, 2);
	assert_int_equal(guest_double_programs(f->guest), 2);
	loop_settle(f->loop);
	assert_int_equal(guest_double_signal(f->guest), 15);
	close_peer(&f->a);
	assert_true(loop_wait(f->loop, no_programs, f));
}

static void a_client_that_does_not_read_stops_its_program(void **state)
{
	struct fixture *f = *state;
	size_t limit = 8 << 20;
	greet(f, &f->a);
	put_exec(&f->a, 1, ARGV("flood", "65536")); /* 64 MiB */
	send_out(&f->a);
	take_ok(&f->a, 1);
	stream_pause(f->a.stream);
	size_t before;
	do {
		before = guest_double_sent(f->guest);
		loop_settle(f->loop);
	} while (guest_double_sent(f->guest) != before);
	assert_in_range(before, 1, limit); /* some buffers are full, and that is all */
	stream_resume(f->a.stream);
	assert_int_equal(take_exit(&f->a, 1).code, 0);
	assert_int_equal(f->a.stdout_bytes, 64 << 20);
}

static void a_program_that_does_not_read_stops_its_client(void **state)
{
	struct fixture *f = *state;
	static uint8_t data[WIRE_DATA_MAX];
	greet(f, &f->a);
	put_exec(&f->a, 1, ARGV("sink"));
	send_out(&f->a);
	take_ok(&f->a, 1);
	for (int i = 0; i < 200; i++) { /* 12.5 MiB: more than all buffers on the way */
		put_stdin(&f->a, 1, data, sizeof(data));
		send_out(&f->a);
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

/* ---- terminals ---- */

static void open_term(struct peer *p, uint32_t id, uint32_t term, uint16_t rows, uint16_t cols)
{
	struct wire_term_open m = {.term = term, .rows = rows, .cols = cols};
	wire_put_term_open(&p->out, id, &m);
	send_out(p);
}

static uint32_t take_opened(struct peer *p, uint32_t id)
{
	struct wire_term_opened m;
	struct err e = ERR_INIT;
	const struct got *g = take(p, WIRE_TERM_OPENED);
	assert_true(wire_get_term_opened(body_of(g), &m, &e));
	assert_int_equal(g->id, id);
	return m.term;
}

/* The next message that is no screen. */
static const struct got *take_after_screens(struct peer *p, uint16_t type)
{
	do {
		assert_true(loop_wait(p->f->loop, has_frame, p));
		p->taken += p->taken < p->count && p->got[p->taken].type == WIRE_TERM_SCREEN;
	} while (p->taken == p->count || p->got[p->taken].type == WIRE_TERM_SCREEN);
	return take(p, type);
}

/* Applies what comes until the first row reads `want`. */
static void wait_row(struct peer *p, struct screen *screen, const char *want)
{
	struct str row = STR_INIT(4096);
	do {
		struct wire_term_screen m;
		struct err e = ERR_INIT;
		assert_true(wire_get_term_screen(body_of(take(p, WIRE_TERM_SCREEN)), &m, &e));
		if (!snapshot_apply(screen, m.update, &e))
			fail_msg("%s", e.msg);
		str_clear(&row);
		screen_row_text(screen, 0, &row);
	} while (strcmp(row.s, want) != 0);
	str_finish(&row);
}

static void type_text(struct peer *p, uint32_t term, const char *text)
{
	struct wire_term_text m = {.term = term, .text = {.p = (const uint8_t *)text, .len = strlen(text)}};
	wire_put_term_text(&p->out, term, &m);
	send_out(p);
}

static void a_terminal_is_opened_typed_into_and_ends(void **state)
{
	struct fixture *f = *state;
	struct wire_term_closed closed;
	struct err e = ERR_INIT;
	struct screen screen;
	screen_init(&screen, 1, 2);
	greet(f, &f->a);
	open_term(&f->a, 9, 0, 30, 100);
	uint32_t term = take_opened(&f->a, 9);
	wait_row(&f->a, &screen, "30x100$");
	assert_int_equal(screen.rows, 30);
	assert_int_equal(screen.cols, 100);
	type_text(&f->a, term, "ls");
	wait_row(&f->a, &screen, "30x100$ ls");
	struct wire_term_key key = {.term = term, .key = 'x', .mods = 0};
	wire_put_term_key(&f->a.out, 0, &key);
	send_out(&f->a);
	wait_row(&f->a, &screen, "30x100$ lsx");
	type_text(&f->a, term, "\n");
	const struct got *g = take_after_screens(&f->a, WIRE_TERM_CLOSED);
	assert_true(wire_get_term_closed(body_of(g), &closed, &e));
	assert_int_equal(closed.term, term);
	assert_int_equal(closed.code, 7);
	open_term(&f->a, 10, 0, 24, 80); /* forgotten: a new one is started */
	assert_int_not_equal(take_opened(&f->a, 10), term);
	screen_finish(&screen);
}

static void two_watch_one_terminal(void **state)
{
	struct fixture *f = *state;
	struct screen a, b;
	screen_init(&a, 1, 2);
	screen_init(&b, 1, 2);
	greet(f, &f->a);
	greet(f, &f->b);
	open_term(&f->a, 1, 0, 24, 80);
	uint32_t term = take_opened(&f->a, 1);
	wait_row(&f->a, &a, "24x80$");
	open_term(&f->b, 1, 0, 0, 0); /* does not care for the size */
	assert_int_equal(take_opened(&f->b, 1), term);
	wait_row(&f->b, &b, "24x80$"); /* a late watcher gets the whole screen */
	type_text(&f->b, term, "hi");
	wait_row(&f->a, &a, "24x80$ hi");
	wait_row(&f->b, &b, "24x80$ hi");
	struct wire_term_resize m = {.term = term, .rows = 10, .cols = 40};
	wire_put_term_resize(&f->b.out, 0, &m);
	send_out(&f->b);
	wait_row(&f->a, &a, "24x80$ hi10x40$");
	assert_int_equal(a.cols, 40);
	type_text(&f->a, term, "."); /* back to the size of the one who types */
	wait_row(&f->a, &a, "24x80$ hi10x40$ 24x80$ .");
	assert_int_equal(a.cols, 80);
	struct wire_term_leave leave = {.term = term};
	wire_put_term_leave(&f->b.out, 0, &leave);
	send_out(&f->b);
	loop_settle(f->loop);
	size_t count = f->b.count;
	type_text(&f->a, term, ".");
	wait_row(&f->a, &a, "24x80$ hi10x40$ 24x80$ ..");
	assert_int_equal(f->b.count, count);
	close_peer(&f->a); /* the terminal goes on */
	assert_int_equal(guest_double_programs(f->guest), 1);
	screen_finish(&a);
	screen_finish(&b);
}

static void terminals_that_cannot_be_opened(void **state)
{
	struct fixture *f = *state;
	greet(f, &f->a);
	open_term(&f->a, 1, 5, 24, 80);
	take_error(&f->a, 1, ERR_NOT_FOUND);
	open_term(&f->a, 2, 0, 24, 80);
	take_opened(&f->a, 2);
	open_term(&f->a, 3, 0, 24, 80);
	assert_int_equal(take_after_screens(&f->a, WIRE_ERROR)->id, 3);
	for (uint32_t i = 0; i < ARRAY_LEN(BAD_MANNERS); i++) {
		guest_double_set(f->guest, BAD_MANNERS[i]);
		open_term(&f->a, 100 + i, WIRE_TERM_NEW, 24, 80);
		assert_int_equal(take_after_screens(&f->a, WIRE_ERROR)->id, 100 + i);
	}
}

/* A screen that changes all the time while its watcher does not read: what is made then is little, and what comes when
 * it reads again is the newest. */
static void a_slow_watcher_gets_the_newest(void **state)
{
	struct fixture *f = *state;
	struct screen screen;
	static char fill[150 * 800];
	screen_init(&screen, 1, 2);
	greet(f, &f->a);
	open_term(&f->a, 1, 0, 150, 800); /* an update has some 60 KB */
	take_opened(&f->a, 1);
	wait_row(&f->a, &screen, "150x800$");
	stream_pause(f->a.stream);
	uint64_t end = clock_mono_ms() + 800; /* time for 50 frames, if they were made */
	for (unsigned i = 0; clock_mono_ms() < end; i++) {
		for (size_t k = 0; k < sizeof(fill); k++)
			fill[k] = (char)('a' + (k * 7 + i) % 26);
		guest_double_write(f->guest, "\x1b[H", 3);
		guest_double_write(f->guest, fill, sizeof(fill) / 2);
		guest_double_write(f->guest, fill + sizeof(fill) / 2, sizeof(fill) / 2);
		do
			loop_turn(f->loop, true);
		while (guest_double_unread(f->guest));
	}
	guest_double_write(f->guest, "\x1b[H\x1b[2Jthe end", 14);
	loop_settle(f->loop);
	size_t before = f->a.count;
	stream_resume(f->a.stream);
	wait_row(&f->a, &screen, "the end");
	assert_in_range(f->a.count - before, 1, 15); /* as many as fit in the buffers on the way */
	screen_finish(&screen);
}

static void a_flood_is_read_in_pieces(void **state)
{
	struct fixture *f = *state;
	static char fill[16 * 1024];
	memset(fill, 'y', sizeof(fill));
	greet(f, &f->a);
	open_term(&f->a, 1, 0, 24, 80);
	take_opened(&f->a, 1);
	loop_settle(f->loop);
	for (int i = 0; i < 10; i++)
		guest_double_write(f->guest, fill, sizeof(fill));
	size_t all = guest_double_unread(f->guest), left;
	while ((left = guest_double_unread(f->guest)) == all)
		loop_turn(f->loop, true);
	assert_in_range(left, 1, all - 1); /* one turn of the loop did not take it all: others had theirs */
	for (int turns = 0; guest_double_unread(f->guest); turns++) {
		assert_in_range(turns, 0, 1000);
		loop_turn(f->loop, true);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
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
	    T(a_program_gets_and_gives_bytes),
	    T(a_program_that_is_not_there),
	    T(an_id_in_use_is_refused),
	    T(a_guest_that_misbehaves_ends_its_program),
	    T(closing_the_connection_ends_its_programs),
	    T(a_client_that_does_not_read_stops_its_program),
	    T(a_program_that_does_not_read_stops_its_client),
	    T(a_terminal_is_opened_typed_into_and_ends),
	    T(two_watch_one_terminal),
	    T(terminals_that_cannot_be_opened),
	    T(a_slow_watcher_gets_the_newest),
	    T(a_flood_is_read_in_pieces),
	};
	return cmocka_run_group_tests_name("supervisor_session", tests, NULL, NULL);
}
