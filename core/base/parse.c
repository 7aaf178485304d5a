#include "core/base/parse.h"

#include <string.h>

#include "core/base/escape.h"

/* Reads digits up to a non-digit; false when there are none or they overflow. */
static bool digits(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t v = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	}
	if (p == *text)
		return false;
	*text = p;
	*out = v;
	return true;
}

bool parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;
	if (!digits(&text, &v) || *text || v < min || v > max)
		return false;
	*out = v;
	return true;
}

struct unit {
	const char *suffix;
	uint64_t factor;
};

static bool number_with_unit(const char *text, const struct unit *units, size_t count, uint64_t *out)
{
	uint64_t v;
	if (!digits(&text, &v))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(text, units[i].suffix) == 0)
			return !__builtin_mul_overflow(v, units[i].factor, out);
	}
	return false;
}

bool parse_size(const char *text, uint64_t *out_bytes)
{
	static const struct unit UNITS[] = {
	    {"", 1}, {"K", 1ull << 10}, {"M", 1ull << 20}, {"G", 1ull << 30}, {"T", 1ull << 40}};
	uint64_t v;
	if (!number_with_unit(text, UNITS, ARRAY_LEN(UNITS), &v))
		return false;
	*out_bytes = v;
	return true;
}

bool parse_duration(const char *text, uint64_t *out_ms)
{
	static const struct unit UNITS[] = {{"", 1000},   {"ms", 1},      {"s", 1000},
	                                    {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
	uint64_t v;
	if (!number_with_unit(text, UNITS, ARRAY_LEN(UNITS), &v))
		return false;
	*out_ms = v;
	return true;
}

bool parse_name(const char *what, const char *text, struct err *e)
{
	size_t len = strlen(text);
	char shown[64];
	escape_text(shown, sizeof(shown), text, len);
	if (len == 0)
		return err_set(e, ERR_INVALID, "the %s is empty", what);
	if (len > VM_NAME_MAX)
		return err_set(e, ERR_INVALID, "%s '%s' is longer than %d characters", what, shown,
		               VM_NAME_MAX);
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && i > 0);
		if (!ok)
			return err_set(e, ERR_INVALID,
			               "%s '%s' may hold only a-z, 0-9 and - and must not start with -", what,
			               shown);
	}
	return true;
}
