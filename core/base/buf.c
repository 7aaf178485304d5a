#include "core/base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

void buf_init(struct buf *b, size_t max_len)
{
	*b = (struct buf)BUF_INIT(max_len);
}

void buf_finish(struct buf *b)
{
	free(b->data);
	buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->overflow = false;
}

void buf_drop(struct buf *b, size_t n)
{
	CHECK(n <= b->len);
	b->len -= n;
	if (n && b->len)
		memmove(b->data, b->data + n, b->len);
}

bool buf_ok(const struct buf *b)
{
	return !b->overflow;
}

uint8_t *buf_reserve(struct buf *b, size_t n)
{
	if (b->overflow || n > b->max - b->len) {
		b->overflow = true;
		return NULL;
	}
	if (b->len + n > b->cap) {
		size_t cap = MAX(b->len + n, MIN(b->cap * 2, b->max));
		b->data = mem_resize(b->data, cap, 1);
		b->cap = cap;
	}
	return b->data ? b->data + b->len : (b->data = mem_alloc(1));
}

void buf_commit(struct buf *b, size_t n)
{
	CHECK(n <= b->cap - b->len);
	b->len += n;
}

void buf_put(struct buf *b, const void *bytes, size_t len)
{
	if (!len)
		return;
	uint8_t *to = buf_reserve(b, len);
	if (!to)
		return;
	memcpy(to, bytes, len);
	b->len += len;
}

void buf_put_u8(struct buf *b, uint8_t v)
{
	buf_put(b, &v, 1);
}

void buf_put_u16(struct buf *b, uint16_t v)
{
	uint8_t raw[2] = {(uint8_t)(v >> 8), (uint8_t)v};
	buf_put(b, raw, sizeof(raw));
}

static void encode_u32(uint8_t raw[4], uint32_t v)
{
	for (int i = 0; i < 4; i++)
		raw[i] = (uint8_t)(v >> (24 - 8 * i));
}

void buf_put_u32(struct buf *b, uint32_t v)
{
	uint8_t raw[4];
	encode_u32(raw, v);
	buf_put(b, raw, sizeof(raw));
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	buf_put_u32(b, (uint32_t)(v >> 32));
	buf_put_u32(b, (uint32_t)v);
}

void buf_put_blob(struct buf *b, const void *bytes, size_t len)
{
	if (len > UINT32_MAX) {
		b->overflow = true;
		return;
	}
	buf_put_u32(b, (uint32_t)len);
	buf_put(b, bytes, len);
}

void buf_put_string(struct buf *b, const char *s)
{
	buf_put_blob(b, s, strlen(s));
}

void buf_set_u32(struct buf *b, size_t at, uint32_t v)
{
	if (b->overflow)
		return;
	CHECK(at + 4 <= b->len);
	encode_u32(b->data + at, v);
}

void reader_init(struct reader *r, const void *bytes, size_t len)
{
	*r = (struct reader){.p = bytes, .left = len};
}

struct bytes reader_take(struct reader *r, size_t len)
{
	if (r->bad || len > r->left) {
		r->bad = true;
		return (struct bytes){0};
	}
	struct bytes out = {.p = len ? r->p : NULL, .len = len};
	if (len) {
		r->p += len;
		r->left -= len;
	}
	return out;
}

static uint64_t take_number(struct reader *r, size_t size)
{
	struct bytes raw = reader_take(r, size);
	uint64_t v = 0;
	for (size_t i = 0; i < raw.len; i++)
		v = v << 8 | raw.p[i];
	return v;
}

uint8_t reader_u8(struct reader *r)
{
	return (uint8_t)take_number(r, 1);
}

uint16_t reader_u16(struct reader *r)
{
	return (uint16_t)take_number(r, 2);
}

uint32_t reader_u32(struct reader *r)
{
	return (uint32_t)take_number(r, 4);
}

uint64_t reader_u64(struct reader *r)
{
	return take_number(r, 8);
}

struct bytes reader_blob(struct reader *r, size_t max)
{
	uint32_t len = reader_u32(r);
	if (len > max)
		r->bad = true;
	return reader_take(r, len);
}

void reader_string(struct reader *r, char *out, size_t size)
{
	struct bytes raw = reader_blob(r, size - 1);
	if (raw.len && memchr(raw.p, '\0', raw.len)) {
		r->bad = true;
		raw.len = 0;
	}
	if (raw.len)
		memcpy(out, raw.p, raw.len);
	out[raw.len] = '\0';
}

bool reader_end(const struct reader *r)
{
	return !r->bad && r->left == 0;
}
