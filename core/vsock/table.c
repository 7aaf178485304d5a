#include "core/vsock/table.h"

#include "core/base/check.h"

static struct connection **bucket(const struct table *t, uint32_t guest_port, uint32_t host_port)
{
	/* The guest chooses its port and could fill one bucket: with at most about a thousand connections that
	 * costs it a short walk, nothing else. */
	uint32_t h = (guest_port ^ (host_port * 0x9e3779b1u)) * 0x85ebca6bu;
	return (struct connection **)&t->buckets[h >> 24];
}
static_assert(TABLE_BUCKETS == 256, "the bucket is the upper byte of a hash");

struct connection *table_find(const struct table *t, uint32_t guest_port, uint32_t host_port)
{
	struct connection *c = *bucket(t, guest_port, host_port);
	while (c && (c->guest_port != guest_port || c->host_port != host_port))
		c = c->next_in_table;
	return c;
}

void table_add(struct table *t, struct connection *c)
{
	CHECK(!c->in_table && !table_find(t, c->guest_port, c->host_port));
	struct connection **b = bucket(t, c->guest_port, c->host_port);
	c->next_in_table = *b;
	c->in_table = true;
	*b = c;
}

void table_remove(struct table *t, struct connection *c)
{
	if (!c->in_table)
		return;
	struct connection **p = bucket(t, c->guest_port, c->host_port);
	while (*p != c)
		p = &(*p)->next_in_table;
	*p = c->next_in_table;
	c->in_table = false;
}

uint32_t table_new_host_port(struct table *t, uint32_t guest_port)
{
	for (;;) { /* ends: there are far fewer connections than ports */
		uint32_t port = TABLE_HOST_PORT + t->next_host_port++ % TABLE_HOST_PORT;
		if (!table_find(t, guest_port, port))
			return port;
	}
}

bool table_push_reset(struct table *t, uint32_t guest_port, uint32_t host_port)
{
	if (t->reset_count == TABLE_RESETS)
		return false;
	unsigned at = (t->first_reset + t->reset_count++) % TABLE_RESETS;
	t->resets[at] = (struct table_pair){.guest_port = guest_port, .host_port = host_port};
	return true;
}

const struct table_pair *table_first_reset(const struct table *t)
{
	return t->reset_count ? &t->resets[t->first_reset] : NULL;
}

void table_pop_reset(struct table *t)
{
	CHECK(t->reset_count);
	t->first_reset = (t->first_reset + 1) % TABLE_RESETS;
	t->reset_count--;
}

void table_drop_resets(struct table *t)
{
	t->reset_count = 0;
}
