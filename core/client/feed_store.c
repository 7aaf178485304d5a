/* Each owner has its entries and refusals in lists of its own, in the order of time, so that adding one and dropping the
 * oldest touch two list items. The arrays that put all owners together are made when somebody looks and something has
 * changed: a log that grows by thousands of lines costs one sorting for each picture, not one for each line.
 *
 * A refusal is found by a hash of its texts. A guest that chooses host names which collide makes one chain as long as
 * the store is large, which is bounded and still cheap. */
#include "core/client/feed_store.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/mem.h"

struct kept_entry {
	struct list link; /* of its owner */
	struct feed_entry entry;
};

struct kept_denial {
	struct list link; /* of its owner */
	const struct feed_owner *owner;
	struct kept_denial *next; /* in its bucket */
	size_t bucket;
	struct feed_denial denial;
};

struct feed_store {
	size_t keep;
	struct list owners;
	size_t entry_count, denial_count;
	struct kept_denial **buckets; /* bucket_count of them, a power of two */
	size_t bucket_count;
	uint64_t serial, last_id, generation;
	/* What feed_store_look gave out; `keep` pointers each. */
	const struct feed_entry **entries;
	const struct feed_denial **denials;
	uint64_t looked_at; /* the generation of it */
};

struct feed_store *feed_store_create(size_t keep)
{
	CHECK(keep > 0);
	struct feed_store *s = mem_alloc(sizeof(*s));
	*s = (struct feed_store){.keep = keep, .generation = 1, .bucket_count = 1};
	while (s->bucket_count < keep)
		s->bucket_count *= 2;
	s->buckets = mem_array(s->bucket_count, sizeof(struct kept_denial *));
	s->entries = mem_array(keep, sizeof(struct feed_entry *));
	s->denials = mem_array(keep, sizeof(struct feed_denial *));
	list_init(&s->owners);
	return s;
}

void feed_store_destroy(struct feed_store *s)
{
	if (!s)
		return;
	CHECK(list_is_empty(&s->owners));
	free(s->buckets);
	free(s->entries);
	free(s->denials);
	free(s);
}

/* ---- letting go ---- */

static void drop_entry(struct feed_store *s, struct feed_owner *o, struct list *item)
{
	list_remove(item);
	o->entry_count--;
	s->entry_count--;
	free(LIST_ENTRY(item, struct kept_entry, link));
}

static void drop_denial(struct feed_store *s, struct feed_owner *o, struct list *item)
{
	struct kept_denial *d = LIST_ENTRY(item, struct kept_denial, link);
	struct kept_denial **at = &s->buckets[d->bucket];
	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	list_remove(item);
	o->denial_count--;
	s->denial_count--;
	free(d);
}

static void make_room_for_entry(struct feed_store *s)
{
	struct feed_owner *most = NULL;
	LIST_FOREACH (item, &s->owners) {
		struct feed_owner *o = LIST_ENTRY(item, struct feed_owner, link);
		if (!most || o->entry_count > most->entry_count)
			most = o;
	}
	if (most && s->entry_count == s->keep)
		drop_entry(s, most, most->entries.next);
}

static void make_room_for_denial(struct feed_store *s)
{
	struct feed_owner *most = NULL;
	LIST_FOREACH (item, &s->owners) {
		struct feed_owner *o = LIST_ENTRY(item, struct feed_owner, link);
		if (!most || o->denial_count > most->denial_count)
			most = o;
	}
	if (most && s->denial_count == s->keep)
		drop_denial(s, most, most->denials.next);
}

void feed_store_join(struct feed_store *s, struct feed_owner *o)
{
	*o = (struct feed_owner){.entry_count = 0};
	list_init(&o->entries);
	list_init(&o->denials);
	list_append(&s->owners, &o->link);
}

void feed_store_leave(struct feed_store *s, struct feed_owner *o)
{
	while (!list_is_empty(&o->entries))
		drop_entry(s, o, o->entries.next);
	while (!list_is_empty(&o->denials))
		drop_denial(s, o, o->denials.next);
	list_remove(&o->link);
	s->generation++;
}

/* ---- adding ---- */

/* FNV-1a. */
static size_t hash_text(size_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * (size_t)UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * (size_t)UINT64_C(0x100000001b3);
}

static size_t bucket_of(const struct feed_store *s, const struct feed_entry *e)
{
	size_t hash = hash_text((size_t)UINT64_C(0xcbf29ce484222325), e->vm);
	hash = hash_text(hash, e->target);
	hash = hash_text(hash, e->why);
	return (hash ^ hash >> 20) & (s->bucket_count - 1);
}

static struct kept_denial *find_denial(const struct feed_store *s, const struct feed_owner *o,
                                       const struct feed_entry *e, size_t bucket)
{
	for (struct kept_denial *d = s->buckets[bucket]; d; d = d->next) {
		if (d->owner == o && strcmp(d->denial.newest.target, e->target) == 0 &&
		    strcmp(d->denial.newest.why, e->why) == 0)
			return d;
	}
	return NULL;
}

/* Behind all that are not later; `time_of` reads the time of an item. Nearly always the end at once. */
static void insert_by_time(struct list *head, struct list *item, int64_t time_ms,
                           int64_t (*time_of)(const struct list *item))
{
	struct list *before = head->prev;
	while (before != head && time_of(before) > time_ms)
		before = before->prev;
	list_append(before->next, item);
}

static int64_t entry_time(const struct list *item)
{
	return ((const struct kept_entry *)(const void *)item)->entry.time_ms;
}

static int64_t denial_time(const struct list *item)
{
	return ((const struct kept_denial *)(const void *)item)->denial.newest.time_ms;
}

static void add_entry(struct feed_store *s, struct feed_owner *o, const struct feed_entry *e)
{
	make_room_for_entry(s);
	struct kept_entry *k = mem_alloc(sizeof(*k));
	k->entry = *e;
	insert_by_time(&o->entries, &k->link, e->time_ms, entry_time);
	o->entry_count++;
	s->entry_count++;
}

static struct kept_denial *new_denial(struct feed_store *s, struct feed_owner *o, size_t bucket)
{
	make_room_for_denial(s);
	struct kept_denial *d = mem_alloc(sizeof(*d));
	*d = (struct kept_denial){.owner = o, .bucket = bucket, .next = s->buckets[bucket]};
	d->denial.id = ++s->last_id;
	s->buckets[bucket] = d;
	list_init(&d->link);
	o->denial_count++;
	s->denial_count++;
	return d;
}

static void add_denial(struct feed_store *s, struct feed_owner *o, const struct feed_entry *e)
{
	size_t bucket = bucket_of(s, e);
	struct kept_denial *d = find_denial(s, o, e, bucket);
	if (!d)
		d = new_denial(s, o, bucket);
	bool first = d->denial.count++ == 0;
	if (first || e->time_ms < d->denial.first_ms)
		d->denial.first_ms = e->time_ms;
	if (!first && e->time_ms < d->denial.newest.time_ms)
		return; /* the clock was put back: the row stays where it is */
	d->denial.newest = *e;
	list_remove(&d->link);
	insert_by_time(&o->denials, &d->link, e->time_ms, denial_time);
}

void feed_store_add(struct feed_store *s, struct feed_owner *o, const struct feed_entry *e)
{
	struct feed_entry entry = *e;
	entry.serial = ++s->serial;
	s->generation++;
	add_entry(s, o, &entry);
	if (e->event == FEED_DENY)
		add_denial(s, o, &entry);
}

/* ---- looking ---- */

static int by_time(const struct feed_entry *x, const struct feed_entry *y)
{
	if (x->time_ms != y->time_ms)
		return x->time_ms < y->time_ms ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int entries_by_time(const void *a, const void *b)
{
	return by_time(*(const struct feed_entry *const *)a, *(const struct feed_entry *const *)b);
}

static int denials_by_time(const void *a, const void *b)
{
	return by_time(&(*(const struct feed_denial *const *)a)->newest,
	               &(*(const struct feed_denial *const *)b)->newest);
}

static void put_together(struct feed_store *s)
{
	size_t entries = 0, denials = 0;
	LIST_FOREACH (item, &s->owners) {
		struct feed_owner *o = LIST_ENTRY(item, struct feed_owner, link);
		LIST_FOREACH (e, &o->entries)
			s->entries[entries++] = &LIST_ENTRY(e, struct kept_entry, link)->entry;
		LIST_FOREACH (d, &o->denials)
			s->denials[denials++] = &LIST_ENTRY(d, struct kept_denial, link)->denial;
	}
	qsort(s->entries, entries, sizeof(struct feed_entry *), entries_by_time);
	qsort(s->denials, denials, sizeof(struct feed_denial *), denials_by_time);
	s->looked_at = s->generation;
}

void feed_store_look(struct feed_store *s, struct feed_list *out)
{
	if (s->looked_at != s->generation)
		put_together(s);
	*out = (struct feed_list){.entries = s->entries,
	                          .entry_count = s->entry_count,
	                          .denials = s->denials,
	                          .denial_count = s->denial_count,
	                          .generation = s->generation};
}
