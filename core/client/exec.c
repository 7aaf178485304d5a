#include "core/client/exec.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/client/internal.h"
#include "core/wire/wire.h"

#define START_TIMEOUT_MS 30000

struct exec {
	struct conversation talk;
	struct client *client; /* keeps; talk.client is NULL once it is over */
	const struct exec_ops *ops;
	void *arg;
	bool running;
	bool stdin_ended;
};

static struct exec *from_talk(struct conversation *v)
{
	return CONTAINER_OF(v, struct exec, talk);
}

/* The client is closed: nothing more comes, the owner still has the object. */
static void release(struct conversation *v)
{
	from_talk(v)->running = false;
}

/* Over: the object stays until exec_close, but nothing more comes. */
static void end(struct exec *x)
{
	x->running = false;
	if (conversation_is_active(&x->talk))
		conversation_end(&x->talk);
}

static void on_broken(struct conversation *v, const struct err *e)
{
	struct exec *x = from_talk(v);
	end(x);
	x->ops->on_failed(x->arg, e);
}

static bool on_started(struct exec *x, const struct frame *f, struct err *e)
{
	struct wire_ok m;
	if (x->running)
		return client_unexpected(f, e);
	if (!wire_get_ok(f->body, &m, e))
		return false;
	x->running = true;
	x->talk.deadline_ms = 0;
	x->ops->on_drain(x->arg);
	return true;
}

static bool on_refused(struct exec *x, const struct frame *f, struct err *e)
{
	struct err why = ERR_INIT;
	if (!client_read_error(f, &why, e))
		return false;
	end(x);
	x->ops->on_failed(x->arg, &why);
	return true;
}

static bool on_stdout(struct exec *x, const struct frame *f, struct err *e)
{
	struct wire_stdout_data m;
	if (!wire_get_stdout_data(f->body, &m, e))
		return false;
	if (m.data.len)
		x->ops->on_stdout(x->arg, m.data.p, m.data.len);
	return true;
}

static bool on_stderr(struct exec *x, const struct frame *f, struct err *e)
{
	struct wire_stderr_data m;
	if (!wire_get_stderr_data(f->body, &m, e))
		return false;
	if (m.data.len)
		x->ops->on_stderr(x->arg, m.data.p, m.data.len);
	return true;
}

static bool on_exit_message(struct exec *x, const struct frame *f, struct err *e)
{
	struct wire_exit m;
	if (!wire_get_exit(f->body, &m, e))
		return false;
	end(x);
	x->ops->on_exit(x->arg, m.code, m.signum, m.output_cut != 0);
	return true;
}

static const struct {
	uint16_t type;
	bool only_running;
	bool (*handle)(struct exec *x, const struct frame *f, struct err *e);
} MESSAGES[] = {
    {WIRE_OK, false, on_started},   {WIRE_ERROR, false, on_refused},    {WIRE_STDOUT, true, on_stdout},
    {WIRE_STDERR, true, on_stderr}, {WIRE_EXIT, true, on_exit_message},
};

static bool on_message(struct conversation *v, const struct frame *f, struct err *e)
{
	struct exec *x = from_talk(v);
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		if (f->type == MESSAGES[i].type && (x->running || !MESSAGES[i].only_running))
			return MESSAGES[i].handle(x, f, e);
	}
	return client_unexpected(f, e);
}

static void on_drain(struct conversation *v)
{
	struct exec *x = from_talk(v);
	if (x->running)
		x->ops->on_drain(x->arg);
}

static const struct conversation_ops TALK_OPS = {
    .what = "exec",
    .on_message = on_message,
    .on_broken = on_broken,
    .on_drain = on_drain,
    .release = release,
};

struct exec *client_exec(struct client *c, const struct exec_spec *spec, const struct exec_ops *ops,
                         void *arg, struct err *e)
{
	struct exec *x = NULL;
	struct buf argv = BUF_INIT(WIRE_ARGV_MAX), env = BUF_INIT(WIRE_ARGV_MAX);
	struct wire_exec m = {.cwd = ""};
	size_t cwd_len = spec->cwd ? strlen(spec->cwd) : 0;
	if (!wire_pack_strings(&argv, spec->argv)) {
		err_set(e, ERR_LIMIT, "the arguments are longer than %d bytes", WIRE_ARGV_MAX);
	} else if (!wire_pack_strings(&env, spec->env)) {
		err_set(e, ERR_LIMIT, "the environment is longer than %d bytes", WIRE_ARGV_MAX);
	} else if (cwd_len >= sizeof(m.cwd)) {
		err_set(e, ERR_LIMIT, "the folder's path is longer than %zu bytes", sizeof(m.cwd) - 1);
	} else {
		x = mem_alloc(sizeof(*x));
		x->client = c;
		x->ops = ops;
		x->arg = arg;
		if (cwd_len)
			memcpy(m.cwd, spec->cwd, cwd_len);
		m.argv = (struct bytes){.p = argv.data, .len = argv.len};
		m.env = (struct bytes){.p = env.data, .len = env.len};
		conversation_begin(c, &x->talk, &TALK_OPS, START_TIMEOUT_MS);
		wire_put_exec(client_outgoing(c), x->talk.id, &m);
		client_flush(c);
	}
	buf_finish(&argv);
	buf_finish(&env);
	return x;
}

bool exec_is_starting(const struct exec *x)
{
	return !x->running && conversation_is_active(&x->talk);
}

bool exec_is_full(const struct exec *x)
{
	return !x->running || client_is_full(x->client);
}

bool exec_send_stdin(struct exec *x, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	if (!x->running || x->stdin_ended)
		return false;
	while (len) {
		size_t n = MIN(len, (size_t)WIRE_DATA_MAX);
		struct wire_stdin_data m = {.data = {.p = p, .len = n}};
		wire_put_stdin_data(client_outgoing(x->client), x->talk.id, &m);
		if (!client_flush(x->client))
			return false;
		p += n;
		len -= n;
	}
	return true;
}

void exec_stdin_eof(struct exec *x)
{
	if (!x->running || x->stdin_ended)
		return;
	x->stdin_ended = true;
	wire_put_empty(client_outgoing(x->client), WIRE_STDIN_EOF, x->talk.id);
	client_flush(x->client);
}

void exec_signal(struct exec *x, int signum)
{
	struct wire_signal m = {.signum = (uint8_t)signum};
	if (!x->running)
		return;
	wire_put_signal(client_outgoing(x->client), x->talk.id, &m);
	client_flush(x->client);
}

void exec_pause_output(struct exec *x)
{
	if (conversation_is_active(&x->talk))
		client_pause(x->client);
}

void exec_resume_output(struct exec *x)
{
	if (conversation_is_active(&x->talk))
		client_resume(x->client);
}

void exec_close(struct exec *x)
{
	if (!x)
		return;
	exec_signal(x, 9);
	end(x);
	free(x);
}
