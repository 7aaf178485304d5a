/* core/audit: any file can be read; what reads as a record can be written again, as one printable line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/audit/reader.h"
#include "core/base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_line(void *arg, const struct audit_record *r, const char *line, size_t len)
{
	uint64_t *sum = arg;
	struct audit_record back;
	char out[AUDIT_LINE_MAX + 1];
	CHECK(len <= AUDIT_LINE_MAX && (len == 0 || line));
	*sum = *sum * 31 + len + (r ? r->seq * 2 + 1 : 0);
	if (!r)
		return;
	size_t n = audit_format(r, out);
	CHECK(n > 1 && n <= AUDIT_LINE_MAX && out[n - 1] == '\n');
	for (size_t i = 0; i + 1 < n; i++)
		CHECK(out[i] >= 0x20 && out[i] < 0x7f);
	CHECK(audit_parse(out, n - 1, &back));
	CHECK(back.seq == r->seq && back.t_ms == r->t_ms && back.event == r->event && back.why == r->why);
	CHECK(back.port == r->port && back.conn == r->conn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole = 0, pieces = 0;
	struct audit_reader rd;
	audit_reader_init(&rd, on_line, &whole);
	audit_reader_feed(&rd, (const char *)data, size);
	audit_reader_init(&rd, on_line, &pieces);
	size_t step = size ? 1 + data[0] % 97 : 1;
	for (size_t at = 0; at < size; at += step)
		audit_reader_feed(&rd, (const char *)data + at, MIN(step, size - at));
	CHECK(whole == pieces);
	return 0;
}
