#include "tests/lib/session_rig.h"

#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/supervisor/board.h"
#include "core/supervisor/health.h"
#include "core/supervisor/live_policy.h"
#include "core/supervisor/lookout.h"
#include "core/supervisor/terminals.h"
#include "tests/lib/loop_wait.h"

const enum guest_manners BAD_MANNERS[BAD_MANNERS_COUNT] = {
    GUEST_REFUSES_PORT, GUEST_ANSWERS_NONSENSE, GUEST_OTHER_VERSION,   GUEST_WRONG_ID,
    GUEST_UNKNOWN_TYPE, GUEST_SHORT_BODY,       GUEST_CONTROL_MESSAGE, GUEST_HANGS_UP};

/* ---- the session's surroundings ---- */

void rig_answer_reload(void *arg)
{
	struct rig *f = arg;
	live_policy_proxy_line(f->policy, f->proxy_refuses ? "policy error no such thing" : "policy ok 1");
}

static void tell_proxy(void *arg)
{
	struct rig *f = arg;
	f->reloads++;
	if (!f->proxy_is_deaf)
		loop_defer(f->loop, rig_answer_reload, f);
}

static void on_stop(void *arg, uint32_t grace_ms)
{
	struct rig *f = arg;
	f->stops++;
	f->stop_grace = grace_ms;
}

static void on_kill(void *arg)
{
	struct rig *f = arg;
	f->kills++;
}

static void on_pause(void *arg, bool paused)
{
	struct rig *f = arg;
	f->pauses += paused;
	f->resumes += !paused;
}

static void on_seen(void *arg, bool attention, bool denied)
{
	struct rig *f = arg;
	f->seen_attention |= attention;
	if (attention)
		lookout_seen(f->lookout);
	f->seen_denied |= denied;
}

void rig_set_state(struct rig *f, enum vm_state s)
{
	board_edit(f->board)->state = s;
	board_changed(f->board);
}

int rig_setup(void **state)
{
	struct rig *f = mem_alloc(sizeof(*f));
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
	f->lookout = lookout_create(f->loop, f->board);
	f->terminals = terminals_create(f->loop, f->board, f->vsock, &LOOKOUT_TERMINALS, f->lookout);
	f->host = (struct session_host){.loop = f->loop,
	                                .board = f->board,
	                                .health = f->health,
	                                .policy = f->policy,
	                                .terminals = f->terminals,
	                                .vsock_path = f->vsock,
	                                .on_stop = on_stop,
	                                .on_kill = on_kill,
	                                .on_pause = on_pause,
	                                .on_seen = on_seen,
	                                .arg = f};
	*state = f;
	return 0;
}

void peer_close(struct peer *p)
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

int rig_teardown(void **state)
{
	struct rig *f = *state;
	struct err e = ERR_INIT;
	peer_close(&f->a);
	peer_close(&f->b);
	loop_settle(f->loop);
	terminals_destroy(f->terminals);
	lookout_destroy(f->lookout);
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
	assert_true(p->count < RIG_MOST_FRAMES);
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

void peer_open(struct rig *f, struct peer *p)
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

void peer_send(struct peer *p)
{
	assert_true(stream_send(p->stream, p->out.data, p->out.len));
	buf_clear(&p->out);
}

bool peer_has_frame(void *arg)
{
	struct peer *p = arg;
	return p->taken < p->count || p->gone;
}

const struct got *peer_take(struct peer *p, uint16_t type)
{
	assert_true(loop_wait(p->f->loop, peer_has_frame, p));
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

struct bytes got_body(const struct got *g)
{
	return (struct bytes){.p = g->body, .len = g->len};
}

struct wire_error peer_take_error(struct peer *p, uint32_t id, enum err_kind kind)
{
	struct wire_error m;
	struct err e = ERR_INIT;
	const struct got *g = peer_take(p, WIRE_ERROR);
	assert_true(wire_get_error(got_body(g), &m, &e));
	if (m.kind != kind || g->id != id)
		fail_msg("error %u of id %u: %s", m.kind, g->id, m.text);
	return m;
}

struct wire_ok peer_take_ok(struct peer *p, uint32_t id)
{
	struct wire_ok m;
	struct err e = ERR_INIT;
	const struct got *g = peer_take(p, WIRE_OK);
	assert_true(wire_get_ok(got_body(g), &m, &e));
	assert_int_equal(g->id, id);
	return m;
}

struct wire_status_reply peer_take_status(struct peer *p)
{
	struct wire_status_reply m;
	struct err e = ERR_INIT;
	assert_true(wire_get_status_reply(got_body(peer_take(p, WIRE_STATUS_REPLY)), &m, &e));
	return m;
}

struct wire_exit peer_take_exit(struct peer *p, uint32_t id)
{
	struct wire_exit m;
	struct err e = ERR_INIT;
	const struct got *g = peer_take(p, WIRE_EXIT);
	assert_true(wire_get_exit(got_body(g), &m, &e));
	assert_int_equal(g->id, id);
	return m;
}

void peer_expect_closed(struct peer *p)
{
	assert_true(loop_wait_flag(p->f->loop, &p->gone));
	assert_int_equal(p->taken, p->count);
	assert_true(p->told_gone);
}

void peer_greet(struct rig *f, struct peer *p)
{
	peer_open(f, p);
	wire_put_my_hello(&p->out, "client");
	peer_send(p);
	peer_take(p, WIRE_HELLO);
}

void peer_put_exec(struct peer *p, uint32_t id, const char *const *argv)
{
	struct buf packed = BUF_INIT(1024);
	assert_true(wire_pack_strings(&packed, argv));
	struct wire_exec m = {.argv = {.p = packed.data, .len = packed.len}};
	wire_put_exec(&p->out, id, &m);
	buf_finish(&packed);
}

void peer_put_stdin(struct peer *p, uint32_t id, const void *bytes, size_t len)
{
	struct wire_stdin_data m = {.data = {.p = bytes, .len = len}};
	wire_put_stdin_data(&p->out, id, &m);
}
