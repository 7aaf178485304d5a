/* What an image is made of: NAME.ini in guest/image/. One value a line, since inih cuts long lines.
 *
 *   [image]   description = one line
 *   [kernel]  package = linux-image-...   module = virtio_ring (repeated, in loading order)
 *   [layer]   package = bash (repeated)   exclude = a path pattern of dpkg (repeated) */
#ifndef CCVM_IMAGE_RECIPE_H
#define CCVM_IMAGE_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

#define RECIPE_MOST_VALUES   512
#define RECIPE_MOST_EXCLUDES 40 /* each becomes an argument */
#define RECIPE_FILE_MAX      (64 * 1024)

struct recipe_list {
	char *values[RECIPE_MOST_VALUES]; /* owned */
	size_t count;
};

struct recipe {
	char *description;    /* owned */
	char *kernel_package; /* owned */
	struct recipe_list modules, packages, excludes;
};

/* Any doubt refuses the whole file: "FILE:LINE: what". On success recipe_finish releases. */
bool recipe_load(const char *path, struct recipe *out, struct err *e) MUST_USE;
/* Pure: the same for a text; `name` is what errors call it. */
bool recipe_parse(const char *name, const char *text, size_t len, struct recipe *out, struct err *e) MUST_USE;
void recipe_finish(struct recipe *r); /* a zeroed one is fine */

#endif
