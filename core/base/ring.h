/* A byte queue of fixed capacity (a power of two), with spans for readv and writev. */
#ifndef CCVM_BASE_RING_H
#define CCVM_BASE_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct ring {
	uint8_t *data; /* owned */
	size_t cap;
	size_t head; /* total bytes taken out; wraps */
	size_t tail; /* total bytes put in; wraps */
};

void ring_init(struct ring *r, size_t capacity); /* BUG unless a power of two */
void ring_finish(struct ring *r);
size_t ring_used(const struct ring *r);
size_t ring_free(const struct ring *r);

/* Fill one or two spans of what can be read or written now; returns how many (0..2). */
int ring_read_spans(const struct ring *r, struct iovec out[2]);
int ring_write_spans(struct ring *r, struct iovec out[2]);
void ring_take(struct ring *r, size_t n); /* n <= used */
void ring_add(struct ring *r, size_t n);  /* n <= free: bytes that were put into the write spans */

size_t ring_put(struct ring *r, const void *bytes, size_t len); /* copies what fits, returns how much */

#endif
