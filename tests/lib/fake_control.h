/* The other end of core/client: a control socket in a folder of its own that does what a test tells it, also what no
 * supervisor would. */
#ifndef CCVM_TESTS_LIB_FAKE_CONTROL_H
#define CCVM_TESTS_LIB_FAKE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/loop/loop.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

struct fake_control {
	struct loop *loop;
	char root[64]; /* XDG_RUNTIME_DIR and XDG_STATE_HOME while the fake is there */
	struct listener *listener;
	struct stream *peer; /* of the last client; NULL: none */
	struct frame_reader reader;
	struct buf out; /* put frames here, then fake_control_send */
	/* What to do with a frame; NULL: only count. */
	void (*on_frame)(struct fake_control *f, const struct frame *frame);
	void *arg;
	uint16_t major;  /* of its HELLO; 0: the right one */
	bool say_hello;  /* at once, when a client comes */
	bool one_by_one; /* send each byte in a turn of its own */
	bool deaf;       /* do not read */
	bool gone;       /* the client closed */
	uint16_t last_type;
	uint32_t last_id;
	unsigned frames; /* HELLO not counted */
	size_t bytes;    /* of stdin data */
	bool hello_came;
};

/* Listens as the supervisor of VM `name`. */
void fake_control_open(struct fake_control *f, struct loop *loop, const char *name);
void fake_control_close(struct fake_control *f);
/* Everything in `out`. */
void fake_control_send(struct fake_control *f);
void fake_control_hang_up(struct fake_control *f);
void fake_control_ok(struct fake_control *f, uint32_t id, const char *text);
void fake_control_error(struct fake_control *f, uint32_t id, enum err_kind kind, const char *text);
void fake_control_status(struct fake_control *f, uint32_t id, const char *name, uint8_t state);

#endif
