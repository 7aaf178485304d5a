#include "core/wire/frame.h"

#include "core/wire/wire.h"

#define FRAME_MOST (FRAME_HEADER_SIZE + WIRE_CELLS_MAX + 64)

enum frame_result frame_parse(struct bytes bytes, struct frame *out, size_t *used, struct err *e)
{
	if (bytes.len < FRAME_HEADER_SIZE)
		return FRAME_MORE;
	struct reader r;
	reader_init(&r, bytes.p, FRAME_HEADER_SIZE);
	uint32_t len = reader_u32(&r);
	uint16_t type = reader_u16(&r);
	uint16_t flags = reader_u16(&r);
	uint32_t id = reader_u32(&r);
	long max = wire_body_max(type);
	if (max < 0) {
		err_set(e, ERR_PROTOCOL, "unknown message type %u", type);
		return FRAME_BAD;
	}
	if (len > (unsigned long)max) {
		err_set(e, ERR_PROTOCOL, "message %s of %u bytes is over its maximum of %ld",
		        wire_type_name(type), len, max);
		return FRAME_BAD;
	}
	if (flags != 0) {
		err_set(e, ERR_PROTOCOL, "message %s has unknown flags 0x%x", wire_type_name(type), flags);
		return FRAME_BAD;
	}
	if (bytes.len - FRAME_HEADER_SIZE < len)
		return FRAME_MORE;
	*out = (struct frame){.type = type, .id = id, .body = {.p = bytes.p + FRAME_HEADER_SIZE, .len = len}};
	*used = FRAME_HEADER_SIZE + len;
	return FRAME_READY;
}

size_t frame_begin(struct buf *out, uint16_t type, uint32_t id)
{
	size_t mark = out->len;
	buf_put_u32(out, 0);
	buf_put_u16(out, type);
	buf_put_u16(out, 0);
	buf_put_u32(out, id);
	return mark;
}

bool frame_end(struct buf *out, size_t mark)
{
	size_t body = 0;
	bool fits = buf_ok(out) && out->len >= mark + FRAME_HEADER_SIZE;
	if (fits) {
		uint16_t type = (uint16_t)(out->data[mark + 4] << 8 | out->data[mark + 5]);
		body = out->len - mark - FRAME_HEADER_SIZE;
		fits = wire_body_max(type) >= 0 && body <= (unsigned long)wire_body_max(type);
	}
	if (!fits) {
		out->len = MIN(out->len, mark);
		out->overflow = false;
		return false;
	}
	buf_set_u32(out, mark, (uint32_t)body);
	return true;
}

void frame_reader_init(struct frame_reader *r)
{
	buf_init(&r->pending, FRAME_MOST + 256 * 1024);
}

void frame_reader_finish(struct frame_reader *r)
{
	buf_finish(&r->pending);
}

/* Whole frames of `bytes`; *used is what they took. */
static enum frame_result feed_whole(struct bytes bytes, size_t *used,
                                    bool (*on_frame)(void *arg, const struct frame *f), void *arg,
                                    struct err *e)
{
	*used = 0;
	for (;;) {
		struct frame f;
		size_t n;
		struct bytes rest = {.p = bytes.p + *used, .len = bytes.len - *used};
		enum frame_result result = frame_parse(rest, &f, &n, e);
		if (result != FRAME_READY)
			return result;
		*used += n;
		if (!on_frame(arg, &f))
			return FRAME_READY;
	}
}

enum frame_result frame_feed(struct frame_reader *r, const uint8_t *bytes, size_t len,
                             bool (*on_frame)(void *arg, const struct frame *f), void *arg, struct err *e)
{
	struct bytes all = {.p = bytes, .len = len};
	bool kept = r->pending.len > 0;
	if (kept) {
		buf_put(&r->pending, bytes, len);
		if (!buf_ok(&r->pending)) {
			err_set(e, ERR_PROTOCOL, "too many bytes without a whole message");
			return FRAME_BAD;
		}
		all = (struct bytes){.p = r->pending.data, .len = r->pending.len};
	}
	size_t used;
	enum frame_result result = feed_whole(all, &used, on_frame, arg, e);
	if (result != FRAME_MORE)
		return result; /* r may be gone */
	if (kept)
		buf_drop(&r->pending, used);
	else
		buf_put(&r->pending, all.p + used, all.len - used);
	return FRAME_MORE;
}
