#include "core/supervisor/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"

#define DRAIN_MS 500 /* after its exit, for its last lines */

/* A pipe of the helper, cut into lines; what is longer than a line may be is dropped up to its end. */
struct lines {
	struct helper *helper;
	struct stream *stream;
	void (*on_line)(struct helper *h, const char *line);
	char text[HELPER_LINE_MAX];
	size_t len;
};

struct helper {
	const char *name;
	struct loop *loop;
	struct child *child;
	struct timer *patience;
	struct lines notify, errors;
	bool exited;
	bool exit_told;
	char why[160];
	const struct helper_ops *ops;
	void *arg;
};

static void give_line(struct lines *l)
{
	char safe[HELPER_LINE_MAX * 2];
	escape_text(safe, sizeof(safe), l->text, l->len);
	l->len = 0;
	l->on_line(l->helper, safe);
}

static void on_lines_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct lines *l = arg;
	for (size_t i = 0; i < len && l->stream; i++) {
		if (bytes[i] == '\n')
			give_line(l);
		else if (l->len < sizeof(l->text))
			l->text[l->len++] = (char)bytes[i];
	}
}

/* Exit and end of output are two events, in either order. */
static void maybe_tell_exit(struct helper *h)
{
	if (!h->exited || h->exit_told || h->notify.stream || h->errors.stream)
		return;
	h->exit_told = true;
	timer_stop(h->patience);
	h->ops->on_exit(h->arg, h->why);
}

static void on_lines_eof(void *arg)
{
	struct lines *l = arg;
	if (l->len)
		give_line(l);
	stream_close(l->stream, NULL, NULL);
	l->stream = NULL;
	maybe_tell_exit(l->helper);
}

static void on_lines_error(void *arg, const struct err *e)
{
	(void)e;
	on_lines_eof(arg);
}

static const struct stream_ops LINES_OPS = {
    .on_data = on_lines_data, .on_eof = on_lines_eof, .on_error = on_lines_error};

/* Opens the reading end; *write_end is for the child. */
static bool open_lines(struct helper *h, struct lines *l, void (*on_line)(struct helper *h, const char *line),
                       int *write_end, struct err *e)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) != 0)
		return err_sys(e, errno, "pipe");
	*write_end = fds[1];
	fd_set_nonblock(fds[0], true);
	l->helper = h;
	l->on_line = on_line;
	l->stream = stream_open(h->loop, fds[0], &LINES_OPS, l, e);
	if (!l->stream)
		return false;
	stream_resume(l->stream);
	return true;
}

static void on_notify_line(struct helper *h, const char *line)
{
	h->ops->on_line(h->arg, line);
}

static void on_error_line(struct helper *h, const char *line)
{
	h->ops->on_error_line(h->arg, line);
}

static void on_child_exit(void *arg, int code, int signum)
{
	struct helper *h = arg;
	if (signum)
		snprintf(h->why, sizeof(h->why), "%s was killed by signal %d (%s)", h->name, signum,
		         strsignal(signum));
	else
		snprintf(h->why, sizeof(h->why), "%s ended with exit code %d", h->name, code);
	h->exited = true;
	timer_once(h->patience, DRAIN_MS);
	maybe_tell_exit(h);
}

static void on_impatient(void *arg)
{
	struct helper *h = arg;
	if (h->exited) {
		stream_close(h->notify.stream, NULL, NULL);
		stream_close(h->errors.stream, NULL, NULL);
		h->notify.stream = h->errors.stream = NULL;
		maybe_tell_exit(h);
		return;
	}
	log_warn("%s does not end: killing it", h->name);
	child_kill(h->child, SIGKILL);
}

struct helper *helper_start(struct loop *loop, const char *name, const char *const *argv,
                            const struct helper_ops *ops, void *arg, struct err *e)
{
	int notify CLOSE_ON_EXIT = -1, errors CLOSE_ON_EXIT = -1;
	struct helper *h = mem_alloc(sizeof(*h));
	h->name = name;
	h->loop = loop;
	h->ops = ops;
	h->arg = arg;
	h->patience = timer_create_on(loop, on_impatient, h);
	if (open_lines(h, &h->notify, on_notify_line, &notify, e) &&
	    open_lines(h, &h->errors, on_error_line, &errors, e)) {
		struct child_spec spec = {
		    .argv = argv,
		    .fds = {CHILD_FD_NULL, CHILD_FD_NULL, errors, notify},
		    .fd_count = 4,
		    .die_with_parent = true,
		};
		h->child = child_start(loop, &spec, on_child_exit, h, e);
	}
	if (!h->child) {
		h->exited = true;
		helper_close(h);
		err_wrap(e, "start %s", name);
		return NULL;
	}
	return h;
}

pid_t helper_pid(const struct helper *h)
{
	return h->exited ? 0 : child_pid(h->child);
}

void helper_signal(struct helper *h, int signum)
{
	if (!h->exited)
		child_kill(h->child, signum);
}

void helper_stop(struct helper *h)
{
	if (h->exited || timer_is_active(h->patience))
		return;
	child_kill(h->child, SIGTERM);
	timer_once(h->patience, HELPER_PATIENCE_MS);
}

void helper_close(struct helper *h)
{
	if (!h)
		return;
	helper_signal(h, SIGKILL);
	child_close(h->child);
	timer_close(h->patience);
	stream_close(h->notify.stream, NULL, NULL);
	stream_close(h->errors.stream, NULL, NULL);
	free(h);
}
