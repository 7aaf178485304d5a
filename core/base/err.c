#include "core/base/err.h"

#include <stdio.h>
#include <string.h>

static const char *const KIND_NAMES[] = {
    [ERR_NONE] = "none",           [ERR_SYSTEM] = "system",   [ERR_INVALID] = "invalid",
    [ERR_NOT_FOUND] = "not-found", [ERR_EXISTS] = "exists",   [ERR_BUSY] = "busy",
    [ERR_DENIED] = "denied",       [ERR_TIMEOUT] = "timeout", [ERR_CANCELED] = "canceled",
    [ERR_PROTOCOL] = "protocol",   [ERR_LIMIT] = "limit",     [ERR_GONE] = "gone",
    [ERR_INTERNAL] = "internal",
};
static_assert(ARRAY_LEN(KIND_NAMES) == ERR_KIND_COUNT, "every error kind has a name");

bool err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	CHECK(e->kind == ERR_NONE && kind != ERR_NONE);
	e->kind = kind;
	e->sys = 0;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return false;
}

bool err_sys(struct err *e, int errnum, const char *fmt, ...)
{
	CHECK(e->kind == ERR_NONE);
	e->kind = ERR_SYSTEM;
	e->sys = errnum;
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->msg))
		snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, ": %s", strerror(errnum));
	return false;
}

bool err_wrap(struct err *e, const char *fmt, ...)
{
	CHECK(e->kind != ERR_NONE);
	char old[sizeof(e->msg)];
	memcpy(old, e->msg, sizeof(old));
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->msg))
		snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, ": %s", old);
	return false;
}

void err_clear(struct err *e)
{
	*e = (struct err)ERR_INIT;
}

const char *err_kind_name(enum err_kind kind)
{
	return (unsigned)kind < ERR_KIND_COUNT ? KIND_NAMES[kind] : KIND_NAMES[ERR_INTERNAL];
}
