#include "core/client/dirwatch.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

struct dirwatch {
	struct life life;
	uv_fs_event_t event;
	void (*fn)(void *arg, const char *name);
	void *arg;
};

static void on_gone(struct life *life)
{
	free(CONTAINER_OF(life, struct dirwatch, life));
}

static void on_event(uv_fs_event_t *handle, const char *name, int events, int status)
{
	struct dirwatch *w = CONTAINER_OF(handle->data, struct dirwatch, life);
	(void)events;
	if (!w->life.closing)
		w->fn(w->arg, status == 0 && name ? name : "");
}

struct dirwatch *dirwatch_open(struct loop *loop, const char *path, void (*fn)(void *arg, const char *name),
                               void *arg, struct err *e)
{
	struct dirwatch *w = mem_alloc(sizeof(*w));
	life_init(&w->life, on_gone);
	w->fn = fn;
	w->arg = arg;
	uv_fs_event_init(loop_uv(loop), &w->event);
	life_adopt(&w->life, (uv_handle_t *)&w->event);
	int r = uv_fs_event_start(&w->event, on_event, path, 0);
	if (r != 0) {
		err_uv(e, r, "watch %s", path);
		dirwatch_close(w);
		return NULL;
	}
	return w;
}

void dirwatch_close(struct dirwatch *w)
{
	if (!w || w->life.closing)
		return;
	life_close_handle(&w->life, (uv_handle_t *)&w->event);
	life_end(&w->life);
}
