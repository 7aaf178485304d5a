#include "core/client/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/audit/reader.h"
#include "core/base/escape.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/client/fleet.h"
#include "core/client/tail.h"
#include "core/config/paths.h"
#include "core/loop/follow.h"
#include "core/loop/timer.h"

#define BACK_MOST (4u * 1024 * 1024) /* bytes of a log that are looked through for its last records */

struct source {
	struct feed *feed;
	char vm[VM_NAME_MAX + 1];
	ino_t inode; /* of its state folder: another one is another VM of the same name */
	struct follow *follow;
	bool wanted; /* by the sync that runs */
};

struct feed {
	struct loop *loop; /* keeps */
	size_t keep, per_vm;
	void (*on_change)(void *arg);
	void *arg;
	struct timer *change;
	struct source **sources; /* owned */
	size_t source_count;
	struct feed_entry **entries; /* owned, by time */
	size_t count;
	uint64_t serial;
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
	    .time_ms = r->t_ms, .event = event_of(r->event), .up = r->up, .down = r->down};
	if (r->host[0]) {
		escape_text(host, sizeof(host), r->host, strlen(r->host));
		snprintf(out->target, sizeof(out->target), r->port ? "%s:%u" : "%s", host, r->port);
	} else if (r->raw_len) {
		escape_text(out->target, sizeof(out->target), r->raw, MIN(r->raw_len, sizeof(r->raw)));
	}
	if (r->why != AUDIT_WHY_NONE)
		snprintf(out->why, sizeof(out->why), "%s", audit_why_text(r->why));
	else if (out->event == FEED_OTHER)
		snprintf(out->why, sizeof(out->why), "%s", audit_event_name(r->event));
}

static void add_entry(struct feed *f, const struct feed_entry *e)
{
	if (f->count == f->keep) {
		free(f->entries[0]);
		memmove(f->entries, f->entries + 1, --f->count * sizeof(struct feed_entry *));
	}
	size_t at = f->count; /* nearly always the end: logs are followed as they grow */
	while (at > 0 && f->entries[at - 1]->time_ms > e->time_ms)
		at--;
	memmove(f->entries + at + 1, f->entries + at, (f->count - at) * sizeof(struct feed_entry *));
	f->entries[at] = mem_copy(e, sizeof(*e));
	f->entries[at]->serial = ++f->serial;
	f->count++;
	changed(f);
}

static void forget_entries(struct feed *f, const char *vm)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->count; i++) {
		if (strcmp(f->entries[i]->vm, vm) == 0)
			free(f->entries[i]);
		else
			f->entries[kept++] = f->entries[i];
	}
	f->count = kept;
	changed(f);
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
	add_entry(s->feed, &e);
}

static const struct follow_ops FOLLOW_OPS = {.on_line = on_line};

static struct source *find_source(const struct feed *f, const char *vm, ino_t inode)
{
	for (size_t i = 0; i < f->source_count; i++) {
		if (f->sources[i]->inode == inode && strcmp(f->sources[i]->vm, vm) == 0)
			return f->sources[i];
	}
	return NULL;
}

static void source_destroy(struct source *s)
{
	follow_close(s->follow);
	free(s);
}

static void start_source(struct feed *f, const char *vm, const char *dir, ino_t inode)
{
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = paths_join(dir, "audit.jsonl");
	struct source *s = mem_alloc(sizeof(*s));
	*s = (struct source){.feed = f, .inode = inode, .wanted = true};
	snprintf(s->vm, sizeof(s->vm), "%s", vm);
	s->follow = follow_open(f->loop, path, tail_offset(path, f->per_vm, BACK_MOST), &FOLLOW_OPS, s, &e);
	if (!s->follow) { /* the VM went away meanwhile; the next sync looks again */
		log_debug("%s", e.msg);
		free(s);
		return;
	}
	f->sources = mem_resize(f->sources, f->source_count + 1, sizeof(struct source *));
	f->sources[f->source_count++] = s;
}

void feed_add(struct feed *f, const char *vm)
{
	struct stat st;
	char *dir FREE_ON_EXIT = paths_vm_state(vm);
	if (stat(dir, &st) != 0)
		return;
	struct source *s = find_source(f, vm, st.st_ino);
	if (s)
		s->wanted = true;
	else
		start_source(f, vm, dir, st.st_ino);
}

void feed_sync(struct feed *f, const struct fleet *fleet)
{
	for (size_t i = 0; i < f->source_count; i++)
		f->sources[i]->wanted = false;
	for (size_t i = 0; i < fleet_count(fleet); i++)
		feed_add(f, fleet_at(fleet, i)->status.name);
	size_t kept = 0;
	for (size_t i = 0; i < f->source_count; i++) {
		struct source *s = f->sources[i];
		if (s->wanted) {
			f->sources[kept++] = s;
			continue;
		}
		forget_entries(f, s->vm);
		source_destroy(s);
	}
	f->source_count = kept;
}

/* ---- life ---- */

struct feed *feed_open(struct loop *loop, size_t keep, size_t per_vm, void (*on_change)(void *arg), void *arg)
{
	struct feed *f = mem_alloc(sizeof(*f));
	CHECK(keep > 0);
	f->loop = loop;
	f->keep = keep;
	f->per_vm = per_vm;
	f->on_change = on_change;
	f->arg = arg;
	f->change = timer_create_on(loop, on_change_due, f);
	f->entries = mem_array(keep, sizeof(struct feed_entry *));
	return f;
}

void feed_close(struct feed *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->source_count; i++)
		source_destroy(f->sources[i]);
	for (size_t i = 0; i < f->count; i++)
		free(f->entries[i]);
	timer_close(f->change);
	free(f->sources);
	free(f->entries);
	free(f);
}

size_t feed_count(const struct feed *f)
{
	return f->count;
}

const struct feed_entry *feed_at(const struct feed *f, size_t i)
{
	CHECK(i < f->count);
	return f->entries[i];
}
