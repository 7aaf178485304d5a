/* guest/agent over a socket pair: real programs, and hosts that behave, hurry, stall, lie or leave. */
#include "tests/lib/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/wire/wire.h"
#include "guest/agent.h"
#include "guest/link.h"
#include "guest/program.h"
#include "guest/reactor.h"
#include "guest/reap.h"

#define DEADLINE_MS 20000
#define MOST_OUTPUT (64 << 20)

struct scene {
	struct reactor *reactor;
	struct reaper *reaper;
	struct programs programs;
	struct agent *agent;
	/* what the fake rest of the guest says and was told */
	bool listening, egress_up, shut_down, reboot;
	/* the host's end */
	int fd;
	struct buf to_send;
	struct frame_reader in;
	bool slow; /* does not read */
	struct buf out, err;
	bool hello, spawned, ended, gone, pong_seen, ok_seen;
	struct wire_exit end;
	struct wire_agent_pong pong;
	struct wire_error error; /* kind 0: none */
	uint32_t pid;
};

static bool host_lo_up(void *arg)
{
	(void)arg;
	return true;
}

static bool host_listening(void *arg)
{
	return ((struct scene *)arg)->listening;
}

static int host_dial(void *arg, struct err *e)
{
	struct scene *s = arg;
	int pair[2];
	if (!s->egress_up) {
		err_set(e, ERR_NOT_FOUND, "nobody");
		return -1;
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	return pair[0];
}

static void host_shut_down(void *arg, bool reboot)
{
	struct scene *s = arg;
	s->shut_down = true;
	s->reboot = reboot;
}

static void connect_host(struct scene *s)
{
	int pair[2];
	int small = 4096; /* so that it is our own queues that fill */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	s->fd = pair[1];
	agent_serve(s->agent, pair[0]);
}

static int setup(void **state)
{
	struct scene *s = mem_alloc(sizeof(*s));
	s->reactor = reactor_create();
	s->reaper = reaper_open(s->reactor);
	programs_init(&s->programs, s->reactor, s->reaper);
	const struct agent_host host = {
	    .programs = &s->programs,
	    .relay_listening = host_listening,
	    .lo_up = host_lo_up,
	    .dial_egress = host_dial,
	    .shut_down = host_shut_down,
	    .arg = s,
	};
	s->agent = agent_create(s->reactor, &host);
	buf_init(&s->to_send, MOST_OUTPUT);
	buf_init(&s->out, MOST_OUTPUT);
	buf_init(&s->err, MOST_OUTPUT);
	frame_reader_init(&s->in);
	connect_host(s);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	agent_destroy(s->agent);
	programs_finish(&s->programs);
	reaper_close(s->reaper);
	reactor_destroy(s->reactor);
	fd_close(&s->fd);
	frame_reader_finish(&s->in);
	buf_finish(&s->to_send);
	buf_finish(&s->out);
	buf_finish(&s->err);
	free(s);
	return 0;
}

static bool on_frame(void *arg, const struct frame *f)
{
	struct scene *s = arg;
	struct err e = ERR_INIT;
	struct wire_hello hello;
	struct wire_agent_spawned spawned;
	struct wire_stdout_data out;
	struct wire_stderr_data err;
	struct wire_ok ok;
	bool good = true;
	assert_false(s->ended); /* EXIT is the last message */
	switch (f->type) {
	case WIRE_HELLO: s->hello = good = wire_check_hello(f->body, &hello, &e); break;
	case WIRE_ERROR: good = wire_get_error(f->body, &s->error, &e); break;
	case WIRE_OK: s->ok_seen = good = wire_get_ok(f->body, &ok, &e); break;
	case WIRE_AGENT_PONG: s->pong_seen = good = wire_get_agent_pong(f->body, &s->pong, &e); break;
	case WIRE_EXIT: s->ended = good = wire_get_exit(f->body, &s->end, &e); break;
	case WIRE_AGENT_SPAWNED:
		s->spawned = good = wire_get_agent_spawned(f->body, &spawned, &e);
		s->pid = spawned.pid;
		break;
	case WIRE_STDOUT:
		good = wire_get_stdout_data(f->body, &out, &e) && s->spawned;
		buf_put(&s->out, out.data.p, out.data.len);
		break;
	case WIRE_STDERR:
		good = wire_get_stderr_data(f->body, &err, &e) && s->spawned;
		buf_put(&s->err, err.data.p, err.data.len);
		break;
	default: good = false;
	}
	assert_true(good);
	return true;
}

static void host_io(struct scene *s)
{
	uint8_t chunk[65536];
	if (s->fd < 0)
		return;
	ssize_t n = s->to_send.len
	                ? send(s->fd, s->to_send.data, MIN(s->to_send.len, sizeof(chunk)), MSG_NOSIGNAL)
	                : 0;
	if (n > 0)
		buf_drop(&s->to_send, (size_t)n);
	while (!s->slow && !s->gone && (n = recv(s->fd, chunk, sizeof(chunk), 0)) >= 0) {
		struct err e = ERR_INIT;
		s->gone = n == 0;
		if (n > 0)
			assert_int_equal(frame_feed(&s->in, chunk, (size_t)n, on_frame, s, &e), FRAME_MORE);
	}
}

static bool until(struct scene *s, bool (*holds)(struct scene *s))
{
	uint64_t limit = clock_mono_ms() + DEADLINE_MS;
	while (!holds(s)) {
		if (clock_mono_ms() > limit)
			return false;
		host_io(s);
		reactor_turn(s->reactor, s->to_send.len ? 0 : 5);
	}
	return true;
}

static bool ended(struct scene *s)
{
	return s->ended;
}
static bool gone(struct scene *s)
{
	return s->gone;
}
static bool spawned(struct scene *s)
{
	return s->spawned;
}
static bool pong(struct scene *s)
{
	return s->pong_seen;
}
static bool nobody_runs(struct scene *s)
{
	return s->programs.count == 0;
}
static bool refused(struct scene *s)
{
	return s->error.kind != 0;
}

static bool has_line(struct scene *s)
{
	return s->out.len && memchr(s->out.data, '\n', s->out.len);
}

static void say_hello(struct scene *s)
{
	assert_true(wire_put_my_hello(&s->to_send, "supervisor"));
}

static void put_spawn(struct scene *s, const char *const *argv, const char *const *env,
                      struct wire_agent_spawn m)
{
	struct buf a = BUF_INIT(WIRE_ARGV_MAX), v = BUF_INIT(WIRE_ARGV_MAX);
	assert_true(wire_pack_strings(&a, argv) && wire_pack_strings(&v, env));
	m.argv = (struct bytes){a.data, a.len};
	m.env = (struct bytes){v.data, v.len};
	assert_true(wire_put_agent_spawn(&s->to_send, 1, &m));
	buf_finish(&a);
	buf_finish(&v);
}

static void spawn_sh(struct scene *s, const char *script, struct wire_agent_spawn m)
{
	const char *argv[] = {"sh", "-c", script, NULL};
	say_hello(s);
	put_spawn(s, argv, NULL, m);
}

static void put_stdin(struct scene *s, const void *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += WIRE_DATA_MAX) {
		struct wire_stdin_data m = {{(const uint8_t *)bytes + at, MIN(len - at, WIRE_DATA_MAX)}};
		assert_true(wire_put_stdin_data(&s->to_send, 1, &m));
	}
}

static void assert_text(const struct buf *b, const char *want)
{
	char *text FREE_ON_EXIT = mem_printf("%.*s", (int)b->len, b->len ? (const char *)b->data : "");
	assert_string_equal(text, want);
}

static void assert_exit(const struct scene *s, unsigned code, unsigned signum)
{
	assert_int_equal(s->end.code, code);
	assert_int_equal(s->end.signum, signum);
	assert_int_equal(s->end.output_cut, 0);
}

static void streams_and_exit_code(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "echo out; echo err >&2; exit 3", (struct wire_agent_spawn){0});
	assert_true(until(s, ended));
	assert_text(&s->out, "out\n");
	assert_text(&s->err, "err\n");
	assert_exit(s, 3, 0);
	assert_int_equal(s->programs.count, 0);
}

static void one_byte_at_a_time(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "read a; echo got $a", (struct wire_agent_spawn){0});
	put_stdin(s, "hi\n", 3);
	for (size_t i = 0; i < s->to_send.len; i++) {
		assert_int_equal(send(s->fd, s->to_send.data + i, 1, 0), 1);
		reactor_turn(s->reactor, 0);
	}
	buf_clear(&s->to_send);
	assert_true(until(s, ended));
	assert_text(&s->out, "got hi\n");
}

static void death_by_signal(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "kill -9 $$", (struct wire_agent_spawn){0});
	assert_true(until(s, ended));
	assert_exit(s, 0, SIGKILL);
}

static void a_signal_from_the_host(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "trap 'echo term; exit 7' TERM; echo up; while :; do sleep 0.05; done",
	         (struct wire_agent_spawn){0});
	assert_true(until(s, has_line));
	assert_true(wire_put_signal(&s->to_send, 1, &(struct wire_signal){SIGTERM}));
	assert_true(until(s, ended));
	assert_text(&s->out, "up\nterm\n");
	assert_exit(s, 7, 0);
}

static void what_cannot_run(void **state)
{
	static const struct {
		const char *program, *cwd;
		unsigned code;
		const char *text;
	} TABLE[] = {
	    {"no-such-program", "", 127, "ccvm: no-such-program: command not found\n"},
	    {"/no/such/program", "", 127, "ccvm: /no/such/program: No such file or directory\n"},
	    {"/etc/passwd", "", 126, "ccvm: /etc/passwd: Permission denied\n"},
	    {"true", "/no/such/folder", 126, "ccvm: /no/such/folder: No such file or directory\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(TABLE); i++) {
		struct scene *s;
		setup((void **)&s);
		struct wire_agent_spawn m = {0};
		snprintf(m.cwd, sizeof(m.cwd), "%s", TABLE[i].cwd);
		say_hello(s);
		put_spawn(s, (const char *const[]){TABLE[i].program, NULL}, NULL, m);
		assert_true(until(s, ended));
		assert_exit(s, TABLE[i].code, 0);
		assert_text(&s->err, TABLE[i].text);
		teardown((void **)&s);
	}
	(void)state;
}

static void much_goes_through_whole(void **state)
{
	struct scene *s = *state;
	size_t len = 8 << 20;
	uint8_t *bytes FREE_ON_EXIT = mem_alloc(len);
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 13);
	spawn_sh(s, "cat", (struct wire_agent_spawn){0});
	put_stdin(s, bytes, len);
	assert_true(wire_put_empty(&s->to_send, WIRE_STDIN_EOF, 1));
	assert_true(until(s, ended));
	assert_exit(s, 0, 0);
	assert_int_equal(s->out.len, len);
	assert_memory_equal(s->out.data, bytes, len);
}

static bool program_is_dead(struct scene *s)
{
	return kill((pid_t)s->pid, 0) != 0;
}

/* The host reads again only long after the program has ended, with its last bytes still in the pipe: they are
 * not those of a grandchild. */
static void a_slow_host_gets_it_all(void **state)
{
	struct scene *s = *state;
	const size_t len = LINK_HIGH + 60000;
	char script[64];
	snprintf(script, sizeof(script), "head -c %zu /dev/zero", len);
	spawn_sh(s, script, (struct wire_agent_spawn){0});
	assert_true(until(s, spawned));
	s->slow = true;
	assert_true(until(s, program_is_dead));
	for (uint64_t limit = clock_mono_ms() + 2300; clock_mono_ms() < limit;) /* the grace time passes */
		reactor_turn(s->reactor, 100);
	s->slow = false;
	assert_true(until(s, ended));
	assert_int_equal(s->out.len, len);
	assert_exit(s, 0, 0);
}

static void a_flood_waits_for_the_host(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "yes", (struct wire_agent_spawn){0});
	assert_true(until(s, spawned));
	s->slow = true;
	for (int i = 0; i < 300; i++)
		reactor_turn(s->reactor, 1);
	size_t before = s->out.len, waiting = 0;
	uint8_t chunk[65536];
	/* Only what lies in the socket and in the link's queue is there, and that is bounded. */
	for (ssize_t n; (n = recv(s->fd, chunk, sizeof(chunk), 0)) > 0;)
		waiting += (size_t)n;
	assert_true(waiting > 0 && waiting < 4 * LINK_HIGH);
	assert_int_equal(before, s->out.len);
	fd_close(&s->fd);
	assert_true(until(s, nobody_runs));
}

static void stdin_of_a_deaf_program_is_bounded(void **state)
{
	struct scene *s = *state;
	size_t len = 8 << 20;
	uint8_t *bytes FREE_ON_EXIT = mem_alloc(len);
	spawn_sh(s, "echo up; exec sleep 60", (struct wire_agent_spawn){0});
	assert_true(until(s, has_line));
	put_stdin(s, bytes, len);
	size_t last = 0;
	for (int same = 0; same < 50; same = s->to_send.len == last ? same + 1 : 0) {
		last = s->to_send.len;
		host_io(s);
		reactor_turn(s->reactor, 1);
	}
	assert_true(len - s->to_send.len < 2 << 20);
	assert_int_equal(s->error.kind, 0);
	shutdown(s->fd, SHUT_WR); /* and with its input full, it is noticed that the host has left */
	assert_true(until(s, nobody_runs));
}

static void input_that_nobody_reads_is_dropped(void **state)
{
	struct scene *s = *state;
	size_t len = 2 << 20;
	uint8_t *bytes FREE_ON_EXIT = mem_alloc(len);
	spawn_sh(s, "exec <&-; echo closed; sleep 0.3; exit 4", (struct wire_agent_spawn){0});
	put_stdin(s, bytes, len);
	assert_true(until(s, ended));
	assert_exit(s, 4, 0);
	put_stdin(s, bytes, 1000); /* too late: dropped as well, no error */
	assert_true(wire_put_empty(&s->to_send, WIRE_STDIN_EOF, 1));
	while (s->to_send.len) {
		host_io(s);
		reactor_turn(s->reactor, 0);
	}
	assert_int_equal(s->error.kind, 0);
}

static void a_grandchild_does_not_hold_the_exit(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "sleep 300 & echo $!", (struct wire_agent_spawn){0});
	assert_true(until(s, ended));
	assert_int_equal(s->end.output_cut, 1);
	assert_int_equal(s->end.code, 0);
	pid_t pid = (pid_t)strtol((const char *)s->out.data, NULL, 10);
	assert_true(pid > 1);
	assert_int_equal(kill(pid, SIGKILL), 0); /* it was left running on purpose */
}

static void a_host_that_leaves_ends_its_program(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "trap '' HUP; echo up; while :; do sleep 1; done", (struct wire_agent_spawn){0});
	assert_true(until(s, has_line));
	pid_t pid = (pid_t)s->pid;
	fd_close(&s->fd);
	assert_true(until(s, nobody_runs)); /* SIGHUP is ignored, SIGKILL is not */
	assert_int_equal(kill(pid, 0), -1);
}

static void a_terminal_has_its_size_from_the_start(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "tty >/dev/null && stty size; read x; stty size",
	         (struct wire_agent_spawn){.tty = 1, .rows = 33, .cols = 101});
	assert_true(until(s, has_line));
	assert_true(wire_put_resize(&s->to_send, 1, &(struct wire_resize){40, 120}));
	put_stdin(s, "\n", 1);
	assert_true(until(s, ended));
	assert_exit(s, 0, 0);
	assert_text(&s->out, "33 101\r\n\r\n40 120\r\n");
}

static void a_login_shell_when_nothing_is_named(void **state)
{
	struct scene *s = *state;
	say_hello(s);
	put_spawn(s, NULL, NULL, (struct wire_agent_spawn){.tty = 1, .rows = 24, .cols = 80});
	put_stdin(s, "echo zero=$0=; exit 5\n", 22);
	assert_true(until(s, ended));
	buf_put(&s->out, "", 1);
	assert_non_null(strstr((const char *)s->out.data, "zero=-"));
	assert_exit(s, 5, 0);
}

static void end_of_input_in_a_terminal(void **state)
{
	struct scene *s = *state;
	spawn_sh(s, "cat >/dev/null; echo end", (struct wire_agent_spawn){.tty = 1, .rows = 24, .cols = 80});
	put_stdin(s, "x\n", 2);
	assert_true(wire_put_empty(&s->to_send, WIRE_STDIN_EOF, 1));
	assert_true(until(s, ended));
	buf_put(&s->out, "", 1);
	assert_non_null(strstr((const char *)s->out.data, "end\r\n"));
}

static void the_environment_is_complete(void **state)
{
	struct scene *s = *state;
	const char *env[] = {"TERM=dumb", "MINE=1", NULL};
	say_hello(s);
	put_spawn(s, (const char *const[]){"sh", "-c", "echo $https_proxy $NO_PROXY $HOME $TERM $MINE", NULL},
	          env, (struct wire_agent_spawn){0});
	assert_true(until(s, ended));
	assert_text(&s->out, "http://127.0.0.1:3128 localhost,127.0.0.1,::1 /root dumb 1\n");
}

static void ping_looks_for_real(void **state)
{
	struct scene *s = *state;
	say_hello(s);
	s->egress_up = s->listening = true;
	assert_true(wire_put_empty(&s->to_send, WIRE_AGENT_PING, 9));
	assert_true(until(s, pong));
	assert_true(s->pong.vsock_reachable && s->pong.relay_listening && s->pong.lo_up);
	assert_true(s->pong.mem_total_kib > 0);
	s->egress_up = s->listening = s->pong_seen = false; /* the same connection, asked again */
	assert_true(wire_put_empty(&s->to_send, WIRE_AGENT_PING, 10));
	assert_true(until(s, pong));
	assert_false(s->pong.vsock_reachable || s->pong.relay_listening);
}

static void shutdown_is_answered_first(void **state)
{
	struct scene *s = *state;
	say_hello(s);
	assert_true(wire_put_agent_shutdown(&s->to_send, 3, &(struct wire_agent_shutdown){1}));
	while (!s->shut_down) {
		host_io(s);
		reactor_turn(s->reactor, 5);
	}
	assert_true(s->reboot);
	host_io(s);
	assert_true(s->ok_seen);
}

static void too_many_programs(void **state)
{
	struct scene *s = *state;
	s->programs.count = PROGRAM_MOST;
	spawn_sh(s, "true", (struct wire_agent_spawn){0});
	assert_true(until(s, refused));
	assert_int_equal(s->error.kind, ERR_LIMIT);
	s->programs.count = 0;
}

static void broken_hosts_are_told_and_dropped(void **state)
{
	(void)state;
	static const char *const WHAT[] = {"no hello",   "version",   "twice hello", "garbage",
	                                   "two spawns", "too early", "half a frame"};
	for (size_t i = 0; i < ARRAY_LEN(WHAT); i++) {
		struct scene *s;
		setup((void **)&s);
		const struct wire_hello wrong = {.magic = WIRE_MAGIC, .major = 77};
		const char *argv[] = {"sleep", "60", NULL};
		switch (i) {
		case 0: wire_put_empty(&s->to_send, WIRE_AGENT_PING, 1); break;
		case 1: wire_put_hello(&s->to_send, 0, &wrong); break;
		case 2: say_hello(s), say_hello(s); break;
		case 3: buf_put(&s->to_send, "GET / HTTP/1.0\r\n\r\n", 18); break;
		case 4:
			say_hello(s);
			put_spawn(s, argv, NULL, (struct wire_agent_spawn){0});
			put_spawn(s, argv, NULL, (struct wire_agent_spawn){0});
			break;
		case 5: say_hello(s), put_stdin(s, "x", 1); break;
		default: buf_put(&s->to_send, "\0\0\0\x05\0\x01", 6);
		}
		if (i == ARRAY_LEN(WHAT) - 1) {
			host_io(s);
			fd_close(&s->fd); /* in the middle: simply gone */
			for (int turn = 0; turn < 5; turn++)
				reactor_turn(s->reactor, 1);
		} else {
			assert_true(until(s, refused));
			assert_int_equal(s->error.kind, ERR_PROTOCOL);
			shutdown(s->fd, SHUT_WR);
			assert_true(until(s, gone));
			assert_true(until(s, nobody_runs));
		}
		teardown((void **)&s);
	}
}

#define SCENE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCENE_TEST(streams_and_exit_code),
	    SCENE_TEST(one_byte_at_a_time),
	    SCENE_TEST(death_by_signal),
	    SCENE_TEST(a_signal_from_the_host),
	    cmocka_unit_test(what_cannot_run),
	    SCENE_TEST(much_goes_through_whole),
	    SCENE_TEST(a_slow_host_gets_it_all),
	    SCENE_TEST(a_flood_waits_for_the_host),
	    SCENE_TEST(stdin_of_a_deaf_program_is_bounded),
	    SCENE_TEST(input_that_nobody_reads_is_dropped),
	    SCENE_TEST(a_grandchild_does_not_hold_the_exit),
	    SCENE_TEST(a_host_that_leaves_ends_its_program),
	    SCENE_TEST(a_terminal_has_its_size_from_the_start),
	    SCENE_TEST(a_login_shell_when_nothing_is_named),
	    SCENE_TEST(end_of_input_in_a_terminal),
	    SCENE_TEST(the_environment_is_complete),
	    SCENE_TEST(ping_looks_for_real),
	    SCENE_TEST(shutdown_is_answered_first),
	    SCENE_TEST(too_many_programs),
	    cmocka_unit_test(broken_hosts_are_told_and_dropped),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
