/* core/vsock, the parts without side effects: header, credit, CONNECT line, memory table, port table. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/vsock/credit.h"
#include "core/vsock/hybrid.h"
#include "core/vsock/memory.h"
#include "core/vsock/packet.h"
#include "core/vsock/table.h"

static void header_is_little_endian(void **state)
{
	(void)state;
	uint8_t bytes[PACKET_HEADER_SIZE], again[PACKET_HEADER_SIZE];
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	struct packet_header h;
	packet_decode(&h, bytes);
	assert_true(h.src_cid == 0x0807060504030201u);
	assert_true(h.dst_cid == 0x100f0e0d0c0b0a09u);
	assert_int_equal(h.src_port, 0x14131211);
	assert_int_equal(h.dst_port, 0x18171615);
	assert_int_equal(h.len, 0x1c1b1a19);
	assert_int_equal(h.type, 0x1e1d);
	assert_int_equal(h.op, 0x201f);
	assert_int_equal(h.flags, 0x24232221);
	assert_int_equal(h.buf_alloc, 0x28272625);
	assert_int_equal(h.fwd_cnt, 0x2c2b2a29);
	packet_encode(again, &h);
	assert_memory_equal(again, bytes, sizeof(bytes));
	assert_string_equal(packet_op_name(PACKET_OP_RW), "rw");
	assert_string_equal(packet_op_name(999), "unknown");
}

static void connect_lines(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		uint32_t port;
	} GOOD[] = {{"CONNECT 9001\n", 9001},
	            {"connect 0\n", 0},
	            {"Connect 4294967294\n", 4294967294u},
	            {"CONNECT 00000000000000000009001\n", 9001}};
	static const char *const BAD[] = {"",
	                                  "\n",
	                                  "CONNECT\n",
	                                  "CONNECT \n",
	                                  "CONNECT 9001",
	                                  "CONNECT  9001\n",
	                                  " CONNECT 9001\n",
	                                  "CONNECT 9001 \n",
	                                  "CONNECT 9001\r\n",
	                                  "CONNECT -1\n",
	                                  "CONNECT +1\n",
	                                  "CONNECT 0x10\n",
	                                  "CONNECT 4294967295\n",
	                                  "CONNECT 4294967296\n",
	                                  "CONNECT 99999999999999999999\n",
	                                  "CONNECT 000000000000000000009001x\n",
	                                  "CONNECT 0000000000000000000000009001\n",
	                                  "OK 1\n"};
	uint32_t port = 0;
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		assert_true(hybrid_parse_connect(GOOD[i].line, strlen(GOOD[i].line), &port));
		assert_int_equal(port, GOOD[i].port);
	}
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
		assert_false(hybrid_parse_connect(BAD[i], strlen(BAD[i]), &port));
	assert_false(hybrid_parse_connect("CONNECT 1\0002\n", 12, &port));
	char ok[HYBRID_OK_SIZE];
	assert_int_equal(hybrid_format_ok(ok, UINT32_MAX), 14);
	assert_string_equal(ok, "OK 4294967295\n");
}

static void socket_paths_leave_room_for_a_port(void **state)
{
	(void)state;
	char path[120];
	memset(path, 'a', sizeof(path));
	for (size_t len = 1; len < sizeof(path) - 1; len++) {
		struct err e = ERR_INIT;
		path[len] = '\0';
		assert_int_equal(hybrid_check_path(path, &e), len + strlen("_4294967295") < 108);
		path[len] = 'a';
	}
}

static void credit_wraps(void **state)
{
	(void)state;
	struct credit c;
	credit_init(&c, 1000);
	c.sent = c.received = c.forwarded = c.announced = UINT32_MAX - 10;
	credit_peer(&c, 100, UINT32_MAX - 10);
	assert_int_equal(credit_bytes(&c), 100);
	credit_sent(&c, 60);
	assert_int_equal(c.sent, 49);
	assert_int_equal(credit_bytes(&c), 40);
	credit_peer(&c, 100, 29); /* read 40 of them */
	assert_int_equal(credit_bytes(&c), 80);
	assert_true(credit_received(&c, 900));
	assert_false(credit_received(&c, 101)); /* more than we hold */
	assert_true(credit_received(&c, 100));
	assert_false(credit_received(&c, UINT32_MAX));
	credit_forwarded(&c, 1000);
	assert_int_equal(c.forwarded, 989);
	credit_finish(&c);
}

static void credit_survives_lies(void **state)
{
	(void)state;
	struct credit c;
	credit_init(&c, 1000);
	credit_peer(&c, 1000, 5); /* read what was never sent */
	assert_int_equal(credit_bytes(&c), 0);
	credit_peer(&c, 0, 0);
	assert_int_equal(credit_bytes(&c), 0);
	assert_true(credit_sliver(&c) > 0);
	credit_peer(&c, 1000, 0);
	credit_sent(&c, 900);
	credit_peer(&c, 100, 0); /* the buffer shrank below what is in flight */
	assert_int_equal(credit_bytes(&c), 0);
	credit_peer(&c, UINT32_MAX, 900);
	assert_true(credit_bytes(&c) == UINT32_MAX);
	assert_int_equal(credit_packets(&c), CREDIT_MOST_PACKETS);
	credit_finish(&c);
}

static void credit_counts_packets(void **state)
{
	(void)state;
	struct credit c;
	credit_init(&c, 262144);
	credit_peer(&c, 262144, 0);
	for (unsigned i = 0; i < 256; i++) {
		assert_int_equal(credit_packets(&c), 256 - i);
		assert_int_equal(credit_packets_are_low(&c), i >= 128);
		credit_sent(&c, 10);
	}
	assert_int_equal(credit_packets(&c), 0);
	assert_true(credit_bytes(&c) > 200000); /* bytes alone would allow more */
	credit_peer(&c, 262144, 9);             /* not even the first is read whole */
	assert_int_equal(credit_packets(&c), 0);
	credit_peer(&c, 262144, 25);
	assert_int_equal(credit_packets(&c), 2);
	credit_peer(&c, 262144, 2560);
	assert_int_equal(credit_packets(&c), 256);
	credit_peer(&c, 10240, 2560);
	assert_int_equal(credit_packets(&c), 10); /* the ceiling follows the guest's buffer */
	credit_peer(&c, 100, 2560);
	assert_int_equal(credit_packets(&c), 1);
	credit_finish(&c);
}

static void credit_update_follows_the_smaller_buffer(void **state)
{
	(void)state;
	static const struct {
		uint32_t ours, theirs, due_at;
	} T[] = {{262144, 262144, 131072},
	         {262144, 4096, 2048},
	         {32768, 262144, 16384},
	         {262144, 1, 1},
	         {262144, 0, 1}};
	for (size_t i = 0; i < ARRAY_LEN(T); i++) {
		struct credit c;
		credit_init(&c, T[i].ours);
		credit_peer(&c, T[i].theirs, 0);
		assert_false(credit_update_is_due(&c));
		assert_true(credit_received(&c, T[i].due_at));
		credit_forwarded(&c, T[i].due_at - 1);
		assert_false(credit_update_is_due(&c));
		credit_forwarded(&c, 1);
		assert_true(credit_update_is_due(&c));
		credit_finish(&c);
	}
}

static void memory_finds_only_what_is_there(void **state)
{
	(void)state;
	static uint8_t a[0x2000], b[0x1000];
	struct memory m;
	struct err e = ERR_INIT;
	uint64_t got = 0;
	memory_init(&m);
	assert_true(memory_add(&m, &(struct memory_region){.gpa = 0x1000, .uva = 0x500000, .size = sizeof(a)},
	                       a, &e));
	assert_true(memory_add(&m, &(struct memory_region){.gpa = 0x3000, .uva = 0x900000, .size = sizeof(b)},
	                       b, &e));
	assert_ptr_equal(memory_at_gpa(&m, 0x1000, 1), a);
	assert_ptr_equal(memory_at_gpa(&m, 0x1000, 0x2000), a);
	assert_null(memory_at_gpa(&m, 0x1000, 0x2001)); /* the next region is adjacent, but elsewhere here */
	assert_null(memory_at_gpa(&m, 0xfff, 1));
	assert_null(memory_at_gpa(&m, 0x4000, 1));
	assert_null(memory_at_gpa(&m, UINT64_MAX, 2));
	assert_null(memory_at_gpa(&m, 0x1800, UINT64_MAX));
	assert_ptr_equal(memory_at_uva(&m, 0x900fff, 1), b + 0xfff);
	assert_null(memory_at_uva(&m, 0x900fff, 2));
	assert_null(memory_at_uva(&m, 0x1000, 1));
	assert_null(memory_at_uva(&m, 0x500001, UINT64_MAX));
	assert_ptr_equal(memory_span(&m, 0x2ff0, 0x100, &got), a + 0x1ff0);
	assert_true(got == 0x10);
	assert_ptr_equal(memory_span(&m, 0x3000, 0x10, &got), b);
	assert_true(got == 0x10);
	memory_finish(&m);
}

static void memory_refuses_bad_regions(void **state)
{
	(void)state;
	static const struct memory_region BAD[] = {
	    {.gpa = 0, .uva = 0x10000, .size = 0},
	    {.gpa = UINT64_MAX - 0xfff, .uva = 0x10000, .size = 0x1000},
	    {.gpa = 0, .uva = UINT64_MAX - 0xfff, .size = 0x2000},
	    {.gpa = 0, .uva = 0x10000, .size = 0x1000, .offset = UINT64_MAX - 0xfff},
	    {.gpa = 0, .uva = 0x10000, .size = 0x1000, .offset = INT64_MAX},
	    {.gpa = 0, .uva = 0x10000, .size = UINT64_MAX},
	    {.gpa = 0x100000, .uva = 0x10000, .size = 0x1000}, /* gpa overlaps */
	    {.gpa = 0, .uva = 0x700fff, .size = 0x1000},       /* uva overlaps */
	    {.gpa = 0, .uva = 0x10000, .size = 0x3000},        /* longer than the file */
	    {.gpa = 0, .uva = 0x10000, .size = 0x1000, .offset = 0x2000},
	    {.gpa = 0, .uva = 0x10000, .size = 0x1000, .offset = 0x800}, /* inside a page */
	};
	int fd = memfd_create("guest", MFD_CLOEXEC);
	struct memory m;
	struct err e = ERR_INIT;
	assert_true(fd >= 0 && ftruncate(fd, 0x2000) == 0);
	memory_init(&m);
	assert_true(memory_map(
	    &m, &(struct memory_region){.gpa = 0x100000, .uva = 0x700000, .size = 0x1000, .offset = 0x1000},
	    fd, &e));
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		assert_false(memory_map(&m, &BAD[i], fd, &e));
		assert_int_equal(m.count, 1);
		err_clear(&e);
	}
	assert_true(pwrite(fd, "x", 1, 0x1000) == 1);
	assert_int_equal(*(char *)memory_at_gpa(&m, 0x100000, 1), 'x');
	for (uint64_t i = 1; i < MEMORY_MOST_REGIONS; i++)
		assert_true(memory_map(
		    &m, &(struct memory_region){.gpa = i << 24, .uva = i << 32, .size = 0x1000}, fd, &e));
	assert_false(
	    memory_map(&m, &(struct memory_region){.gpa = 0, .uva = 0x10000, .size = 0x1000}, fd, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	memory_finish(&m);
	fd_close(&fd);
}

static void table_keeps_pairs_apart(void **state)
{
	(void)state;
	static struct table t;
	static struct connection c[600];
	memset(&t, 0, sizeof(t));
	for (uint32_t i = 0; i < ARRAY_LEN(c); i++) {
		c[i] = (struct connection){.guest_port = i % 20, .host_port = i / 20};
		table_add(&t, &c[i]);
	}
	for (uint32_t i = 0; i < ARRAY_LEN(c); i++)
		assert_ptr_equal(table_find(&t, i % 20, i / 20), &c[i]);
	assert_null(table_find(&t, 20, 0));
	for (uint32_t i = 0; i < ARRAY_LEN(c); i += 2) {
		table_remove(&t, &c[i]);
		table_remove(&t, &c[i]); /* harmless */
	}
	for (uint32_t i = 0; i < ARRAY_LEN(c); i++)
		assert_ptr_equal(table_find(&t, i % 20, i / 20), i % 2 ? &c[i] : NULL);
	/* Host ports stay in their range, wrap and step over pairs in use. */
	t.next_host_port = TABLE_HOST_PORT - 1;
	assert_int_equal(table_new_host_port(&t, 7), (1u << 31) - 1);
	struct connection taken = {.guest_port = 7, .host_port = TABLE_HOST_PORT};
	table_add(&t, &taken);
	assert_int_equal(table_new_host_port(&t, 7), TABLE_HOST_PORT + 1);
}

static void table_bounds_resets(void **state)
{
	(void)state;
	static struct table t;
	memset(&t, 0, sizeof(t));
	for (unsigned round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < TABLE_RESETS; i++)
			assert_true(table_push_reset(&t, i, round));
		assert_false(table_push_reset(&t, 1, 1));
		for (uint32_t i = 0; i < TABLE_RESETS - 5; i++) {
			assert_int_equal(table_first_reset(&t)->guest_port, i);
			table_pop_reset(&t);
		}
		table_drop_resets(&t);
		assert_null(table_first_reset(&t));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(header_is_little_endian),
	    cmocka_unit_test(connect_lines),
	    cmocka_unit_test(socket_paths_leave_room_for_a_port),
	    cmocka_unit_test(credit_wraps),
	    cmocka_unit_test(credit_survives_lies),
	    cmocka_unit_test(credit_counts_packets),
	    cmocka_unit_test(credit_update_follows_the_smaller_buffer),
	    cmocka_unit_test(memory_finds_only_what_is_there),
	    cmocka_unit_test(memory_refuses_bad_regions),
	    cmocka_unit_test(table_keeps_pairs_apart),
	    cmocka_unit_test(table_bounds_resets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
