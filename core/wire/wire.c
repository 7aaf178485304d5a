#include "core/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/wire/frame.h"

/* ---- encoders ---- */

#define PUT_U8(n)        buf_put_u8(out, m->n);
#define PUT_U16(n)       buf_put_u16(out, m->n);
#define PUT_U32(n)       buf_put_u32(out, m->n);
#define PUT_U64(n)       buf_put_u64(out, m->n);
#define PUT_TEXT(n, max) buf_put_blob(out, m->n, strnlen(m->n, (max)));
#define PUT_BLOB(n, max) ok = ok && m->n.len <= (max), buf_put_blob(out, m->n.p, m->n.len);
#define M(NAME, name, number, max)                                                                 \
	bool wire_put_##name(struct buf *out, uint32_t id, const struct wire_##name *m)            \
	{                                                                                          \
		size_t mark = frame_begin(out, WIRE_##NAME, id);                                   \
		bool ok = true;                                                                    \
		WIRE_FIELDS_##name(PUT_U8, PUT_U16, PUT_U32, PUT_U64, PUT_TEXT, PUT_BLOB) if (!ok) \
		    out->overflow = true;                                                          \
		return frame_end(out, mark);                                                       \
	}
WIRE_MESSAGES(M)
#undef M

bool wire_put_empty(struct buf *out, uint16_t type, uint32_t id)
{
	return frame_end(out, frame_begin(out, type, id));
}

bool wire_put_err(struct buf *out, uint32_t id, const struct err *e)
{
	struct wire_error m = {.kind = (uint16_t)e->kind};
	snprintf(m.text, sizeof(m.text), "%s", e->msg);
	return wire_put_error(out, id, &m);
}

bool wire_put_my_hello(struct buf *out, const char *role)
{
	struct wire_hello m = {
	    .magic = WIRE_MAGIC, .major = WIRE_MAJOR, .minor = WIRE_MINOR, .version = CCVM_VERSION};
	snprintf(m.role, sizeof(m.role), "%s", role);
	return wire_put_hello(out, 0, &m);
}

/* ---- decoders ---- */

#define GET_U8(n)        m->n = reader_u8(&r);
#define GET_U16(n)       m->n = reader_u16(&r);
#define GET_U32(n)       m->n = reader_u32(&r);
#define GET_U64(n)       m->n = reader_u64(&r);
#define GET_TEXT(n, max) reader_string(&r, m->n, sizeof(m->n));
#define GET_BLOB(n, max) m->n = reader_blob(&r, (max));
#define M(NAME, name, number, max)                                                                     \
	bool wire_get_##name(struct bytes body, struct wire_##name *m, struct err *e)                  \
	{                                                                                              \
		struct reader r;                                                                       \
		reader_init(&r, body.p, body.len);                                                     \
		WIRE_FIELDS_##name(                                                                    \
		    GET_U8, GET_U16, GET_U32, GET_U64, GET_TEXT,                                       \
		    GET_BLOB) if (!reader_end(&r)) return err_set(e, ERR_PROTOCOL,                     \
		                                                  "malformed %s message of %zu bytes", \
		                                                  #name, body.len);                    \
		return true;                                                                           \
	}
WIRE_MESSAGES(M)
#undef M

bool wire_check_hello(struct bytes body, struct wire_hello *m, struct err *e)
{
	if (!wire_get_hello(body, m, e))
		return false;
	if (m->magic != WIRE_MAGIC)
		return err_set(e, ERR_PROTOCOL, "the peer does not speak the ccvm protocol");
	if (m->major != WIRE_MAJOR) {
		char version[64];
		escape_text(version, sizeof(version), m->version, strlen(m->version));
		return err_set(
		    e, ERR_PROTOCOL,
		    "protocol version %u of ccvm %s is not %u of ccvm %s: stop the VM with the version that "
		    "started it",
		    m->major, version, WIRE_MAJOR, CCVM_VERSION);
	}
	return true;
}

/* ---- the table ---- */

struct type_info {
	uint16_t type;
	const char *name;
	long max;
};

static const struct type_info TYPES[] = {
#define M(NAME, name, number, max) {WIRE_##NAME, #name, (max)},
#define E(NAME, name, number)      {WIRE_##NAME, #name, 0},
    WIRE_MESSAGES(M) WIRE_EMPTY_MESSAGES(E)
#undef M
#undef E
};

static const struct type_info *find_type(uint16_t type)
{
	for (size_t i = 0; i < ARRAY_LEN(TYPES); i++) {
		if (TYPES[i].type == type)
			return &TYPES[i];
	}
	return NULL;
}

const char *wire_type_name(uint16_t type)
{
	const struct type_info *t = find_type(type);
	return t ? t->name : "unknown";
}

long wire_body_max(uint16_t type)
{
	const struct type_info *t = find_type(type);
	return t ? t->max : -1;
}

/* ---- the dump ---- */

static void dump_bytes(struct str *s, const char *name, const void *p, size_t len)
{
	char safe[80];
	escape_text(safe, sizeof(safe), p, len);
	str_appendf(s, " %s=\"%s\"(%zu)", name, safe, len);
}

#define DUMP_NUMBER(n)    str_appendf(&s, " %s=%llu", #n, (unsigned long long)m.n);
#define DUMP_TEXT(n, max) dump_bytes(&s, #n, m.n, strlen(m.n));
#define DUMP_BLOB(n, max) dump_bytes(&s, #n, m.n.len ? (const void *)m.n.p : "", m.n.len);
#define M(NAME, name, number, max)                                                                \
	case WIRE_##NAME: {                                                                       \
		struct wire_##name m;                                                             \
		if (!wire_get_##name(body, &m, &e)) {                                             \
			str_append(&s, " (malformed)");                                           \
			break;                                                                    \
		}                                                                                 \
		WIRE_FIELDS_##name(DUMP_NUMBER, DUMP_NUMBER, DUMP_NUMBER, DUMP_NUMBER, DUMP_TEXT, \
		                   DUMP_BLOB) break;                                              \
	}

void wire_dump(char *out, size_t size, uint16_t type, struct bytes body)
{
	struct str s = STR_INIT(4096);
	struct err e = ERR_INIT;
	str_append(&s, wire_type_name(type));
	switch (type) {
		WIRE_MESSAGES(M)
	default: break;
	}
	snprintf(out, size, "%s", s.s);
	str_finish(&s);
}
#undef M

/* ---- lists of strings ---- */

bool wire_pack_strings(struct buf *out, const char *const *strings)
{
	for (; strings && *strings; strings++)
		buf_put(out, *strings, strlen(*strings) + 1);
	return buf_ok(out);
}

char **wire_unpack_strings(struct bytes blob, size_t most, struct err *e)
{
	size_t count = 0;
	for (size_t i = 0; i < blob.len; i++)
		count += blob.p[i] == '\0';
	if (count > most || (blob.len && blob.p[blob.len - 1] != '\0')) {
		err_set(e, ERR_PROTOCOL, "malformed list of strings");
		return NULL;
	}
	size_t table = (count + 1) * sizeof(char *);
	char **out = mem_alloc(table + blob.len);
	char *text = (char *)out + table;
	if (blob.len)
		memcpy(text, blob.p, blob.len);
	for (size_t i = 0; i < count; i++) {
		out[i] = text;
		text += strlen(text) + 1;
	}
	return out;
}
