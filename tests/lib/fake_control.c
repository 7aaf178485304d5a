#include "tests/lib/fake_control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/listener.h"
#include "core/loop/stream.h"

static void must(bool fine, const char *what)
{
	if (!fine) {
		fprintf(stderr, "fake_control: %s\n", what);
		abort();
	}
}

static bool on_frame(void *arg, const struct frame *frame)
{
	struct fake_control *f = arg;
	struct wire_stdin_data m;
	struct err e = ERR_INIT;
	if (frame->type == WIRE_HELLO) {
		f->hello_came = true;
		return true;
	}
	f->frames++;
	f->last_type = frame->type;
	f->last_id = frame->id;
	if (frame->type == WIRE_STDIN && wire_get_stdin_data(frame->body, &m, &e))
		f->bytes += m.data.len;
	if (f->on_frame)
		f->on_frame(f, frame);
	return f->peer != NULL;
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct fake_control *f = arg;
	struct err e = ERR_INIT;
	must(frame_feed(&f->reader, bytes, len, on_frame, f, &e) != FRAME_BAD, e.msg);
}

static void on_eof(void *arg)
{
	struct fake_control *f = arg;
	f->gone = true;
}

static void on_error(void *arg, const struct err *e)
{
	(void)e;
	on_eof(arg);
}

static const struct stream_ops OPS = {.on_data = on_data, .on_eof = on_eof, .on_error = on_error};

static void on_accept(void *arg, int fd)
{
	struct fake_control *f = arg;
	struct err e = ERR_INIT;
	stream_close(f->peer, NULL, NULL);
	f->peer = stream_open(f->loop, fd, &OPS, f, &e);
	must(f->peer != NULL, e.msg);
	if (!f->deaf)
		stream_resume(f->peer);
	if (f->say_hello) {
		struct wire_hello m = {.magic = WIRE_MAGIC,
		                       .major = f->major ? f->major : WIRE_MAJOR,
		                       .role = "supervisor",
		                       .version = "0.0.1"};
		wire_put_hello(&f->out, 0, &m);
		fake_control_send(f);
	}
}

void fake_control_open(struct fake_control *f, struct loop *loop, const char *name)
{
	struct err e = ERR_INIT;
	*f = (struct fake_control){.loop = loop, .say_hello = true};
	snprintf(f->root, sizeof(f->root), "/tmp/ccvm-fake-XXXXXX");
	must(mkdtemp(f->root) != NULL, "no folder");
	setenv("XDG_RUNTIME_DIR", f->root, 1);
	setenv("XDG_STATE_HOME", f->root, 1); /* <root>/ccvm/<name> is both; nobody minds here */
	char *dir FREE_ON_EXIT = mem_printf("%s/ccvm/%s", f->root, name);
	char *path FREE_ON_EXIT = mem_printf("%s/control.sock", dir);
	must(fd_make_dirs(dir, 0700, &e), e.msg);
	f->listener = listener_open(loop, path, on_accept, f, &e);
	must(f->listener != NULL, e.msg);
	frame_reader_init(&f->reader);
	buf_init(&f->out, 8 * 1024 * 1024);
}

void fake_control_hang_up(struct fake_control *f)
{
	stream_close(f->peer, NULL, NULL);
	f->peer = NULL;
}

void fake_control_close(struct fake_control *f)
{
	struct err e = ERR_INIT;
	fake_control_hang_up(f);
	listener_close(f->listener);
	frame_reader_finish(&f->reader);
	buf_finish(&f->out);
	must(fd_remove_tree(f->root, &e), e.msg);
}

void fake_control_send(struct fake_control *f)
{
	size_t piece = f->one_by_one ? 1 : f->out.len;
	for (size_t at = 0; at < f->out.len && f->peer; at += piece) {
		must(stream_send(f->peer, f->out.data + at, MIN(piece, f->out.len - at)), "send");
		if (f->one_by_one)
			loop_turn(f->loop, true);
	}
	buf_clear(&f->out);
}

void fake_control_ok(struct fake_control *f, uint32_t id, const char *text)
{
	struct wire_ok m;
	snprintf(m.text, sizeof(m.text), "%s", text);
	wire_put_ok(&f->out, id, &m);
	fake_control_send(f);
}

void fake_control_error(struct fake_control *f, uint32_t id, enum err_kind kind, const char *text)
{
	struct err e = ERR_INIT;
	err_set(&e, kind, "%s", text);
	wire_put_err(&f->out, id, &e);
	fake_control_send(f);
}

void fake_control_status(struct fake_control *f, uint32_t id, const char *name, uint8_t state)
{
	struct wire_status_reply m = {.state = state, .egress = 1, .denied = 14, .started_ms = 1796073242123};
	snprintf(m.name, sizeof(m.name), "%s", name);
	snprintf(m.reason, sizeof(m.reason), "a \x1b[31m reason");
	snprintf(m.backend, sizeof(m.backend), "qemu-tcg");
	wire_put_status_reply(&f->out, id, &m);
	fake_control_send(f);
}
