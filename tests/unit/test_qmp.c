/* core/backend/qmp: what a hostile QEMU may say, and the conversation over a socket. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/backend/qmp.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "tests/lib/loop_wait.h"

#define GREETING                                                                                        \
	"{\"QMP\": {\"version\": {\"qemu\": {\"micro\": 22, \"minor\": 2, \"major\": 7}, \"package\": " \
	"\"Debian\"}, \"capabilities\": [\"oob\"]}}"

static const struct {
	const char *line;
	enum qmp_kind kind;
	const char *event, *reason, *detail;
} good[] = {
    {GREETING, QMP_GREETING, "", "", "Debian"},
    {"{\"return\": {}}", QMP_RETURN, "", "", ""},
    {"{\"return\": [[[1]]], \"id\": 7}", QMP_RETURN, "", "", ""},
    {"{\"error\": {\"class\": \"GenericError\", \"desc\": \"no \\u001b[31m\"}}", QMP_ERROR, "", "",
     "no \\x1b[31m"},
    {"{\"error\": {}}", QMP_ERROR, "", "", ""},
    {"{\"timestamp\": {\"seconds\": 1}, \"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"reason\": "
     "\"guest-reset\"}}",
     QMP_EVENT, "SHUTDOWN", "guest-reset", ""},
    {"{\"event\": \"RESET\"}", QMP_EVENT, "RESET", "", ""},
    {"{\"event\": \"X_9\", \"data\": [1]}", QMP_EVENT, "X_9", "", ""},
    {"{\"event\": \"SHUTDOWN\", \"data\": {\"reason\": 5}}", QMP_EVENT, "SHUTDOWN", "", ""},
    {"{\"event\": \"A\", \"note\": \"[[[[[[[[[[[[[[[[[[[[[ \\\" {{{\"}", QMP_EVENT, "A", "", ""},
};

static void good_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct qmp_message m;
		struct err e = ERR_INIT;
		if (!qmp_parse(good[i].line, strlen(good[i].line), &m, &e))
			fail_msg("%s: %s", good[i].line, e.msg);
		assert_int_equal(m.kind, good[i].kind);
		assert_string_equal(m.event, good[i].event);
		assert_string_equal(m.reason, good[i].reason);
		assert_string_equal(m.detail, good[i].detail);
	}
}

static const char *const bad[] = {
    "",
    " ",
    "null",
    "[]",
    "\"event\"",
    "{",
    "}",
    "{}",
    "{\"return\"",
    "{\"return\": {}} x",
    "{\"return\": {}}{}",
    "{\"event\": 1}",
    "{\"event\": \"\"}",
    "{\"event\": \"shutdown\"}",
    "{\"event\": \"SHUT DOWN\"}",
    "{\"event\": \"A\\u0000B\\n\"}",
    "{\"event\": \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
    "{\"error\": \"text\"}",
    "{\"QMP\": 1}",
    "{\"return\": [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}",
    "{\"return\": \"unterminated}",
    "{\"return\": \"ends in a backslash\\",
};

static void bad_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		/* An exact allocation: the sanitizer sees one byte too many. */
		size_t len = strlen(bad[i]);
		char *line FREE_ON_EXIT = mem_copy(bad[i], len ? len : 1);
		struct qmp_message m;
		struct err e = ERR_INIT;
		if (qmp_parse(line, len, &m, &e))
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(e.kind, ERR_PROTOCOL);
	}
	struct qmp_message m;
	struct err e = ERR_INIT;
	assert_false(qmp_parse("{\"return\":1}\0 ", 14, &m, &e));
}

/* ---- the client ------------------------------------------------------------------------------------------------- */

struct fixture {
	struct loop *loop;
	int peer;
	struct qmp *qmp;
	char events[256];
	bool got_event, broken, close_in_event;
	enum err_kind kind;
};

static void on_event(void *arg, const struct qmp_message *m)
{
	struct fixture *f = arg;
	size_t n = strlen(f->events);
	snprintf(f->events + n, sizeof(f->events) - n, "%s ", m->event);
	f->got_event = true;
	if (f->close_in_event) {
		qmp_close(f->qmp);
		f->qmp = NULL;
	}
}

static void on_broken(void *arg, const struct err *e)
{
	struct fixture *f = arg;
	assert_false(f->broken);
	f->broken = true;
	f->kind = e->kind;
}

static const struct qmp_ops ops = {.on_event = on_event, .on_broken = on_broken};

static void fixture_open(struct fixture *f)
{
	int ends[2];
	struct err e = ERR_INIT;
	*f = (struct fixture){.loop = loop_create()};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	f->peer = ends[1];
	f->qmp = qmp_open(f->loop, ends[0], &ops, f, &e);
	assert_non_null(f->qmp);
}

static void fixture_close(struct fixture *f)
{
	qmp_close(f->qmp);
	fd_close(&f->peer);
	loop_destroy(f->loop);
}

static void say(struct fixture *f, const char *text)
{
	assert_true(fd_write_all(f->peer, text, strlen(text)));
}

/* What the client has said so far. */
static void hear(struct fixture *f, const char *wanted)
{
	char got[256];
	loop_settle(f->loop);
	ssize_t n = recv(f->peer, got, sizeof(got) - 1, MSG_DONTWAIT);
	got[n > 0 ? n : 0] = '\0';
	assert_string_equal(got, wanted);
}

static void commands_wait_for_the_greeting(void **state)
{
	(void)state;
	struct fixture f;
	fixture_open(&f);
	qmp_send(f.qmp, "system_powerdown");
	hear(&f, "");
	say(&f, GREETING "\r\n");
	hear(&f, "{\"execute\":\"qmp_capabilities\"}\n");
	say(&f, "{\"return\": {}}\n");
	hear(&f, "{\"execute\":\"system_powerdown\"}\n");
	qmp_send(f.qmp, "quit");
	hear(&f, "{\"execute\":\"quit\"}\n");
	say(&f, "{\"error\": {\"desc\": \"no\"}}\n");
	loop_settle(f.loop);
	assert_false(f.broken);
	fixture_close(&f);
}

static void events_arrive_byte_by_byte(void **state)
{
	(void)state;
	static const char text[] =
	    GREETING "\n{\"return\": {}}\n{\"event\": \"RESET\"}\n{\"event\": \"STOP\"}\n";
	struct fixture f;
	fixture_open(&f);
	for (const char *p = text; *p; p++) {
		char one[2] = {*p, '\0'};
		say(&f, one);
		loop_settle(f.loop);
	}
	assert_string_equal(f.events, "RESET STOP ");
	fixture_close(&f);
}

static void nonsense_ends_it_once(void **state)
{
	(void)state;
	static const char *const lines[] = {
	    "hello\n",
	    "{\"return\": {}}\n",                                    /* before the greeting */
	    "{\"event\": \"RESET\"}\n",                              /* before the greeting */
	    GREETING "\n" GREETING "\n",                             /* twice */
	    GREETING "\n{\"error\": {\"desc\": \"no\"}}\n",          /* the capabilities refused */
	    GREETING "\n{\"return\": {}}\n{\"event\": \"a\"}\n{}\n", /* two bad lines, one report */
	};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct fixture f;
		fixture_open(&f);
		say(&f, lines[i]);
		assert_true(loop_wait_flag(f.loop, &f.broken));
		assert_int_equal(f.kind, ERR_PROTOCOL);
		assert_string_equal(f.events, "");
		fixture_close(&f);
	}
}

static void a_line_without_end_is_refused(void **state)
{
	(void)state;
	struct fixture f;
	char chunk[4097];
	fixture_open(&f);
	memset(chunk, ' ', sizeof(chunk) - 1);
	chunk[sizeof(chunk) - 1] = '\0';
	for (size_t sent = 0; sent <= 4 * QMP_LINE_MOST && !f.broken; sent += sizeof(chunk) - 1) {
		say(&f, chunk);
		loop_settle(f.loop);
	}
	assert_true(f.broken);
	assert_int_equal(f.kind, ERR_LIMIT);
	fixture_close(&f);
}

static void the_end_is_gone_and_not_nonsense(void **state)
{
	(void)state;
	struct fixture f;
	fixture_open(&f);
	say(&f, GREETING "\n{\"return\": {}}\n{\"event\": \"SHUTDOWN\"}\n");
	fd_close(&f.peer);
	assert_true(loop_wait_flag(f.loop, &f.broken));
	assert_int_equal(f.kind, ERR_GONE);
	assert_string_equal(f.events, "SHUTDOWN ");
	fixture_close(&f);
}

static void closing_inside_an_event(void **state)
{
	(void)state;
	struct fixture f;
	fixture_open(&f);
	f.close_in_event = true;
	say(&f, GREETING "\n{\"return\": {}}\n{\"event\": \"A\"}\n{\"event\": \"B\"}\nnonsense\n");
	assert_true(loop_wait_flag(f.loop, &f.got_event));
	loop_settle(f.loop);
	assert_string_equal(f.events, "A ");
	assert_false(f.broken);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(good_lines),
	    cmocka_unit_test(bad_lines),
	    cmocka_unit_test(commands_wait_for_the_greeting),
	    cmocka_unit_test(events_arrive_byte_by_byte),
	    cmocka_unit_test(nonsense_ends_it_once),
	    cmocka_unit_test(a_line_without_end_is_refused),
	    cmocka_unit_test(the_end_is_gone_and_not_nonsense),
	    cmocka_unit_test(closing_inside_an_event),
	};
	return cmocka_run_group_tests_name("qmp", tests, NULL, NULL);
}
