#include "tests/lib/vsock_rig.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/vsock/hybrid.h"
#include "tests/lib/test.h"

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

/* A connected pair; the device's end is returned. */
static int pair(struct rig *r)
{
	int sv[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sv), 0);
	r->host = sv[1];
	return sv[0];
}

static int dial(void *arg, uint32_t port)
{
	struct rig *r = arg;
	r->dials++;
	if (port == RIG_REFUSED_PORT)
		return -ECONNREFUSED;
	if (port == RIG_BUSY_PORT && r->busy-- > 0)
		return -EAGAIN;
	return pair(r);
}

void rig_start_queues(struct rig *r)
{
	struct virtqueue_layout at;
	struct err e = ERR_INIT;
	fake_guest_layout(&r->guest, &r->guest.rx, &at);
	assert_true(virtqueue_start(&r->rx, &r->memory, &at, &e));
	fake_guest_layout(&r->guest, &r->guest.tx, &at);
	assert_true(virtqueue_start(&r->tx, &r->memory, &at, &e));
}

struct rig *rig_create(bool event_idx, unsigned most, unsigned buffers)
{
	struct rig *r = mem_alloc(sizeof(*r));
	struct err e = ERR_INIT;
	r->fds_before = count_fds();
	r->loop = loop_create();
	r->mem = mem_alloc(FAKE_GUEST_SIZE);
	r->host = -1;
	fake_guest_init(&r->guest, r->mem, RIG_ENTRIES, event_idx);
	r->guest.indirect = event_idx; /* both ways of the driver get their turn */
	memory_init(&r->memory);
	const struct memory_region all = {
	    .gpa = FAKE_GUEST_GPA, .uva = FAKE_GUEST_UVA, .size = FAKE_GUEST_SIZE};
	assert_true(memory_add(&r->memory, &all, r->mem, &e));
	virtqueue_init(&r->rx);
	virtqueue_init(&r->tx);
	rig_start_queues(r);
	fake_guest_post(&r->guest, buffers);
	const struct device_config config = {.cid = FAKE_GUEST_CID,
	                                     .path = "/nonexistent/v.sock",
	                                     .most = most,
	                                     .rx = &r->rx,
	                                     .tx = &r->tx,
	                                     .dial = dial,
	                                     .arg = r};
	r->device = device_create(r->loop, &config);
	return r;
}

struct device_counts rig_counts(struct rig *r)
{
	struct device_counts c;
	device_get_counts(r->device, &c);
	return c;
}

/* Lets the device do everything that it can do without waiting. */
void rig_pump(struct rig *r)
{
	for (int i = 0; i < 4; i++) {
		while (device_read_guest(r->device))
			;
		device_wake(r->device);
		loop_turn(r->loop, true);
	}
}

/* What must hold whatever happened: every chain was given back once, and nothing is left open at the end. */
void rig_destroy(struct rig *r)
{
	rig_pump(r);
	if (virtqueue_is_running(&r->tx))
		assert_int_equal(fake_guest_outstanding(&r->guest, &r->guest.tx), 0);
	assert_int_equal(r->rx.popped, r->rx.pushed);
	assert_int_equal(r->tx.popped, r->tx.pushed);
	device_destroy(r->device);
	loop_destroy(r->loop);
	fd_close(&r->host);
	assert_int_equal(count_fds(), r->fds_before);
	free(r->mem);
	free(r);
}

void rig_send_op(struct rig *r, uint32_t guest_port, uint32_t host_port, uint16_t op, uint32_t flags)
{
	const struct packet_header h = {
	    .src_port = guest_port, .dst_port = host_port, .op = op, .flags = flags};
	assert_true(fake_guest_send(&r->guest, h, NULL));
}

void rig_send_data(struct rig *r, uint32_t guest_port, uint32_t host_port, const void *bytes, uint32_t len)
{
	const struct packet_header h = {
	    .src_port = guest_port, .dst_port = host_port, .op = PACKET_OP_RW, .len = len};
	assert_true(fake_guest_send(&r->guest, h, bytes));
}

void rig_send_credit(struct rig *r, uint32_t guest_port, uint32_t host_port, uint32_t fwd_cnt)
{
	const struct packet_header h = {
	    .src_port = guest_port, .dst_port = host_port, .op = PACKET_OP_CREDIT_UPDATE, .fwd_cnt = fwd_cnt};
	assert_true(fake_guest_send(&r->guest, h, NULL));
}

void rig_expect(struct rig *r, uint16_t op, struct fake_packet *out)
{
	rig_pump(r);
	if (!fake_guest_receive(&r->guest, out, false))
		fail_msg("no packet, expected %s", packet_op_name(op));
	if (out->h.op != op)
		fail_msg("%s instead of %s", packet_op_name(out->h.op), packet_op_name(op));
	assert_true(out->h.src_cid == VSOCK_CID_HOST && out->h.dst_cid == FAKE_GUEST_CID);
	assert_int_equal(out->h.type, PACKET_STREAM);
}

void rig_expect_silence(struct rig *r)
{
	struct fake_packet p;
	rig_pump(r);
	if (fake_guest_receive(&r->guest, &p, false))
		fail_msg("unexpected %s", packet_op_name(p.h.op));
}

void rig_expect_sleep(struct rig *r)
{
	struct pollfd p = {.events = POLLIN};
	rig_pump(r);
	p.fd = uv_backend_fd(loop_uv(r->loop));
	if (poll(&p, 1, 0) != 0)
		fail_msg("the device would not sleep, although it can do nothing");
}

void rig_resume_queues(struct rig *r)
{
	struct virtqueue_layout at;
	struct err e = ERR_INIT;
	fake_guest_layout(&r->guest, &r->guest.rx, &at);
	at.base = r->rx.next_avail;
	assert_true(virtqueue_start(&r->rx, &r->memory, &at, &e));
	fake_guest_layout(&r->guest, &r->guest.tx, &at);
	at.base = r->tx.next_avail;
	assert_true(virtqueue_start(&r->tx, &r->memory, &at, &e));
}

void rig_expect_host(int fd, const char *text)
{
	char got[64] = "";
	assert_int_equal(recv(fd, got, sizeof(got), 0), strlen(text));
	assert_memory_equal(got, text, strlen(text));
}

void rig_expect_host_eof(int fd)
{
	char c;
	assert_int_equal(recv(fd, &c, 1, 0), 0);
}

void rig_put_host(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

/* The guest opens a connection; returns the host's end. */
int rig_open_by_guest(struct rig *r, uint32_t guest_port, uint32_t host_port)
{
	struct fake_packet p;
	rig_send_op(r, guest_port, host_port, PACKET_OP_REQUEST, 0);
	rig_expect(r, PACKET_OP_RESPONSE, &p);
	assert_int_equal(p.h.src_port, host_port);
	assert_int_equal(p.h.dst_port, guest_port);
	assert_int_equal(p.h.buf_alloc, RIG_WINDOW);
	assert_int_equal(p.h.fwd_cnt, 0);
	int fd = r->host;
	r->host = -1;
	return fd;
}

int rig_host_connects(struct rig *r, const char *text)
{
	device_accept(r->device, pair(r));
	int fd = r->host;
	r->host = -1;
	if (*text)
		rig_put_host(fd, text, strlen(text));
	return fd;
}

/* Fills the socket from the host's side; returns the bytes. */
size_t rig_stuff_host(int fd)
{
	static const char block[4096] = {'z'};
	size_t total = 0;
	for (ssize_t n; (n = send(fd, block, sizeof(block), MSG_NOSIGNAL)) > 0;)
		total += (size_t)n;
	return total;
}
