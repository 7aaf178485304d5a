/* The guard reads from a socket whose other end only the guarded program has: first what to do, then single bytes: '1'
 * (on), '0' (off), 'q' (all is well, leave). The end of file without 'q' is the end of the program, however it came; the
 * kernel tells it before it tells the shell. The guard says once that it is ready: until then a signal to the group of
 * the program would reach it too, so nobody takes the terminal before.
 *
 * The shell may be quicker in spite of that: it takes the terminal for itself and sets the modes that it wants. Then the
 * foreground process group is not ours any more and the modes are left alone; the bytes are written in any case. */
#include "core/loop/tty_guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/child.h"

#define GUARD_FLAG "--ccvm-tty-guard"
#define GUARD_FD   3
#define READY_MS   10000 /* it only has to be loaded */

struct orders {
	struct termios modes;
	pid_t group; /* process group of the guarded program */
	size_t len;
	char bytes[TTY_GUARD_BYTES_MAX];
};

struct tty_guard {
	struct child *child;
	int socket;
};

/* ---- the guard's side ---- */

static void ignore_signals(void)
{
	static const int IGNORED[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE};
	for (size_t i = 0; i < ARRAY_LEN(IGNORED); i++)
		signal(IGNORED[i], SIG_IGN);
}

void tty_guard_main(int argc, char **argv)
{
	struct orders o;
	char word, last = '0';
	if (argc != 2 || strcmp(argv[1], GUARD_FLAG) != 0)
		return;
	ignore_signals();
	setpgid(0, 0);
	if (!fd_write_all(GUARD_FD, "r", 1) || fd_read_full(GUARD_FD, &o, sizeof(o)) != (ssize_t)sizeof(o))
		_exit(1);
	while (fd_read_full(GUARD_FD, &word, 1) == 1)
		last = word;
	if (last == '1') {
		pid_t group =
		    tcgetpgrp(STDIN_FILENO); /* 0 or -1: the session that had the terminal is over */
		bool ours = group == o.group || group <= 0;
		fd_write_all(STDIN_FILENO, o.bytes, MIN(o.len, sizeof(o.bytes)));
		if (ours)
			tcsetattr(STDIN_FILENO, TCSANOW, &o.modes);
	}
	_exit(0);
}

/* ---- the guarded program's side ---- */

static void on_exit_of_guard(void *arg, int code, int signum)
{
	(void)arg; /* somebody killed it: the terminal is only unguarded */
	(void)code;
	(void)signum;
}

static bool wait_ready(int socket, struct err *e)
{
	char word;
	struct pollfd p = {.fd = socket, .events = POLLIN};
	int rc;
	do /* another child may end meanwhile */
		rc = poll(&p, 1, READY_MS);
	while (rc < 0 && errno == EINTR);
	if (rc <= 0 || fd_read_full(socket, &word, 1) != 1)
		return err_set(e, ERR_INTERNAL, "the guard of the terminal does not start");
	return true;
}

struct tty_guard *tty_guard_start(struct loop *loop, int fd, const struct termios *modes, const void *bytes,
                                  size_t len, struct err *e)
{
	static const char *const ARGV[] = {"/proc/self/exe", GUARD_FLAG, NULL};
	int ends[2];
	struct orders o;
	CHECK(len <= sizeof(o.bytes));
	memset(&o, 0, sizeof(o)); /* the padding goes through the socket, too */
	o.modes = *modes;
	o.group = getpgrp();
	o.len = len;
	memcpy(o.bytes, bytes, len);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		err_sys(e, errno, "create a socket");
		return NULL;
	}
	struct child_spec spec = {
	    .argv = ARGV, .fds = {fd, CHILD_FD_NULL, CHILD_FD_NULL, ends[0]}, .fd_count = 4};
	struct child *child = child_start(loop, &spec, on_exit_of_guard, NULL, e);
	fd_close(&ends[0]);
	bool fine = child && wait_ready(ends[1], e);
	if (!fine || !fd_write_all(ends[1], &o, sizeof(o))) {
		if (fine)
			err_sys(e, errno, "tell the guard of the terminal");
		child_close(child);
		fd_close(&ends[1]);
		return NULL;
	}
	struct tty_guard *g = mem_alloc(sizeof(*g));
	g->child = child;
	g->socket = ends[1];
	return g;
}

void tty_guard_set(struct tty_guard *g, bool on)
{
	fd_write_all(g->socket, on ? "1" : "0", 1);
}

void tty_guard_close(struct tty_guard *g)
{
	if (!g)
		return;
	fd_write_all(g->socket, "q", 1);
	fd_close(&g->socket);
	child_close(g->child);
	free(g);
}
