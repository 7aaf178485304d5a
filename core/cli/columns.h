/* A table of texts for a terminal: columns as wide as their widest cell, two blanks between, none at line ends. */
#ifndef CCVM_CLI_COLUMNS_H
#define CCVM_CLI_COLUMNS_H

#include <stddef.h>

#include "core/base/str.h"

#define COLUMNS_MOST 12

struct columns {
	const char *const
	    *heads; /* keeps; NULL-terminated; one that begins with '>' is for a column of numbers */
	size_t count;
	char **cells; /* owned texts, row by row */
	size_t cell_count;
};

void columns_init(struct columns *t, const char *const *heads);
void columns_finish(struct columns *t);
/* The next cell, row by row; copied. NULL counts as "". Texts are UTF-8; each code point takes one column. */
void columns_add(struct columns *t, const char *text);
void columns_addf(struct columns *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Heads and rows. */
void columns_render(const struct columns *t, struct str *out);

#endif
