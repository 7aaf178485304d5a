/* core/vsock/device and connection: credit, receive buffers, and streams that arrive whole. */
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

/* ---- credit ---- */

static uint32_t drain_packets(struct rig *r, unsigned *packets, unsigned *requests)
{
	struct fake_packet p;
	uint32_t got = 0;
	rig_pump(r);
	while (fake_guest_receive(&r->guest, &p, false)) {
		if (p.h.op == PACKET_OP_RW) {
			got += p.h.len;
			(*packets)++;
		}
		*requests += p.h.op == PACKET_OP_CREDIT_REQUEST;
		rig_pump(r);
	}
	return got;
}

static void the_guest_is_never_sent_more_than_it_holds(void **state)
{
	(void)state;
	struct rig *r = rig_create(true, 10, RIG_ENTRIES);
	unsigned packets = 0, requests = 0;
	r->guest.buf_alloc = 20000;
	int host = rig_open_by_guest(r, 1025, 80);
	size_t stuffed = rig_stuff_host(host);
	assert_true(stuffed > 60000);
	assert_int_equal(drain_packets(r, &packets, &requests), 20000);
	assert_int_equal(packets, 6);
	rig_send_credit(r, 1025, 80, 4095); /* a sliver: better to wait */
	assert_int_equal(drain_packets(r, &packets, &requests), 0);
	rig_send_credit(r, 1025, 80, 4096);
	assert_int_equal(drain_packets(r, &packets, &requests), 4096);
	rig_send_credit(r, 1025, 80, 24096);
	assert_int_equal(drain_packets(r, &packets, &requests), 20000);
	rig_send_credit(r, 1025, 80, 99999999); /* nonsense is no credit */
	assert_int_equal(drain_packets(r, &packets, &requests), 0);
	rig_send_credit(r, 1025, 80, 44096);
	assert_int_equal(drain_packets(r, &packets, &requests), 20000);
	fd_close(&host);
	rig_destroy(r);
}

static void a_sliver_is_sent_if_it_is_all_there_is(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	unsigned packets = 0, requests = 0;
	r->guest.buf_alloc = 10000;
	int host = rig_open_by_guest(r, 1025, 80);
	static char block[9000];
	rig_put_host(host, block, sizeof(block));
	assert_int_equal(drain_packets(r, &packets, &requests), 9000);
	rig_put_host(host, block, 1001);
	assert_int_equal(drain_packets(r, &packets, &requests), 0);
	rig_send_credit(r, 1025, 80, 1); /* now it fits, and nothing is behind it */
	assert_int_equal(drain_packets(r, &packets, &requests), 1001);
	fd_close(&host);
	rig_destroy(r);
}

static void credit_is_asked_for_when_it_is_short(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	unsigned packets = 0, requests = 0;
	uint64_t deadline = clock_mono_ms() + RIG_DEADLINE_MS;
	r->guest.buf_alloc = 10000;
	int host = rig_open_by_guest(r, 1025, 80);
	rig_stuff_host(host);
	uint32_t got = drain_packets(r, &packets, &requests);
	while (requests < 3 && clock_mono_ms() < deadline) {
		loop_turn(r->loop, false);
		assert_int_equal(drain_packets(r, &packets, &requests), 0);
	}
	assert_int_equal(requests, 3);
	rig_send_credit(r, 1025, 80, got);
	assert_true(drain_packets(r, &packets, &requests) > 5000);
	fd_close(&host);
	rig_destroy(r);
}

static void small_packets_are_counted(void **state)
{
	(void)state;
	struct rig *r = rig_create(true, 10, RIG_ENTRIES);
	unsigned packets = 0, requests = 0;
	int host = rig_open_by_guest(r, 1025, 80);
	for (int i = 0; i < 400; i++) { /* one by one, so that each is a packet */
		ssize_t n = send(host, "x", 1, MSG_NOSIGNAL);
		assert_true(n == 1 || errno == EAGAIN);
		drain_packets(r, &packets, &requests);
	}
	assert_int_equal(packets, CREDIT_MOST_PACKETS);
	assert_true(requests >= 1); /* once at half, and again when dry */
	rig_send_credit(r, 1025, 80, CREDIT_MOST_PACKETS);
	assert_true(drain_packets(r, &packets, &requests) > 0);
	fd_close(&host);
	rig_destroy(r);
}

static void a_guest_that_overruns_is_reset(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	static char block[PACKET_MAX_PAYLOAD];
	int host = rig_open_by_guest(r, 1025, 80);
	rig_stuff_host(r->host); /* nothing: there is none */
	/* Nobody reads at the host: its socket takes some, we hold a window, and no byte more. */
	uint32_t sent = 0;
	for (int i = 0; i < 64; i++) {
		rig_send_data(r, 1025, 80, block, sizeof(block));
		rig_pump(r);
		if (fake_guest_receive(&r->guest, &p, false) && p.h.op == PACKET_OP_RST)
			break;
		sent += (uint32_t)sizeof(block);
	}
	assert_int_equal(p.h.op, PACKET_OP_RST);
	assert_true(sent >= RIG_WINDOW && sent < 4 * RIG_WINDOW);
	rig_expect_silence(r);
	assert_int_equal(rig_counts(r).connections, 0);
	fd_close(&host);
	rig_destroy(r);
}

static void the_guest_hears_of_room(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	static char block[PACKET_MAX_PAYLOAD];
	int host = rig_open_by_guest(r, 1025, 80);
	rig_send_data(r, 1025, 80, block, sizeof(block));
	rig_expect_silence(r); /* a quarter of the window: not yet */
	rig_send_data(r, 1025, 80, block, sizeof(block));
	rig_expect(r, PACKET_OP_CREDIT_UPDATE, &p);
	assert_int_equal(p.h.fwd_cnt, 2 * sizeof(block));
	rig_expect_silence(r);
	rig_send_op(r, 1025, 80, PACKET_OP_CREDIT_REQUEST, 0);
	rig_expect(r, PACKET_OP_CREDIT_UPDATE, &p);
	fd_close(&host);
	rig_destroy(r);
}

/* A host that reads late: what the guest had sent before it closed, or half-closed, is written to the last byte. */
static void check_slow_host(uint32_t how)
{
	struct rig *r = rig_create(true, 10, RIG_ENTRIES);
	struct fake_packet p;
	static uint8_t block[PACKET_MAX_PAYLOAD], got[PACKET_MAX_PAYLOAD];
	int host = rig_open_by_guest(r, 1025, 80), again = -1;
	uint32_t sent = 0, read = 0;
	for (; sent < RIG_WINDOW; sent += (uint32_t)sizeof(block)) {
		for (uint32_t i = 0; i < sizeof(block); i++)
			block[i] = (uint8_t)((sent + i) * 2654435761u >> 13);
		rig_send_data(r, 1025, 80, block, sizeof(block));
		rig_pump(r);
	}
	rig_send_op(r, 1025, 80, PACKET_OP_SHUTDOWN, how);
	if (how == PACKET_NO_MORE) {
		do { /* credit, and then the RST that ends it for the guest */
			rig_pump(r);
			assert_true(fake_guest_receive(&r->guest, &p, false));
		} while (p.h.op != PACKET_OP_RST);
		again = rig_open_by_guest(r, 1025, 80); /* the ports are free, though the host has not read */
	}
	for (;;) {
		ssize_t n = recv(host, got, sizeof(got), 0);
		if (n == 0)
			break;
		if (n < 0) {
			assert_int_equal(errno, EAGAIN);
			rig_pump(r);
			continue;
		}
		for (ssize_t i = 0; i < n; i++, read++)
			assert_int_equal(got[i], (uint8_t)(read * 2654435761u >> 13));
	}
	assert_int_equal(read, sent);
	assert_int_equal(rig_counts(r).connections, 1); /* `again`, or the half that is left */
	fd_close(&host);
	fd_close(&again);
	rig_destroy(r);
}

static void a_slow_host_gets_everything(void **state)
{
	(void)state;
	check_slow_host(PACKET_NO_MORE);
	check_slow_host(PACKET_NO_SEND);
}

/* ---- receive buffers ---- */

static void resets_come_before_data(void **state)
{
	(void)state;
	struct rig *r = rig_create(true, 10, 1);
	struct fake_packet p;
	int host = rig_open_by_guest(r, 1025, 80);
	assert_true(fake_guest_outstanding(&r->guest, &r->guest.rx) == 1);
	rig_stuff_host(host);
	rig_pump(r);
	assert_true(fake_guest_receive(&r->guest, &p, true)); /* one packet of data; no buffer is left */
	assert_int_equal(p.h.op, PACKET_OP_RW);
	rig_send_op(r, 1026, RIG_REFUSED_PORT, PACKET_OP_REQUEST, 0);
	rig_send_op(r, 1027, 80, PACKET_OP_REQUEST, 0);
	rig_send_op(r, 1028, 80, PACKET_OP_RW, 0); /* a stranger */
	rig_pump(r);
	assert_false(fake_guest_receive(&r->guest, &p, true));
	static const uint16_t WANTED[] = {PACKET_OP_RST, PACKET_OP_RST, PACKET_OP_RESPONSE, PACKET_OP_RW};
	unsigned seen[PACKET_OP_COUNT] = {0};
	for (size_t i = 0; i < ARRAY_LEN(WANTED); i++) {
		fake_guest_post(&r->guest, 1);
		assert_true(fake_guest_must_kick(&r->guest, &r->guest.rx)); /* the device waits for it */
		rig_pump(r);
		assert_true(fake_guest_receive(&r->guest, &p, true));
		seen[p.h.op]++;
		assert_int_equal(p.h.op == PACKET_OP_RW, i == ARRAY_LEN(WANTED) - 1);
	}
	assert_int_equal(seen[PACKET_OP_RST], 2);
	assert_int_equal(seen[PACKET_OP_RESPONSE], 1);
	fd_close(&host);
	rig_destroy(r);
}

static void scarce_buffers_are_shared_out(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, 1);
	int host[3];
	unsigned got[3] = {0};
	struct fake_packet p;
	for (uint32_t i = 0; i < ARRAY_LEN(host); i++) {
		host[i] = rig_open_by_guest(r, 1025 + i, 80);
		rig_stuff_host(host[i]);
	}
	for (unsigned i = 0; i < 30; i++) {
		rig_pump(r);
		assert_true(fake_guest_receive(&r->guest, &p, false));
		assert_int_equal(p.h.op, PACKET_OP_RW);
		got[p.h.dst_port - 1025]++;
	}
	for (unsigned i = 0; i < ARRAY_LEN(host); i++) {
		assert_int_equal(got[i], 10);
		fd_close(&host[i]);
	}
	rig_destroy(r);
}

static void useless_buffers_are_given_back(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, 0);
	struct fake_packet p;
	rig_send_op(r, 1025, RIG_REFUSED_PORT, PACKET_OP_REQUEST, 0);
	fake_guest_post(&r->guest, 3);
	r->guest.rx.desc[0].len = PACKET_HEADER_SIZE - 1;
	r->guest.rx.desc[1].flags = 0; /* not writable */
	rig_pump(r);
	for (int i = 0; i < 3; i++) {
		assert_true(fake_guest_receive(&r->guest, &p, true));
		assert_int_equal(p.h.op, i < 2 ? 0 : PACKET_OP_RST);
	}
	rig_destroy(r);
}

/* A useless buffer between good ones, and less data than buffers: what was taken in vain goes back in order. */
static void useless_buffers_keep_their_place(void **state)
{
	(void)state;
	static const uint16_t WANTED[] = {PACKET_OP_RW, PACKET_OP_RW, 0, PACKET_OP_RW};
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	struct fake_packet p;
	int host = rig_open_by_guest(r, 1025, 80);
	r->guest.rx.desc[3].len = PACKET_HEADER_SIZE; /* the third from here: no room for data */
	for (size_t i = 0; i < ARRAY_LEN(WANTED); i++) {
		if (WANTED[i])
			rig_put_host(host, "hello", 5);
		rig_pump(r);
		if (!WANTED[i])
			continue;
		do
			assert_true(fake_guest_receive(&r->guest, &p, false));
		while (p.h.op == 0 && i == ARRAY_LEN(WANTED) - 1);
		assert_int_equal(p.h.op, WANTED[i]);
		assert_int_equal(p.h.len, 5);
	}
	fd_close(&host);
	rig_destroy(r);
}

/* Buffers run out, come back, everything is read; then more comes: the socket must be polled again. */
static void a_parked_connection_wakes_up(void **state)
{
	(void)state;
	struct rig *r = rig_create(true, 10, 1);
	struct fake_packet p;
	static char block[8000];
	uint32_t got = 0;
	int host = rig_open_by_guest(r, 1025, 80);
	rig_put_host(host, block, sizeof(block));
	rig_pump(r);
	assert_true(fake_guest_receive(&r->guest, &p, true));
	got += p.h.len;
	rig_pump(r);
	fake_guest_post(&r->guest, 20);
	rig_pump(r);
	while (fake_guest_receive(&r->guest, &p, false))
		got += p.h.len;
	assert_int_equal(got, sizeof(block));
	rig_put_host(host, "more", 4);
	rig_expect(r, PACKET_OP_RW, &p);
	assert_int_equal(p.h.len, 4);
	fd_close(&host);
	rig_destroy(r);
}

/* Receive buffers in odd pieces: the header split in three, payload in two. */
static void split_buffers_are_filled(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, RIG_ENTRIES);
	int host = rig_open_by_guest(r, 1025, 80);
	struct fake_desc *d = r->guest.rx.desc;
	uint64_t at = d[1].addr; /* the next buffer in the ring */
	d[1] = (struct fake_desc){.addr = at, .len = 1, .flags = FAKE_WRITE | FAKE_NEXT, .next = 120};
	d[120] = (struct fake_desc){.addr = at + 1, .len = 40, .flags = FAKE_WRITE | FAKE_NEXT, .next = 121};
	d[121] = (struct fake_desc){.addr = at + 41, .len = 5, .flags = FAKE_WRITE | FAKE_NEXT, .next = 122};
	d[122] = (struct fake_desc){.addr = at + 46, .len = 100, .flags = FAKE_WRITE};
	rig_put_host(host, "hello", 5);
	struct fake_packet p;
	rig_expect(r, PACKET_OP_RW, &p);
	assert_int_equal(p.h.len, 5);
	assert_memory_equal(p.payload, "hello", 5);
	fd_close(&host);
	rig_destroy(r);
}

static void too_many_resets_are_dropped(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 10, 0);
	unsigned resets = 0;
	struct fake_packet p;
	for (uint32_t i = 0; i < TABLE_RESETS + 50; i++) {
		rig_send_op(r, i, 80, PACKET_OP_RW, 0);
		rig_pump(r);
	}
	assert_int_equal(rig_counts(r).dropped_resets, 50);
	fake_guest_post(&r->guest, RIG_ENTRIES);
	rig_pump(r);
	while (fake_guest_receive(&r->guest, &p, false)) {
		resets += p.h.op == PACKET_OP_RST;
		rig_pump(r);
	}
	assert_int_equal(resets, TABLE_RESETS);
	rig_destroy(r);
}

static void connections_are_limited(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 3, RIG_ENTRIES);
	struct fake_packet p;
	int host[3];
	for (uint32_t i = 0; i < 3; i++)
		host[i] = rig_open_by_guest(r, i, 80);
	rig_send_op(r, 99, 80, PACKET_OP_REQUEST, 0);
	rig_expect(r, PACKET_OP_RST, &p);
	assert_int_equal(p.h.dst_port, 99);
	assert_int_equal(r->dials, 3); /* not even tried */
	int turned_away = rig_host_connects(r, "");
	rig_expect_host_eof(turned_away);
	fd_close(&turned_away);
	rig_send_op(r, 0, 80, PACKET_OP_RST, 0);
	rig_pump(r);
	int again = rig_open_by_guest(r, 99, 80);
	for (int i = 0; i < 3; i++)
		fd_close(&host[i]);
	fd_close(&again);
	rig_destroy(r);
}

static void later_connections_get_smaller_windows(void **state)
{
	(void)state;
	struct rig *r = rig_create(false, 100, RIG_ENTRIES);
	int host[65];
	struct fake_packet p;
	for (uint32_t i = 0; i < ARRAY_LEN(host); i++) {
		rig_send_op(r, i, 80, PACKET_OP_REQUEST, 0);
		rig_expect(r, PACKET_OP_RESPONSE, &p);
		assert_int_equal(p.h.buf_alloc, i < 64 ? RIG_WINDOW : RIG_WINDOW / 8);
		host[i] = r->host;
		r->host = -1;
	}
	for (uint32_t i = 0; i < ARRAY_LEN(host); i++)
		fd_close(&host[i]);
	rig_destroy(r);
}

/* Bytes in are bytes out, both ways at once, through small windows, odd sizes and few buffers. */
static void long_streams_arrive_whole(void **state)
{
	(void)state;
	enum { TOTAL = 3 << 20 };
	struct rig *r = rig_create(true, 10, 17);
	struct fake_packet p;
	static uint8_t out[8192], in[8192];
	uint32_t seed = 1, to_host = 0, at_host = 0, to_guest = 0, at_guest = 0, host_fwd = 0;
	r->guest.buf_alloc = 50000;
	int host = rig_open_by_guest(r, 1025, 80);
	while (at_host < TOTAL || at_guest < TOTAL) {
		seed = seed * 1103515245u + 12345u;
		uint32_t len = MIN(seed >> 19, (uint32_t)TOTAL - to_host);
		if (len && RIG_WINDOW - (to_host - host_fwd) >= len) {
			for (uint32_t i = 0; i < len; i++)
				out[i] = (uint8_t)((to_host + i) * 2654435761u >> 13);
			const struct packet_header h = {.src_port = 1025,
			                                .dst_port = 80,
			                                .op = PACKET_OP_RW,
			                                .len = len,
			                                .fwd_cnt = at_guest};
			if (fake_guest_send(&r->guest, h, out))
				to_host += len;
		} else {
			rig_send_credit(r, 1025, 80, at_guest);
		}
		len = MIN(seed >> 20, (uint32_t)TOTAL - to_guest);
		for (uint32_t i = 0; i < len; i++)
			out[i] = (uint8_t)((to_guest + i) * 2654435761u >> 11);
		ssize_t n = len ? send(host, out, len, MSG_NOSIGNAL) : 0;
		to_guest += n > 0 ? (uint32_t)n : 0;
		rig_pump(r);
		while (fake_guest_receive(&r->guest, &p, false)) {
			host_fwd = p.h.fwd_cnt;
			for (uint32_t i = 0; p.h.op == PACKET_OP_RW && i < p.h.len; i++, at_guest++)
				assert_int_equal(p.payload[i], (uint8_t)(at_guest * 2654435761u >> 11));
		}
		n = recv(host, in, seed & 8191, 0);
		for (ssize_t i = 0; i < n; i++, at_host++)
			assert_int_equal(in[i], (uint8_t)(at_host * 2654435761u >> 13));
	}
	assert_int_equal(at_host, TOTAL);
	assert_int_equal(at_guest, TOTAL);
	assert_int_equal(rig_counts(r).bytes_from_guest, TOTAL);
	assert_int_equal(rig_counts(r).bytes_to_guest, TOTAL);
	fd_close(&host);
	rig_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_guest_is_never_sent_more_than_it_holds),
	    cmocka_unit_test(a_sliver_is_sent_if_it_is_all_there_is),
	    cmocka_unit_test(credit_is_asked_for_when_it_is_short),
	    cmocka_unit_test(small_packets_are_counted),
	    cmocka_unit_test(a_guest_that_overruns_is_reset),
	    cmocka_unit_test(the_guest_hears_of_room),
	    cmocka_unit_test(a_slow_host_gets_everything),
	    cmocka_unit_test(resets_come_before_data),
	    cmocka_unit_test(scarce_buffers_are_shared_out),
	    cmocka_unit_test(useless_buffers_are_given_back),
	    cmocka_unit_test(useless_buffers_keep_their_place),
	    cmocka_unit_test(a_parked_connection_wakes_up),
	    cmocka_unit_test(split_buffers_are_filled),
	    cmocka_unit_test(too_many_resets_are_dropped),
	    cmocka_unit_test(connections_are_limited),
	    cmocka_unit_test(later_connections_get_smaller_windows),
	    cmocka_unit_test(long_streams_arrive_whole),
	};
	loop_destroy(loop_create()); /* the first loop of a process opens descriptors that stay */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
