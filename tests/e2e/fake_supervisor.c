/* A supervisor without a VM, for tests of whoever talks to one: fake_supervisor NAME [PROGRAM ARG...]
 *
 * Keeps a state folder and a control socket like the real one. The sessions, terminals and the policy behind the socket are the
 * real ones; only the guest (programs of this machine, by default sh), the proxy and the VMM are not there. Lines on
 * stdin make things happen:
 *
 *     deny HOST PORT            a refusal in the audit log
 *     state NAME [WHY]          another state (a final one ends the process)
 *     egress NAME [WHY]         another state of the way out
 *     attention NAME [TEXT]     what the VM and its first terminal say of themselves; not seen yet
 *     title BYTES               output of the oldest terminal's program, with \e, \a and \n
 *
 * Prints "ready" when the socket is there. The end of stdin ends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/audit/writer.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/config/paths.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/supervisor/board.h"
#include "core/supervisor/control.h"
#include "core/supervisor/health.h"
#include "core/supervisor/live_policy.h"
#include "core/supervisor/terminals.h"
#include "core/vm/store.h"
#include "tests/lib/local_guest.h"

#define UP_MS \
	(3 * 3600 * 1000) /* it says it has been up for so long: nothing on the screen changes by itself */

struct fake {
	struct loop *loop;
	const char *name;
	char *state_dir, *run_dir, *policy_path, *vsock, *proxy, *control_path;
	int proxy_fd; /* listens: the proxy answers */
	struct audit_writer *audit;
	struct board *board;
	struct board_watch watch;
	struct health *health;
	struct live_policy *policy;
	struct terminals *terminals;
	struct local_guest *guest;
	struct session_host host;
	struct control *control;
	struct stream *commands;
	struct str line;
};

static void die(const char *what)
{
	fprintf(stderr, "fake_supervisor: %s\n", what);
	exit(1);
}

static void on_board_changed(void *arg)
{
	struct fake *f = arg;
	struct err e = ERR_INIT;
	struct store_status s = {.status = *board_status(f->board),
	                         .supervisor_start = child_start_time(getpid())};
	if (!store_write_status(f->state_dir, &s, &e))
		die(e.msg);
}

static void end_with(struct fake *f, enum vm_state state)
{
	board_edit(f->board)->state = state;
	board_changed(f->board);
	board_flush(f->board);
	on_board_changed(f);
	control_close(mem_steal(&f->control));
	loop_stop(f->loop);
}

/* ---- what clients ask for ---- */

static void end_later(void *arg)
{
	end_with(arg, VM_STOPPED);
}

static void on_stop(void *arg, uint32_t grace_ms)
{
	struct fake *f = arg;
	(void)grace_ms;
	loop_defer(f->loop, end_later, f);
}

static void on_kill(void *arg)
{
	on_stop(arg, 0);
}

static void on_pause(void *arg, bool paused)
{
	struct fake *f = arg;
	board_edit(f->board)->paused = paused;
	board_changed(f->board);
}

static void on_seen(void *arg, bool attention, bool denied)
{
	struct fake *f = arg;
	struct vm_status *v = board_edit(f->board);
	for (uint32_t i = 0; attention && i < v->terminal_count; i++)
		v->terminal[i].attention.seen = true;
	v->attention.seen |= attention;
	if (denied)
		v->denied_seen = v->denied;
	board_changed(f->board);
}

static void answer_reload(void *arg)
{
	struct fake *f = arg;
	live_policy_proxy_line(f->policy, "policy ok 1");
}

static void tell_proxy(void *arg)
{
	struct fake *f = arg;
	loop_defer(f->loop, answer_reload, f);
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
	board_edit(f->board)->denied++;
	board_changed(f->board);
}

/* "NAME TEXT": what follows the name, or "". */
static const char *split(char *args)
{
	char *space = strchr(args, ' ');
	if (!space)
		return "";
	*space = '\0';
	return space + 1;
}

static void set_reason(struct fake *f, const char *reason)
{
	struct vm_status *v = board_edit(f->board);
	snprintf(v->reason, sizeof(v->reason), "%s", reason);
}

static void do_state(struct fake *f, char *args)
{
	enum vm_state state;
	set_reason(f, split(args));
	if (!vm_state_parse(args, &state))
		die("no such state");
	if (!vm_state_is_live(state)) {
		end_with(f, state);
		return;
	}
	board_edit(f->board)->state = state;
	board_changed(f->board);
}

static void do_egress(struct fake *f, char *args)
{
	set_reason(f, split(args));
	for (int i = 0; i < VM_EGRESS_COUNT; i++) {
		if (strcmp(vm_egress_name((enum vm_egress)i), args) == 0)
			board_edit(f->board)->egress = (enum vm_egress)i;
	}
	board_changed(f->board);
}

static void do_attention(struct fake *f, char *args)
{
	struct vm_status *v = board_edit(f->board);
	struct vm_attention a = {.source = ATTENTION_BY_HOOK, .at_ms = clock_wall_ms()};
	snprintf(a.text, sizeof(a.text), "%s", split(args));
	if (!vm_attention_parse(args, &a.state))
		die("no such attention");
	v->attention = a;
	if (v->terminal_count)
		v->terminal[0].attention = a;
	board_changed(f->board);
}

static void do_title(struct fake *f, char *args)
{
	struct str bytes = STR_INIT(4096);
	for (char *p = args; *p; p++) {
		bool escaped = *p == '\\' && p[1];
		char c = escaped ? *++p : *p;
		str_append_char(&bytes, !escaped ? c : c == 'e' ? '\033' : c == 'a' ? '\a' : '\n');
	}
	local_guest_write(f->guest, bytes.s, bytes.len);
	str_finish(&bytes);
}

static void run_command(struct fake *f, char *line)
{
	static const struct {
		const char *name;
		void (*run)(struct fake *f, char *args);
	} COMMANDS[] = {{"deny ", do_deny},
	                {"state ", do_state},
	                {"egress ", do_egress},
	                {"attention ", do_attention},
	                {"title ", do_title}};
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

static void make_places(struct fake *f)
{
	struct err e = ERR_INIT;
	f->state_dir = paths_vm_state(f->name);
	f->run_dir = paths_vm_runtime(f->name, &e);
	if (!f->run_dir || !fd_make_dirs(f->run_dir, 0700, &e) || !fd_make_dirs(f->state_dir, 0700, &e))
		die(e.msg);
	f->policy_path = paths_join(f->state_dir, "policy");
	f->vsock = paths_join(f->run_dir, "vsock.sock");
	f->proxy = paths_join(f->run_dir, "vsock.sock_9002");
	f->control_path = paths_join(f->run_dir, "control.sock");
	char *audit FREE_ON_EXIT = paths_join(f->state_dir, "audit.jsonl");
	f->audit = audit_writer_open(audit, f->name, &e);
	f->proxy_fd = fd_unix_listen(f->proxy, &e);
	if (!f->audit || f->proxy_fd < 0 ||
	    (access(f->policy_path, F_OK) != 0 && !fd_write_file(f->policy_path, "", 0, 0600, &e)))
		die(e.msg);
}

static void make_vm(struct fake *f)
{
	struct vm_status v = {.state = VM_READY,
	                      .egress = VM_EGRESS_OK,
	                      .backend = "qemu-tcg",
	                      .image = "base",
	                      .cpus = 1,
	                      .memory_bytes = 512ull << 20,
	                      .started_ms = clock_wall_ms() - UP_MS,
	                      .supervisor_pid = (uint32_t)getpid(),
	                      .vmm_pid = (uint32_t)getpid(),
	                      .generation = 1};
	v.ready_ms = v.started_ms + 4000;
	snprintf(v.name, sizeof(v.name), "%s", f->name);
	f->board = board_create(f->loop, &v);
	f->health = health_create(f->loop, f->board, f->vsock, f->proxy);
	f->policy = live_policy_create(f->loop, f->policy_path, tell_proxy, f);
	f->terminals = terminals_create(f->loop, f->board, f->vsock, NULL, NULL);
	f->host = (struct session_host){.loop = f->loop,
	                                .board = f->board,
	                                .health = f->health,
	                                .policy = f->policy,
	                                .terminals = f->terminals,
	                                .vsock_path = f->vsock,
	                                .on_stop = on_stop,
	                                .on_kill = on_kill,
	                                .on_pause = on_pause,
	                                .on_seen = on_seen,
	                                .arg = f};
}

/* The description is what makes the folder a VM: last, and whole. */
static void describe_vm(struct fake *f)
{
	struct err e = ERR_INIT;
	struct vm_spec spec = {.backend = "qemu-tcg",
	                       .image = "base",
	                       .cpus = 1,
	                       .memory_bytes = 512ull << 20,
	                       .disk_bytes = 1ull << 30,
	                       .ready_timeout_ms = 120000,
	                       .created_ms = board_status(f->board)->started_ms};
	snprintf(spec.name, sizeof(spec.name), "%s", f->name);
	f->control = control_open(f->loop, f->control_path, &f->host, &e);
	if (!f->control || !store_write_spec(f->state_dir, &spec, &e))
		die(e.msg);
}

int main(int argc, char **argv)
{
	static char name[] = "sh";
	static char *shell[] = {name, NULL};
	struct err e = ERR_INIT;
	if (argc < 2)
		die("usage: fake_supervisor NAME [PROGRAM ARG...]");
	struct fake f = {.name = argv[1], .line = STR_INIT(4096)};
	f.loop = loop_create();
	make_places(&f);
	f.guest = local_guest_start(f.vsock, argc > 2 ? argv + 2 : shell);
	make_vm(&f);
	board_watch(f.board, &f.watch, on_board_changed, &f);
	on_board_changed(&f);
	describe_vm(&f);
	f.commands = stream_open(f.loop, dup(STDIN_FILENO), &COMMAND_OPS, &f, &e);
	if (!f.commands)
		die(e.msg);
	stream_resume(f.commands);
	puts("ready");
	fflush(stdout);
	loop_run(f.loop);
	for (int i = 0; i < 50; i++) /* what is still to be sent */
		loop_turn(f.loop, true);
	local_guest_end(f.guest);
	return 0;
}
