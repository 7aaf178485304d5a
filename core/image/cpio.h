/* A cpio archive ("newc"), as the kernel unpacks it into its first root. Written here so that it needs no
 * root (a device node is just a header) and is the same for the same content. Pure but for cpio_add_file's
 * reading. */
#ifndef CCVM_IMAGE_CPIO_H
#define CCVM_IMAGE_CPIO_H

#include <stdint.h>
#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/err.h"

#define CPIO_MOST (64 * 1024 * 1024)

struct cpio {
	struct buf out; /* the archive so far */
	uint32_t next_inode;
};

void cpio_init(struct cpio *c);
void cpio_finish(struct cpio *c);

/* Paths without a leading slash; parents first. */
void cpio_add_dir(struct cpio *c, const char *path, mode_t mode);
void cpio_add_bytes(struct cpio *c, const char *path, mode_t mode, const void *bytes, size_t len);
void cpio_add_char_device(struct cpio *c, const char *path, mode_t mode, unsigned major, unsigned minor);
bool cpio_add_file(struct cpio *c, const char *path, mode_t mode, const char *source, struct err *e) MUST_USE;
/* The end mark. ERR_LIMIT when it has all become too large. */
bool cpio_end(struct cpio *c, struct err *e) MUST_USE;

#endif
