/* Reading an audit log back. Pure; survives anything: a line that is no record (hostile, torn, of a later version) is
 * reported as bad and the next one is read. */
#ifndef CCVM_AUDIT_READER_H
#define CCVM_AUDIT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/audit/record.h"

/* One line without its newline. False, and *out untouched, when it is not a record: not a flat JSON object of known
 * types, another version, an unknown event or reason, a number out of range, a key twice, more than AUDIT_LINE_MAX
 * bytes. Keys that are not known are skipped, so that an older program reads a newer log. Texts come back as they
 * were before escaping; one of them may hold control bytes: escape it again before it is shown. */
bool audit_parse(const char *line, size_t len, struct audit_record *out);

/* A log that arrives in pieces (a file that is followed). */
struct audit_reader {
	/* `r` is borrowed; NULL for a line that is no record. `line` is without its newline, at most
	 * AUDIT_LINE_MAX bytes of it (len 0 when it was longer). */
	void (*on_line)(void *arg, const struct audit_record *r, const char *line, size_t len);
	void *arg;
	size_t len;
	bool too_long; /* skipping to the end of a line that is longer than a record can be */
	char line[AUDIT_LINE_MAX];
};

void audit_reader_init(struct audit_reader *rd,
                       void (*on_line)(void *arg, const struct audit_record *r, const char *line, size_t len),
                       void *arg);
/* Calls on_line for each line that is complete now; the rest waits. Nothing to release. */
void audit_reader_feed(struct audit_reader *rd, const char *bytes, size_t len);
/* Bytes of a last line that has no end yet. */
size_t audit_reader_pending(const struct audit_reader *rd);

#endif
