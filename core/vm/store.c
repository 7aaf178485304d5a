/* One table per file lists its keys with type, place in the struct and range; reader and writer both walk it, so they
 * cannot disagree. */
#include "core/vm/store.h"

#include <cjson/cJSON.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"

#define EXACT_MAX 9007199254740991.0 /* 2^53 - 1: whole numbers up to here survive JSON */

enum field_type {
	FIELD_TEXT,
	FIELD_U32,
	FIELD_U64,
	FIELD_TIME,
	FIELD_BOOL,
	FIELD_STATE,
	FIELD_EGRESS,
	FIELD_ATTENTION,
	FIELD_SOURCE
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	size_t size;   /* of a text, with its NUL */
	bool may_lack; /* records of older builds do: it reads as 0 */
};

#define TEXT(s, m)                                                            \
	{                                                                     \
#m, FIELD_TEXT, offsetof(s, m), sizeof(((s *)NULL)->m), false \
	}
#define F(s, t, m)                              \
	{                                       \
#m, t, offsetof(s, m), 0, false \
	}
#define IN(key, t, m)                                              \
	{                                                          \
		key, t, offsetof(struct store_status, m), 0, false \
	}
#define NEW(key, t, m, size)                                         \
	{                                                            \
		key, t, offsetof(struct store_status, m), size, true \
	}
#define IN_TEXT(k, m)                                                                                      \
	{                                                                                                  \
		k, FIELD_TEXT, offsetof(struct store_status, m), sizeof(((struct store_status *)NULL)->m), \
		    false                                                                                  \
	}

static const struct field SPEC_FIELDS[] = {
    TEXT(struct vm_spec, name),
    TEXT(struct vm_spec, image),
    TEXT(struct vm_spec, backend),
    F(struct vm_spec, FIELD_U64, memory_bytes),
    F(struct vm_spec, FIELD_U64, disk_bytes),
    F(struct vm_spec, FIELD_U32, cpus),
    F(struct vm_spec, FIELD_U64, ready_timeout_ms),
    F(struct vm_spec, FIELD_TIME, created_ms),
};

static const struct field STATUS_FIELDS[] = {
    IN_TEXT("name", status.name),
    IN("state", FIELD_STATE, status.state),
    IN("egress", FIELD_EGRESS, status.egress),
    IN_TEXT("reason", status.reason),
    IN_TEXT("backend", status.backend),
    IN_TEXT("image", status.image),
    IN("started_ms", FIELD_TIME, status.started_ms),
    IN("ready_ms", FIELD_TIME, status.ready_ms),
    IN("denied", FIELD_U32, status.denied),
    IN("supervisor_pid", FIELD_U32, status.supervisor_pid),
    IN("supervisor_start", FIELD_U64, supervisor_start),
    IN("vmm_pid", FIELD_U32, status.vmm_pid),
    IN("cpus", FIELD_U32, status.cpus),
    IN("memory_bytes", FIELD_U64, status.memory_bytes),
    NEW("denied_seen", FIELD_U32, status.denied_seen, 0),
    NEW("attention", FIELD_ATTENTION, status.attention.state, 0),
    NEW("attention_source", FIELD_SOURCE, status.attention.source, 0),
    NEW("attention_seen", FIELD_BOOL, status.attention.seen, 0),
    NEW("attention_ms", FIELD_TIME, status.attention.at_ms, 0),
    NEW("attention_text", FIELD_TEXT, status.attention.text, sizeof((struct vm_attention){0}.text)),
};
static_assert(sizeof(unsigned long long) == sizeof(uint64_t), "supervisor_start is written as a u64");

/* ---- writing ---- */

static void put_field(struct str *s, const struct field *f, const void *record)
{
	const void *at = (const char *)record + f->offset;
	str_appendf(s, "  \"%s\": ", f->key);
	switch (f->type) {
	case FIELD_TEXT: str_append_json(s, at, strnlen(at, f->size - 1), 4096); break;
	case FIELD_U32: str_appendf(s, "%u", *(const uint32_t *)at); break;
	case FIELD_U64: str_appendf(s, "%llu", (unsigned long long)*(const uint64_t *)at); break;
	case FIELD_TIME: str_appendf(s, "%lld", (long long)MAX(*(const int64_t *)at, 0)); break;
	case FIELD_BOOL: str_append(s, *(const bool *)at ? "true" : "false"); break;
	case FIELD_STATE: str_appendf(s, "\"%s\"", vm_state_name(*(const enum vm_state *)at)); break;
	case FIELD_EGRESS: str_appendf(s, "\"%s\"", vm_egress_name(*(const enum vm_egress *)at)); break;
	case FIELD_ATTENTION:
		str_appendf(s, "\"%s\"", vm_attention_name(*(const enum vm_attention_state *)at));
		break;
	case FIELD_SOURCE:
		str_appendf(s, "\"%s\"", vm_attention_source_name(*(const enum vm_attention_source *)at));
		break;
	}
}

static bool write_record(const char *dir, const char *file, const struct field *fields, size_t count,
                         const void *record, struct err *e)
{
	struct str s = STR_INIT(STORE_FILE_MAX);
	str_append(&s, "{\n");
	for (size_t i = 0; i < count; i++) {
		put_field(&s, &fields[i], record);
		str_append(&s, i + 1 < count ? ",\n" : "\n}\n");
	}
	char *path FREE_ON_EXIT = mem_printf("%s/%s", dir, file);
	bool ok = s.overflow ? err_set(e, ERR_LIMIT, "%s is too long", path)
	                     : fd_write_file(path, s.s, s.len, 0600, e);
	str_finish(&s);
	return ok;
}

/* ---- reading ---- */

static bool get_number(const cJSON *item, double max, uint64_t *out)
{
	if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= max) ||
	    item->valuedouble != (double)(uint64_t)item->valuedouble)
		return false;
	*out = (uint64_t)item->valuedouble;
	return true;
}

/* Printable ASCII; each other character becomes one '?'. A supervisor that a guest has taken over writes status.json as it
 * likes, and its texts go straight to an operator's terminal. */
static bool get_text(const cJSON *item, char *out, size_t size)
{
	size_t n = 0;
	if (!cJSON_IsString(item))
		return false;
	for (const char *p = item->valuestring; *p; p++) {
		unsigned char c = (unsigned char)*p;
		if ((c & 0xc0) == 0x80) /* the inside of a UTF-8 sequence */
			continue;
		if (n + 1 >= size)
			return false;
		out[n++] = c >= 0x20 && c < 0x7f ? *p : '?';
	}
	out[n] = '\0';
	return true;
}

static bool get_egress(const cJSON *item, enum vm_egress *out)
{
	for (unsigned i = 0; cJSON_IsString(item) && i < VM_EGRESS_COUNT; i++) {
		if (strcmp(item->valuestring, vm_egress_name((enum vm_egress)i)) == 0) {
			*out = (enum vm_egress)i;
			return true;
		}
	}
	return false;
}

static bool get_source(const cJSON *item, enum vm_attention_source *out)
{
	for (unsigned i = 0; cJSON_IsString(item) && i < ATTENTION_SOURCE_COUNT; i++) {
		if (strcmp(item->valuestring, vm_attention_source_name((enum vm_attention_source)i)) == 0) {
			*out = (enum vm_attention_source)i;
			return true;
		}
	}
	return false;
}

static bool get_bool(const cJSON *item, bool *out)
{
	*out = cJSON_IsTrue(item);
	return cJSON_IsBool(item);
}

static bool get_field(const struct field *f, const cJSON *item, void *record)
{
	void *at = (char *)record + f->offset;
	uint64_t n = 0;
	switch (f->type) {
	case FIELD_TEXT: return get_text(item, at, f->size);
	case FIELD_STATE: return cJSON_IsString(item) && vm_state_parse(item->valuestring, at);
	case FIELD_EGRESS: return get_egress(item, at);
	case FIELD_ATTENTION: return cJSON_IsString(item) && vm_attention_parse(item->valuestring, at);
	case FIELD_SOURCE: return get_source(item, at);
	case FIELD_BOOL: return get_bool(item, at);
	case FIELD_U32:
		if (!get_number(item, UINT32_MAX, &n))
			return false;
		*(uint32_t *)at = (uint32_t)n;
		return true;
	case FIELD_U64:
	case FIELD_TIME:
		if (!get_number(item, EXACT_MAX, &n))
			return false;
		if (f->type == FIELD_U64)
			*(uint64_t *)at = n;
		else
			*(int64_t *)at = (int64_t)n;
		return true;
	}
	BUG("field type %d", f->type);
}

static size_t count_key(const cJSON *object, const char *key, const cJSON **found)
{
	size_t n = 0;
	for (const cJSON *item = object->child; item; item = item->next) {
		if (strcmp(item->string, key) == 0) {
			*found = item;
			n++;
		}
	}
	return n;
}

static bool read_object(const char *what, const cJSON *object, const struct field *fields, size_t count,
                        void *record, struct err *e)
{
	if (!cJSON_IsObject(object))
		return err_set(e, ERR_INVALID, "%s is not a JSON object", what);
	size_t known = 0;
	for (size_t i = 0; i < count; i++) {
		const cJSON *item = NULL;
		size_t n = count_key(object, fields[i].key, &item);
		if (n == 0 && fields[i].may_lack)
			continue;
		known++;
		if (n != 1)
			return err_set(e, ERR_INVALID, "%s: key '%s' is %s", what, fields[i].key,
			               n ? "there twice" : "missing");
		if (!get_field(&fields[i], item, record))
			return err_set(e, ERR_INVALID, "%s: key '%s' has a bad value", what, fields[i].key);
	}
	if ((size_t)cJSON_GetArraySize(object) != known) /* each of these is there once */
		return err_set(e, ERR_INVALID, "%s has an unknown key", what);
	return true;
}

static bool parse_record(const char *what, const char *text, size_t len, const struct field *fields,
                         size_t count, void *record, struct err *e)
{
	char *copy FREE_ON_EXIT =
	    mem_alloc(len + 1); /* with a NUL: nothing but blanks may follow the object */
	if (len)
		memcpy(copy, text, len);
	cJSON *object = strlen(copy) == len ? cJSON_ParseWithLengthOpts(copy, len + 1, NULL, true) : NULL;
	if (!object)
		return err_set(e, ERR_INVALID, "%s is not JSON", what);
	bool ok = read_object(what, object, fields, count, record, e);
	cJSON_Delete(object);
	return ok;
}

bool store_parse_spec(const char *what, const char *text, size_t len, struct vm_spec *out, struct err *e)
{
	struct vm_spec spec = {0};
	if (!parse_record(what, text, len, SPEC_FIELDS, ARRAY_LEN(SPEC_FIELDS), &spec, e))
		return false;
	if (!vm_spec_check(&spec, e))
		return err_wrap(e, "%s", what);
	*out = spec;
	return true;
}

bool store_parse_status(const char *what, const char *text, size_t len, struct store_status *out,
                        struct err *e)
{
	struct store_status s = {0};
	if (!parse_record(what, text, len, STATUS_FIELDS, ARRAY_LEN(STATUS_FIELDS), &s, e))
		return false;
	struct err bad_name = ERR_INIT;
	if (!parse_name("VM name", s.status.name, &bad_name))
		return err_set(e, ERR_INVALID, "%s: %s", what, bad_name.msg);
	*out = s;
	return true;
}

/* ---- files ---- */

/* A state folder that was copied or renamed by hand must not act for another VM. */
static bool check_folder_name(const char *dir, const char *path, const char *name, struct err *e)
{
	char *copy FREE_ON_EXIT = mem_strdup(dir);
	const char *folder = basename(copy);
	if (strcmp(folder, name) != 0)
		return err_set(e, ERR_INVALID, "%s is of VM '%s', not of '%s'", path, name, folder);
	return true;
}

bool store_write_spec(const char *state_dir, const struct vm_spec *spec, struct err *e)
{
	return write_record(state_dir, STORE_SPEC_FILE, SPEC_FIELDS, ARRAY_LEN(SPEC_FIELDS), spec, e);
}

bool store_read_spec(const char *state_dir, struct vm_spec *out, struct err *e)
{
	struct vm_spec spec;
	char *path FREE_ON_EXIT = mem_printf("%s/%s", state_dir, STORE_SPEC_FILE);
	size_t len;
	char *text FREE_ON_EXIT = fd_read_file(path, STORE_FILE_MAX, &len, e);
	if (!text || !store_parse_spec(path, text, len, &spec, e) ||
	    !check_folder_name(state_dir, path, spec.name, e))
		return false;
	*out = spec;
	return true;
}

bool store_write_status(const char *state_dir, const struct store_status *s, struct err *e)
{
	return write_record(state_dir, STORE_STATUS_FILE, STATUS_FIELDS, ARRAY_LEN(STATUS_FIELDS), s, e);
}

bool store_read_status(const char *state_dir, struct store_status *out, struct err *e)
{
	struct store_status s;
	char *path FREE_ON_EXIT = mem_printf("%s/%s", state_dir, STORE_STATUS_FILE);
	size_t len;
	char *text FREE_ON_EXIT = fd_read_file(path, STORE_FILE_MAX, &len, e);
	if (!text || !store_parse_status(path, text, len, &s, e) ||
	    !check_folder_name(state_dir, path, s.status.name, e))
		return false;
	*out = s;
	return true;
}
