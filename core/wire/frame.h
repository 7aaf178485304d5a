/* Frames: u32 length of the body, u16 type, u16 flags (0), u32 request id, body. Big-endian.
 *
 * The length is checked against the maximum of its type before anything is stored. Unknown types, flags and lengths
 * over the maximum are ERR_PROTOCOL: the peer is broken or hostile, close the connection. */
#ifndef CCVM_WIRE_FRAME_H
#define CCVM_WIRE_FRAME_H

#include "core/base/buf.h"
#include "core/base/err.h"

#define FRAME_HEADER_SIZE 12

struct frame {
	uint16_t type;
	uint32_t id;
	struct bytes body; /* borrowed */
};

enum frame_result { FRAME_MORE, FRAME_READY, FRAME_BAD };

/* Pure: the first frame of `bytes`. READY sets out and used; BAD sets e. */
enum frame_result frame_parse(struct bytes bytes, struct frame *out, size_t *used, struct err *e);

/* Starts a frame in `out`; returns a mark for frame_end, which fills the length in. */
size_t frame_begin(struct buf *out, uint16_t type, uint32_t id);
/* False, with `out` as it was before frame_begin, when the body is over its maximum or the buffer overflowed. */
bool frame_end(struct buf *out, size_t mark);

/* Cuts a byte stream into frames, keeping an unfinished one between calls. */
struct frame_reader {
	struct buf pending;
};

void frame_reader_init(struct frame_reader *r);
void frame_reader_finish(struct frame_reader *r);
/* Calls on_frame for each whole frame. on_frame returns false to stop (the connection was closed or handed over); then
 * and on FRAME_BAD the reader must not be fed again. Result: FRAME_MORE (go on), FRAME_READY (stopped by on_frame),
 * FRAME_BAD (e set). The reader itself may be freed inside on_frame only together with returning false. */
enum frame_result frame_feed(struct frame_reader *r, const uint8_t *bytes, size_t len,
                             bool (*on_frame)(void *arg, const struct frame *f), void *arg, struct err *e);

#endif
