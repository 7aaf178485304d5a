/* A table of texts for a terminal: columns as wide as their widest cell, two blanks between, none at line ends. */
#ifndef CCVM_CLI_TABLE_H
#define CCVM_CLI_TABLE_H

#include <stddef.h>

#include "core/base/str.h"

#define TABLE_MOST_COLUMNS 12

struct table {
	const char *const
	    *heads; /* keeps; NULL-terminated; one that begins with '>' is for a column of numbers */
	size_t columns;
	char **cells; /* owned texts, row by row */
	size_t cell_count;
};

void table_init(struct table *t, const char *const *heads);
void table_finish(struct table *t);
/* The next cell, row by row; copied. NULL counts as "". Texts are UTF-8; each code point takes one column. */
void table_add(struct table *t, const char *text);
void table_addf(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Heads and rows. */
void table_render(const struct table *t, struct str *out);

#endif
