/* Finding and asking programs of the distribution. */
#ifndef CCVM_BACKEND_PROGRAM_H
#define CCVM_BACKEND_PROGRAM_H

#include <stddef.h>

/* Absolute path of an executable `name` in PATH, else in `more` (a colon-separated list, may be NULL). Relative entries
 * of PATH are ignored. NULL when there is none; the caller frees. */
char *program_find(const char *name, const char *more);

/* The first line that `program option` prints, escaped. Blocks for at most two seconds; "" when that fails. For
 * commands that people wait for, not for an event loop. */
void program_first_line(const char *program, const char *option, char *out, size_t size);

#endif
