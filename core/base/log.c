#include "core/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/escape.h"
#include "core/base/fd.h"

static struct {
	const char *ident;
	int fd;
	enum log_level level;
	char vm[33];
	void (*before_line)(void *arg);
	void *arg;
} sink = {.ident = "ccvm", .fd = STDERR_FILENO, .level = LOG_WARN};

static const char *const LEVEL_NAMES[] = {
    [LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};

void log_open(const char *ident, int fd, enum log_level level)
{
	sink.ident = ident;
	sink.fd = fd;
	sink.level = level;
	const char *want = getenv("CCVM_LOG");
	for (size_t i = 0; want && i < ARRAY_LEN(LEVEL_NAMES); i++) {
		if (strcmp(want, LEVEL_NAMES[i]) == 0)
			sink.level = (enum log_level)i;
	}
}

void log_set_vm(const char *vm)
{
	snprintf(sink.vm, sizeof(sink.vm), "%s", vm);
}

void log_before_line(void (*fn)(void *arg), void *arg)
{
	sink.before_line = fn;
	sink.arg = arg;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	if (level > sink.level)
		return;
	char text[1024], safe[2048], line[2400], when[CLOCK_RFC3339_SIZE];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	escape_text(safe, sizeof(safe), text, strlen(text));
	clock_rfc3339(when, clock_wall_ms());
	int n = snprintf(line, sizeof(line), "%s %s %s%s%s%s: %s\n", when, LEVEL_NAMES[level], sink.ident,
	                 sink.vm[0] ? "[" : "", sink.vm, sink.vm[0] ? "]" : "", safe);
	if (sink.before_line)
		sink.before_line(sink.arg);
	if (n > 0)
		fd_write_all(sink.fd, line,
		             MIN((size_t)n, sizeof(line) - 1)); /* a lost log line is not an error */
}
