#include "guest/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/wire/wire.h"
#include "guest/env.h"
#include "guest/health.h"
#include "guest/link.h"
#include "guest/program.h"
#include "guest/protocol.h"
#include "guest/reactor.h"
#include "guest/vsock.h"

#define REQUEST_MS     15000 /* a connection that asks nothing is closed */
#define PROBE_MS       2000
#define ACCEPT_REST_MS 100

struct agent {
	struct reactor *reactor;
	struct agent_host host;
	int listen_fd;
	struct reactor_watch *watch;
	struct deadline rest; /* out of descriptors: accept again after this */
	struct list sessions;
	size_t count;
};

/* One connection. */
struct session {
	struct list entry;
	struct agent *agent;
	struct link link;
	struct protocol protocol;
	struct program *program;
	struct deadline idle;
	/* A ping's look at the way to the proxy. */
	int probe_fd;
	struct reactor_watch *probe_watch;
	struct deadline probe_limit;
};

static void probe_end(struct session *s)
{
	deadline_clear(&s->probe_limit);
	reactor_unwatch(s->probe_watch);
	s->probe_watch = NULL;
	fd_close(&s->probe_fd);
}

static void listen_again(struct agent *a)
{
	if (a->watch && a->count < AGENT_MOST_CONNECTIONS && !deadline_is_set(&a->rest))
		reactor_want(a->watch, EPOLLIN);
}

static void session_end(struct session *s)
{
	struct agent *a = s->agent;
	deadline_clear(&s->idle);
	probe_end(s);
	program_leave(s->program);
	link_close(&s->link);
	list_remove(&s->entry);
	free(s);
	a->count--;
	listen_again(a);
}

/* ---- ping ---- */

static void answer_ping(struct session *s, bool reachable)
{
	const struct agent_host *host = &s->agent->host;
	struct wire_agent_pong m = {
	    .relay_listening = host->relay_listening(host->arg),
	    .vsock_reachable = reachable,
	    .lo_up = host->lo_up(host->arg),
	    .programs = (uint32_t)host->programs->count,
	};
	probe_end(s);
	health_measure(&m);
	deadline_set(&s->idle, s->agent->reactor, REQUEST_MS);
	link_flush(&s->link, wire_put_agent_pong(link_out(&s->link), s->protocol.id, &m));
}

static void on_probe(void *arg, uint32_t events)
{
	(void)events;
	struct session *s = arg;
	answer_ping(s, socket_outcome(s->probe_fd) == 0);
}

static void on_probe_limit(void *arg)
{
	answer_ping(arg, false);
}

static bool do_ping(struct session *s, struct protocol_event *ev, struct err *e)
{
	(void)ev;
	struct err unreachable = ERR_INIT;
	if (s->probe_watch)
		return err_set(e, ERR_PROTOCOL, "a ping before the last one was answered");
	deadline_clear(&s->idle);
	s->probe_fd = s->agent->host.dial_egress(s->agent->host.arg, &unreachable);
	if (s->probe_fd < 0) {
		answer_ping(s, false);
		return true;
	}
	s->probe_watch = reactor_watch(s->agent->reactor, s->probe_fd, EPOLLOUT, on_probe, s);
	deadline_set(&s->probe_limit, s->agent->reactor, PROBE_MS);
	return true;
}

/* ---- programs ---- */

static void on_output(void *arg, bool is_stderr, const uint8_t *bytes, size_t len)
{
	struct session *s = arg;
	struct bytes data = {.p = bytes, .len = len};
	bool ok;
	if (is_stderr)
		ok = wire_put_stderr_data(link_out(&s->link), s->protocol.id,
		                          &(struct wire_stderr_data){data});
	else
		ok = wire_put_stdout_data(link_out(&s->link), s->protocol.id,
		                          &(struct wire_stdout_data){data});
	link_flush(&s->link, ok);
	if (link_is_full(&s->link))
		program_pause_output(s->program, true);
}

static void on_link_room(void *arg)
{
	struct session *s = arg;
	if (s->program)
		program_pause_output(s->program, false);
}

static void on_stdin_room(void *arg)
{
	struct session *s = arg;
	link_pause(&s->link, false);
}

static void on_exit_of_program(void *arg, int code, int signum, bool output_cut)
{
	struct session *s = arg;
	struct wire_exit m = {.code = (uint32_t)code, .signum = (uint8_t)signum, .output_cut = output_cut};
	program_leave(s->program);
	s->program = NULL;
	protocol_done(&s->protocol);
	link_pause(&s->link, false);
	link_flush(&s->link, wire_put_exit(link_out(&s->link), s->protocol.id, &m));
	link_finish(&s->link);
}

static const struct program_ops PROGRAM_OPS = {
    .on_output = on_output, .on_stdin_room = on_stdin_room, .on_exit = on_exit_of_program};

static bool do_spawn(struct session *s, struct protocol_event *ev, struct err *e)
{
	(void)e;
	struct err failed = ERR_INIT;
	char **env = env_build(ev->env);
	struct spawn_spec spec = {
	    .tty = ev->spawn.tty,
	    .rows = ev->spawn.rows,
	    .cols = ev->spawn.cols,
	    .cwd = ev->spawn.cwd,
	    .argv = ev->argv,
	    .env = env,
	};
	s->program = program_start(s->agent->host.programs, &spec, &PROGRAM_OPS, s, &failed);
	free(env);
	deadline_clear(&s->idle);
	if (!s->program) {
		protocol_done(&s->protocol);
		link_flush(&s->link, wire_put_err(link_out(&s->link), s->protocol.id, &failed));
		link_finish(&s->link);
		return true;
	}
	struct wire_agent_spawned m = {.pid = (uint32_t)program_pid(s->program)};
	link_flush(&s->link, wire_put_agent_spawned(link_out(&s->link), s->protocol.id, &m));
	return true;
}

static bool do_stdin(struct session *s, struct protocol_event *ev, struct err *e)
{
	if (!program_put_stdin(s->program, ev->data.p, ev->data.len))
		return err_set(e, ERR_LIMIT, "more input than the program takes");
	if (program_stdin_is_full(s->program))
		link_pause(&s->link, true);
	return true;
}

static bool do_stdin_eof(struct session *s, struct protocol_event *ev, struct err *e)
{
	(void)ev;
	(void)e;
	program_end_stdin(s->program);
	return true;
}

static bool do_resize(struct session *s, struct protocol_event *ev, struct err *e)
{
	(void)e;
	program_resize(s->program, ev->resize.rows, ev->resize.cols);
	return true;
}

static bool do_signal(struct session *s, struct protocol_event *ev, struct err *e)
{
	(void)e;
	program_signal(s->program, ev->signum);
	return true;
}

/* ---- the rest ---- */

static bool do_hello(struct session *s, struct protocol_event *ev, struct err *e)
{
	(void)ev;
	(void)e;
	link_flush(&s->link, wire_put_my_hello(link_out(&s->link), "guest"));
	return true;
}

static bool do_shutdown(struct session *s, struct protocol_event *ev, struct err *e)
{
	(void)e;
	struct wire_ok m = {.text = ""};
	deadline_clear(&s->idle);
	link_flush(&s->link, wire_put_ok(link_out(&s->link), s->protocol.id, &m));
	link_finish(&s->link);
	s->agent->host.shut_down(s->agent->host.arg, ev->reboot);
	return true;
}

static bool do_nothing(struct session *s, struct protocol_event *ev, struct err *e)
{
	(void)s;
	(void)ev;
	(void)e;
	return true;
}

static bool (*const HANDLERS[])(struct session *s, struct protocol_event *ev, struct err *e) = {
    [PROTOCOL_NOTHING] = do_nothing,   [PROTOCOL_HELLO] = do_hello,   [PROTOCOL_PING] = do_ping,
    [PROTOCOL_SPAWN] = do_spawn,       [PROTOCOL_STDIN] = do_stdin,   [PROTOCOL_STDIN_EOF] = do_stdin_eof,
    [PROTOCOL_SHUTDOWN] = do_shutdown, [PROTOCOL_RESIZE] = do_resize, [PROTOCOL_SIGNAL] = do_signal,
};

static bool on_frame(void *arg, const struct frame *f, struct err *e)
{
	struct session *s = arg;
	struct protocol_event ev;
	bool ok = protocol_read(&s->protocol, f, &ev, e);
	if (ok) {
		ok = HANDLERS[ev.what](s, &ev, e);
		protocol_event_finish(&ev);
	}
	if (!ok) {
		/* Nobody whom one can understand is there for the program. */
		program_leave(s->program);
		s->program = NULL;
	}
	return ok;
}

static void on_gone(void *arg, const struct err *e)
{
	struct session *s = arg;
	if (e)
		log_warn("agent: connection dropped: %s", e->msg);
	session_end(s);
}

static void on_idle(void *arg)
{
	session_end(arg);
}

static const struct link_ops LINK_OPS = {.on_frame = on_frame, .on_room = on_link_room, .on_gone = on_gone};

void agent_serve(struct agent *a, int fd)
{
	struct session *s = mem_alloc(sizeof(*s));
	s->agent = a;
	s->probe_fd = -1;
	deadline_init(&s->idle, on_idle, s);
	deadline_init(&s->probe_limit, on_probe_limit, s);
	link_open(&s->link, a->reactor, fd, &LINK_OPS, s);
	deadline_set(&s->idle, a->reactor, REQUEST_MS);
	list_append(&a->sessions, &s->entry);
	a->count++;
}

static void on_rest(void *arg)
{
	listen_again(arg);
}

static void on_accept(void *arg, uint32_t events)
{
	(void)events;
	struct agent *a = arg;
	while (a->count < AGENT_MOST_CONNECTIONS) {
		int fd = socket_accept(a->listen_fd);
		if (fd >= 0) {
			agent_serve(a, fd);
			continue;
		}
		if (errno != EAGAIN) {
			deadline_set(&a->rest, a->reactor, ACCEPT_REST_MS);
			reactor_deafen(a->watch);
		}
		return;
	}
	reactor_deafen(a->watch);
}

struct agent *agent_create(struct reactor *r, const struct agent_host *host)
{
	struct agent *a = mem_alloc(sizeof(*a));
	*a = (struct agent){.reactor = r, .host = *host, .listen_fd = -1};
	list_init(&a->sessions);
	deadline_init(&a->rest, on_rest, a);
	return a;
}

void agent_listen(struct agent *a, int listen_fd)
{
	a->listen_fd = listen_fd;
	a->watch = reactor_watch(a->reactor, listen_fd, EPOLLIN, on_accept, a);
}

void agent_destroy(struct agent *a)
{
	if (!a)
		return;
	reactor_unwatch(a->watch);
	a->watch = NULL;
	fd_close(&a->listen_fd);
	deadline_clear(&a->rest);
	LIST_FOREACH (item, &a->sessions) {
		session_end(LIST_ENTRY(item, struct session, entry));
	}
	free(a);
}
