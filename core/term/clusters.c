/* Open addressing over a growing array. The table never shrinks while in use; a hostile guest can fill it with
 * CLUSTERS_MOST entries (80 KiB) and no more. */
#include "core/term/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/term/unicode.h"

void clusters_finish(struct clusters *t)
{
	free(t->items);
	free(t->slots);
	links_finish(&t->links);
	*t = (struct clusters){0};
}

void clusters_clear(struct clusters *t)
{
	t->count = 0;
	if (t->slots != NULL)
		memset(t->slots, 0, t->slot_count * sizeof(*t->slots));
	links_clear(&t->links);
}

size_t clusters_memory(const struct clusters *t)
{
	return t->slot_count * sizeof(*t->slots) + t->slot_count / 2 * sizeof(*t->items) +
	       links_memory(&t->links);
}

bool clusters_are_crowded(const struct clusters *t)
{
	return t->count > CLUSTERS_MOST / 2 || t->links.count > LINKS_MOST / 2 ||
	       t->links.bytes > LINKS_BYTES_MAX / 2;
}

static uint32_t cluster_hash(const struct cluster *c)
{
	uint32_t h = 2166136261u;
	for (size_t i = 0; i < CLUSTER_MAX; i++)
		h = (h ^ c->chars[i]) * 16777619u;
	return h ^ h >> 15;
}

/* The slot that holds the cluster, or the free one where it belongs. slot_count is a power of two. */
static uint32_t *find_slot(const struct clusters *t, const struct cluster *c)
{
	uint32_t at = cluster_hash(c) & (t->slot_count - 1);
	while (t->slots[at] != 0 && memcmp(&t->items[t->slots[at] - 1], c, sizeof(*c)) != 0)
		at = (at + 1) & (t->slot_count - 1);
	return &t->slots[at];
}

static void clusters_grow(struct clusters *t)
{
	uint32_t slots = t->slot_count == 0 ? 64 : t->slot_count * 2;
	t->items = mem_resize(t->items, slots / 2, sizeof(*t->items));
	free(t->slots);
	t->slots = mem_array(slots, sizeof(*t->slots));
	t->slot_count = slots;
	for (uint32_t i = 0; i < t->count; i++)
		*find_slot(t, &t->items[i]) = i + 1;
}

uint32_t clusters_intern(struct clusters *t, const uint32_t *chars, size_t n)
{
	if (n <= 1)
		return n == 0 ? 0 : chars[0];
	struct cluster c = {{0}};
	memcpy(c.chars, chars, MIN(n, (size_t)CLUSTER_MAX) * sizeof(*chars));
	if (t->count >= t->slot_count / 2 && t->count < CLUSTERS_MOST)
		clusters_grow(t);
	uint32_t *slot = find_slot(t, &c);
	if (*slot == 0) {
		if (t->count >= CLUSTERS_MOST)
			return 0;
		t->items[t->count++] = c;
		*slot = t->count;
	}
	return CELL_CLUSTER | (*slot - 1);
}

size_t clusters_get(const struct clusters *t, uint32_t code, uint32_t out[CLUSTER_MAX])
{
	if (code == 0)
		return 0;
	out[0] = code;
	if (!CELL_IS_CLUSTER(code))
		return 1;
	uint32_t index = code & ~CELL_CLUSTER;
	out[0] = UNICODE_REPLACEMENT;
	if (index >= t->count)
		return 1;
	size_t n = 0;
	for (; n < CLUSTER_MAX && t->items[index].chars[n] != 0; n++)
		out[n] = t->items[index].chars[n];
	return n;
}

const char *clusters_link(const struct clusters *t, unsigned link)
{
	const struct link *l = links_get(&t->links, link);
	return l != NULL ? l->uri : NULL;
}

struct cell clusters_copy_cell(struct clusters *to, const struct clusters *from, const struct cell *c)
{
	struct cell copy = *c;
	if (c->link != 0)
		copy.link = links_copy(&to->links, &from->links, c->link) & CELL_LINK_MASK;
	if (!CELL_IS_CLUSTER(c->code))
		return copy;
	uint32_t chars[CLUSTER_MAX];
	size_t n = clusters_get(from, c->code, chars);
	copy.code = clusters_intern(to, chars, n);
	if (copy.code == 0)
		copy.code = chars[0];
	return copy;
}

size_t clusters_cell_utf8(const struct clusters *t, const struct cell *c, char out[CELL_UTF8_MAX])
{
	if (c->width == CELL_TAIL)
		return 0;
	uint32_t chars[CLUSTER_MAX];
	size_t n = clusters_get(t, c->code, chars), len = 0;
	if (n == 0)
		out[len++] = ' ';
	for (size_t i = 0; i < n; i++)
		len += utf8_encode(chars[i], out + len);
	return len;
}
