/* Time: monotonic for intervals, wall for people. Tests may freeze both. */
#ifndef CCVM_BASE_CLOCK_H
#define CCVM_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"

#define CLOCK_RFC3339_SIZE 32

uint64_t clock_mono_ms(void); /* milliseconds since some fixed point, never back */
uint64_t clock_mono_us(void);
int64_t clock_wall_ms(void); /* milliseconds since 1970-01-01 UTC */

/* "2026-11-30T21:14:02.123Z". `out` holds CLOCK_RFC3339_SIZE bytes. Years outside 0..9999 give year 0000. */
void clock_rfc3339(char *out, int64_t wall_ms);
/* Exactly that form, with its milliseconds. */
bool clock_parse_rfc3339(const char *text, size_t len, int64_t *out_ms) MUST_USE;

/* From now on wall time is this value and stands still; negative: real time again. For tests. */
void clock_freeze_wall(int64_t wall_ms);
/* From now on monotonic time is so much further on. For tests. */
void clock_skip_mono(uint64_t ms);

#endif
