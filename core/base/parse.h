/* Strict readers for what people and programs type. Nothing is skipped, nothing is guessed: leading blanks,
 * signs, trailing text and overflow are all refused. */
#ifndef CCVM_BASE_PARSE_H
#define CCVM_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define VM_NAME_MAX 32

/* Decimal digits only, min..max. */
bool parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out) MUST_USE;
/* "512M", "2G", "1073741824": bytes; suffixes K M G T (powers of 1024). */
bool parse_size(const char *text, uint64_t *out_bytes) MUST_USE;
/* "90" or "90s", "10m", "2h", "1d", "250ms": milliseconds. */
bool parse_duration(const char *text, uint64_t *out_ms) MUST_USE;

/* [a-z0-9][a-z0-9-]{0,31}: the rule for VM and image names, checked before any path is built. On failure the
 * error names the thing ("VM name", "image name") and what is wrong with it. */
bool parse_name(const char *what, const char *text, struct err *e) MUST_USE;

#endif
