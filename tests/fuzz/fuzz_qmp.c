/* Lines from a QEMU that a guest has taken over. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/qmp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_printable(const char *text, size_t size)
{
	size_t len = strnlen(text, size);
	if (len == size)
		abort();
	for (size_t i = 0; i < len; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct qmp_message m;
	struct err e = ERR_INIT;
	char *line = malloc(size ? size : 1); /* exact, so that reading past its end is seen */
	if (!line)
		return 0;
	memcpy(line, data, size);
	if (qmp_parse(line, size, &m, &e)) {
		must_be_printable(m.event, sizeof(m.event));
		must_be_printable(m.reason, sizeof(m.reason));
		must_be_printable(m.detail, sizeof(m.detail));
	} else if (e.kind != ERR_PROTOCOL && e.kind != ERR_LIMIT) {
		abort();
	}
	free(line);
	return 0;
}
