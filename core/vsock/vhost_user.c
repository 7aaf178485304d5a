/* One table says for each message how long its payload may be, how many descriptors it brings and who reads the
 * payload. Numbers are in host byte order, as both ends run on one machine. */
#include "core/vsock/vhost_user.h"

#include <string.h>

#include "core/base/check.h"

#define VRING_INDEX_MASK 0xffu
#define VRING_NO_FD      0x100u
#define FDS_BY_PAYLOAD   SIZE_MAX /* the payload says how many descriptors there must be */

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t get_u64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* Payload readers: the size is inside the row's limits already. They set the message's fields and say how many
 * descriptors belong to it. */

static bool read_nothing(const uint8_t *p, size_t size, struct vhost_user_message *m, size_t *fds,
                         struct err *e)
{
	(void)p, (void)size, (void)m, (void)fds, (void)e;
	return true;
}

static bool read_value(const uint8_t *p, size_t size, struct vhost_user_message *m, size_t *fds,
                       struct err *e)
{
	(void)size, (void)fds, (void)e;
	m->value = get_u64(p);
	return true;
}

static bool read_vring(struct vhost_user_message *m, uint64_t index, struct err *e)
{
	if (index >= VHOST_USER_VRINGS)
		return err_set(e, ERR_PROTOCOL, "%s for vring %llu", vhost_user_request_name(m->request),
		               (unsigned long long)index);
	m->vring = (uint32_t)index;
	return true;
}

static bool read_state(const uint8_t *p, size_t size, struct vhost_user_message *m, size_t *fds,
                       struct err *e)
{
	(void)size, (void)fds;
	m->number = get_u32(p + 4);
	return read_vring(m, get_u32(p), e);
}

static bool read_addr(const uint8_t *p, size_t size, struct vhost_user_message *m, size_t *fds, struct err *e)
{
	(void)size, (void)fds;
	m->vring_flags = get_u32(p + 4);
	m->desc_uva = get_u64(p + 8);
	m->used_uva = get_u64(p + 16);
	m->avail_uva = get_u64(p + 24);
	return read_vring(m, get_u32(p), e);
}

static bool read_vring_fd(const uint8_t *p, size_t size, struct vhost_user_message *m, size_t *fds,
                          struct err *e)
{
	(void)size;
	uint64_t v = get_u64(p);
	if (v & ~(uint64_t)(VRING_INDEX_MASK | VRING_NO_FD))
		return err_set(e, ERR_PROTOCOL, "%s with unknown bits", vhost_user_request_name(m->request));
	m->no_fd = v & VRING_NO_FD;
	*fds = m->no_fd ? 0 : 1;
	return read_vring(m, v & VRING_INDEX_MASK, e);
}

#define REGION_SIZE 32u

static bool read_mem_table(const uint8_t *p, size_t size, struct vhost_user_message *m, size_t *fds,
                           struct err *e)
{
	uint32_t count = get_u32(p);
	if (count == 0 || count > MEMORY_MOST_REGIONS || size != 8 + count * REGION_SIZE)
		return err_set(e, ERR_PROTOCOL, "memory table of %u regions in %zu bytes", count, size);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *r = p + 8 + i * REGION_SIZE;
		m->regions[i] = (struct memory_region){.gpa = get_u64(r),
		                                       .size = get_u64(r + 8),
		                                       .uva = get_u64(r + 16),
		                                       .offset = get_u64(r + 24)};
	}
	m->region_count = count;
	*fds = count;
	return true;
}

static bool read_config(const uint8_t *p, size_t size, struct vhost_user_message *m, size_t *fds,
                        struct err *e)
{
	(void)fds;
	m->config_offset = get_u32(p);
	m->config_size = get_u32(p + 4);
	if (m->config_size > VHOST_USER_CONFIG_MAX || size != 12 + m->config_size)
		return err_set(e, ERR_PROTOCOL, "config message of %u bytes in %zu", m->config_size, size);
	return true;
}

static const struct row {
	const char *name;
	size_t min, max; /* payload bytes */
	size_t fds;
	bool answers;
	bool (*read)(const uint8_t *p, size_t size, struct vhost_user_message *m, size_t *fds, struct err *e);
} ROWS[VHOST_USER_REQUEST_COUNT] = {
    [VHOST_USER_GET_FEATURES] = {"GET_FEATURES", 0, 0, 0, true, read_nothing},
    [VHOST_USER_SET_FEATURES] = {"SET_FEATURES", 8, 8, 0, false, read_value},
    [VHOST_USER_SET_OWNER] = {"SET_OWNER", 0, 0, 0, false, read_nothing},
    [VHOST_USER_RESET_OWNER] = {"RESET_OWNER", 0, 0, 0, false, read_nothing},
    [VHOST_USER_SET_MEM_TABLE] = {"SET_MEM_TABLE", 8, 8 + MEMORY_MOST_REGIONS *REGION_SIZE, FDS_BY_PAYLOAD,
                                  false, read_mem_table},
    [VHOST_USER_SET_VRING_NUM] = {"SET_VRING_NUM", 8, 8, 0, false, read_state},
    [VHOST_USER_SET_VRING_ADDR] = {"SET_VRING_ADDR", 40, 40, 0, false, read_addr},
    [VHOST_USER_SET_VRING_BASE] = {"SET_VRING_BASE", 8, 8, 0, false, read_state},
    [VHOST_USER_GET_VRING_BASE] = {"GET_VRING_BASE", 8, 8, 0, true, read_state},
    [VHOST_USER_SET_VRING_KICK] = {"SET_VRING_KICK", 8, 8, FDS_BY_PAYLOAD, false, read_vring_fd},
    [VHOST_USER_SET_VRING_CALL] = {"SET_VRING_CALL", 8, 8, FDS_BY_PAYLOAD, false, read_vring_fd},
    [VHOST_USER_SET_VRING_ERR] = {"SET_VRING_ERR", 8, 8, FDS_BY_PAYLOAD, false, read_vring_fd},
    [VHOST_USER_GET_PROTOCOL_FEATURES] = {"GET_PROTOCOL_FEATURES", 0, 0, 0, true, read_nothing},
    [VHOST_USER_SET_PROTOCOL_FEATURES] = {"SET_PROTOCOL_FEATURES", 8, 8, 0, false, read_value},
    [VHOST_USER_GET_QUEUE_NUM] = {"GET_QUEUE_NUM", 0, 0, 0, true, read_nothing},
    [VHOST_USER_SET_VRING_ENABLE] = {"SET_VRING_ENABLE", 8, 8, 0, false, read_state},
    [VHOST_USER_GET_CONFIG] = {"GET_CONFIG", 12, 12 + VHOST_USER_CONFIG_MAX, 0, true, read_config},
    [VHOST_USER_SET_CONFIG] = {"SET_CONFIG", 12, 12 + VHOST_USER_CONFIG_MAX, 0, false, read_config},
};

static const struct row *find_row(uint32_t request)
{
	return request < VHOST_USER_REQUEST_COUNT && ROWS[request].name ? &ROWS[request] : NULL;
}

const char *vhost_user_request_name(uint32_t request)
{
	const struct row *row = find_row(request);
	return row ? row->name : "unknown message";
}

bool vhost_user_payload_size(const uint8_t header[VHOST_USER_HEADER_SIZE], size_t *size, struct err *e)
{
	uint32_t request = get_u32(header), flags = get_u32(header + 4), bytes = get_u32(header + 8);
	const struct row *row = find_row(request);
	if (request >= VHOST_USER_REQUEST_COUNT)
		return err_set(e, ERR_PROTOCOL, "message number %u", request);
	if ((flags & ~VHOST_USER_NEED_REPLY) != VHOST_USER_VERSION)
		return err_set(e, ERR_PROTOCOL, "message %u with flags %#x", request, flags);
	if (bytes > VHOST_USER_PAYLOAD_MAX || (row && (bytes < row->min || bytes > row->max)))
		return err_set(e, ERR_PROTOCOL, "%s (%u) of %u bytes", vhost_user_request_name(request),
		               request, bytes);
	*size = bytes;
	return true;
}

bool vhost_user_parse(const uint8_t *bytes, size_t len, size_t fd_count, struct vhost_user_message *out,
                      struct err *e)
{
	size_t size;
	if (len < VHOST_USER_HEADER_SIZE)
		return err_set(e, ERR_PROTOCOL, "message of %zu bytes", len);
	if (!vhost_user_payload_size(bytes, &size, e))
		return false;
	if (len != VHOST_USER_HEADER_SIZE + size)
		return err_set(e, ERR_PROTOCOL, "message of %zu bytes, expected %zu", len,
		               VHOST_USER_HEADER_SIZE + size);
	struct vhost_user_message m = {.request = get_u32(bytes)};
	const struct row *row = find_row(m.request);
	m.need_reply = get_u32(bytes + 4) & VHOST_USER_NEED_REPLY;
	if (!row) { /* something newer: whatever descriptors it brings are closed by the caller */
		*out = m;
		return true;
	}
	size_t fds = row->fds;
	m.known = true;
	m.answers = row->answers;
	if (!row->read(bytes + VHOST_USER_HEADER_SIZE, size, &m, &fds, e))
		return false;
	if (fd_count != fds)
		return err_set(e, ERR_PROTOCOL, "%s with %zu descriptors instead of %zu", row->name, fd_count,
		               fds);
	*out = m;
	return true;
}

static uint8_t *put_header(uint8_t *out, uint32_t request, size_t size)
{
	uint32_t words[3] = {request, VHOST_USER_VERSION | VHOST_USER_REPLY, (uint32_t)size};
	memcpy(out, words, sizeof(words));
	return out + sizeof(words);
}

size_t vhost_user_answer_u64(uint8_t *out, uint32_t request, uint64_t value)
{
	memcpy(put_header(out, request, sizeof(value)), &value, sizeof(value));
	return VHOST_USER_HEADER_SIZE + sizeof(value);
}

size_t vhost_user_answer_vring(uint8_t *out, uint32_t request, uint32_t vring, uint32_t number)
{
	uint32_t words[2] = {vring, number};
	memcpy(put_header(out, request, sizeof(words)), words, sizeof(words));
	return VHOST_USER_HEADER_SIZE + sizeof(words);
}

size_t vhost_user_answer_config(uint8_t *out, uint32_t offset, const uint8_t *config, size_t len)
{
	if (len == 0) {
		put_header(out, VHOST_USER_GET_CONFIG, 0);
		return VHOST_USER_HEADER_SIZE;
	}
	CHECK(len <= VHOST_USER_CONFIG_MAX);
	uint32_t words[3] = {offset, (uint32_t)len, 0};
	uint8_t *p = put_header(out, VHOST_USER_GET_CONFIG, sizeof(words) + len);
	memcpy(p, words, sizeof(words));
	memcpy(p + sizeof(words), config, len);
	return VHOST_USER_HEADER_SIZE + sizeof(words) + len;
}
