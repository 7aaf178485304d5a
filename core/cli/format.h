/* How the commands print numbers and JSON. */
#ifndef CCVM_CLI_FORMAT_H
#define CCVM_CLI_FORMAT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_SIZE 32

/* "8s", "2m 5s", "3h 12m", "4d 2h": two units at most. `out` holds FORMAT_SIZE bytes, as below. */
void format_duration(char *out, uint64_t ms);
/* "512M", "1.5G", "72K": powers of 1024. */
void format_bytes(char *out, uint64_t bytes);
/* "4.1 s" */
void format_seconds(char *out, uint64_t ms);
/* "21:13:58" of local time when it is today, else "2026-11-29 21:13:58". */
void format_time(char *out, int64_t wall_ms, int64_t now_ms);
/* "2026-11-29 21:13:58" of local time, on any day. */
void format_moment(char *out, int64_t wall_ms);

/* Prints it with a line feed and frees it. */
void format_print_json(cJSON *json);
/* RFC 3339 in UTC; zero or less is null. */
void format_add_time(cJSON *object, const char *name, int64_t wall_ms);

#endif
