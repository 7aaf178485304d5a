/* Bytes for wire messages: a growing buffer with a maximum to write into, and a reader over borrowed bytes.
 *
 * Numbers are big-endian. Both sides carry a sticky failure flag: write or read a whole message, then check once
 * with buf_ok / reader_end. A failed reader returns zeros and empty strings, never garbage, never reads past the end. */
#ifndef CCVM_BASE_BUF_H
#define CCVM_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"

struct buf {
	uint8_t *data; /* owned, NULL while empty */
	size_t len;
	size_t cap;
	size_t max; /* longest allowed len */
	bool overflow;
};

#define BUF_INIT(max_len)        \
	{                        \
		.max = (max_len) \
	}

void buf_init(struct buf *b, size_t max_len);
void buf_finish(struct buf *b);
void buf_clear(struct buf *b);          /* keeps the memory */
void buf_drop(struct buf *b, size_t n); /* forgets the first n bytes (n <= len) */
bool buf_ok(const struct buf *b);       /* nothing was dropped for want of room */

/* `n` writable bytes at the end for a read(2), or NULL (and the flag) when over the maximum; buf_commit what came. */
uint8_t *buf_reserve(struct buf *b, size_t n);
void buf_commit(struct buf *b, size_t n);

void buf_put(struct buf *b, const void *bytes, size_t len);
void buf_put_u8(struct buf *b, uint8_t v);
void buf_put_u16(struct buf *b, uint16_t v);
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_u64(struct buf *b, uint64_t v);
void buf_put_string(struct buf *b, const char *s);               /* u32 length, bytes, no NUL */
void buf_put_blob(struct buf *b, const void *bytes, size_t len); /* the same for any bytes */
void buf_set_u32(struct buf *b, size_t at, uint32_t v);          /* overwrite what was put before */

/* What a blob or string field is while it lies in somebody else's buffer. */
struct bytes {
	const uint8_t *p; /* borrowed; NULL only when len is 0 */
	size_t len;
};

struct reader {
	const uint8_t *p; /* borrowed */
	size_t left;
	bool bad;
};

void reader_init(struct reader *r, const void *bytes, size_t len);
uint8_t reader_u8(struct reader *r);
uint16_t reader_u16(struct reader *r);
uint32_t reader_u32(struct reader *r);
uint64_t reader_u64(struct reader *r);
struct bytes reader_take(struct reader *r, size_t len); /* exactly len bytes, borrowed */
struct bytes reader_blob(struct reader *r, size_t max); /* u32 length first; longer than max is bad */
/* A text: a NUL inside is bad. Copied to `out` (size bytes) with a NUL; one that does not fit is bad. */
void reader_string(struct reader *r, char *out, size_t size);
bool reader_end(const struct reader *r); /* all read, nothing bad, nothing left over */

#endif
