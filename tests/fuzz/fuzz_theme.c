/* Theme files: bytes of a file that anybody may have written. */
#include <string.h>

#include "core/base/check.h"
#include "tui/theme_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct theme t, untouched;
	struct err e = ERR_INIT;
	memset(&t, 0x5a, sizeof(t));
	untouched = t;
	if (!theme_parse(&t, (const char *)data, size, "theme", &e)) {
		if (memcmp(&t, &untouched, sizeof(t)) != 0 || e.kind != ERR_INVALID)
			BUG("a refused theme left something behind");
		return 0;
	}
	for (unsigned style = 0; style < STYLE_COUNT; style++) {
		struct theme_look look = theme_look(&t, (enum theme_style)style, true);
		if (look.fg >> 24 > 2 || look.bg >> 24 > 2)
			BUG("style %u has no colour", style);
	}
	return 0;
}
