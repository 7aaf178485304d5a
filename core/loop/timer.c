#include "core/loop/timer.h"

#include <stdlib.h>

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

struct timer {
	struct life life;
	uv_timer_t uv;
	void (*fn)(void *arg);
	void *arg;
};

static void on_gone(struct life *life)
{
	free(CONTAINER_OF(life, struct timer, life));
}

static void on_timer(uv_timer_t *handle)
{
	struct timer *t = CONTAINER_OF(handle->data, struct timer, life);
	if (!t->life.closing)
		t->fn(t->arg);
}

struct timer *timer_create_on(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct timer *t = mem_alloc(sizeof(*t));
	life_init(&t->life, on_gone);
	t->fn = fn;
	t->arg = arg;
	uv_timer_init(loop_uv(loop), &t->uv);
	life_adopt(&t->life, (uv_handle_t *)&t->uv);
	return t;
}

void timer_once(struct timer *t, uint64_t ms)
{
	uv_timer_start(&t->uv, on_timer, ms, 0);
}

void timer_every(struct timer *t, uint64_t ms)
{
	uv_timer_start(&t->uv, on_timer, ms, ms);
}

void timer_stop(struct timer *t)
{
	uv_timer_stop(&t->uv);
}

bool timer_is_active(const struct timer *t)
{
	return uv_is_active((const uv_handle_t *)&t->uv);
}

void timer_close(struct timer *t)
{
	if (!t || t->life.closing)
		return;
	life_close_handle(&t->life, (uv_handle_t *)&t->uv);
	life_end(&t->life);
}
