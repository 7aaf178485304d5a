/* proxy/request: the verdict does not depend on how the bytes arrive, and what is let through is a name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/mem.h"
#include "proxy/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ok(const char *bytes, size_t len, const struct request *q)
{
	char again[HOST_SIZE];
	CHECK(q->head_len >= 4 && q->head_len <= len && q->head_len <= REQUEST_HEAD_MAX);
	CHECK(memcmp(bytes + q->head_len - 4, "\r\n\r\n", 4) == 0);
	CHECK(q->port != 0);
	CHECK(strspn(q->host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == strlen(q->host));
	CHECK(host_normalise(q->host, strlen(q->host), again) == HOST_OK && strcmp(again, q->host) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request whole, part;
	request_parse((const char *)data, size, &whole);
	if (whole.state == REQUEST_OK)
		check_ok((const char *)data, size, &whole);
	if (whole.state == REQUEST_BAD)
		CHECK(whole.reason && whole.status >= 400 && whole.raw_len <= size);
	bool decided = false;
	size_t step = MAX(1, size / 64);
	for (size_t n = 0; n <= size; n = n < size ? MIN(n + step, size) : n + 1) {
		char *copy = mem_copy(data, n); /* of exactly this size, so that reading past it is seen */
		request_parse(copy, n, &part);
		CHECK(!decided || part.state != REQUEST_MORE);
		if (part.state != REQUEST_MORE) {
			decided = true;
			CHECK(part.state == whole.state && part.status == whole.status &&
			      part.why == whole.why);
			CHECK(part.head_len == whole.head_len && part.port == whole.port);
			CHECK(strcmp(part.host, whole.host) == 0);
		}
		free(copy);
	}
	return 0;
}
