#include "core/loop/signals.h"

#include <stdlib.h>

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

#define MOST_SIGNALS 12

struct signals {
	struct life life;
	uv_signal_t handles[MOST_SIGNALS];
	size_t count;
	void (*fn)(void *arg, int signum);
	void *arg;
};

static void on_gone(struct life *life)
{
	free(CONTAINER_OF(life, struct signals, life));
}

static void on_signal(uv_signal_t *handle, int signum)
{
	struct signals *s = CONTAINER_OF(handle->data, struct signals, life);
	if (!s->life.closing)
		s->fn(s->arg, signum);
}

struct signals *signals_open(struct loop *loop, const int *signums, void (*fn)(void *arg, int signum),
                             void *arg)
{
	struct signals *s = mem_alloc(sizeof(*s));
	life_init(&s->life, on_gone);
	s->fn = fn;
	s->arg = arg;
	for (; signums[s->count]; s->count++) {
		CHECK(s->count < MOST_SIGNALS);
		uv_signal_t *handle = &s->handles[s->count];
		uv_signal_init(loop_uv(loop), handle);
		life_adopt(&s->life, (uv_handle_t *)handle);
		uv_signal_start(handle, on_signal, signums[s->count]);
	}
	return s;
}

void signals_close(struct signals *s)
{
	if (!s || s->life.closing)
		return;
	for (size_t i = 0; i < s->count; i++)
		life_close_handle(&s->life, (uv_handle_t *)&s->handles[i]);
	life_end(&s->life);
}
