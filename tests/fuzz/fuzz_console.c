/* tui/console: any bytes of a serial line become printable lines. Bytes: the log. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/check.h"
#include "core/term/unicode.h"
#include "tui/console.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str out = STR_INIT(2 * CONSOLE_TAIL_BYTES);
	size = MIN(size, (size_t)CONSOLE_TAIL_BYTES);
	console_clean((const char *)data, size, &out);
	CHECK(out.len <= 2 * size);
	CHECK(strlen(out.s) == out.len);
	for (size_t i = 0; i < out.len;) {
		uint32_t cp;
		size_t n = utf8_decode((const uint8_t *)out.s + i, out.len - i, &cp);
		CHECK(n > 0 && (cp == '\n' || codepoint_is_base(cp) || codepoint_is_mark(cp)));
		i += n;
	}
	str_finish(&out);
	return 0;
}
