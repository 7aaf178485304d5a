#include "core/loop/work.h"

#include <stdlib.h>

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"

struct work {
	uv_work_t req;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void on_run(uv_work_t *req)
{
	struct work *w = CONTAINER_OF(req, struct work, req);
	w->run(w->arg);
}

static void on_done(uv_work_t *req, int status)
{
	struct work *w = CONTAINER_OF(req, struct work, req);
	(void)status; /* never cancelled */
	w->done(w->arg);
	free(w);
}

void work_start(struct loop *loop, void (*run)(void *arg), void (*done)(void *arg), void *arg)
{
	struct work *w = mem_alloc(sizeof(*w));
	w->run = run;
	w->done = done;
	w->arg = arg;
	if (uv_queue_work(loop_uv(loop), &w->req, on_run, on_done) != 0)
		BUG("uv_queue_work without a callback");
}
