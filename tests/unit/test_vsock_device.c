/* core/vsock/device and connection: who may open what, half-closes, limits, a guest that goes away or mad. */
#include "tests/lib/test.h"

#include <errno.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/loop/loop.h"
#include "core/vsock/credit.h"
#include "core/vsock/hybrid.h"
#include "core/vsock/table.h"
#include "tests/lib/vsock_rig.h"

/* ---- connections of the guest ---- */

static void guest_talks_to_host(void **state)
{
	(void)state;
	for (int event_idx = 0; event_idx < 2; event_idx++) {
		struct rig *r = rig_create(event_idx, 10, RIG_ENTRIES);
		struct fake_packet p;
		int host = rig_open_by_guest(r, 1025, 9002);
		rig_send_data(r, 1025, 9002, "hello", 5);
		rig_pump(r);
		rig_expect_host(host, "hello");
		rig_put_host(host, "world", 5);
		rig_expect(r, PACKET_OP_RW, &p);
		assert_int_equal(p.h.len, 5);
		assert_int_equal(p.h.fwd_cnt, 5); /* credit travels with the data */
		assert_memory_equal(p.payload, "world", 5);
		rig_expect_silence(r);
		fd_close(&host);
		rig_destroy(r);
	}
}

static void refused_ports_answer_at_once(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	rig_send_op(r, 1025, RIG_REFUSED_PORT, PACKET_OP_REQUEST, 0);
	rig_expect(r, PACKET_OP_RST, &p);
	assert_int_equal(p.h.src_port, RIG_REFUSED_PORT);
	assert_int_equal(p.h.dst_port, 1025);
	rig_expect_silence(r);
	assert_int_equal(rig_counts(r).connections, 0);
	int host = rig_open_by_guest(r, 1025, 80); /* the same guest port is free again */
	fd_close(&host);
	rig_destroy(r);
}

static void a_full_backlog_is_tried_again(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	uint64_t deadline = clock_mono_ms() + RIG_DEADLINE_MS;
	r->busy = 2;
	rig_send_op(r, 1025, RIG_BUSY_PORT, PACKET_OP_REQUEST, 0);
	rig_expect_silence(r);
	while (r->dials < 3 && clock_mono_ms() < deadline)
		loop_turn(r->loop, false);
	rig_expect(r, PACKET_OP_RESPONSE, &p);
	rig_destroy(r);
}

static void strangers_get_a_reset(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	const uint16_t ops[] = {PACKET_OP_RESPONSE,
	                        PACKET_OP_RW,
	                        PACKET_OP_SHUTDOWN,
	                        PACKET_OP_CREDIT_UPDATE,
	                        PACKET_OP_CREDIT_REQUEST,
	                        0,
	                        99};
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		rig_send_op(r, 1025, 9002, ops[i], 0);
		rig_expect(r, PACKET_OP_RST, &p);
		rig_expect_silence(r);
	}
	rig_send_op(r, 1025, 9002, PACKET_OP_RST, 0); /* but an RST never gets an RST */
	rig_expect_silence(r);
	rig_destroy(r);
}

static void forged_addresses_get_nothing(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	const struct packet_header BAD[] = {
	    {.src_cid = FAKE_GUEST_CID + 1, .dst_cid = VSOCK_CID_HOST},
	    {.src_cid = VSOCK_CID_HOST, .dst_cid = VSOCK_CID_HOST},
	    {.src_cid = FAKE_GUEST_CID, .dst_cid = FAKE_GUEST_CID},
	    {.src_cid = FAKE_GUEST_CID, .dst_cid = 1},
	    {.src_cid = FAKE_GUEST_CID | 1ull << 32, .dst_cid = VSOCK_CID_HOST},
	    {.src_cid = FAKE_GUEST_CID, .dst_cid = VSOCK_CID_HOST | 1ull << 32},
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct packet_header h = BAD[i];
		h.src_port = 1025;
		h.dst_port = 80;
		h.op = PACKET_OP_REQUEST;
		assert_true(fake_guest_send(&r->guest, h, NULL));
		rig_expect_silence(r);
	}
	assert_int_equal(r->dials, 0);
	assert_int_equal(rig_counts(r).dropped_packets, ARRAY_LEN(BAD));
	rig_destroy(r);
}

static void broken_packets_reset_their_connection(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct packet_header h;
	} BAD[] = {
	    {"more payload than came", {.op = PACKET_OP_RW, .len = 5}},
	    {"payload of 4 GiB", {.op = PACKET_OP_RW, .len = UINT32_MAX}},
	    {"payload over the limit", {.op = PACKET_OP_RW, .len = PACKET_MAX_PAYLOAD + 1}},
	    {"datagram", {.op = PACKET_OP_RW, .type = 2}},
	    {"no operation", {.op = 0}},
	    {"unknown operation", {.op = PACKET_OP_COUNT}},
	    {"second request", {.op = PACKET_OP_REQUEST}},
	    {"answer to nothing", {.op = PACKET_OP_RESPONSE}},
	};
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		int host = rig_open_by_guest(r, 1025, 80);
		int other = rig_open_by_guest(r, 1026, 80);
		struct packet_header h = BAD[i].h;
		h.src_port = 1025;
		h.dst_port = 80;
		assert_true(fake_guest_send(&r->guest, h, NULL));
		rig_expect(r, PACKET_OP_RST, &p);
		assert_int_equal(p.h.dst_port, 1025);
		rig_expect_host_eof(host);
		rig_expect_silence(r);
		rig_send_data(r, 1026, 80, "ok", 2); /* the neighbour does not notice */
		rig_pump(r);
		rig_expect_host(other, "ok");
		rig_send_op(r, 1026, 80, PACKET_OP_RST, 0);
		rig_pump(r);
		fd_close(&host);
		fd_close(&other);
		assert_int_equal(rig_counts(r).connections, 0);
	}
	for (uint32_t len = 1; len < PACKET_HEADER_SIZE; len++) /* no whole header */
		assert_true(fake_guest_send_raw(&r->guest,
		                                "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", len));
	rig_expect_silence(r);
	rig_destroy(r);
}

static void port_pairs_can_be_used_again(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	for (int i = 0; i < 50; i++) {
		int host = rig_open_by_guest(r, 1025, 80);
		rig_send_data(r, 1025, 80, "x", 1);
		rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, PACKET_NO_MORE);
		rig_expect(r, PACKET_OP_RST, &p);
		rig_expect_host(host, "x");
		rig_expect_host_eof(host);
		fd_close(&host);
	}
	assert_int_equal(rig_counts(r).connections, 0);
	rig_destroy(r);
}

/* ---- half-closes ---- */

static void guest_half_close_reaches_the_host(void **state)
{
	(void)state;
	struct rig *r = rig_create(true, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_open_by_guest(r, 1025, 80);
	rig_send_data(r, 1025, 80, "request", 7);
	rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, PACKET_NO_SEND);
	rig_pump(r);
	rig_expect_host(host, "request");
	rig_expect_host_eof(host);
	rig_put_host(host, "reply", 5);
	rig_expect(r, PACKET_OP_RW, &p);
	assert_memory_equal(p.payload, "reply", 5);
	fd_close(&host);
	rig_expect(r, PACKET_OP_SHUTDOWN, &p);
	assert_int_equal(p.h.flags, PACKET_NO_SEND);
	rig_expect_silence(r);
	rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, PACKET_NO_MORE);
	rig_expect(r, PACKET_OP_RST, &p);
	assert_int_equal(rig_counts(r).connections, 0);
	rig_destroy(r);
}

static void no_data_after_a_half_close(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_open_by_guest(r, 1025, 80);
	rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, PACKET_NO_SEND);
	rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, 0); /* bits never go away */
	rig_send_data(r, 1025, 80, "more", 4);
	rig_expect(r, PACKET_OP_RST, &p);
	rig_expect_host_eof(host);
	fd_close(&host);
	rig_destroy(r);
}

static void host_half_close_reaches_the_guest(void **state)
{
	(void)state;
	struct rig *r = rig_create(true, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_open_by_guest(r, 1025, 80);
	rig_put_host(host, "all there is", 12);
	assert_int_equal(shutdown(host, SHUT_WR), 0);
	rig_expect(r, PACKET_OP_RW, &p);
	rig_expect(r, PACKET_OP_SHUTDOWN, &p);
	assert_int_equal(p.h.flags, PACKET_NO_SEND);
	rig_send_data(r, 1025, 80, "answer", 6); /* the other direction lives */
	rig_pump(r);
	rig_expect_host(host, "answer");
	rig_expect_silence(r);
	rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, PACKET_NO_SEND); /* both halves, one by one */
	rig_pump(r);
	rig_expect_host_eof(host);
	rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, PACKET_NO_RECEIVE);
	rig_expect(r, PACKET_OP_RST, &p);
	fd_close(&host);
	rig_destroy(r);
}

static void a_guest_that_stops_reading_stops_the_host(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	int host = rig_open_by_guest(r, 1025, 80);
	rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, PACKET_NO_RECEIVE);
	rig_pump(r);
	assert_int_equal(send(host, "x", 1, MSG_NOSIGNAL), -1);
	assert_int_equal(errno, EPIPE);
	rig_send_data(r, 1025, 80, "still here", 10);
	rig_pump(r);
	rig_expect_host(host, "still here");
	fd_close(&host);
	rig_destroy(r);
}

static void a_deaf_host_stops_the_guest(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_open_by_guest(r, 1025, 80);
	assert_int_equal(shutdown(host, SHUT_RD), 0);
	rig_send_data(r, 1025, 80, "unheard", 7);
	rig_expect(r, PACKET_OP_SHUTDOWN, &p);
	assert_int_equal(p.h.flags, PACKET_NO_RECEIVE);
	rig_put_host(host, "but it talks", 12);
	rig_expect(r, PACKET_OP_RW, &p);
	fd_close(&host);
	rig_expect(r, PACKET_OP_SHUTDOWN, &p);
	assert_int_equal(p.h.flags, PACKET_NO_MORE);
	rig_destroy(r);
}

/* The host answers and closes without reading the request: the answer still arrives, whole. */
static void host_closes_early_without_losing_its_answer(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, 1);
	struct fake_packet p;
	static char answer[7728];
	int host = rig_open_by_guest(r, 1025, 80);
	memset(answer, 'a', sizeof(answer));
	rig_put_host(host, answer, sizeof(answer));
	fd_close(&host);
	rig_send_data(r, 1025, 80, "request", 7);
	uint32_t got = 0;
	for (;;) {
		rig_pump(r);
		assert_true(fake_guest_receive(&r->guest, &p, false));
		if (p.h.op == PACKET_OP_SHUTDOWN && p.h.flags & PACKET_NO_SEND)
			break;
		if (p.h.op == PACKET_OP_SHUTDOWN)
			assert_int_equal(p.h.flags, PACKET_NO_RECEIVE);
		else
			assert_int_equal(p.h.op, PACKET_OP_RW);
		got += p.h.op == PACKET_OP_RW ? p.h.len : 0;
	}
	assert_int_equal(got, sizeof(answer));
	assert_int_equal(p.h.flags, PACKET_NO_MORE);
	rig_send_data(r, 1025, 80, "more", 4); /* is thrown away, which is no reason for anything worse */
	rig_expect_silence(r);
	rig_send_op(r, 1025, 80, PACKET_OP_RST, 0);
	rig_expect_silence(r);
	assert_int_equal(rig_counts(r).connections, 0);
	rig_destroy(r);
}

/* ---- connections of the host ---- */

static void host_talks_to_guest(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_host_connects(r, "CONNECT 9001\nglued");
	rig_expect(r, PACKET_OP_REQUEST, &p);
	assert_int_equal(p.h.dst_port, 9001);
	assert_true(p.h.src_port >= TABLE_HOST_PORT && p.h.src_port < 2 * TABLE_HOST_PORT);
	assert_int_equal(p.h.buf_alloc, RIG_WINDOW);
	uint32_t port = p.h.src_port;
	rig_expect_silence(r); /* no data before the guest has agreed */
	rig_send_op(r, 9001, port, PACKET_OP_RESPONSE, 0);
	rig_expect(r, PACKET_OP_RW, &p);
	assert_int_equal(p.h.len, 5);
	assert_memory_equal(p.payload, "glued", 5);
	char ok[HYBRID_OK_SIZE];
	hybrid_format_ok(ok, port);
	rig_expect_host(host, ok);
	rig_send_data(r, 9001, port, "hi", 2);
	rig_pump(r);
	rig_expect_host(host, "hi");
	fd_close(&host);
	rig_destroy(r);
}

static void connect_line_may_come_in_pieces(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	const char *text = "cOnNeCt 00000000000000000009001\n";
	assert_int_equal(strlen(text), HYBRID_LINE_MAX);
	int host = rig_host_connects(r, "");
	for (const char *c = text; *c; c++) {
		rig_expect_silence(r);
		rig_put_host(host, c, 1);
	}
	rig_expect(r, PACKET_OP_REQUEST, &p);
	assert_int_equal(p.h.dst_port, 9001);
	fd_close(&host);
	rig_destroy(r);
}

static void bad_connect_lines_are_closed(void **state)
{
	(void)state;
	static const char *const BAD[] = {"\n",
	                                  "GET / HTTP/1.1\n",
	                                  "CONNECT 9001 \n",
	                                  "CONNECT 99999999999\n",
	                                  "CONNECT 000000000000000000009001\n",
	                                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	                                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		char c;
		int host = rig_host_connects(r, BAD[i]);
		rig_expect_silence(r);
		assert_true(recv(host, &c, 1, 0) == 0 || errno == ECONNRESET);
		fd_close(&host);
		assert_int_equal(rig_counts(r).connections, 0);
	}
	int host = rig_host_connects(r, "CONN"); /* gone before the line was whole */
	rig_pump(r);
	fd_close(&host);
	rig_expect_silence(r);
	assert_int_equal(rig_counts(r).connections, 0);
	rig_destroy(r);
}

static void refusal_by_the_guest_closes_without_a_word(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_host_connects(r, "CONNECT 9001\n");
	rig_expect(r, PACKET_OP_REQUEST, &p);
	rig_send_op(r, 9001, p.h.src_port, PACKET_OP_RST, 0);
	rig_expect_silence(r);
	rig_expect_host_eof(host);
	fd_close(&host);
	/* A host that does not wait for the answer. */
	host = rig_host_connects(r, "CONNECT 9001\n");
	rig_expect(r, PACKET_OP_REQUEST, &p);
	fd_close(&host);
	rig_send_op(r, 9001, p.h.src_port, PACKET_OP_RESPONSE, 0);
	rig_expect(r, PACKET_OP_RST, &p);
	/* Data instead of an answer. */
	host = rig_host_connects(r, "CONNECT 9001\n");
	rig_expect(r, PACKET_OP_REQUEST, &p);
	rig_send_data(r, 9001, p.h.src_port, "x", 1);
	rig_expect(r, PACKET_OP_RST, &p);
	rig_expect_host_eof(host);
	fd_close(&host);
	assert_int_equal(rig_counts(r).connections, 0);
	rig_destroy(r);
}

/* Slow hosts and silent guests: both deadlines run side by side. */
static void handshakes_have_deadlines(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	uint64_t deadline = clock_mono_ms() + RIG_DEADLINE_MS;
	int slow = rig_host_connects(r, "CONN"), patient = rig_host_connects(r, "CONNECT 9001\n");
	rig_expect(r, PACKET_OP_REQUEST, &p);
	assert_int_equal(rig_counts(r).connections, 2);
	while (rig_counts(r).connections == 2 && clock_mono_ms() < deadline)
		loop_turn(r->loop, false);
	rig_expect_host_eof(slow);
	while (rig_counts(r).connections == 1 && clock_mono_ms() < deadline)
		loop_turn(r->loop, false);
	rig_expect_host_eof(patient);
	struct fake_packet rst;
	rig_expect(r, PACKET_OP_RST, &rst);
	rig_send_op(r, 9001, p.h.src_port, PACKET_OP_RESPONSE, 0); /* late */
	rig_expect(r, PACKET_OP_RST, &rst);
	fd_close(&slow);
	fd_close(&patient);
	rig_destroy(r);
}

static void hosts_are_turned_away_without_a_driver(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	virtqueue_stop(&r->tx);
	int host = rig_host_connects(r, "");
	rig_expect_host_eof(host);
	fd_close(&host);
	rig_destroy(r);
}

/* ---- the guest goes away, or goes mad ---- */

static void a_reboot_ends_all_connections(void **state)
{
	(void)state;
	struct rig *r = rig_create(true, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_open_by_guest(r, 1025, 80), waiting = rig_host_connects(r, "CONNECT 9001\n");
	rig_expect(r, PACKET_OP_REQUEST, &p);
	rig_send_data(r, 1025, 80, "last words", 10);
	rig_pump(r);
	virtqueue_stop(&r->rx);
	virtqueue_stop(&r->tx);
	device_forget_guest(r->device);
	rig_pump(r);
	rig_expect_host(host, "last words");
	rig_expect_host_eof(host);
	rig_expect_host_eof(waiting);
	fd_close(&host);
	fd_close(&waiting);
	assert_int_equal(rig_counts(r).connections, 0);
	fake_guest_reboot(&r->guest);
	r->guest.indirect = true;
	rig_start_queues(r);
	fake_guest_post(&r->guest, RIG_ENTRIES);
	rig_expect_silence(r);
	host = rig_open_by_guest(r, 1025, 80);
	fd_close(&host);
	rig_destroy(r);
}

static void a_broken_ring_stops_only_itself(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	int host = rig_open_by_guest(r, 1025, 80);
	r->guest.tx.avail[1] = (uint16_t)(r->guest.tx.avail_idx + 1000);
	rig_pump(r);
	assert_int_equal(r->tx.state, VIRTQUEUE_BROKEN);
	assert_true(r->tx.reported);
	rig_put_host(host, "nobody listens", 14);
	rig_pump(r);
	rig_expect_sleep(r);
	int late = rig_host_connects(r, "");
	rig_expect_host_eof(late);
	fd_close(&late);
	fd_close(&host);
	rig_destroy(r);
}

/* QEMU stops the rings of a VM that is paused: what the host says meanwhile waits, and nobody burns a processor for it. */
static void a_paused_guest_costs_nothing(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_open_by_guest(r, 1025, 80), quiet = rig_open_by_guest(r, 1026, 80);
	virtqueue_stop(&r->rx);
	virtqueue_stop(&r->tx);
	rig_put_host(host, "wait for me", 11);
	rig_pump(r);
	rig_expect_sleep(r);
	rig_resume_queues(r);
	rig_expect(r, PACKET_OP_RW, &p);
	assert_int_equal(p.h.len, 11);
	rig_put_host(host, "again", 5); /* and all go on as before */
	rig_put_host(quiet, "me too", 6);
	rig_expect(r, PACKET_OP_RW, &p);
	rig_expect(r, PACKET_OP_RW, &p);
	rig_expect_sleep(r);
	fd_close(&host);
	fd_close(&quiet);
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(guest_talks_to_host),
	    cmocka_unit_test(refused_ports_answer_at_once),
	    cmocka_unit_test(a_full_backlog_is_tried_again),
	    cmocka_unit_test(strangers_get_a_reset),
	    cmocka_unit_test(forged_addresses_get_nothing),
	    cmocka_unit_test(broken_packets_reset_their_connection),
	    cmocka_unit_test(port_pairs_can_be_used_again),
	    cmocka_unit_test(guest_half_close_reaches_the_host),
	    cmocka_unit_test(no_data_after_a_half_close),
	    cmocka_unit_test(host_half_close_reaches_the_guest),
	    cmocka_unit_test(a_guest_that_stops_reading_stops_the_host),
	    cmocka_unit_test(a_deaf_host_stops_the_guest),
	    cmocka_unit_test(host_closes_early_without_losing_its_answer),
	    cmocka_unit_test(host_talks_to_guest),
	    cmocka_unit_test(connect_line_may_come_in_pieces),
	    cmocka_unit_test(bad_connect_lines_are_closed),
	    cmocka_unit_test(refusal_by_the_guest_closes_without_a_word),
	    cmocka_unit_test(handshakes_have_deadlines),
	    cmocka_unit_test(hosts_are_turned_away_without_a_driver),
	    cmocka_unit_test(a_reboot_ends_all_connections),
	    cmocka_unit_test(a_broken_ring_stops_only_itself),
	    cmocka_unit_test(a_paused_guest_costs_nothing),
	};
	loop_destroy(loop_create()); /* the first loop of a process opens descriptors that stay */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
