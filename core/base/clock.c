#include "core/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t frozen_wall_ms = -1;

uint64_t clock_mono_us(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t clock_mono_ms(void)
{
	return clock_mono_us() / 1000;
}

int64_t clock_wall_ms(void)
{
	if (frozen_wall_ms >= 0)
		return frozen_wall_ms;
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void clock_rfc3339(char *out, int64_t wall_ms)
{
	time_t sec = (time_t)(wall_ms / 1000);
	int ms = (int)(wall_ms % 1000);
	if (ms < 0) {
		ms += 1000;
		sec--;
	}
	struct tm tm;
	memset(&tm, 0, sizeof(tm));
	gmtime_r(&sec, &tm);
	int year = tm.tm_year + 1900;
	if (year < 0 || year > 9999)
		year = 0;
	snprintf(out, CLOCK_RFC3339_SIZE, "%04d-%02u-%02uT%02u:%02u:%02u.%03uZ", year,
	         (unsigned)(tm.tm_mon + 1) % 100, (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100,
	         (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100, (unsigned)ms % 1000);
}

void clock_freeze_wall(int64_t wall_ms)
{
	frozen_wall_ms = wall_ms;
}
