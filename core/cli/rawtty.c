#include "core/cli/rawtty.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/tty_guard.h"
#include "core/term/tty.h"

#define ENTER_MOST 1024
/* Asks whether frames may be wrapped in synchronised output; the answer comes as input. */
#define ASK_SYNC "\033[?2026$p"

struct rawtty {
	struct termios found;
	struct tty_guard *guard;
};

/* For the hook of check.h, which has no argument: the terminal that an abort must give back. */
static struct rawtty *taken;

static void leave(struct rawtty *t)
{
	size_t len;
	const char *bytes = tty_leave_bytes(&len);
	fd_write_all(STDOUT_FILENO, bytes, len);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &t->found);
	tty_guard_set(t->guard, false);
}

static void on_bug(const char *msg)
{
	(void)msg; /* printed after this, on a terminal that shows it */
	if (taken)
		leave(taken);
}

static bool enter(struct rawtty *t)
{
	struct termios raw = t->found;
	struct buf out = BUF_INIT(ENTER_MOST);
	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tty_guard_set(t->guard, true);
	tty_enter(&out);
	buf_put(&out, ASK_SYNC, sizeof(ASK_SYNC) - 1);
	bool fine =
	    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0 && fd_write_all(STDOUT_FILENO, out.data, out.len);
	buf_finish(&out);
	return fine;
}

struct rawtty *rawtty_open(struct loop *loop, struct err *e)
{
	size_t len;
	const char *bytes = tty_leave_bytes(&len);
	CHECK(!taken);
	struct rawtty *t = mem_alloc(sizeof(*t));
	if (tcgetattr(STDIN_FILENO, &t->found) != 0)
		err_sys(e, errno, "the terminal");
	else
		t->guard = tty_guard_start(loop, STDIN_FILENO, &t->found, bytes, len, e);
	if (!t->guard) {
		free(t);
		return NULL;
	}
	taken = t;
	check_on_bug(on_bug);
	if (!enter(t)) {
		err_sys(e, errno, "the terminal");
		rawtty_close(t);
		return NULL;
	}
	return t;
}

void rawtty_close(struct rawtty *t)
{
	if (!t)
		return;
	leave(t);
	check_on_bug(NULL);
	taken = NULL;
	tty_guard_close(t->guard);
	free(t);
}

void rawtty_suspend(struct rawtty *t)
{
	leave(t);
	kill(getpid(), SIGSTOP); /* returns when we are continued */
	enter(t);
}

void rawtty_size(unsigned *rows, unsigned *cols)
{
	struct winsize size = {0};
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;
	*rows = known ? size.ws_row : 24;
	*cols = known ? size.ws_col : 80;
}
