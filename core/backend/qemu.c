/* One QEMU process and the four ways in which it talks: exit status, stderr, QMP, serial console.
 *
 * QEMU is done when it has been reaped *and* stderr and console have ended, or a short grace time after the exit. So
 * the last words of a crash are never lost, and a descriptor that leaked to somebody else cannot hold things up.
 *
 * How it ended is judged by qemu_end.c. */
#include "core/backend/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/backend/console_log.h"
#include "core/backend/program.h"
#include "core/backend/qemu_args.h"
#include "core/backend/qemu_end.h"
#include "core/backend/qmp.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"

#define EXIT_GRACE_MS    500  /* after the exit, for output still in the pipes */
#define GONE_GRACE_MS    5000 /* after the monitor closed, for the exit */
#define CONSOLE_BATCH_MS 2

struct backend {
	struct loop *loop; /* keeps */
	struct child *child;
	struct qmp *qmp;
	struct stream *console, *errors;
	struct console_log *log; /* or NULL */
	struct timer *grace, *batch;
	struct backend_events events;
	void *arg;
	bool closing; /* the owner is gone; only the reaping is left */
	bool exited, reported;
	bool resumed;        /* told by an event; its command is not done yet */
	struct qemu_end end; /* what is known of how it ends */
};
static_assert(sizeof(((struct qemu_end *)0)->shutdown) == sizeof(((struct qmp_message *)0)->reason),
              "copied whole");

char *qemu_find_program(struct err *e)
{
	char *path = program_find("qemu-system-x86_64", NULL);
	if (!path)
		err_set(e, ERR_NOT_FOUND,
		        "qemu-system-x86_64 is not in PATH: install the package qemu-system-x86");
	return path;
}

const char *qemu_find_firmware(void)
{
	/* Not the file of this name in QEMU's own folder: on Debian that is qboot, which knows microvm only. */
	static const char path[] = "/usr/share/seabios/bios-microvm.bin";
	return access(path, R_OK) == 0 ? path : NULL;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void close_channels(struct backend *b)
{
	qmp_close(b->qmp);
	stream_close(b->console, NULL, NULL);
	stream_close(b->errors, NULL, NULL);
	timer_close(b->grace);
	timer_close(b->batch);
	console_log_close(b->log);
	b->qmp = NULL;
	b->console = b->errors = NULL;
	b->grace = b->batch = NULL;
	b->log = NULL;
}

static void destroy(struct backend *b)
{
	close_channels(b);
	child_close(b->child);
	free(b);
}

static void report(struct backend *b)
{
	if (b->reported)
		return;
	b->reported = true;
	close_channels(b);
	char why[QEMU_WHY_SIZE];
	bool clean = qemu_end_judge(&b->end, why);
	b->events.on_exit(b->arg, clean, why); /* may have closed b */
}

static void report_if_done(struct backend *b)
{
	if (b->exited && !b->console && !b->errors)
		report(b);
}

static void on_grace_over(void *arg)
{
	struct backend *b = arg;
	if (b->exited) {
		report(b);
		return;
	}
	snprintf(b->end.broken, sizeof(b->end.broken), "QEMU closed its monitor but did not exit");
	child_kill(b->child, SIGKILL);
}

static void on_child_exit(void *arg, int code, int signum)
{
	struct backend *b = arg;
	b->exited = true;
	b->end.code = code;
	b->end.signal = signum;
	if (b->closing) {
		destroy(b);
		return;
	}
	timer_once(b->grace, EXIT_GRACE_MS);
	if (b->console)
		stream_resume(b->console);
	report_if_done(b);
}

/* ---- what it says ----------------------------------------------------------------------------------------------- */

static void on_qmp_event(void *arg, const struct qmp_message *m)
{
	struct backend *b = arg;
	bool stopped = strcmp(m->event, "STOP") == 0;
	bool resumed = strcmp(m->event, "RESUME") == 0;
	b->resumed = resumed || (b->resumed && !stopped);
	if (strcmp(m->event, "SHUTDOWN") == 0)
		memcpy(b->end.shutdown, m->reason, sizeof(b->end.shutdown));
	else if (b->events.on_paused && stopped)
		b->events.on_paused(b->arg, true);
	else if (b->events.on_guest_event &&
	         (strcmp(m->event, "GUEST_PANICKED") == 0 || strcmp(m->event, "RESET") == 0))
		b->events.on_guest_event(b->arg, m->event);
}

/* The event RESUME comes a moment before QEMU has started its devices again. */
static void on_qmp_done(void *arg)
{
	struct backend *b = arg;
	if (!b->resumed)
		return;
	b->resumed = false;
	if (b->events.on_paused)
		b->events.on_paused(b->arg, false);
}

static void on_qmp_broken(void *arg, const struct err *e)
{
	struct backend *b = arg;
	if (b->exited)
		return;
	if (e->kind == ERR_GONE) {
		timer_once(b->grace, GONE_GRACE_MS);
		return;
	}
	snprintf(b->end.broken, sizeof(b->end.broken), "QEMU's monitor cannot be trusted any more: %s",
	         e->msg);
	child_kill(b->child, SIGKILL);
}

static const struct qmp_ops qmp_callbacks = {
    .on_event = on_qmp_event, .on_done = on_qmp_done, .on_broken = on_qmp_broken};

static void on_batch(void *arg)
{
	struct backend *b = arg;
	if (b->console)
		stream_resume(b->console);
}

/* QEMU sends the console byte by byte. Looking only now and then lets the bytes of a flood gather in the socket, or
 * each of them would cost two system calls here. The guest waits when the socket is full, which is after some 280 writes
 * of one byte: a longer pause would slow down a verbose boot. */
static void on_console_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct backend *b = arg;
	if (!b->exited) {
		stream_pause(b->console);
		timer_once(b->batch, CONSOLE_BATCH_MS);
	}
	if (b->log)
		console_log_write(b->log, bytes, len);
	if (b->events.on_console)
		b->events.on_console(b->arg, bytes, len); /* may have closed b */
}

static void on_console_end(void *arg)
{
	struct backend *b = arg;
	stream_close(b->console, NULL, NULL);
	b->console = NULL;
	report_if_done(b);
}

static void on_console_error(void *arg, const struct err *e)
{
	(void)e; /* a reset of the socket is just another end */
	on_console_end(arg);
}

static const struct stream_ops console_callbacks = {
    .on_data = on_console_data,
    .on_eof = on_console_end,
    .on_error = on_console_error,
};

static void on_errors_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct backend *b = arg;
	qemu_end_add_words(&b->end, bytes, len);
}

static void on_errors_end(void *arg)
{
	struct backend *b = arg;
	stream_close(b->errors, NULL, NULL);
	b->errors = NULL;
	report_if_done(b);
}

static void on_errors_error(void *arg, const struct err *e)
{
	(void)e;
	on_errors_end(arg);
}

static const struct stream_ops errors_callbacks = {
    .on_data = on_errors_data,
    .on_eof = on_errors_end,
    .on_error = on_errors_error,
};

/* ---- the start -------------------------------------------------------------------------------------------------- */

struct pairs {
	int qmp[2], console[2], errors[2]; /* ours, the child's */
};

static void pairs_finish(struct pairs *p)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&p->qmp[i]);
		fd_close(&p->console[i]);
		fd_close(&p->errors[i]);
	}
}

static bool pairs_open(struct pairs *p, struct err *e)
{
	const int type = SOCK_STREAM | SOCK_CLOEXEC;
	if (socketpair(AF_UNIX, type, 0, p->qmp) != 0 || socketpair(AF_UNIX, type, 0, p->console) != 0 ||
	    pipe2(p->errors, O_CLOEXEC) != 0)
		return err_sys(e, errno, "sockets for QEMU");
	return true;
}

/* QEMU's own messages about a missing file are less clear. */
static bool check_files(const struct backend_spec *spec, struct err *e)
{
	const struct {
		const char *what, *path;
		int mode;
	} files[] = {
	    {"kernel", spec->kernel, R_OK},
	    {"initramfs", spec->initramfs, R_OK},
	    {"disk", spec->disk, R_OK | W_OK},
	};
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (files[i].path && access(files[i].path, files[i].mode) != 0)
			return err_sys(e, errno, "%s %s", files[i].what, files[i].path);
	for (size_t i = 0; i < spec->layer_count; i++)
		if (access(spec->layers[i], R_OK) != 0)
			return err_sys(e, errno, "image layer %s", spec->layers[i]);
	return true;
}

static bool spawn(struct backend *b, const struct pairs *p, const struct qemu_args *args, struct err *e)
{
	/* Nothing of the operator's environment: there may be secrets in it, and a guest may take QEMU over. */
	static const char *const env[] = {"LC_ALL=C", NULL};
	const struct child_spec child = {
	    .argv = (const char *const *)args->argv,
	    .env = env,
	    .fds = {CHILD_FD_NULL, p->errors[1], p->errors[1], p->qmp[1], p->console[1]},
	    .fd_count = 5,
	    .die_with_parent = true,
	    .new_session = true,
	};
	static_assert(QEMU_FD_QMP == 3 && QEMU_FD_CONSOLE == 4, "places in the list of descriptors");
	b->child = child_start(b->loop, &child, on_child_exit, b, e);
	return b->child != NULL;
}

static int take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

static bool open_channels(struct backend *b, struct pairs *p, struct err *e)
{
	b->qmp = qmp_open(b->loop, take_fd(&p->qmp[0]), &qmp_callbacks, b, e);
	if (!b->qmp)
		return false;
	b->console = stream_open(b->loop, take_fd(&p->console[0]), &console_callbacks, b, e);
	if (!b->console)
		return false;
	b->errors = stream_open(b->loop, take_fd(&p->errors[0]), &errors_callbacks, b, e);
	if (!b->errors)
		return false;
	stream_resume(b->console);
	stream_resume(b->errors);
	return true;
}

static void backend_close(struct backend *b)
{
	if (!b || b->closing)
		return;
	if (!b->child || b->exited) {
		destroy(b);
		return;
	}
	b->closing = true;
	child_kill(b->child, SIGKILL);
	close_channels(b); /* the child stays until it has been reaped */
}

static bool start_with(struct backend *b, const struct backend_spec *spec, const struct qemu_args *args,
                       struct err *e)
{
	struct pairs CLEANUP(pairs_finish) p = {{-1, -1}, {-1, -1}, {-1, -1}};
	if (!check_files(spec, e) || !pairs_open(&p, e))
		return false;
	if (spec->console_log && !(b->log = console_log_open(spec->console_log, e)))
		return false;
	return spawn(b, &p, args, e) && open_channels(b, &p, e);
}

struct backend *qemu_start(struct loop *loop, bool kvm, const struct backend_spec *spec,
                           const struct backend_events *events, void *arg, struct err *e)
{
	char *program FREE_ON_EXIT = qemu_find_program(e);
	if (!program)
		return NULL;
	struct qemu_args CLEANUP(qemu_args_finish) args = {.count = 0};
	const struct qemu_host host = {.program = program, .firmware = qemu_find_firmware(), .kvm = kvm};
	if (!qemu_args_build(&args, &host, spec, e))
		return NULL;
	struct backend *b = mem_alloc(sizeof(*b));
	b->loop = loop;
	b->events = *events;
	b->arg = arg;
	b->grace = timer_create_on(loop, on_grace_over, b);
	b->batch = timer_create_on(loop, on_batch, b);
	if (!start_with(b, spec, &args, e)) {
		backend_close(b);
		return NULL;
	}
	return b;
}

static struct backend *start_tcg(struct loop *loop, const struct backend_spec *spec,
                                 const struct backend_events *events, void *arg, struct err *e)
{
	return qemu_start(loop, false, spec, events, arg, e);
}

static struct backend *start_kvm(struct loop *loop, const struct backend_spec *spec,
                                 const struct backend_events *events, void *arg, struct err *e)
{
	return qemu_start(loop, true, spec, events, arg, e);
}

static void backend_power_down(struct backend *b)
{
	if (b->qmp)
		qmp_send(b->qmp, "system_powerdown");
}

static void backend_pause(struct backend *b, bool paused)
{
	if (b->qmp)
		qmp_send(b->qmp, paused ? "stop" : "cont");
}

static void backend_kill(struct backend *b)
{
	if (b->exited)
		return;
	b->end.killed = true;
	child_kill(b->child, SIGKILL);
}

static pid_t backend_pid(const struct backend *b)
{
	return child_pid(b->child);
}

const struct backend_ops backend_qemu_tcg = {
    .name = "qemu-tcg",
    .start = start_tcg,
    .power_down = backend_power_down,
    .pause = backend_pause,
    .kill = backend_kill,
    .pid = backend_pid,
    .close = backend_close,
};

const struct backend_ops backend_qemu_kvm = {
    .name = "qemu-kvm",
    .start = start_kvm,
    .power_down = backend_power_down,
    .pause = backend_pause,
    .kill = backend_kill,
    .pid = backend_pid,
    .close = backend_close,
};
