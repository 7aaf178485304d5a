#include "guest/program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/ring.h"
#include "guest/reactor.h"
#include "guest/reap.h"
#include "guest/session.h"

#define GRACE_MS 2000 /* for output after the exit, and between SIGHUP and SIGKILL */
/* The largest pipe that a program can have. What comes beyond that after its exit is somebody else's. */
#define PIPE_MOST (1024 * 1024)

enum { IN, OUT, ERR, STREAMS };

struct stream_end {
	struct program *program;
	int fd;
	struct reactor_watch *watch; /* NULL once closed */
};

struct program {
	struct list link;
	struct programs *set;
	const struct program_ops *ops;
	void *arg;
	pid_t pid;
	bool tty;
	struct stream_end ends[STREAMS];
	struct ring in;
	bool in_full;   /* the owner was told to stop */
	bool in_ending; /* end stdin when `in` is empty */
	bool paused;
	bool reaped, left, reported;
	int status;        /* of waitpid, once reaped */
	size_t after_exit; /* bytes of output since then */
	struct deadline grace;
	struct reap_wait wait;
};

static void close_end(struct program *p, int which)
{
	struct stream_end *s = &p->ends[which];
	reactor_unwatch(s->watch);
	s->watch = NULL;
	fd_close(&s->fd);
}

static bool output_ended(const struct program *p)
{
	return !p->ends[OUT].watch && !p->ends[ERR].watch;
}

static void forget(struct program *p)
{
	for (int i = 0; i < STREAMS; i++)
		close_end(p, i);
	deadline_clear(&p->grace);
	reap_forget(&p->wait);
	list_remove(&p->link);
	p->set->count--;
	ring_finish(&p->in);
	free(p);
}

static void report(struct program *p, bool cut)
{
	p->reported = true;
	deadline_clear(&p->grace);
	for (int i = 0; i < STREAMS; i++)
		close_end(p, i);
	int signum = WIFSIGNALED(p->status) ? WTERMSIG(p->status) : 0;
	p->ops->on_exit(p->arg, signum ? 0 : WEXITSTATUS(p->status), signum, cut);
}

static void report_if_done(struct program *p)
{
	if (p->reaped && !p->left && !p->reported && output_ended(p))
		report(p, false);
}

/* ---- output ---- */

static bool has_bytes(const struct stream_end *s)
{
	int n = 0;
	return s->watch && ioctl(s->fd, FIONREAD, &n) == 0 && n > 0;
}

static void on_grace(void *arg)
{
	struct program *p = arg;
	if (p->left) {
		session_signal(p->pid, SIGKILL);
		if (p->reaped)
			forget(p);
		return;
	}
	bool draining = p->paused || has_bytes(&p->ends[OUT]) || has_bytes(&p->ends[ERR]);
	if (draining && p->after_exit <= PIPE_MOST)
		deadline_set(&p->grace, p->set->reactor, GRACE_MS);
	else
		report(p, true);
}

static void on_output(void *arg, uint32_t events)
{
	(void)events;
	struct stream_end *s = arg;
	struct program *p = s->program;
	uint8_t chunk[PROGRAM_CHUNK];
	size_t len = 0;
	bool ended = false;
	/* A terminal gives 4 KiB at a time; one message for several of them. */
	while (len < sizeof(chunk) && !ended) {
		ssize_t n = read(s->fd, chunk + len, sizeof(chunk) - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		ended = n <= 0; /* a terminal ends with EIO */
		len += n > 0 ? (size_t)n : 0;
	}
	p->after_exit += p->reaped ? len : 0;
	if (ended)
		close_end(p, s == &p->ends[OUT] ? OUT : ERR);
	if (len)
		p->ops->on_output(p->arg, s == &p->ends[ERR], chunk, len);
	report_if_done(p);
}

void program_pause_output(struct program *p, bool paused)
{
	p->paused = paused;
	for (int i = OUT; i <= ERR; i++) {
		if (!p->ends[i].watch)
			continue;
		if (paused)
			reactor_deafen(p->ends[i].watch);
		else
			reactor_want(p->ends[i].watch, EPOLLIN);
	}
}

/* ---- input ---- */

static void end_input(struct program *p)
{
	struct termios t;
	if (!p->tty) {
		close_end(p, IN);
		return;
	}
	uint8_t eof = 4;
	if (tcgetattr(p->ends[IN].fd, &t) == 0)
		eof = (uint8_t)t.c_cc[VEOF];
	ring_put(&p->in, &eof, 1);
}

/* Nobody reads it any more: drop what is there and what comes, so that the sender does not wait for ever. */
static void lose_input(struct program *p)
{
	close_end(p, IN);
	ring_take(&p->in, ring_used(&p->in));
}

static void write_input(struct program *p)
{
	struct iovec spans[2];
	while (p->ends[IN].watch) {
		if (!ring_used(&p->in) && p->in_ending) {
			p->in_ending = false;
			end_input(p);
			continue;
		}
		int count = ring_read_spans(&p->in, spans);
		ssize_t n = count ? writev(p->ends[IN].fd, spans, count) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			lose_input(p);
		if (n <= 0)
			break;
		ring_take(&p->in, (size_t)n);
	}
	if (p->ends[IN].watch)
		reactor_want(p->ends[IN].watch, ring_used(&p->in) ? EPOLLOUT : 0);
	if (p->in_full && !program_stdin_is_full(p)) {
		p->in_full = false;
		p->ops->on_stdin_room(p->arg);
	}
}

static void on_input(void *arg, uint32_t events)
{
	struct stream_end *s = arg;
	if (events & (EPOLLERR | EPOLLHUP))
		lose_input(s->program);
	write_input(s->program);
}

bool program_put_stdin(struct program *p, const uint8_t *bytes, size_t len)
{
	if (!p->ends[IN].watch || p->in_ending)
		return true;
	if (ring_put(&p->in, bytes, len) != len)
		return false;
	write_input(p);
	p->in_full = program_stdin_is_full(p);
	return true;
}

void program_end_stdin(struct program *p)
{
	p->in_ending = true;
	write_input(p);
}

bool program_stdin_is_full(const struct program *p)
{
	return ring_used(&p->in) > PROGRAM_STDIN_SIZE / 2;
}

/* ---- life ---- */

static void on_status(void *arg, int status)
{
	struct program *p = arg;
	p->reaped = true;
	p->status = status;
	if (!p->left) {
		deadline_set(&p->grace, p->set->reactor, GRACE_MS);
		report_if_done(p);
	} else if (!deadline_is_set(&p->grace) || session_signal(p->pid, 0) == 0) {
		forget(p); /* killed, or nobody of its session is left to be killed */
	}
}

static void watch_ends(struct program *p, const struct spawned *s)
{
	int fds[STREAMS] = {[IN] = s->in, [OUT] = s->out, [ERR] = s->err};
	for (int i = 0; i < STREAMS; i++) {
		struct stream_end *end = &p->ends[i];
		*end = (struct stream_end){.program = p, .fd = fds[i]};
		if (end->fd >= 0)
			end->watch = reactor_watch(p->set->reactor, end->fd, i == IN ? 0 : EPOLLIN,
			                           i == IN ? on_input : on_output, end);
	}
}

struct program *program_start(struct programs *set, const struct spawn_spec *spec,
                              const struct program_ops *ops, void *arg, struct err *e)
{
	if (set->count >= PROGRAM_MOST) {
		err_set(e, ERR_LIMIT, "%d programs are running in the VM already", PROGRAM_MOST);
		return NULL;
	}
	struct spawn_spec full = *spec;
	struct spawned started;
	full.files = &set->files;
	if (!spawn_start(&full, &started, e))
		return NULL;
	struct program *p = mem_alloc(sizeof(*p));
	*p = (struct program){.set = set, .ops = ops, .arg = arg, .pid = started.pid, .tty = spec->tty};
	ring_init(&p->in, PROGRAM_STDIN_SIZE);
	deadline_init(&p->grace, on_grace, p);
	reaper_expect(set->reaper, &p->wait, p->pid, on_status, p);
	watch_ends(p, &started);
	list_append(&set->all, &p->link);
	set->count++;
	return p;
}

pid_t program_pid(const struct program *p)
{
	return p->pid;
}

void program_resize(struct program *p, uint16_t rows, uint16_t cols)
{
	struct winsize size = {.ws_row = rows, .ws_col = cols};
	if (p->tty && p->ends[OUT].watch)
		ioctl(p->ends[OUT].fd, TIOCSWINSZ, &size);
}

void program_signal(struct program *p, int signum)
{
	/* Right after the fork the child has no group of its own yet. */
	if (!p->reaped && kill(-p->pid, signum) != 0)
		kill(p->pid, signum);
}

void program_leave(struct program *p)
{
	if (!p)
		return;
	p->left = true;
	for (int i = 0; i < STREAMS; i++)
		close_end(p, i);
	/* After the report, what still runs was put into the background on purpose. */
	if (p->reported) {
		forget(p);
		return;
	}
	size_t members = session_signal(p->pid, SIGHUP);
	session_signal(p->pid, SIGCONT);
	if (p->reaped && !members)
		forget(p);
	else
		deadline_set(&p->grace, p->set->reactor, GRACE_MS);
}

void programs_init(struct programs *set, struct reactor *reactor, struct reaper *reaper)
{
	*set = (struct programs){.reactor = reactor, .reaper = reaper};
	getrlimit(RLIMIT_NOFILE, &set->files);
	list_init(&set->all);
}

void programs_finish(struct programs *set)
{
	LIST_FOREACH (item, &set->all) {
		struct program *p = LIST_ENTRY(item, struct program, link);
		session_signal(p->pid, SIGKILL);
		forget(p);
	}
}
