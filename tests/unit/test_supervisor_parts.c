/* The smaller parts of the supervisor: the claim to a runtime folder, helpers, the events port, the counts of the audit
 * log, the bound of the log file. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/supervisor/audit_count.h"
#include "core/supervisor/guest_events.h"
#include "core/supervisor/helper.h"
#include "core/supervisor/log_file.h"
#include "core/supervisor/places.h"
#include "core/vm/vm.h"
#include "core/wire/frame.h"
#include "tests/lib/loop_wait.h"

struct fixture {
	int log_fd;
	struct loop *loop;
	char dir[40];
	struct str said; /* what callbacks told, each with a bar behind it */
	bool done;
};

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	strcpy(f->dir, "/tmp/ccvm-parts-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->loop = loop_create();
	str_init(&f->said, 1 << 16);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	loop_settle(f->loop);
	loop_destroy(f->loop);
	assert_true(fd_remove_tree(f->dir, &e));
	str_finish(&f->said);
	free(f);
	return 0;
}

static void say(struct fixture *f, const char *text)
{
	str_append(&f->said, text);
	str_append_char(&f->said, '|');
}

/* ---- places ---- */

/* Only what the claim needs. */
static struct places make_places(struct fixture *f)
{
	return (struct places){.run_dir = mem_printf("%s/run", f->dir),
	                       .lock = mem_printf("%s/run/lock", f->dir)};
}

static void free_places(struct places *p)
{
	free(p->run_dir);
	free(p->lock);
}

static void a_folder_is_claimed_once(void **state)
{
	struct fixture *f = *state;
	struct places p = make_places(f);
	struct err e = ERR_INIT;
	struct stat st;
	int lock = places_claim(&p, &e);
	assert_true(lock >= 0);
	assert_int_equal(stat(p.run_dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(places_claim(&p, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	err_clear(&e);
	assert_true(places_release(&p, &e));
	assert_int_equal(stat(p.run_dir, &st), -1);
	/* The old lock is still held, on a file that nobody can see any more: a new one does not care. */
	int again = places_claim(&p, &e);
	assert_true(again >= 0);
	close(lock);
	err_clear(&e);
	assert_int_equal(places_claim(&p, &e), -1); /* and it is the one that counts */
	close(again);
	free_places(&p);
}

/* Claims, holds and releases again and again; exits with 1 when somebody else held it too. */
static void claim_in_a_loop(const struct places *p, const char *owner)
{
	for (int i = 0; i < 2000; i++) {
		struct err e = ERR_INIT;
		int lock = places_claim(p, &e);
		if (lock < 0)
			continue;
		int fd = open(owner, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			_exit(1);
		close(fd);
		unlink(owner);
		if (!places_release(p, &e))
			_exit(2);
		close(lock);
	}
	_exit(0);
}

static void two_never_hold_it_at_once(void **state)
{
	struct fixture *f = *state;
	struct places p = make_places(f);
	char *owner FREE_ON_EXIT = mem_printf("%s/owner", f->dir);
	pid_t pids[3];
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			claim_in_a_loop(&p, owner);
	}
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	free_places(&p);
}

static void leftovers_of_the_dead_go_away(void **state)
{
	struct fixture *f = *state;
	struct places p = make_places(f);
	struct err e = ERR_INIT;
	assert_int_equal(mkdir(p.run_dir, 0700), 0);
	char *sock FREE_ON_EXIT = mem_printf("%s/vsock.sock", p.run_dir);
	assert_true(fd_write_file(sock, "", 0, 0600, &e));
	int lock = places_claim(&p, &e);
	assert_true(lock >= 0);
	assert_int_equal(access(sock, F_OK), -1);
	assert_int_equal(access(p.lock, F_OK), 0);
	close(lock);
	free_places(&p);
}

static void a_folder_that_others_can_enter_is_refused(void **state)
{
	struct fixture *f = *state;
	struct places p = make_places(f);
	struct err e = ERR_INIT;
	assert_int_equal(mkdir(p.run_dir, 0700), 0);
	assert_int_equal(chmod(p.run_dir, 0755), 0);
	assert_int_equal(places_claim(&p, &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
	assert_int_equal(rmdir(p.run_dir), 0);
	assert_int_equal(symlink(f->dir, p.run_dir), 0);
	err_clear(&e);
	assert_int_equal(places_claim(&p, &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
	free_places(&p);
}

static void a_long_path_is_refused_by_name(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct places p;
	char *base FREE_ON_EXIT = mem_printf("%s/%080d", f->dir, 0);
	assert_int_equal(mkdir(base, 0700), 0);
	const char *was = getenv("XDG_RUNTIME_DIR");
	char *saved FREE_ON_EXIT = was ? mem_strdup(was) : NULL;
	setenv("XDG_RUNTIME_DIR", base, 1);
	bool ok = places_init(&p, "alpha", &e);
	if (saved)
		setenv("XDG_RUNTIME_DIR", saved, 1);
	else
		unsetenv("XDG_RUNTIME_DIR");
	assert_false(ok);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_non_null(strstr(e.msg, "XDG_RUNTIME_DIR"));
}

/* ---- helpers ---- */

static void on_line(void *arg, const char *line)
{
	say(arg, line);
}

static void on_error_line(void *arg, const char *line)
{
	struct fixture *f = arg;
	str_append_char(&f->said, '!');
	say(f, line);
}

static void on_exit_told(void *arg, const char *why)
{
	struct fixture *f = arg;
	say(f, why);
	f->done = true;
}

static const struct helper_ops HELPER_OPS = {on_line, on_error_line, on_exit_told};

static struct helper *start_shell(struct fixture *f, const char *script)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};
	struct err e = ERR_INIT;
	struct helper *h = helper_start(f->loop, "helper", argv, &HELPER_OPS, f, &e);
	assert_non_null(h);
	return h;
}

static void expect_said(struct fixture *f, const char *want)
{
	assert_true(loop_wait_flag(f->loop, &f->done));
	assert_string_equal(f->said.s, want);
}

static void a_helper_is_heard_before_its_end(void **state)
{
	struct fixture *f = *state;
	struct helper *h = start_shell(f, "echo ready >&3; printf 'a\\033[31mb\\nlast words' >&2; exit 3");
	assert_true(loop_wait_flag(f->loop, &f->done));
	/* Two pipes: which is read first is not said, but both before the end. */
	assert_non_null(strstr(f->said.s, "ready|"));
	assert_non_null(strstr(f->said.s, "!a\\x1b[31mb|!last words|"));
	const char *end = strstr(f->said.s, "helper ended with exit code 3|");
	assert_non_null(end);
	assert_int_equal(strlen(end), strlen("helper ended with exit code 3|"));
	helper_close(h);
}

static void a_helper_that_is_killed(void **state)
{
	struct fixture *f = *state;
	struct helper *h = start_shell(f, "kill -9 $$");
	expect_said(f, "helper was killed by signal 9 (Killed)|");
	assert_int_equal(helper_pid(h), 0);
	helper_stop(h); /* too late, and harmless */
	helper_close(h);
}

static bool has_said_ready(void *arg)
{
	struct fixture *f = arg;
	return strstr(f->said.s, "ready|") != NULL;
}

static void a_deaf_helper_is_killed_in_the_end(void **state)
{
	struct fixture *f = *state;
	struct helper *h = start_shell(f, "trap '' TERM; echo ready >&3; while :; do sleep 1000; done");
	assert_true(loop_wait(f->loop, has_said_ready, f));
	helper_stop(h);
	expect_said(f, "ready|helper was killed by signal 9 (Killed)|");
	helper_close(h);
}

/* What is written after the exit was seen still comes before it is told. */
static void exit_and_end_of_output_are_two_events(void **state)
{
	struct fixture *f = *state;
	struct helper *h =
	    start_shell(f, "(while kill -0 $$ 2>/dev/null; do :; done; echo late >&2) & exit 3");
	expect_said(f, "!late|helper ended with exit code 3|");
	helper_close(h);
}

/* A grandchild that keeps the pipes open does not keep the exit from being told. */
static void a_grandchild_does_not_hide_the_end(void **state)
{
	struct fixture *f = *state;
	struct helper *h = start_shell(f, "sleep 5 & echo ready >&3; exit 0");
	expect_said(f, "ready|helper ended with exit code 0|");
	helper_close(h);
}

static void a_closed_helper_is_gone(void **state)
{
	struct fixture *f = *state;
	struct helper *h = start_shell(f, "echo ready >&3; exec sleep 1000");
	assert_true(loop_wait(f->loop, has_said_ready, f));
	pid_t pid = helper_pid(h);
	helper_close(h);
	siginfo_t info = {0};
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0); /* comes back because it ended */
	assert_int_equal(info.si_status, SIGKILL);
}

/* ---- the events port ---- */

static void on_ready(void *arg, const struct wire_event_ready *m)
{
	say(arg, m->boot_id);
}

static void on_incident(void *arg, const char *text)
{
	struct fixture *f = arg;
	str_append_char(&f->said, '!');
	say(f, text);
}

static void on_notify(void *arg, const struct wire_event_notify *m)
{
	struct fixture *f = arg;
	str_appendf(&f->said, "%u in %u: ", m->attention, m->term);
	say(f, m->text);
}

static void on_other_version(void *arg)
{
	say(arg, "other version");
}

static const struct guest_events_ops EVENTS_OPS = {on_ready, on_other_version, on_incident, on_notify};

/* Sends `out` as a guest would and waits until the other side has closed or everything has been heard. */
static bool call(struct fixture *f, const char *path, const struct buf *out, bool *closed)
{
	struct err e = ERR_INIT;
	int fd CLOSE_ON_EXIT = fd_unix_connect(path, &e);
	assert_true(fd >= 0);
	assert_true(fd_set_nonblock(fd, true));
	assert_int_equal(write(fd, out->data, out->len), (ssize_t)out->len);
	char byte;
	for (int i = 0; i < 50; i++)
		loop_turn(f->loop, true);
	ssize_t n = read(fd, &byte, 1);
	*closed = n == 0 || (n < 0 && errno == ECONNRESET);
	return n <= 0;
}

static void put_notify(struct buf *out, unsigned attention, uint32_t term, const char *text)
{
	struct wire_event_notify m = {.attention = (uint8_t)attention, .term = term};
	snprintf(m.text, sizeof(m.text), "%s", text);
	wire_put_event_notify(out, 0, &m);
}

static void programs_say_how_they_do(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT(4096);
	bool closed;
	char *path FREE_ON_EXIT = mem_printf("%s/events", f->dir);
	struct guest_events *g = guest_events_open(f->loop, path, &EVENTS_OPS, f, &e);
	assert_non_null(g);

	wire_put_my_hello(&out, "notify");
	put_notify(&out, ATTENTION_WORKING, 3, "");
	put_notify(&out, ATTENTION_WAITING, 0, "need you");
	call(f, path, &out, &closed);
	assert_false(closed);
	assert_string_equal(f->said.s, "1 in 3: |2 in 0: need you|");

	static const unsigned BAD[] = {ATTENTION_NONE, ATTENTION_STATE_COUNT, 255};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		str_clear(&f->said);
		buf_clear(&out);
		wire_put_my_hello(&out, "notify");
		put_notify(&out, BAD[i], 1, "x");
		put_notify(&out, ATTENTION_IDLE, 1, "after the mistake nothing is heard");
		call(f, path, &out, &closed);
		assert_true(closed);
		char *said FREE_ON_EXIT =
		    mem_printf("!the guest broke the protocol on the events port: attention %u|", BAD[i]);
		assert_string_equal(f->said.s, said);
	}

	str_clear(&f->said);
	buf_clear(&out);
	put_notify(&out, ATTENTION_IDLE, 1, "");
	call(f, path, &out, &closed);
	assert_true(closed);
	assert_non_null(strstr(f->said.s, "message event_notify before hello"));
	guest_events_close(g);
	buf_finish(&out);
}

/* A guest that is older or newer cannot say READY, nobody need wait for it. What is no HELLO says nothing of that. */
static void another_version_is_told(void **state)
{
	struct fixture *f = *state;
	static const struct {
		uint32_t magic;
		unsigned major;
		bool told;
	} HELLOS[] = {{WIRE_MAGIC, WIRE_MAJOR - 1, true},
	              {WIRE_MAGIC, WIRE_MAJOR + 1, true},
	              {WIRE_MAGIC + 1, WIRE_MAJOR + 1, false}};
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT(4096);
	char *path FREE_ON_EXIT = mem_printf("%s/events", f->dir);
	struct guest_events *g = guest_events_open(f->loop, path, &EVENTS_OPS, f, &e);
	assert_non_null(g);
	for (size_t i = 0; i < ARRAY_LEN(HELLOS); i++) {
		struct wire_hello m = {.magic = HELLOS[i].magic,
		                       .major = (uint16_t)HELLOS[i].major,
		                       .role = "guest",
		                       .version = "0.0.1"};
		bool closed;
		str_clear(&f->said);
		buf_clear(&out);
		wire_put_hello(&out, 0, &m);
		put_notify(&out, ATTENTION_IDLE, 1, "after the refusal nothing is heard");
		call(f, path, &out, &closed);
		assert_true(closed);
		assert_int_equal(strncmp(f->said.s, "other version|!", 15) == 0, HELLOS[i].told);
		assert_non_null(strstr(f->said.s, "!the guest broke the protocol on the events port"));
		assert_null(strstr(f->said.s, "nothing is heard"));
	}
	guest_events_close(g);
	buf_finish(&out);
}

struct count {
	const struct fixture *f;
	size_t wanted;
};

static size_t heard(const struct fixture *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->said.len; i++)
		n += f->said.s[i] == '|';
	return n;
}

static bool is_heard(void *arg)
{
	const struct count *c = arg;
	return heard(c->f) >= c->wanted;
}

/* Over the limit the port is deaf for a while; what was said meanwhile, and who called, is heard then. */
static void a_flood_makes_the_port_rest(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT(65536);
	char *path FREE_ON_EXIT = mem_printf("%s/events", f->dir);
	struct guest_events *g = guest_events_open(f->loop, path, &EVENTS_OPS, f, &e);
	assert_non_null(g);
	int flood CLOSE_ON_EXIT = fd_unix_connect(path, &e);
	wire_put_my_hello(&out, "notify");
	for (int i = 0; i < GUEST_EVENTS_BURST; i++)
		put_notify(&out, ATTENTION_WORKING, 1, "");
	assert_true(fd_write_all(flood, (const char *)out.data, out.len));
	assert_true(loop_wait(f->loop, is_heard, &(struct count){f, GUEST_EVENTS_BURST}));

	uint64_t since = clock_mono_ms();
	buf_clear(&out);
	put_notify(&out, ATTENTION_IDLE, 1, "one more");
	assert_true(fd_write_all(flood, (const char *)out.data, out.len));
	int other CLOSE_ON_EXIT = fd_unix_connect(path, &e);
	buf_clear(&out);
	wire_put_my_hello(&out, "notify");
	put_notify(&out, ATTENTION_IDLE, 2, "another");
	assert_true(fd_write_all(other, (const char *)out.data, out.len));
	loop_settle(f->loop);
	if (clock_mono_ms() - since < GUEST_EVENTS_REST_MS / 2)
		assert_int_equal(heard(f), GUEST_EVENTS_BURST);
	assert_true(loop_wait(f->loop, is_heard, &(struct count){f, GUEST_EVENTS_BURST + 2}));
	assert_non_null(strstr(f->said.s, "one more|"));
	assert_non_null(strstr(f->said.s, "another|"));
	guest_events_close(g);
	buf_finish(&out);
}

struct talker {
	int fd;
	struct buf *out;
	size_t sent;
	bool cut_off;
};

static bool is_cut_off(void *arg)
{
	struct talker *t = arg;
	ssize_t n = send(t->fd, t->out->data + t->sent % t->out->len, t->out->len - t->sent % t->out->len,
	                 MSG_NOSIGNAL);
	t->sent += n > 0 ? (size_t)n : 0;
	t->cut_off = n < 0 && (errno == EPIPE || errno == ECONNRESET);
	return t->cut_off;
}

/* Answers that nobody reads are not kept for ever. */
static void who_reads_no_answers_is_cut_off(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct buf hello = BUF_INIT(1024), out = BUF_INIT(65536);
	char *path FREE_ON_EXIT = mem_printf("%s/events", f->dir);
	struct guest_events *g = guest_events_open(f->loop, path, &EVENTS_OPS, f, &e);
	assert_non_null(g);
	int fd CLOSE_ON_EXIT = fd_unix_connect(path, &e);
	wire_put_my_hello(&hello, "notify");
	assert_true(fd_write_all(fd, (const char *)hello.data, hello.len));
	assert_true(fd_set_nonblock(fd, true));
	for (int i = 0; i < 1000; i++)
		put_notify(&out, ATTENTION_WORKING, 1, "");
	struct talker t = {.fd = fd, .out = &out};
	assert_true(loop_wait(f->loop, is_cut_off, &t));
	assert_null(strchr(f->said.s, '!')); /* no incident: it only does not listen */
	guest_events_close(g);
	buf_finish(&out);
	buf_finish(&hello);
}

static void the_guest_says_ready(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct wire_event_ready m = {.boot_id = "boot", .kernel = "6.1", .relay_listening = 1};
	struct wire_hello old = {.magic = WIRE_MAGIC, .major = 9, .role = "guest", .version = "9"};
	struct buf out = BUF_INIT(4096);
	bool closed;
	char *path FREE_ON_EXIT = mem_printf("%s/events", f->dir);
	struct guest_events *g = guest_events_open(f->loop, path, &EVENTS_OPS, f, &e);
	assert_non_null(g);

	wire_put_my_hello(&out, "guest");
	wire_put_event_ready(&out, 0, &m);
	assert_true(call(f, path, &out, &closed));
	assert_false(closed);
	assert_string_equal(f->said.s, "boot|");

	str_clear(&f->said);
	wire_put_event_ready(&out, 0, &m); /* twice on one connection */
	call(f, path, &out, &closed);
	assert_true(closed);
	assert_non_null(strstr(
	    f->said.s, "boot|!the guest broke the protocol on the events port: message event_ready is"));

	str_clear(&f->said);
	buf_clear(&out);
	wire_put_event_ready(&out, 0, &m); /* without a hello */
	call(f, path, &out, &closed);
	assert_true(closed);
	assert_non_null(strstr(f->said.s, "before hello"));

	str_clear(&f->said);
	buf_clear(&out);
	wire_put_hello(&out, 0, &old);
	call(f, path, &out, &closed);
	assert_true(closed);
	assert_non_null(strstr(f->said.s, "protocol version 9"));
	guest_events_close(g);
	buf_finish(&out);
}

static void many_incidents_are_counted(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT(4096);
	bool closed;
	char *path FREE_ON_EXIT = mem_printf("%s/events", f->dir);
	struct guest_events *g = guest_events_open(f->loop, path, &EVENTS_OPS, f, &e);
	assert_non_null(g);
	buf_put_string(&out, "nonsense that is no frame");
	for (int i = 0; i < 3 * GUEST_EVENTS_INCIDENTS; i++)
		call(f, path, &out, &closed);
	size_t told = 0;
	for (const char *p = f->said.s; *p; p++)
		told += *p == '!';
	assert_int_equal(told, GUEST_EVENTS_INCIDENTS);
	guest_events_close(g);
	buf_finish(&out);
}

static void ready_for_ever_is_not_told_for_ever(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct wire_event_ready m = {.boot_id = "boot", .kernel = "6.1"};
	struct buf out = BUF_INIT(4096);
	bool closed = false;
	char *path FREE_ON_EXIT = mem_printf("%s/events", f->dir);
	struct guest_events *g = guest_events_open(f->loop, path, &EVENTS_OPS, f, &e);
	assert_non_null(g);
	wire_put_my_hello(&out, "guest");
	wire_put_event_ready(&out, 0, &m);
	for (int i = 0; i < GUEST_EVENTS_READY_MOST + 3 * GUEST_EVENTS_INCIDENTS; i++)
		call(f, path, &out, &closed);
	assert_true(closed);
	size_t told = 0, incidents = 0;
	for (const char *p = f->said.s; *p; p++) {
		told += strncmp(p, "boot|", 5) == 0;
		incidents += *p == '!';
	}
	assert_int_equal(told, GUEST_EVENTS_READY_MOST);
	assert_int_equal(incidents, GUEST_EVENTS_INCIDENTS);
	guest_events_close(g);
	buf_finish(&out);
}

static void silent_callers_take_no_more_than_their_places(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = mem_printf("%s/events", f->dir);
	struct guest_events *g = guest_events_open(f->loop, path, &EVENTS_OPS, f, &e);
	assert_non_null(g);
	int fds[GUEST_EVENTS_MOST + 2];
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = fd_unix_connect(path, &e);
		assert_true(fds[i] >= 0);
		assert_true(fd_set_nonblock(fds[i], true));
	}
	loop_settle(f->loop);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		char byte;
		bool closed = read(fds[i], &byte, 1) == 0;
		assert_int_equal(closed, i >= GUEST_EVENTS_MOST);
		close(fds[i]);
	}
	guest_events_close(g);
}

/* ---- audit_count ---- */

static void on_count(void *arg, uint32_t denied, uint32_t tunnels)
{
	char text[40];
	snprintf(text, sizeof(text), "%u,%u", denied, tunnels);
	struct fixture *f = arg;
	str_clear(&f->said);
	say(f, text);
}

static void append(const char *path, const char *event, unsigned conn, const char *rest)
{
	static unsigned seq;
	int fd CLOSE_ON_EXIT = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	char *line FREE_ON_EXIT = mem_printf(
	    "{\"v\":1,\"seq\":%u,\"t\":\"2026-11-30T21:30:00.123Z\",\"vm\":\"a1\",\"ev\":\"%s\",\"conn\":%u,"
	    "\"host\":\"x.example\",\"port\":443,\"why\":null,\"rule\":null%s}\n",
	    ++seq, event, conn, rest);
	assert_true(fd_write_all(fd, line, strlen(line)));
}

struct wanted {
	struct fixture *f;
	const char *said;
};

static bool is_said(void *arg)
{
	struct wanted *w = arg;
	return strcmp(w->f->said.s, w->said) == 0;
}

static void expect_count(struct fixture *f, const char *want)
{
	struct wanted w = {f, want};
	loop_wait(f->loop, is_said, &w);
	assert_string_equal(f->said.s, want);
}

static void refusals_and_tunnels_are_counted(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = mem_printf("%s/audit.jsonl", f->dir);
	append(path, "deny", 1, "");
	append(path, "open", 2, "");
	append(path, "open", 3, "");
	struct audit_count *c = audit_count_open(f->loop, path, on_count, f, &e);
	assert_non_null(c);
	expect_count(f, "1,2|");
	append(path, "close", 2, ",\"up\":1,\"down\":2,\"ms\":3,\"end\":\"client_eof\"");
	expect_count(f, "1,1|");
	append(path, "fail", 9, ""); /* refused by the host before it was opened: none of ours */
	append(path, "deny", 10, "");
	expect_count(f, "2,1|");
	append(path, "fail", 3, "");
	expect_count(f, "2,0|");
	append(path, "open", 11, "");
	expect_count(f, "2,1|");
	append(path, "start", 0, ",\"rules\":1"); /* a new proxy: the old one was killed with its tunnels */
	expect_count(f, "2,0|");
	audit_count_close(c);
}

/* ---- log_file ---- */

static void bound(void *arg)
{
	struct fixture *f = arg;
	char *path FREE_ON_EXIT = mem_printf("%s/supervisor.log", f->dir);
	log_file_bound(f->log_fd, path);
}

static void the_log_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct stat st;
	char *path FREE_ON_EXIT = mem_printf("%s/supervisor.log", f->dir);
	char *old FREE_ON_EXIT = mem_printf("%s.1", path);
	int fd CLOSE_ON_EXIT = log_file_open(path, &e);
	assert_true(fd >= 0);
	char line[900];
	memset(line, 'x', sizeof(line));
	f->log_fd = fd;
	log_open("test", fd, LOG_INFO);
	log_before_line(bound, f);
	for (int i = 0; i < 5 * 1024; i++)
		log_info("%.*s", (int)sizeof(line), line);
	log_before_line(NULL, NULL);
	log_open("test", STDERR_FILENO, LOG_WARN);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 1, LOG_FILE_MOST + 1024);
	assert_int_equal(stat(old, &st), 0);
	assert_in_range(st.st_size, LOG_FILE_MOST, LOG_FILE_MOST + 1024);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

int main(int argc, char **argv)
{
	child_guard(argc, argv); /* helpers are started through this program */
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(a_folder_is_claimed_once),
	    T(two_never_hold_it_at_once),
	    T(leftovers_of_the_dead_go_away),
	    T(a_folder_that_others_can_enter_is_refused),
	    T(a_long_path_is_refused_by_name),
	    T(a_helper_is_heard_before_its_end),
	    T(a_helper_that_is_killed),
	    T(a_deaf_helper_is_killed_in_the_end),
	    T(exit_and_end_of_output_are_two_events),
	    T(ready_for_ever_is_not_told_for_ever),
	    T(a_grandchild_does_not_hide_the_end),
	    T(a_closed_helper_is_gone),
	    T(the_guest_says_ready),
	    T(programs_say_how_they_do),
	    T(another_version_is_told),
	    T(a_flood_makes_the_port_rest),
	    T(who_reads_no_answers_is_cut_off),
	    T(many_incidents_are_counted),
	    T(silent_callers_take_no_more_than_their_places),
	    T(refusals_and_tunnels_are_counted),
	    T(the_log_is_bounded),
	};
	return cmocka_run_group_tests_name("supervisor_parts", tests, NULL, NULL);
}
