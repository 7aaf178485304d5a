/* The whole proxy in this process, with a resolver of the test: what is asked of it, and in which order. */
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/audit/reader.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/egress/policy.h"
#include "core/loop/loop.h"
#include "proxy/resolve.h"
#include "proxy/server.h"
#include "tests/lib/loop_wait.h"

#define MOST_RECORDS 32

static _Atomic unsigned lookups;

/* Stands for a public address here, so that no test leaves this machine. */
#define PUBLIC "127.0.0.2"

static bool is_public_here(const struct sockaddr *sa)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	return sa->sa_family == AF_INET && v4->sin_addr.s_addr == inet_addr(PUBLIC);
}

/* rebind.test is public at first and private when asked again. */
static int fake_get(const char *name, const char *service, const struct addrinfo *hints,
                    struct addrinfo **out)
{
	(void)service;
	(void)hints;
	unsigned n = ++lookups;
	bool private = strcmp(name, "private.test.") == 0;
	if (!private && strcmp(name, "rebind.test.") != 0)
		return EAI_NONAME;
	struct addrinfo *a = mem_alloc(sizeof(*a) + sizeof(union endpoint));
	union endpoint *to = (void *)(a + 1);
	a->ai_addr = &to->any;
	to->v4.sin_family = AF_INET;
	inet_pton(AF_INET, private || n > 1 ? "127.0.0.1" : PUBLIC, &to->v4.sin_addr);
	*out = a;
	return 0;
}

static void fake_release(struct addrinfo *list)
{
	free(list);
}

static const struct resolve_source SOURCE = {
    .get = fake_get, .release = fake_release, .may_dial = is_public_here};

struct bench {
	char dir[32];
	char *socket, *policy, *audit;
	struct loop *loop;
	struct server *server;
	int upstream; /* a listening TCP socket */
	unsigned upstream_port;
	char reply[4096];
	size_t reply_len;
	int fd;
	bool head_only;
	struct audit_record records[MOST_RECORDS];
	size_t record_count;
};

static void write_policy(struct bench *b, const char *text)
{
	struct err e = ERR_INIT;
	char full[1024];
	snprintf(full, sizeof(full), "%s\nresolve up.test " PUBLIC ":%u\n", text, b->upstream_port);
	assert_true(fd_write_file(b->policy, full, strlen(full), 0600, &e));
}

static void listen_upstream(struct bench *b)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(PUBLIC)};
	socklen_t len = sizeof(any);
	b->upstream = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(b->upstream, (struct sockaddr *)&any, len), 0);
	assert_int_equal(listen(b->upstream, 16), 0);
	getsockname(b->upstream, (struct sockaddr *)&any, &len);
	b->upstream_port = ntohs(any.sin_port);
}

static struct bench *set_up(const char *policy, size_t most_tunnels)
{
	struct bench *b = mem_alloc(sizeof(*b));
	struct err e = ERR_INIT;
	lookups = 0;
	strcpy(b->dir, "/tmp/ccvm-test-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	b->socket = mem_printf("%s/s", b->dir);
	b->policy = mem_printf("%s/policy", b->dir);
	b->audit = mem_printf("%s/audit", b->dir);
	listen_upstream(b);
	write_policy(b, policy);
	b->loop = loop_create();
	struct server_options o = {.listen = b->socket,
	                           .policy = b->policy,
	                           .audit = b->audit,
	                           .vm = "alpha",
	                           .notify_fd = -1,
	                           .most_tunnels = most_tunnels,
	                           .source = &SOURCE};
	struct policy p;
	policy_init(&p);
	assert_true(policy_load(&p, b->policy, &e));
	b->server = server_start(b->loop, &o, &p, &e);
	if (!b->server)
		fail_msg("%s", e.msg);
	return b;
}

static void on_line(void *arg, const struct audit_record *r, const char *line, size_t len)
{
	struct bench *b = arg;
	if (!r)
		fail_msg("no record: %.*s", (int)len, line);
	assert_true(b->record_count < MOST_RECORDS);
	b->records[b->record_count++] = *r;
}

static void read_audit(struct bench *b)
{
	struct err e = ERR_INIT;
	struct audit_reader rd;
	size_t len;
	char *text FREE_ON_EXIT = fd_read_file(b->audit, 1 << 20, &len, &e);
	assert_non_null(text);
	b->record_count = 0;
	audit_reader_init(&rd, on_line, b);
	audit_reader_feed(&rd, text, len);
}

/* Stops the proxy and compares the events of its log, in order. */
static void tear_down(struct bench *b, const enum audit_event *want, size_t count)
{
	struct err e = ERR_INIT;
	assert_true(server_stop(b->server));
	loop_destroy(b->loop);
	read_audit(b);
	for (size_t i = 0; i < MIN(count, b->record_count); i++)
		assert_string_equal(audit_event_name(b->records[i].event), audit_event_name(want[i]));
	assert_int_equal(b->record_count, count);
	fd_close(&b->upstream);
	assert_int_equal(access(b->socket, F_OK), -1);
	assert_true(fd_remove_tree(b->dir, &e));
	free(b->socket);
	free(b->policy);
	free(b->audit);
	free(b);
}
#define TEAR_DOWN(b, ...)                                     \
	tear_down(b, (const enum audit_event[]){__VA_ARGS__}, \
	          ARRAY_LEN(((const enum audit_event[]){__VA_ARGS__})))

static bool reply_is_whole(void *arg)
{
	struct bench *b = arg;
	ssize_t n = read(b->fd, b->reply + b->reply_len, sizeof(b->reply) - 1 - b->reply_len);
	if (n > 0)
		b->reply_len += (size_t)n;
	b->reply[b->reply_len] = '\0';
	return n == 0 || (b->head_only && strstr(b->reply, "\r\n\r\n"));
}

/* Sends this on a connection of its own and waits for the answer: to its end, or to the end of its head, in which case
 * the connection stays open and is returned. */
static int ask(struct bench *b, const char *request, bool stay)
{
	struct err e = ERR_INIT;
	int fd = fd_unix_connect(b->socket, &e);
	assert_true(fd >= 0);
	fd_set_nonblock(fd, true);
	assert_int_equal(write(fd, request, strlen(request)), (ssize_t)strlen(request));
	b->fd = fd;
	b->reply_len = 0;
	b->head_only = stay;
	assert_true(loop_wait(b->loop, reply_is_whole, b));
	if (!stay)
		close(fd);
	return stay ? fd : -1;
}

static void expect_status(struct bench *b, const char *start)
{
	if (strncmp(b->reply, start, strlen(start)) != 0)
		fail_msg("wanted %s, got %s", start, b->reply);
}

static void a_refused_name_is_never_looked_up(void **state)
{
	(void)state;
	struct bench *b = set_up("allow ok.test\ndeny secret.ok.test", 0);
	ask(b, "CONNECT secret-data.evil.test:443 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 403 Forbidden by ccvm: no rule for secret-data.evil.test:443\r\n");
	ask(b, "CONNECT secret.ok.test:443 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 403 ");
	ask(b, "CONNECT ok.test:22 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 403 ");
	ask(b, "CONNECT 127.1:443 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 403 ");
	assert_int_equal(lookups, 0);
	ask(b, "CONNECT OK.test.:443 HTTP/1.1\r\n\r\n", false); /* the control: an allowed one is */
	expect_status(b, "HTTP/1.1 502 ");
	assert_int_equal(lookups, 1);
	TEAR_DOWN(b, AUDIT_START, AUDIT_DENY, AUDIT_DENY, AUDIT_DENY, AUDIT_DENY, AUDIT_FAIL, AUDIT_STOP);
}

static void a_private_answer_is_refused(void **state)
{
	(void)state;
	struct bench *b = set_up("allow private.test", 0);
	ask(b, "CONNECT private.test:443 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 403 Forbidden by ccvm: private.test:443 leads to a private address\r\n");
	read_audit(b);
	assert_int_equal(b->records[1].why, AUDIT_ADDRESS_REFUSED);
	assert_string_equal(b->records[1].rule, "allow private.test:443");
	TEAR_DOWN(b, AUDIT_START, AUDIT_DENY, AUDIT_STOP);
}

static void the_address_that_was_checked_is_dialled(void **state)
{
	(void)state;
	struct bench *b = set_up("", 0);
	char text[128];
	snprintf(text, sizeof(text), "allow rebind.test:%u", b->upstream_port);
	write_policy(b, text);
	assert_true(server_reload(b->server));
	snprintf(text, sizeof(text), "CONNECT rebind.test:%u HTTP/1.1\r\n\r\n", b->upstream_port);
	int fd = ask(b, text, true);
	expect_status(b, "HTTP/1.1 200 ");
	assert_int_equal(lookups, 1); /* a second one would have said 127.0.0.1 */
	struct sockaddr_in local;
	socklen_t len = sizeof(local);
	int far = accept(b->upstream, NULL, NULL);
	assert_int_equal(getsockname(far, (struct sockaddr *)&local, &len), 0);
	assert_int_equal(local.sin_addr.s_addr, inet_addr(PUBLIC));
	close(fd);
	close(far);
	ask(b, text, false); /* the next tunnel asks again, and what it hears now is refused */
	expect_status(b, "HTTP/1.1 403 ");
	assert_int_equal(lookups, 2);
	TEAR_DOWN(b, AUDIT_START, AUDIT_POLICY, AUDIT_OPEN, AUDIT_CLOSE, AUDIT_DENY, AUDIT_STOP);
}

static void open_comes_before_close_on_record(void **state)
{
	(void)state;
	struct bench *b = set_up("allow up.test", 0);
	int fd = ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", true);
	assert_string_equal(b->reply, "HTTP/1.1 200 Connection established\r\n\r\n");
	read_audit(b);
	assert_int_equal(b->records[1].event, AUDIT_OPEN);
	assert_string_equal(b->records[1].vm, "alpha");
	close(fd);
	TEAR_DOWN(b, AUDIT_START, AUDIT_OPEN, AUDIT_CLOSE, AUDIT_STOP);
}

static void tunnels_have_a_maximum(void **state)
{
	(void)state;
	struct bench *b = set_up("allow up.test", 2);
	int one = ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", true);
	int two = ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", true);
	ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 429 ");
	assert_non_null(strstr(b->reply, "\r\nRetry-After: 1\r\n"));
	int far = accept(b->upstream, NULL, NULL);
	close(one);
	close(far); /* both sides over: the place is free again */
	for (;;) {
		int three = ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", true);
		close(three);
		if (strncmp(b->reply, "HTTP/1.1 200", 12) == 0)
			break;
		loop_turn(b->loop, true);
	}
	close(two);
	struct err e = ERR_INIT;
	assert_true(server_stop(b->server));
	loop_destroy(b->loop);
	fd_close(&b->upstream);
	assert_true(fd_remove_tree(b->dir, &e));
	free(b->socket);
	free(b->policy);
	free(b->audit);
	free(b);
}

static void a_reload_decides_on_what_comes_next(void **state)
{
	(void)state;
	struct bench *b = set_up("allow up.test", 0);
	int fd = ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", true);
	write_policy(b, "deny up.test");
	assert_true(server_reload(b->server));
	ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 403 Forbidden by ccvm: a rule denies up.test:443\r\n");
	int far = accept(b->upstream, NULL, NULL); /* the open one lives on */
	assert_int_equal(write(fd, "still", 5), 5);
	char got[8] = "";
	for (int i = 0; i < 1000 && recv(far, got, sizeof(got), MSG_DONTWAIT) != 5; i++)
		loop_turn(b->loop, false);
	assert_string_equal(got, "still");
	write_policy(b, "allow up.test");
	assert_true(server_reload(b->server));
	write_policy(b, "deny up.test\nallow *");
	assert_false(server_reload(b->server));
	int next = ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", true);
	expect_status(b, "HTTP/1.1 200 "); /* the old policy stays: no rule of a bad text counts */
	close(next);
	close(fd);
	close(far);
	read_audit(b);
	assert_string_equal(b->records[2].detail, "added deny up.test, removed allow up.test:443");
	assert_string_equal(b->records[4].detail, "added allow up.test:443, removed deny up.test");
	assert_int_equal(b->records[5].why, AUDIT_POLICY_BAD);
	assert_non_null(strstr(b->records[5].detail, ":2: "));
	TEAR_DOWN(b, AUDIT_START, AUDIT_OPEN, AUDIT_POLICY, AUDIT_DENY, AUDIT_POLICY, AUDIT_POLICY,
	          AUDIT_OPEN, AUDIT_CLOSE, AUDIT_CLOSE, AUDIT_STOP);
}

/* A request that trickles in gets the verdict of one that comes at once. */
/* Nobody tells the proxy: the supervisor may be gone. */
static void a_rule_ends_by_itself(void **state)
{
	(void)state;
	const int64_t end_ms = 1796120400000; /* 2026-12-01T10:20:00Z */
	clock_freeze_wall(end_ms - 1);
	struct bench *b = set_up("allow up.test until 2026-12-01T10:20:00Z", 0);
	int fd = ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", true);
	expect_status(b, "HTTP/1.1 200 ");
	clock_freeze_wall(end_ms);
	ask(b, "CONNECT up.test:443 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 403 Forbidden by ccvm: no rule for up.test:443\r\n");
	close(fd);
	read_audit(b);
	assert_string_equal(b->records[1].rule, "allow up.test:443 until 2026-12-01T10:20:00Z");
	assert_string_equal(b->records[2].rule, "");
	clock_freeze_wall(-1);
	TEAR_DOWN(b, AUDIT_START, AUDIT_OPEN, AUDIT_DENY, AUDIT_CLOSE, AUDIT_STOP);
}

static void a_request_may_come_byte_by_byte(void **state)
{
	(void)state;
	struct bench *b = set_up("allow up.test", 0);
	static const char REQUEST[] = "CONNECT up.test:443 HTTP/1.1\r\nHost: up.test\r\n\r\nearly";
	struct err e = ERR_INIT;
	int fd = fd_unix_connect(b->socket, &e);
	fd_set_nonblock(fd, true);
	for (size_t i = 0; i + 1 < sizeof(REQUEST); i++) {
		assert_int_equal(write(fd, REQUEST + i, 1), 1);
		loop_turn(b->loop, true);
	}
	b->fd = fd;
	b->head_only = true;
	assert_true(loop_wait(b->loop, reply_is_whole, b));
	expect_status(b, "HTTP/1.1 200 ");
	int far = accept(b->upstream, NULL, NULL);
	char got[8] = "";
	size_t n = 0;
	for (int i = 0; i < 1000 && n < 5; i++) {
		ssize_t r = recv(far, got + n, 5 - n, MSG_DONTWAIT);
		n += r > 0 ? (size_t)r : 0;
		loop_turn(b->loop, true);
	}
	assert_string_equal(got, "early");
	close(fd);
	close(far);
	TEAR_DOWN(b, AUDIT_START, AUDIT_OPEN, AUDIT_CLOSE, AUDIT_STOP);
}

/* What follows a refused request is never parsed as another one. */
static void nothing_after_a_refusal_counts(void **state)
{
	(void)state;
	struct bench *b = set_up("allow up.test", 0);
	ask(b, "CONNECT no.test:443 HTTP/1.1\r\n\r\nCONNECT up.test:443 HTTP/1.1\r\n\r\n", false);
	expect_status(b, "HTTP/1.1 403 ");
	assert_null(strstr(b->reply, " 200 "));
	TEAR_DOWN(b, AUDIT_START, AUDIT_DENY, AUDIT_STOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_refused_name_is_never_looked_up),
	    cmocka_unit_test(a_private_answer_is_refused),
	    cmocka_unit_test(the_address_that_was_checked_is_dialled),
	    cmocka_unit_test(open_comes_before_close_on_record),
	    cmocka_unit_test(tunnels_have_a_maximum),
	    cmocka_unit_test(a_reload_decides_on_what_comes_next),
	    cmocka_unit_test(a_rule_ends_by_itself),
	    cmocka_unit_test(a_request_may_come_byte_by_byte),
	    cmocka_unit_test(nothing_after_a_refusal_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
