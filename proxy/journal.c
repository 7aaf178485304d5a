#include "proxy/journal.h"

#include <stdlib.h>
#include <uv.h>

#include "core/audit/writer.h"
#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"

struct waiting {
	struct list link;
	struct audit_record record;
};

struct journal {
	struct loop *loop; /* keeps */
	struct audit_writer *writer;
	struct timer *timer; /* the next sync, or the next try of what waits */
	struct list waiting;
	uv_fs_t sync;
	bool syncing;
	bool closed; /* while a sync is on its way: it frees this */
	bool dirty;
	bool complained;
};

static void start_timer(struct journal *j)
{
	if (!timer_is_active(j->timer))
		timer_once(j->timer, JOURNAL_SYNC_MS);
}

static bool write_now(struct journal *j, struct audit_record *r)
{
	struct err e = ERR_INIT;
	if (audit_write(j->writer, r, &e)) {
		j->complained = false;
		j->dirty = true;
		start_timer(j);
		return true;
	}
	if (!j->complained)
		log_error("%s; refusing all requests until it works again", e.msg);
	j->complained = true;
	return false;
}

static bool write_waiting(struct journal *j)
{
	while (!list_is_empty(&j->waiting)) {
		struct waiting *w = LIST_ENTRY(j->waiting.next, struct waiting, link);
		if (!write_now(j, &w->record))
			return false;
		list_remove(&w->link);
		free(w);
	}
	return true;
}

static void finish(struct journal *j)
{
	audit_writer_close(j->writer);
	free(j);
}

static void on_synced(uv_fs_t *req)
{
	struct journal *j = CONTAINER_OF(req, struct journal, sync);
	uv_fs_req_cleanup(req);
	j->syncing = false;
	if (j->closed)
		finish(j);
	else if (j->dirty)
		start_timer(j);
}

static void on_timer(void *arg)
{
	struct journal *j = arg;
	if (!write_waiting(j))
		start_timer(j);
	if (!j->dirty || j->syncing)
		return;
	j->dirty = false;
	j->syncing = uv_fs_fdatasync(loop_uv(j->loop), &j->sync, audit_writer_fd(j->writer), on_synced) == 0;
}

struct journal *journal_open(struct loop *loop, const char *path, const char *vm, struct err *e)
{
	struct audit_writer *writer = audit_writer_open(path, vm, e);
	if (!writer)
		return NULL;
	struct journal *j = mem_alloc(sizeof(*j));
	j->loop = loop;
	j->writer = writer;
	list_init(&j->waiting);
	j->timer = timer_create_on(loop, on_timer, j);
	return j;
}

bool journal_write(struct journal *j, struct audit_record *r)
{
	return write_waiting(j) && write_now(j, r);
}

void journal_write_soon(struct journal *j, const struct audit_record *r)
{
	struct audit_record copy = *r;
	if (journal_write(j, &copy))
		return;
	struct waiting *w = mem_alloc(sizeof(*w));
	w->record = *r;
	list_append(&j->waiting, &w->link);
	start_timer(j);
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	write_waiting(j);
	while (!list_is_empty(&j->waiting)) {
		struct waiting *w = LIST_ENTRY(j->waiting.next, struct waiting, link);
		list_remove(&w->link);
		free(w);
	}
	timer_close(j->timer);
	j->closed = true;
	if (!j->syncing)
		finish(j);
}
