/* A fake QEMU with a fake guest in front of the real ccvm-vsock: vsock_front SOCKET UDS SCENARIO.
 * Exits 0 when everything was as it should be, aborts with the failed check otherwise. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/vsock/vhost_user.h"
#include "tests/lib/fake_guest.h"

#define DEADLINE_MS 20000
#define FEATURES    (VHOST_F_VERSION_1 | VHOST_F_PROTOCOL_FEATURES | VHOST_F_EVENT_IDX | VHOST_F_INDIRECT_DESC)

struct front {
	const char *uds;
	int qemu, memfd;
	int kick[2], call[2];
	struct fake_guest guest;
};

/* ---- the part of QEMU ---- */

static void say(struct front *f, uint32_t request, const void *payload, uint32_t size, int fd)
{
	uint8_t bytes[VHOST_USER_HEADER_SIZE + VHOST_USER_PAYLOAD_MAX];
	const uint32_t header[3] = {request, VHOST_USER_VERSION, size};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	memcpy(bytes, header, sizeof(header));
	if (size)
		memcpy(bytes + sizeof(header), payload, size);
	struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(header) + size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		*c = (struct cmsghdr){
		    .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	CHECK(sendmsg(f->qemu, &msg, MSG_NOSIGNAL) == (ssize_t)iov.iov_len);
}

static void say_state(struct front *f, uint32_t request, uint32_t index, uint32_t number)
{
	const uint32_t words[2] = {index, number};
	say(f, request, words, sizeof(words), -1);
}

static void start_ring(struct front *f, uint32_t index)
{
	struct virtqueue_layout at;
	uint64_t number = index;
	fake_guest_layout(&f->guest, index ? &f->guest.tx : &f->guest.rx, &at);
	const uint64_t addresses[5] = {index, at.desc_uva, at.used_uva, at.avail_uva, 0};
	say_state(f, VHOST_USER_SET_VRING_NUM, index, at.num);
	say_state(f, VHOST_USER_SET_VRING_BASE, index, 0);
	say(f, VHOST_USER_SET_VRING_ADDR, addresses, sizeof(addresses), -1);
	say(f, VHOST_USER_SET_VRING_KICK, &number, sizeof(number), f->kick[index]);
	say(f, VHOST_USER_SET_VRING_CALL, &number, sizeof(number), f->call[index]);
	say_state(f, VHOST_USER_SET_VRING_ENABLE, index, 1);
}

/* Returns when the rings run: the program has then read everything before the last request. */
static void start(struct front *f, const char *socket_path)
{
	struct err e = ERR_INIT;
	const uint64_t features = FEATURES;
	uint64_t answer[3];
	f->qemu = fd_unix_connect(socket_path, &e);
	if (f->qemu < 0)
		BUG("%s", e.msg);
	f->memfd = memfd_create("guest", MFD_CLOEXEC);
	CHECK(ftruncate(f->memfd, FAKE_GUEST_SIZE) == 0);
	void *mem = mmap(NULL, FAKE_GUEST_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, f->memfd, 0);
	CHECK(mem != MAP_FAILED);
	fake_guest_init(&f->guest, mem, FAKE_GUEST_MOST, true);
	const uint64_t table[5] = {1, FAKE_GUEST_GPA, FAKE_GUEST_SIZE, FAKE_GUEST_UVA, 0};
	say(f, VHOST_USER_SET_FEATURES, &features, sizeof(features), -1);
	say(f, VHOST_USER_SET_MEM_TABLE, table, sizeof(table), f->memfd);
	for (uint32_t i = 0; i < 2; i++) {
		f->kick[i] = eventfd(0, EFD_CLOEXEC);
		f->call[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		start_ring(f, i);
	}
	say(f, VHOST_USER_GET_FEATURES, NULL, 0, -1);
	CHECK(recv(f->qemu, answer, 20, MSG_WAITALL) == 20);
	fake_guest_post(&f->guest, FAKE_GUEST_MOST);
}

/* ---- the part of the guest ---- */

static void kick(struct front *f)
{
	if (fake_guest_must_kick(&f->guest, &f->guest.tx))
		CHECK(eventfd_write(f->kick[1], 1) == 0);
	if (fake_guest_must_kick(&f->guest, &f->guest.rx))
		CHECK(eventfd_write(f->kick[0], 1) == 0);
}

static void send_packet(struct front *f, const struct packet_header *h, const void *payload)
{
	uint64_t deadline = clock_mono_ms() + DEADLINE_MS;
	while (!fake_guest_send(&f->guest, *h, payload)) {
		CHECK(clock_mono_ms() < deadline);
		kick(f);
		poll(&(struct pollfd){.fd = f->call[1], .events = POLLIN}, 1, 10);
	}
	kick(f);
}

static void send_op(struct front *f, uint32_t guest_port, uint32_t host_port, uint16_t op, uint32_t flags)
{
	send_packet(
	    f,
	    &(struct packet_header){.src_port = guest_port, .dst_port = host_port, .op = op, .flags = flags},
	    NULL);
}

static void receive(struct front *f, struct fake_packet *p)
{
	uint64_t deadline = clock_mono_ms() + DEADLINE_MS;
	eventfd_t n;
	while (!fake_guest_receive(&f->guest, p, false)) {
		CHECK(clock_mono_ms() < deadline); /* a lost interrupt shows here, too */
		kick(f);
		if (poll(&(struct pollfd){.fd = f->call[0], .events = POLLIN}, 1, DEADLINE_MS) > 0)
			eventfd_read(f->call[0], &n);
	}
	kick(f);
}

static void expect(struct front *f, uint16_t op, struct fake_packet *p)
{
	receive(f, p);
	if (p->h.op != op)
		BUG("%s instead of %s", packet_op_name(p->h.op), packet_op_name(op));
}

static int listen_on(struct front *f, uint32_t port)
{
	struct err e = ERR_INIT;
	char *path = mem_printf("%s_%u", f->uds, port);
	int fd = fd_unix_listen(path, &e);
	if (fd < 0)
		BUG("%s", e.msg);
	free(path);
	return fd;
}

static void expect_bytes(int fd, const char *text)
{
	char got[64];
	CHECK(fd_read_full(fd, got, strlen(text)) == (ssize_t)strlen(text));
	CHECK(memcmp(got, text, strlen(text)) == 0);
}

/* ---- scenarios ---- */

static void guest_to_host(struct front *f)
{
	struct fake_packet p;
	char c;
	int listener = listen_on(f, 9002);
	send_op(f, 1025, 9003, PACKET_OP_REQUEST, 0); /* nobody listens there */
	expect(f, PACKET_OP_RST, &p);
	send_op(f, 1025, 9002, PACKET_OP_REQUEST, 0);
	expect(f, PACKET_OP_RESPONSE, &p);
	int host = accept(listener, NULL, NULL);
	CHECK(host >= 0);
	send_packet(f,
	            &(struct packet_header){.src_port = 1025, .dst_port = 9002, .op = PACKET_OP_RW, .len = 5},
	            "hello");
	expect_bytes(host, "hello");
	CHECK(write(host, "world", 5) == 5);
	expect(f, PACKET_OP_RW, &p);
	CHECK(p.h.len == 5 && memcmp(p.payload, "world", 5) == 0);
	send_op(f, 1025, 9002, PACKET_OP_SHUTDOWN, PACKET_NO_MORE);
	expect(f, PACKET_OP_RST, &p);
	CHECK(read(host, &c, 1) == 0);
}

static void host_to_guest(struct front *f)
{
	struct err e = ERR_INIT;
	struct fake_packet p;
	char line[32] = "";
	int host = fd_unix_connect(f->uds, &e);
	CHECK(host >= 0 && write(host, "CONNECT 9001\nglued", 18) == 18);
	expect(f, PACKET_OP_REQUEST, &p);
	send_op(f, 9001, p.h.src_port, PACKET_OP_RESPONSE, 0);
	CHECK(read(host, line, sizeof(line) - 1) > 0);
	char *want = mem_printf("OK %u\n", p.h.src_port);
	CHECK(strcmp(line, want) == 0); /* in one piece */
	free(want);
	expect(f, PACKET_OP_RW, &p);
	CHECK(p.h.len == 5 && memcmp(p.payload, "glued", 5) == 0);
	fd_close(&host);
	expect(f, PACKET_OP_SHUTDOWN, &p);
}

/* Connects until it is refused, and says how many it got. */
static void many(struct front *f)
{
	struct rlimit r = {.rlim_cur = 2048, .rlim_max = 2048};
	struct fake_packet p;
	uint32_t count = 0;
	setrlimit(RLIMIT_NOFILE, &r);
	int listener = listen_on(f, 9002);
	for (;; count++) {
		send_op(f, count, 9002, PACKET_OP_REQUEST, 0);
		receive(f, &p);
		if (p.h.op != PACKET_OP_RESPONSE)
			break;
		CHECK(accept(listener, NULL, NULL) >= 0);
	}
	CHECK(p.h.op == PACKET_OP_RST);
	send_op(f, 0, 9002, PACKET_OP_SHUTDOWN, PACKET_NO_MORE); /* one goes, one may come */
	expect(f, PACKET_OP_RST, &p);
	send_op(f, 5000, 9002, PACKET_OP_REQUEST, 0);
	expect(f, PACKET_OP_RESPONSE, &p);
	printf("%u connections\n", count);
}

/* The guest sends, closes, and the VM is gone before the host has read anything. */
static void last_words(struct front *f)
{
	static uint8_t block[PACKET_MAX_PAYLOAD], got[4 * PACKET_MAX_PAYLOAD + 1];
	struct fake_packet p;
	int listener = listen_on(f, 9002);
	send_op(f, 1025, 9002, PACKET_OP_REQUEST, 0);
	expect(f, PACKET_OP_RESPONSE, &p);
	int host = accept(listener, NULL, NULL);
	for (int i = 0; i < 4; i++) {
		memset(block, 'a' + i, sizeof(block));
		send_packet(f,
		            &(struct packet_header){
		                .src_port = 1025, .dst_port = 9002, .op = PACKET_OP_RW, .len = sizeof(block)},
		            block);
	}
	send_op(f, 1025, 9002, PACKET_OP_SHUTDOWN, PACKET_NO_MORE);
	do
		receive(f, &p);
	while (p.h.op != PACKET_OP_RST);
	fd_close(&f->qemu);
	CHECK(fd_read_full(host, got, sizeof(got)) == sizeof(got) - 1);
	CHECK(got[0] == 'a' && got[sizeof(got) - 2] == 'd');
}

static void bad_message(struct front *f)
{
	say_state(f, VHOST_USER_SET_VRING_NUM, 2, 128); /* there are two: 0 and 1 */
	char c;
	CHECK(read(f->qemu, &c, 1) <= 0);
}

/* The guest breaks its ring: QEMU hears of it, and the program stays and goes on answering. */
static void broken_ring(struct front *f)
{
	uint64_t answer[3];
	const uint64_t index = 1;
	struct pollfd err = {.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
	say(f, VHOST_USER_SET_VRING_ERR, &index, sizeof(index), err.fd);
	f->guest.tx.avail[1] = 50000;
	CHECK(eventfd_write(f->kick[1], 1) == 0);
	CHECK(poll(&err, 1, DEADLINE_MS) == 1);
	say(f, VHOST_USER_GET_FEATURES, NULL, 0, -1);
	CHECK(recv(f->qemu, answer, 20, MSG_WAITALL) == 20);
}

static const struct {
	const char *name;
	void (*run)(struct front *f);
} SCENARIOS[] = {
    {"guest-to-host", guest_to_host}, {"host-to-guest", host_to_guest}, {"many", many},
    {"last-words", last_words},       {"bad-message", bad_message},     {"broken-ring", broken_ring}};

int main(int argc, char **argv)
{
	CHECK(argc == 4);
	for (size_t i = 0; i < ARRAY_LEN(SCENARIOS); i++) {
		if (strcmp(argv[3], SCENARIOS[i].name) != 0)
			continue;
		struct front f = {.uds = argv[2]};
		start(&f, argv[1]);
		SCENARIOS[i].run(&f);
		return 0;
	}
	BUG("no scenario %s", argv[3]);
}
