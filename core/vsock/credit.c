#include "core/vsock/credit.h"

#include <stdlib.h>

#include "core/base/check.h"
#include "core/base/mem.h"

static_assert((CREDIT_MOST_PACKETS & (CREDIT_MOST_PACKETS - 1)) == 0, "packet numbers wrap at 2^32");

void credit_init(struct credit *c, uint32_t buf_alloc)
{
	*c = (struct credit){.buf_alloc = buf_alloc};
}

void credit_finish(struct credit *c)
{
	free(c->ends);
	*c = (struct credit){0};
}

void credit_peer(struct credit *c, uint32_t buf_alloc, uint32_t fwd_cnt)
{
	c->peer_buf_alloc = buf_alloc;
	c->peer_fwd_cnt = fwd_cnt;
	uint32_t in_flight = c->sent - fwd_cnt;
	/* Packets end in order, so the ones still in flight are those whose end lies within the bytes in flight. */
	while (c->first != c->next) {
		uint32_t unread = c->sent - c->ends[c->first % CREDIT_MOST_PACKETS];
		if (unread < in_flight)
			break;
		c->first++;
	}
}

uint32_t credit_bytes(const struct credit *c)
{
	uint32_t in_flight = c->sent - c->peer_fwd_cnt;
	return in_flight < c->peer_buf_alloc ? c->peer_buf_alloc - in_flight : 0;
}

static uint32_t ceiling(const struct credit *c)
{
	return MIN(MAX(c->peer_buf_alloc / 1024, 1u), (uint32_t)CREDIT_MOST_PACKETS);
}

uint32_t credit_packets(const struct credit *c)
{
	uint32_t most = ceiling(c), in_flight = c->next - c->first;
	return in_flight < most ? most - in_flight : 0;
}

bool credit_packets_are_low(const struct credit *c)
{
	return c->next - c->first >= MAX(ceiling(c) / 2, 1u);
}

uint32_t credit_sliver(const struct credit *c)
{
	return MAX(MIN((uint32_t)CREDIT_SLIVER, c->peer_buf_alloc / 2), 1u);
}

void credit_sent(struct credit *c, uint32_t len)
{
	CHECK(len > 0 && c->next - c->first < CREDIT_MOST_PACKETS);
	if (!c->ends)
		c->ends = mem_array(CREDIT_MOST_PACKETS, sizeof(*c->ends));
	c->sent += len;
	c->ends[c->next++ % CREDIT_MOST_PACKETS] = c->sent;
}

bool credit_received(struct credit *c, uint32_t len)
{
	uint32_t held = c->received - c->forwarded;
	if (len > c->buf_alloc || held > c->buf_alloc - len)
		return false;
	c->received += len;
	return true;
}

void credit_forwarded(struct credit *c, uint32_t len)
{
	CHECK(len <= c->received - c->forwarded);
	c->forwarded += len;
}

bool credit_update_is_due(const struct credit *c)
{
	uint32_t window = MIN(c->buf_alloc, c->peer_buf_alloc);
	return c->forwarded - c->announced >= MAX(window / 2, 1u);
}
