#include "tui/remember.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

#define FILE_MOST 4096

void remember_load(struct remember *r, const char *path)
{
	struct err ignored = ERR_INIT;
	*r = (struct remember){0};
	char *text FREE_ON_EXIT = fd_read_file(path, FILE_MOST, NULL, &ignored);
	char *save = NULL;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "sort ", 5) == 0)
			r->has_sort = vm_sort_parse(line + 5, &r->sort);
	}
}

bool remember_save(const struct remember *r, const char *path, struct err *e)
{
	char text[FILE_MOST];
	int n = 0;
	if (r->has_sort)
		n += snprintf(text, sizeof(text), "sort %s\n", vm_sort_name(r->sort));
	return fd_write_file(path, text, (size_t)n, 0600, e);
}
