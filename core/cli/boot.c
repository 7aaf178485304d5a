#include "core/cli/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/backend/accel.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/cli/format.h"
#include "core/cli/progress.h"
#include "core/client/client.h"
#include "core/config/paths.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"

#define TICK_MS   500
#define LISTEN_MS 20000 /* the supervisor checks the image before it listens */
#define EGRESS_MS 15000 /* after READY: for the first answer about the way out */
#define SLACK_MS \
	60000 /* over the VM's own deadline, which the supervisor keeps: probing KVM, ending what runs */
#define NOTE_MOST 1024

struct boot {
	struct loop *loop;
	const struct vm_spec *spec;
	struct child *supervisor;
	pid_t pid;
	struct stream *notes; /* what the supervisor says before it can be connected to */
	struct str note;
	struct client *client;
	struct timer *tick;
	struct progress progress;
	bool listening;
	bool done;
	struct vm_status status;
	uint64_t ready_at_ms; /* on the progress clock; 0: not yet */
	enum boot_end end;
	struct err *e;
};

static void finish(struct boot *b, enum boot_end end)
{
	if (b->done)
		return;
	b->done = true;
	b->end = end;
}

/* ---- the end ---- */

/* "qemu-tcg: no KVM, a test guest printed nothing for 4 s": what runs, and why when it was left to us. */
static void describe_backend(const struct boot *b, char *out, size_t size)
{
	char why[ACCEL_WHY_SIZE] = "";
	struct accel_answer answer;
	char *cache FREE_ON_EXIT = paths_cache_dir();
	char *memory FREE_ON_EXIT = paths_join(cache, "backend");
	bool chosen = strcmp(b->spec->backend, "auto") == 0 && strcmp(b->status.backend, "qemu-tcg") == 0;
	if (chosen && accel_kvm_opens(why) && accel_recall_any(memory, &answer))
		snprintf(why, sizeof(why), "%s", answer.why);
	snprintf(out, size, "%s%s%s", b->status.backend, why[0] ? ": no KVM, " : "", why);
}

static void print_result(struct boot *b)
{
	char took[FORMAT_SIZE], backend[sizeof(b->status.backend) + ACCEL_WHY_SIZE + 16];
	const struct vm_status *s = &b->status;
	format_seconds(took, b->ready_at_ms);
	describe_backend(b, backend, sizeof(backend));
	progress_end(&b->progress);
	printf("%s ready in %s (%s)  egress: %s\n", s->name, took, backend, vm_egress_name(s->egress));
	fflush(stdout);
}

static void fail_not_started(struct boot *b, const char *why)
{
	if (b->done)
		return;
	err_set(b->e, ERR_INTERNAL, "VM %s was not started: %s", b->spec->name, why);
	finish(b, BOOT_NOT_STARTED);
}

/* The console log is made with the VMM: without one there is nothing to find out from what is left. */
static bool has_console(const struct vm_spec *spec)
{
	char *dir FREE_ON_EXIT = paths_vm_state(spec->name);
	char *path FREE_ON_EXIT = paths_join(dir, "console.log");
	return access(path, F_OK) == 0;
}

static void fail_failed(struct boot *b)
{
	const char *why = b->status.reason[0] ? b->status.reason : vm_state_name(b->status.state);
	if (b->done)
		return;
	if (b->status.state == VM_FAILED && !has_console(b->spec)) {
		fail_not_started(b, why);
		return;
	}
	err_set(b->e, ERR_INTERNAL, "VM %s failed: %s (ccvm log --console %s shows its console)",
	        b->spec->name, why, b->spec->name);
	finish(b, BOOT_FAILED);
}

/* ---- the watch ---- */

static void look_at_egress(struct boot *b)
{
	const struct vm_status *s = &b->status;
	if (s->egress == VM_EGRESS_UNKNOWN) {
		progress_say(&b->progress, "%s: ready, asking it about its way out", s->name);
		return;
	}
	if (b->done)
		return;
	print_result(b);
	if (s->egress == VM_EGRESS_BROKEN)
		err_set(b->e, ERR_INTERNAL, "VM %s runs, but its way out is broken: %s (ccvm ping %s)",
		        s->name, s->reason, s->name);
	finish(b, s->egress == VM_EGRESS_OK ? BOOT_READY : BOOT_BROKEN);
}

static void on_status(void *arg, const struct vm_status *status, const struct err *e)
{
	struct boot *b = arg;
	if (e)
		return; /* on_client_closed tells */
	if (status->supervisor_pid != (uint32_t)b->pid) {
		err_set(b->e, ERR_BUSY, "VM %s was started by somebody else at the same time", b->spec->name);
		finish(b, BOOT_FAILED);
		return;
	}
	b->status = *status;
	if (!vm_state_is_live(status->state)) {
		fail_failed(b);
	} else if (status->state == VM_READY) {
		if (!b->ready_at_ms)
			b->ready_at_ms = progress_ms(&b->progress);
		look_at_egress(b);
	} else {
		progress_say(&b->progress, "%s: %s%s%s%s%s", status->name, vm_state_name(status->state),
		             status->backend[0] ? " on " : "", status->backend, status->reason[0] ? ": " : "",
		             status->reason);
	}
}

/* The supervisor tells the last state before it leaves, so this comes unexpected. */
static void on_client_closed(void *arg, const struct err *e)
{
	struct boot *b = arg;
	if (b->done)
		return;
	*b->e = *e;
	finish(b, BOOT_FAILED);
}

static const struct client_ops CLIENT_OPS = {.on_closed = on_client_closed};

static void on_tick(void *arg)
{
	struct boot *b = arg;
	uint64_t now = progress_ms(&b->progress);
	progress_tick(&b->progress);
	if (b->done)
		return;
	if (!b->listening && now > LISTEN_MS) {
		fail_not_started(b, "its supervisor does not answer");
	} else if (b->ready_at_ms && now > b->ready_at_ms + EGRESS_MS) {
		print_result(b);
		err_set(b->e, ERR_TIMEOUT, "VM %s runs, but does not tell about its way out (ccvm ping %s)",
		        b->spec->name, b->spec->name);
		finish(b, BOOT_BROKEN);
	} else if (!b->ready_at_ms && now > b->spec->ready_timeout_ms + SLACK_MS) {
		err_set(b->e, ERR_TIMEOUT, "VM %s is still %s", b->spec->name,
		        vm_state_name(b->status.state));
		finish(b, BOOT_FAILED);
	}
}

/* ---- the start ---- */

/* "listening\n" or "error TEXT\n", as `ccvm-supervisor --help` says. */
static void on_note(void *arg, const uint8_t *bytes, size_t len)
{
	struct boot *b = arg;
	str_append_bytes(&b->note, (const char *)bytes, len);
	char *end = strchr(b->note.s, '\n');
	if (!end || b->listening)
		return;
	*end = '\0';
	if (strcmp(b->note.s, "listening") != 0) {
		fail_not_started(b, strncmp(b->note.s, "error ", 6) == 0 ? b->note.s + 6 : b->note.s);
		return;
	}
	b->listening = true;
	b->client = client_connect(b->loop, b->spec->name, &CLIENT_OPS, b, b->e);
	if (b->client)
		client_watch(b->client, on_status, b);
	else
		finish(b, BOOT_FAILED);
}

static void on_notes_end(void *arg)
{
	struct boot *b = arg;
	if (!b->listening)
		fail_not_started(b, "its supervisor ended without a word");
}

static void on_notes_error(void *arg, const struct err *e)
{
	(void)e;
	on_notes_end(arg);
}

static const struct stream_ops NOTES_OPS = {
    .on_data = on_note, .on_eof = on_notes_end, .on_error = on_notes_error};

static void on_supervisor_exit(void *arg, int code, int signum)
{
	(void)arg; /* the notes and the connection tell more */
	(void)code;
	(void)signum;
}

static void on_signal(void *arg, int signum)
{
	struct boot *b = arg;
	(void)signum;
	if (b->done)
		return;
	err_set(b->e, ERR_CANCELED, "VM %s goes on starting by itself (ccvm stop %s ends it)", b->spec->name,
	        b->spec->name);
	finish(b, BOOT_INTERRUPTED);
}

static bool start_supervisor(struct boot *b, struct err *e)
{
	int ends[2];
	char *program FREE_ON_EXIT = paths_program("ccvm-supervisor", e);
	if (!program)
		return false;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_sys(e, errno, "create a pipe");
	const char *argv[] = {program, b->spec->name, "--ready-fd", "3", NULL};
	struct child_spec spec = {.argv = argv,
	                          .fds = {CHILD_FD_NULL, CHILD_FD_NULL, CHILD_FD_NULL, ends[1]},
	                          .fd_count = 4,
	                          .cwd = "/",
	                          .new_session = true};
	b->supervisor = child_start(b->loop, &spec, on_supervisor_exit, b, e);
	fd_close(&ends[1]);
	if (!b->supervisor) {
		fd_close(&ends[0]);
		return false;
	}
	b->pid = child_pid(b->supervisor);
	b->notes = stream_open(b->loop, ends[0], &NOTES_OPS, b, e);
	if (b->notes)
		stream_resume(b->notes);
	return b->notes != NULL;
}

enum boot_end boot_vm(struct loop *loop, const struct vm_spec *spec, struct err *e)
{
	struct boot b = {
	    .loop = loop, .spec = spec, .e = e, .end = BOOT_NOT_STARTED, .note = STR_INIT(NOTE_MOST)};
	static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, 0};
	struct signals *signals = signals_open(loop, SIGNALS, on_signal, &b);
	progress_start(&b.progress);
	progress_say(&b.progress, "%s: starting", spec->name);
	if (start_supervisor(&b, e)) {
		b.tick = timer_create_on(loop, on_tick, &b);
		timer_every(b.tick, TICK_MS);
		while (!b.done)
			loop_turn(loop, false);
	}
	progress_end(&b.progress);
	client_close(b.client);
	stream_close(b.notes, NULL, NULL);
	timer_close(b.tick);
	signals_close(signals);
	child_close(b.supervisor);
	str_finish(&b.note);
	return b.end;
}
