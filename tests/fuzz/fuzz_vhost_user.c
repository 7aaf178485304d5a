/* A hostile QEMU: messages of any kind with any descriptors, over a real socket, into the whole backend.
 * Input: for each message a byte that says how many descriptors of which kind come along, a byte of length, bytes. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/loop/loop.h"
#include "core/vsock/backend.h"
#include "core/vsock/device.h"
#include "core/vsock/vhost_user.h"

#define MEMORY_SIZE (1 << 20)
#define MOST_FDS    15

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct loop *loop;
	int memfd, event;
};

static int probe(void)
{
	int fd = dup(STDERR_FILENO);
	int number = fd;
	fd_close(&fd);
	return number;
}

static struct world *world_get(void)
{
	static struct world w;
	if (w.loop)
		return &w;
	w.loop = loop_create();
	log_open("fuzz", -1, LOG_ERROR);
	w.memfd = memfd_create("guest", MFD_CLOEXEC);
	w.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK(ftruncate(w.memfd, MEMORY_SIZE) == 0);
	return &w;
}

static int dial(void *arg, uint32_t port)
{
	(void)arg, (void)port;
	return -ECONNREFUSED;
}

static void on_end(void *arg, const struct err *e)
{
	(void)e;
	*(bool *)arg = true;
}

static void send_message(const struct world *w, int socket, const uint8_t *bytes, size_t len, uint8_t fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(MOST_FDS * sizeof(int))];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	size_t count = fds & MOST_FDS;
	int fd = fds & 0x80 ? w->event : w->memfd;
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
	if (len && sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static void read_answers(int socket)
{
	char sink[4096];
	while (recv(socket, sink, sizeof(sink), MSG_DONTWAIT) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = world_get();
	struct backend_rings rings;
	int sv[2];
	bool ended = false;
	int lowest_free = probe();
	if (size > 4096)
		return -1;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sv) == 0);
	virtqueue_init(&rings.rx);
	virtqueue_init(&rings.tx);
	const struct device_config config = {
	    .cid = 42, .path = "/nonexistent", .most = 4, .rx = &rings.rx, .tx = &rings.tx, .dial = dial};
	struct device *device = device_create(w->loop, &config);
	struct backend *backend = backend_create(w->loop, sv[1], 42, &rings, device, on_end, &ended);
	for (size_t at = 0; at + 2 < size && !ended;) {
		uint8_t fds = data[at], len = data[at + 1];
		at += 2;
		size_t n = MIN((size_t)len, size - at);
		send_message(w, sv[0], data + at, n, fds);
		at += n;
		loop_turn(w->loop, true);
		read_answers(sv[0]);
	}
	fd_close(&sv[0]);
	loop_turn(w->loop, true);
	CHECK(rings.rx.popped == rings.rx.pushed && rings.tx.popped == rings.tx.pushed);
	backend_destroy(backend);
	device_destroy(device);
	loop_turn(w->loop, true);
	eventfd_t n;
	eventfd_read(w->event, &n);
	CHECK(probe() == lowest_free); /* no descriptor was left open */
	return 0;
}
