/* A growing text with a maximum. The content is never NULL and always ends with NUL. Going over the maximum
 * sets a sticky flag and drops what does not fit, so that twenty appends need one check at the end. */
#ifndef CCVM_BASE_STR_H
#define CCVM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/check.h"

struct str {
	char *s;    /* owned, or a static empty text while cap is 0 */
	size_t len; /* without the NUL */
	size_t cap;
	size_t max; /* longest allowed len */
	bool overflow;
};

#define STR_INIT(max_len)                        \
	{                                        \
		.s = str_empty, .max = (max_len) \
	}
extern char str_empty[1];

void str_init(struct str *s, size_t max_len);
void str_finish(struct str *s); /* releases; the value is empty again afterwards */
void str_clear(struct str *s);  /* keeps the memory, forgets the overflow */

void str_append(struct str *s, const char *text);
void str_append_bytes(struct str *s, const char *bytes, size_t len);
void str_append_char(struct str *s, char c);
void str_appendf(struct str *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A JSON string with its quotes, escaped by escape_json; the text is cut at `cap` escaped bytes (<= 4096). */
void str_append_json(struct str *s, const char *bytes, size_t len, size_t cap);

/* Hands the text over (the caller frees it); the value is empty again. */
char *str_detach(struct str *s) MUST_USE;

#endif
