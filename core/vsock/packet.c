#include "core/vsock/packet.h"

#include "core/base/check.h"

static const char *const OP_NAMES[] = {
    [PACKET_OP_INVALID] = "invalid",
    [PACKET_OP_REQUEST] = "request",
    [PACKET_OP_RESPONSE] = "response",
    [PACKET_OP_RST] = "rst",
    [PACKET_OP_SHUTDOWN] = "shutdown",
    [PACKET_OP_RW] = "rw",
    [PACKET_OP_CREDIT_UPDATE] = "credit-update",
    [PACKET_OP_CREDIT_REQUEST] = "credit-request",
};
static_assert(ARRAY_LEN(OP_NAMES) == PACKET_OP_COUNT, "every operation has a name");

/* The header is little-endian whatever the host is. */
static uint64_t get_le(const uint8_t **p, int size)
{
	uint64_t v = 0;
	for (int i = 0; i < size; i++)
		v |= (uint64_t)(*p)[i] << (8 * i);
	*p += size;
	return v;
}

static void put_le(uint8_t **p, uint64_t v, int size)
{
	for (int i = 0; i < size; i++)
		(*p)[i] = (uint8_t)(v >> (8 * i));
	*p += size;
}

void packet_decode(struct packet_header *out, const uint8_t bytes[PACKET_HEADER_SIZE])
{
	const uint8_t *p = bytes;
	out->src_cid = get_le(&p, 8);
	out->dst_cid = get_le(&p, 8);
	out->src_port = (uint32_t)get_le(&p, 4);
	out->dst_port = (uint32_t)get_le(&p, 4);
	out->len = (uint32_t)get_le(&p, 4);
	out->type = (uint16_t)get_le(&p, 2);
	out->op = (uint16_t)get_le(&p, 2);
	out->flags = (uint32_t)get_le(&p, 4);
	out->buf_alloc = (uint32_t)get_le(&p, 4);
	out->fwd_cnt = (uint32_t)get_le(&p, 4);
	CHECK(p == bytes + PACKET_HEADER_SIZE);
}

void packet_encode(uint8_t out[PACKET_HEADER_SIZE], const struct packet_header *h)
{
	uint8_t *p = out;
	put_le(&p, h->src_cid, 8);
	put_le(&p, h->dst_cid, 8);
	put_le(&p, h->src_port, 4);
	put_le(&p, h->dst_port, 4);
	put_le(&p, h->len, 4);
	put_le(&p, h->type, 2);
	put_le(&p, h->op, 2);
	put_le(&p, h->flags, 4);
	put_le(&p, h->buf_alloc, 4);
	put_le(&p, h->fwd_cnt, 4);
	CHECK(p == out + PACKET_HEADER_SIZE);
}

const char *packet_op_name(uint16_t op)
{
	return op < PACKET_OP_COUNT ? OP_NAMES[op] : "unknown";
}
