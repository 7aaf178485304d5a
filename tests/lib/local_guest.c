#include "tests/lib/local_guest.h"

#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/check.h"
#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/loop/listener.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

#define PIECE (64 * 1024) /* at least what the loop reads at once */

struct caller { /* one connection of the supervisor */
	struct list link;
	struct guest *owner;
	struct stream *stream;
	struct frame_reader frames;
	struct buf out;
	char line[40];
	size_t line_len;
	bool connected;
	uint32_t id;
	struct stream *pty; /* of its program, or NULL */
	pid_t pid;
};

struct guest { /* the process */
	struct loop *loop;
	struct listener *listener;
	struct stream *written; /* what we are told to write */
	char *const *shell;
	struct list callers;
};

struct local_guest { /* its owner's side */
	pid_t pid;
	int fd;
};

static void free_caller(void *arg)
{
	struct caller *c = arg;
	frame_reader_finish(&c->frames);
	buf_finish(&c->out);
	free(c);
}

static void hang_up(struct caller *c)
{
	stream_close(c->pty, NULL, NULL);
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	list_remove(&c->link);
	stream_close(c->stream, free_caller, c);
}

static void flush(struct caller *c)
{
	CHECK(buf_ok(&c->out) && stream_send(c->stream, c->out.data, c->out.len));
	buf_clear(&c->out);
}

/* ---- a program with a terminal ---- */

static void write_out(struct caller *c, const void *bytes, size_t len)
{
	while (len > 0) {
		size_t n = MIN(len, (size_t)WIRE_DATA_MAX);
		struct wire_stdout_data m = {.data = {.p = bytes, .len = n}};
		CHECK(wire_put_stdout_data(&c->out, c->id, &m));
		flush(c);
		bytes = (const char *)bytes + n;
		len -= n;
	}
	if (c->pty && stream_is_full(c->stream))
		stream_pause(c->pty);
}

/* A terminal gives 4 KiB at a time; one message for several of them, as the real agent does it. */
static void on_pty_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct caller *c = arg;
	uint8_t chunk[PIECE];
	ssize_t n = 0;
	len = MIN(len, sizeof(chunk));
	memcpy(chunk, bytes, len);
	while (len < sizeof(chunk) && (n = read(stream_fd(c->pty), chunk + len, sizeof(chunk) - len)) > 0)
		len += (size_t)n;
	write_out(c, chunk, len);
}

static void on_pty_eof(void *arg)
{
	struct caller *c = arg;
	int status = 0;
	stream_close(mem_steal(&c->pty), NULL, NULL);
	waitpid(c->pid, &status, 0);
	c->pid = 0;
	struct wire_exit m = {.code = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 0,
	                      .signum = WIFSIGNALED(status) ? (uint8_t)WTERMSIG(status) : 0};
	wire_put_exit(&c->out, c->id, &m);
	flush(c);
}

static void on_pty_error(void *arg, const struct err *e)
{
	(void)e;
	on_pty_eof(arg);
}

static const struct stream_ops PTY_OPS = {
    .on_data = on_pty_data, .on_eof = on_pty_eof, .on_error = on_pty_error};

static void run_program(char *const *argv, char *const *env)
{
	setenv("TERM", "xterm-256color", 1);
	setenv("PS1", "$ ", 1);
	unsetenv("ENV");
	/* A test's shell starts us in the background, where these are ignored. */
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	for (; *env; env++)
		putenv(*env);
	execvp(argv[0], argv);
	_exit(127);
}

static void start_program(struct caller *c, const struct wire_agent_spawn *m)
{
	struct winsize size = {.ws_row = m->rows, .ws_col = m->cols};
	struct err e = ERR_INIT;
	int master;
	char **argv = wire_unpack_strings(m->argv, 256, &e), **env = wire_unpack_strings(m->env, 256, &e);
	CHECK(argv && env);
	c->pid = forkpty(&master, NULL, NULL, &size);
	if (c->pid == 0)
		run_program(argv[0] ? argv : c->owner->shell, env);
	CHECK(c->pid > 0);
	free(argv);
	free(env);
	fd_set_cloexec(master, true);
	c->pty = stream_open(c->owner->loop, master, &PTY_OPS, c, &e);
	CHECK(c->pty);
	struct wire_agent_spawned spawned = {.pid = (uint32_t)c->pid};
	wire_put_agent_spawned(&c->out, c->id, &spawned);
	flush(c);
	stream_resume(c->pty);
}

/* ---- messages ---- */

static void pretend_to_run(struct caller *c, const struct wire_agent_spawn *m)
{
	struct wire_exit end = {.code = 4};
	struct bytes name = {.p = m->argv.p, .len = strnlen((const char *)m->argv.p, m->argv.len)};
	wire_put_agent_spawned(&c->out, c->id, &(struct wire_agent_spawned){.pid = 100});
	wire_put_stdout_data(&c->out, c->id, &(struct wire_stdout_data){name});
	wire_put_stderr_data(&c->out, c->id, &(struct wire_stderr_data){name});
	wire_put_exit(&c->out, c->id, &end);
	flush(c);
}

static void on_spawn(struct caller *c, const struct frame *f)
{
	struct wire_agent_spawn m;
	struct err e = ERR_INIT;
	CHECK(wire_get_agent_spawn(f->body, &m, &e));
	c->id = f->id;
	if (m.tty)
		start_program(c, &m);
	else
		pretend_to_run(c, &m);
}

static void on_input(struct caller *c, const struct frame *f)
{
	struct wire_stdin_data in;
	struct wire_resize resize;
	struct wire_signal sig;
	struct err e = ERR_INIT;
	if (!c->pty)
		return;
	if (f->type == WIRE_STDIN && wire_get_stdin_data(f->body, &in, &e)) {
		bool taken = stream_send(c->pty, in.data.p, in.data.len);
		(void)taken; /* a line that is full loses what comes */
	} else if (f->type == WIRE_RESIZE && wire_get_resize(f->body, &resize, &e)) {
		struct winsize size = {.ws_row = resize.rows, .ws_col = resize.cols};
		ioctl(stream_fd(c->pty), TIOCSWINSZ, &size);
	} else if (f->type == WIRE_SIGNAL && wire_get_signal(f->body, &sig, &e)) {
		kill(-c->pid, sig.signum);
	}
}

static bool on_frame(void *arg, const struct frame *f)
{
	struct caller *c = arg;
	struct wire_agent_pong pong = {
	    .relay_listening = 1, .vsock_reachable = 1, .lo_up = 1, .uptime_ms = 1234};
	struct wire_ok ok = {.text = ""};
	if (f->type == WIRE_AGENT_SPAWN)
		on_spawn(c, f);
	else if (f->type == WIRE_AGENT_PING && wire_put_agent_pong(&c->out, f->id, &pong))
		flush(c);
	else if (f->type == WIRE_AGENT_SHUTDOWN && wire_put_ok(&c->out, f->id, &ok))
		flush(c);
	else
		on_input(c, f);
	return true;
}

/* ---- connections ---- */

static void on_connect_line(struct caller *c)
{
	static const char OK[] = "OK 1073741824\n";
	CHECK(strcmp(c->line, "CONNECT 9001") == 0);
	c->connected = true;
	buf_put(&c->out, OK, sizeof(OK) - 1);
	wire_put_my_hello(&c->out, "guest");
	flush(c);
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct caller *c = arg;
	struct err e = ERR_INIT;
	for (; !c->connected && len > 0; bytes++, len--) {
		if (*bytes == '\n')
			on_connect_line(c);
		else if (c->line_len < sizeof(c->line) - 1)
			c->line[c->line_len++] = (char)*bytes;
	}
	CHECK(frame_feed(&c->frames, bytes, len, on_frame, c, &e) != FRAME_BAD);
}

static void on_eof(void *arg)
{
	hang_up(arg);
}

static void on_error(void *arg, const struct err *e)
{
	(void)e;
	hang_up(arg);
}

static void on_drain(void *arg)
{
	struct caller *c = arg;
	if (c->pty)
		stream_resume(c->pty);
}

static const struct stream_ops STREAM_OPS = {
    .on_data = on_data, .on_eof = on_eof, .on_error = on_error, .on_drain = on_drain};

static void on_accept(void *arg, int fd)
{
	struct guest *g = arg;
	struct err e = ERR_INIT;
	struct caller *c = mem_alloc(sizeof(*c));
	c->owner = g;
	frame_reader_init(&c->frames);
	buf_init(&c->out, 1 << 20);
	c->stream = stream_open(g->loop, fd, &STREAM_OPS, c, &e);
	CHECK(c->stream);
	list_append(&g->callers, &c->link);
	stream_resume(c->stream);
}

/* ---- the process ---- */

static void on_written(void *arg, const uint8_t *bytes, size_t len)
{
	struct guest *g = arg;
	LIST_FOREACH (item, &g->callers) {
		struct caller *c = LIST_ENTRY(item, struct caller, link);
		if (c->pty) {
			write_out(c, bytes, len);
			return;
		}
	}
}

static void on_owner_gone(void *arg)
{
	struct guest *g = arg;
	LIST_FOREACH (item, &g->callers)
		hang_up(LIST_ENTRY(item, struct caller, link));
	_exit(0);
}

static void on_owner_error(void *arg, const struct err *e)
{
	(void)e;
	on_owner_gone(arg);
}

static const struct stream_ops OWNER_OPS = {
    .on_data = on_written, .on_eof = on_owner_gone, .on_error = on_owner_error};

static NORETURN void run_guest(const char *path, char *const *shell, int fd)
{
	struct err e = ERR_INIT;
	struct guest g = {.loop = loop_create(), .shell = shell};
	list_init(&g.callers);
	g.listener = listener_open(g.loop, path, on_accept, &g, &e);
	g.written = stream_open(g.loop, fd, &OWNER_OPS, &g, &e);
	CHECK(g.listener && g.written);
	CHECK(stream_send(g.written, "", 1)); /* it listens */
	stream_resume(g.written);
	loop_run(g.loop);
	_exit(0);
}

struct local_guest *local_guest_start(const char *path, char *const *shell)
{
	struct local_guest *g = mem_alloc(sizeof(*g));
	int fds[2];
	char ready;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	g->pid = fork();
	CHECK(g->pid >= 0);
	if (g->pid == 0) {
		close(fds[0]);
		run_guest(path, shell, fds[1]);
	}
	close(fds[1]);
	g->fd = fds[0];
	CHECK(fd_read_full(g->fd, &ready, 1) == 1);
	return g;
}

void local_guest_end(struct local_guest *g)
{
	close(g->fd);
	waitpid(g->pid, NULL, 0);
	free(g);
}

void local_guest_write(struct local_guest *g, const void *bytes, size_t len)
{
	CHECK(fd_write_all(g->fd, bytes, len));
}
