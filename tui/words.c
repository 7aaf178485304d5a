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

/* Three digits at most, so that columns stay narrow: "812B" "9.7K" "41K" "1.5G" "16G". */
static void scaled(char out[WORDS_SIZE], uint64_t bytes, const char *units)
{
	uint64_t tenths = MIN(bytes, UINT64_MAX / 10) * 10;
	while (tenths >= 10000 && units[1]) {
		tenths = tenths / 1024 + (tenths % 1024 >= 512);
		units++;
	}
	if (tenths < 100 && tenths % 10 != 0)
		snprintf(out, WORDS_SIZE, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10, *units);
	else
		snprintf(out, WORDS_SIZE, "%" PRIu64 "%c", tenths / 10, *units);
}

void words_memory(char out[WORDS_SIZE], uint64_t bytes)
{
	scaled(out, bytes >> 20, "MGTPE");
}

void words_bytes(char out[WORDS_SIZE], uint64_t bytes)
{
	scaled(out, bytes, "BKMGTPE");
}

void words_cpu(char out[WORDS_SIZE], uint32_t permille)
{
	snprintf(out, WORDS_SIZE, "%" PRIu32 "%%", permille / 10 + (permille % 10 >= 5));
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
	if (same_day || (wall_ms <= now_ms && wall_ms > now_ms - DAY_MS))
		snprintf(out, WORDS_SIZE, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		snprintf(out, WORDS_SIZE, "%2d %s  ", tm.tm_mday, MONTHS[tm.tm_mon % 12]);
}

void words_moment(char out[WORDS_SIZE], int64_t wall_ms)
{
	struct tm tm = local(wall_ms);
	if (strftime(out, WORDS_SIZE, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		snprintf(out, WORDS_SIZE, "?");
}

/* ---- states ---- */

static const struct words_look STATES[] = {
    [VM_CREATING] = {"◌", "creating", STYLE_STATE_BUSY},  [VM_BOOTING] = {"◔", "booting", STYLE_STATE_BUSY},
    [VM_READY] = {"○", "ready", STYLE_STATE_READY},       [VM_STOPPING] = {"◑", "stopping", STYLE_STATE_BUSY},
    [VM_STOPPED] = {"□", "stopped", STYLE_STATE_STOPPED}, [VM_FAILED] = {"✗", "failed", STYLE_STATE_FAILED},
};
static_assert(ARRAY_LEN(STATES) == VM_STATE_COUNT, "every state has a look");

static const struct words_look AGENT[] = {
    [ATTENTION_NONE] = {"", "", STYLE_PLAIN},
    [ATTENTION_WORKING] = {"◐", "working", STYLE_STATE_WORKING},
    [ATTENTION_WAITING] = {"●", "waiting", STYLE_STATE_WAITING},
    [ATTENTION_IDLE] = {"○", "idle", STYLE_STATE_IDLE},
    [ATTENTION_FINISHED] = {"✓", "finished", STYLE_STATE_FINISHED},
    [ATTENTION_FAILED] = {"✗", "failed", STYLE_STATE_FAILED},
};
static_assert(ARRAY_LEN(AGENT) == ATTENTION_STATE_COUNT, "every attention has a look");

static const struct words_look UNKNOWN = {"?", "unknown", STYLE_MUTED};

struct words_look words_state(enum vm_state s)
{
	return (unsigned)s < VM_STATE_COUNT ? STATES[s] : UNKNOWN;
}

struct words_look words_attention(const struct vm_attention *a)
{
	if ((unsigned)a->state >= ATTENTION_STATE_COUNT)
		return UNKNOWN;
	struct words_look look = AGENT[a->state];
	bool calls =
	    a->state == ATTENTION_WAITING || a->state == ATTENTION_FINISHED || a->state == ATTENTION_FAILED;
	if (!a->seen || !calls)
		return look;
	look.style = STYLE_STATE_SEEN;
	if (a->state == ATTENTION_WAITING) {
		look.glyph = "◎";
		look.word = "seen";
	}
	return look;
}

/* The end of a VM is told as an attention, too: since when, and whether it was looked at. */
static struct words_look look_of_ended(const struct vm_status *s, int64_t *since)
{
	struct words_look look = words_state(s->state);
	bool calls = s->attention.state == ATTENTION_FAILED || s->attention.state == ATTENTION_FINISHED;
	if (calls || s->attention.state == ATTENTION_NONE) /* stopped on request: nobody is called */
		*since = s->attention.at_ms;
	if (calls && s->attention.seen && s->state == VM_FAILED)
		look.style = STYLE_STATE_SEEN;
	return look;
}

static struct words_look look_of_settled(const struct vm_status *s, int64_t *since)
{
	if (!vm_state_is_live(s->state))
		return look_of_ended(s, since);
	if (s->state == VM_READY && s->paused)
		return (struct words_look){"‖", "paused", STYLE_STATE_STOPPED};
	if (s->state == VM_READY && s->attention.state != ATTENTION_NONE) {
		*since = s->attention.at_ms;
		return words_attention(&s->attention);
	}
	if (s->state == VM_READY)
		*since = s->ready_ms ? s->ready_ms : s->started_ms;
	else if (s->state == VM_CREATING || s->state == VM_BOOTING)
		*since = s->started_ms;
	return words_state(s->state);
}

struct words_look words_vm(const struct fleet_vm *vm, int64_t *since_ms)
{
	int64_t since = 0;
	struct words_look look;
	if (vm->hangs)
		look = (struct words_look){"!", "no answer", STYLE_STATE_FAILED};
	else if (!vm->settled)
		look = (struct words_look){"?", vm_state_name(vm->status.state), STYLE_MUTED};
	else
		look = look_of_settled(&vm->status, &since);
	if (since_ms)
		*since_ms = since;
	return look;
}

const char *words_state_glyph(enum vm_state s)
{
	return words_state(s).glyph;
}

enum theme_style words_state_style(enum vm_state s)
{
	return words_state(s).style;
}
