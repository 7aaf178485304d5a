#include "core/cli/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/check.h"
#include "core/base/clock.h"

void format_duration(char *out, uint64_t ms)
{
	static const struct {
		uint64_t seconds;
		char letter;
	} UNITS[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	uint64_t s = ms / 1000;
	size_t i = 0;
	while (i + 1 < ARRAY_LEN(UNITS) && s < UNITS[i].seconds)
		i++;
	unsigned long long big = s / UNITS[i].seconds;
	unsigned long long rest = s % UNITS[i].seconds;
	if (i + 1 < ARRAY_LEN(UNITS) && rest / UNITS[i + 1].seconds)
		snprintf(out, FORMAT_SIZE, "%llu%c %llu%c", big, UNITS[i].letter,
		         rest / (unsigned long long)UNITS[i + 1].seconds, UNITS[i + 1].letter);
	else
		snprintf(out, FORMAT_SIZE, "%llu%c", big, UNITS[i].letter);
}

void format_bytes(char *out, uint64_t bytes)
{
	static const char UNITS[] = "BKMGT";
	size_t i = 0;
	double v = (double)bytes;
	while (v >= 1024 && i + 2 < sizeof(UNITS)) {
		v /= 1024;
		i++;
	}
	bool fraction = i > 0 && v < 10 && (uint64_t)(v * 10) % 10;
	snprintf(out, FORMAT_SIZE, fraction ? "%.1f%c" : "%.0f%c", v, UNITS[i]);
}

void format_seconds(char *out, uint64_t ms)
{
	snprintf(out, FORMAT_SIZE, "%llu.%llu s", (unsigned long long)ms / 1000,
	         (unsigned long long)ms % 1000 / 100);
}

void format_time(char *out, int64_t wall_ms, int64_t now_ms)
{
	time_t t = (time_t)(wall_ms / 1000), now = (time_t)(now_ms / 1000);
	struct tm when, today;
	if (!localtime_r(&t, &when) || !localtime_r(&now, &today)) {
		snprintf(out, FORMAT_SIZE, "?");
		return;
	}
	bool same_day = when.tm_year == today.tm_year && when.tm_yday == today.tm_yday;
	strftime(out, FORMAT_SIZE, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &when);
}

void format_moment(char *out, int64_t wall_ms)
{
	time_t t = (time_t)(wall_ms / 1000);
	struct tm when;
	if (!localtime_r(&t, &when) || strftime(out, FORMAT_SIZE, "%Y-%m-%d %H:%M:%S", &when) == 0)
		snprintf(out, FORMAT_SIZE, "?");
}

void format_print_json(cJSON *json)
{
	char *text = cJSON_Print(json);
	CHECK(text);
	printf("%s\n", text);
	cJSON_free(text);
	cJSON_Delete(json);
}

void format_add_time(cJSON *object, const char *name, int64_t wall_ms)
{
	char text[CLOCK_RFC3339_SIZE];
	if (wall_ms <= 0) {
		cJSON_AddNullToObject(object, name);
		return;
	}
	clock_rfc3339(text, wall_ms);
	cJSON_AddStringToObject(object, name, text);
}
