/* core/vsock/virtqueue: chains in, used entries out, and every way to break a ring. */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/vsock/virtqueue.h"
#include "tests/lib/fake_guest.h"

#define NUM 8

struct fixture {
	uint8_t *mem;
	struct fake_guest guest;
	struct memory memory;
	struct virtqueue queue;
	struct virtqueue_layout at;
	struct iovec pool[VIRTQUEUE_MOST_PIECES];
	struct virtqueue_chain chain;
};

static void start(struct fixture *f)
{
	struct err e = ERR_INIT;
	fake_guest_layout(&f->guest, &f->guest.tx, &f->at);
	virtqueue_init(&f->queue);
	assert_true(virtqueue_start(&f->queue, &f->memory, &f->at, &e));
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	struct err e = ERR_INIT;
	f->mem = mem_alloc(FAKE_GUEST_SIZE);
	fake_guest_init(&f->guest, f->mem, NUM, false);
	memory_init(&f->memory);
	/* Two adjacent regions, so that buffers can lie across the border. */
	const struct memory_region low = {.gpa = FAKE_GUEST_GPA, .uva = FAKE_GUEST_UVA, .size = 0x40000};
	const struct memory_region high = {.gpa = FAKE_GUEST_GPA + 0x40000,
	                                   .uva = FAKE_GUEST_UVA + 0x40000,
	                                   .size = FAKE_GUEST_SIZE - 0x40000};
	assert_true(memory_add(&f->memory, &low, f->mem, &e));
	assert_true(memory_add(&f->memory, &high, f->mem + 0x40000, &e));
	start(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	free(f->mem);
	free(f);
	return 0;
}

static enum virtqueue_pop pop(struct fixture *f)
{
	return virtqueue_pop(&f->queue, f->pool, ARRAY_LEN(f->pool), &f->chain);
}

/* Writes descriptor `i` of the ring's own table. */
static void desc(struct fixture *f, uint16_t i, uint64_t addr, uint32_t len, uint16_t flags, uint16_t next)
{
	f->guest.tx.desc[i] = (struct fake_desc){.addr = addr, .len = len, .flags = flags, .next = next};
}

static void offer(struct fixture *f, uint16_t head)
{
	struct fake_ring *r = &f->guest.tx;
	r->avail[2 + r->avail_idx % NUM] = head;
	r->avail[1] = ++r->avail_idx;
}

#define DATA     (FAKE_GUEST_GPA + 0x30000) /* somewhere for payload and indirect tables */
#define BORDER   (FAKE_GUEST_GPA + 0x40000)
#define TOP      (FAKE_GUEST_GPA + FAKE_GUEST_SIZE)
#define INDIRECT (FAKE_GUEST_GPA + 0x20000)

static void chains_are_read(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(pop(f), VIRTQUEUE_EMPTY);
	desc(f, 3, DATA, 10, FAKE_NEXT, 5);
	desc(f, 5, BORDER - 4, 10, FAKE_NEXT, 1);
	desc(f, 1, DATA + 100, 0, FAKE_NEXT, 2); /* of no length: legal and nothing */
	desc(f, 2, DATA + 200, 7, FAKE_WRITE, 0);
	offer(f, 3);
	assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
	assert_int_equal(f->chain.head, 3);
	assert_int_equal(f->chain.readable, 3);
	assert_int_equal(f->chain.readable_bytes, 20);
	assert_int_equal(f->chain.writable, 1);
	assert_int_equal(f->chain.writable_bytes, 7);
	assert_ptr_equal(f->pool[0].iov_base, fake_guest_at(&f->guest, DATA));
	assert_int_equal(f->pool[1].iov_len, 4);
	assert_int_equal(f->pool[2].iov_len, 6);
	assert_ptr_equal(f->pool[2].iov_base, fake_guest_at(&f->guest, BORDER));
	assert_ptr_equal(f->pool[3].iov_base, fake_guest_at(&f->guest, DATA + 200));
	virtqueue_push(&f->queue, f->chain.head, 7);
	assert_int_equal(f->guest.tx.used[1], 0); /* not shown before the flush */
	virtqueue_flush(&f->queue);
	assert_int_equal(f->guest.tx.used[1], 1);
	assert_int_equal(f->guest.tx.used[2], 3);
	assert_int_equal(f->guest.tx.used[4], 7);
	assert_int_equal(pop(f), VIRTQUEUE_EMPTY);
}

static void indirect_chains_are_read(void **state)
{
	struct fixture *f = *state;
	struct fake_desc *t = fake_guest_at(&f->guest, INDIRECT + 1); /* a table need not be aligned */
	const struct fake_desc table[NUM] = {{DATA, 1, FAKE_NEXT, 7}, {0}, {0}, {0}, {0}, {0}, {0},
	                                     {DATA + 50, 2, 0, 0}};
	memcpy(t, table, sizeof(table));
	desc(f, 0, DATA + 100, 4, FAKE_NEXT, 1);
	desc(f, 1, INDIRECT + 1, sizeof(table), FAKE_INDIRECT, 0);
	offer(f, 0);
	assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
	assert_int_equal(f->chain.readable, 3);
	assert_int_equal(f->chain.readable_bytes, 7);
	virtqueue_push(&f->queue, f->chain.head, 0);
}

static void longest_chain_is_read(void **state)
{
	struct fixture *f = *state;
	for (uint16_t i = 0; i < NUM; i++)
		desc(f, i, DATA + i, 1, i + 1 < NUM ? FAKE_NEXT : 0, (uint16_t)(i + 1));
	offer(f, 0);
	assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
	assert_int_equal(f->chain.readable, NUM);
}

static void last_byte_of_memory_is_inside(void **state)
{
	struct fixture *f = *state;
	desc(f, 0, TOP - 1, 1, 0, 0);
	offer(f, 0);
	assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
}

/* What a guest may not do. Each row: up to three descriptors, and up to two of an indirect table. */
static const struct {
	const char *why;
	uint16_t head;
	struct fake_desc ring[3];
	struct fake_desc table[2];
} BROKEN[] = {
    {"head out of range", NUM, {{0}}, {{0}}},
    {"head 65535", UINT16_MAX, {{0}}, {{0}}},
    {"next out of range", 0, {{DATA, 1, FAKE_NEXT, NUM}}, {{0}}},
    {"next 65535", 0, {{DATA, 1, FAKE_NEXT, UINT16_MAX}}, {{0}}},
    {"loop of one", 0, {{DATA, 1, FAKE_NEXT, 0}}, {{0}}},
    {"loop of empty ones", 0, {{DATA, 0, FAKE_NEXT, 0}}, {{0}}},
    {"loop of two", 0, {{DATA, 1, FAKE_NEXT, 1}, {DATA, 1, FAKE_NEXT, 0}}, {{0}}},
    {"buffer below memory", 0, {{FAKE_GUEST_GPA - 1, 2, 0, 0}}, {{0}}},
    {"buffer over the end", 0, {{TOP - 1, 2, 0, 0}}, {{0}}},
    {"buffer at the end", 0, {{TOP, 1, 0, 0}}, {{0}}},
    {"buffer at the top of the address space", 0, {{UINT64_MAX, 2, 0, 0}}, {{0}}},
    {"buffer of 4 GiB", 0, {{DATA, UINT32_MAX, 0, 0}}, {{0}}},
    {"readable behind writable", 0, {{DATA, 1, FAKE_WRITE | FAKE_NEXT, 1}, {DATA, 1, 0, 0}}, {{0}}},
    {"empty indirect table", 0, {{INDIRECT, 0, FAKE_INDIRECT, 0}}, {{0}}},
    {"odd indirect length", 0, {{INDIRECT, 24, FAKE_INDIRECT, 0}}, {{DATA, 1, 0, 0}}},
    {"indirect table of 15 bytes", 0, {{INDIRECT, 15, FAKE_INDIRECT, 0}}, {{DATA, 1, 0, 0}}},
    {"indirect table too long", 0, {{INDIRECT, (NUM + 1) * 16, FAKE_INDIRECT, 0}}, {{DATA, 1, 0, 0}}},
    {"indirect table of 4 GiB", 0, {{INDIRECT, 0xfffffff0u, FAKE_INDIRECT, 0}}, {{DATA, 1, 0, 0}}},
    {"indirect table outside", 0, {{TOP - 16, 32, FAKE_INDIRECT, 0}}, {{0}}},
    {"indirect table across regions", 0, {{BORDER - 16, 32, FAKE_INDIRECT, 0}}, {{0}}},
    {"indirect with next",
     0,
     {{INDIRECT, 16, FAKE_INDIRECT | FAKE_NEXT, 1}, {DATA, 1, 0, 0}},
     {{DATA, 1, 0, 0}}},
    {"indirect in indirect", 0, {{INDIRECT, 32, FAKE_INDIRECT, 0}}, {{INDIRECT, 16, FAKE_INDIRECT, 0}}},
    {"good table in an indirect table",
     0,
     {{INDIRECT, 32, FAKE_INDIRECT, 0}},
     {{INDIRECT + 16, 16, FAKE_INDIRECT, 0}, {DATA, 1, 0, 0}}},
    {"next out of the indirect table", 0, {{INDIRECT, 32, FAKE_INDIRECT, 0}}, {{DATA, 1, FAKE_NEXT, 2}}},
    {"loop in an indirect table", 0, {{INDIRECT, 32, FAKE_INDIRECT, 0}}, {{DATA, 1, FAKE_NEXT, 0}}},
};

static void broken_chains_stop_the_queue(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(BROKEN); i++) {
		fake_guest_reboot(&f->guest);
		start(f);
		f->queue.err_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		memcpy(f->guest.tx.desc, BROKEN[i].ring, sizeof(BROKEN[i].ring));
		memcpy(fake_guest_at(&f->guest, INDIRECT), BROKEN[i].table, sizeof(BROKEN[i].table));
		offer(f, BROKEN[i].head);
		if (pop(f) != VIRTQUEUE_STOPPED)
			fail_msg("accepted: %s", BROKEN[i].why);
		assert_int_equal(f->queue.state, VIRTQUEUE_BROKEN);
		assert_int_equal(f->queue.why.kind, ERR_PROTOCOL);
		eventfd_t count = 0;
		assert_int_equal(eventfd_read(f->queue.err_fd, &count), 0);
		fd_close(&f->queue.err_fd);
		/* It stays stopped, even if the guest repairs the ring, until it is started again. */
		desc(f, 0, DATA, 1, 0, 0);
		f->guest.tx.avail[2] = 0;
		assert_int_equal(pop(f), VIRTQUEUE_STOPPED);
		assert_false(virtqueue_want_kick(&f->queue));
		assert_int_equal(f->queue.popped, 0);
	}
}

/* One buffer in the ring and a full indirect table behind it: more than the queue has entries. */
static void chains_are_no_longer_than_their_queue(void **state)
{
	struct fixture *f = *state;
	struct fake_desc *t = fake_guest_at(&f->guest, INDIRECT);
	for (uint16_t i = 0; i < NUM; i++)
		t[i] = (struct fake_desc){DATA, 1, i + 1 < NUM ? FAKE_NEXT : 0, (uint16_t)(i + 1)};
	desc(f, 0, DATA, 1, FAKE_NEXT, 1);
	desc(f, 1, INDIRECT, NUM * sizeof(*t), FAKE_INDIRECT, 0);
	offer(f, 1); /* the full table alone is fine */
	assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
	assert_int_equal(f->chain.readable, NUM);
	offer(f, 0);
	assert_int_equal(pop(f), VIRTQUEUE_STOPPED);
}

static void avail_idx_may_not_run_ahead(void **state)
{
	struct fixture *f = *state;
	desc(f, 0, DATA, 1, 0, 0);
	f->guest.tx.avail[1] = NUM; /* all of them, all the same head: legal nonsense */
	for (int i = 0; i < NUM; i++)
		assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
	assert_int_equal(pop(f), VIRTQUEUE_EMPTY);
	f->guest.tx.avail[1] = NUM + NUM + 1;
	assert_int_equal(pop(f), VIRTQUEUE_STOPPED);
	start(f);
	f->guest.tx.avail[1] = UINT16_MAX; /* behind: the same as far ahead */
	assert_int_equal(pop(f), VIRTQUEUE_STOPPED);
}

static void breaking_keeps_what_was_popped(void **state)
{
	struct fixture *f = *state;
	desc(f, 0, DATA, 1, 0, 0);
	offer(f, 0);
	offer(f, NUM + 5);
	assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
	struct virtqueue_chain first = f->chain;
	assert_int_equal(pop(f), VIRTQUEUE_STOPPED);
	virtqueue_push(&f->queue, first.head, 0);
	virtqueue_flush(&f->queue);
	assert_int_equal(f->guest.tx.used[1], 1);
	assert_int_equal(f->queue.popped, f->queue.pushed);
}

static void unpop_puts_back(void **state)
{
	struct fixture *f = *state;
	for (uint16_t i = 0; i < 3; i++) {
		desc(f, i, DATA + i, 1, 0, 0);
		offer(f, i);
	}
	for (uint16_t i = 0; i < 3; i++)
		assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
	virtqueue_push(&f->queue, 0, 0);
	virtqueue_unpop(&f->queue, 2);
	assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
	assert_int_equal(f->chain.head, 1);
	assert_int_equal(f->queue.popped - f->queue.pushed, 1);
}

static void a_small_pool_takes_nothing(void **state)
{
	struct fixture *f = *state;
	desc(f, 0, DATA, 1, FAKE_NEXT, 1);
	desc(f, 1, DATA, 1, 0, 0);
	offer(f, 0);
	assert_int_equal(virtqueue_pop(&f->queue, f->pool, 1, &f->chain), VIRTQUEUE_NO_POOL);
	assert_int_equal(f->queue.popped, 0);
	assert_int_equal(virtqueue_pop(&f->queue, f->pool, 2, &f->chain), VIRTQUEUE_CHAIN);
}

static void interrupts_are_suppressed_by_flag(void **state)
{
	struct fixture *f = *state;
	desc(f, 0, DATA, 1, 0, 0);
	f->queue.call_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	for (uint16_t flags = 0; flags < 2; flags++) {
		eventfd_t count = 0;
		f->guest.tx.avail[0] = flags;
		offer(f, 0);
		assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
		virtqueue_push(&f->queue, 0, 0);
		virtqueue_flush(&f->queue);
		virtqueue_flush(&f->queue); /* nothing new: no second interrupt */
		assert_int_equal(eventfd_read(f->queue.call_fd, &count), flags ? -1 : 0);
		assert_int_equal(count, flags ? 0 : 1);
	}
	fd_close(&f->queue.call_fd);
}

static void interrupts_follow_the_event_index(void **state)
{
	struct fixture *f = *state;
	f->guest.event_idx = true;
	start(f);
	/* Go once around the 16-bit counter in uneven batches: one interrupt per crossing of the index, no other. */
	desc(f, 0, DATA, 1, 0, 0);
	uint32_t done = 0;
	for (unsigned batch = 1; done < 70000; batch = batch % 7 + 1) {
		uint16_t wanted = (uint16_t)(done + 3);
		f->guest.tx.avail[2 + NUM] = wanted;
		uint32_t before = f->queue.interrupts;
		for (unsigned i = 0; i < batch; i++) {
			offer(f, 0);
			assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
			virtqueue_push(&f->queue, 0, 0);
		}
		virtqueue_flush(&f->queue);
		assert_int_equal(f->queue.interrupts - before, batch > 3);
		done += batch;
	}
	assert_int_equal(f->guest.tx.used[1], (uint16_t)done);
}

static void kicks_are_asked_for(void **state)
{
	struct fixture *f = *state;
	for (int with_index = 0; with_index < 2; with_index++) {
		fake_guest_reboot(&f->guest);
		f->guest.event_idx = with_index;
		start(f);
		virtqueue_no_kick(&f->queue);
		assert_false(virtqueue_want_kick(&f->queue));
		assert_true(fake_guest_send_raw(&f->guest, "x", 1));
		assert_true(fake_guest_must_kick(&f->guest, &f->guest.tx));
		assert_true(virtqueue_want_kick(&f->queue)); /* came in between: look again */
		virtqueue_no_kick(&f->queue);
		assert_int_equal(pop(f), VIRTQUEUE_CHAIN);
		assert_true(fake_guest_send_raw(&f->guest, "x", 1));
		fake_guest_must_kick(&f->guest, &f->guest.tx);
		assert_true(fake_guest_send_raw(&f->guest, "x", 1));
		assert_false(fake_guest_must_kick(&f->guest, &f->guest.tx));
	}
}

static void silly_rings_do_not_start(void **state)
{
	struct fixture *f = *state;
	struct virtqueue_layout good;
	fake_guest_layout(&f->guest, &f->guest.tx, &good);
	const uint32_t sizes[] = {0, 3, 127, 129, 2048, 32768, 65536, UINT32_MAX};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct err e = ERR_INIT;
		struct virtqueue_layout at = good;
		at.num = sizes[i];
		assert_false(virtqueue_start(&f->queue, &f->memory, &at, &e));
		assert_int_equal(f->queue.state, VIRTQUEUE_OFF);
	}
	uint64_t end = FAKE_GUEST_UVA + FAKE_GUEST_SIZE;
	const uint64_t desc_at[] = {good.desc_uva + 8, end - 16 * NUM + 16,          FAKE_GUEST_UVA - 16, 0,
	                            UINT64_MAX - 15,   FAKE_GUEST_UVA + 0x40000 - 16};
	const uint64_t avail_at[] = {good.avail_uva + 1, end - 4, 0, UINT64_MAX - 1,
	                             FAKE_GUEST_UVA + 0x40000 - 2};
	const uint64_t used_at[] = {good.used_uva + 2, end - 4, 0, UINT64_MAX - 3,
	                            FAKE_GUEST_UVA + 0x40000 - 4};
	for (size_t i = 0; i < ARRAY_LEN(desc_at) + ARRAY_LEN(avail_at) + ARRAY_LEN(used_at); i++) {
		struct err e = ERR_INIT;
		struct virtqueue_layout at = good;
		if (i < ARRAY_LEN(desc_at))
			at.desc_uva = desc_at[i];
		else if (i < ARRAY_LEN(desc_at) + ARRAY_LEN(avail_at))
			at.avail_uva = avail_at[i - ARRAY_LEN(desc_at)];
		else
			at.used_uva = used_at[i - ARRAY_LEN(desc_at) - ARRAY_LEN(avail_at)];
		if (virtqueue_start(&f->queue, &f->memory, &at, &e))
			fail_msg("row %zu started", i);
	}
	struct err e = ERR_INIT;
	struct virtqueue_layout at = good;
	at.base = 65536;
	assert_false(virtqueue_start(&f->queue, &f->memory, &at, &e));
	err_clear(&e);
	assert_true(virtqueue_start(&f->queue, &f->memory, &good, &e));
}

static void new_memory_is_looked_at_again(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	uint8_t *other = mem_alloc(FAKE_GUEST_SIZE);
	memcpy(other, f->mem, FAKE_GUEST_SIZE);
	const struct memory_region all = {
	    .gpa = FAKE_GUEST_GPA, .uva = FAKE_GUEST_UVA, .size = FAKE_GUEST_SIZE};
	memory_init(&f->memory);
	assert_true(memory_add(&f->memory, &all, other, &e));
	assert_true(virtqueue_remap(&f->queue, &f->at, &e));
	memset(f->mem, 0xff, FAKE_GUEST_SIZE); /* nothing there counts any more */
	assert_int_equal(pop(f), VIRTQUEUE_EMPTY);
	const struct memory_region gone = {.gpa = FAKE_GUEST_GPA, .uva = 0x10000, .size = FAKE_GUEST_SIZE};
	memory_init(&f->memory);
	assert_true(memory_add(&f->memory, &gone, other, &e));
	assert_false(virtqueue_remap(&f->queue, &f->at, &e));
	assert_int_equal(f->queue.state, VIRTQUEUE_BROKEN);
	assert_int_equal(pop(f), VIRTQUEUE_STOPPED);
	virtqueue_flush(&f->queue);
	free(other);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(chains_are_read),
	    TEST(indirect_chains_are_read),
	    TEST(longest_chain_is_read),
	    TEST(last_byte_of_memory_is_inside),
	    TEST(broken_chains_stop_the_queue),
	    TEST(chains_are_no_longer_than_their_queue),
	    TEST(avail_idx_may_not_run_ahead),
	    TEST(breaking_keeps_what_was_popped),
	    TEST(unpop_puts_back),
	    TEST(a_small_pool_takes_nothing),
	    TEST(interrupts_are_suppressed_by_flag),
	    TEST(interrupts_follow_the_event_index),
	    TEST(kicks_are_asked_for),
	    TEST(silly_rings_do_not_start),
	    TEST(new_memory_is_looked_at_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
