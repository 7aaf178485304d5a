/* The one protocol header: version, ports, message numbers, field lists, limits.
 *
 * Two families share the frame (frame.h): *agent* (supervisor <-> guest over vsock) and *control* (client <->
 * supervisor over control.sock). Field lists are written once, below, and expanded into the struct, the encoder, the
 * decoder and the dump. PROTOCOL.md tells the story in prose, with an exchange in hex that a test checks.
 *
 * Numbers are never used again; a retired one stays with a comment. */
#ifndef CCVM_WIRE_WIRE_H
#define CCVM_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/parse.h" /* VM_NAME_MAX */

#define WIRE_MAGIC 0x6363766du /* "ccvm" */
#define WIRE_MAJOR 2 /* another major version gets one readable refusal, then the connection is closed */
#define WIRE_MINOR 0 /* additions that an older peer may ignore */

#define WIRE_PORT_AGENT  9001 /* host to guest */
#define WIRE_PORT_EGRESS 9002 /* guest to host: the proxy */
#define WIRE_PORT_EVENTS 9003 /* guest to host: ready; what hooks say */
#define WIRE_RELAY_PORT  3128 /* TCP on 127.0.0.1 in the guest, relayed to WIRE_PORT_EGRESS */

#define WIRE_TEXT_MAX      400 /* an error or status text */
#define WIRE_NAME_MAX      64
#define WIRE_RULE_MAX      300 /* one policy rule as text */
#define WIRE_PATH_MAX      1024
#define WIRE_ARGV_MAX      (128 * 1024)      /* argv or environment: each string with its NUL, back to back */
#define WIRE_DATA_MAX      (64 * 1024)       /* one piece of stdin, stdout, stderr or paste */
#define WIRE_CELLS_MAX     (4 * 1024 * 1024) /* one screen update */
#define WIRE_LINES_MAX     (1024 * 1024)     /* one piece of a terminal's history */
#define WIRE_TERMINALS_MAX (32 * 1024)       /* the terminals of one VM in its status */

/* clang-format off */

/* M(NAME, name, number, body_max): the enum constant, the struct suffix, the type on the wire, the longest body.
 * 1-49 both families, 50-99 the bytes of a running program, 100-199 agent, 200-299 events, 300-399 control. */
#define WIRE_MESSAGES(M) \
	M(HELLO, hello, 1, 512) \
	M(ERROR, error, 2, 512) \
	M(OK, ok, 3, 512) \
	M(STDIN, stdin_data, 50, WIRE_DATA_MAX + 4) \
	M(STDOUT, stdout_data, 52, WIRE_DATA_MAX + 4) \
	M(STDERR, stderr_data, 53, WIRE_DATA_MAX + 4) \
	M(RESIZE, resize, 54, 4) \
	M(SIGNAL, signal, 55, 1) \
	M(EXIT, exit, 56, 6) \
	M(AGENT_PONG, agent_pong, 101, 128) \
	M(AGENT_SPAWN, agent_spawn, 102, 2 * WIRE_ARGV_MAX + WIRE_PATH_MAX + 64) \
	M(AGENT_SPAWNED, agent_spawned, 103, 4) \
	M(AGENT_SHUTDOWN, agent_shutdown, 104, 1) \
	M(EVENT_READY, event_ready, 200, 512) \
	M(EVENT_NOTIFY, event_notify, 201, 512) \
	M(STATUS, status, 300, 1) \
	M(STATUS_REPLY, status_reply, 301, 4096 + WIRE_TERMINALS_MAX) \
	M(PONG, pong, 303, 1024) \
	M(ALLOW, allow, 304, WIRE_RULE_MAX + 16) \
	M(DENY, deny, 305, WIRE_RULE_MAX + 8) \
	M(STOP, stop, 306, 8) \
	M(PAUSE, pause, 309, 1) \
	M(SEEN, seen, 310, 2) \
	M(EXEC, exec, 308, 2 * WIRE_ARGV_MAX + WIRE_PATH_MAX + 64) \
	M(TERM_OPEN, term_open, 320, 2 * WIRE_ARGV_MAX + WIRE_PATH_MAX + 64) \
	M(TERM_OPENED, term_opened, 321, 4) \
	M(TERM_SCREEN, term_screen, 322, WIRE_CELLS_MAX + 64) \
	M(TERM_CLOSED, term_closed, 323, 16) \
	M(TERM_KEY, term_key, 324, 16) \
	M(TERM_TEXT, term_text, 325, WIRE_DATA_MAX + 16) \
	M(TERM_PASTE, term_paste, 326, WIRE_DATA_MAX + 16) \
	M(TERM_RESIZE, term_resize, 327, 8) \
	M(TERM_LEAVE, term_leave, 328, 4) \
	M(TERM_MOUSE, term_mouse, 329, 16) \
	M(TERM_FOCUS, term_focus, 330, 5) \
	M(TERM_HISTORY, term_history, 331, 16) \
	M(TERM_LINES, term_lines, 332, WIRE_LINES_MAX + 64) \
	M(TERM_SIGNAL, term_signal, 333, 5) \
	M(TERMINAL_INFO, terminal_info, 340, 1024)

/* E(NAME, name, number): messages without a body. */
#define WIRE_EMPTY_MESSAGES(E) \
	E(STDIN_EOF, stdin_eof, 51) \
	E(AGENT_PING, agent_ping, 100) \
	E(PING, ping, 302) \
	E(KILL, kill, 307)

/* Fields: U8(name) U16(name) U32(name) U64(name) TEXT(name, max) BLOB(name, max). TEXT is copied into the struct and
 * holds no NUL; BLOB is borrowed from the frame. */

/* First message on every connection, both ways (on the events port: only from the guest). */
#define WIRE_FIELDS_hello(U8, U16, U32, U64, TEXT, BLOB) \
	U32(magic) U16(major) U16(minor) TEXT(role, 31) TEXT(version, 63)

/* The answer to a request that failed (same request id), or with id 0 the last message before a close. */
#define WIRE_FIELDS_error(U8, U16, U32, U64, TEXT, BLOB) U16(kind) TEXT(text, WIRE_TEXT_MAX)

/* The answer to a request that has nothing else to say. */
#define WIRE_FIELDS_ok(U8, U16, U32, U64, TEXT, BLOB) TEXT(text, WIRE_TEXT_MAX)

/* Bytes of a running program; the request id is that of its AGENT_SPAWN or EXEC. No half-close is relied on: the
 * end of stdin is a message. */
#define WIRE_FIELDS_stdin_data(U8, U16, U32, U64, TEXT, BLOB)  BLOB(data, WIRE_DATA_MAX)
#define WIRE_FIELDS_stdout_data(U8, U16, U32, U64, TEXT, BLOB) BLOB(data, WIRE_DATA_MAX)
#define WIRE_FIELDS_stderr_data(U8, U16, U32, U64, TEXT, BLOB) BLOB(data, WIRE_DATA_MAX)
#define WIRE_FIELDS_resize(U8, U16, U32, U64, TEXT, BLOB)      U16(rows) U16(cols)
#define WIRE_FIELDS_signal(U8, U16, U32, U64, TEXT, BLOB)      U8(signum)
/* code is valid when signum is 0. output_cut: a grandchild kept the output open past the grace time. Last message. */
#define WIRE_FIELDS_exit(U8, U16, U32, U64, TEXT, BLOB) U32(code) U8(signum) U8(output_cut)

/* The guest's own half of the egress path, looked at when asked. Times in ms, memory in KiB. */
#define WIRE_FIELDS_agent_pong(U8, U16, U32, U64, TEXT, BLOB) \
	U8(relay_listening) U8(vsock_reachable) U8(lo_up) U64(uptime_ms) U64(mem_total_kib) \
	U64(mem_available_kib) U64(cpu_busy_ms) U32(programs)

/* Starts a program: the only request of its connection. rows and cols count when tty is 1 and are set before exec.
 * An empty argv means the login shell. env is added to the guest's own (which always has the proxy variables). */
#define WIRE_FIELDS_agent_spawn(U8, U16, U32, U64, TEXT, BLOB) \
	U8(tty) U16(rows) U16(cols) TEXT(cwd, WIRE_PATH_MAX - 1) BLOB(argv, WIRE_ARGV_MAX) \
	BLOB(env, WIRE_ARGV_MAX)
#define WIRE_FIELDS_agent_spawned(U8, U16, U32, U64, TEXT, BLOB)  U32(pid)
#define WIRE_FIELDS_agent_shutdown(U8, U16, U32, U64, TEXT, BLOB) U8(reboot)

/* The guest is up: everything mounted, lo up, relay listening, agent port open. Once per boot. */
#define WIRE_FIELDS_event_ready(U8, U16, U32, U64, TEXT, BLOB) \
	TEXT(boot_id, 63) TEXT(kernel, 127) U64(uptime_ms) U8(relay_listening)

/* A program in the guest says how it is doing (`ccvm-guest notify`). attention: enum vm_attention_state; term: the
 * terminal it runs in (its CCVM_TERMINAL), 0: it does not know. Answered by OK. Any number of them on a connection,
 * which ends after some silence. */
#define WIRE_FIELDS_event_notify(U8, U16, U32, U64, TEXT, BLOB) U8(attention) U32(term) TEXT(text, WIRE_TEXT_MAX)

/* watch 1: a STATUS_REPLY with this id now and after each change, until the connection ends. */
#define WIRE_FIELDS_status(U8, U16, U32, U64, TEXT, BLOB) U8(watch)
/* state: enum vm_state. egress: enum vm_egress. started_ms: wall clock. reason: why it failed or what is broken.
 * attention: the most urgent of the VM (enum vm_attention_state, enum vm_attention_source, wall clock). cpu_permille: of
 * one CPU; it and the memory are 0 while not known. terminal_list: one TERMINAL_INFO frame each (id 0), in the order of
 * their numbers. */
#define WIRE_FIELDS_status_reply(U8, U16, U32, U64, TEXT, BLOB) \
	TEXT(name, VM_NAME_MAX) U8(state) U8(egress) TEXT(reason, WIRE_TEXT_MAX) TEXT(backend, 31) \
	TEXT(image, VM_NAME_MAX) U64(started_ms) U64(ready_ms) U32(denied) U32(tunnels) \
	U32(supervisor_pid) U32(vmm_pid) U32(cpus) U64(memory_bytes) U64(generation) U8(paused) \
	U8(attention) U8(attention_source) U8(attention_seen) U64(attention_ms) TEXT(attention_text, 200) \
	U32(denied_seen) U32(cpu_permille) U64(mem_used_kib) U64(mem_total_kib) BLOB(terminal_list, WIRE_TERMINALS_MAX)

/* One terminal, inside STATUS_REPLY only. command: its program, for people. */
#define WIRE_FIELDS_terminal_info(U8, U16, U32, U64, TEXT, BLOB) \
	U32(number) U16(rows) U16(cols) U8(first) U32(watchers) U8(attention) U8(attention_source) U8(attention_seen) \
	U64(attention_ms) TEXT(attention_text, 200) TEXT(title, 256) TEXT(command, 128)

/* What the guest says of itself, and the host's half. rtt_us: the agent's answer time. */
#define WIRE_FIELDS_pong(U8, U16, U32, U64, TEXT, BLOB) \
	U8(agent_ok) U8(relay_listening) U8(vsock_reachable) U8(lo_up) U8(proxy_ok) U32(rtt_us) \
	U64(uptime_ms) U64(mem_total_kib) U64(mem_available_kib) U64(cpu_busy_ms) \
	TEXT(text, WIRE_TEXT_MAX)

/* Answered by OK (text: the rule in canonical form and what happens) once the proxy has it in force. */
/* seconds: how long the rule lives; 0: for good. */
#define WIRE_FIELDS_allow(U8, U16, U32, U64, TEXT, BLOB) TEXT(rule, WIRE_RULE_MAX) U32(seconds)
#define WIRE_FIELDS_deny(U8, U16, U32, U64, TEXT, BLOB)  TEXT(rule, WIRE_RULE_MAX)
/* Answered by OK when the VM has stopped: by the guest itself within grace_ms, else by ending the VMM. */
#define WIRE_FIELDS_stop(U8, U16, U32, U64, TEXT, BLOB) U32(grace_ms)
/* The VM's CPUs stand still, or go on. Answered by OK. */
#define WIRE_FIELDS_pause(U8, U16, U32, U64, TEXT, BLOB) U8(paused)
/* The operator has looked: at what waits for attention, at what was refused. Kept with the VM, so that every console and
 * the next one know. Answered by OK. */
#define WIRE_FIELDS_seen(U8, U16, U32, U64, TEXT, BLOB) U8(attention) U8(denied)

/* A program without a terminal: OK when it runs, then STDIN.. STDOUT.. EXIT with this request id. Closing the
 * connection ends the program. */
#define WIRE_FIELDS_exec(U8, U16, U32, U64, TEXT, BLOB) \
	TEXT(cwd, WIRE_PATH_MAX - 1) BLOB(argv, WIRE_ARGV_MAX) BLOB(env, WIRE_ARGV_MAX)

/* Watch a terminal. term 0: the VM's first one, started (login shell) if it does not run; WIRE_TERM_NEW: a new one
 * with this argv; else that number. rows/cols become its size. Answered by TERM_OPENED, then TERM_SCREEN follow at
 * the pace the client reads. TERM_CLOSED is the last one. */
#define WIRE_TERM_NEW 0xffffffffu
#define WIRE_FIELDS_term_open(U8, U16, U32, U64, TEXT, BLOB) \
	U32(term) U16(rows) U16(cols) TEXT(cwd, WIRE_PATH_MAX - 1) BLOB(argv, WIRE_ARGV_MAX) \
	BLOB(env, WIRE_ARGV_MAX)
#define WIRE_FIELDS_term_opened(U8, U16, U32, U64, TEXT, BLOB) U32(term)
/* update: see core/term/snapshot.h */
#define WIRE_FIELDS_term_screen(U8, U16, U32, U64, TEXT, BLOB) U32(term) BLOB(update, WIRE_CELLS_MAX)
#define WIRE_FIELDS_term_closed(U8, U16, U32, U64, TEXT, BLOB) U32(term) U32(code) U8(signum)
/* key: enum term_key or a Unicode code point; mods: enum term_mod (core/term/keys.h). Encoded by the supervisor,
 * which knows the modes that the guest has set. No answer. */
#define WIRE_FIELDS_term_key(U8, U16, U32, U64, TEXT, BLOB)  U32(term) U32(key) U8(mods)
#define WIRE_FIELDS_term_text(U8, U16, U32, U64, TEXT, BLOB) U32(term) BLOB(text, WIRE_DATA_MAX)
/* A piece of a paste; first and last mark its ends, where brackets are added when the guest asked for them. */
#define WIRE_FIELDS_term_paste(U8, U16, U32, U64, TEXT, BLOB)  U32(term) U8(first) U8(last) BLOB(text, WIRE_DATA_MAX)
#define WIRE_FIELDS_term_resize(U8, U16, U32, U64, TEXT, BLOB) U32(term) U16(rows) U16(cols)
#define WIRE_FIELDS_term_leave(U8, U16, U32, U64, TEXT, BLOB)  U32(term)
/* kind: enum term_mouse_kind; button, mods, place: struct term_mouse (core/term/keys.h). Reaches the guest only if it asked
 * for such events. */
#define WIRE_FIELDS_term_mouse(U8, U16, U32, U64, TEXT, BLOB) \
	U32(term) U8(kind) U8(button) U8(mods) U16(row) U16(col)
#define WIRE_FIELDS_term_focus(U8, U16, U32, U64, TEXT, BLOB) U32(term) U8(focused)
/* Asks for the newest lines of the history whose numbers are below `before` (see core/term/transcript.h). Answered by one
 * TERM_LINES: as many of them as were asked for and fit, `lines` as in transcript.h; count 0: there are none (any more). */
#define WIRE_FIELDS_term_history(U8, U16, U32, U64, TEXT, BLOB) U32(term) U64(before) U32(most)
#define WIRE_FIELDS_term_lines(U8, U16, U32, U64, TEXT, BLOB) \
	U32(term) U64(first) U32(count) BLOB(lines, WIRE_LINES_MAX)
/* A signal for the terminal's program: how a terminal is closed. Answered by OK. */
#define WIRE_FIELDS_term_signal(U8, U16, U32, U64, TEXT, BLOB) U32(term) U8(signum)

/* clang-format on */

/* ---- expansions; nothing to edit below ---- */

#define WIRE_STRUCT_U8(n)        uint8_t n;
#define WIRE_STRUCT_U16(n)       uint16_t n;
#define WIRE_STRUCT_U32(n)       uint32_t n;
#define WIRE_STRUCT_U64(n)       uint64_t n;
#define WIRE_STRUCT_TEXT(n, max) char n[(max) + 1];
#define WIRE_STRUCT_BLOB(n, max) struct bytes n;

#define M(NAME, name, number, max) WIRE_##NAME = (number),
#define E(NAME, name, number)      WIRE_##NAME = (number),
enum wire_type { WIRE_MESSAGES(M) WIRE_EMPTY_MESSAGES(E) };
#undef M
#undef E

/* For each message: the struct; wire_put_NAME appends one whole frame (false, and nothing appended, when a field is too
 * long or the buffer is full); wire_get_NAME reads a body that must be exactly this message (short, long and bad
 * fields are ERR_PROTOCOL). */
#define M(NAME, name, number, max)                                                                    \
	struct wire_##name {                                                                          \
		WIRE_FIELDS_##name(WIRE_STRUCT_U8, WIRE_STRUCT_U16, WIRE_STRUCT_U32, WIRE_STRUCT_U64, \
		                   WIRE_STRUCT_TEXT, WIRE_STRUCT_BLOB)                                \
	};                                                                                            \
	bool wire_put_##name(struct buf *out, uint32_t id, const struct wire_##name *m);              \
	bool wire_get_##name(struct bytes body, struct wire_##name *m, struct err *e) MUST_USE;
WIRE_MESSAGES(M)
#undef M

/* A message without a body. */
bool wire_put_empty(struct buf *out, uint16_t type, uint32_t id);
/* The usual answer to a request that failed. */
bool wire_put_err(struct buf *out, uint32_t id, const struct err *e);
/* HELLO of this build; `role` is "client", "supervisor", "guest". */
bool wire_put_my_hello(struct buf *out, const char *role);
/* A HELLO body from the peer: wrong magic or major version is ERR_PROTOCOL with a text that says what to do. */
bool wire_check_hello(struct bytes body, struct wire_hello *m, struct err *e) MUST_USE;

/* "hello", or "unknown". */
const char *wire_type_name(uint16_t type);
/* The longest body of this type; -1 when the type is unknown. */
long wire_body_max(uint16_t type);
/* One line for logs: name and fields, escaped and capped. */
void wire_dump(char *out, size_t size, uint16_t type, struct bytes body);

/* argv and environments as one blob. Packing stops with false when over the buffer's maximum. */
bool wire_pack_strings(struct buf *out, const char *const *strings);
/* Checks that the blob is strings with NUL and no more than `most`; returns a NULL-terminated array (one allocation,
 * caller frees; the texts lie in it too). NULL and ERR_PROTOCOL otherwise. */
char **wire_unpack_strings(struct bytes blob, size_t most, struct err *e) MUST_USE;

#endif
