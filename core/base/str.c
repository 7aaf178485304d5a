#include "core/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/mem.h"

char str_empty[1] = "";

void str_init(struct str *s, size_t max_len)
{
	*s = (struct str)STR_INIT(max_len);
}

void str_finish(struct str *s)
{
	if (s->cap)
		free(s->s);
	str_init(s, s->max);
}

void str_clear(struct str *s)
{
	s->len = 0;
	s->overflow = false;
	if (s->cap)
		s->s[0] = '\0';
}

/* Room for `more` bytes and the NUL; false (and the flag) when that would go over the maximum. */
static bool reserve(struct str *s, size_t more)
{
	if (s->overflow || more > s->max - s->len) {
		s->overflow = true;
		return false;
	}
	size_t need = s->len + more + 1;
	if (need <= s->cap)
		return true;
	size_t cap = MAX(need, MIN(s->cap * 2, s->max + 1));
	s->s = mem_resize(s->cap ? s->s : NULL, MAX(cap, 64), 1);
	s->cap = MAX(cap, 64);
	return true;
}

void str_append_bytes(struct str *s, const char *bytes, size_t len)
{
	if (!len || !reserve(s, len))
		return;
	memcpy(s->s + s->len, bytes, len);
	s->len += len;
	s->s[s->len] = '\0';
}

void str_append(struct str *s, const char *text)
{
	str_append_bytes(s, text, strlen(text));
}

void str_append_char(struct str *s, char c)
{
	str_append_bytes(s, &c, 1);
}

void str_appendf(struct str *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n <= 0 || !reserve(s, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(s->s + s->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->len += (size_t)n;
}

void str_append_json(struct str *s, const char *bytes, size_t len, size_t cap)
{
	char out[4104];
	CHECK(cap + 8 <= sizeof(out));
	size_t n = escape_json(out, MAX(cap + 1, 8), bytes, len);
	str_append_char(s, '"');
	str_append_bytes(s, out, n);
	str_append_char(s, '"');
}

char *str_detach(struct str *s)
{
	char *out = s->cap ? s->s : mem_strdup("");
	str_init(s, s->max);
	return out;
}
