#include "core/loop/life.h"

#include "core/base/check.h"

void life_init(struct life *life, void (*gone)(struct life *life))
{
	*life = (struct life){.gone = gone};
}

static void maybe_gone(struct life *life)
{
	if (life->closing && life->refs == 0)
		life->gone(life);
}

void life_adopt(struct life *life, uv_handle_t *handle)
{
	handle->data = life;
	life->refs++;
}

void life_hold(struct life *life)
{
	life->refs++;
}

void life_drop(struct life *life)
{
	CHECK(life->refs > 0);
	life->refs--;
	maybe_gone(life);
}

static void on_handle_closed(uv_handle_t *handle)
{
	life_drop(handle->data);
}

void life_close_handle(struct life *life, uv_handle_t *handle)
{
	CHECK(handle->data == life);
	if (!uv_is_closing(handle))
		uv_close(handle, on_handle_closed);
}

void life_end(struct life *life)
{
	if (life->closing)
		return;
	life->closing = true;
	maybe_gone(life);
}
