/* How long a loop object lives.
 *
 * An object made of libuv handles embeds one `struct life`. It counts open handles and requests in flight; the
 * memory goes away (the `gone` callback) when the count is zero and closing was asked for. `handle->data` always
 * points at the life, the object is found with CONTAINER_OF.
 *
 * First line of every libuv callback of a handle: if (life->closing) return; a request also drops its hold. */
#ifndef CCVM_LOOP_LIFE_H
#define CCVM_LOOP_LIFE_H

#include <stdbool.h>
#include <uv.h>

struct life {
	unsigned refs;
	bool closing;
	void (*gone)(struct life *life); /* called once, last; frees the object */
};

void life_init(struct life *life, void (*gone)(struct life *life));
/* An opened handle now belongs to this life. */
void life_adopt(struct life *life, uv_handle_t *handle);
void life_hold(struct life *life); /* around a request in flight */
void life_drop(struct life *life);
/* Closes an adopted handle; closing twice is harmless. */
void life_close_handle(struct life *life, uv_handle_t *handle);
/* The owner is done: `gone` fires when the last handle and request is. It may fire inside this call. */
void life_end(struct life *life);

#endif
