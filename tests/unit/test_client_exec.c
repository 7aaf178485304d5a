/* core/client/exec.h and terminal.h: programs and terminals over a connection to a fake supervisor. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/client/client.h"
#include "core/client/exec.h"
#include "core/client/terminal.h"
#include "core/loop/stream.h"
#include "core/term/emulator.h"
#include "core/term/keys.h"
#include "core/term/screen.h"
#include "core/term/snapshot.h"
#include "tests/lib/fake_control.h"
#include "tests/lib/loop_wait.h"

struct scene {
	struct loop *loop;
	struct fake_control fake;
	struct client *client;
	struct exec *exec;
	struct client_term *term;
	bool closed;
	struct str out, err;
	unsigned drains;
	bool started, exited, failed, opened, ended;
	uint32_t code;
	unsigned signum, screens;
	bool output_cut;
	struct err why;
};

static void on_closed(void *arg, const struct err *e)
{
	struct scene *s = arg;
	(void)e;
	s->closed = true;
}

static const struct client_ops OPS = {.on_closed = on_closed};

static void begin(struct scene *s, void (*on_frame)(struct fake_control *f, const struct frame *frame))
{
	struct err e = ERR_INIT;
	*s = (struct scene){.loop = loop_create(), .out = STR_INIT(4096), .err = STR_INIT(4096)};
	fake_control_open(&s->fake, s->loop, "alpha");
	s->fake.on_frame = on_frame;
	s->fake.arg = s;
	s->client = client_connect(s->loop, "alpha", &OPS, s, &e);
	assert_non_null(s->client);
}

static void finish(struct scene *s)
{
	exec_close(s->exec);
	client_close(s->client);
	client_term_close(s->term); /* after the client: allowed as well */
	fake_control_close(&s->fake);
	loop_destroy(s->loop);
	str_finish(&s->out);
	str_finish(&s->err);
}

/* ---- programs ---- */

static void on_stdout(void *arg, const uint8_t *bytes, size_t len)
{
	struct scene *s = arg;
	str_append_bytes(&s->out, (const char *)bytes, len);
}

static void on_stderr(void *arg, const uint8_t *bytes, size_t len)
{
	struct scene *s = arg;
	str_append_bytes(&s->err, (const char *)bytes, len);
}

static void on_drain(void *arg)
{
	struct scene *s = arg;
	s->started = true;
	s->drains++;
}

static void on_exit_told(void *arg, uint32_t code, unsigned signum, bool output_cut)
{
	struct scene *s = arg;
	assert_false(s->exited);
	s->exited = true;
	s->code = code;
	s->signum = signum;
	s->output_cut = output_cut;
}

static void on_failed(void *arg, const struct err *e)
{
	struct scene *s = arg;
	assert_false(s->failed);
	s->failed = true;
	s->why = *e;
}

static const struct exec_ops EXEC_OPS = {.on_stdout = on_stdout,
                                         .on_stderr = on_stderr,
                                         .on_drain = on_drain,
                                         .on_exit = on_exit_told,
                                         .on_failed = on_failed};

static void start_exec(struct scene *s)
{
	static const char *const ARGV[] = {"sh", "-c", "x", NULL};
	static const char *const ENV[] = {"A=b", NULL};
	struct exec_spec spec = {.argv = ARGV, .env = ENV, .cwd = "/tmp"};
	struct err e = ERR_INIT;
	s->exec = client_exec(s->client, &spec, &EXEC_OPS, s, &e);
	assert_non_null(s->exec);
	assert_true(exec_is_starting(s->exec));
	assert_true(exec_is_full(s->exec));
}

static void put_out(struct fake_control *f, uint32_t id, const char *text)
{
	struct wire_stdout_data m = {.data = {.p = (const uint8_t *)text, .len = strlen(text)}};
	wire_put_stdout_data(&f->out, id, &m);
}

static void run_program(struct fake_control *f, const struct frame *frame)
{
	if (frame->type == WIRE_EXEC) {
		struct wire_exec m;
		struct err e = ERR_INIT;
		assert_true(wire_get_exec(frame->body, &m, &e));
		assert_string_equal(m.cwd, "/tmp");
		assert_int_equal(m.argv.len, 8);
		assert_memory_equal(m.argv.p, "sh\0-c\0x\0", 8);
		assert_memory_equal(m.env.p, "A=b\0", 4);
		fake_control_ok(f, frame->id, "");
		put_out(f, frame->id, "one ");
		struct wire_stderr_data err = {.data = {.p = (const uint8_t *)"oops", .len = 4}};
		wire_put_stderr_data(&f->out, frame->id, &err);
		put_out(f, frame->id, "two");
		fake_control_send(f);
	} else if (frame->type == WIRE_STDIN_EOF) {
		struct wire_exit m = {.code = 3, .output_cut = 1};
		wire_put_exit(&f->out, frame->id, &m);
		put_out(f, frame->id, "nothing comes after the end");
		fake_control_send(f);
	}
}

static void streams_stay_apart(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, run_program);
	start_exec(&s);
	assert_false(exec_send_stdin(s.exec, "x", 1)); /* not yet */
	assert_true(loop_wait_flag(s.loop, &s.started));
	assert_false(exec_is_full(s.exec));
	assert_true(exec_send_stdin(s.exec, "hello", 5));
	exec_stdin_eof(s.exec);
	exec_stdin_eof(s.exec);
	assert_false(exec_send_stdin(s.exec, "late", 4));
	assert_true(loop_wait_flag(s.loop, &s.exited));
	assert_int_equal(s.code, 3);
	assert_true(s.output_cut);
	assert_string_equal(s.out.s, "one two");
	assert_string_equal(s.err.s, "oops");
	assert_int_equal(s.fake.bytes, 5);
	loop_settle(s.loop);
	assert_false(s.closed);
	finish(&s);
}

static void refuse(struct fake_control *f, const struct frame *frame)
{
	if (frame->type == WIRE_EXEC)
		fake_control_error(f, frame->id, ERR_NOT_FOUND, "sh: no such file");
}

static void a_program_may_not_start(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, refuse);
	start_exec(&s);
	assert_true(loop_wait_flag(s.loop, &s.failed));
	assert_int_equal(s.why.kind, ERR_NOT_FOUND);
	assert_true(client_is_open(s.client)); /* the VM was reached: it is the program that is missing */
	finish(&s);
}

static void output_before_start(struct fake_control *f, const struct frame *frame)
{
	put_out(f, frame->id, "too early");
	fake_control_send(f);
}

static void output_before_the_start_is_refused(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, output_before_start);
	start_exec(&s);
	assert_true(loop_wait_flag(s.loop, &s.closed));
	assert_true(s.failed);
	assert_int_equal(s.why.kind, ERR_PROTOCOL);
	assert_string_equal(s.out.s, "");
	finish(&s);
}

static void arguments_have_a_limit(void **state)
{
	(void)state;
	struct scene s;
	struct err e = ERR_INIT;
	begin(&s, NULL);
	char *big = mem_alloc(200000);
	memset(big, 'x', 199999);
	const char *const argv[] = {big, NULL};
	struct exec_spec spec = {.argv = argv};
	assert_null(client_exec(s.client, &spec, &EXEC_OPS, &s, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	free(big);
	finish(&s);
}

static void start_and_stop_reading(struct fake_control *f, const struct frame *frame)
{
	if (frame->type == WIRE_EXEC) {
		fake_control_ok(f, frame->id, "");
		stream_pause(f->peer);
	}
}

static bool all_came(void *arg)
{
	return ((struct scene *)arg)->fake.bytes == 4 * 1024 * 1024;
}

static void a_slow_program_stops_its_stdin(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, start_and_stop_reading);
	start_exec(&s);
	assert_true(loop_wait_flag(s.loop, &s.started));
	char *piece = mem_alloc(65536);
	size_t sent = 0, most = 4 * 1024 * 1024;
	while (!exec_is_full(s.exec) && sent < most) {
		assert_true(exec_send_stdin(s.exec, piece, 65536));
		sent += 65536;
		loop_turn(s.loop, true);
	}
	assert_true(sent < 2 * 1024 * 1024); /* it stopped us long before all was in memory */
	unsigned before = s.drains;
	stream_resume(s.fake.peer);
	while (sent < most) {
		if (exec_is_full(s.exec)) {
			loop_turn(s.loop, false);
			continue;
		}
		assert_true(exec_send_stdin(s.exec, piece, 65536));
		sent += 65536;
	}
	assert_true(loop_wait(s.loop, all_came, &s));
	assert_true(s.drains > before);
	free(piece);
	finish(&s);
}

static void a_paused_program_stops_sending(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, run_program);
	start_exec(&s);
	assert_true(loop_wait_flag(s.loop, &s.started));
	loop_settle(s.loop);
	exec_pause_output(s.exec);
	str_clear(&s.out);
	put_out(&s.fake, s.fake.last_id, "later");
	fake_control_send(&s.fake);
	loop_settle(s.loop);
	assert_string_equal(s.out.s, "");
	exec_resume_output(s.exec);
	while (s.out.len < 5)
		loop_turn(s.loop, false);
	assert_string_equal(s.out.s, "later");
	finish(&s);
}

static bool killed(void *arg)
{
	return ((struct scene *)arg)->fake.last_type == WIRE_SIGNAL;
}

static void closing_kills_the_program(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, run_program);
	start_exec(&s);
	assert_true(loop_wait_flag(s.loop, &s.started));
	exec_close(s.exec);
	s.exec = NULL;
	assert_true(loop_wait(s.loop, killed, &s));
	finish(&s);
}

/* ---- terminals ---- */

static void on_opened(void *arg, uint32_t term)
{
	struct scene *s = arg;
	s->opened = true;
	assert_int_equal(term, 4);
}

static void on_screen(void *arg)
{
	struct scene *s = arg;
	s->screens++;
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	struct scene *s = arg;
	assert_false(s->ended);
	s->ended = true;
	s->code = code;
	s->signum = signum;
	if (e)
		s->why = *e;
}

static const struct client_term_ops TERM_OPS = {
    .on_opened = on_opened, .on_screen = on_screen, .on_ended = on_ended};

static void open_term(struct scene *s)
{
	struct client_term_spec spec = {.rows = 5, .cols = 1};
	struct err e = ERR_INIT;
	s->term = client_term_open(s->client, &spec, &TERM_OPS, s, &e);
	assert_non_null(s->term);
	assert_non_null(client_term_screen(s->term));
}

static unsigned paste_ends; /* two hex digits for each piece: first, last */

static void show_terminal(struct fake_control *f, const struct frame *frame)
{
	struct wire_term_paste paste;
	struct err bad = ERR_INIT;
	if (frame->type == WIRE_TERM_PASTE) {
		assert_true(wire_get_term_paste(frame->body, &paste, &bad));
		paste_ends = paste_ends << 8 | (unsigned)(paste.first << 4 | paste.last);
	}
	if (frame->type != WIRE_TERM_OPEN)
		return;
	struct wire_term_open m;
	struct err e = ERR_INIT;
	assert_true(wire_get_term_open(frame->body, &m, &e));
	assert_int_equal(m.rows, 5);
	assert_int_equal(m.cols, TERM_COLS_MIN); /* clamped */
	struct wire_term_opened opened = {.term = 4};
	wire_put_term_opened(&f->out, frame->id, &opened);
	struct emulator *emulator = emulator_create(5, 40, NULL, NULL);
	emulator_write(emulator, "hello\r\nworld", 12);
	struct snapshot_cursor cursor = {0};
	struct buf update = BUF_INIT(WIRE_CELLS_MAX);
	assert_true(snapshot_encode(emulator, &cursor, WIRE_CELLS_MAX, &update));
	struct wire_term_screen screen = {.term = 4, .update = {.p = update.data, .len = update.len}};
	wire_put_term_screen(&f->out, frame->id, &screen);
	buf_finish(&update);
	emulator_destroy(emulator);
	fake_control_send(f);
}

static void a_terminal_is_seen_as_cells(void **state)
{
	(void)state;
	struct scene s;
	struct str text = STR_INIT(1024);
	begin(&s, show_terminal);
	open_term(&s);
	while (!s.screens)
		loop_turn(s.loop, false);
	assert_true(s.opened);
	assert_int_equal(client_term_number(s.term), 4);
	screen_text(client_term_screen(s.term), &text);
	assert_string_equal(text.s, "hello\nworld\n");
	client_term_key(s.term, TERM_KEY_UP, TERM_CTRL);
	while (s.fake.last_type != WIRE_TERM_KEY)
		loop_turn(s.loop, false);
	client_term_resize(s.term, 10, 20);
	while (s.fake.last_type != WIRE_TERM_RESIZE)
		loop_turn(s.loop, false);
	unsigned before = s.fake.frames;
	char *paste = mem_alloc(100000);
	memset(paste, 'p', 100000);
	paste_ends = 0;
	assert_true(client_term_paste(s.term, paste, 100000)); /* two messages */
	while (s.fake.frames < before + 2)
		loop_turn(s.loop, false);
	assert_int_equal(s.fake.last_type, WIRE_TERM_PASTE);
	assert_int_equal(paste_ends, 0x1001); /* first, not last; not first, last */
	free(paste);
	struct wire_term_closed m = {.term = 4, .code = 1};
	wire_put_term_closed(&s.fake.out, 1, &m);
	fake_control_send(&s.fake);
	assert_true(loop_wait_flag(s.loop, &s.ended));
	assert_int_equal(s.code, 1);
	before = s.fake.frames;
	client_term_key(s.term, 'x', 0); /* nobody is there to get it */
	loop_settle(s.loop);
	assert_int_equal(s.fake.frames, before);
	assert_int_equal(client_term_screen(s.term)->rows, 5); /* still readable */
	str_finish(&text);
	finish(&s);
}

static void show_nonsense(struct fake_control *f, const struct frame *frame)
{
	if (frame->type != WIRE_TERM_OPEN)
		return;
	struct wire_term_opened opened = {.term = 4};
	wire_put_term_opened(&f->out, frame->id, &opened);
	struct wire_term_screen screen = {.term = 4,
	                                  .update = {.p = (const uint8_t *)"\xff\xff\xff", .len = 3}};
	wire_put_term_screen(&f->out, frame->id, &screen);
	fake_control_send(f);
}

static void a_bad_update_closes_the_connection(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, show_nonsense);
	open_term(&s);
	assert_true(loop_wait_flag(s.loop, &s.closed));
	assert_true(s.ended);
	assert_int_equal(s.why.kind, ERR_PROTOCOL);
	assert_int_equal(s.screens, 0);
	finish(&s);
}

static bool left(void *arg)
{
	return ((struct scene *)arg)->fake.last_type == WIRE_TERM_LEAVE;
}

static void closing_leaves_the_terminal(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, show_terminal);
	open_term(&s);
	assert_true(loop_wait_flag(s.loop, &s.opened));
	client_term_close(s.term);
	s.term = NULL;
	assert_true(loop_wait(s.loop, left, &s));
	assert_false(s.ended); /* no callback after closing */
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(streams_stay_apart),
	    cmocka_unit_test(a_program_may_not_start),
	    cmocka_unit_test(output_before_the_start_is_refused),
	    cmocka_unit_test(arguments_have_a_limit),
	    cmocka_unit_test(a_slow_program_stops_its_stdin),
	    cmocka_unit_test(a_paused_program_stops_sending),
	    cmocka_unit_test(closing_kills_the_program),
	    cmocka_unit_test(a_terminal_is_seen_as_cells),
	    cmocka_unit_test(a_bad_update_closes_the_connection),
	    cmocka_unit_test(closing_leaves_the_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
