#include "core/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t frozen_wall_ms = -1;
static uint64_t skipped_mono_us;

uint64_t clock_mono_us(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000 + skipped_mono_us;
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

static bool two_digits(const char *p, int lo, int hi, int *out)
{
	if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9')
		return false;
	*out = (p[0] - '0') * 10 + (p[1] - '0');
	return *out >= lo && *out <= hi;
}

/* By civil-date arithmetic. */
bool clock_parse_rfc3339(const char *s, size_t len, int64_t *out)
{
	static const char SHAPE[] = "0000-00-00T00:00:00.000Z";
	int century, year, month, day, hour, minute, second, tens;
	if (len != sizeof(SHAPE) - 1)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (SHAPE[i] != '0' ? s[i] != SHAPE[i] : (s[i] < '0' || s[i] > '9'))
			return false;
	}
	if (!two_digits(s, 0, 99, &century) || !two_digits(s + 2, 0, 99, &year) ||
	    !two_digits(s + 5, 1, 12, &month) || !two_digits(s + 8, 1, 31, &day) ||
	    !two_digits(s + 11, 0, 23, &hour) || !two_digits(s + 14, 0, 59, &minute) ||
	    !two_digits(s + 17, 0, 60, &second) || !two_digits(s + 20, 0, 99, &tens))
		return false;
	/* Count years from March, so that the leap day is the last day of one. */
	int64_t y = century * 100 + year - (month <= 2);
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t days = 365 * y + (y >= 0 ? y / 4 - y / 100 + y / 400 : -1) + day_of_year - 719468;
	*out = ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000 + tens * 10 + (s[22] - '0');
	return true;
}

void clock_freeze_wall(int64_t wall_ms)
{
	frozen_wall_ms = wall_ms;
}

void clock_skip_mono(uint64_t ms)
{
	skipped_mono_us += ms * 1000;
}
