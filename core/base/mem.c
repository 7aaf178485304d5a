#include "core/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *p)
{
	if (!p)
		BUG("out of memory");
	return p;
}

void *mem_alloc(size_t size)
{
	return need(calloc(1, size ? size : 1));
}

void *mem_array(size_t count, size_t size)
{
	return need(calloc(count ? count : 1, size ? size : 1));
}

void *mem_resize(void *old, size_t count, size_t size)
{
	size_t total;
	if (__builtin_mul_overflow(count, size, &total))
		BUG("allocation of %zu x %zu bytes", count, size);
	return need(realloc(old, total ? total : 1));
}

char *mem_strdup(const char *s)
{
	return need(strdup(s));
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *out = NULL;
	va_start(ap, fmt);
	int n = vasprintf(&out, fmt, ap);
	va_end(ap);
	return need(n < 0 ? NULL : out);
}

void *mem_copy(const void *bytes, size_t len)
{
	void *out = mem_alloc(len);
	if (len)
		memcpy(out, bytes, len);
	return out;
}

void *mem_steal(void *p)
{
	void **pp = p;
	void *taken = *pp;
	*pp = NULL;
	return taken;
}

void mem_free_ptr(void *p)
{
	free(*(void **)p);
}
