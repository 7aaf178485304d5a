/* core/client/terminal.h and send.h: the history of a terminal, pastes in pieces, watching without a size, sending once. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/internal.h"
#include "core/client/send.h"
#include "core/client/terminal.h"
#include "core/loop/stream.h"
#include "core/term/cells.h"
#include "core/term/screen.h"
#include "tests/lib/fake_control.h"
#include "tests/lib/loop_wait.h"

#define TERM 4u

enum history { HISTORY_GOOD, HISTORY_REFUSED, HISTORY_OTHER_TERM, HISTORY_SILENT, HISTORY_HANGS_UP };

struct scene {
	struct loop *loop;
	struct fake_control fake;
	struct client *client;
	struct client_term *term;
	struct client_send *send;
	bool opened, ended, closed, lines_came, sent;
	uint64_t first;
	uint32_t count;
	char lines[16];
	struct err why;
	/* What the fake does and has seen. */
	enum history history;
	bool no_open;    /* TERM_OPEN is refused */
	bool no_answer;  /* STATUS is not answered */
	struct buf seen; /* 'k', 't' or 'p' for each input, then 's' for a status, 'l' for a leave */
	size_t text_bytes, paste_bytes;
	struct wire_term_open asked;
};

static void answer_history(struct fake_control *f, const struct frame *frame)
{
	struct scene *s = f->arg;
	struct wire_term_history m;
	struct err e = ERR_INIT;
	assert_true(wire_get_term_history(frame->body, &m, &e));
	assert_int_equal(m.term, TERM);
	assert_int_equal(m.before, 100);
	assert_int_equal(m.most, 7);
	struct wire_term_lines lines = {.term = s->history == HISTORY_OTHER_TERM ? TERM + 1 : TERM,
	                                .first = 98,
	                                .count = 2,
	                                .lines = {.p = (const uint8_t *)"two", .len = 3}};
	if (s->history == HISTORY_REFUSED) {
		fake_control_error(f, frame->id, ERR_NOT_FOUND, "no such");
	} else if (s->history == HISTORY_HANGS_UP) {
		fake_control_hang_up(f);
	} else if (s->history != HISTORY_SILENT) {
		wire_put_term_lines(&f->out, frame->id, &lines);
		fake_control_send(f);
	}
}

static void open_terminal(struct fake_control *f, const struct frame *frame)
{
	struct scene *s = f->arg;
	struct wire_term_opened opened = {.term = TERM};
	struct err e = ERR_INIT;
	assert_true(wire_get_term_open(frame->body, &s->asked, &e));
	if (s->no_open) {
		fake_control_error(f, frame->id, ERR_INVALID, "VM alpha is booting");
		return;
	}
	wire_put_term_opened(&f->out, frame->id, &opened);
	fake_control_send(f);
}

static void note(struct scene *s, char what)
{
	buf_put_u8(&s->seen, (uint8_t)what);
}

static void on_frame(struct fake_control *f, const struct frame *frame)
{
	struct scene *s = f->arg;
	switch (frame->type) {
	case WIRE_TERM_OPEN: open_terminal(f, frame); break;
	case WIRE_TERM_HISTORY: answer_history(f, frame); break;
	case WIRE_TERM_KEY: note(s, 'k'); break;
	case WIRE_TERM_TEXT:
		note(s, 't');
		s->text_bytes += frame->body.len - 8;
		break;
	case WIRE_TERM_PASTE:
		note(s, 'p');
		s->paste_bytes += frame->body.len - 10;
		break;
	case WIRE_TERM_LEAVE: note(s, 'l'); break;
	case WIRE_STATUS:
		note(s, 's');
		if (!s->no_answer)
			fake_control_status(f, frame->id, "alpha", VM_READY);
		break;
	default: break;
	}
}

static void on_opened(void *arg, uint32_t term)
{
	struct scene *s = arg;
	assert_int_equal(term, TERM);
	s->opened = true;
}

static void on_screen(void *arg)
{
	(void)arg;
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	struct scene *s = arg;
	(void)code;
	(void)signum;
	(void)e;
	s->ended = true;
}

static void on_closed(void *arg, const struct err *e)
{
	struct scene *s = arg;
	(void)e;
	s->closed = true;
}

static const struct client_ops OPS = {.on_closed = on_closed};
static const struct client_term_ops TERM_OPS = {
    .on_opened = on_opened, .on_screen = on_screen, .on_ended = on_ended};

static void begin(struct scene *s)
{
	*s = (struct scene){.loop = loop_create(), .seen = BUF_INIT(1 << 20)};
	fake_control_open(&s->fake, s->loop, "alpha");
	s->fake.on_frame = on_frame;
	s->fake.arg = s;
}

static void open_term(struct scene *s)
{
	const struct client_term_spec spec = {.term = TERM};
	struct err e = ERR_INIT;
	s->client = client_connect(s->loop, "alpha", &OPS, s, &e);
	assert_non_null(s->client);
	s->term = client_term_open(s->client, &spec, &TERM_OPS, s, &e);
	assert_non_null(s->term);
	assert_false(client_term_key(s->term, 'x', 0)); /* not open yet */
	assert_true(loop_wait_flag(s->loop, &s->opened));
}

static void finish(struct scene *s)
{
	client_send_close(s->send);
	client_close(s->client);
	client_term_close(s->term);
	fake_control_close(&s->fake);
	loop_settle(s->loop);
	loop_destroy(s->loop);
	buf_finish(&s->seen);
}

static void expect_seen(struct scene *s, const char *want)
{
	loop_settle(s->loop);
	assert_int_equal(s->seen.len, strlen(want));
	assert_memory_equal(s->seen.data, want, s->seen.len);
	buf_clear(&s->seen);
}

/* ---- watching and input ---- */

static void a_watch_without_a_size_asks_for_none(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	open_term(&s);
	assert_int_equal(s.asked.rows, 0);
	assert_int_equal(s.asked.cols, 0);
	assert_in_range(client_term_screen(s.term)->rows, 1, TERM_ROWS_MAX);
	finish(&s);
}

static void a_paste_may_come_in_pieces(void **state)
{
	(void)state;
	struct scene s;
	char *text FREE_ON_EXIT = mem_alloc(CLIENT_TERM_INPUT_MAX);
	begin(&s);
	open_term(&s);
	assert_true(client_term_paste_part(s.term, "ab", 2, true, false));
	assert_true(client_term_paste_part(s.term, "", 0, false, true));
	expect_seen(&s, "pp");
	s.paste_bytes = 0;
	assert_true(client_term_paste_part(s.term, "a", 1, true, false));
	assert_false(client_term_paste_part(s.term, text, CLIENT_TERM_INPUT_MAX, false, false));
	assert_false(client_term_paste_part(s.term, "b", 1, false, true)); /* the whole paste is refused */
	expect_seen(&s, "p");
	assert_true(client_term_paste_part(s.term, text, CLIENT_TERM_INPUT_MAX, true, true));
	while (s.paste_bytes < CLIENT_TERM_INPUT_MAX)
		loop_turn(s.loop, false);
	finish(&s);
}

static void what_does_not_fit_is_refused_whole(void **state)
{
	(void)state;
	struct scene s;
	char *text FREE_ON_EXIT = mem_alloc(CLIENT_TERM_INPUT_MAX + 1);
	begin(&s);
	s.fake.deaf = false;
	open_term(&s);
	assert_false(client_term_text(s.term, text, CLIENT_TERM_INPUT_MAX + 1));
	stream_pause(s.fake.peer);
	assert_true(client_term_text(s.term, text, CLIENT_TERM_INPUT_MAX));
	assert_false(client_term_text(s.term, "x", 1)); /* the connection is full */
	assert_false(client_term_key(s.term, 'x', 0));
	assert_false(client_term_paste(s.term, "x", 1));
	stream_resume(s.fake.peer);
	while (s.text_bytes < CLIENT_TERM_INPUT_MAX)
		loop_turn(s.loop, false);
	loop_settle(s.loop);
	assert_int_equal(s.text_bytes, CLIENT_TERM_INPUT_MAX);
	assert_true(client_term_key(s.term, 'x', 0));
	finish(&s);
}

/* ---- history ---- */

static void on_lines(void *arg, uint64_t first, uint32_t count, struct bytes lines, const struct err *e)
{
	struct scene *s = arg;
	assert_false(s->lines_came);
	s->lines_came = true;
	s->first = first;
	s->count = count;
	snprintf(s->lines, sizeof(s->lines), "%.*s", (int)lines.len, lines.len ? (const char *)lines.p : "");
	if (e)
		s->why = *e;
}

static void history_is_asked_for_and_comes(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	open_term(&s);
	assert_true(client_term_history(s.term, 100, 7, on_lines, &s));
	assert_false(s.lines_came);
	assert_true(loop_wait_flag(s.loop, &s.lines_came));
	assert_int_equal(s.first, 98);
	assert_int_equal(s.count, 2);
	assert_string_equal(s.lines, "two");
	assert_int_equal(s.why.kind, ERR_NONE);
	finish(&s);
}

static void history_may_be_refused_late_or_wrong(void **state)
{
	(void)state;
	static const struct {
		enum history how;
		enum err_kind kind;
	} CASES[] = {{HISTORY_REFUSED, ERR_NOT_FOUND},
	             {HISTORY_OTHER_TERM, ERR_PROTOCOL},
	             {HISTORY_SILENT, ERR_TIMEOUT},
	             {HISTORY_HANGS_UP, ERR_GONE}};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct scene s;
		begin(&s);
		open_term(&s);
		s.history = CASES[i].how;
		assert_true(client_term_history(s.term, 100, 7, on_lines, &s));
		loop_settle(s.loop);
		if (CASES[i].how == HISTORY_SILENT)
			client_expire(s.client);
		assert_true(loop_wait_flag(s.loop, &s.lines_came));
		assert_int_equal(s.why.kind, CASES[i].kind);
		assert_int_equal(s.count, 0);
		finish(&s);
	}
}

static void a_closed_terminal_hears_of_no_history(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	open_term(&s);
	assert_true(client_term_history(s.term, 100, 7, on_lines, &s));
	assert_true(client_term_history(s.term, 100, 7, on_lines, &s));
	client_term_close(s.term);
	s.term = NULL;
	loop_settle(s.loop);
	assert_false(s.lines_came);
	finish(&s);

	begin(&s);
	open_term(&s);
	s.history = HISTORY_SILENT;
	assert_true(client_term_history(s.term, 100, 7, on_lines, &s));
	client_close(s.client); /* in the other order */
	s.client = NULL;
	loop_settle(s.loop);
	assert_false(client_term_history(s.term, 100, 7, on_lines, &s));
	assert_false(s.lines_came);
	finish(&s);
}

/* ---- sending once ---- */

static void on_sent(void *arg, const struct err *e)
{
	struct scene *s = arg;
	assert_false(s->sent);
	s->sent = true;
	if (e)
		s->why = *e;
}

static void start_send(struct scene *s, const struct send_item *items, size_t count)
{
	struct err e = ERR_INIT;
	s->send = client_send_start(s->loop, "alpha", TERM, items, count, on_sent, s, &e);
	assert_non_null(s->send);
}

static void everything_is_sent_in_its_order(void **state)
{
	(void)state;
	struct scene s;
	char *text FREE_ON_EXIT = mem_alloc(600000);
	const struct send_item items[] = {
	    {.kind = SEND_TEXT, .bytes = "ls", .len = 2},
	    {.kind = SEND_PASTE, .bytes = text, .len = 600000}, /* fills the connection: the rest waits */
	    {.kind = SEND_KEY, .key = TERM_KEY_ENTER},
	    {.kind = SEND_TEXT, .bytes = "", .len = 0},
	};
	begin(&s);
	start_send(&s, items, ARRAY_LEN(items));
	assert_true(loop_wait_flag(s.loop, &s.sent));
	assert_int_equal(s.why.kind, ERR_NONE);
	assert_int_equal(s.paste_bytes, 600000);
	assert_int_equal(s.asked.rows, 0);
	client_send_close(s.send);
	s.send = NULL;
	assert_true(loop_wait_flag(s.loop, &s.fake.gone));
	assert_int_equal(s.seen.data[0], 't');
	assert_memory_equal(s.seen.data + s.seen.len - 3, "ksl", 3); /* asked, answered, left */
	finish(&s);
}

static void sending_fails_once(void **state)
{
	(void)state;
	const struct send_item item = {.kind = SEND_TEXT, .bytes = "x", .len = 1};
	for (int i = 0; i < 3; i++) {
		struct scene s;
		begin(&s);
		s.no_open = i == 0;
		s.no_answer = i > 0;
		start_send(&s, &item, 1);
		loop_settle(s.loop);
		if (i == 1)
			fake_control_hang_up(&s.fake);
		if (i == 2)
			client_send_expire(s.send);
		assert_true(loop_wait_flag(s.loop, &s.sent));
		assert_int_equal(s.why.kind, i == 0 ? ERR_INVALID : i == 1 ? ERR_GONE : ERR_TIMEOUT);
		loop_settle(s.loop);
		finish(&s);
	}
}

static void too_much_is_not_begun(void **state)
{
	(void)state;
	struct scene s;
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = mem_alloc(CLIENT_SEND_MAX);
	const struct send_item items[] = {{.kind = SEND_TEXT, .bytes = text, .len = CLIENT_SEND_MAX},
	                                  {.kind = SEND_TEXT, .bytes = "x", .len = 1}};
	begin(&s);
	assert_null(client_send_start(s.loop, "alpha", TERM, items, 2, on_sent, &s, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	loop_settle(s.loop);
	assert_false(s.sent);
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_watch_without_a_size_asks_for_none),
	    cmocka_unit_test(a_paste_may_come_in_pieces),
	    cmocka_unit_test(what_does_not_fit_is_refused_whole),
	    cmocka_unit_test(history_is_asked_for_and_comes),
	    cmocka_unit_test(history_may_be_refused_late_or_wrong),
	    cmocka_unit_test(a_closed_terminal_hears_of_no_history),
	    cmocka_unit_test(everything_is_sent_in_its_order),
	    cmocka_unit_test(sending_fails_once),
	    cmocka_unit_test(too_much_is_not_begun),
	};
	return cmocka_run_group_tests_name("client_term", tests, NULL, NULL);
}
