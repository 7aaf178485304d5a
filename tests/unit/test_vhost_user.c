/* core/vsock/vhost_user: reading messages of QEMU, writing answers. */
#include "tests/lib/test.h"

#include <stdio.h>

#include "core/vsock/vhost_user.h"

struct raw {
	uint32_t request, flags, size;
	uint32_t words[128]; /* payload, host byte order */
};

static size_t pack(const struct raw *r, uint8_t *out)
{
	memcpy(out, r, VHOST_USER_HEADER_SIZE);
	memcpy(out + VHOST_USER_HEADER_SIZE, r->words, MIN(r->size, sizeof(r->words)));
	return VHOST_USER_HEADER_SIZE + MIN(r->size, sizeof(r->words));
}

static bool parse(const struct raw *r, size_t fds, struct vhost_user_message *m)
{
	uint8_t bytes[VHOST_USER_HEADER_SIZE + sizeof(r->words)];
	struct err e = ERR_INIT;
	memset(m, 0, sizeof(*m));
	bool ok = vhost_user_parse(bytes, pack(r, bytes), fds, m, &e);
	assert_int_equal(ok, e.kind == ERR_NONE);
	return ok;
}

static void reads_what_qemu_sends(void **state)
{
	(void)state;
	struct vhost_user_message m;
	assert_true(parse(&(struct raw){VHOST_USER_GET_FEATURES, 1, 0, {0}}, 0, &m));
	assert_true(m.known && m.answers && !m.need_reply);
	assert_true(parse(&(struct raw){VHOST_USER_SET_FEATURES, 9, 8, {0x50000000, 1}}, 0, &m));
	assert_true(m.need_reply && !m.answers && m.value == 0x150000000u);
	assert_true(parse(&(struct raw){VHOST_USER_SET_VRING_NUM, 1, 8, {1, 128}}, 0, &m));
	assert_true(m.vring == 1 && m.number == 128);
	assert_true(parse(
	    &(struct raw){VHOST_USER_SET_VRING_ADDR, 1, 40, {1, 0, 0x10, 1, 0x20, 2, 0x30, 3, 0, 0}}, 0, &m));
	assert_true(m.vring == 1 && m.desc_uva == 0x100000010u && m.used_uva == 0x200000020u &&
	            m.avail_uva == 0x300000030u);
	assert_true(parse(&(struct raw){VHOST_USER_SET_VRING_KICK, 1, 8, {1, 0}}, 1, &m));
	assert_true(m.vring == 1 && !m.no_fd);
	assert_true(parse(&(struct raw){VHOST_USER_SET_VRING_CALL, 1, 8, {0x100, 0}}, 0, &m));
	assert_true(m.vring == 0 && m.no_fd);
	assert_true(parse(&(struct raw){VHOST_USER_GET_CONFIG, 1, 20, {0, 8, 0, 0, 0}}, 0, &m));
	assert_true(m.config_offset == 0 && m.config_size == 8);
	assert_true(parse(
	    &(struct raw){
	        VHOST_USER_SET_MEM_TABLE, 9, 72, {2, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0}},
	    2, &m));
	assert_true(m.region_count == 2 && m.regions[0].gpa == 1 && m.regions[0].size == 2 &&
	            m.regions[0].uva == 3 && m.regions[0].offset == 4 && m.regions[1].offset == 8);
}

/* A newer QEMU may know more than we do: such a message is read and not understood. */
static void unknown_messages_are_readable(void **state)
{
	(void)state;
	struct vhost_user_message m;
	assert_true(parse(&(struct raw){40, 9, 16, {0}}, 3, &m));
	assert_true(!m.known && m.need_reply && m.request == 40);
}

static void refuses_malformed_messages(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t fds;
		struct raw raw;
	} BAD[] = {
	    {"version 0", 0, {VHOST_USER_GET_FEATURES, 0, 0, {0}}},
	    {"version 2", 0, {VHOST_USER_GET_FEATURES, 2, 0, {0}}},
	    {"a reply", 0, {VHOST_USER_GET_FEATURES, 5, 0, {0}}},
	    {"unknown flags", 0, {VHOST_USER_GET_FEATURES, 0x11, 0, {0}}},
	    {"request 64", 0, {64, 1, 0, {0}}},
	    {"request 2^32-1", 0, {UINT32_MAX, 1, 0, {0}}},
	    {"too long for any", 0, {40, 1, VHOST_USER_PAYLOAD_MAX + 1, {0}}},
	    {"size 2^32-1", 0, {VHOST_USER_SET_FEATURES, 1, UINT32_MAX, {0}}},
	    {"payload where none belongs", 0, {VHOST_USER_GET_FEATURES, 1, 8, {0}}},
	    {"short payload", 0, {VHOST_USER_SET_FEATURES, 1, 4, {0}}},
	    {"long payload", 0, {VHOST_USER_SET_VRING_NUM, 1, 12, {0, 128, 0}}},
	    {"vring 2", 0, {VHOST_USER_SET_VRING_NUM, 1, 8, {2, 128}}},
	    {"vring 2^32-1", 0, {VHOST_USER_GET_VRING_BASE, 1, 8, {UINT32_MAX, 0}}},
	    {"vring 2 address", 0, {VHOST_USER_SET_VRING_ADDR, 1, 40, {2}}},
	    {"vring 2 kick", 1, {VHOST_USER_SET_VRING_KICK, 1, 8, {2, 0}}},
	    {"kick with unknown bits", 1, {VHOST_USER_SET_VRING_KICK, 1, 8, {0x200, 0}}},
	    {"kick with high bits", 1, {VHOST_USER_SET_VRING_KICK, 1, 8, {0, 1}}},
	    {"kick without descriptor", 0, {VHOST_USER_SET_VRING_KICK, 1, 8, {0, 0}}},
	    {"kick with two descriptors", 2, {VHOST_USER_SET_VRING_KICK, 1, 8, {0, 0}}},
	    {"no-fd kick with a descriptor", 1, {VHOST_USER_SET_VRING_KICK, 1, 8, {0x100, 0}}},
	    {"surplus descriptor", 1, {VHOST_USER_GET_FEATURES, 1, 0, {0}}},
	    {"surplus descriptor", 1, {VHOST_USER_SET_VRING_NUM, 1, 8, {0, 128}}},
	    {"no regions", 0, {VHOST_USER_SET_MEM_TABLE, 1, 8, {0, 0}}},
	    {"fewer bytes than regions", 2, {VHOST_USER_SET_MEM_TABLE, 1, 40, {2, 0}}},
	    {"more bytes than regions", 1, {VHOST_USER_SET_MEM_TABLE, 1, 72, {1, 0}}},
	    {"nine regions", 8, {VHOST_USER_SET_MEM_TABLE, 1, 8 + 9 * 32, {9, 0}}},
	    {"2^32-1 regions", 1, {VHOST_USER_SET_MEM_TABLE, 1, 40, {UINT32_MAX, 0}}},
	    {"fewer descriptors than regions", 1, {VHOST_USER_SET_MEM_TABLE, 1, 72, {2, 0}}},
	    {"config size and length differ", 0, {VHOST_USER_GET_CONFIG, 1, 20, {0, 4, 0, 0, 0}}},
	    {"config of 257 bytes", 0, {VHOST_USER_GET_CONFIG, 1, 12 + 257, {0, 257, 0}}},
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct vhost_user_message m;
		if (parse(&BAD[i].raw, BAD[i].fds, &m))
			fail_msg("accepted: %s", BAD[i].why);
	}
}

static void refuses_sizes_before_the_payload_is_read(void **state)
{
	(void)state;
	static const struct {
		uint32_t request, size;
		bool good;
	} T[] = {{40, VHOST_USER_PAYLOAD_MAX, true},
	         {40, VHOST_USER_PAYLOAD_MAX + 1, false},
	         {40, UINT32_MAX, false},
	         {VHOST_USER_SET_FEATURES, 8, true},
	         {VHOST_USER_SET_FEATURES, 9, false},
	         {VHOST_USER_SET_FEATURES, 7, false}};
	for (size_t i = 0; i < ARRAY_LEN(T); i++) {
		const uint32_t header[3] = {T[i].request, 1, T[i].size};
		struct err e = ERR_INIT;
		size_t size;
		assert_int_equal(vhost_user_payload_size((const uint8_t *)header, &size, &e), T[i].good);
		if (T[i].good)
			assert_int_equal(size, T[i].size);
	}
}

static void refuses_cut_messages(void **state)
{
	(void)state;
	const struct raw r = {VHOST_USER_SET_VRING_NUM, 1, 8, {1, 128}};
	uint8_t bytes[VHOST_USER_HEADER_SIZE + sizeof(r.words)];
	struct vhost_user_message m;
	size_t len = pack(&r, bytes);
	for (size_t n = 0; n <= len + 1; n++) {
		struct err e = ERR_INIT;
		assert_int_equal(vhost_user_parse(bytes, n, 0, &m, &e), n == len);
	}
}

static void answers_have_the_form_qemu_wants(void **state)
{
	(void)state;
	uint8_t out[VHOST_USER_ANSWER_SIZE];
	static const uint8_t CID[8] = {42};
	static const uint8_t CONFIG[] = {24, 0, 0, 0, 5, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0,
	                                 8,  0, 0, 0, 0, 0, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0};
	static const uint8_t BASE[] = {11, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0};
	static const uint8_t VALUE[] = {1, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0};
	static const uint8_t NO_FIELD[] = {24, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0};
	assert_int_equal(vhost_user_answer_config(out, 0, CID, 8), sizeof(CONFIG));
	assert_memory_equal(out, CONFIG, sizeof(CONFIG));
	assert_int_equal(vhost_user_answer_config(out, 0, CID, 0), sizeof(NO_FIELD));
	assert_memory_equal(out, NO_FIELD, sizeof(NO_FIELD));
	assert_int_equal(vhost_user_answer_vring(out, VHOST_USER_GET_VRING_BASE, 1, 7), sizeof(BASE));
	assert_memory_equal(out, BASE, sizeof(BASE));
	assert_int_equal(vhost_user_answer_u64(out, VHOST_USER_GET_FEATURES, 0x201), sizeof(VALUE));
	assert_memory_equal(out, VALUE, sizeof(VALUE));
	static uint8_t largest[VHOST_USER_CONFIG_MAX];
	assert_int_equal(vhost_user_answer_config(out, 0, largest, sizeof(largest)), sizeof(out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_what_qemu_sends),
	    cmocka_unit_test(unknown_messages_are_readable),
	    cmocka_unit_test(refuses_malformed_messages),
	    cmocka_unit_test(refuses_cut_messages),
	    cmocka_unit_test(refuses_sizes_before_the_payload_is_read),
	    cmocka_unit_test(answers_have_the_form_qemu_wants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
