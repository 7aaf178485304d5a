/* image.json. The reader is strict: one unknown, missing or doubtful thing refuses the image. */
#ifndef CCVM_IMAGE_MANIFEST_H
#define CCVM_IMAGE_MANIFEST_H

#include "core/base/err.h"
#include "core/image/image.h"

#define MANIFEST_FORMAT 1 /* a reader refuses any other */
#define MANIFEST_MAX    65536

/* Pure: fills in name, time and parts (no paths). `path` is what errors call it. There is exactly one kernel,
 * one initramfs and at least one layer. */
bool manifest_parse(const char *path, const char *text, size_t len, struct image *out,
                    struct err *e) MUST_USE;
/* To `path`, as a whole or not at all. */
bool manifest_write(const char *path, const struct image *image, struct err *e) MUST_USE;

#endif
