/* A program without a terminal: the client's EXEC becomes one link to the guest with one AGENT_SPAWN, whose bytes are
 * passed on both ways with the ids translated. Each side is read only while the other takes what comes. */
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/supervisor/guest_link.h"
#include "core/supervisor/session_internal.h"

#define SPAWN_ID 1

struct session_exec {
	struct list link;
	struct session *session;
	uint32_t id; /* the client's */
	bool running;
	struct guest_link *guest;
};

static void end_exec(struct session_exec *x)
{
	struct session *s = x->session;
	list_remove(&x->link);
	guest_link_close(x->guest);
	free(x);
	s->exec_count--;
	session_update_reading(s); /* it may have been the one that took nothing */
}

static struct session_exec *find_exec(struct session *s, uint32_t id)
{
	LIST_FOREACH (item, &s->execs) {
		struct session_exec *x = LIST_ENTRY(item, struct session_exec, link);
		if (x->id == id)
			return x;
	}
	return NULL;
}

/* ---- from the guest ---- */

static void brake(struct session_exec *x)
{
	session_flush(x->session);
	if (session_is_full(x->session))
		guest_link_pause(x->guest);
}

static bool on_spawned(struct session_exec *x, const struct frame *f, struct err *e)
{
	struct wire_agent_spawned m;
	if (!wire_get_agent_spawned(f->body, &m, e))
		return false;
	x->running = true;
	session_answer_ok(x->session, x->id, "");
	return true;
}

static bool on_refused(struct session_exec *x, const struct frame *f, struct err *e)
{
	struct err said = ERR_INIT;
	if (!guest_refusal(f, &said, e))
		return false;
	session_answer_err(x->session, x->id, &said);
	end_exec(x);
	return true;
}

static bool on_stdout(struct session_exec *x, const struct frame *f, struct err *e)
{
	struct wire_stdout_data m;
	if (!wire_get_stdout_data(f->body, &m, e))
		return false;
	wire_put_stdout_data(session_out(x->session), x->id, &m);
	brake(x);
	return true;
}

static bool on_stderr(struct session_exec *x, const struct frame *f, struct err *e)
{
	struct wire_stderr_data m;
	if (!wire_get_stderr_data(f->body, &m, e))
		return false;
	wire_put_stderr_data(session_out(x->session), x->id, &m);
	brake(x);
	return true;
}

static bool on_exit_told(struct session_exec *x, const struct frame *f, struct err *e)
{
	struct wire_exit m;
	if (!wire_get_exit(f->body, &m, e))
		return false;
	wire_put_exit(session_out(x->session), x->id, &m);
	session_flush(x->session);
	end_exec(x);
	return true;
}

static const struct {
	uint16_t type;
	bool running; /* the phase in which it may come */
	bool (*handle)(struct session_exec *x, const struct frame *f, struct err *e);
} FROM_GUEST[] = {
    {WIRE_AGENT_SPAWNED, false, on_spawned}, {WIRE_ERROR, false, on_refused}, {WIRE_STDOUT, true, on_stdout},
    {WIRE_STDERR, true, on_stderr},          {WIRE_EXIT, true, on_exit_told},
};

static bool on_frame(void *arg, const struct frame *f, struct err *e)
{
	struct session_exec *x = arg;
	for (size_t i = 0; i < ARRAY_LEN(FROM_GUEST); i++) {
		if (f->type == FROM_GUEST[i].type && x->running == FROM_GUEST[i].running && f->id == SPAWN_ID)
			return FROM_GUEST[i].handle(x, f, e);
	}
	return err_set(e, ERR_PROTOCOL, "message %s does not belong to a program that is %s",
	               wire_type_name(f->type), x->running ? "running" : "being started");
}

static void on_guest_drain(void *arg)
{
	struct session_exec *x = arg;
	session_update_reading(x->session);
}

static void on_guest_end(void *arg, const struct err *e)
{
	struct session_exec *x = arg;
	session_answer_err(x->session, x->id, e);
	end_exec(x);
}

static const struct guest_link_ops GUEST_OPS = {
    .on_frame = on_frame, .on_drain = on_guest_drain, .on_end = on_guest_end};

/* ---- from the client ---- */

static bool start_exec(struct session *s, uint32_t id, const struct wire_exec *m, struct err *why)
{
	if (!session_check_ready(s, why))
		return false;
	if (m->argv.len == 0)
		return err_set(why, ERR_INVALID, "no program was named");
	if (s->exec_count >= SESSION_MOST_THINGS)
		return err_set(why, ERR_LIMIT, "too many programs on one connection");
	struct session_exec *x = mem_alloc(sizeof(*x));
	x->session = s;
	x->id = id;
	x->guest = guest_link_open(s->host->loop, s->host->vsock_path, WIRE_PORT_AGENT, &GUEST_OPS, x, why);
	if (!x->guest) {
		free(x);
		return false;
	}
	list_append(&s->execs, &x->link);
	s->exec_count++;
	struct wire_agent_spawn spawn = {.tty = 0, .argv = m->argv, .env = m->env};
	memcpy(spawn.cwd, m->cwd, sizeof(spawn.cwd));
	wire_put_agent_spawn(guest_link_out(x->guest), SPAWN_ID, &spawn);
	guest_link_flush(x->guest);
	return true;
}

bool session_on_exec(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_exec m;
	struct err why = ERR_INIT;
	if (!wire_get_exec(f->body, &m, e) || !session_check_strings(m.argv, "argument list", e) ||
	    !session_check_strings(m.env, "environment", e))
		return false;
	if (find_exec(s, f->id))
		return err_set(e, ERR_PROTOCOL, "request id %u is in use", f->id);
	if (!start_exec(s, f->id, &m, &why))
		session_answer_err(s, f->id, &why);
	return true;
}

/* Input for a program that has just ended is on its way quite often, and dropped. */
bool session_on_stdin(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_stdin_data m;
	if (!wire_get_stdin_data(f->body, &m, e))
		return false;
	struct session_exec *x = find_exec(s, f->id);
	if (!x)
		return true;
	wire_put_stdin_data(guest_link_out(x->guest), SPAWN_ID, &m);
	guest_link_flush(x->guest);
	session_update_reading(s);
	return true;
}

bool session_on_stdin_eof(struct session *s, const struct frame *f, struct err *e)
{
	if (f->body.len)
		return err_set(e, ERR_PROTOCOL, "malformed stdin_eof message");
	struct session_exec *x = find_exec(s, f->id);
	if (!x)
		return true;
	wire_put_empty(guest_link_out(x->guest), WIRE_STDIN_EOF, SPAWN_ID);
	guest_link_flush(x->guest);
	return true;
}

bool session_on_signal(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_signal m;
	if (!wire_get_signal(f->body, &m, e))
		return false;
	if (m.signum < 1 || m.signum > 64)
		return err_set(e, ERR_PROTOCOL, "there is no signal %u", m.signum);
	struct session_exec *x = find_exec(s, f->id);
	if (!x)
		return true;
	wire_put_signal(guest_link_out(x->guest), SPAWN_ID, &m);
	guest_link_flush(x->guest);
	return true;
}

/* ---- for the session ---- */

bool session_execs_are_full(const struct session *s)
{
	LIST_FOREACH (item, &s->execs) {
		if (guest_link_is_full(LIST_ENTRY(item, struct session_exec, link)->guest))
			return true;
	}
	return false;
}

void session_execs_drain(struct session *s)
{
	LIST_FOREACH (item, &s->execs)
		guest_link_resume(LIST_ENTRY(item, struct session_exec, link)->guest);
}

void session_execs_close(struct session *s)
{
	LIST_FOREACH (item, &s->execs) {
		struct session_exec *x = LIST_ENTRY(item, struct session_exec, link);
		list_remove(&x->link);
		guest_link_close(x->guest);
		free(x);
	}
	s->exec_count = 0;
}
