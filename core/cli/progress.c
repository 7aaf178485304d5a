#include "core/cli/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"

#define CLOCK_AFTER_MS 1000 /* quick things need no clock */

void progress_start(struct progress *p)
{
	*p = (struct progress){.live = isatty(STDERR_FILENO) != 0, .since_ms = clock_mono_ms()};
}

uint64_t progress_ms(const struct progress *p)
{
	return clock_mono_ms() - p->since_ms;
}

/* A line that is too long would wrap, and then it could not be written over. */
static int columns(void)
{
	struct winsize size = {0};
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

static void write_live(struct progress *p)
{
	char text[sizeof(p->last) + 32];
	uint64_t ms = progress_ms(p);
	if (ms >= CLOCK_AFTER_MS)
		snprintf(text, sizeof(text), "%s (%llu s)", p->last, (unsigned long long)ms / 1000);
	else
		snprintf(text, sizeof(text), "%s", p->last);
	fprintf(stderr, "\r%.*s\033[K", columns(), text);
	p->shown = true;
}

void progress_say(struct progress *p, const char *fmt, ...)
{
	char text[sizeof(p->last)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	bool same = strcmp(text, p->last) == 0;
	memcpy(p->last, text, sizeof(text));
	if (p->live)
		write_live(p);
	else if (!same)
		fprintf(stderr, "%s\n", text);
}

void progress_tick(struct progress *p)
{
	if (p->live && p->shown)
		write_live(p);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->shown = false;
}
