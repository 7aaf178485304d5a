#include "tests/lib/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/fd.h"

#define FILE_MAX (1024 * 1024)

static size_t line_length(const char *text)
{
	return strcspn(text, "\n");
}

static const char *next_line(const char *text)
{
	text += line_length(text);
	return *text ? text + 1 : text;
}

static void print_difference(const char *path, const char *want, const char *got)
{
	fprintf(stderr, "# %s: '-' is the file, '+' the program; UPDATE=1 rewrites it\n", path);
	while (*want || *got) {
		size_t w = line_length(want), g = line_length(got);
		bool same = w == g && memcmp(want, got, w) == 0 && (*want != '\0') == (*got != '\0');
		if (!same && *want)
			fprintf(stderr, "# - %.*s\n", (int)w, want);
		if (*got)
			fprintf(stderr, "# %c %.*s\n", same ? ' ' : '+', (int)g, got);
		want = next_line(want);
		got = next_line(got);
	}
}

bool golden_check(const char *path, const char *text)
{
	struct err e = ERR_INIT;
	const char *update = getenv("UPDATE");
	if (update && strcmp(update, "1") == 0) {
		if (fd_write_file(path, text, strlen(text), 0644, &e))
			return true;
		fprintf(stderr, "# %s\n", e.msg);
		return false;
	}
	char *want = fd_read_file(path, FILE_MAX, NULL, &e);
	if (!want) {
		fprintf(stderr, "# %s\n", e.msg);
		return false;
	}
	bool same = strcmp(want, text) == 0;
	if (!same)
		print_difference(path, want, text);
	free(want);
	return same;
}
