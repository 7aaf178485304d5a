/* The supervisor's log with a bound: over LOG_FILE_MOST the file becomes "<path>.1" (the one before goes) and a new one is
 * begun under the same descriptor. */
#ifndef CCVM_SUPERVISOR_LOG_FILE_H
#define CCVM_SUPERVISOR_LOG_FILE_H

#include "core/base/err.h"

#define LOG_FILE_MOST (1024 * 1024)

/* The descriptor to append to, close-on-exec; -1 with the error. */
int log_file_open(const char *path, struct err *e) MUST_USE;
/* Cheap: called before each line (log_before_line). A failure leaves everything as it is. */
void log_file_bound(int fd, const char *path);

#endif
