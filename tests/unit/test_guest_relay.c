/* guest/relay: every byte, both ends of file, resets, limits. The "host" is one end of a socket pair, or
 * nobody. */
#include "tests/lib/test.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "guest/net.h"
#include "guest/reactor.h"
#include "guest/relay.h"

#define MOST_HOSTS  1000
#define DEADLINE_MS 20000

struct scene {
	struct reactor *reactor;
	struct relay *relay;
	uint16_t port;
	int hosts[MOST_HOSTS]; /* the host's ends, in the order of dialing */
	size_t host_count;
	bool down;        /* dialing fails */
	int small_window; /* of the next client, or 0 */
};

static int dial(void *arg, struct err *e)
{
	struct scene *s = arg;
	int pair[2];
	if (s->down) {
		err_set(e, ERR_NOT_FOUND, "nobody is there");
		return -1;
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	assert_true(s->host_count < MOST_HOSTS);
	s->hosts[s->host_count++] = pair[1];
	return pair[0];
}

static int setup(void **state)
{
	struct scene *s = mem_alloc(sizeof(*s));
	struct err e = ERR_INIT;
	int fd = net_listen_loopback(0, &e);
	assert_true(fd >= 0);
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	s->port = ntohs(addr.sin_port);
	s->reactor = reactor_create();
	s->relay = relay_open(s->reactor, fd, dial, s);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	relay_close(s->relay);
	reactor_destroy(s->reactor);
	for (size_t i = 0; i < s->host_count; i++)
		fd_close(&s->hosts[i]);
	free(s);
	return 0;
}

static int client(struct scene *s)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(s->port)};
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	if (s->small_window)
		assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &s->small_window, sizeof(int)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_true(fd_set_nonblock(fd, true));
	return fd;
}

/* A client whose connection has reached the host's end (hosts[index]). */
static int connected(struct scene *s, size_t index)
{
	int fd = client(s);
	uint64_t limit = clock_mono_ms() + DEADLINE_MS;
	while (s->host_count <= index) {
		assert_true(clock_mono_ms() < limit);
		reactor_turn(s->reactor, 20);
	}
	return fd;
}

/* Moves `total` bytes of a pattern from one descriptor to another through the relay; returns what arrived
 * right. */
static size_t transfer(struct scene *s, int from, int to, size_t total)
{
	size_t sent = 0, got = 0;
	uint64_t limit = clock_mono_ms() + DEADLINE_MS;
	uint8_t out[8192], in[8192];
	while (got < total && clock_mono_ms() < limit) {
		size_t len = MIN(total - sent, sizeof(out));
		for (size_t i = 0; i < len; i++)
			out[i] = (uint8_t)((sent + i) * 31 >> 3);
		ssize_t n = len ? send(from, out, len, MSG_NOSIGNAL) : 0;
		sent += n > 0 ? (size_t)n : 0;
		reactor_turn(s->reactor, n > 0 ? 0 : 5);
		while ((n = recv(to, in, sizeof(in), 0)) > 0) {
			for (ssize_t i = 0; i < n; i++, got++) {
				if (in[i] != (uint8_t)(got * 31 >> 3))
					return got;
			}
		}
	}
	return got;
}

/* Turns until recv says something other than "not yet": 0 at the end, -1 with errno, or bytes. */
static ssize_t await(struct scene *s, int fd, void *out, size_t size)
{
	uint64_t limit = clock_mono_ms() + DEADLINE_MS;
	for (;;) {
		ssize_t n = recv(fd, out, size, 0);
		if (n >= 0 || errno != EAGAIN)
			return n;
		assert_true(clock_mono_ms() < limit);
		reactor_turn(s->reactor, 20);
	}
}

static void await_pairs(struct scene *s, size_t count)
{
	uint64_t limit = clock_mono_ms() + DEADLINE_MS;
	while (relay_pair_count(s->relay) != count) {
		assert_true(clock_mono_ms() < limit);
		reactor_turn(s->reactor, 20);
	}
}

static void bytes_arrive_whole_both_ways(void **state)
{
	struct scene *s = *state;
	int fd = connected(s, 0);
	assert_int_equal(transfer(s, fd, s->hosts[0], 4 << 20), 4 << 20);
	assert_int_equal(transfer(s, s->hosts[0], fd, 4 << 20), 4 << 20);
	close(fd);
	char c;
	assert_int_equal(await(s, s->hosts[0], &c, 1), 0);
	fd_close(&s->hosts[0]);
	await_pairs(s, 0);
}

static void half_close_passes_both_ways(void **state)
{
	struct scene *s = *state;
	char text[16];
	int fd = connected(s, 0);
	assert_int_equal(send(fd, "count me", 8, 0), 8);
	shutdown(fd, SHUT_WR);
	assert_int_equal(await(s, s->hosts[0], text, sizeof(text)), 8);
	assert_int_equal(await(s, s->hosts[0], text, sizeof(text)), 0);
	assert_int_equal(send(s->hosts[0], "8", 1, 0), 1); /* the answer comes after the client's end */
	assert_int_equal(await(s, fd, text, sizeof(text)), 1);
	shutdown(s->hosts[0], SHUT_WR);
	assert_int_equal(await(s, fd, text, sizeof(text)), 0);
	await_pairs(s, 0);
	close(fd);

	fd = connected(s, 1); /* and the host first */
	shutdown(s->hosts[1], SHUT_WR);
	assert_int_equal(await(s, fd, text, sizeof(text)), 0);
	assert_int_equal(send(fd, "late", 4, 0), 4);
	assert_int_equal(await(s, s->hosts[1], text, sizeof(text)), 4);
	close(fd);
	await_pairs(s, 0);
}

/* The host answers and closes at once. */
static void last_bytes_survive_a_close(void **state)
{
	struct scene *s = *state;
	static uint8_t answer[7728], room[65536];
	for (size_t round = 0; round < 50; round++) {
		int fd = connected(s, round);
		assert_int_equal(send(s->hosts[round], answer, sizeof(answer), 0), sizeof(answer));
		fd_close(&s->hosts[round]);
		size_t got = 0;
		ssize_t n;
		while ((n = await(s, fd, room, sizeof(room))) > 0)
			got += (size_t)n;
		assert_int_equal(n, 0);
		assert_int_equal(got, sizeof(answer));
		close(fd);
	}
	await_pairs(s, 0);
}

/* The same while the client sends what nobody reads any more, and has not read the answer yet. */
static void an_upload_does_not_cost_the_answer(void **state)
{
	struct scene *s = *state;
	static uint8_t answer[150000], junk[4096];
	s->small_window = 4096;
	int fd = connected(s, 0);
	s->small_window = 0;
	assert_int_equal(send(s->hosts[0], answer, sizeof(answer), 0), sizeof(answer));
	fd_close(&s->hosts[0]);
	for (int i = 0; i < 200; i++) {
		send(fd, junk, sizeof(junk), MSG_NOSIGNAL);
		reactor_turn(s->reactor, 1);
	}
	size_t got = 0;
	ssize_t n;
	while ((n = await(s, fd, junk, sizeof(junk))) > 0) {
		got += (size_t)n;
		send(fd, junk, sizeof(junk), MSG_NOSIGNAL);
	}
	assert_int_equal(n, 0);
	assert_int_equal(got, sizeof(answer));
	close(fd);
	await_pairs(s, 0);
}

static void a_reset_closes_the_other_side(void **state)
{
	struct scene *s = *state;
	char c;
	int fd = connected(s, 0);
	struct linger hard = {.l_onoff = 1};
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)), 0);
	close(fd);
	assert_int_equal(await(s, s->hosts[0], &c, 1), 0);
	await_pairs(s, 0);
}

/* The same while the host reads nothing and the client has filled all that there is. */
static void a_reset_of_a_stalled_client_is_noticed(void **state)
{
	struct scene *s = *state;
	static uint8_t junk[65536];
	int fd = connected(s, 0);
	for (int idle = 0; idle < 20;) {
		idle = send(fd, junk, sizeof(junk), MSG_NOSIGNAL) > 0 ? 0 : idle + 1;
		reactor_turn(s->reactor, 1);
	}
	struct linger hard = {.l_onoff = 1};
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)), 0);
	close(fd);
	await_pairs(s, 0);
}

static void a_stalled_side_stops_the_other(void **state)
{
	struct scene *s = *state;
	static uint8_t junk[65536];
	size_t sent = 0;
	int fd = connected(s, 0);
	for (int idle = 0; idle < 20;) {
		ssize_t n = send(s->hosts[0], junk, sizeof(junk), MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		idle = n > 0 ? 0 : idle + 1;
		assert_true(sent < 64 << 20);
		reactor_turn(s->reactor, 1);
	}
	size_t got = 0;
	fd_close(&s->hosts[0]);
	for (ssize_t n; (n = await(s, fd, junk, sizeof(junk))) > 0;)
		got += (size_t)n;
	assert_int_equal(got, sent);
	close(fd);
	await_pairs(s, 0);
}

static void no_host_is_a_reset(void **state)
{
	struct scene *s = *state;
	char c;
	s->down = true;
	int fd = client(s);
	assert_int_equal(await(s, fd, &c, 1), -1);
	assert_int_equal(errno, ECONNRESET);
	close(fd);
	s->down = false;
	fd = connected(s, 0); /* and it works again as soon as there is one */
	assert_int_equal(transfer(s, fd, s->hosts[0], 1000), 1000);
	close(fd);
}

static void too_many_wait_for_a_place(void **state)
{
	struct scene *s = *state;
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < 4 * RELAY_MOST_PAIRS)
		skip();
	static int fds[RELAY_MOST_PAIRS + 1];
	for (size_t i = 0; i < RELAY_MOST_PAIRS; i++)
		fds[i] = connected(s, i);
	fds[RELAY_MOST_PAIRS] = client(s); /* the kernel takes it, the relay does not */
	for (int i = 0; i < 20; i++)
		reactor_turn(s->reactor, 1);
	assert_int_equal(s->host_count, RELAY_MOST_PAIRS);
	close(fds[0]);
	fd_close(&s->hosts[0]);
	uint64_t limit = clock_mono_ms() + DEADLINE_MS;
	while (s->host_count <= RELAY_MOST_PAIRS) {
		assert_true(clock_mono_ms() < limit);
		reactor_turn(s->reactor, 20);
	}
	assert_int_equal(transfer(s, fds[RELAY_MOST_PAIRS], s->hosts[RELAY_MOST_PAIRS], 1000), 1000);
	for (size_t i = 1; i <= RELAY_MOST_PAIRS; i++)
		close(fds[i]);
}

static void says_whether_it_listens(void **state)
{
	struct scene *s = *state;
	assert_true(relay_is_listening(s->relay));
	assert_false(relay_is_listening(NULL));
	assert_true(net_lo_is_up());
}

#define SCENE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCENE_TEST(bytes_arrive_whole_both_ways),   SCENE_TEST(half_close_passes_both_ways),
	    SCENE_TEST(last_bytes_survive_a_close),     SCENE_TEST(an_upload_does_not_cost_the_answer),
	    SCENE_TEST(a_reset_closes_the_other_side),  SCENE_TEST(a_reset_of_a_stalled_client_is_noticed),
	    SCENE_TEST(a_stalled_side_stops_the_other), SCENE_TEST(no_host_is_a_reset),
	    SCENE_TEST(too_many_wait_for_a_place),      SCENE_TEST(says_whether_it_listens),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
