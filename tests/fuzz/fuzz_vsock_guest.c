/* A hostile guest: any bytes in its memory and rings, mixed with well-formed packets so that the connections behind
 * them are reached, and host programs that connect, write, read and go away.
 *
 * Input: the first byte chooses the rings; then steps, each a byte and what it needs (see STEPS). After every input
 * each chain that was taken was given back once, and no connection and no descriptor is left. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/loop/loop.h"
#include "core/vsock/device.h"
#include "core/vsock/packet.h"

#define SIZE      0x10000u /* the guest's memory, in two regions that meet in the middle */
#define GPA       0x1000u
#define UVA       0x70000000u
#define CID       42
#define MOST_HOST 8

/* Where things lie in it. */
enum { RX_RING = 0, TX_RING = 0x1000, RX_DATA = 0x2000, TX_DATA = 0x8000 };
enum { DESC = 0, AVAIL = 0x800, USED = 0xa00 };
#define RX_LEN 256u
#define TX_LEN 512u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct loop *loop;
	uint8_t mem[SIZE] __attribute__((aligned(4096)));
	struct memory memory;
	struct virtqueue rx, tx;
	struct device *device;
	uint16_t num, rx_idx, tx_idx;
	bool event_idx;
	int hosts[MOST_HOST];
	const uint8_t *p; /* the rest of the input */
	size_t left;
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
	static struct world *w;
	struct err e = ERR_INIT;
	if (w)
		return w;
	w = aligned_alloc(4096, (sizeof(*w) + 4095) & ~(size_t)4095);
	CHECK(w);
	memset(w, 0, sizeof(*w));
	w->loop = loop_create();
	log_open("fuzz", -1, LOG_ERROR);
	memory_init(&w->memory);
	const struct memory_region low = {.gpa = GPA, .uva = UVA, .size = SIZE / 2};
	const struct memory_region high = {.gpa = GPA + SIZE / 2, .uva = UVA + SIZE / 2, .size = SIZE / 2};
	CHECK(memory_add(&w->memory, &low, w->mem, &e) &&
	      memory_add(&w->memory, &high, w->mem + SIZE / 2, &e));
	return w;
}

static uint32_t take(struct world *w, size_t bytes)
{
	uint32_t v = 0;
	for (; bytes && w->left; bytes--, w->left--)
		v = v << 8 | *w->p++;
	return v;
}

/* ---- the guest ---- */

static void put(struct world *w, uint32_t at, const void *bytes, size_t len)
{
	memcpy(w->mem + at % (SIZE - 4096), bytes, MIN(len, (size_t)4096));
}

static void put_desc(struct world *w, uint32_t ring, uint16_t i, uint64_t gpa, uint32_t len, uint16_t flags)
{
	uint8_t *d = w->mem + ring + DESC + 16u * i;
	const uint16_t tail[2] = {flags, 0};
	memcpy(d, &gpa, 8);
	memcpy(d + 8, &len, 4);
	memcpy(d + 12, tail, 4);
}

static void offer(struct world *w, uint32_t ring, uint16_t *idx, uint16_t head)
{
	uint8_t *avail = w->mem + ring + AVAIL;
	memcpy(avail + 4 + 2 * (*idx % w->num), &head, 2);
	*idx = (uint16_t)(*idx + 1);
	memcpy(avail + 2, idx, 2);
}

static void start_ring(struct world *w, struct virtqueue *q, uint32_t ring)
{
	struct err e = ERR_INIT;
	const struct virtqueue_layout at = {.num = w->num,
	                                    .desc_uva = UVA + ring + DESC,
	                                    .avail_uva = UVA + ring + AVAIL,
	                                    .used_uva = UVA + ring + USED,
	                                    .event_idx = w->event_idx};
	CHECK(virtqueue_start(q, &w->memory, &at, &e));
}

static void step_reboot(struct world *w)
{
	CHECK(w->rx.popped == w->rx.pushed && w->tx.popped == w->tx.pushed);
	memset(w->mem, 0, SIZE);
	w->rx_idx = w->tx_idx = 0;
	start_ring(w, &w->rx, RX_RING);
	start_ring(w, &w->tx, TX_RING);
	device_forget_guest(w->device);
}

static void step_post(struct world *w)
{
	for (uint32_t n = take(w, 1) % 16; n; n--) {
		uint16_t head = w->rx_idx % w->num;
		put_desc(w, RX_RING, head, GPA + RX_DATA + head * RX_LEN, RX_LEN, 2);
		offer(w, RX_RING, &w->rx_idx, head);
	}
}

static void step_packet(struct world *w)
{
	uint16_t head = w->tx_idx % w->num;
	uint32_t at = TX_DATA + head * TX_LEN;
	uint32_t what = take(w, 1);
	struct packet_header h = {.src_cid = CID,
	                          .dst_cid = VSOCK_CID_HOST,
	                          .src_port = take(w, 1) % 4,
	                          .dst_port = take(w, 1),
	                          .type = PACKET_STREAM,
	                          .op = (uint16_t)(what % 9),
	                          .flags = what / 16,
	                          .buf_alloc = take(w, 2) * 16,
	                          .fwd_cnt = take(w, 2)};
	h.len = h.op == PACKET_OP_RW ? take(w, 2) : 0;
	if (h.dst_port >= 128) /* ports that we hand out */
		h.dst_port = (1u << 30) + h.dst_port % 4;
	packet_encode(w->mem + at, &h);
	put_desc(w, TX_RING, head, GPA + at, PACKET_HEADER_SIZE + MIN(h.len, TX_LEN - PACKET_HEADER_SIZE), 0);
	offer(w, TX_RING, &w->tx_idx, head);
}

static void step_scribble(struct world *w)
{
	uint32_t at = take(w, 2), len = take(w, 1);
	len = (uint32_t)MIN((size_t)len, w->left);
	put(w, at, w->p, len);
	w->p += len;
	w->left -= len;
}

static void step_descriptor(struct world *w)
{
	uint32_t ring = take(w, 1) & 1 ? TX_RING : RX_RING;
	uint8_t d[16] = {0};
	uint16_t i = (uint16_t)(take(w, 1) % w->num);
	uint64_t gpa = GPA + take(w, 2);
	uint32_t words[2] = {take(w, 2), take(w, 2)};
	memcpy(d, &gpa, 8);
	memcpy(d + 8, words, 8);
	memcpy(w->mem + ring + DESC + 16u * i, d, sizeof(d));
}

static void step_offer(struct world *w)
{
	if (take(w, 1) & 1)
		offer(w, TX_RING, &w->tx_idx, (uint16_t)take(w, 1));
	else
		offer(w, RX_RING, &w->rx_idx, (uint16_t)take(w, 1));
}

/* ---- the hosts ---- */

static int new_pair(struct world *w)
{
	int sv[2];
	for (int i = 0; i < MOST_HOST; i++) {
		if (w->hosts[i] >= 0)
			continue;
		CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sv) == 0);
		w->hosts[i] = sv[1];
		return sv[0];
	}
	return -ECONNREFUSED;
}

static int dial(void *arg, uint32_t port)
{
	return port == 1 ? -ECONNREFUSED : port == 2 ? -EAGAIN : new_pair(arg);
}

static void step_connect(struct world *w)
{
	int fd = new_pair(w);
	if (fd >= 0)
		device_accept(w->device, fd);
}

static void step_host_writes(struct world *w)
{
	int fd = w->hosts[take(w, 1) % MOST_HOST];
	size_t len = take(w, 1);
	len = MIN(len, w->left);
	if (fd >= 0 && len && send(fd, w->p, len, MSG_NOSIGNAL) < 0)
		len = 0;
	w->p += len;
	w->left -= len;
}

static void step_host_says_connect(struct world *w)
{
	static const char LINE[] = "CONNECT 3\nglued";
	int fd = w->hosts[take(w, 1) % MOST_HOST];
	if (fd >= 0 && send(fd, LINE, sizeof(LINE) - 1, MSG_NOSIGNAL) < 0)
		return;
}

static void step_host_floods(struct world *w)
{
	static const char block[16384];
	int fd = w->hosts[take(w, 1) % MOST_HOST];
	if (fd >= 0 && send(fd, block, sizeof(block), MSG_NOSIGNAL) < 0)
		return;
}

static void step_host_reads(struct world *w)
{
	static char block[65536];
	int fd = w->hosts[take(w, 1) % MOST_HOST];
	if (fd >= 0 && recv(fd, block, sizeof(block), 0) < 0)
		return;
}

static void step_host_shuts(struct world *w)
{
	int fd = w->hosts[take(w, 1) % MOST_HOST];
	int how = (int)(take(w, 1) % 3);
	if (fd >= 0)
		shutdown(fd, how);
}

static void step_host_closes(struct world *w)
{
	fd_close(&w->hosts[take(w, 1) % MOST_HOST]);
}

static void step_run(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		bool more = device_read_guest(w->device);
		(void)more;
		device_wake(w->device);
		loop_turn(w->loop, true);
	}
}

static void (*const STEPS[])(struct world *w) = {step_run,         step_packet,      step_post,
                                                 step_scribble,    step_descriptor,  step_offer,
                                                 step_connect,     step_host_writes, step_host_says_connect,
                                                 step_host_floods, step_host_reads,  step_host_shuts,
                                                 step_host_closes, step_reboot};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = world_get();
	int lowest_free = probe();
	if (size > 8192)
		return -1;
	w->p = data;
	w->left = size;
	uint32_t how = take(w, 1);
	w->num = (uint16_t)(1u << (how % 6));
	w->event_idx = how & 0x80;
	for (int i = 0; i < MOST_HOST; i++)
		w->hosts[i] = -1;
	virtqueue_init(&w->rx);
	virtqueue_init(&w->tx);
	const struct device_config config = {.cid = CID,
	                                     .path = "/nonexistent",
	                                     .most = 6,
	                                     .rx = &w->rx,
	                                     .tx = &w->tx,
	                                     .dial = dial,
	                                     .arg = w};
	w->device = device_create(w->loop, &config);
	step_reboot(w);
	while (w->left)
		STEPS[take(w, 1) % ARRAY_LEN(STEPS)](w);
	step_run(w);
	CHECK(w->rx.popped == w->rx.pushed && w->tx.popped == w->tx.pushed);
	device_destroy(w->device);
	for (int i = 0; i < MOST_HOST; i++)
		fd_close(&w->hosts[i]);
	loop_turn(w->loop, true);
	CHECK(probe() == lowest_free);
	return 0;
}
