/* The audit log as the proxy uses it: a writer, what is still to be written, and a lazy sync.
 *
 * After a record the log is synced to the disk within JOURNAL_SYNC_MS, off the loop; so a power cut loses at most that
 * much. An idle proxy syncs nothing and wakes up for nothing. */
#ifndef CCVM_PROXY_JOURNAL_H
#define CCVM_PROXY_JOURNAL_H

#include "core/audit/record.h"
#include "core/base/err.h"

#define JOURNAL_SYNC_MS 1000

struct journal;
struct loop;

struct journal *journal_open(struct loop *loop, const char *path, const char *vm, struct err *e) MUST_USE;
/* For what is about to be done: when this fails, do not do it. What waits is written first, in order. */
bool journal_write(struct journal *j, struct audit_record *r) MUST_USE;
/* For what has happened already (the end of a tunnel): kept and tried again when it cannot be written now. Never more
 * than there are tunnels: while something waits, no tunnel is opened. */
void journal_write_soon(struct journal *j, const struct audit_record *r);
/* Writes what waits if it can, syncs, closes. Accepts NULL. */
void journal_close(struct journal *j);

#endif
