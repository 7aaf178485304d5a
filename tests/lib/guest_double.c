#include "tests/lib/guest_double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>

#include "core/base/check.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/loop/hangup.h"
#include "core/loop/listener.h"
#include "core/loop/stream.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

#define PIECE (16 * 1024)

enum program { NONE, CAT, SINK, FLOOD, TERMINAL };

struct caller { /* one connection of the supervisor */
	struct list link;
	struct guest_double *owner;
	struct stream *stream;
	struct hangup *hangup; /* of a sink, which does not read */
	struct frame_reader frames;
	struct buf out;
	char line[40];
	size_t line_len;
	bool connected, over;
	enum program program;
	uint32_t id;
	size_t flood_left;
};

struct guest_double {
	struct loop *loop;
	struct listener *listener;
	struct list callers;
	enum guest_manners manners;
	size_t sent, got; /* bytes */
	struct buf typed, typed_told;
	char env[400];
	unsigned resizes, rows, cols;
	unsigned signum, pings;
	bool shut_down;
};

static void free_caller(void *arg)
{
	struct caller *c = arg;
	frame_reader_finish(&c->frames);
	buf_finish(&c->out);
	free(c);
}

static void hang_up(struct caller *c)
{
	if (c->over)
		return;
	c->over = true;
	hangup_close(c->hangup);
	list_remove(&c->link);
	stream_close(c->stream, free_caller, c);
}

static void flush(struct caller *c)
{
	CHECK(buf_ok(&c->out));
	if (!c->over && !stream_send(c->stream, c->out.data, c->out.len))
		hang_up(c);
	buf_clear(&c->out);
}

static void end_program(struct caller *c, uint32_t code)
{
	struct wire_exit m = {.code = code};
	wire_put_exit(&c->out, c->id, &m);
	c->program = NONE;
	flush(c);
}

static void write_out(struct caller *c, const void *bytes, size_t len)
{
	struct wire_stdout_data m = {.data = {.p = bytes, .len = len}};
	CHECK(wire_put_stdout_data(&c->out, c->id, &m));
	flush(c);
}

static void go_on_flooding(struct caller *c)
{
	static uint8_t xs[PIECE];
	memset(xs, 'x', sizeof(xs));
	while (c->program == FLOOD && !c->over && !stream_is_full(c->stream)) {
		size_t n = MIN(c->flood_left, sizeof(xs));
		if (n == 0) {
			end_program(c, 0);
			return;
		}
		c->flood_left -= n;
		c->owner->sent += n;
		write_out(c, xs, n);
	}
}

static void on_hangup(void *arg)
{
	hang_up(arg);
}

static void go_deaf(struct caller *c)
{
	struct err e = ERR_INIT;
	stream_pause(c->stream);
	c->hangup = hangup_open(c->owner->loop, stream_fd(c->stream), on_hangup, c, &e);
	CHECK(c->hangup);
}

/* ---- messages ---- */

static void tell_size(struct caller *c, unsigned rows, unsigned cols)
{
	char text[40];
	int n = snprintf(text, sizeof(text), "%ux%u$ ", rows, cols);
	write_out(c, text, (size_t)n);
}

static void on_spawn(struct caller *c, const struct frame *f)
{
	struct wire_agent_spawn m;
	struct err e = ERR_INIT;
	CHECK(wire_get_agent_spawn(f->body, &m, &e));
	char **argv = wire_unpack_strings(m.argv, 16, &e);
	CHECK(argv && m.env.len < sizeof(c->owner->env));
	for (size_t i = 0; i < m.env.len; i++)
		c->owner->env[i] = m.env.p[i] ? (char)m.env.p[i] : ' ';
	c->owner->env[m.env.len] = '\0';
	const char *name = argv[0] ? argv[0] : "sh";
	c->id = c->owner->manners == GUEST_WRONG_ID ? f->id + 1 : f->id;
	if (strcmp(name, "missing") == 0) {
		err_set(&e, ERR_NOT_FOUND, "missing: no such program\x1b[31m");
		wire_put_err(&c->out, c->id, &e);
		flush(c);
	} else {
		struct wire_agent_spawned spawned = {.pid = 100};
		wire_put_agent_spawned(&c->out, c->id, &spawned);
		flush(c);
		c->program = m.tty                        ? TERMINAL
		             : strcmp(name, "flood") == 0 ? FLOOD
		             : strcmp(name, "sink") == 0  ? SINK
		                                          : CAT;
		if (c->program == TERMINAL)
			tell_size(c, m.rows, m.cols);
		else if (strcmp(name, "exit") == 0)
			end_program(c, (uint32_t)atoi(argv[1]));
		else if (c->program == SINK)
			go_deaf(c);
		c->flood_left = c->program == FLOOD ? (size_t)atoi(argv[1]) * 1024 : 0;
		go_on_flooding(c);
	}
	free(argv);
}

static void on_ping(struct caller *c, const struct frame *f)
{
	c->owner->pings++;
	struct wire_agent_pong m = {.relay_listening = c->owner->manners != GUEST_EGRESS_BROKEN,
	                            .vsock_reachable = 1,
	                            .lo_up = 1,
	                            .uptime_ms = 1234,
	                            .mem_total_kib = 480 << 10,
	                            .mem_available_kib = 400 << 10};
	wire_put_agent_pong(&c->out, c->owner->manners == GUEST_WRONG_ID ? f->id + 1 : f->id, &m);
	flush(c);
}

static void on_stdin(struct caller *c, const struct frame *f)
{
	struct wire_stdin_data m;
	struct err e = ERR_INIT;
	CHECK(wire_get_stdin_data(f->body, &m, &e));
	c->owner->got += m.data.len;
	if (c->program == TERMINAL)
		buf_put(&c->owner->typed, m.data.p, m.data.len);
	if (c->program == TERMINAL && m.data.len == 1 && m.data.p[0] == '\n')
		end_program(c, 7);
	else if (c->program == CAT || c->program == TERMINAL)
		write_out(c, m.data.p, m.data.len);
}

static void on_other(struct caller *c, const struct frame *f)
{
	struct wire_resize resize;
	struct wire_signal sig;
	struct wire_ok ok = {.text = ""};
	struct err e = ERR_INIT;
	if (f->type == WIRE_STDIN_EOF && c->program == CAT) {
		end_program(c, 0);
	} else if (f->type == WIRE_RESIZE && wire_get_resize(f->body, &resize, &e)) {
		c->owner->resizes++;
		c->owner->rows = resize.rows;
		c->owner->cols = resize.cols;
		tell_size(c, resize.rows, resize.cols);
	} else if (f->type == WIRE_SIGNAL && wire_get_signal(f->body, &sig, &e)) {
		c->owner->signum = sig.signum;
	} else if (f->type == WIRE_AGENT_SHUTDOWN) {
		c->owner->shut_down = true;
		wire_put_ok(&c->out, f->id, &ok);
		flush(c);
	}
}

static void misbehave(struct caller *c, const struct frame *f)
{
	struct wire_status_reply status = {.name = "x"};
	size_t mark;
	switch (c->owner->manners) {
	case GUEST_UNKNOWN_TYPE:
		buf_put_u32(&c->out, 0);
		buf_put_u16(&c->out, 9999);
		buf_put_u16(&c->out, 0);
		buf_put_u32(&c->out, f->id);
		break;
	case GUEST_SHORT_BODY:
		mark = frame_begin(&c->out, f->type == WIRE_AGENT_PING ? WIRE_AGENT_PONG : WIRE_AGENT_SPAWNED,
		                   f->id);
		buf_put_u8(&c->out, 1);
		frame_end(&c->out, mark);
		break;
	case GUEST_CONTROL_MESSAGE: wire_put_status_reply(&c->out, f->id, &status); break;
	case GUEST_HANGS_UP: hang_up(c); return;
	case GUEST_BEHAVES:
	case GUEST_REFUSES_PORT:
	case GUEST_ANSWERS_NONSENSE:
	case GUEST_SILENT:
	case GUEST_OTHER_VERSION:
	case GUEST_WRONG_ID:
	case GUEST_EGRESS_BROKEN: return;
	}
	flush(c);
}

static bool is_crude(enum guest_manners m)
{
	return m == GUEST_UNKNOWN_TYPE || m == GUEST_SHORT_BODY || m == GUEST_CONTROL_MESSAGE ||
	       m == GUEST_HANGS_UP;
}

static bool on_frame(void *arg, const struct frame *f)
{
	struct caller *c = arg;
	if (f->type == WIRE_HELLO)
		return true;
	if (is_crude(c->owner->manners))
		misbehave(c, f);
	else if (f->type == WIRE_AGENT_SPAWN)
		on_spawn(c, f);
	else if (f->type == WIRE_AGENT_PING)
		on_ping(c, f);
	else if (f->type == WIRE_STDIN)
		on_stdin(c, f);
	else
		on_other(c, f);
	return !c->over;
}

/* ---- connections ---- */

static void on_connect_line(struct caller *c)
{
	struct wire_hello hello = {
	    .magic = WIRE_MAGIC, .major = WIRE_MAJOR, .role = "guest", .version = CCVM_VERSION};
	enum guest_manners m = c->owner->manners;
	CHECK(strcmp(c->line, "CONNECT 9001") == 0);
	c->connected = true;
	if (m == GUEST_REFUSES_PORT) {
		hang_up(c);
		return;
	}
	const char *answer = m == GUEST_ANSWERS_NONSENSE ? "NO way\n" : "OK 1073741824\n";
	buf_put(&c->out, answer, strlen(answer));
	if (m == GUEST_OTHER_VERSION)
		hello.major++;
	if (m != GUEST_SILENT && m != GUEST_ANSWERS_NONSENSE)
		wire_put_hello(&c->out, 0, &hello);
	flush(c);
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct caller *c = arg;
	struct err e = ERR_INIT;
	while (!c->connected && len > 0) {
		char byte = (char)*bytes++;
		len--;
		if (byte == '\n')
			on_connect_line(c);
		else if (c->line_len < sizeof(c->line) - 1)
			c->line[c->line_len++] = byte;
	}
	if (!c->over && c->owner->manners != GUEST_SILENT)
		CHECK(frame_feed(&c->frames, bytes, len, on_frame, c, &e) != FRAME_BAD);
}

static void on_eof(void *arg)
{
	hang_up(arg);
}

static void on_error(void *arg, const struct err *e)
{
	(void)e;
	hang_up(arg);
}

static void on_drain(void *arg)
{
	go_on_flooding(arg);
}

static const struct stream_ops STREAM_OPS = {
    .on_data = on_data, .on_eof = on_eof, .on_error = on_error, .on_drain = on_drain};

static void on_accept(void *arg, int fd)
{
	struct guest_double *g = arg;
	struct err e = ERR_INIT;
	struct caller *c = mem_alloc(sizeof(*c));
	c->owner = g;
	frame_reader_init(&c->frames);
	buf_init(&c->out, 1 << 20);
	c->stream = stream_open(g->loop, fd, &STREAM_OPS, c, &e);
	CHECK(c->stream);
	list_append(&g->callers, &c->link);
	stream_resume(c->stream);
}

struct guest_double *guest_double_open(struct loop *loop, const char *path)
{
	struct err e = ERR_INIT;
	struct guest_double *g = mem_alloc(sizeof(*g));
	g->loop = loop;
	list_init(&g->callers);
	buf_init(&g->typed, GUEST_TYPED_MOST);
	buf_init(&g->typed_told, GUEST_TYPED_MOST);
	g->listener = listener_open(loop, path, on_accept, g, &e);
	CHECK(g->listener);
	return g;
}

void guest_double_close(struct guest_double *g)
{
	listener_close(g->listener);
	LIST_FOREACH (item, &g->callers)
		hang_up(LIST_ENTRY(item, struct caller, link));
	buf_finish(&g->typed);
	buf_finish(&g->typed_told);
	free(g);
}

void guest_double_set(struct guest_double *g, enum guest_manners manners)
{
	g->manners = manners;
}

size_t guest_double_programs(const struct guest_double *g)
{
	size_t n = 0;
	LIST_FOREACH (item, &g->callers)
		n += LIST_ENTRY(item, struct caller, link)->program != NONE;
	return n;
}

size_t guest_double_sent(const struct guest_double *g)
{
	return g->sent;
}

size_t guest_double_got(const struct guest_double *g)
{
	return g->got;
}

void guest_double_write(struct guest_double *g, const void *bytes, size_t len)
{
	LIST_FOREACH (item, &g->callers) {
		struct caller *c = LIST_ENTRY(item, struct caller, link);
		if (c->program == TERMINAL)
			write_out(c, bytes, len);
	}
}

size_t guest_double_unread(const struct guest_double *g)
{
	size_t all = 0;
	LIST_FOREACH (item, &g->callers) {
		struct caller *c = LIST_ENTRY(item, struct caller, link);
		int n = 0;
		if (c->program == TERMINAL && ioctl(stream_fd(c->stream), SIOCOUTQ, &n) == 0)
			all += (size_t)n;
	}
	return all;
}

void guest_double_read(struct guest_double *g, bool reads)
{
	LIST_FOREACH (item, &g->callers) {
		struct caller *c = LIST_ENTRY(item, struct caller, link);
		if (c->program == TERMINAL && reads)
			stream_resume(c->stream);
		else if (c->program == TERMINAL)
			stream_pause(c->stream);
	}
}

struct bytes guest_double_typed(struct guest_double *g)
{
	struct buf told = g->typed;
	CHECK(buf_ok(&g->typed));
	g->typed = g->typed_told;
	g->typed_told = told;
	buf_clear(&g->typed);
	return (struct bytes){.p = told.data, .len = told.len};
}

const char *guest_double_env(const struct guest_double *g)
{
	return g->env;
}

unsigned guest_double_resizes(const struct guest_double *g, unsigned *rows, unsigned *cols)
{
	*rows = g->rows;
	*cols = g->cols;
	return g->resizes;
}

unsigned guest_double_signal(const struct guest_double *g)
{
	return g->signum;
}

unsigned guest_double_pings(const struct guest_double *g)
{
	return g->pings;
}

bool guest_double_was_shut_down(const struct guest_double *g)
{
	return g->shut_down;
}
