#include "guest/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "guest/env.h"

#define NOT_FOUND      127
#define NOT_EXECUTABLE 126

/* The child's ends: 0, 1, 2, and ours. */
struct ends {
	int child[3];
	struct spawned ours;
};

static void close_ends(struct ends *n)
{
	for (int i = 0; i < 3; i++)
		fd_close(&n->child[i]);
}

static void close_ours(struct spawned *s)
{
	fd_close(&s->in);
	fd_close(&s->out);
	fd_close(&s->err);
}

/* Line editing in the kernel must count characters, not bytes. */
static void use_utf8(int tty)
{
	struct termios t;
	if (tcgetattr(tty, &t) == 0) {
		t.c_iflag |= IUTF8;
		tcsetattr(tty, TCSANOW, &t);
	}
}

static bool open_terminal(const struct spawn_spec *spec, struct ends *n, struct err *e)
{
	char name[64];
	struct winsize size = {.ws_row = spec->rows, .ws_col = spec->cols};
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	n->ours.out = master;
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
	    ptsname_r(master, name, sizeof(name)) != 0 || ioctl(master, TIOCSWINSZ, &size) != 0)
		return err_sys(e, errno, "open a terminal");
	n->ours.in = fcntl(master, F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 3; i++) {
		n->child[i] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (n->child[i] < 0)
			return err_sys(e, errno, "open %s", name);
	}
	if (n->ours.in < 0)
		return err_sys(e, errno, "open a terminal");
	use_utf8(n->child[0]);
	return true;
}

static bool open_pipes(struct ends *n, struct err *e)
{
	int in[2], out[2], err[2];
	if (pipe2(in, O_CLOEXEC) != 0)
		return err_sys(e, errno, "open a pipe");
	n->child[0] = in[0];
	n->ours.in = in[1];
	if (pipe2(out, O_CLOEXEC) != 0)
		return err_sys(e, errno, "open a pipe");
	n->child[1] = out[1];
	n->ours.out = out[0];
	if (pipe2(err, O_CLOEXEC) != 0)
		return err_sys(e, errno, "open a pipe");
	n->child[2] = err[1];
	n->ours.err = err[0];
	/* Only our ends: blocking or not belongs to the pipe's end, and programs expect theirs to block. */
	fd_set_nonblock(n->ours.in, true);
	fd_set_nonblock(n->ours.out, true);
	fd_set_nonblock(n->ours.err, true);
	return true;
}

/* ---- in the child ---- */

static NORETURN void give_up(const char *what, int code)
{
	dprintf(STDERR_FILENO, "ccvm: %s: %s\n", what, strerror(errno));
	_exit(code);
}

static void default_signals(void)
{
	sigset_t none;
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static NORETURN void run_login_shell(void)
{
	struct passwd *pw = getpwuid(getuid());
	const char *shell = pw && pw->pw_shell && pw->pw_shell[0] == '/' ? pw->pw_shell : "/bin/sh";
	char name[PATH_MAX];
	snprintf(name, sizeof(name), "-%s", strrchr(shell, '/') + 1);
	setenv("SHELL", shell, 0);
	execl(shell, name, (char *)NULL);
	give_up(shell, NOT_FOUND);
}

static NORETURN void run(char *const *argv)
{
	if (!argv[0])
		run_login_shell();
	execvp(argv[0], argv);
	bool missing = errno == ENOENT || errno == ENOTDIR;
	if (missing && !strchr(argv[0], '/')) {
		dprintf(STDERR_FILENO, "ccvm: %s: command not found\n", argv[0]);
		_exit(NOT_FOUND);
	}
	give_up(argv[0], missing ? NOT_FOUND : NOT_EXECUTABLE);
}

static NORETURN void become(const struct spawn_spec *spec, const struct ends *n)
{
	default_signals();
	setsid();
	if (spec->tty)
		ioctl(n->child[0], TIOCSCTTY, 0);
	for (int i = 0; i < 3; i++)
		dup2(n->child[i], i);
	if (spec->files)
		setrlimit(RLIMIT_NOFILE, spec->files);
	umask(022);
	environ = (char **)(uintptr_t)spec->env;
	const char *home = env_get(spec->env, "HOME");
	const char *cwd = spec->cwd[0] ? spec->cwd : home;
	if (spec->cwd[0] && chdir(cwd) != 0)
		give_up(cwd, NOT_EXECUTABLE);
	if (!spec->cwd[0] && (!home || chdir(home) != 0) && chdir("/") != 0)
		give_up("/", NOT_EXECUTABLE);
	run(spec->argv);
}

bool spawn_start(const struct spawn_spec *spec, struct spawned *out, struct err *e)
{
	struct ends n = {.child = {-1, -1, -1}, .ours = {.in = -1, .out = -1, .err = -1}};
	pid_t pid = -1;
	if (spec->tty ? open_terminal(spec, &n, e) : open_pipes(&n, e)) {
		pid = fork();
		if (pid == 0)
			become(spec, &n);
		if (pid < 0)
			err_sys(e, errno, "fork");
	}
	close_ends(&n);
	if (pid < 0) {
		close_ours(&n.ours);
		return false;
	}
	n.ours.pid = pid;
	*out = n.ours;
	return true;
}
