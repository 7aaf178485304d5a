#include "tui/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "core/base/check.h"

#define DAY_MS 86400000

void words_duration(char out[WORDS_SIZE], int64_t ms)
{
	static const struct {
		int64_t unit_s;
		char suffix;
	} UNITS[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}};
	int64_t seconds = MAX(ms, 0) / 1000;
	for (size_t i = 0; i < ARRAY_LEN(UNITS); i++) {
		if (seconds >= UNITS[i].unit_s) {
			snprintf(out, WORDS_SIZE, "%" PRId64 "%c", seconds / UNITS[i].unit_s,
			         UNITS[i].suffix);
			return;
		}
	}
	snprintf(out, WORDS_SIZE, "%" PRId64 "s", seconds);
}

void words_memory(char out[WORDS_SIZE], uint64_t bytes)
{
	if (bytes >= 1ull << 30 && bytes % (1ull << 30) == 0)
		snprintf(out, WORDS_SIZE, "%" PRIu64 "G", bytes >> 30);
	else
		snprintf(out, WORDS_SIZE, "%" PRIu64 "M", bytes >> 20);
}

static struct tm local(int64_t wall_ms)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm = {0};
	localtime_r(&seconds, &tm);
	return tm;
}

void words_clock(char out[WORDS_SIZE], int64_t wall_ms)
{
	struct tm tm = local(wall_ms);
	snprintf(out, WORDS_SIZE, "%02d:%02d", tm.tm_hour, tm.tm_min);
}

void words_when(char out[WORDS_SIZE], int64_t wall_ms, int64_t now_ms)
{
	static const char *const MONTHS[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
	                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	struct tm tm = local(wall_ms), now = local(now_ms);
	bool same_day = tm.tm_year == now.tm_year && tm.tm_yday == now.tm_yday;
	if (same_day || (wall_ms <= now_ms && now_ms - wall_ms < DAY_MS))
		snprintf(out, WORDS_SIZE, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		snprintf(out, WORDS_SIZE, "%2d %s  ", tm.tm_mday, MONTHS[tm.tm_mon % 12]);
}

static const struct {
	const char *glyph;
	enum theme_style style;
} STATES[] = {
    [VM_CREATING] = {"◌", STYLE_STATE_BUSY},   [VM_BOOTING] = {"◐", STYLE_STATE_BUSY},
    [VM_READY] = {"●", STYLE_STATE_READY},     [VM_STOPPING] = {"◑", STYLE_STATE_BUSY},
    [VM_STOPPED] = {"○", STYLE_STATE_STOPPED}, [VM_FAILED] = {"✗", STYLE_STATE_FAILED},
};
static_assert(ARRAY_LEN(STATES) == VM_STATE_COUNT, "every state has a glyph");

const char *words_state_glyph(enum vm_state s)
{
	return (unsigned)s < VM_STATE_COUNT ? STATES[s].glyph : "?";
}

enum theme_style words_state_style(enum vm_state s)
{
	return (unsigned)s < VM_STATE_COUNT ? STATES[s].style : STYLE_PLAIN;
}
