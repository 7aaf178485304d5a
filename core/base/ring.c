#include "core/base/ring.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/mem.h"

void ring_init(struct ring *r, size_t capacity)
{
	CHECK(capacity && (capacity & (capacity - 1)) == 0);
	*r = (struct ring){.data = mem_alloc(capacity), .cap = capacity};
}

void ring_finish(struct ring *r)
{
	free(r->data);
	*r = (struct ring){0};
}

size_t ring_used(const struct ring *r)
{
	return r->tail - r->head;
}

size_t ring_free(const struct ring *r)
{
	return r->cap - ring_used(r);
}

static int spans(const struct ring *r, size_t from, size_t len, struct iovec out[2])
{
	if (!len)
		return 0;
	size_t at = from & (r->cap - 1);
	size_t first = MIN(len, r->cap - at);
	out[0] = (struct iovec){.iov_base = r->data + at, .iov_len = first};
	if (first == len)
		return 1;
	out[1] = (struct iovec){.iov_base = r->data, .iov_len = len - first};
	return 2;
}

int ring_read_spans(const struct ring *r, struct iovec out[2])
{
	return spans(r, r->head, ring_used(r), out);
}

int ring_write_spans(struct ring *r, struct iovec out[2])
{
	return spans(r, r->tail, ring_free(r), out);
}

void ring_take(struct ring *r, size_t n)
{
	CHECK(n <= ring_used(r));
	r->head += n;
}

void ring_add(struct ring *r, size_t n)
{
	CHECK(n <= ring_free(r));
	r->tail += n;
}

size_t ring_put(struct ring *r, const void *bytes, size_t len)
{
	struct iovec to[2];
	int n = ring_write_spans(r, to);
	size_t done = 0;
	for (int i = 0; i < n && done < len; i++) {
		size_t part = MIN(to[i].iov_len, len - done);
		memcpy(to[i].iov_base, (const uint8_t *)bytes + done, part);
		done += part;
	}
	ring_add(r, done);
	return done;
}
