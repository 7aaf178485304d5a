#include "tests/lib/transcript_rig.h"

#include <string.h>

#include "core/base/check.h"
#include "core/term/snapshot.h"
#include "core/wire/wire.h"

void transcript_rig_init(struct transcript_rig *r, unsigned rows, unsigned cols)
{
	static const struct emulator_ops OPS = {0};
	*r = (struct transcript_rig){.emulator = emulator_create(rows, cols, &OPS, NULL)};
	screen_init(&r->screen, rows, cols);
}

void transcript_rig_finish(struct transcript_rig *r)
{
	emulator_destroy(r->emulator);
	screen_finish(&r->screen);
	transcript_destroy(r->text);
}

void transcript_rig_write(struct transcript_rig *r, const void *bytes, size_t len)
{
	emulator_write(r->emulator, bytes, len);
}

void transcript_rig_print(struct transcript_rig *r, const char *text)
{
	transcript_rig_write(r, text, strlen(text));
}

void transcript_rig_sync(struct transcript_rig *r)
{
	struct err e = ERR_INIT;
	struct buf update = BUF_INIT(WIRE_CELLS_MAX);
	struct snapshot_cursor cursor = {0};
	CHECK(snapshot_encode(r->emulator, &cursor, WIRE_CELLS_MAX, &update));
	CHECK(snapshot_apply(&r->screen, (struct bytes){update.data, update.len}, &e));
	buf_finish(&update);
}

void transcript_rig_read(struct transcript_rig *r, unsigned most)
{
	transcript_rig_sync(r);
	transcript_destroy(r->text);
	r->text = transcript_create(&r->screen);
	while (!transcript_is_whole(r->text)) {
		struct err e = ERR_INIT;
		struct buf piece = BUF_INIT(WIRE_LINES_MAX);
		uint64_t first;
		unsigned n = transcript_encode(r->emulator, transcript_first(r->text), most, WIRE_LINES_MAX,
		                               &piece, &first);
		CHECK(transcript_prepend(r->text, first, n, (struct bytes){piece.data, piece.len}, &e));
		buf_finish(&piece);
	}
}
