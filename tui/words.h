/* Short words for times, sizes and states, the same in every view. Durations have one unit, so that they change
 * seldom. */
#ifndef CCVM_TUI_WORDS_H
#define CCVM_TUI_WORDS_H

#include <stdint.h>

#include "core/client/fleet.h"
#include "core/vm/vm.h"
#include "tui/theme.h"

#define WORDS_SIZE 32

void words_duration(char out[WORDS_SIZE], int64_t ms);   /* "11s" "2m" "1h" "3d"; negative: "0s" */
void words_memory(char out[WORDS_SIZE], uint64_t bytes); /* "512M" "2G" "1.5G" */
void words_bytes(char out[WORDS_SIZE], uint64_t bytes);  /* what went through a tunnel: "812B" "41K" "1.5M" */
void words_cpu(char out[WORDS_SIZE], uint32_t permille); /* "3%" "187%" */
void words_clock(char out[WORDS_SIZE], int64_t wall_ms); /* "21:14", local time */
/* Eight columns: "21:14:02", or the day when that was a day ago or more: "29 Nov". */
void words_when(char out[WORDS_SIZE], int64_t wall_ms, int64_t now_ms);
/* All of it: "2026-11-30 21:14:02", local time. */
void words_moment(char out[WORDS_SIZE], int64_t wall_ms);

/* A state for people. The glyph has one column and always stands together with the word. */
struct words_look {
	const char *glyph, *word;
	enum theme_style style;
};

struct words_look words_state(enum vm_state s);
/* What the agent is doing: "waiting", "seen" once the operator has looked, "working"... Of ATTENTION_NONE the word is "". */
struct words_look words_attention(const struct vm_attention *a);
/* The one thing that matters most of a VM: no answer, its state, paused, or what its agent is doing. `since_ms` (may be
 * NULL): wall clock, 0 when that is not known. */
struct words_look words_vm(const struct fleet_vm *vm, int64_t *since_ms);

const char *words_state_glyph(enum vm_state s);
enum theme_style words_state_style(enum vm_state s);

#endif
