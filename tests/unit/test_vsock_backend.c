/* core/vsock/backend and channel: a fake QEMU speaks vhost-user over a socket pair. */
#include "tests/lib/test.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/vsock/backend.h"
#include "core/vsock/device.h"
#include "core/vsock/vhost_user.h"
#include "tests/lib/fake_guest.h"

#define NUM     64
#define VERSION VHOST_USER_VERSION
#define ACK     (VHOST_USER_VERSION | VHOST_USER_NEED_REPLY)

enum { RX, TX };

struct qemu {
	struct loop *loop;
	int socket; /* QEMU's end */
	int memfd;
	uint8_t *mem;
	struct fake_guest guest;
	int kick[2], call[2];
	struct backend_rings rings;
	struct device *device;
	struct backend *backend;
	int ended; /* 1: closed, 2: broken */
	int fds_before;
};

static int count_fds(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int dial_nobody(void *arg, uint32_t port)
{
	(void)arg, (void)port;
	return -ECONNREFUSED;
}

static void on_end(void *arg, const struct err *e)
{
	struct qemu *q = arg;
	assert_int_equal(q->ended, 0);
	q->ended = e ? 2 : 1;
}

static int setup(void **state)
{
	struct qemu *q = mem_alloc(sizeof(*q));
	int sv[2];
	q->fds_before = count_fds();
	q->loop = loop_create();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sv), 0);
	q->socket = sv[0];
	q->memfd = memfd_create("guest", MFD_CLOEXEC);
	assert_int_equal(ftruncate(q->memfd, FAKE_GUEST_SIZE), 0);
	q->mem = mmap(NULL, FAKE_GUEST_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, q->memfd, 0);
	assert_true(q->mem != MAP_FAILED);
	fake_guest_init(&q->guest, q->mem, NUM, true);
	for (int i = 0; i < 2; i++) {
		q->kick[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		q->call[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	}
	virtqueue_init(&q->rings.rx);
	virtqueue_init(&q->rings.tx);
	const struct device_config config = {.cid = FAKE_GUEST_CID,
	                                     .path = "/nonexistent/v.sock",
	                                     .most = 10,
	                                     .rx = &q->rings.rx,
	                                     .tx = &q->rings.tx,
	                                     .dial = dial_nobody};
	q->device = device_create(q->loop, &config);
	q->backend = backend_create(q->loop, sv[1], FAKE_GUEST_CID, &q->rings, q->device, on_end, q);
	*state = q;
	return 0;
}

static int teardown(void **state)
{
	struct qemu *q = *state;
	fd_close(&q->socket);
	backend_destroy(q->backend);
	device_destroy(q->device);
	loop_destroy(q->loop);
	munmap(q->mem, FAKE_GUEST_SIZE);
	fd_close(&q->memfd);
	for (int i = 0; i < 2; i++) {
		fd_close(&q->kick[i]);
		fd_close(&q->call[i]);
	}
	int left = count_fds() - q->fds_before;
	free(q);
	return left; /* a descriptor that came with a message and was lost */
}

static void turn(struct qemu *q)
{
	for (int i = 0; i < 3; i++)
		loop_turn(q->loop, true);
}

/* Sends one message with `count` copies of `fd`. */
static void say(struct qemu *q, uint32_t request, uint32_t flags, const void *payload, uint32_t size, int fd,
                size_t count)
{
	uint8_t bytes[VHOST_USER_HEADER_SIZE + VHOST_USER_PAYLOAD_MAX];
	const uint32_t header[3] = {request, flags, size};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control = {0};
	memcpy(bytes, header, sizeof(header));
	if (size)
		memcpy(bytes + sizeof(header), payload, size);
	struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(header) + size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	if (count) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		for (size_t i = 0; i < count; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(fd));
	}
	assert_int_equal(sendmsg(q->socket, &msg, MSG_NOSIGNAL), iov.iov_len);
	turn(q);
}

static void say_u64(struct qemu *q, uint32_t request, uint32_t flags, uint64_t v)
{
	say(q, request, flags, &v, sizeof(v), -1, 0);
}

static void say_state(struct qemu *q, uint32_t request, uint32_t flags, uint32_t index, uint32_t number)
{
	const uint32_t words[2] = {index, number};
	say(q, request, flags, words, sizeof(words), -1, 0);
}

static void say_fd(struct qemu *q, uint32_t request, uint32_t index, int fd)
{
	uint64_t v = index;
	say(q, request, VERSION, &v, sizeof(v), fd, 1);
}

static void expect_answer(struct qemu *q, uint32_t request, const void *payload, uint32_t size)
{
	uint8_t bytes[VHOST_USER_HEADER_SIZE + VHOST_USER_PAYLOAD_MAX];
	const uint32_t header[3] = {request, 5, size};
	assert_int_equal(recv(q->socket, bytes, sizeof(bytes), 0), sizeof(header) + size);
	assert_memory_equal(bytes, header, sizeof(header));
	assert_memory_equal(bytes + sizeof(header), payload, size);
}

static void expect_u64(struct qemu *q, uint32_t request, uint64_t v)
{
	expect_answer(q, request, &v, sizeof(v));
}

static void expect_no_answer(struct qemu *q)
{
	char c;
	assert_int_equal(recv(q->socket, &c, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

/* ---- the transcript of QEMU 7.2 ---- */

static void realize(struct qemu *q)
{
	static const uint8_t CONFIG_REQUEST[20] = {0, 0, 0, 0, 8};
	static const uint8_t CONFIG_ANSWER[20] = {0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, FAKE_GUEST_CID};
	say(q, VHOST_USER_GET_FEATURES, VERSION, NULL, 0, -1, 0);
	expect_u64(q, VHOST_USER_GET_FEATURES,
	           VHOST_F_VERSION_1 | VHOST_F_PROTOCOL_FEATURES | VHOST_F_EVENT_IDX | VHOST_F_INDIRECT_DESC);
	say(q, VHOST_USER_GET_PROTOCOL_FEATURES, VERSION, NULL, 0, -1, 0);
	expect_u64(q, VHOST_USER_GET_PROTOCOL_FEATURES, VHOST_P_REPLY_ACK | VHOST_P_CONFIG);
	say_u64(q, VHOST_USER_SET_PROTOCOL_FEATURES, VERSION, VHOST_P_REPLY_ACK | VHOST_P_CONFIG);
	say(q, VHOST_USER_SET_OWNER, VERSION, NULL, 0, -1, 0);
	for (uint32_t i = 0; i < 2; i++) {
		say_fd(q, VHOST_USER_SET_VRING_CALL, i, q->call[i]);
		say_fd(q, VHOST_USER_SET_VRING_ERR, i, q->call[i]);
	}
	say(q, VHOST_USER_GET_CONFIG, VERSION, CONFIG_REQUEST, sizeof(CONFIG_REQUEST), -1, 0);
	expect_answer(q, VHOST_USER_GET_CONFIG, CONFIG_ANSWER, sizeof(CONFIG_ANSWER));
	expect_no_answer(q);
}

static void say_mem_table(struct qemu *q, uint64_t size, uint64_t expected)
{
	uint64_t table[1 + 2 * 4] = {2,        FAKE_GUEST_GPA,
	                             size / 2, FAKE_GUEST_UVA,
	                             0,        FAKE_GUEST_GPA + size / 2,
	                             size / 2, FAKE_GUEST_UVA + size / 2,
	                             size / 2};
	say(q, VHOST_USER_SET_MEM_TABLE, ACK, table, sizeof(table), q->memfd, 2);
	expect_u64(q, VHOST_USER_SET_MEM_TABLE, expected);
}

static void say_addr(struct qemu *q, uint32_t index, uint64_t desc_uva)
{
	struct virtqueue_layout at;
	fake_guest_layout(&q->guest, index == RX ? &q->guest.rx : &q->guest.tx, &at);
	uint64_t words[5] = {index, desc_uva ? desc_uva : at.desc_uva, at.used_uva, at.avail_uva, 0};
	say(q, VHOST_USER_SET_VRING_ADDR, VERSION, words, sizeof(words), -1, 0);
}

static void driver_ok(struct qemu *q, uint64_t features, const uint32_t base[2])
{
	say_u64(q, VHOST_USER_SET_FEATURES, VERSION, features);
	say_mem_table(q, FAKE_GUEST_SIZE, 0);
	for (uint32_t i = 0; i < 2; i++) {
		say_state(q, VHOST_USER_SET_VRING_NUM, VERSION, i, NUM);
		say_state(q, VHOST_USER_SET_VRING_BASE, VERSION, i, base ? base[i] : 0);
		say_addr(q, i, 0);
		say_fd(q, VHOST_USER_SET_VRING_KICK, i, q->kick[i]);
	}
	if (features & VHOST_F_PROTOCOL_FEATURES) {
		assert_false(virtqueue_is_running(&q->rings.rx)); /* not before they are enabled */
		for (uint32_t i = 0; i < 2; i++)
			say_state(q, VHOST_USER_SET_VRING_ENABLE, VERSION, i, 1);
	}
	for (uint32_t i = 0; i < 2; i++)
		say_fd(q, VHOST_USER_SET_VRING_CALL, i, q->call[i]);
	expect_no_answer(q);
	assert_int_equal(q->ended, 0);
}

#define FEATURES (VHOST_F_VERSION_1 | VHOST_F_PROTOCOL_FEATURES | VHOST_F_EVENT_IDX | VHOST_F_INDIRECT_DESC)

static void stop(struct qemu *q, uint32_t base[2])
{
	uint32_t answer[5];
	for (uint32_t i = 0; i < 2; i++)
		say_state(q, VHOST_USER_SET_VRING_ENABLE, VERSION, i, 0);
	for (uint32_t i = 0; i < 2; i++) {
		say_state(q, VHOST_USER_GET_VRING_BASE, VERSION, i, 0);
		assert_int_equal(recv(q->socket, answer, sizeof(answer), 0), sizeof(answer));
		assert_int_equal(answer[3], i);
		base[i] = answer[4];
	}
	assert_false(virtqueue_is_running(&q->rings.rx) || virtqueue_is_running(&q->rings.tx));
}

/* A refused connection shows that both rings work and that kicks and interrupts arrive. */
static void check_that_it_works(struct qemu *q, uint32_t guest_port)
{
	struct fake_packet p;
	eventfd_t n;
	fake_guest_post(&q->guest, 10);
	const struct packet_header h = {.src_port = guest_port, .dst_port = 80, .op = PACKET_OP_REQUEST};
	assert_true(fake_guest_send(&q->guest, h, NULL));
	assert_true(fake_guest_must_kick(&q->guest, &q->guest.tx));
	assert_int_equal(eventfd_write(q->kick[TX], 1), 0);
	turn(q);
	assert_true(fake_guest_receive(&q->guest, &p, false));
	assert_int_equal(p.h.op, PACKET_OP_RST);
	assert_int_equal(p.h.dst_port, guest_port);
	assert_int_equal(eventfd_read(q->call[RX], &n), 0);
}

static void qemu_7_2(void **state)
{
	struct qemu *q = *state;
	realize(q);
	driver_ok(q, FEATURES, NULL);
	check_that_it_works(q, 1025);
	fd_close(&q->socket);
	turn(q);
	assert_int_equal(q->ended, 1);
}

/* Before 7.2 the device did not accept bit 30, and rings were enabled from the start. */
static void qemu_before_7_2(void **state)
{
	struct qemu *q = *state;
	realize(q);
	driver_ok(q, FEATURES & ~VHOST_F_PROTOCOL_FEATURES, NULL);
	check_that_it_works(q, 1025);
}

/* From 8 on QEMU waits for an answer to the enabling; the ring must then run already. */
static void qemu_8(void **state)
{
	struct qemu *q = *state;
	realize(q);
	say_u64(q, VHOST_USER_SET_FEATURES, ACK, FEATURES);
	expect_u64(q, VHOST_USER_SET_FEATURES, 0);
	say_mem_table(q, FAKE_GUEST_SIZE, 0);
	for (uint32_t i = 0; i < 2; i++) {
		say_state(q, VHOST_USER_SET_VRING_NUM, VERSION, i, NUM);
		say_state(q, VHOST_USER_SET_VRING_BASE, VERSION, i, 0);
		say_addr(q, i, 0);
		say_fd(q, VHOST_USER_SET_VRING_KICK, i, q->kick[i]);
		say_state(q, VHOST_USER_SET_VRING_ENABLE, ACK, i, 1);
		expect_u64(q, VHOST_USER_SET_VRING_ENABLE, 0);
	}
	assert_true(virtqueue_is_running(&q->rings.rx) && virtqueue_is_running(&q->rings.tx));
	check_that_it_works(q, 1025);
}

static int open_connection(struct qemu *q)
{
	int sv[2];
	struct fake_packet p;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sv), 0);
	device_accept(q->device, sv[0]);
	assert_int_equal(send(sv[1], "CONNECT 9001\n", 13, 0), 13);
	turn(q);
	assert_true(fake_guest_receive(&q->guest, &p, false));
	assert_int_equal(p.h.op, PACKET_OP_REQUEST);
	return sv[1];
}

static unsigned connections(struct qemu *q)
{
	struct device_counts c;
	device_get_counts(q->device, &c);
	return c.connections;
}

static void a_reboot_drops_connections(void **state)
{
	struct qemu *q = *state;
	uint32_t base[2];
	realize(q);
	for (unsigned round = 0; round < 3; round++) {
		driver_ok(q, FEATURES, NULL);
		check_that_it_works(q, 1025);
		int host = open_connection(q);
		assert_int_equal(connections(q), 1);
		stop(q, base);
		assert_true(base[RX] && base[TX]);
		fake_guest_reboot(&q->guest);
		driver_ok(q, FEATURES, NULL);
		turn(q);
		char c;
		assert_int_equal(recv(host, &c, 1, 0), 0);
		fd_close(&host);
		assert_int_equal(connections(q), 0);
		check_that_it_works(q, 1026);
		stop(q, base);
		fake_guest_reboot(&q->guest);
	}
}

static void a_pause_keeps_connections(void **state)
{
	struct qemu *q = *state;
	uint32_t base[2];
	realize(q);
	driver_ok(q, FEATURES, NULL);
	check_that_it_works(q, 1025);
	int host = open_connection(q);
	for (unsigned round = 0; round < 3; round++) {
		stop(q, base);
		driver_ok(q, FEATURES, base);
		turn(q);
		assert_int_equal(connections(q), 1);
		check_that_it_works(q, 1026);
	}
	fd_close(&host);
}

/* ---- what a guest can cause through QEMU: refused, and the next try works ---- */

static void silly_rings_are_refused_and_can_be_repaired(void **state)
{
	struct qemu *q = *state;
	static const struct {
		const char *why;
		uint32_t num, base;
		uint64_t desc_uva;
	} BAD[] = {
	    {"no entries", 0, 0, 0},
	    {"not a power of two", 100, 0, 0},
	    {"too many entries", 2048, 0, 0},
	    {"2^31 entries", 1u << 31, 0, 0},
	    {"base over 16 bits", NUM, 65536, 0},
	    {"misaligned", NUM, 0, FAKE_GUEST_UVA + 8},
	    {"outside of memory", NUM, 0, FAKE_GUEST_UVA - 16},
	    {"over the end", NUM, 0, FAKE_GUEST_UVA + FAKE_GUEST_SIZE - 16},
	    {"across two regions", NUM, 0, FAKE_GUEST_UVA + FAKE_GUEST_SIZE / 2 - 16},
	    {"at the top of the address space", NUM, 0, UINT64_MAX - 15},
	};
	uint32_t base[2];
	realize(q);
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		say_u64(q, VHOST_USER_SET_FEATURES, VERSION, FEATURES);
		say_mem_table(q, FAKE_GUEST_SIZE, 0);
		for (uint32_t v = 0; v < 2; v++) {
			say_state(q, VHOST_USER_SET_VRING_NUM, VERSION, v, BAD[i].num);
			say_state(q, VHOST_USER_SET_VRING_BASE, VERSION, v, BAD[i].base);
			say_addr(q, v, BAD[i].desc_uva);
			say_fd(q, VHOST_USER_SET_VRING_KICK, v, q->kick[v]);
			say_state(q, VHOST_USER_SET_VRING_ENABLE, VERSION, v, 1);
		}
		if (q->rings.rx.state != VIRTQUEUE_OFF || q->rings.tx.state != VIRTQUEUE_OFF)
			fail_msg("started: %s", BAD[i].why);
		assert_int_equal(q->ended, 0);
		stop(q, base);
	}
	fake_guest_reboot(&q->guest);
	driver_ok(q, FEATURES, NULL);
	check_that_it_works(q, 1025);
}

static void a_broken_ring_does_not_end_it(void **state)
{
	struct qemu *q = *state;
	uint32_t base[2];
	eventfd_t n;
	realize(q);
	driver_ok(q, FEATURES, NULL);
	while (eventfd_read(q->call[TX], &n) == 0)
		;
	q->guest.tx.avail[1] = 60000;
	assert_int_equal(eventfd_write(q->kick[TX], 1), 0);
	turn(q);
	assert_int_equal(q->rings.tx.state, VIRTQUEUE_BROKEN);
	assert_int_equal(q->ended, 0);
	assert_int_equal(eventfd_read(q->call[TX], &n), 0); /* QEMU hears of it by the err descriptor */
	stop(q, base);
	fake_guest_reboot(&q->guest);
	driver_ok(q, FEATURES, NULL);
	check_that_it_works(q, 1025);
}

static void refused_messages_have_no_effect(void **state)
{
	struct qemu *q = *state;
	realize(q);
	say_u64(q, VHOST_USER_SET_FEATURES, ACK, FEATURES | 2); /* seqpacket was not offered */
	expect_u64(q, VHOST_USER_SET_FEATURES, 1);
	say_u64(q, VHOST_USER_SET_PROTOCOL_FEATURES, ACK, VHOST_P_REPLY_ACK | 1);
	expect_u64(q, VHOST_USER_SET_PROTOCOL_FEATURES, 1);
	say_mem_table(q, 2 * FAKE_GUEST_SIZE, 1); /* longer than the file */
	driver_ok(q, FEATURES, NULL);
	say_mem_table(q, 2 * FAKE_GUEST_SIZE, 1);
	check_that_it_works(q, 1025);                             /* the old table is still there */
	say_state(q, VHOST_USER_SET_VRING_NUM, ACK, TX, NUM / 2); /* a ring that runs is left alone */
	expect_u64(q, VHOST_USER_SET_VRING_NUM, 1);
	say_state(q, VHOST_USER_SET_VRING_BASE, ACK, TX, 0);
	expect_u64(q, VHOST_USER_SET_VRING_BASE, 1);
	say_state(q, VHOST_USER_SET_VRING_ENABLE, ACK, TX, 2);
	expect_u64(q, VHOST_USER_SET_VRING_ENABLE, 1);
	static const uint8_t SET_CONFIG[20] = {0, 0, 0, 0, 8};
	say(q, VHOST_USER_SET_CONFIG, ACK, SET_CONFIG, sizeof(SET_CONFIG), -1, 0);
	expect_u64(q, VHOST_USER_SET_CONFIG, 1);
	static const uint8_t FAR_CONFIG[20] = {4, 0, 0, 0, 8};
	say(q, VHOST_USER_GET_CONFIG, VERSION, FAR_CONFIG, sizeof(FAR_CONFIG), -1, 0);
	expect_answer(q, VHOST_USER_GET_CONFIG, NULL, 0);
	say(q, 40, ACK, NULL, 0, q->memfd, 3); /* something newer */
	expect_u64(q, 40, 1);
	check_that_it_works(q, 1026);
}

/* ---- what ends the connection ---- */

static void expect_broken(struct qemu *q)
{
	turn(q);
	assert_int_equal(q->ended, 2);
}

static void surplus_descriptors_end_it(void **state)
{
	say_fd(*state, VHOST_USER_SET_VRING_NUM, 0, STDERR_FILENO);
	expect_broken(*state);
}

static void many_descriptors_end_it(void **state)
{
	struct qemu *q = *state;
	say(q, 40, ACK, NULL, 0, q->memfd, 64); /* unknown, so that no other check counts them */
	expect_broken(q);
}

/* Eight with the header are the most there can be; more come with the payload, and none may leak. */
static void descriptors_in_two_parts_end_it(void **state)
{
	struct qemu *q = *state;
	uint8_t bytes[VHOST_USER_HEADER_SIZE] = {VHOST_USER_SET_FEATURES, 0, 0, 0, VERSION, 0, 0, 0, 8};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct msghdr msg = {
	    .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	*c = (struct cmsghdr){
	    .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(8 * sizeof(int))};
	for (size_t i = 0; i < 8; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &q->memfd, sizeof(int));
	assert_int_equal(sendmsg(q->socket, &msg, 0), sizeof(bytes));
	turn(q);
	assert_int_equal(q->ended, 0);
	iov.iov_len = 8;
	assert_int_equal(sendmsg(q->socket, &msg, 0), 8);
	expect_broken(q);
}

static void missing_descriptors_end_it(void **state)
{
	say_u64(*state, VHOST_USER_SET_VRING_KICK, VERSION, 0);
	expect_broken(*state);
}

static void a_third_vring_ends_it(void **state)
{
	say_state(*state, VHOST_USER_SET_VRING_NUM, VERSION, 2, NUM);
	expect_broken(*state);
}

static void another_version_ends_it(void **state)
{
	say(*state, VHOST_USER_GET_FEATURES, 2, NULL, 0, -1, 0);
	expect_broken(*state);
}

static void a_cut_message_ends_it(void **state)
{
	struct qemu *q = *state;
	const uint32_t header[3] = {VHOST_USER_SET_FEATURES, VERSION, 8};
	assert_int_equal(send(q->socket, header, sizeof(header), 0), sizeof(header));
	turn(q);
	assert_int_equal(q->ended, 0);
	fd_close(&q->socket);
	expect_broken(q);
}

static void bytes_may_come_one_by_one(void **state)
{
	struct qemu *q = *state;
	const uint32_t message[5] = {VHOST_USER_SET_VRING_NUM, VERSION, 8, 1, NUM};
	realize(q);
	for (size_t i = 0; i < sizeof(message); i++) {
		assert_int_equal(send(q->socket, (const char *)message + i, 1, 0), 1);
		turn(q);
	}
	driver_ok(q, FEATURES, NULL);
	check_that_it_works(q, 1025);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(qemu_7_2),
	    TEST(qemu_before_7_2),
	    TEST(qemu_8),
	    TEST(a_reboot_drops_connections),
	    TEST(a_pause_keeps_connections),
	    TEST(silly_rings_are_refused_and_can_be_repaired),
	    TEST(a_broken_ring_does_not_end_it),
	    TEST(refused_messages_have_no_effect),
	    TEST(surplus_descriptors_end_it),
	    TEST(many_descriptors_end_it),
	    TEST(descriptors_in_two_parts_end_it),
	    TEST(missing_descriptors_end_it),
	    TEST(a_third_vring_ends_it),
	    TEST(another_version_ends_it),
	    TEST(a_cut_message_ends_it),
	    TEST(bytes_may_come_one_by_one),
	};
	loop_destroy(loop_create()); /* the first loop of a process opens descriptors that stay */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
