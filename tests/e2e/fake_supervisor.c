/* A supervisor without a VM, for tests of whoever talks to one: fake_supervisor NAME [PROGRAM ARG...]
 *
 * Keeps a state folder and a control socket like the real one and speaks the real protocol. Its one terminal runs a
 * program of this machine (sh) in a real emulator. Lines on stdin make things happen:
 *
 *     deny HOST PORT      a refusal in the audit log
 *     state NAME [WHY]    another state (a final one ends the process)
 *     egress NAME [WHY]   another state of the way out
 *     title BYTES         output of the terminal's program, with \e, \a and \n
 *
 * Prints "ready" when the socket is there. The end of stdin ends it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/audit/writer.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/config/paths.h"
#include "core/loop/child.h"
#include "core/loop/listener.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"
#include "core/term/emulator.h"
#include "core/term/snapshot.h"
#include "core/vm/store.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

#define UP_MS \
	(3 * 3600 * 1000) /* it says it has been up for so long: nothing on the screen changes by itself */
#define FLUSH_MS 2

struct fake {
	struct loop *loop;
	const char *name;
	char **program;
	char *state_dir;
	struct vm_status status;
	struct audit_writer *audit;
	struct listener *listener;
	struct stream *commands, *guest;
	struct str line;
	struct emulator *emulator;
	pid_t pid;
	struct list conns;
	struct timer *flush;
};

struct conn {
	struct list link;
	struct fake *fake;
	struct stream *stream;
	struct frame_reader reader;
	struct buf out;
	bool watching;
	uint32_t watch_id;
	bool viewing;
	uint32_t view_id;
	struct snapshot_cursor cursor;
};

static void die(const char *what)
{
	fprintf(stderr, "fake_supervisor: %s\n", what);
	exit(1);
}

/* ---- sending ---- */

static void conn_flush(struct conn *c)
{
	if (c->out.len > 0 && !stream_send(c->stream, c->out.data, c->out.len))
		die("a client does not read");
	buf_clear(&c->out);
}

static void send_status(struct conn *c, uint32_t id)
{
	const struct vm_status *s = &c->fake->status;
	struct wire_status_reply m = {
	    .state = (uint8_t)s->state,
	    .egress = (uint8_t)s->egress,
	    .started_ms = (uint64_t)s->started_ms,
	    .ready_ms = (uint64_t)s->ready_ms,
	    .denied = s->denied,
	    .supervisor_pid = s->supervisor_pid,
	    .vmm_pid = s->supervisor_pid,
	    .cpus = s->cpus,
	    .memory_bytes = s->memory_bytes,
	    .generation = s->generation,
	};
	memcpy(m.name, s->name, sizeof(m.name));
	memcpy(m.reason, s->reason, sizeof(m.reason));
	memcpy(m.backend, s->backend, sizeof(m.backend));
	memcpy(m.image, s->image, sizeof(m.image));
	wire_put_status_reply(&c->out, id, &m);
	conn_flush(c);
}

static void send_screen(struct conn *c)
{
	if (!c->viewing || !c->fake->emulator || stream_is_full(c->stream))
		return;
	while (snapshot_pending(c->fake->emulator, &c->cursor)) {
		struct buf update = BUF_INIT(WIRE_CELLS_MAX);
		snapshot_encode(c->fake->emulator, &c->cursor, WIRE_CELLS_MAX, &update);
		struct wire_term_screen m = {.term = 0, .update = {.p = update.data, .len = update.len}};
		wire_put_term_screen(&c->out, c->view_id, &m);
		conn_flush(c);
		buf_finish(&update);
	}
}

static void on_flush(void *arg)
{
	struct fake *f = arg;
	LIST_FOREACH (item, &f->conns)
		send_screen(LIST_ENTRY(item, struct conn, link));
}

static void screen_changed(struct fake *f)
{
	if (!timer_is_active(f->flush))
		timer_once(f->flush, FLUSH_MS);
}

static void write_status(struct fake *f)
{
	struct err e = ERR_INIT;
	struct store_status s = {.status = f->status, .supervisor_start = child_start_time(getpid())};
	if (!store_write_status(f->state_dir, &s, &e))
		die(e.msg);
}

static void status_changed(struct fake *f)
{
	f->status.generation++;
	write_status(f);
	LIST_FOREACH (item, &f->conns) {
		struct conn *c = LIST_ENTRY(item, struct conn, link);
		if (c->watching)
			send_status(c, c->watch_id);
	}
}

/* ---- the terminal ---- */

static void on_reply(void *arg, const uint8_t *bytes, size_t len)
{
	struct fake *f = arg;
	if (f->guest && !stream_send(f->guest, bytes, len))
		die("the program reads nothing");
}

static void on_guest_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct fake *f = arg;
	emulator_write(f->emulator, bytes, len);
	screen_changed(f);
}

static void on_guest_eof(void *arg)
{
	struct fake *f = arg;
	int status = 0;
	stream_close(f->guest, NULL, NULL);
	f->guest = NULL;
	waitpid(f->pid, &status, 0);
	on_flush(f);
	LIST_FOREACH (item, &f->conns) {
		struct conn *c = LIST_ENTRY(item, struct conn, link);
		if (!c->viewing)
			continue;
		struct wire_term_closed m = {.code = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 0,
		                             .signum = WIFSIGNALED(status) ? (uint8_t)WTERMSIG(status) : 0};
		wire_put_term_closed(&c->out, c->view_id, &m);
		conn_flush(c);
		c->viewing = false;
	}
}

static void on_guest_error(void *arg, const struct err *e)
{
	(void)e;
	on_guest_eof(arg);
}

static const struct stream_ops GUEST_OPS = {
    .on_data = on_guest_data, .on_eof = on_guest_eof, .on_error = on_guest_error};

static void start_program(struct fake *f, unsigned rows, unsigned cols)
{
	static const struct emulator_ops OPS = {.write_reply = on_reply};
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
	struct err e = ERR_INIT;
	int master;
	if (!f->emulator)
		f->emulator = emulator_create(rows, cols, &OPS, f);
	else
		emulator_reset(f->emulator);
	emulator_resize(f->emulator, rows, cols);
	f->pid = forkpty(&master, NULL, NULL, &size);
	if (f->pid == 0) {
		setenv("TERM", "xterm-256color", 1);
		setenv("PS1", "$ ", 1);
		unsetenv("ENV");
		execvp(f->program[0], f->program);
		_exit(127);
	}
	if (f->pid < 0)
		die("forkpty");
	fd_set_cloexec(master, true);
	f->guest = stream_open(f->loop, master, &GUEST_OPS, f, &e);
	if (!f->guest)
		die(e.msg);
	stream_resume(f->guest);
}

static void resize(struct fake *f, unsigned rows, unsigned cols)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
	if (f->emulator)
		emulator_resize(f->emulator, rows, cols);
	if (f->guest)
		ioctl(stream_fd(f->guest), TIOCSWINSZ, &size);
	screen_changed(f);
}

/* ---- requests ---- */

static void answer_ok(struct conn *c, uint32_t id, const char *text)
{
	struct wire_ok m;
	snprintf(m.text, sizeof(m.text), "%s", text);
	wire_put_ok(&c->out, id, &m);
	conn_flush(c);
}

static void end_with(struct fake *f, enum vm_state state)
{
	f->status.state = state;
	status_changed(f);
	LIST_FOREACH (item, &f->conns)
		stream_close_flushed(LIST_ENTRY(item, struct conn, link)->stream, 1000);
	list_init(&f->conns);
	if (f->pid > 0)
		kill(f->pid, SIGKILL);
	loop_stop(f->loop);
}

static bool on_hello(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_hello m;
	if (!wire_check_hello(fr->body, &m, e))
		return false;
	wire_put_my_hello(&c->out, "supervisor");
	conn_flush(c);
	return true;
}

static bool on_status(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_status m;
	if (!wire_get_status(fr->body, &m, e))
		return false;
	if (m.watch) {
		c->watching = true;
		c->watch_id = fr->id;
	}
	send_status(c, fr->id);
	return true;
}

static bool on_allow(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_allow m;
	char text[WIRE_TEXT_MAX + 1];
	if (!wire_get_allow(fr->body, &m, e))
		return false;
	snprintf(text, sizeof(text), "allow %s is in force", m.rule);
	answer_ok(c, fr->id, text);
	return true;
}

/* A program that prints its name on both outputs and ends. */
static bool on_exec(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_exec m;
	struct wire_exit end = {.code = 4};
	if (!wire_get_exec(fr->body, &m, e))
		return false;
	struct bytes name = {.p = m.argv.p, .len = strnlen((const char *)m.argv.p, m.argv.len)};
	answer_ok(c, fr->id, "");
	wire_put_stdout_data(&c->out, fr->id, &(struct wire_stdout_data){name});
	wire_put_stderr_data(&c->out, fr->id, &(struct wire_stderr_data){name});
	wire_put_exit(&c->out, fr->id, &end);
	conn_flush(c);
	return true;
}

static bool on_stop(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_stop m;
	if (!wire_get_stop(fr->body, &m, e))
		return false;
	answer_ok(c, fr->id, "stopped");
	end_with(c->fake, VM_STOPPED);
	return true;
}

static bool on_term_open(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_term_open m;
	if (!wire_get_term_open(fr->body, &m, e))
		return false;
	if (!c->fake->guest)
		start_program(c->fake, m.rows, m.cols);
	else
		resize(c->fake, m.rows, m.cols);
	c->viewing = true;
	c->view_id = fr->id;
	c->cursor = (struct snapshot_cursor){0};
	struct wire_term_opened opened = {.term = 0};
	wire_put_term_opened(&c->out, fr->id, &opened);
	conn_flush(c);
	send_screen(c);
	return true;
}

static bool on_term_key(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_term_key m;
	if (!wire_get_term_key(fr->body, &m, e))
		return false;
	if (c->fake->emulator)
		emulator_key(c->fake->emulator, m.key, m.mods);
	return true;
}

static bool on_term_paste(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_term_paste m;
	if (!wire_get_term_paste(fr->body, &m, e))
		return false;
	if (c->fake->emulator)
		emulator_paste(c->fake->emulator, m.text.p, m.text.len);
	return true;
}

static bool on_term_resize(struct conn *c, const struct frame *fr, struct err *e)
{
	struct wire_term_resize m;
	if (!wire_get_term_resize(fr->body, &m, e))
		return false;
	resize(c->fake, m.rows, m.cols);
	return true;
}

static bool on_term_leave(struct conn *c, const struct frame *fr, struct err *e)
{
	(void)fr, (void)e;
	c->viewing = false;
	return true;
}

static const struct {
	uint16_t type;
	bool (*handle)(struct conn *c, const struct frame *fr, struct err *e);
} REQUESTS[] = {
    {WIRE_HELLO, on_hello},           {WIRE_STATUS, on_status},
    {WIRE_ALLOW, on_allow},           {WIRE_STOP, on_stop},
    {WIRE_TERM_OPEN, on_term_open},   {WIRE_TERM_KEY, on_term_key},
    {WIRE_TERM_PASTE, on_term_paste}, {WIRE_TERM_RESIZE, on_term_resize},
    {WIRE_TERM_LEAVE, on_term_leave}, {WIRE_EXEC, on_exec},
};

/* ---- connections ---- */

static void conn_close(struct conn *c)
{
	list_remove(&c->link);
	stream_close(c->stream, NULL, NULL);
	frame_reader_finish(&c->reader);
	buf_finish(&c->out);
	free(c);
}

static bool on_frame(void *arg, const struct frame *fr)
{
	struct conn *c = arg;
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(REQUESTS); i++) {
		if (REQUESTS[i].type != fr->type)
			continue;
		if (!REQUESTS[i].handle(c, fr, &e))
			die(e.msg);
		return true;
	}
	fprintf(stderr, "fake_supervisor: no answer to %s\n", wire_type_name(fr->type));
	return true;
}

static void on_conn_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct conn *c = arg;
	struct err e = ERR_INIT;
	if (frame_feed(&c->reader, bytes, len, on_frame, c, &e) == FRAME_BAD)
		die(e.msg);
}

static void on_conn_eof(void *arg)
{
	conn_close(arg);
}

static void on_conn_error(void *arg, const struct err *e)
{
	(void)e;
	conn_close(arg);
}

static void on_conn_drain(void *arg)
{
	send_screen(arg);
}

static const struct stream_ops CONN_OPS = {
    .on_data = on_conn_data, .on_eof = on_conn_eof, .on_error = on_conn_error, .on_drain = on_conn_drain};

static void on_accept(void *arg, int fd)
{
	struct fake *f = arg;
	struct err e = ERR_INIT;
	struct conn *c = mem_alloc(sizeof(*c));
	c->fake = f;
	frame_reader_init(&c->reader);
	buf_init(&c->out, WIRE_CELLS_MAX + 4096);
	list_append(&f->conns, &c->link);
	c->stream = stream_open(f->loop, fd, &CONN_OPS, c, &e);
	if (!c->stream)
		die(e.msg);
	stream_resume(c->stream);
}

/* ---- commands of the test ---- */

static void do_deny(struct fake *f, char *args)
{
	struct err e = ERR_INIT;
	struct audit_record r = {.event = AUDIT_DENY, .why = AUDIT_NO_RULE, .conn = 1};
	char *space = strchr(args, ' ');
	if (!space)
		die("deny HOST PORT");
	*space = '\0';
	snprintf(r.host, sizeof(r.host), "%s", args);
	r.port = (uint16_t)strtoul(space + 1, NULL, 10);
	if (!audit_write(f->audit, &r, &e))
		die(e.msg);
	f->status.denied++;
	status_changed(f);
}

/* "NAME WHY": the reason goes into the status. */
static const char *split_reason(struct fake *f, char *args)
{
	char *space = strchr(args, ' ');
	f->status.reason[0] = '\0';
	if (space) {
		*space = '\0';
		snprintf(f->status.reason, sizeof(f->status.reason), "%s", space + 1);
	}
	return args;
}

static void do_state(struct fake *f, char *args)
{
	enum vm_state state;
	if (!vm_state_parse(split_reason(f, args), &state))
		die("no such state");
	if (!vm_state_is_live(state)) {
		end_with(f, state);
		return;
	}
	f->status.state = state;
	status_changed(f);
}

static void do_egress(struct fake *f, char *args)
{
	const char *name = split_reason(f, args);
	for (int i = 0; i < VM_EGRESS_COUNT; i++) {
		if (strcmp(vm_egress_name((enum vm_egress)i), name) == 0)
			f->status.egress = (enum vm_egress)i;
	}
	status_changed(f);
}

static void do_title(struct fake *f, char *args)
{
	struct str bytes = STR_INIT(4096);
	for (char *p = args; *p; p++) {
		bool escaped = *p == '\\' && p[1];
		char c = escaped ? *++p : *p;
		str_append_char(&bytes, !escaped ? c : c == 'e' ? '\033' : c == 'a' ? '\a' : '\n');
	}
	if (f->emulator)
		emulator_write(f->emulator, bytes.s, bytes.len);
	screen_changed(f);
	str_finish(&bytes);
}

static void run_command(struct fake *f, char *line)
{
	static const struct {
		const char *name;
		void (*run)(struct fake *f, char *args);
	} COMMANDS[] = {
	    {"deny ", do_deny}, {"state ", do_state}, {"egress ", do_egress}, {"title ", do_title}};
	for (size_t i = 0; i < ARRAY_LEN(COMMANDS); i++) {
		size_t n = strlen(COMMANDS[i].name);
		if (strncmp(line, COMMANDS[i].name, n) == 0) {
			COMMANDS[i].run(f, line + n);
			return;
		}
	}
	die(line);
}

static void on_command_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct fake *f = arg;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] != '\n') {
			str_append_char(&f->line, (char)bytes[i]);
			continue;
		}
		run_command(f, f->line.s);
		str_clear(&f->line);
	}
}

static void on_command_eof(void *arg)
{
	end_with(arg, VM_STOPPED);
}

static void on_command_error(void *arg, const struct err *e)
{
	(void)e;
	end_with(arg, VM_STOPPED);
}

static const struct stream_ops COMMAND_OPS = {
    .on_data = on_command_data, .on_eof = on_command_eof, .on_error = on_command_error};

/* ---- start ---- */

static void make_state(struct fake *f)
{
	struct err e = ERR_INIT;
	struct vm_spec spec = {.backend = "qemu-tcg",
	                       .image = "base",
	                       .cpus = 1,
	                       .memory_bytes = 512ull << 20,
	                       .disk_bytes = 1ull << 30,
	                       .ready_timeout_ms = 120000,
	                       .created_ms = clock_wall_ms() - UP_MS};
	snprintf(spec.name, sizeof(spec.name), "%s", f->name);
	f->state_dir = paths_vm_state(f->name);
	char *audit = paths_join(f->state_dir, "audit.jsonl");
	if (!fd_make_dirs(f->state_dir, 0700, &e))
		die(e.msg);
	f->audit = audit_writer_open(audit, f->name, &e);
	if (!f->audit)
		die(e.msg);
	free(audit);
	f->status = (struct vm_status){.state = VM_READY,
	                               .egress = VM_EGRESS_OK,
	                               .cpus = 1,
	                               .memory_bytes = spec.memory_bytes,
	                               .started_ms = spec.created_ms,
	                               .ready_ms = spec.created_ms + 4000,
	                               .supervisor_pid = (uint32_t)getpid(),
	                               .vmm_pid = (uint32_t)getpid(),
	                               .generation = 1};
	snprintf(f->status.name, sizeof(f->status.name), "%s", f->name);
	snprintf(f->status.backend, sizeof(f->status.backend), "qemu-tcg");
	snprintf(f->status.image, sizeof(f->status.image), "base");
	write_status(f);
	/* Last, and whole: the description is what makes the folder a VM. */
	if (!store_write_spec(f->state_dir, &spec, &e))
		die(e.msg);
}

static void start_listening(struct fake *f)
{
	struct err e = ERR_INIT;
	char *dir = paths_vm_runtime(f->name, &e);
	char *path = dir ? paths_join(dir, "control.sock") : NULL;
	if (!dir || !fd_make_dirs(dir, 0700, &e))
		die(e.msg);
	f->listener = listener_open(f->loop, path, on_accept, f, &e);
	if (!f->listener)
		die(e.msg);
	free(path);
	free(dir);
}

int main(int argc, char **argv)
{
	static char name[] = "sh";
	char *shell[] = {name, NULL};
	struct err e = ERR_INIT;
	if (argc < 2)
		die("usage: fake_supervisor NAME [PROGRAM ARG...]");
	struct fake f = {.name = argv[1], .program = argc > 2 ? argv + 2 : shell, .line = STR_INIT(4096)};
	f.loop = loop_create();
	list_init(&f.conns);
	f.flush = timer_create_on(f.loop, on_flush, &f);
	start_listening(&f);
	make_state(&f);
	f.commands = stream_open(f.loop, dup(STDIN_FILENO), &COMMAND_OPS, &f, &e);
	if (!f.commands)
		die(e.msg);
	stream_resume(f.commands);
	puts("ready");
	fflush(stdout);
	loop_run(f.loop);
	for (int i = 0; i < 50; i++) /* what is still to be sent */
		loop_turn(f.loop, true);
	return 0;
}
