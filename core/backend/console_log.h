/* The guest's serial console as a text file that a hostile guest can neither grow without bound nor use to send
 * control bytes to a reader's terminal.
 *
 * - Printable ASCII, newline and tab are kept, carriage return is dropped, any other byte becomes \xNN.
 * - Over CONSOLE_LOG_MOST bytes the older half is thrown away, at a line break if there is one near. Both in place: no
 *   second file, no rename, one descriptor opened at the start. */
#ifndef CCVM_BACKEND_CONSOLE_LOG_H
#define CCVM_BACKEND_CONSOLE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define CONSOLE_LOG_MOST (1024 * 1024)

struct console_log;

/* Created 0600 if missing, else appended to. */
struct console_log *console_log_open(const char *path, struct err *e) MUST_USE;
/* A full disk does not stop the guest: what cannot be written is lost, which is logged once. */
void console_log_write(struct console_log *log, const uint8_t *bytes, size_t len);
void console_log_close(struct console_log *log); /* accepts NULL */

/* The last `lines` lines of such a file, at most size - 1 bytes, without the newline at the end; blank lines do not
 * count. An unreadable file gives "". For the reason of a VM that did not come up. */
void console_log_tail(const char *path, size_t lines, char *out, size_t size);

#endif
