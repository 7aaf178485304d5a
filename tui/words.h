/* Short words for times, sizes and states, the same in every view. Durations have one unit, so that they change
 * seldom. */
#ifndef CCVM_TUI_WORDS_H
#define CCVM_TUI_WORDS_H

#include <stdint.h>

#include "core/vm/vm.h"
#include "tui/theme.h"

#define WORDS_SIZE 32

void words_duration(char out[WORDS_SIZE], int64_t ms);   /* "11s" "2m" "1h" "3d"; negative: "0s" */
void words_memory(char out[WORDS_SIZE], uint64_t bytes); /* "512M" "2G" */
void words_clock(char out[WORDS_SIZE], int64_t wall_ms); /* "21:14", local time */
/* Eight columns: "21:14:02", or the day when that was a day ago or more: "29 Nov". */
void words_when(char out[WORDS_SIZE], int64_t wall_ms, int64_t now_ms);

const char *words_state_glyph(enum vm_state s); /* one column; always shown together with the word */
enum theme_style words_state_style(enum vm_state s);

#endif
