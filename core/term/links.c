/* Open addressing over a growing array, as for clusters. Texts are kept with a NUL and with their hash, so that copying a
 * screen does not read every URI for every cell. */
#include "core/term/links.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/mem.h"

void links_finish(struct links *t)
{
	links_clear(t);
	free(t->items);
	free(t->slots);
	*t = (struct links){0};
}

void links_clear(struct links *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->items[i].uri);
	t->count = 0;
	t->bytes = 0;
	if (t->slots != NULL)
		memset(t->slots, 0, t->slot_count * sizeof(*t->slots));
}

bool link_is_valid(const char *uri, size_t len)
{
	static const char *const SCHEMES[] = {"http:", "https:", "file:", "mailto:"};
	if (len == 0 || len > LINK_URI_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (uri[i] <= ' ' || uri[i] > '~')
			return false;
	for (size_t i = 0; i < ARRAY_LEN(SCHEMES); i++) {
		size_t n = strlen(SCHEMES[i]);
		if (len > n && strncasecmp(uri, SCHEMES[i], n) == 0)
			return true;
	}
	return false;
}

static uint32_t hash_bytes(uint32_t h, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)bytes[i]) * 16777619u;
	return h;
}

uint32_t link_id(const char *text, size_t len)
{
	uint32_t h = hash_bytes(2166136261u, text, len);
	return h != 0 ? h : 1;
}

/* The slot that holds the link, or the free one where it belongs. slot_count is a power of two. */
static uint32_t *find_slot(const struct links *t, const struct link *l)
{
	uint32_t at = (l->hash ^ l->hash >> 15) & (t->slot_count - 1);
	for (; t->slots[at] != 0; at = (at + 1) & (t->slot_count - 1)) {
		const struct link *have = &t->items[t->slots[at] - 1];
		if (have->hash == l->hash && have->id == l->id && have->len == l->len &&
		    memcmp(have->uri, l->uri, l->len) == 0)
			break;
	}
	return &t->slots[at];
}

static void links_grow(struct links *t)
{
	uint32_t slots = t->slot_count == 0 ? 16 : t->slot_count * 2;
	t->items = mem_resize(t->items, slots / 2, sizeof(*t->items));
	free(t->slots);
	t->slots = mem_array(slots, sizeof(*t->slots));
	t->slot_count = slots;
	for (uint32_t i = 0; i < t->count; i++)
		*find_slot(t, &t->items[i]) = i + 1;
}

static unsigned intern(struct links *t, const struct link *l)
{
	if (t->count >= t->slot_count / 2 && t->count < LINKS_MOST)
		links_grow(t);
	uint32_t *slot = find_slot(t, l);
	if (*slot != 0)
		return *slot;
	if (t->count >= LINKS_MOST || l->len > LINKS_BYTES_MAX - t->bytes)
		return 0;
	struct link *own = &t->items[t->count++];
	*own = *l;
	own->uri = mem_alloc(l->len + 1);
	memcpy(own->uri, l->uri, l->len);
	t->bytes += l->len;
	*slot = t->count;
	return t->count;
}

unsigned links_intern(struct links *t, uint32_t id, const char *uri, size_t len)
{
	char text[LINK_URI_MAX];
	if (!link_is_valid(uri, len))
		return 0;
	memcpy(text, uri, len);
	struct link l = {.uri = text, .len = (uint32_t)len, .id = id, .hash = hash_bytes(id, uri, len)};
	return intern(t, &l);
}

unsigned links_copy(struct links *to, const struct links *from, unsigned link)
{
	const struct link *l = links_get(from, link);
	return l != NULL ? intern(to, l) : 0;
}

const struct link *links_get(const struct links *t, unsigned link)
{
	return link > 0 && link <= t->count ? &t->items[link - 1] : NULL;
}

size_t links_memory(const struct links *t)
{
	return t->slot_count * sizeof(*t->slots) + t->slot_count / 2 * sizeof(*t->items) + t->bytes +
	       t->count;
}
