/* core/supervisor against a hostile guest and a broken client: any bytes on a link to the agent (ping, program, terminal), on
 * the events port and on the control socket (with and without a terminal open) end at most that connection. The first byte
 * says where the rest arrives. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/listener.h"
#include "core/loop/loop.h"
#include "core/supervisor/board.h"
#include "core/supervisor/guest_events.h"
#include "core/supervisor/health.h"
#include "core/supervisor/live_policy.h"
#include "core/supervisor/session.h"
#include "core/supervisor/lookout.h"
#include "core/supervisor/terminals.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

#define MOST_CALLS 64 /* connections to the guest for one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum where { AT_PING, AT_EXEC, AT_TERMINAL, AT_EVENTS, AT_CONTROL, AT_CONSOLE, AT_COUNT };

struct world {
	struct loop *loop;
	char dir[40];
	char *vsock, *events_path;
	struct listener *guest;
	struct board *board;
	struct health *health;
	struct live_policy *policy;
	struct terminals *terminals;
	struct lookout *lookout;
	struct session_host host;
	struct session *session;
	enum where where;
	const uint8_t *data; /* what the guest sends on each connection */
	size_t size;
	int calls[MOST_CALLS];
	size_t call_count;
};

/* Bytes into a socket that is big enough for what libFuzzer makes; the rest is lost. */
static void put(int fd, const void *bytes, size_t len)
{
	if (write(fd, bytes, len) < 0)
		return;
}

static void put_buf(int fd, struct buf *b)
{
	put(fd, b->data, b->len);
	buf_finish(b);
}

/* A guest that behaves: a program that wants to hear of everything and has filled some history. */
static void put_terminal(struct buf *out)
{
	static const char TEXT[] =
	    "\x1b[?1000h\x1b[?1006h\x1b[?1004h\x1b[?2004ha\r\n\x1b[1mb\xcc\x81\r\n\n\n\n\n\n\nend";
	struct wire_agent_spawned spawned = {.pid = 1};
	struct wire_stdout_data data = {.data = {.p = (const uint8_t *)TEXT, .len = sizeof(TEXT) - 1}};
	wire_put_agent_spawned(out, 1, &spawned);
	wire_put_stdout_data(out, 1, &data);
}

static void on_guest_called(void *arg, int fd)
{
	struct world *w = arg;
	struct buf hello = BUF_INIT(1024);
	if (w->call_count == MOST_CALLS) {
		close(fd);
		return;
	}
	w->calls[w->call_count++] = fd;
	put(fd, "OK 1073741824\n", 14);
	wire_put_my_hello(&hello, "guest");
	if (w->where == AT_CONSOLE)
		put_terminal(&hello);
	put_buf(fd, &hello);
	if (w->where == AT_CONSOLE)
		return;
	put(fd, w->data, w->size);
	shutdown(fd, SHUT_WR);
}

static void on_ready(void *arg, const struct wire_event_ready *m)
{
	(void)arg;
	(void)m;
}

static void on_incident(void *arg, const char *text)
{
	(void)arg;
	for (; *text; text++)
		CHECK(*text >= 0x20 && *text < 0x7f);
}

static void on_stop(void *arg, uint32_t grace_ms)
{
	(void)arg;
	(void)grace_ms;
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static void on_pause(void *arg, bool paused)
{
	struct world *w = arg;
	board_edit(w->board)->paused = paused;
	board_changed(w->board);
}

static void on_seen(void *arg, bool attention, bool denied)
{
	struct world *w = arg;
	(void)denied;
	if (attention)
		lookout_seen(w->lookout);
}

static void on_gone(void *arg, struct session *s)
{
	struct world *w = arg;
	w->session = NULL;
	session_close(s);
}

static void on_notify(void *arg, const struct wire_event_notify *m)
{
	struct world *w = arg;
	lookout_notify(w->lookout, m);
}

static const struct guest_events_ops EVENTS_OPS = {
    .on_ready = on_ready, .on_other_version = do_nothing, .on_incident = on_incident, .on_notify = on_notify};

static struct world world;

static void remove_folder(void)
{
	struct err e = ERR_INIT;
	CHECK(fd_remove_tree(world.dir, &e));
}

static void make_world(struct world *w)
{
	struct vm_status status = {.name = "alpha", .state = VM_READY, .generation = 1};
	struct err e = ERR_INIT;
	log_open("fuzz", open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR);
	strcpy(w->dir, "/tmp/ccvm-fuzz-XXXXXX");
	CHECK(mkdtemp(w->dir) && atexit(remove_folder) == 0);
	w->vsock = mem_printf("%s/vsock.sock", w->dir);
	w->events_path = mem_printf("%s/events.sock", w->dir);
	w->loop = loop_create();
	w->guest = listener_open(w->loop, w->vsock, on_guest_called, w, &e);
	CHECK(w->guest);
	w->board = board_create(w->loop, &status);
	w->lookout = lookout_create(w->loop, w->board);
	w->health = health_create(w->loop, w->board, w->vsock, "/nonexistent");
	w->policy = live_policy_create(w->loop, "/nonexistent", do_nothing, w);
	w->host = (struct session_host){.loop = w->loop,
	                                .board = w->board,
	                                .health = w->health,
	                                .policy = w->policy,
	                                .vsock_path = w->vsock,
	                                .on_stop = on_stop,
	                                .on_kill = do_nothing,
	                                .on_pause = on_pause,
	                                .on_seen = on_seen,
	                                .arg = w};
}

/* What the client asks so that the guest is called. */
static void ask(enum where where, int client)
{
	struct buf out = BUF_INIT(4096);
	struct wire_exec exec = {.argv = {.p = (const uint8_t *)"x", .len = 2}};
	struct wire_term_open term = {
	    .term = 0, .rows = (uint16_t)(where == AT_CONSOLE ? 4 : 24), .cols = 80};
	wire_put_my_hello(&out, "client");
	if (where == AT_PING)
		wire_put_empty(&out, WIRE_PING, 5);
	if (where == AT_EXEC)
		wire_put_exec(&out, 5, &exec);
	if (where == AT_TERMINAL || where == AT_CONSOLE)
		wire_put_term_open(&out, 5, &term);
	put_buf(client, &out);
}

static void turn(struct world *w, int client)
{
	char drain[16384];
	for (int i = 0; i < 12; i++) {
		loop_turn(w->loop, true);
		if (client >= 0)
			while (read(client, drain, sizeof(drain)) > 0)
				continue;
	}
}

static void through_a_session(struct world *w, enum where where)
{
	int fds[2];
	struct err e = ERR_INIT;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	w->terminals = terminals_create(w->loop, w->board, w->vsock, &LOOKOUT_TERMINALS, w->lookout);
	w->host.terminals = w->terminals;
	w->session = session_open(&w->host, fds[1], on_gone, w, &e);
	CHECK(w->session);
	ask(where, fds[0]);
	if (where == AT_CONSOLE)
		turn(w, fds[0]); /* the terminal is open */
	if (where == AT_CONTROL || where == AT_CONSOLE)
		put(fds[0], w->data, w->size);
	turn(w, fds[0]);
	close(fds[0]);
	session_close(w->session);
	w->session = NULL;
	terminals_destroy(w->terminals);
}

static void through_the_events_port(struct world *w)
{
	struct err e = ERR_INIT;
	/* A port of its own for each input: one that hears many of them rests. */
	struct guest_events *events = guest_events_open(w->loop, w->events_path, &EVENTS_OPS, w, &e);
	CHECK(events);
	int fd CLOSE_ON_EXIT = fd_unix_connect(w->events_path, &e);
	CHECK(fd >= 0);
	put(fd, w->data, w->size);
	turn(w, -1);
	guest_events_close(events);
}

static void check_attention(const struct vm_attention *a)
{
	CHECK((unsigned)a->state < ATTENTION_STATE_COUNT && (unsigned)a->source < ATTENTION_SOURCE_COUNT);
	for (const char *p = a->text; *p; p++)
		CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = &world;
	if (!w->loop)
		make_world(w);
	if (size == 0)
		return 0;
	enum where where = data[0] % AT_COUNT;
	board_edit(w->board)->paused = false;
	w->where = where;
	w->data = data + 1;
	w->size = size - 1;
	if (where == AT_EVENTS)
		through_the_events_port(w);
	else
		through_a_session(w, where);
	for (size_t i = 0; i < w->call_count; i++)
		close(w->calls[i]);
	w->call_count = 0;
	turn(w, -1);
	check_attention(&board_status(w->board)->attention);
	return 0;
}
