#include "tests/lib/fake_guest.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"

enum { RING_FLAGS, RING_IDX, RING_ENTRIES };

/* A megabyte for rings and tables, then receive buffers, then transmit buffers. */
#define RX_RING    0x00000u
#define TX_RING    0x10000u
#define INDIRECT   0x20000u
#define RX_BUFFERS 0x100000u
#define TX_BUFFERS 0x180000u
static_assert(RX_BUFFERS + FAKE_GUEST_MOST * FAKE_GUEST_RX_LEN <= TX_BUFFERS, "buffers are apart");
static_assert(TX_BUFFERS + FAKE_GUEST_MOST * FAKE_GUEST_TX_LEN <= FAKE_GUEST_SIZE, "buffers fit");

void *fake_guest_at(struct fake_guest *g, uint64_t gpa)
{
	CHECK(gpa >= FAKE_GUEST_GPA && gpa < FAKE_GUEST_GPA + FAKE_GUEST_SIZE);
	return g->mem + (gpa - FAKE_GUEST_GPA);
}

static void init_ring(struct fake_guest *g, struct fake_ring *r, uint16_t num, uint32_t at, uint32_t buffers,
                      uint32_t buffer_len)
{
	*r = (struct fake_ring){.num = num,
	                        .desc_gpa = FAKE_GUEST_GPA + at,
	                        .avail_gpa = FAKE_GUEST_GPA + at + 0x4000,
	                        .used_gpa = FAKE_GUEST_GPA + at + 0x6000,
	                        .buffers_gpa = FAKE_GUEST_GPA + buffers,
	                        .buffer_len = buffer_len};
	r->desc = fake_guest_at(g, r->desc_gpa);
	r->avail = fake_guest_at(g, r->avail_gpa);
	r->used = fake_guest_at(g, r->used_gpa);
	memset(r->desc, 0, 0x10000);
}

void fake_guest_init(struct fake_guest *g, void *mem, uint16_t num, bool event_idx)
{
	CHECK(num && num <= FAKE_GUEST_MOST);
	*g = (struct fake_guest){.mem = mem, .event_idx = event_idx, .buf_alloc = 256 * 1024};
	init_ring(g, &g->rx, num, RX_RING, RX_BUFFERS, FAKE_GUEST_RX_LEN);
	init_ring(g, &g->tx, num, TX_RING, TX_BUFFERS, FAKE_GUEST_TX_LEN);
}

void fake_guest_reboot(struct fake_guest *g)
{
	fake_guest_init(g, g->mem, g->rx.num, g->event_idx);
}

void fake_guest_layout(const struct fake_guest *g, const struct fake_ring *r, struct virtqueue_layout *out)
{
	*out = (struct virtqueue_layout){.num = r->num,
	                                 .desc_uva = r->desc_gpa - FAKE_GUEST_GPA + FAKE_GUEST_UVA,
	                                 .avail_uva = r->avail_gpa - FAKE_GUEST_GPA + FAKE_GUEST_UVA,
	                                 .used_uva = r->used_gpa - FAKE_GUEST_GPA + FAKE_GUEST_UVA,
	                                 .event_idx = g->event_idx};
}

static void offer(struct fake_ring *r, uint16_t head)
{
	r->avail[RING_ENTRIES + r->avail_idx % r->num] = head;
	r->avail_idx++;
	r->outstanding++;
	__atomic_store_n(&r->avail[RING_IDX], r->avail_idx, __ATOMIC_RELEASE);
}

void fake_guest_post(struct fake_guest *g, unsigned count)
{
	struct fake_ring *r = &g->rx;
	for (; count && r->outstanding < r->num; count--) {
		uint16_t head = r->avail_idx % r->num; /* buffers come back in order, so this one is free */
		r->desc[head] = (struct fake_desc){.addr = r->buffers_gpa + (uint64_t)head * r->buffer_len,
		                                   .len = r->buffer_len,
		                                   .flags = FAKE_WRITE};
		offer(r, head);
	}
}

bool fake_guest_must_kick(struct fake_guest *g, struct fake_ring *r)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	uint16_t before = r->kicked_at;
	r->kicked_at = r->avail_idx;
	if (before == r->avail_idx)
		return false;
	if (!g->event_idx)
		return !(__atomic_load_n(&r->used[RING_FLAGS], __ATOMIC_RELAXED) & 1);
	uint16_t event = __atomic_load_n(&r->used[RING_ENTRIES + 4 * r->num], __ATOMIC_RELAXED);
	return (uint16_t)(r->avail_idx - event - 1) < (uint16_t)(r->avail_idx - before);
}

/* The next used entry, or NULL. */
static const uint16_t *take_used(struct fake_guest *g, struct fake_ring *r)
{
	uint16_t idx = __atomic_load_n(&r->used[RING_IDX], __ATOMIC_ACQUIRE);
	if (idx == r->seen)
		return NULL;
	CHECK((uint16_t)(idx - r->seen) <= r->outstanding); /* never more than what was offered */
	const uint16_t *entry = &r->used[RING_ENTRIES + 4 * (r->seen % r->num)];
	r->seen++;
	r->outstanding--;
	if (g->event_idx) /* interrupt me at the next one */
		__atomic_store_n(&r->avail[RING_ENTRIES + r->num], r->seen, __ATOMIC_RELAXED);
	return entry;
}

unsigned fake_guest_outstanding(struct fake_guest *g, struct fake_ring *r)
{
	while (r == &g->tx && take_used(g, r))
		;
	return r->outstanding - (uint16_t)(r->used[RING_IDX] - r->seen);
}

static void put_indirect(struct fake_guest *g, uint16_t head, uint64_t addr, uint32_t len)
{
	uint64_t gpa = FAKE_GUEST_GPA + INDIRECT + (uint64_t)head * 2 * sizeof(struct fake_desc);
	struct fake_desc *t = fake_guest_at(g, gpa);
	uint32_t first = MIN(len, (uint32_t)PACKET_HEADER_SIZE);
	t[0] =
	    (struct fake_desc){.addr = addr, .len = first, .flags = len > first ? FAKE_NEXT : 0, .next = 1};
	t[1] = (struct fake_desc){.addr = addr + first, .len = len - first};
	g->tx.desc[head] = (struct fake_desc){.addr = gpa, .len = 2 * sizeof(*t), .flags = FAKE_INDIRECT};
}

bool fake_guest_send_raw(struct fake_guest *g, const void *bytes, uint32_t len)
{
	struct fake_ring *r = &g->tx;
	CHECK(len <= r->buffer_len);
	fake_guest_outstanding(g, r);
	if (r->outstanding == r->num)
		return false;
	uint16_t head = r->avail_idx % r->num;
	uint64_t addr = r->buffers_gpa + (uint64_t)head * r->buffer_len;
	memcpy(fake_guest_at(g, addr), bytes, len);
	if (g->indirect)
		put_indirect(g, head, addr, len);
	else
		r->desc[head] = (struct fake_desc){.addr = addr, .len = len};
	offer(r, head);
	return true;
}

bool fake_guest_send(struct fake_guest *g, struct packet_header h, const void *payload)
{
	static _Thread_local uint8_t bytes[FAKE_GUEST_TX_LEN];
	h.src_cid = h.src_cid ? h.src_cid : FAKE_GUEST_CID;
	h.dst_cid = h.dst_cid ? h.dst_cid : VSOCK_CID_HOST;
	h.type = h.type ? h.type : PACKET_STREAM;
	h.buf_alloc = h.buf_alloc ? h.buf_alloc : g->buf_alloc;
	packet_encode(bytes, &h);
	uint32_t len = payload ? h.len : 0;
	if (len)
		memcpy(bytes + PACKET_HEADER_SIZE, payload, len);
	return fake_guest_send_raw(g, bytes, PACKET_HEADER_SIZE + len);
}

bool fake_guest_receive(struct fake_guest *g, struct fake_packet *out, bool keep)
{
	uint32_t id, len;
	const uint16_t *entry = take_used(g, &g->rx);
	if (!entry)
		return false;
	memcpy(&id, entry, sizeof(id));
	memcpy(&len, entry + 2, sizeof(len));
	CHECK(id < g->rx.num && len <= g->rx.buffer_len);
	*out = (struct fake_packet){0};
	if (len >= PACKET_HEADER_SIZE) {
		const uint8_t *bytes = fake_guest_at(g, g->rx.buffers_gpa + (uint64_t)id * g->rx.buffer_len);
		packet_decode(&out->h, bytes);
		CHECK(out->h.len == len - PACKET_HEADER_SIZE);
		memcpy(out->payload, bytes + PACKET_HEADER_SIZE, out->h.len);
	}
	if (!keep)
		fake_guest_post(g, 1);
	return true;
}
