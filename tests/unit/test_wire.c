/* core/wire: every message by the same rules (round trip, longest, short, long, over its maximum), the frame, and the
 * exchange that PROTOCOL.md shows. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

#define OUT_MAX (WIRE_CELLS_MAX + 4096)

/* ---- every message, filled in from its field list ---- */

enum fill { FILL_EMPTY, FILL_RANDOM, FILL_LONGEST };

struct filler {
	enum fill how;
	uint64_t random; /* xorshift state */
	uint8_t *blob;   /* WIRE_CELLS_MAX bytes */
};

static uint64_t next(struct filler *f)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return f->how == FILL_EMPTY ? 0 : f->how == FILL_LONGEST ? UINT64_MAX : f->random;
}

static size_t length(struct filler *f, size_t max)
{
	return f->how == FILL_EMPTY     ? 0
	       : f->how == FILL_LONGEST ? max
	                                : (size_t)(next(f) % (MIN(max, 300) + 1));
}

static void fill_text(struct filler *f, char *out, size_t max)
{
	size_t len = length(f, max);
	for (size_t i = 0; i < len; i++)
		out[i] = (char)(1 + next(f) % 255);
	out[len] = '\0';
}

static struct bytes fill_blob(struct filler *f, size_t max)
{
	size_t len = length(f, max);
	for (size_t i = 0; i < MIN(len, 300); i++)
		f->blob[i] = (uint8_t)next(f);
	return (struct bytes){.p = f->blob, .len = len};
}

#define FILL_U8(n)        m.n = (uint8_t)next(f);
#define FILL_U16(n)       m.n = (uint16_t)next(f);
#define FILL_U32(n)       m.n = (uint32_t)next(f);
#define FILL_U64(n)       m.n = next(f);
#define FILL_TEXT(n, max) fill_text(f, m.n, (max));
#define FILL_BLOB(n, max) m.n = fill_blob(f, (max));

/* For each message: one that puts a filled one, and one that reads a body and puts it again. */
#define M(NAME, name, number, max)                                                                     \
	static bool put_##name(struct filler *f, struct buf *out)                                      \
	{                                                                                              \
		struct wire_##name m;                                                                  \
		WIRE_FIELDS_##name(FILL_U8, FILL_U16, FILL_U32, FILL_U64, FILL_TEXT,                   \
		                   FILL_BLOB) return wire_put_##name(out, 0x01020304, &m);             \
	}                                                                                              \
	static bool again_##name(struct bytes body, struct buf *out, struct err *e)                    \
	{                                                                                              \
		struct wire_##name m;                                                                  \
		return wire_get_##name(body, &m, e) && (!out || wire_put_##name(out, 0x01020304, &m)); \
	}
WIRE_MESSAGES(M)
#undef M

static const struct {
	const char *name;
	uint16_t type;
	long max;
	bool (*put)(struct filler *f, struct buf *out);
	bool (*again)(struct bytes body, struct buf *out, struct err *e);
} MESSAGES[] = {
#define M(NAME, name, number, max) {#name, number, max, put_##name, again_##name},
    WIRE_MESSAGES(M)
#undef M
};

static const struct {
	const char *name;
	uint16_t type;
} EMPTY[] = {
#define E(NAME, name, number) {#name, number},
    WIRE_EMPTY_MESSAGES(E)
#undef E
};

struct fixture {
	struct filler filler;
	struct buf a, b;
};

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	f->filler = (struct filler){.random = 0x9e3779b97f4a7c15ull, .blob = mem_alloc(WIRE_CELLS_MAX)};
	buf_init(&f->a, OUT_MAX);
	buf_init(&f->b, OUT_MAX);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	free(f->filler.blob);
	buf_finish(&f->a);
	buf_finish(&f->b);
	free(f);
	return 0;
}

/* Message i into f->a; its body. */
static struct bytes put(struct fixture *f, size_t i, enum fill how)
{
	struct frame frame;
	size_t used;
	struct err e = ERR_INIT;
	f->filler.how = how;
	buf_clear(&f->a);
	if (!MESSAGES[i].put(&f->filler, &f->a))
		fail_msg("%s does not fit", MESSAGES[i].name);
	struct bytes all = {.p = f->a.data, .len = f->a.len};
	assert_int_equal(frame_parse(all, &frame, &used, &e), FRAME_READY);
	assert_int_equal(used, all.len);
	assert_int_equal(frame.type, MESSAGES[i].type);
	assert_int_equal(frame.id, 0x01020304);
	return frame.body;
}

static void every_message_survives(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		for (int n = 0; n < 30; n++) {
			struct err e = ERR_INIT;
			enum fill how = n == 0 ? FILL_EMPTY : n == 1 ? FILL_LONGEST : FILL_RANDOM;
			struct bytes body = put(f, i, how);
			buf_clear(&f->b);
			if (!MESSAGES[i].again(body, &f->b, &e))
				fail_msg("%s: %s", MESSAGES[i].name, e.msg);
			assert_int_equal(f->a.len, f->b.len);
			assert_memory_equal(f->a.data, f->b.data, f->a.len);
		}
	}
}

static void a_body_of_another_length_is_refused(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		struct bytes body = put(f, i, FILL_RANDOM);
		uint8_t *longer FREE_ON_EXIT = mem_alloc(body.len + 1);
		memcpy(longer, body.p, body.len);
		for (size_t len = 0; len <= body.len + 1; len++) {
			struct err e = ERR_INIT;
			struct bytes cut = {.p = longer, .len = len};
			bool ok = MESSAGES[i].again(cut, NULL, &e);
			if (ok != (len == body.len))
				fail_msg("%s of %zu bytes (%zu are right): %d", MESSAGES[i].name, len,
				         body.len, ok);
			assert_int_equal(e.kind, ok ? ERR_NONE : ERR_PROTOCOL);
		}
	}
}

static void lengths_inside_a_body_are_checked(void **state)
{
	(void)state;
	struct wire_ok m;
	struct wire_stdin_data d;
	struct err e = ERR_INIT;
	static const uint8_t HUGE_TEXT[] = {0xff, 0xff, 0xff, 0xff, 'x'};
	static const uint8_t NUL_TEXT[] = {0, 0, 0, 3, 'a', 0, 'b'};
	assert_false(wire_get_ok((struct bytes){HUGE_TEXT, sizeof(HUGE_TEXT)}, &m, &e));
	err_clear(&e);
	assert_false(wire_get_ok((struct bytes){NUL_TEXT, sizeof(NUL_TEXT)}, &m, &e));
	err_clear(&e);
	assert_false(wire_get_stdin_data((struct bytes){HUGE_TEXT, sizeof(HUGE_TEXT)}, &d, &e));
}

static void what_is_too_long_is_not_put(void **state)
{
	struct fixture *f = *state;
	struct wire_stdin_data m = {.data = {.p = f->filler.blob, .len = WIRE_DATA_MAX + 1}};
	buf_put_u8(&f->a, 7);
	assert_false(wire_put_stdin_data(&f->a, 1, &m));
	assert_int_equal(f->a.len, 1); /* nothing of it */
	assert_true(buf_ok(&f->a));    /* and others may be put */
	m.data.len--;
	assert_true(wire_put_stdin_data(&f->a, 1, &m));
}

/* ---- frames ---- */

static void put_header(struct buf *b, uint32_t len, uint16_t type, uint16_t flags)
{
	buf_clear(b);
	buf_put_u32(b, len);
	buf_put_u16(b, type);
	buf_put_u16(b, flags);
	buf_put_u32(b, 1);
}

static enum frame_result parse(const struct buf *b, struct err *e)
{
	struct frame frame;
	size_t used;
	return frame_parse((struct bytes){.p = b->data, .len = b->len}, &frame, &used, e);
}

/* The header alone decides: nothing of a body that is too long is waited for, let alone stored. */
static void a_header_over_the_maximum_is_refused(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		struct err e = ERR_INIT;
		assert_int_equal(wire_body_max(MESSAGES[i].type), MESSAGES[i].max);
		put_header(&f->a, (uint32_t)MESSAGES[i].max, MESSAGES[i].type, 0);
		assert_int_equal(parse(&f->a, &e), FRAME_MORE);
		put_header(&f->a, (uint32_t)MESSAGES[i].max + 1, MESSAGES[i].type, 0);
		assert_int_equal(parse(&f->a, &e), FRAME_BAD);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		err_clear(&e);
		put_header(&f->a, UINT32_MAX, MESSAGES[i].type, 0);
		assert_int_equal(parse(&f->a, &e), FRAME_BAD);
		err_clear(&e);
		put_header(&f->a, 0, MESSAGES[i].type, 1);
		assert_int_equal(parse(&f->a, &e), FRAME_BAD);
		assert_non_null(strstr(e.msg, "flags"));
	}
	for (size_t i = 0; i < ARRAY_LEN(EMPTY); i++) {
		struct err e = ERR_INIT;
		put_header(&f->a, 1, EMPTY[i].type, 0);
		assert_int_equal(parse(&f->a, &e), FRAME_BAD);
		buf_clear(&f->a);
		assert_true(wire_put_empty(&f->a, EMPTY[i].type, 1));
		assert_int_equal(parse(&f->a, &e), FRAME_READY);
	}
}

static bool is_known(unsigned type)
{
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		if (MESSAGES[i].type == type)
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(EMPTY); i++) {
		if (EMPTY[i].type == type)
			return true;
	}
	return false;
}

static void an_unknown_type_is_refused(void **state)
{
	struct fixture *f = *state;
	for (unsigned type = 0; type <= UINT16_MAX; type++) {
		struct err e = ERR_INIT;
		put_header(&f->a, 0, (uint16_t)type, 0);
		enum frame_result got = parse(&f->a, &e);
		assert_int_equal(got, is_known(type) ? FRAME_READY : FRAME_BAD);
		if (!is_known(type))
			assert_string_equal(wire_type_name((uint16_t)type), "unknown");
	}
}

static void numbers_are_used_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(MESSAGES[i].type, MESSAGES[k].type);
		for (size_t k = 0; k < ARRAY_LEN(EMPTY); k++)
			assert_int_not_equal(MESSAGES[i].type, EMPTY[k].type);
	}
}

struct collected {
	struct buf out; /* the frames put together again */
	size_t count;
	size_t stop_after; /* 0: never */
};

static bool collect(void *arg, const struct frame *frame)
{
	struct collected *c = arg;
	size_t mark = frame_begin(&c->out, frame->type, frame->id);
	buf_put(&c->out, frame->body.p, frame->body.len);
	assert_true(frame_end(&c->out, mark));
	return ++c->count != c->stop_after;
}

/* A conversation of every message, for feeding in pieces. */
static void put_all(struct fixture *f)
{
	buf_clear(&f->a);
	f->filler.how = FILL_RANDOM;
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++)
		assert_true(MESSAGES[i].put(&f->filler, &f->a));
	for (size_t i = 0; i < ARRAY_LEN(EMPTY); i++)
		assert_true(wire_put_empty(&f->a, EMPTY[i].type, 9));
}

static void frames_come_in_any_pieces(void **state)
{
	struct fixture *f = *state;
	static const size_t PIECES[] = {1, 2, 3, 7, 11, 12, 13, 1000, SIZE_MAX};
	put_all(f);
	for (size_t i = 0; i < ARRAY_LEN(PIECES); i++) {
		struct frame_reader r;
		struct collected c = {.out = BUF_INIT(OUT_MAX)};
		struct err e = ERR_INIT;
		frame_reader_init(&r);
		for (size_t at = 0; at < f->a.len;) {
			size_t n = MIN(PIECES[i], f->a.len - at);
			uint8_t *piece FREE_ON_EXIT = mem_copy(f->a.data + at, n); /* its own end, for ASan */
			assert_int_equal(frame_feed(&r, piece, n, collect, &c, &e), FRAME_MORE);
			at += n;
		}
		assert_int_equal(c.count, ARRAY_LEN(MESSAGES) + ARRAY_LEN(EMPTY));
		assert_int_equal(c.out.len, f->a.len);
		assert_memory_equal(c.out.data, f->a.data, f->a.len);
		frame_reader_finish(&r);
		buf_finish(&c.out);
	}
}

static void feeding_stops_when_told(void **state)
{
	struct fixture *f = *state;
	struct frame_reader r;
	struct collected c = {.out = BUF_INIT(OUT_MAX), .stop_after = 3};
	struct err e = ERR_INIT;
	put_all(f);
	frame_reader_init(&r);
	assert_int_equal(frame_feed(&r, f->a.data, f->a.len, collect, &c, &e), FRAME_READY);
	assert_int_equal(c.count, 3);
	frame_reader_finish(&r);
	buf_finish(&c.out);
}

/* What came before the bad frame is given out; then it ends. */
static void a_bad_frame_ends_the_feeding(void **state)
{
	struct fixture *f = *state;
	for (size_t piece = 1; piece < 40; piece += 38) {
		struct frame_reader r;
		struct collected c = {.out = BUF_INIT(OUT_MAX)};
		struct err e = ERR_INIT;
		enum frame_result result = FRAME_MORE;
		buf_clear(&f->a);
		wire_put_empty(&f->a, WIRE_PING, 1);
		buf_put_u32(&f->a, 0);
		buf_put_u16(&f->a, 9999);
		buf_put_u16(&f->a, 0);
		buf_put_u32(&f->a, 2);
		frame_reader_init(&r);
		for (size_t at = 0; at < f->a.len && result == FRAME_MORE; at += piece)
			result = frame_feed(&r, f->a.data + at, MIN(piece, f->a.len - at), collect, &c, &e);
		assert_int_equal(result, FRAME_BAD);
		assert_int_equal(c.count, 1);
		assert_string_equal(e.msg, "unknown message type 9999");
		frame_reader_finish(&r);
		buf_finish(&c.out);
	}
}

/* ---- hello, errors, lists, dump ---- */

static void hello_is_checked(void **state)
{
	struct fixture *f = *state;
	struct wire_hello m = {
	    .magic = WIRE_MAGIC, .major = WIRE_MAJOR, .minor = 77, .role = "guest", .version = "9"};
	struct wire_hello got;
	struct err e = ERR_INIT;
	wire_put_hello(&f->a, 0, &m);
	struct bytes body = {.p = f->a.data + FRAME_HEADER_SIZE, .len = f->a.len - FRAME_HEADER_SIZE};
	assert_true(wire_check_hello(body, &got, &e)); /* another minor version is no matter */
	buf_set_u32(&f->a, FRAME_HEADER_SIZE, WIRE_MAGIC + 1);
	assert_false(wire_check_hello(body, &got, &e));
	assert_int_equal(e.kind, ERR_PROTOCOL);
	err_clear(&e);
	buf_clear(&f->a);
	m.major = WIRE_MAJOR + 1;
	snprintf(m.version, sizeof(m.version), "2\x1b[31m");
	wire_put_hello(&f->a, 0, &m);
	body = (struct bytes){.p = f->a.data + FRAME_HEADER_SIZE, .len = f->a.len - FRAME_HEADER_SIZE};
	assert_false(wire_check_hello(body, &got, &e));
	assert_non_null(strstr(e.msg, "protocol version 3 of ccvm 2\\x1b[31m is not 2 of ccvm"));
}

static void lists_of_strings(void **state)
{
	(void)state;
	const char *const in[] = {"a", "", "b c", NULL};
	struct buf b = BUF_INIT(64);
	struct err e = ERR_INIT;
	assert_true(wire_pack_strings(&b, in));
	struct bytes blob = {.p = b.data, .len = b.len};
	char **out = wire_unpack_strings(blob, 3, &e);
	assert_non_null(out);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(out[i], in[i]);
	assert_null(out[3]);
	free(out);
	assert_null(wire_unpack_strings(blob, 2, &e)); /* too many */
	assert_int_equal(e.kind, ERR_PROTOCOL);
	err_clear(&e);
	blob.len--;
	assert_null(wire_unpack_strings(blob, 3, &e)); /* no NUL at the end */
	err_clear(&e);
	out = wire_unpack_strings((struct bytes){0}, 3, &e);
	assert_non_null(out);
	assert_null(out[0]);
	free(out);
	buf_finish(&b);
}

static void the_dump_is_one_safe_line(void **state)
{
	struct fixture *f = *state;
	char line[512];
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		struct bytes body = put(f, i, FILL_RANDOM);
		wire_dump(line, sizeof(line), MESSAGES[i].type, body);
		assert_int_equal(strncmp(line, MESSAGES[i].name, strlen(MESSAGES[i].name)), 0);
		for (const char *p = line; *p; p++)
			assert_in_range(*p, 0x20, 0x7e);
	}
	wire_dump(line, sizeof(line), WIRE_EXIT, (struct bytes){0});
	assert_string_equal(line, "exit (malformed)");
	wire_dump(line, sizeof(line), 9999, (struct bytes){0});
	assert_string_equal(line, "unknown");
}

/* ---- PROTOCOL.md ---- */

/* What its exchange must be, byte for byte. */
static void put_exchange(struct buf *out)
{
	struct wire_hello hello = {
	    .magic = WIRE_MAGIC, .major = 2, .minor = 0, .role = "client", .version = "0.1.0"};
	struct wire_exec exec = {.argv = {.p = (const uint8_t *)"echo\0hi", .len = 8}};
	struct wire_ok ok = {.text = ""};
	struct wire_stdout_data data = {.data = {.p = (const uint8_t *)"hi\n", .len = 3}};
	struct wire_exit end = {.code = 0};
	struct wire_allow allow = {.rule = "*.com"};
	struct wire_error refused = {.kind = ERR_INVALID, .text = "'*.com' covers a whole top-level domain"};
	wire_put_hello(out, 0, &hello);
	snprintf(hello.role, sizeof(hello.role), "supervisor");
	wire_put_hello(out, 0, &hello);
	wire_put_exec(out, 7, &exec);
	wire_put_ok(out, 7, &ok);
	wire_put_empty(out, WIRE_STDIN_EOF, 7);
	wire_put_stdout_data(out, 7, &data);
	wire_put_exit(out, 7, &end);
	wire_put_allow(out, 8, &allow);
	wire_put_error(out, 8, &refused);
}

static void the_exchange_in_the_page_is_right(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file("core/wire/PROTOCOL.md", 1 << 20, NULL, &e);
	assert_non_null(text);
	char *p = strstr(text, "```hex\n");
	assert_non_null(p);
	p += strlen("```hex\n");
	for (; strncmp(p, "```", 3) != 0; p = strchr(p, '\n') + 1) {
		unsigned byte;
		int n;
		for (char *at = p + 2;
		     sscanf(at, "%*[ ]%2x%n", &byte, &n) == 1 && memchr(at, '\n', (size_t)n) == NULL; at += n)
			buf_put_u8(&f->a, (uint8_t)byte);
	}
	put_exchange(&f->b);
	assert_int_equal(f->a.len, f->b.len);
	assert_memory_equal(f->a.data, f->b.data, f->b.len);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(every_message_survives),
	    T(a_body_of_another_length_is_refused),
	    T(lengths_inside_a_body_are_checked),
	    T(what_is_too_long_is_not_put),
	    T(a_header_over_the_maximum_is_refused),
	    T(an_unknown_type_is_refused),
	    T(numbers_are_used_once),
	    T(frames_come_in_any_pieces),
	    T(feeding_stops_when_told),
	    T(a_bad_frame_ends_the_feeding),
	    T(hello_is_checked),
	    T(lists_of_strings),
	    T(the_dump_is_one_safe_line),
	    T(the_exchange_in_the_page_is_right),
	};
	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
