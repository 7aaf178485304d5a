/* core/wire: any bytes can be cut into frames, in any pieces with the same result, decoded and dumped; what decodes
 * encodes to the same bytes again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define M(NAME, name, number, max)                                                    \
	static bool again_##name(struct bytes body, uint32_t id, struct buf *out)     \
	{                                                                             \
		struct wire_##name m;                                                 \
		struct err e = ERR_INIT;                                              \
		return wire_get_##name(body, &m, &e) && wire_put_##name(out, id, &m); \
	}
WIRE_MESSAGES(M)
#undef M

static bool again(const struct frame *f, struct buf *out)
{
	switch (f->type) {
#define M(NAME, name, number, max) \
	case WIRE_##NAME: return again_##name(f->body, f->id, out);
		WIRE_MESSAGES(M)
#undef M
	default: return wire_put_empty(out, f->type, f->id);
	}
}

static bool on_frame(void *arg, const struct frame *f)
{
	uint64_t *sum = arg;
	char line[256];
	struct buf out = BUF_INIT(WIRE_CELLS_MAX + 4096);
	CHECK(f->body.len <= (size_t)wire_body_max(f->type));
	wire_dump(line, sizeof(line), f->type, f->body);
	for (const char *p = line; *p; p++)
		CHECK(*p >= 0x20 && *p < 0x7f);
	if (again(f, &out)) {
		CHECK(out.len == FRAME_HEADER_SIZE + f->body.len);
		CHECK(f->body.len == 0 || memcmp(out.data + FRAME_HEADER_SIZE, f->body.p, f->body.len) == 0);
	} else {
		CHECK(strstr(line, "(malformed)"));
	}
	buf_finish(&out);
	*sum = *sum * 31 + f->type * 7u + f->id + f->body.len;
	for (size_t i = 0; i < f->body.len; i++)
		*sum = *sum * 31 + f->body.p[i];
	return true;
}

static enum frame_result feed(const uint8_t *data, size_t size, size_t step, uint64_t *sum)
{
	struct frame_reader r;
	struct err e = ERR_INIT;
	enum frame_result result = FRAME_MORE;
	frame_reader_init(&r);
	for (size_t at = 0; at < size && result == FRAME_MORE; at += step)
		result = frame_feed(&r, data + at, MIN(step, size - at), on_frame, sum, &e);
	CHECK((result == FRAME_BAD) == (e.kind == ERR_PROTOCOL));
	frame_reader_finish(&r);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole = 0, pieces = 0;
	enum frame_result a = feed(data, size, MAX(size, 1), &whole);
	enum frame_result b = feed(data, size, size ? 1 + data[size - 1] % 61u : 1, &pieces);
	CHECK(a == b && whole == pieces);
	return 0;
}
