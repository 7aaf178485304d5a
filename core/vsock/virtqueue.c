/* Split rings (virtio 1.2, section 2.7), device side.
 *
 * Three rules keep this safe against a guest that writes while we read. Fields of the rings are read with one atomic
 * load each. A descriptor is copied into private memory as a whole, with a compiler barrier behind, and only the
 * copy is looked at. Payload is never parsed in place. Overlapping or repeated buffers are then harmless nonsense.
 *
 * Memory order: acquire after avail.idx (entries and descriptors before it are visible), release before used.idx
 * (the guest sees our bytes before the index), and a full fence between publishing an index and reading the other
 * side's wish to be woken, because each side stores one word and loads the other. */
#include "core/vsock/virtqueue.h"

#include <string.h>
#include <unistd.h>

#include "core/base/check.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rings are little-endian and read in place");

#define DESC_NEXT     1u
#define DESC_WRITE    2u
#define DESC_INDIRECT 4u

#define AVAIL_NO_INTERRUPT 1u
#define USED_NO_NOTIFY     1u

struct desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags;
	uint16_t next;
};
static_assert(sizeof(struct desc) == 16, "descriptor layout");

/* Words of the avail and used rings: flags, idx, then entries. */
enum { RING_FLAGS, RING_IDX, RING_ENTRIES };
#define USED_ENTRY_WORDS 4u

static uint16_t load_relaxed(const uint16_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static void copy_once(void *to, const void *shared, size_t len)
{
	memcpy(to, shared, len);
	__asm__ volatile("" ::: "memory"); /* from here on only the copy exists for the compiler */
}

static void signal_fd(int fd)
{
	uint64_t one = 1;
	/* A full counter (the only way to fail) means that a signal is waiting anyway. */
	if (fd >= 0 && write(fd, &one, sizeof(one)) < 0)
		return;
}

void virtqueue_init(struct virtqueue *q)
{
	*q = (struct virtqueue){.state = VIRTQUEUE_OFF, .call_fd = -1, .err_fd = -1};
}

static void *ring_at(const struct memory *m, uint64_t uva, uint64_t len, uint64_t align, const char *what,
                     struct err *e)
{
	void *p = memory_at_uva(m, uva, len);
	if (p && (uintptr_t)p % align == 0)
		return p;
	err_set(e, ERR_PROTOCOL, "%s ring at %#llx is misaligned or outside of guest memory", what,
	        (unsigned long long)uva);
	return NULL;
}

static bool find_rings(struct virtqueue *q, const struct virtqueue_layout *at, struct err *e)
{
	uint64_t num = at->num;
	return (q->desc = ring_at(q->memory, at->desc_uva, num * sizeof(struct desc), 16, "descriptor", e)) &&
	       (q->avail = ring_at(q->memory, at->avail_uva, 6 + 2 * num, 2, "available", e)) &&
	       (q->used = ring_at(q->memory, at->used_uva, 6 + 8 * num, 4, "used", e));
}

bool virtqueue_start(struct virtqueue *q, const struct memory *m, const struct virtqueue_layout *at,
                     struct err *e)
{
	virtqueue_stop(q);
	if (at->num == 0 || at->num > VIRTQUEUE_MOST_ENTRIES || (at->num & (at->num - 1)) != 0)
		return err_set(e, ERR_PROTOCOL, "queue of %u entries", at->num);
	if (at->base > UINT16_MAX)
		return err_set(e, ERR_PROTOCOL, "queue starts at %u", at->base);
	q->memory = m;
	if (!find_rings(q, at, e))
		return false;
	q->num = (uint16_t)at->num;
	q->event_idx = at->event_idx;
	/* All that was popped before a stop was pushed too, so both counters go on at the same place. */
	q->next_avail = q->next_used = q->published = (uint16_t)at->base;
	q->popped = q->pushed = q->interrupts = 0;
	q->why = (struct err)ERR_INIT;
	q->reported = false;
	q->state = VIRTQUEUE_RUNNING;
	virtqueue_no_kick(q);
	return true;
}

bool virtqueue_remap(struct virtqueue *q, const struct virtqueue_layout *at, struct err *e)
{
	if (q->state != VIRTQUEUE_RUNNING || find_rings(q, at, e))
		return true;
	q->used = NULL;
	q->why = *e;
	q->state = VIRTQUEUE_BROKEN;
	signal_fd(q->err_fd);
	return false;
}

void virtqueue_stop(struct virtqueue *q)
{
	q->state = VIRTQUEUE_OFF;
	q->desc = q->avail = q->used = NULL;
	q->memory = NULL;
}

bool virtqueue_is_running(const struct virtqueue *q)
{
	return q->state == VIRTQUEUE_RUNNING;
}

/* ---- taking chains ---- */

static enum virtqueue_pop broken(struct virtqueue *q, const char *rule, unsigned value)
{
	err_set(&q->why, ERR_PROTOCOL, "%s (%u)", rule, value);
	q->state = VIRTQUEUE_BROKEN;
	signal_fd(q->err_fd);
	return VIRTQUEUE_STOPPED;
}

/* What is being walked: the queue's own table, or an indirect one. */
struct table {
	const uint8_t *at;
	uint32_t num;
	bool indirect;
};

static enum virtqueue_pop enter_indirect(struct virtqueue *q, const struct desc *d, struct table *t)
{
	if (t->indirect)
		return broken(q, "indirect table inside an indirect table", 0);
	if (d->flags & DESC_NEXT)
		return broken(q, "indirect descriptor with a next one", d->next);
	if (d->len == 0 || d->len % sizeof(struct desc) || d->len / sizeof(struct desc) > q->num)
		return broken(q, "length of an indirect table", d->len);
	const void *p = memory_at_gpa(q->memory, d->addr, d->len);
	if (!p)
		return broken(q, "indirect table outside of guest memory", d->len);
	*t = (struct table){.at = p, .num = d->len / (uint32_t)sizeof(struct desc), .indirect = true};
	return VIRTQUEUE_CHAIN;
}

/* Adds one buffer to the chain, cut where memory regions meet. */
static enum virtqueue_pop add_buffer(struct virtqueue *q, const struct desc *d, size_t room,
                                     struct virtqueue_chain *c)
{
	uint64_t addr = d->addr, left = d->len;
	bool write = d->flags & DESC_WRITE;
	if (!write && c->writable)
		return broken(q, "readable buffer behind a writable one", d->len);
	while (left) {
		uint64_t got;
		size_t count = c->readable + c->writable;
		void *p = memory_span(q->memory, addr, left, &got);
		if (!p)
			return broken(q, "buffer outside of guest memory", d->len);
		if (count == VIRTQUEUE_MOST_PIECES)
			return broken(q, "chain in too many pieces", VIRTQUEUE_MOST_PIECES);
		if (count == room)
			return VIRTQUEUE_NO_POOL;
		c->iov[count] = (struct iovec){.iov_base = p, .iov_len = (size_t)got};
		*(write ? &c->writable : &c->readable) += 1;
		*(write ? &c->writable_bytes : &c->readable_bytes) += (size_t)got;
		addr += got; /* cannot wrap: no region ends at 2^64 */
		left -= got;
	}
	if (c->readable_bytes + c->writable_bytes > UINT32_MAX)
		return broken(q, "chain of more than 4 GiB", d->len);
	return VIRTQUEUE_CHAIN;
}

static enum virtqueue_pop walk(struct virtqueue *q, size_t room, struct virtqueue_chain *c)
{
	struct table t = {.at = q->desc, .num = q->num};
	uint32_t at = c->head;
	/* A chain has at most `num` buffers however they are spread: a loop runs out of turns. */
	for (uint32_t turns = q->num + 1u; turns; turns--) {
		struct desc d;
		enum virtqueue_pop r;
		if (at >= t.num)
			return broken(q, "descriptor index out of range", at);
		copy_once(&d, t.at + at * sizeof(d), sizeof(d));
		if (d.flags & DESC_INDIRECT) {
			r = enter_indirect(q, &d, &t);
			if (r != VIRTQUEUE_CHAIN)
				return r;
			at = 0;
			continue;
		}
		r = add_buffer(q, &d, room, c);
		if (r != VIRTQUEUE_CHAIN || !(d.flags & DESC_NEXT))
			return r;
		at = d.next;
	}
	return broken(q, "chain longer than its queue", q->num);
}

enum virtqueue_pop virtqueue_pop(struct virtqueue *q, struct iovec *pool, size_t room,
                                 struct virtqueue_chain *out)
{
	if (q->state != VIRTQUEUE_RUNNING)
		return VIRTQUEUE_STOPPED;
	uint16_t idx = __atomic_load_n(&q->avail[RING_IDX], __ATOMIC_ACQUIRE);
	uint16_t waiting = (uint16_t)(idx - q->next_avail);
	if (!waiting)
		return VIRTQUEUE_EMPTY;
	if (waiting > q->num)
		return broken(q, "more chains available than the queue has entries", waiting);
	uint16_t head = load_relaxed(&q->avail[RING_ENTRIES + q->next_avail % q->num]);
	*out = (struct virtqueue_chain){.head = head, .iov = pool};
	enum virtqueue_pop r = walk(q, MIN(room, (size_t)VIRTQUEUE_MOST_PIECES), out);
	if (r != VIRTQUEUE_CHAIN)
		return r;
	q->next_avail++;
	q->popped++;
	return VIRTQUEUE_CHAIN;
}

void virtqueue_unpop(struct virtqueue *q, unsigned count)
{
	CHECK(count <= q->popped - q->pushed);
	q->next_avail = (uint16_t)(q->next_avail - count);
	q->popped -= count;
}

/* ---- giving them back ---- */

void virtqueue_push(struct virtqueue *q, uint16_t head, uint32_t written)
{
	CHECK(q->pushed != q->popped && q->used);
	uint32_t entry[2] = {head, written};
	memcpy(&q->used[RING_ENTRIES + USED_ENTRY_WORDS * (q->next_used % q->num)], entry, sizeof(entry));
	q->next_used++;
	q->pushed++;
}

static bool guest_wants_interrupt(const struct virtqueue *q, uint16_t before)
{
	if (!q->event_idx)
		return !(load_relaxed(&q->avail[RING_FLAGS]) & AVAIL_NO_INTERRUPT);
	uint16_t event = load_relaxed(&q->avail[RING_ENTRIES + q->num]);
	return (uint16_t)(q->next_used - event - 1) < (uint16_t)(q->next_used - before);
}

void virtqueue_flush(struct virtqueue *q)
{
	if (!q->used || q->published == q->next_used)
		return;
	uint16_t before = q->published;
	__atomic_store_n(&q->used[RING_IDX], q->next_used, __ATOMIC_RELEASE);
	q->published = q->next_used;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!guest_wants_interrupt(q, before))
		return;
	q->interrupts++;
	signal_fd(q->call_fd);
}

bool virtqueue_want_kick(struct virtqueue *q)
{
	if (q->state != VIRTQUEUE_RUNNING)
		return false;
	if (q->event_idx)
		__atomic_store_n(&q->used[RING_ENTRIES + USED_ENTRY_WORDS * q->num], q->next_avail,
		                 __ATOMIC_RELAXED);
	else
		__atomic_store_n(&q->used[RING_FLAGS], 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&q->avail[RING_IDX], __ATOMIC_ACQUIRE) != q->next_avail;
}

void virtqueue_no_kick(struct virtqueue *q)
{
	/* With EVENT_IDX the guest kicks only at the index we asked for, so there is nothing to take back. */
	if (q->state == VIRTQUEUE_RUNNING && !q->event_idx)
		__atomic_store_n(&q->used[RING_FLAGS], USED_NO_NOTIFY, __ATOMIC_RELAXED);
}
