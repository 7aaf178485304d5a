/* Follows the audit log of each VM and turns its records into entries; feed_store.c keeps them. A piece of a log is read in
 * each turn of the loop (core/loop/follow.h), so that a flooding VM costs a share of the time and not all of it. */
#include "core/client/feed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/audit/reader.h"
#include "core/base/escape.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/feed_store.h"
#include "core/client/fleet.h"
#include "core/client/tail.h"
#include "core/config/paths.h"
#include "core/loop/follow.h"
#include "core/loop/timer.h"

#define BACK_MOST (4u * 1024 * 1024) /* bytes of a log that are looked through for its last records */

/* Which state folder it is: one that was removed and made again under the same name is another VM. Inode numbers are used
 * again at once by some file systems, hence the time. */
struct folder {
	uint64_t inode;
	int64_t born_s;
	uint32_t born_ns;
};

struct source {
	struct feed *feed;
	char vm[VM_NAME_MAX + 1];
	struct folder folder;
	struct feed_owner owned; /* its entries */
	struct follow *follow;
	bool wanted; /* by the sync that runs */
};

struct feed {
	struct loop *loop; /* keeps */
	size_t per_vm;
	void (*on_change)(void *arg);
	void *arg;
	struct timer *change;
	struct source **sources; /* owned */
	size_t source_count;
	struct feed_store *store;
};

static const char *const EVENT_NAMES[] = {
    [FEED_OPEN] = "open",   [FEED_DENY] = "deny",   [FEED_FAIL] = "fail",
    [FEED_CLOSE] = "close", [FEED_OTHER] = "other",
};
static_assert(ARRAY_LEN(EVENT_NAMES) == FEED_EVENT_COUNT, "every event has a name");

const char *feed_event_name(enum feed_event ev)
{
	return (unsigned)ev < FEED_EVENT_COUNT ? EVENT_NAMES[ev] : "other";
}

static void changed(struct feed *f)
{
	if (!timer_is_active(f->change))
		timer_once(f->change, 0);
}

static void on_change_due(void *arg)
{
	struct feed *f = arg;
	f->on_change(f->arg);
}

/* ---- entries ---- */

static enum feed_event event_of(enum audit_event ev)
{
	static const struct {
		enum audit_event from;
		enum feed_event to;
	} MAP[] = {{AUDIT_OPEN, FEED_OPEN},
	           {AUDIT_DENY, FEED_DENY},
	           {AUDIT_FAIL, FEED_FAIL},
	           {AUDIT_CLOSE, FEED_CLOSE}};
	for (size_t i = 0; i < ARRAY_LEN(MAP); i++) {
		if (MAP[i].from == ev)
			return MAP[i].to;
	}
	return FEED_OTHER;
}

static void describe(const struct audit_record *r, struct feed_entry *out)
{
	char host[sizeof(r->host) + 16];
	*out = (struct feed_entry){
	    .time_ms = r->t_ms, .event = event_of(r->event), .up = r->up, .down = r->down, .ms = r->ms};
	if (r->host[0]) {
		escape_text(host, sizeof(host), r->host, strlen(r->host));
		snprintf(out->target, sizeof(out->target), r->port ? "%s:%u" : "%s", host, r->port);
	} else if (r->raw_len) {
		escape_text(out->target, sizeof(out->target), r->raw, MIN(r->raw_len, sizeof(r->raw)));
	}
	escape_text(out->rule, sizeof(out->rule), r->rule, strlen(r->rule));
	char detail[2 * AUDIT_DETAIL_MAX] = "";
	if (out->event != FEED_DENY) /* a detail that differs each time would keep refusals from being one */
		escape_text(detail, sizeof(detail), r->detail, strlen(r->detail));
	const char *why = r->why != AUDIT_WHY_NONE   ? audit_why_text(r->why)
	                  : out->event == FEED_OTHER ? audit_event_name(r->event)
	                                             : "";
	snprintf(out->why, sizeof(out->why), "%s%s%s", why, why[0] && detail[0] ? ": " : "", detail);
}

/* ---- sources ---- */

static void on_line(void *arg, const char *line, size_t len)
{
	struct source *s = arg;
	struct audit_record r;
	struct feed_entry e;
	if (!audit_parse(line, len, &r))
		return;
	describe(&r, &e);
	memcpy(e.vm, s->vm, sizeof(e.vm));
	feed_store_add(s->feed->store, &s->owned, &e);
	changed(s->feed);
}

static const struct follow_ops FOLLOW_OPS = {.on_line = on_line};

static bool folder_of(const char *dir, struct folder *out)
{
	struct statx st;
	if (statx(AT_FDCWD, dir, 0, STATX_INO | STATX_BTIME, &st) != 0)
		return false;
	*out = (struct folder){.inode = st.stx_ino};
	if (st.stx_mask & STATX_BTIME) {
		out->born_s = st.stx_btime.tv_sec;
		out->born_ns = st.stx_btime.tv_nsec;
	}
	return true;
}

static bool same_folder(const struct folder *a, const struct folder *b)
{
	return a->inode == b->inode && a->born_s == b->born_s && a->born_ns == b->born_ns;
}

static struct source *find_source(const struct feed *f, const char *vm)
{
	for (size_t i = 0; i < f->source_count; i++) {
		if (strcmp(f->sources[i]->vm, vm) == 0)
			return f->sources[i];
	}
	return NULL;
}

static void drop_source(struct feed *f, struct source *s)
{
	size_t i = 0;
	while (f->sources[i] != s)
		i++;
	memmove(f->sources + i, f->sources + i + 1, (--f->source_count - i) * sizeof(struct source *));
	follow_close(s->follow);
	feed_store_leave(f->store, &s->owned);
	changed(f);
	free(s);
}

static void start_source(struct feed *f, const char *vm, const char *dir, const struct folder *folder)
{
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = paths_join(dir, "audit.jsonl");
	struct source *s = mem_alloc(sizeof(*s));
	*s = (struct source){.feed = f, .folder = *folder, .wanted = true};
	snprintf(s->vm, sizeof(s->vm), "%s", vm);
	s->follow = follow_open(f->loop, path, tail_offset(path, f->per_vm, BACK_MOST), &FOLLOW_OPS, s, &e);
	if (!s->follow) { /* the VM went away meanwhile; the next sync looks again */
		log_debug("%s", e.msg);
		free(s);
		return;
	}
	feed_store_join(f->store, &s->owned);
	f->sources = mem_resize(f->sources, f->source_count + 1, sizeof(struct source *));
	f->sources[f->source_count++] = s;
}

void feed_add(struct feed *f, const char *vm)
{
	struct folder folder;
	char *dir FREE_ON_EXIT = paths_vm_state(vm);
	if (!folder_of(dir, &folder))
		return;
	struct source *s = find_source(f, vm);
	if (s && !same_folder(&s->folder, &folder)) {
		drop_source(f, s);
		s = NULL;
	}
	if (s)
		s->wanted = true;
	else
		start_source(f, vm, dir, &folder);
}

void feed_sync(struct feed *f, const struct fleet *fleet)
{
	for (size_t i = 0; i < f->source_count; i++)
		f->sources[i]->wanted = false;
	for (size_t i = 0; i < fleet_count(fleet); i++)
		feed_add(f, fleet_at(fleet, i)->status.name);
	for (size_t i = f->source_count; i > 0; i--) {
		if (!f->sources[i - 1]->wanted)
			drop_source(f, f->sources[i - 1]);
	}
}

/* ---- life ---- */

struct feed *feed_open(struct loop *loop, size_t keep, size_t per_vm, void (*on_change)(void *arg), void *arg)
{
	struct feed *f = mem_alloc(sizeof(*f));
	f->loop = loop;
	f->per_vm = per_vm;
	f->on_change = on_change;
	f->arg = arg;
	f->change = timer_create_on(loop, on_change_due, f);
	f->store = feed_store_create(keep);
	return f;
}

void feed_close(struct feed *f)
{
	if (!f)
		return;
	while (f->source_count > 0)
		drop_source(f, f->sources[f->source_count - 1]);
	timer_close(f->change);
	feed_store_destroy(f->store);
	free(f->sources);
	free(f);
}

void feed_look(struct feed *f, struct feed_list *out)
{
	feed_store_look(f->store, out);
}
