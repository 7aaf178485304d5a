/* The one log sink of a process (the only global that code may write to).
 *
 * Lines go to stderr or to a descriptor: "2026-11-30T21:14:02.123Z error ccvm-proxy[alpha]: text\n", one write
 * each. Control bytes in a message are escaped, so a hostile name cannot forge a line or reach a terminal raw. */
#ifndef CCVM_BASE_LOG_H
#define CCVM_BASE_LOG_H

#include "core/base/check.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* `ident` (borrowed for ever, e.g. a literal) and `fd` (borrowed) are kept. Level from CCVM_LOG
 * (error, warn, info, debug) if set, else `level`. */
void log_open(const char *ident, int fd, enum log_level level);
/* The VM named in brackets in each line; copied, at most 32 bytes. "" for none. */
void log_set_vm(const char *vm);
/* Called before each line that is written, and not for lines below the level: the owner of the descriptor may replace
 * what is behind it. `fn` logs nothing itself; NULL: none. */
void log_before_line(void (*fn)(void *arg), void *arg);
void log_at(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

#endif
