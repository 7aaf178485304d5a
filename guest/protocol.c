#include "guest/protocol.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

#define DEFAULT_ROWS 24
#define DEFAULT_COLS 80

typedef bool read_fn(struct protocol *p, const struct frame *f, struct protocol_event *out, struct err *e);

static bool read_hello(struct protocol *p, const struct frame *f, struct protocol_event *out, struct err *e)
{
	struct wire_hello hello;
	(void)out;
	if (!wire_check_hello(f->body, &hello, e))
		return false;
	p->phase = PHASE_REQUEST;
	return true;
}

static bool read_empty(struct protocol *p, const struct frame *f, struct protocol_event *out, struct err *e)
{
	(void)p;
	(void)f;
	(void)out;
	(void)e;
	return true; /* the frame layer has checked that there is no body */
}

static bool check_strings(char **argv, char **env, struct err *e)
{
	if (argv[0] && !argv[0][0])
		return err_set(e, ERR_INVALID, "the name of the program is empty");
	for (char **p = env; *p; p++) {
		if ((*p)[0] == '=' || !strchr(*p, '='))
			return err_set(e, ERR_INVALID, "environment entry without a name: \"%.64s\"", *p);
	}
	return true;
}

static bool read_spawn(struct protocol *p, const struct frame *f, struct protocol_event *out, struct err *e)
{
	struct wire_agent_spawn *m = &out->spawn;
	if (!wire_get_agent_spawn(f->body, m, e))
		return false;
	if (m->tty > 1)
		return err_set(e, ERR_PROTOCOL, "tty is %u, not 0 or 1", m->tty);
	m->rows = m->rows ? m->rows : DEFAULT_ROWS;
	m->cols = m->cols ? m->cols : DEFAULT_COLS;
	char **argv = wire_unpack_strings(m->argv, PROTOCOL_MOST_STRINGS, e);
	char **env = argv ? wire_unpack_strings(m->env, PROTOCOL_MOST_STRINGS, e) : NULL;
	if (!env || !check_strings(argv, env, e)) {
		free(argv);
		free(env);
		return false;
	}
	out->argv = argv;
	out->env = env;
	p->phase = PHASE_RUNNING;
	return true;
}

static bool read_shutdown(struct protocol *p, const struct frame *f, struct protocol_event *out,
                          struct err *e)
{
	struct wire_agent_shutdown m;
	if (!wire_get_agent_shutdown(f->body, &m, e))
		return false;
	out->reboot = m.reboot != 0;
	p->phase = PHASE_DONE;
	return true;
}

static bool read_stdin(struct protocol *p, const struct frame *f, struct protocol_event *out, struct err *e)
{
	struct wire_stdin_data m;
	(void)p;
	if (!wire_get_stdin_data(f->body, &m, e))
		return false;
	out->data = m.data;
	return true;
}

static bool read_resize(struct protocol *p, const struct frame *f, struct protocol_event *out, struct err *e)
{
	(void)p;
	if (!wire_get_resize(f->body, &out->resize, e))
		return false;
	if (!out->resize.rows || !out->resize.cols)
		return err_set(e, ERR_PROTOCOL, "terminal size %ux%u", out->resize.rows, out->resize.cols);
	return true;
}

static bool read_signal(struct protocol *p, const struct frame *f, struct protocol_event *out, struct err *e)
{
	struct wire_signal m;
	(void)p;
	if (!wire_get_signal(f->body, &m, e))
		return false;
	if (m.signum < 1 || m.signum > 64)
		return err_set(e, ERR_PROTOCOL, "signal number %u", m.signum);
	out->signum = m.signum;
	return true;
}

#define IN(phase) (1u << (phase))

/* `input`: belongs to a running program, so it must carry its id and may come too late. */
static const struct rule {
	uint16_t type;
	unsigned phases;
	bool input;
	enum protocol_what what;
	read_fn *read;
} RULES[] = {
    {WIRE_HELLO, IN(PHASE_HELLO), false, PROTOCOL_HELLO, read_hello},
    {WIRE_AGENT_PING, IN(PHASE_REQUEST), false, PROTOCOL_PING, read_empty},
    {WIRE_AGENT_SPAWN, IN(PHASE_REQUEST), false, PROTOCOL_SPAWN, read_spawn},
    {WIRE_AGENT_SHUTDOWN, IN(PHASE_REQUEST), false, PROTOCOL_SHUTDOWN, read_shutdown},
    {WIRE_STDIN, IN(PHASE_RUNNING) | IN(PHASE_DONE), true, PROTOCOL_STDIN, read_stdin},
    {WIRE_STDIN_EOF, IN(PHASE_RUNNING) | IN(PHASE_DONE), true, PROTOCOL_STDIN_EOF, read_empty},
    {WIRE_RESIZE, IN(PHASE_RUNNING) | IN(PHASE_DONE), true, PROTOCOL_RESIZE, read_resize},
    {WIRE_SIGNAL, IN(PHASE_RUNNING) | IN(PHASE_DONE), true, PROTOCOL_SIGNAL, read_signal},
};

static const struct rule *find_rule(uint16_t type)
{
	for (size_t i = 0; i < ARRAY_LEN(RULES); i++) {
		if (RULES[i].type == type)
			return &RULES[i];
	}
	return NULL;
}

bool protocol_read(struct protocol *p, const struct frame *f, struct protocol_event *out, struct err *e)
{
	*out = (struct protocol_event){.what = PROTOCOL_NOTHING};
	const struct rule *rule = find_rule(f->type);
	if (!rule || !(rule->phases & IN(p->phase)))
		return err_set(e, ERR_PROTOCOL, "message %s is not allowed here", wire_type_name(f->type));
	if (rule->input && f->id != p->id)
		return err_set(e, ERR_PROTOCOL, "message %s for request %u on the connection of %u",
		               wire_type_name(f->type), f->id, p->id);
	if (!rule->read(p, f, out, e))
		return false;
	if (!rule->input)
		p->id = f->id;
	out->what = rule->input && p->phase == PHASE_DONE ? PROTOCOL_NOTHING : rule->what;
	return true;
}

void protocol_event_finish(struct protocol_event *ev)
{
	free(ev->argv);
	free(ev->env);
	ev->argv = ev->env = NULL;
}

void protocol_done(struct protocol *p)
{
	p->phase = PHASE_DONE;
}
