/* A reader for exactly what record.c writes, and for what a later version may add: one flat JSON object with strings,
 * whole numbers, true, false and null. No nesting means no recursion and no allocation. Each known key has a row in
 * FIELDS: its type and where its value goes. */
#include "core/audit/reader.h"

#include <stddef.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/clock.h"

struct cursor {
	const char *p, *end;
};

enum value_type { VALUE_STRING, VALUE_NUMBER, VALUE_NULL, VALUE_BOOL };

struct value {
	enum value_type type;
	uint64_t number;
	size_t len; /* of the text */
	char text[AUDIT_LINE_MAX];
};

static bool take(struct cursor *c, char want)
{
	if (c->p == c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* \u00XX: the writer escapes byte by byte, so a code above 0xff was not written by it. */
static bool read_escape(struct cursor *c, char *out)
{
	static const char SHORT[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	if (c->p == c->end)
		return false;
	char kind = *c->p++;
	if (kind != 'u') {
		for (const char *s = SHORT; *s; s += 2) {
			if (*s == kind) {
				*out = s[1];
				return true;
			}
		}
		return false;
	}
	if (c->end - c->p < 4)
		return false;
	int code = 0;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(*c->p++);
		if (digit < 0)
			return false;
		code = code * 16 + digit;
	}
	*out = (char)code;
	return code <= 0xff;
}

static bool read_string(struct cursor *c, char *out, size_t *out_len)
{
	size_t n = 0; /* never longer than the line, which fits in `out` */
	if (!take(c, '"'))
		return false;
	while (c->p < c->end && *c->p != '"') {
		char b = *c->p++;
		if ((unsigned char)b < 0x20 || (unsigned char)b >= 0x7f)
			return false;
		if (b == '\\' && !read_escape(c, &b))
			return false;
		out[n++] = b;
	}
	*out_len = n;
	return take(c, '"');
}

static bool read_number(struct cursor *c, uint64_t *out)
{
	uint64_t v = 0;
	const char *start = c->p;
	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*c->p - '0'), &v))
			return false;
	}
	*out = v;
	return c->p > start && (*start != '0' || c->p == start + 1);
}

static bool read_word(struct cursor *c, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	return true;
}

static bool read_value(struct cursor *c, struct value *v)
{
	if (c->p == c->end)
		return false;
	if (*c->p == '"') {
		v->type = VALUE_STRING;
		return read_string(c, v->text, &v->len);
	}
	if (*c->p >= '0' && *c->p <= '9') {
		v->type = VALUE_NUMBER;
		return read_number(c, &v->number);
	}
	v->type = *c->p == 'n' ? VALUE_NULL : VALUE_BOOL;
	return read_word(c, "null") || read_word(c, "true") || read_word(c, "false");
}

/* ---- what the values mean ---- */

typedef const char *name_fn(int value);

static const char *event_name(int v)
{
	return audit_event_name((enum audit_event)v);
}

static const char *why_name(int v)
{
	return audit_why_name((enum audit_why)v);
}

static const char *end_name(int v)
{
	return audit_end_name((enum audit_end)v);
}

static bool find_name(name_fn *name, int count, const struct value *v, int *out)
{
	for (int i = 0; i < count; i++) {
		const char *n = name(i);
		if (strlen(n) == v->len && memcmp(n, v->text, v->len) == 0) {
			*out = i;
			return true;
		}
	}
	return false;
}

enum field_kind {
	FIELD_TEXT,
	FIELD_NUMBER,
	FIELD_VERSION,
	FIELD_TIME,
	FIELD_EVENT,
	FIELD_WHY,
	FIELD_END,
	FIELD_PORT,
	FIELD_RAW,
	FIELD_RAW_LEN
};

static const struct field {
	const char *key;
	enum field_kind kind;
	bool needed;
	size_t at, size;
} FIELDS[] = {
#define TEXT(name)                                                             \
	{                                                                      \
#name, FIELD_TEXT, false, offsetof(struct audit_record, name), \
		    sizeof(((struct audit_record *)0)->name)                   \
	}
#define NUMBER(name)                                                               \
	{                                                                          \
#name, FIELD_NUMBER, false, offsetof(struct audit_record, name), 0 \
	}
    {"v", FIELD_VERSION, true, 0, 0},
    {"seq", FIELD_NUMBER, true, offsetof(struct audit_record, seq), 0},
    {"t", FIELD_TIME, true, 0, 0},
    TEXT(vm),
    {"ev", FIELD_EVENT, true, 0, 0},
    NUMBER(conn),
    TEXT(host),
    {"port", FIELD_PORT, false, 0, 0},
    {"why", FIELD_WHY, false, 0, 0},
    TEXT(rule),
    TEXT(ip),
    NUMBER(up),
    NUMBER(down),
    NUMBER(ms),
    {"end", FIELD_END, false, 0, 0},
    {"raw", FIELD_RAW, false, 0, 0},
    {"raw_len", FIELD_RAW_LEN, false, 0, 0},
    NUMBER(rules),
    NUMBER(bytes),
    TEXT(detail),
#undef TEXT
#undef NUMBER
};
static_assert(ARRAY_LEN(FIELDS) <= 32, "a bit for each in an unsigned");

static bool store_text(struct audit_record *r, const struct field *f, const struct value *v)
{
	if (v->len >= f->size || memchr(v->text, '\0', v->len))
		return false;
	char *to = (char *)r + f->at;
	memcpy(to, v->text, v->len);
	to[v->len] = '\0';
	return true;
}

static bool store_word(struct audit_record *r, const struct field *f, const struct value *v)
{
	int n = 0;
	if (f->kind == FIELD_EVENT) {
		if (!find_name(event_name, AUDIT_EVENT_COUNT, v, &n))
			return false;
		r->event = (enum audit_event)n;
	} else if (f->kind == FIELD_WHY) {
		if (!find_name(why_name, AUDIT_WHY_COUNT, v, &n))
			return false;
		r->why = (enum audit_why)n;
	} else {
		if (!find_name(end_name, AUDIT_END_COUNT, v, &n))
			return false;
		r->end = (enum audit_end)n;
	}
	return true;
}

static bool store_string(struct audit_record *r, const struct field *f, const struct value *v)
{
	switch (f->kind) {
	case FIELD_TEXT: return store_text(r, f, v);
	case FIELD_TIME: return clock_parse_rfc3339(v->text, v->len, &r->t_ms);
	case FIELD_EVENT:
	case FIELD_WHY:
	case FIELD_END: return store_word(r, f, v);
	case FIELD_RAW:
		if (v->len > sizeof(r->raw))
			return false;
		memcpy(r->raw, v->text, v->len);
		return true;
	case FIELD_NUMBER:
	case FIELD_VERSION:
	case FIELD_PORT:
	case FIELD_RAW_LEN: break;
	}
	return false;
}

static bool store_number(struct audit_record *r, const struct field *f, uint64_t v)
{
	switch (f->kind) {
	case FIELD_VERSION: return v == AUDIT_VERSION;
	case FIELD_NUMBER: memcpy((char *)r + f->at, &v, sizeof(v)); return true;
	case FIELD_PORT: r->port = (uint16_t)v; return v >= 1 && v <= UINT16_MAX;
	case FIELD_RAW_LEN: r->raw_len = (size_t)v; return true;
	case FIELD_TEXT:
	case FIELD_TIME:
	case FIELD_EVENT:
	case FIELD_WHY:
	case FIELD_END:
	case FIELD_RAW: break;
	}
	return false;
}

static bool store(struct audit_record *r, const char *key, size_t key_len, const struct value *v,
                  unsigned *seen)
{
	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++) {
		const struct field *f = &FIELDS[i];
		if (strlen(f->key) != key_len || memcmp(f->key, key, key_len) != 0)
			continue;
		if (*seen & (1u << i) || (f->needed && v->type == VALUE_NULL) || v->type == VALUE_BOOL)
			return false;
		*seen |= 1u << i;
		if (v->type == VALUE_NULL)
			return true;
		return v->type == VALUE_STRING ? store_string(r, f, v) : store_number(r, f, v->number);
	}
	return true; /* of a later version */
}

bool audit_parse(const char *line, size_t len, struct audit_record *out)
{
	if (len > AUDIT_LINE_MAX - 1)
		return false;
	struct cursor c = {line, line + len};
	struct audit_record r = {0};
	struct value v;
	char key[AUDIT_LINE_MAX];
	size_t key_len;
	unsigned seen = 0;
	if (!take(&c, '{'))
		return false;
	do {
		if (!read_string(&c, key, &key_len) || !take(&c, ':') || !read_value(&c, &v) ||
		    !store(&r, key, key_len, &v, &seen))
			return false;
	} while (take(&c, ','));
	if (!take(&c, '}') || c.p != c.end)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(FIELDS); i++) {
		if (FIELDS[i].needed && !(seen & (1u << i)))
			return false;
	}
	*out = r;
	return true;
}

void audit_reader_init(struct audit_reader *rd,
                       void (*on_line)(void *arg, const struct audit_record *r, const char *line, size_t len),
                       void *arg)
{
	*rd = (struct audit_reader){.on_line = on_line, .arg = arg};
}

static void end_line(struct audit_reader *rd)
{
	struct audit_record r;
	bool good = !rd->too_long && audit_parse(rd->line, rd->len, &r);
	rd->on_line(rd->arg, good ? &r : NULL, rd->line, rd->too_long ? 0 : rd->len);
	rd->len = 0;
	rd->too_long = false;
}

void audit_reader_feed(struct audit_reader *rd, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end - bytes) : len;
		if (rd->too_long || n > sizeof(rd->line) - rd->len) {
			rd->too_long = true;
			rd->len = 0;
		} else {
			memcpy(rd->line + rd->len, bytes, n);
			rd->len += n;
		}
		if (end)
			end_line(rd);
		size_t step = n + (end ? 1 : 0);
		bytes += step;
		len -= step;
	}
}

size_t audit_reader_pending(const struct audit_reader *rd)
{
	return rd->len;
}
