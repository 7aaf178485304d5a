#include "core/base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void (*bug_hook)(const char *msg);

void check_on_bug(void (*hook)(const char *msg))
{
	bug_hook = hook;
}

void check_bug(const char *file, int line, const char *fmt, ...)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "BUG %s:%d: ", file, line);
	if (n < 0 || (size_t)n >= sizeof(text))
		n = 0;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	if (bug_hook)
		bug_hook(text);
	fprintf(stderr, "%s\n", text);
	abort();
}
