/* The one writer of an audit log.
 *
 * - Each record is appended by a single write(2). When audit_write returns true the record is with the kernel: it
 *   survives a crash of this process. A power cut can lose what was not yet on the disk (audit_writer_sync).
 * - When a write fails (disk full) the file is cut back to whole lines, the sequence number is not used up, and the
 *   caller must not do what the record would have told (fail closed). The next write tries again.
 * - Opening continues the sequence of the last record. A last line without an end (a crash of the whole machine) is
 *   cut off and recorded as "recovered".
 * - The file is locked: a second writer of the same log is refused (ERR_BUSY). */
#ifndef CCVM_AUDIT_WRITER_H
#define CCVM_AUDIT_WRITER_H

#include "core/audit/record.h"
#include "core/base/err.h"

struct audit_writer;

/* Creates the file with mode 0600. `vm` is copied. The caller ignores SIGXFSZ, else a file size limit kills it. */
struct audit_writer *audit_writer_open(const char *path, const char *vm, struct err *e) MUST_USE;
/* Sets seq, t_ms and vm of *r. */
bool audit_write(struct audit_writer *w, struct audit_record *r, struct err *e) MUST_USE;
/* fdatasync; blocks. */
void audit_writer_sync(struct audit_writer *w);
int audit_writer_fd(const struct audit_writer *w);
/* Syncs and closes; accepts NULL. */
void audit_writer_close(struct audit_writer *w);

#endif
