/* The guest's side of the agent protocol against any bytes: frames, order of messages, bodies. The input is
 * cut into two reads at a place that it chooses itself. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/base/check.h"
#include "guest/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_frame(void *arg, const struct frame *f)
{
	struct protocol *p = arg;
	struct protocol_event ev;
	struct err e = ERR_INIT;
	enum protocol_phase before = p->phase;
	if (!protocol_read(p, f, &ev, &e)) {
		CHECK(e.kind != ERR_NONE && e.msg[0]);
		CHECK(p->phase == before && !ev.argv && !ev.env);
		return false;
	}
	CHECK(p->phase >= before);
	if (ev.what == PROTOCOL_SPAWN) {
		CHECK(ev.argv && ev.env && ev.spawn.rows && ev.spawn.cols && ev.spawn.tty <= 1);
		CHECK(!ev.argv[0] || ev.argv[0][0]);
	}
	CHECK(ev.what != PROTOCOL_RESIZE || (ev.resize.rows && ev.resize.cols));
	CHECK(ev.what != PROTOCOL_SIGNAL || (ev.signum >= 1 && ev.signum <= 64));
	CHECK(ev.data.len <= WIRE_DATA_MAX);
	protocol_event_finish(&ev);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct protocol p = {0};
	struct frame_reader reader;
	struct err e = ERR_INIT;
	if (size < 2)
		return 0;
	size_t cut = MIN((size_t)data[0] << 8 | data[1], size - 2);
	data += 2;
	size -= 2;
	frame_reader_init(&reader);
	if (frame_feed(&reader, data, cut, on_frame, &p, &e) == FRAME_MORE)
		frame_feed(&reader, data + cut, size - cut, on_frame, &p, &e);
	frame_reader_finish(&reader);
	return 0;
}
