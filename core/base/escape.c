#include "core/base/escape.h"

#include <stdio.h>
#include <string.h>

#include "core/base/check.h"

/* One byte to at most 6 characters. Returns how many. */
typedef size_t escape_byte_fn(char out[8], unsigned char c);

static size_t text_byte(char out[8], unsigned char c)
{
	if (c == '\n' || c == '\t' || c == '\\') {
		out[0] = '\\';
		out[1] = c == '\n' ? 'n' : c == '\t' ? 't' : '\\';
		return 2;
	}
	if (c < 0x20 || c >= 0x7f)
		return (size_t)snprintf(out, 8, "\\x%02x", c);
	out[0] = (char)c;
	return 1;
}

static size_t json_byte(char out[8], unsigned char c)
{
	if (c == '"' || c == '\\') {
		out[0] = '\\';
		out[1] = (char)c;
		return 2;
	}
	if (c < 0x20 || c >= 0x7f)
		return (size_t)snprintf(out, 8, "\\u%04x", c);
	out[0] = (char)c;
	return 1;
}

static size_t escape(char *out, size_t size, const char *bytes, size_t len, escape_byte_fn *one)
{
	CHECK(size >= 8);
	size_t used = 0;
	size_t fits = 0; /* the longest prefix that leaves room for "..." */
	for (size_t i = 0; i < len; i++) {
		char tmp[8];
		size_t n = one(tmp, (unsigned char)bytes[i]);
		if (used + n >= size) {
			memcpy(out + fits, "...", 4);
			return fits + 3;
		}
		memcpy(out + used, tmp, n);
		used += n;
		if (used + 4 <= size)
			fits = used;
	}
	out[used] = '\0';
	return used;
}

size_t escape_text(char *out, size_t size, const char *bytes, size_t len)
{
	return escape(out, size, bytes, len, text_byte);
}

size_t escape_json(char *out, size_t size, const char *bytes, size_t len)
{
	return escape(out, size, bytes, len, json_byte);
}
