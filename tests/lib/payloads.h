/* What programs in terminals write, in kinds that cost a terminal differently: for benchmarks, the same bytes for everyone. */
#ifndef CCVM_TESTS_LIB_PAYLOADS_H
#define CCVM_TESTS_LIB_PAYLOADS_H

#include "core/base/buf.h"

struct payload {
	const char *name;
	/* Appends one line, frame or move, the i-th, for a terminal of this size. */
	void (*fill)(struct buf *b, unsigned i, unsigned rows, unsigned cols);
};

#define PAYLOAD_COUNT 8
extern const struct payload PAYLOADS[PAYLOAD_COUNT];

const struct payload *payload_find(const char *name); /* NULL: no such */
/* `size` bytes or a little more. The caller finishes *out. */
void payload_make(const struct payload *p, unsigned rows, unsigned cols, size_t size, struct buf *out);

#endif
