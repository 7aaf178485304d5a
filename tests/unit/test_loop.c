/* core/loop: streams, listeners, children, timers, and that nothing stays open. */
#include "tests/lib/test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/loop/child.h"
#include "core/loop/listener.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"

struct seen {
	struct str text;
	int opens, eofs, errors, drains, calls;
	enum err_kind kind;
	int code, signum;
	int accepted[4];
	int accepts;
};

static void saw_open(void *arg)
{
	((struct seen *)arg)->opens++;
}

static void saw_data(void *arg, const uint8_t *bytes, size_t len)
{
	str_append_bytes(&((struct seen *)arg)->text, (const char *)bytes, len);
}

static void saw_eof(void *arg)
{
	((struct seen *)arg)->eofs++;
}

static void saw_error(void *arg, const struct err *e)
{
	((struct seen *)arg)->errors++;
	((struct seen *)arg)->kind = e->kind;
}

static void saw_drain(void *arg)
{
	((struct seen *)arg)->drains++;
}

static void saw_call(void *arg)
{
	((struct seen *)arg)->calls++;
}

static void saw_exit(void *arg, int code, int signum)
{
	struct seen *seen = arg;
	seen->calls++;
	seen->code = code;
	seen->signum = signum;
}

static void saw_accept(void *arg, int fd)
{
	struct seen *seen = arg;
	seen->accepted[seen->accepts++] = fd;
}

static const struct stream_ops OPS = {.on_open = saw_open,
                                      .on_data = saw_data,
                                      .on_eof = saw_eof,
                                      .on_error = saw_error,
                                      .on_drain = saw_drain};

/* Turns the loop until the counter is at least `want`; fails after ten seconds. */
static void turn_until(struct loop *loop, const int *counter, int want)
{
	uint64_t deadline = clock_mono_ms() + 10000;
	while (*counter < want) {
		assert_true(clock_mono_ms() < deadline);
		loop_turn(loop, true);
	}
}

static void stream_carries_bytes_and_half_close(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct err e = ERR_INIT;
	struct seen a = {.text = STR_INIT(1 << 20)}, b = {.text = STR_INIT(1 << 20)};
	int fds[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	struct stream *left = stream_open(loop, fds[0], &OPS, &a, &e);
	struct stream *right = stream_open(loop, fds[1], &OPS, &b, &e);
	stream_resume(left);
	stream_resume(right);
	assert_true(stream_send(left, "question", 8));
	stream_shutdown(left);
	turn_until(loop, &b.eofs, 1);
	assert_string_equal(b.text.s, "question");
	assert_true(stream_send(right, "answer", 6)); /* the other direction lives on */
	stream_shutdown(right);
	turn_until(loop, &a.eofs, 1);
	assert_string_equal(a.text.s, "answer");
	assert_int_equal(a.errors + b.errors, 0);
	stream_close(left, saw_call, &a);
	stream_close(left, saw_call, &a); /* idempotent */
	stream_close(right, saw_call, &a);
	turn_until(loop, &a.calls, 2);
	loop_destroy(loop);
	assert_int_equal(a.calls, 2);
	str_finish(&a.text);
	str_finish(&b.text);
}

static void stream_tells_when_full_and_when_drained(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct err e = ERR_INIT;
	struct seen a = {.text = STR_INIT(16)}, b = {.text = STR_INIT(8 << 20)};
	int fds[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	struct stream *left = stream_open(loop, fds[0], &OPS, &a, &e);
	struct stream *right = stream_open(loop, fds[1], &OPS, &b, &e);
	stream_set_limits(left, 100000, 2000000);
	char *block = mem_alloc(50000);
	size_t sent = 0;
	while (!stream_is_full(left)) {
		assert_true(stream_send(left, block, 50000));
		sent += 50000;
	}
	assert_true(stream_queued(left) > 100000);
	while (stream_send(left, block, 50000)) /* up to the hard limit, then refused */
		sent += 50000;
	assert_true(stream_queued(left) <= 2000000);
	assert_int_equal(a.drains, 0);
	stream_resume(right);
	turn_until(loop, &a.drains, 1);
	while (b.text.len < sent)
		loop_turn(loop, true);
	assert_false(stream_is_full(left));
	assert_int_equal(a.drains, 1);
	stream_close(left, NULL, NULL);
	stream_close(right, NULL, NULL);
	loop_destroy(loop);
	free(block);
	str_finish(&b.text);
}

static void stream_close_flushed_loses_nothing(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct err e = ERR_INIT;
	struct seen a = {.text = STR_INIT(16)}, b = {.text = STR_INIT(8 << 20)};
	int fds[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	struct stream *left = stream_open(loop, fds[0], &OPS, &a, &e);
	struct stream *right = stream_open(loop, fds[1], &OPS, &b, &e);
	char *block = mem_alloc(3000000);
	assert_true(stream_send(left, block, 3000000));
	stream_close_flushed(left, 10000);
	stream_resume(right);
	turn_until(loop, &b.eofs, 1);
	assert_int_equal(b.text.len, 3000000);
	stream_close(right, NULL, NULL);
	loop_destroy(loop);
	free(block);
	str_finish(&b.text);
}

static void connect_to_nobody_is_not_found(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct err e = ERR_INIT;
	struct seen a = {.text = STR_INIT(16)};
	struct stream *s = stream_connect_unix(loop, "/tmp/ccvm-nobody-listens-here", &OPS, &a, &e);
	assert_non_null(s);
	turn_until(loop, &a.errors, 1);
	assert_int_equal(a.kind, ERR_NOT_FOUND);
	assert_int_equal(a.opens, 0);
	stream_close(s, NULL, NULL);
	char path[200];
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_null(stream_connect_unix(loop, path, &OPS, &a, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	loop_destroy(loop);
}

static void listener_accepts_and_cleans_up(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct err e = ERR_INIT;
	struct seen server = {.text = STR_INIT(16)}, client = {.text = STR_INIT(16)};
	char dir[] = "/tmp/ccvm-test-XXXXXX";
	assert_non_null(mkdtemp(dir));
	char *path = mem_printf("%s/sock", dir);
	struct listener *l = listener_open(loop, path, saw_accept, &server, &e);
	assert_non_null(l);
	struct stream *s = stream_connect_unix(loop, path, &OPS, &client, &e);
	turn_until(loop, &server.accepts, 1);
	turn_until(loop, &client.opens, 1);
	listener_pause(l);
	struct stream *s2 = stream_connect_unix(loop, path, &OPS, &client, &e);
	turn_until(loop, &client.opens, 2); /* in the backlog */
	for (int i = 0; i < 5; i++)
		loop_turn(loop, true);
	assert_int_equal(server.accepts, 1);
	listener_resume(l);
	turn_until(loop, &server.accepts, 2);
	close(server.accepted[0]);
	close(server.accepted[1]);
	stream_close(s, NULL, NULL);
	stream_close(s2, NULL, NULL);
	listener_close(l);
	listener_close(NULL);
	loop_destroy(loop);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(rmdir(dir), 0);
	free(path);
}

static void child_reports_exit_and_signal(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct err e = ERR_INIT;
	struct seen seen = {0};
	const char *const argv[] = {"sh", "-c", "exit 7", NULL};
	struct child_spec spec = {.argv = argv};
	struct child *c = child_start(loop, &spec, saw_exit, &seen, &e);
	assert_non_null(c);
	turn_until(loop, &seen.calls, 1);
	assert_int_equal(seen.code, 7);
	assert_int_equal(child_pid(c), 0);
	child_close(c);

	const char *const sleeper[] = {"sleep", "60", NULL};
	spec.argv = sleeper;
	c = child_start(loop, &spec, saw_exit, &seen, &e);
	assert_true(child_start_time(child_pid(c)) > 0);
	child_kill(c, SIGKILL);
	turn_until(loop, &seen.calls, 2);
	assert_int_equal(seen.signum, SIGKILL);
	child_close(c);

	const char *const missing[] = {"/nonexistent/program", NULL};
	spec.argv = missing;
	assert_null(child_start(loop, &spec, saw_exit, &seen, &e));
	assert_non_null(strstr(e.msg, "/nonexistent/program"));
	loop_destroy(loop);
}

/* A process in the middle starts a guarded child and is killed: the child must go as well. */
static void child_dies_with_its_parent(void **state)
{
	(void)state;
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	pid_t middle = fork();
	if (middle == 0) {
		struct loop *loop = loop_create();
		struct err e = ERR_INIT;
		struct seen seen = {0};
		const char *const argv[] = {"sleep", "60", NULL};
		struct child_spec spec = {.argv = argv, .die_with_parent = true};
		struct child *c = child_start(loop, &spec, saw_exit, &seen, &e);
		pid_t pid = c ? child_pid(c) : -1;
		fd_write_all(fds[1], &pid, sizeof(pid));
		loop_run(loop);
		_exit(0);
	}
	pid_t grandchild = 0;
	assert_int_equal(fd_read_full(fds[0], &grandchild, sizeof(grandchild)), (ssize_t)sizeof(grandchild));
	assert_true(grandchild > 0);
	char path[64], text[64] = "";
	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)grandchild);
	uint64_t deadline = clock_mono_ms() + 10000;
	while (strcmp(text, "sleep\n") != 0) { /* the guard has become the program */
		struct err e = ERR_INIT;
		char *now = fd_read_file(path, 100, NULL, &e);
		snprintf(text, sizeof(text), "%s", now ? now : "");
		free(now);
		assert_true(clock_mono_ms() < deadline);
	}
	kill(middle, SIGKILL);
	waitpid(middle, NULL, 0);
	while (child_start_time(grandchild) != 0) {
		char stat_path[64];
		struct err e = ERR_INIT;
		snprintf(stat_path, sizeof(stat_path), "/proc/%ld/stat", (long)grandchild);
		char *now = fd_read_file(stat_path, 4096, NULL, &e);
		bool zombie = now && strstr(now, ") Z ");
		free(now);
		if (zombie)
			break;
		assert_true(clock_mono_ms() < deadline);
	}
	close(fds[0]);
	close(fds[1]);
}

static void timers_and_deferred_calls(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct seen seen = {0}, deferred = {0};
	struct timer *once = timer_create_on(loop, saw_call, &seen);
	timer_once(once, 1);
	loop_defer(loop, saw_call, &deferred);
	assert_int_equal(deferred.calls, 0);
	turn_until(loop, &deferred.calls, 1);
	turn_until(loop, &seen.calls, 1);
	assert_false(timer_is_active(once));
	timer_every(once, 1);
	turn_until(loop, &seen.calls, 4);
	timer_stop(once);
	timer_close(once);
	loop_run(loop); /* ends by itself: nothing is open */
	loop_destroy(loop);
	assert_int_equal(deferred.calls, 1);
}

static void saw_signal(void *arg, int signum)
{
	struct seen *seen = arg;
	seen->calls++;
	seen->signum = signum;
}

/* A timer that is due when the turn begins must end the turn although nothing else ever happens. */
static void a_turn_ends_with_a_timer(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct seen seen = {0}, never = {0};
	const int list[] = {SIGUSR1, 0};
	struct signals *quiet = signals_open(loop, list, saw_signal, &never); /* keeps the loop alive */
	struct timer *t = timer_create_on(loop, saw_call, &seen);
	alarm(20); /* the test fails by it when a turn sleeps for ever */
	for (uint64_t ms = 0; ms < 60; ms++) {
		int before = seen.calls;
		timer_once(t, ms % 3);
		while (seen.calls == before)
			loop_turn(loop, false);
	}
	alarm(0);
	assert_int_equal(seen.calls, 60);
	timer_close(t);
	signals_close(quiet);
	loop_destroy(loop);
}

static void signals_become_events(void **state)
{
	(void)state;
	struct loop *loop = loop_create();
	struct seen seen = {0};
	const int list[] = {SIGUSR1, SIGUSR2, 0};
	struct signals *s = signals_open(loop, list, saw_signal, &seen);
	raise(SIGUSR2);
	turn_until(loop, &seen.calls, 1);
	assert_int_equal(seen.signum, SIGUSR2);
	signals_close(s);
	loop_destroy(loop);
}

int main(int argc, char **argv)
{
	child_guard(argc, argv);
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stream_carries_bytes_and_half_close),
	    cmocka_unit_test(stream_tells_when_full_and_when_drained),
	    cmocka_unit_test(stream_close_flushed_loses_nothing),
	    cmocka_unit_test(connect_to_nobody_is_not_found),
	    cmocka_unit_test(listener_accepts_and_cleans_up),
	    cmocka_unit_test(child_reports_exit_and_signal),
	    cmocka_unit_test(child_dies_with_its_parent),
	    cmocka_unit_test(timers_and_deferred_calls),
	    cmocka_unit_test(a_turn_ends_with_a_timer),
	    cmocka_unit_test(signals_become_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
