/* proxy/tunnel: whatever the order in which two sides end, no byte is lost and nothing is left open. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "proxy/tunnel.h"
#include "tests/lib/loop_wait.h"

/* The two far ends as the test holds them; the near ones belong to the tunnel. */
struct bench {
	struct loop *loop;
	struct tunnel *tunnel;
	int client, server;
	bool done;
	struct tunnel_result result;
	uint8_t *got; /* of the end that is being read */
	size_t got_len, want;
	int from;
	bool eof;
};

static const struct stream_ops NOBODY = {0};

static void on_done(void *arg, const struct tunnel_result *r)
{
	struct bench *b = arg;
	assert_false(b->done);
	b->done = true;
	b->result = *r;
}

static struct stream *near_end(struct bench *b, int *far)
{
	struct err e = ERR_INIT;
	int pair[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	*far = pair[1];
	struct stream *s = stream_open(b->loop, pair[0], &NOBODY, NULL, &e);
	assert_non_null(s);
	return s;
}

static struct bench *set_up(void)
{
	struct bench *b = mem_alloc(sizeof(*b));
	b->loop = loop_create();
	return b;
}

/* The ends may have been written to and closed before the tunnel stands. */
static void start(struct bench *b, struct stream *client, struct stream *server, const char *early,
                  uint64_t drain_ms)
{
	b->tunnel = tunnel_start(b->loop, client, server, early, strlen(early), drain_ms, on_done, b);
}

static struct bench *set_up_tunnel(uint64_t drain_ms)
{
	struct bench *b = set_up();
	struct stream *client = near_end(b, &b->client), *server = near_end(b, &b->server);
	start(b, client, server, "", drain_ms);
	return b;
}

static void tear_down(struct bench *b)
{
	fd_close(&b->client);
	fd_close(&b->server);
	assert_true(loop_wait_flag(b->loop, &b->done));
	loop_destroy(b->loop); /* a handle that is left open is a BUG here */
	free(b->got);
	free(b);
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static bool read_more(void *arg)
{
	struct bench *b = arg;
	while (b->got_len < b->want || b->want == SIZE_MAX) {
		uint8_t chunk[65536];
		ssize_t n = read(b->from, chunk, MIN(sizeof(chunk), b->want - b->got_len));
		if (n == 0)
			b->eof = true;
		if (n <= 0)
			break;
		b->got = mem_resize(b->got, b->got_len + (size_t)n, 1);
		memcpy(b->got + b->got_len, chunk, (size_t)n);
		b->got_len += (size_t)n;
	}
	return b->eof || b->got_len == b->want;
}

static void start_reading(struct bench *b, int from, size_t want)
{
	free(b->got);
	b->got = NULL;
	b->got_len = 0;
	b->eof = false;
	b->from = from;
	b->want = want;
}

static void expect(struct bench *b, int from, const char *text)
{
	start_reading(b, from, strlen(text));
	assert_true(loop_wait(b->loop, read_more, b));
	assert_int_equal(b->got_len, strlen(text));
	assert_memory_equal(b->got, text, b->got_len);
}

static void expect_eof(struct bench *b, int from)
{
	start_reading(b, from, 1);
	assert_true(loop_wait(b->loop, read_more, b));
	assert_true(b->eof);
}

static void half_close_passes_both_ways(void **state)
{
	(void)state;
	for (int server_first = 0; server_first < 2; server_first++) {
		struct bench *b = set_up_tunnel(TUNNEL_DRAIN_MS);
		int first = server_first ? b->server : b->client,
		    second = server_first ? b->client : b->server;
		put(first, "the request");
		shutdown(first, SHUT_WR);
		expect(b, second, "the request");
		expect_eof(b, second);
		loop_settle(b->loop);
		assert_false(b->done);
		put(second, "the reply");
		expect(b, first, "the reply");
		shutdown(second, SHUT_WR);
		expect_eof(b, first);
		assert_true(loop_wait_flag(b->loop, &b->done));
		assert_int_equal(b->result.end, server_first ? AUDIT_END_SERVER_EOF : AUDIT_END_CLIENT_EOF);
		assert_int_equal(b->result.up, server_first ? 9 : 11);
		assert_int_equal(b->result.down, server_first ? 11 : 9);
		tear_down(b);
	}
}

static void early_bytes_go_first(void **state)
{
	(void)state;
	struct bench *b = set_up();
	struct stream *client = near_end(b, &b->client), *server = near_end(b, &b->server);
	put(b->client, " world");
	start(b, client, server, "hello", TUNNEL_DRAIN_MS);
	expect(b, b->server, "hello world");
	shutdown(b->client, SHUT_WR);
	shutdown(b->server, SHUT_WR);
	assert_true(loop_wait_flag(b->loop, &b->done));
	assert_int_equal(b->result.up, 11);
	tear_down(b);
}

/* The server has answered and gone; our write to it fails before its answer is read. */
static void an_answer_survives_a_failed_write(void **state)
{
	(void)state;
	char answer[7728];
	memset(answer, 'r', sizeof(answer));
	struct bench *b = set_up();
	struct stream *client = near_end(b, &b->client), *server = near_end(b, &b->server);
	assert_int_equal(write(b->server, answer, sizeof(answer)), sizeof(answer));
	fd_close(&b->server);
	start(b, client, server, "a request nobody reads", TUNNEL_DRAIN_MS);
	start_reading(b, b->client, SIZE_MAX);
	assert_true(loop_wait(b->loop, read_more, b));
	assert_int_equal(b->got_len, sizeof(answer));
	assert_memory_equal(b->got, answer, sizeof(answer));
	tear_down(b);
}

/* A client that sends and closes for good: the server gets all of it although it answers into the void. */
static void an_upload_survives_a_gone_client(void **state)
{
	(void)state;
	struct bench *b = set_up();
	struct stream *client = near_end(b, &b->client), *server = near_end(b, &b->server);
	put(b->server, "100 Continue");
	put(b->client, "the whole upload");
	fd_close(&b->client);
	start(b, client, server, "", TUNNEL_DRAIN_MS);
	start_reading(b, b->server, SIZE_MAX);
	assert_true(loop_wait(b->loop, read_more, b));
	assert_int_equal(b->got_len, 16);
	assert_memory_equal(b->got, "the whole upload", 16);
	tear_down(b);
}

static void a_client_that_breaks_off_ends_it(void **state)
{
	(void)state;
	struct bench *b = set_up_tunnel(TUNNEL_DRAIN_MS);
	put(b->server, "unread");
	loop_settle(b->loop); /* it lies in the client's queue now */
	fd_close(&b->client); /* with unread bytes: a reset */
	assert_true(loop_wait_flag(b->loop, &b->done));
	assert_int_equal(b->result.end, AUDIT_END_CLIENT_ERROR);
	tear_down(b);
}

static void a_silent_side_is_drained_only_so_long(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench *b = set_up_tunnel(30);
		shutdown(i ? b->server : b->client, SHUT_WR);
		assert_true(loop_wait_flag(b->loop, &b->done));
		assert_int_equal(b->result.end, AUDIT_END_DRAIN);
		tear_down(b);
	}
}

/* What a side pushes before it is stopped, while the other side does not read. */
static size_t push_until_stopped(struct bench *b, int fd, size_t most)
{
	static uint8_t chunk[65536];
	size_t pushed = 0;
	for (int idle = 0; idle < 20 && pushed < most;) {
		for (size_t i = 0; i < sizeof(chunk); i++)
			chunk[i] = (uint8_t)((pushed + i) * 31 >> 3);
		ssize_t n = write(fd, chunk, MIN(sizeof(chunk), most - pushed));
		if (n > 0) {
			pushed += (size_t)n;
			idle = 0;
		} else {
			idle++;
		}
		loop_turn(b->loop, true);
	}
	return pushed;
}

static void a_reader_that_stands_still_stops_the_sender(void **state)
{
	(void)state;
	for (int down = 0; down < 2; down++) {
		struct bench *b = set_up_tunnel(TUNNEL_DRAIN_MS);
		int from = down ? b->server : b->client, to = down ? b->client : b->server;
		const size_t whole = 64 * 1024 * 1024;
		size_t pushed = push_until_stopped(b, from, whole);
		assert_true(pushed < 4 * 1024 * 1024); /* our queue and what the kernel holds */
		shutdown(from, SHUT_WR);
		start_reading(b, to, SIZE_MAX);
		assert_true(loop_wait(b->loop, read_more, b));
		assert_int_equal(b->got_len, pushed);
		for (size_t i = 0; i < pushed; i += 4097)
			assert_int_equal(b->got[i], (uint8_t)(i * 31 >> 3));
		tear_down(b);
	}
}

static void stopping_tells_what_went_through(void **state)
{
	(void)state;
	struct bench *b = set_up_tunnel(TUNNEL_DRAIN_MS);
	put(b->client, "12345");
	expect(b, b->server, "12345");
	tunnel_stop(b->tunnel, &b->result);
	assert_int_equal(b->result.up, 5);
	assert_int_equal(b->result.end, AUDIT_END_STOP);
	b->done = true;
	tear_down(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(half_close_passes_both_ways),
	    cmocka_unit_test(early_bytes_go_first),
	    cmocka_unit_test(an_answer_survives_a_failed_write),
	    cmocka_unit_test(an_upload_survives_a_gone_client),
	    cmocka_unit_test(a_client_that_breaks_off_ends_it),
	    cmocka_unit_test(a_silent_side_is_drained_only_so_long),
	    cmocka_unit_test(a_reader_that_stands_still_stops_the_sender),
	    cmocka_unit_test(stopping_tells_what_went_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
