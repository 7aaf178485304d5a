/* Why the terminal is opened once more: O_NONBLOCK belongs to the open file, and standard output is the shell's open file, so
 * setting it there would follow the operator home; while a write to a terminal that polls writable may still block for
 * as long as nobody reads (a slow line, a stopped multiplexer), since there may be room for less than is written. */
#include "core/loop/rawtty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"
#include "core/loop/tty_guard.h"

#define LEAVE_MS  1000 /* for the last bytes; then what is on its way to the terminal is thrown away */
#define ANSWER_MS 300
#define SHARED_ROOM \
	256 /* bytes that a terminal takes for sure when it polls writable, where it could not be opened again */
#define WRITES_MOST 64   /* then the loop gets to look at keys */
#define TRIES_MOST  1000 /* for the foreground, with a shell that does not know of jobs */

struct rawtty {
	struct life life;
	uv_poll_t poll;
	struct loop *loop;
	struct tty_guard *guard; /* owned */
	struct rawtty_spec spec;
	const struct rawtty_ops *ops;
	void *arg;
	struct termios found;
	struct buf queue;
	size_t written; /* bytes at the front of the queue */
	int fd;         /* owned; non-blocking unless `shared` */
	bool shared;    /* it is standard output's open file */
	bool taken;
	bool answered;
	bool gone, gone_told;
};

/* For the hook of check.h, which has no argument: the terminal that a bug must give back. */
static struct rawtty *the_taken;

int rawtty_reopen(int fd)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void rawtty_size(unsigned *rows, unsigned *cols)
{
	struct winsize size = {0};
	bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;
	*rows = known ? size.ws_row : 24;
	*cols = known ? size.ws_col : 80;
}

/* ---- writing ---- */

static bool is_writable(const struct rawtty *t, int ms)
{
	struct pollfd p = {.fd = t->fd, .events = POLLOUT};
	return poll(&p, 1, ms) > 0;
}

/* What the terminal takes now; -1 after an error. */
static ssize_t write_some(const struct rawtty *t, const uint8_t *bytes, size_t len)
{
	if (t->shared) {
		if (!is_writable(t, 0))
			return 0;
		len = MIN(len, (size_t)SHARED_ROOM);
	}
	ssize_t n = write(t->fd, bytes, len);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n;
}

static void set_gone(struct rawtty *t)
{
	t->gone = true;
	buf_clear(&t->queue);
	t->written = 0;
}

static void flush_queue(struct rawtty *t)
{
	for (int i = 0; i < WRITES_MOST && t->written < t->queue.len; i++) {
		ssize_t n = write_some(t, t->queue.data + t->written, t->queue.len - t->written);
		if (n < 0)
			set_gone(t);
		if (n <= 0)
			return;
		t->written += (size_t)n;
	}
	if (t->written == t->queue.len) {
		buf_clear(&t->queue);
		t->written = 0;
	}
}

static void on_writable(uv_poll_t *handle, int status, int events)
{
	struct rawtty *t = CONTAINER_OF(handle->data, struct rawtty, life);
	(void)status; /* a hang-up shows in the write */
	(void)events;
	if (t->life.closing)
		return;
	flush_queue(t);
	if (t->queue.len > 0)
		return;
	uv_poll_stop(&t->poll);
	if (!t->gone)
		t->ops->on_drain(t->arg);
	else if (!t->gone_told) {
		t->gone_told = true;
		t->ops->on_gone(t->arg);
	}
}

void rawtty_write(struct rawtty *t, const void *bytes, size_t len)
{
	if (!t->taken || t->gone || len == 0)
		return;
	buf_put(&t->queue, bytes, len);
	CHECK(buf_ok(&t->queue)); /* its user waits for the drain */
	flush_queue(t);
	if (t->queue.len > 0 || t->gone)
		uv_poll_start(&t->poll, UV_WRITABLE, on_writable);
}

bool rawtty_is_drained(const struct rawtty *t)
{
	return t->queue.len == 0;
}

/* Not by the loop: until all is written or the time is over. */
static bool write_now(const struct rawtty *t, struct bytes text, int ms)
{
	uint64_t end = clock_mono_ms() + (uint64_t)ms;
	while (text.len > 0) {
		ssize_t n = write_some(t, text.p, text.len);
		if (n < 0)
			return true; /* it is gone: nothing to wait for */
		text.p += n;
		text.len -= (size_t)n;
		uint64_t now = clock_mono_ms();
		if (now >= end && text.len > 0)
			return false;
		if (text.len > 0)
			is_writable(t, (int)(end - now));
	}
	return true;
}

/* ---- modes ---- */

static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);
	return group <= 0 || group == getpgrp();
}

/* From the background the kernel would stop us for it, again and again when the signal is caught. */
static bool set_modes(const struct termios *modes)
{
	sigset_t block, old;
	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &block, &old);
	bool fine = tcsetattr(STDIN_FILENO, TCSANOW, modes) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return fine;
}

static void put_back(struct rawtty *t)
{
	buf_clear(&t->queue);
	t->written = 0;
	if (!t->life.closing)
		uv_poll_stop(&t->poll);
	if (!t->gone && !write_now(t, t->spec.leave, LEAVE_MS)) {
		tcflush(t->fd, TCOFLUSH);
		write_now(t, t->spec.leave, 0);
	}
}

/* Primary device attributes, the answer that every terminal gives, last: CSI ? digits c. */
static bool has_answer(const char *text, size_t len)
{
	for (size_t i = 0; i + 3 < len; i++) {
		if (memcmp(text + i, "\033[?", 3) != 0)
			continue;
		for (i += 3; i < len && strchr("0123456789;", text[i]) != NULL; i++)
			continue;
		if (i < len && text[i] == 'c')
			return true;
	}
	return false;
}

static void wait_for_answers(const struct rawtty *t)
{
	char text[1024];
	size_t len = 0;
	uint64_t end = clock_mono_ms() + ANSWER_MS, now;
	if (t->answered || t->gone)
		return;
	while ((now = clock_mono_ms()) < end && len < sizeof(text) && !has_answer(text, len)) {
		struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
		if (poll(&p, 1, (int)(end - now)) <= 0)
			continue;
		ssize_t n = read(STDIN_FILENO, text + len, sizeof(text) - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		len += (size_t)n;
	}
}

static void give_back(struct rawtty *t, bool patiently)
{
	put_back(t);
	if (patiently && in_foreground()) {
		wait_for_answers(t);
		tcflush(STDIN_FILENO, TCIFLUSH);
	}
	if (in_foreground())
		set_modes(&t->found);
	t->taken = false;
	tty_guard_set(t->guard, false);
}

static void on_bug(const char *msg)
{
	(void)msg; /* printed after this, on a terminal that shows it */
	if (the_taken && the_taken->taken)
		give_back(the_taken, false);
}

/* Typing must deliver every key as it is: no signals, no echo, no translation of Enter, no flow control. */
static bool enter(struct rawtty *t)
{
	struct termios raw = t->found;
	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tty_guard_set(t->guard, true);
	t->taken = true;
	t->answered = true;
	if (!set_modes(&raw))
		return false;
	rawtty_write(t, t->spec.enter.p, t->spec.enter.len);
	return true;
}

void rawtty_give_back(struct rawtty *t)
{
	if (t->taken)
		give_back(t, true);
}

/* With the action that signals of job control have by themselves. */
static void stop_job(int signum)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, old;
	sigemptyset(&stop.sa_mask);
	sigaction(signum, &stop, &old);
	kill(0, signum);
	sigaction(signum, &old, NULL);
}

void rawtty_take(struct rawtty *t)
{
	for (int i = 0; i < TRIES_MOST && !in_foreground(); i++)
		stop_job(SIGTTIN);
	/* We were stopped without a chance to give it back, and the shell has had it: from the start. */
	if (t->taken)
		put_back(t);
	enter(t);
}

void rawtty_stop(struct rawtty *t)
{
	rawtty_give_back(t);
	stop_job(SIGTSTP);
	rawtty_take(t);
}

bool rawtty_is_taken(const struct rawtty *t)
{
	return t->taken;
}

void rawtty_answered(struct rawtty *t, bool all)
{
	t->answered = all;
}

/* ---- opening and closing ---- */

static void on_life_gone(struct life *life)
{
	struct rawtty *t = CONTAINER_OF(life, struct rawtty, life);
	buf_finish(&t->queue);
	fd_close(&t->fd);
	free(t);
}

/* libuv sets O_NONBLOCK on what it watches. */
static bool watch_output(struct rawtty *t, struct err *e)
{
	t->fd = rawtty_reopen(STDOUT_FILENO);
	t->shared = t->fd < 0;
	if (t->shared)
		t->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int flags = fcntl(t->fd, F_GETFL);
	int rc = uv_poll_init(loop_uv(t->loop), &t->poll, t->fd);
	if (flags >= 0)
		fcntl(t->fd, F_SETFL, flags);
	if (rc < 0)
		return err_uv(e, rc, "watch the terminal");
	life_adopt(&t->life, (uv_handle_t *)&t->poll);
	return true;
}

struct rawtty *rawtty_open(struct loop *loop, const struct rawtty_spec *spec, const struct rawtty_ops *ops,
                           void *arg, struct err *e)
{
	CHECK(!the_taken);
	struct rawtty *t = mem_alloc(sizeof(*t));
	*t = (struct rawtty){.loop = loop, .spec = *spec, .ops = ops, .arg = arg, .fd = -1};
	buf_init(&t->queue, RAWTTY_QUEUE_MAX);
	life_init(&t->life, on_life_gone);
	bool fine = tcgetattr(STDIN_FILENO, &t->found) == 0 || err_sys(e, errno, "the terminal");
	if (fine && watch_output(t, e))
		t->guard = tty_guard_start(loop, STDIN_FILENO, &t->found, spec->leave.p, spec->leave.len, e);
	if (!t->guard) {
		rawtty_close(t);
		return NULL;
	}
	the_taken = t;
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
	if (!t || t->life.closing)
		return;
	rawtty_give_back(t);
	if (the_taken == t) {
		check_on_bug(NULL);
		the_taken = NULL;
	}
	tty_guard_close(t->guard);
	if (t->life.refs > 0)
		life_close_handle(&t->life, (uv_handle_t *)&t->poll);
	life_end(&t->life);
}
