/* core/client: one connection to a supervisor that behaves well, badly, slowly or not at all. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/internal.h"
#include "core/loop/stream.h"
#include "tests/lib/fake_control.h"
#include "tests/lib/loop_wait.h"

enum closing { CLOSE_NEVER, CLOSE_IN_OPEN, CLOSE_IN_ANSWER, CLOSE_IN_CLOSED };

struct scene {
	struct loop *loop;
	struct fake_control fake;
	struct client *client;
	bool opened, closed, answered;
	unsigned answers;
	bool answered_before_closed;
	struct err close_why, why;
	struct vm_status status;
	struct client_pong pong;
	char text[401];
	int close_in; /* enum closing */
};

static void maybe_close(struct scene *s, int where)
{
	if (s->close_in != where)
		return;
	client_close(s->client);
	s->client = NULL;
}

static void on_open(void *arg)
{
	struct scene *s = arg;
	s->opened = true;
	maybe_close(s, CLOSE_IN_OPEN);
}

static void on_closed(void *arg, const struct err *e)
{
	struct scene *s = arg;
	assert_false(s->closed);
	s->closed = true;
	s->close_why = *e;
	s->answered_before_closed = s->answered;
	maybe_close(s, CLOSE_IN_CLOSED);
}

static const struct client_ops OPS = {.on_open = on_open, .on_closed = on_closed};

static void answer(struct scene *s, const struct err *e)
{
	s->answered = true;
	s->answers++;
	if (e)
		s->why = *e;
	maybe_close(s, CLOSE_IN_ANSWER);
}

static void on_text(void *arg, const char *text, const struct err *e)
{
	struct scene *s = arg;
	if (text)
		snprintf(s->text, sizeof(s->text), "%s", text);
	answer(s, e);
}

static void on_status(void *arg, const struct vm_status *status, const struct err *e)
{
	struct scene *s = arg;
	if (status)
		s->status = *status;
	answer(s, e);
}

static void on_pong(void *arg, const struct client_pong *pong, const struct err *e)
{
	struct scene *s = arg;
	if (pong)
		s->pong = *pong;
	answer(s, e);
}

static void begin(struct scene *s, void (*on_frame)(struct fake_control *f, const struct frame *frame))
{
	*s = (struct scene){.loop = loop_create()};
	fake_control_open(&s->fake, s->loop, "alpha");
	s->fake.on_frame = on_frame;
	s->fake.arg = s;
}

static void connect_client(struct scene *s)
{
	struct err e = ERR_INIT;
	s->client = client_connect(s->loop, "alpha", &OPS, s, &e);
	assert_non_null(s->client);
}

static void finish(struct scene *s)
{
	client_close(s->client);
	fake_control_close(&s->fake);
	loop_destroy(s->loop); /* strict: complains about what is left open */
}

/* ---- good manners ---- */

static void answer_allow(struct fake_control *f, const struct frame *frame)
{
	struct wire_allow m;
	struct err e = ERR_INIT;
	assert_int_equal(frame->type, WIRE_ALLOW);
	assert_true(wire_get_allow(frame->body, &m, &e));
	assert_string_equal(m.rule, "pypi.example");
	assert_true(f->hello_came); /* ours came first */
	fake_control_ok(f, frame->id + 1000, "an answer to nothing is ignored");
	fake_control_ok(f, frame->id, "allow pypi.example:443: in force");
}

static void requests_wait_for_hello(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, answer_allow);
	s.fake.say_hello = false;
	connect_client(&s);
	client_allow(s.client, "pypi.example", 0, on_text, &s);
	assert_true(loop_wait_flag(s.loop, &s.fake.hello_came));
	loop_settle(s.loop);
	assert_int_equal(s.fake.frames, 0);
	assert_false(client_is_open(s.client));
	wire_put_my_hello(&s.fake.out, "supervisor");
	fake_control_send(&s.fake);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	assert_true(s.opened);
	assert_string_equal(s.text, "allow pypi.example:443: in force");
	assert_int_equal(s.why.kind, ERR_NONE);
	finish(&s);
}

static void answer_status(struct fake_control *f, const struct frame *frame)
{
	fake_control_status(f, frame->id, "alpha", VM_READY);
	fake_control_status(f, frame->id, "alpha", VM_STOPPING);
}

static void bytes_may_come_one_by_one(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, answer_status);
	s.fake.one_by_one = true;
	connect_client(&s);
	client_status(s.client, on_status, &s);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	loop_settle(s.loop);
	assert_int_equal(s.answers, 1); /* the second one answers nothing any more */
	assert_int_equal(s.status.state, VM_READY);
	assert_int_equal(s.status.denied, 14);
	assert_string_equal(s.status.backend, "qemu-tcg");
	assert_string_equal(s.status.reason, "a ?[31m reason"); /* no control byte comes through */
	finish(&s);
}

static bool two_answers(void *arg)
{
	return ((struct scene *)arg)->answers == 2;
}

static void a_watch_goes_on_until_the_end(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, answer_status);
	connect_client(&s);
	client_watch(s.client, on_status, &s);
	assert_true(loop_wait(s.loop, two_answers, &s));
	assert_int_equal(s.status.state, VM_STOPPING);
	fake_control_hang_up(&s.fake);
	assert_true(loop_wait_flag(s.loop, &s.closed));
	assert_int_equal(s.answers, 3);
	assert_int_equal(s.why.kind, ERR_GONE);
	finish(&s);
}

static void answer_ping(struct fake_control *f, const struct frame *frame)
{
	struct wire_pong m = {.agent_ok = 0, .relay_listening = 1, .proxy_ok = 1, .text = "no answer"};
	wire_put_pong(&f->out, frame->id, &m);
	fake_control_send(f);
}

static void a_dead_agent_knows_nothing(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, answer_ping);
	connect_client(&s);
	client_ping(s.client, on_pong, &s);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	assert_false(s.pong.relay_listening); /* nobody in the guest could have said that */
	assert_true(s.pong.proxy_ok);
	assert_false(client_pong_is_ok(&s.pong));
	assert_string_equal(s.pong.text, "no answer");
	finish(&s);
}

static void refuse_request(struct fake_control *f, const struct frame *frame)
{
	fake_control_error(f, frame->id, ERR_INVALID, "no such \x07 host");
}

static void a_refusal_is_the_answer(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, refuse_request);
	connect_client(&s);
	client_deny(s.client, "x.example", on_text, &s);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	assert_int_equal(s.why.kind, ERR_INVALID);
	assert_string_equal(s.why.msg, "no such ? host");
	assert_false(s.closed); /* the connection is fine */
	finish(&s);
}

/* ---- bad manners ---- */

static void another_major_version_is_refused(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, NULL);
	s.fake.say_hello = false;
	connect_client(&s);
	client_allow(s.client, "x.example", 0, on_text, &s);
	assert_true(loop_wait_flag(s.loop, &s.fake.hello_came));
	struct wire_hello m = {
	    .magic = WIRE_MAGIC, .major = WIRE_MAJOR + 1, .role = "supervisor", .version = "9.9"};
	wire_put_hello(&s.fake.out, 0, &m);
	fake_control_send(&s.fake);
	assert_true(loop_wait_flag(s.loop, &s.closed));
	assert_int_equal(s.close_why.kind, ERR_PROTOCOL);
	assert_non_null(strstr(s.close_why.msg, "9.9"));
	assert_true(s.answered_before_closed);
	assert_int_equal(s.why.kind, ERR_PROTOCOL);
	assert_int_equal(s.fake.frames, 0); /* nothing was said to it */
	finish(&s);
}

static void the_supervisors_last_word_is_told(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, NULL);
	s.fake.say_hello = false;
	connect_client(&s);
	assert_true(loop_wait_flag(s.loop, &s.fake.hello_came));
	fake_control_error(&s.fake, 0, ERR_PROTOCOL, "speak version 7");
	assert_true(loop_wait_flag(s.loop, &s.closed));
	assert_string_equal(s.close_why.msg, "VM alpha: speak version 7");
	finish(&s);
}

static void nonsense_closes_the_connection(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
	} BAD[] = {
	    {"\0\0\0\0\x7f\xff\0\0\0\0\0\1", 12},     /* a type that does not exist */
	    {"\xff\xff\xff\xff\0\3\0\0\0\0\0\1", 12}, /* far too long */
	    {"\0\0\0\0\0\3\0\1\0\0\0\1", 12},         /* unknown flags */
	    {"\0\0\0\1\0\3\0\0\0\0\0\1\0", 13},       /* an OK that is no OK */
	    {"\0\0\0\0\1\x2e\0\0\0\0\0\1", 12},       /* PING: not a supervisor's word */
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct scene s;
		begin(&s, NULL);
		connect_client(&s);
		client_allow(s.client, "x.example", 0, on_text, &s);
		assert_true(loop_wait_flag(s.loop, &s.opened));
		buf_put(&s.fake.out, BAD[i].bytes, BAD[i].len);
		fake_control_send(&s.fake);
		assert_true(loop_wait_flag(s.loop, &s.closed));
		assert_int_equal(s.close_why.kind, ERR_PROTOCOL);
		assert_true(s.answered_before_closed);
		finish(&s);
	}
}

static void answer_bad_state(struct fake_control *f, const struct frame *frame)
{
	fake_control_status(f, frame->id, "alpha", VM_STATE_COUNT);
}

static void answer_wrong_name(struct fake_control *f, const struct frame *frame)
{
	fake_control_status(f, frame->id, "beta", VM_READY);
}

static void a_status_is_checked(void **state)
{
	(void)state;
	void (*const liars[])(struct fake_control * f, const struct frame *frame) = {answer_bad_state,
	                                                                             answer_wrong_name};
	for (size_t i = 0; i < ARRAY_LEN(liars); i++) {
		struct scene s;
		begin(&s, liars[i]);
		connect_client(&s);
		client_status(s.client, on_status, &s);
		assert_true(loop_wait_flag(s.loop, &s.closed));
		assert_int_equal(s.why.kind, ERR_PROTOCOL);
		assert_int_equal(s.status.state, 0);
		finish(&s);
	}
}

/* ---- terminals in the status ---- */

/* What the fake says of its terminals. */
struct listing {
	struct wire_terminal_info info[40];
	size_t count;
	uint32_t id; /* of the frames */
	uint8_t paused, attention;
	bool torn; /* the last byte is missing */
};

static struct listing listing;

static void answer_listing(struct fake_control *f, const struct frame *frame)
{
	const struct listing *l = &listing;
	struct buf list = BUF_INIT(WIRE_TERMINALS_MAX);
	for (size_t i = 0; i < l->count; i++)
		assert_true(wire_put_terminal_info(&list, l->id, &l->info[i]));
	struct wire_status_reply m = {.name = "alpha",
	                              .state = VM_READY,
	                              .paused = l->paused,
	                              .attention = l->attention,
	                              .attention_source = ATTENTION_BY_HOOK,
	                              .attention_seen = 1,
	                              .attention_ms = 5000,
	                              .attention_text = "may I\x1b[31m?",
	                              .denied_seen = 6,
	                              .cpu_permille = 250,
	                              .mem_used_kib = 7,
	                              .mem_total_kib = 8,
	                              .terminal_list = {.p = list.data, .len = list.len - l->torn}};
	assert_true(wire_put_status_reply(&f->out, frame->id, &m));
	fake_control_send(f);
	buf_finish(&list);
}

static void one_terminal(void)
{
	listing = (struct listing){.count = 2, .attention = ATTENTION_WAITING};
	listing.info[0] = (struct wire_terminal_info){.number = 3,
	                                              .rows = 24,
	                                              .cols = 80,
	                                              .first = 1,
	                                              .watchers = 2,
	                                              .attention = ATTENTION_FAILED,
	                                              .attention_source = ATTENTION_BY_EXIT,
	                                              .attention_ms = 77,
	                                              .title = "b\303\244r \342\200\256x\302\233y\377",
	                                              .command = "claude"};
	listing.info[1] = (struct wire_terminal_info){.number = 9};
}

static void terminals_come_with_the_status(void **state)
{
	(void)state;
	struct scene s;
	one_terminal();
	listing.paused = 1;
	begin(&s, answer_listing);
	connect_client(&s);
	client_status(s.client, on_status, &s);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	const struct vm_status *v = &s.status;
	assert_int_equal(s.why.kind, ERR_NONE);
	assert_true(v->paused && v->attention.seen);
	assert_int_equal(v->attention.state, ATTENTION_WAITING);
	assert_int_equal(v->attention.source, ATTENTION_BY_HOOK);
	assert_int_equal(v->attention.at_ms, 5000);
	assert_string_equal(v->attention.text, "may I?[31m?");
	assert_int_equal(v->denied_seen, 6);
	assert_int_equal(v->cpu_permille, 250);
	assert_int_equal(v->mem_used_kib + v->mem_total_kib, 15);
	assert_int_equal(v->terminal_count, 2);
	assert_int_equal(v->terminal[0].number, 3);
	assert_int_equal(v->terminal[0].rows, 24);
	assert_int_equal(v->terminal[0].cols, 80);
	assert_int_equal(v->terminal[0].watchers, 2);
	assert_true(v->terminal[0].first && !v->terminal[1].first);
	assert_int_equal(v->terminal[0].attention.state, ATTENTION_FAILED);
	assert_int_equal(v->terminal[0].attention.at_ms, 77);
	/* A bidi control, a C1 control and a broken byte are not shown. */
	assert_string_equal(v->terminal[0].title, "b\303\244r ?x?y?");
	assert_string_equal(v->terminal[0].command, "claude");
	assert_int_equal(v->terminal[1].number, 9);
	finish(&s);
}

static void spoil(size_t which)
{
	one_terminal();
	switch (which) {
	case 0: listing.torn = true; break;
	case 1: listing.id = 1; break;
	case 2: listing.info[1].number = 3; break; /* twice */
	case 3: listing.info[1].number = 2; break; /* not in order */
	case 4: listing.info[0].number = 0; break;
	case 5: listing.info[1].number = WIRE_TERM_NEW; break;
	case 6: listing.info[0].first = 2; break;
	case 7: listing.info[0].attention = ATTENTION_STATE_COUNT; break;
	case 8: listing.info[0].attention_source = ATTENTION_SOURCE_COUNT; break;
	case 9: listing.info[0].attention_seen = 2; break;
	case 10: listing.attention = ATTENTION_STATE_COUNT; break;
	case 11: listing.paused = 2; break;
	case 12: /* one too many */
		for (listing.count = 0; listing.count <= VM_TERMINALS_MOST; listing.count++)
			listing.info[listing.count] =
			    (struct wire_terminal_info){.number = (uint32_t)listing.count + 1};
		break;
	default: break;
	}
}

static void a_list_of_terminals_is_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i <= 12; i++) {
		struct scene s;
		spoil(i);
		begin(&s, answer_listing);
		connect_client(&s);
		client_status(s.client, on_status, &s);
		assert_true(loop_wait_flag(s.loop, &s.closed));
		if (s.why.kind != ERR_PROTOCOL)
			fail_msg("case %zu was taken", i);
		finish(&s);
	}
}

/* ---- ends ---- */

static void nobody_there_is_not_running(void **state)
{
	(void)state;
	struct scene s;
	struct err e = ERR_INIT;
	begin(&s, NULL);
	s.client = client_connect(s.loop, "beta", &OPS, &s, &e);
	client_ping(s.client, on_pong, &s);
	assert_true(loop_wait_flag(s.loop, &s.closed));
	assert_int_equal(s.why.kind, ERR_NOT_FOUND);
	assert_string_equal(s.close_why.msg, "VM beta is not running (ccvm up beta starts it)");
	finish(&s);
}

static void hang_up(struct fake_control *f, const struct frame *frame)
{
	(void)frame;
	fake_control_hang_up(f);
}

static void a_lost_connection_ends_requests(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, hang_up);
	connect_client(&s);
	client_ping(s.client, on_pong, &s);
	assert_true(loop_wait_flag(s.loop, &s.closed));
	assert_true(s.answered_before_closed);
	assert_int_equal(s.why.kind, ERR_GONE);
	s.answered = false; /* a request on the dead connection is told as well, from the loop */
	client_ping(s.client, on_pong, &s);
	assert_false(s.answered);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	assert_int_equal(s.answers, 2);
	finish(&s);
}

static void a_supervisor_that_leaves_has_stopped(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, hang_up);
	connect_client(&s);
	client_stop(s.client, 1000, on_text, &s);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	assert_int_equal(s.why.kind, ERR_NONE);
	finish(&s);
}

static bool saw_request(void *arg)
{
	return ((struct scene *)arg)->fake.frames > 0;
}

static void who_says_nothing_at_all_hangs(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, NULL);
	connect_client(&s);
	assert_true(loop_wait_flag(s.loop, &s.opened));
	client_seen(s.client, true, false, on_text, &s);
	assert_true(loop_wait(s.loop, saw_request, &s));
	clock_skip_mono(CLIENT_TIMEOUT_MS);
	client_expire(s.client);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	assert_int_equal(s.why.kind, ERR_TIMEOUT);
	assert_string_equal(s.why.msg,
	                    "the supervisor of VM alpha does not answer; 'ccvm kill alpha' ends it");
	finish(&s);
}

static void silence_has_a_limit(void **state)
{
	(void)state;
	struct scene s;
	begin(&s, NULL);
	connect_client(&s);
	client_ping(s.client, on_pong, &s);
	assert_true(loop_wait_flag(s.loop, &s.opened));
	client_expire(s.client);
	assert_true(loop_wait_flag(s.loop, &s.answered));
	assert_int_equal(s.why.kind, ERR_TIMEOUT);
	assert_string_equal(s.why.msg, "VM alpha: no answer to ping in time");
	assert_false(s.closed);
	finish(&s);

	begin(&s, NULL);
	s.fake.say_hello = false;
	connect_client(&s);
	assert_true(loop_wait_flag(s.loop, &s.fake.hello_came));
	client_expire(s.client);
	assert_true(loop_wait_flag(s.loop, &s.closed));
	assert_int_equal(s.close_why.kind, ERR_TIMEOUT);
	finish(&s);
}

static void closing_is_allowed_everywhere(void **state)
{
	(void)state;
	for (int where = CLOSE_IN_OPEN; where <= CLOSE_IN_CLOSED; where++) {
		struct scene s;
		begin(&s, where == CLOSE_IN_CLOSED ? hang_up : answer_status);
		s.close_in = where;
		connect_client(&s);
		client_watch(s.client, on_status, &s);
		client_ping(s.client, on_pong, &s);
		while (s.client)
			loop_turn(s.loop, false);
		unsigned answers = s.answers;
		loop_settle(s.loop);
		assert_int_equal(s.answers, answers); /* nothing after client_close */
		assert_true(where == CLOSE_IN_CLOSED || !s.closed);
		finish(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(requests_wait_for_hello),
	    cmocka_unit_test(bytes_may_come_one_by_one),
	    cmocka_unit_test(a_watch_goes_on_until_the_end),
	    cmocka_unit_test(a_dead_agent_knows_nothing),
	    cmocka_unit_test(a_refusal_is_the_answer),
	    cmocka_unit_test(another_major_version_is_refused),
	    cmocka_unit_test(the_supervisors_last_word_is_told),
	    cmocka_unit_test(nonsense_closes_the_connection),
	    cmocka_unit_test(a_status_is_checked),
	    cmocka_unit_test(terminals_come_with_the_status),
	    cmocka_unit_test(a_list_of_terminals_is_checked),
	    cmocka_unit_test(nobody_there_is_not_running),
	    cmocka_unit_test(a_lost_connection_ends_requests),
	    cmocka_unit_test(a_supervisor_that_leaves_has_stopped),
	    cmocka_unit_test(silence_has_a_limit),
	    cmocka_unit_test(who_says_nothing_at_all_hangs),
	    cmocka_unit_test(closing_is_allowed_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
