#include "core/image/cpio.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

void cpio_init(struct cpio *c)
{
	*c = (struct cpio){.next_inode = 1};
	buf_init(&c->out, CPIO_MOST);
}

void cpio_finish(struct cpio *c)
{
	buf_finish(&c->out);
}

static void pad(struct buf *b)
{
	static const uint8_t ZEROS[3] = {0};
	buf_put(b, ZEROS, (4 - b->len % 4) % 4);
}

/* Everything belongs to root, and was made at the beginning of time. */
static void put_entry(struct cpio *c, const char *path, unsigned mode, unsigned links, const unsigned rdev[2],
                      const void *bytes, size_t len)
{
	char header[111];
	snprintf(header, sizeof(header), "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
	         c->next_inode++, mode, 0u, 0u, links, 0u, (unsigned)len, 0u, 0u, rdev[0], rdev[1],
	         (unsigned)strlen(path) + 1, 0u);
	buf_put(&c->out, header, 110);
	buf_put(&c->out, path, strlen(path) + 1);
	pad(&c->out);
	buf_put(&c->out, bytes, len);
	pad(&c->out);
}

static const unsigned NO_DEVICE[2] = {0, 0};

void cpio_add_dir(struct cpio *c, const char *path, mode_t mode)
{
	put_entry(c, path, S_IFDIR | mode, 2, NO_DEVICE, "", 0);
}

void cpio_add_bytes(struct cpio *c, const char *path, mode_t mode, const void *bytes, size_t len)
{
	put_entry(c, path, S_IFREG | mode, 1, NO_DEVICE, bytes, len);
}

void cpio_add_char_device(struct cpio *c, const char *path, mode_t mode, unsigned major_number,
                          unsigned minor_number)
{
	const unsigned rdev[2] = {major_number, minor_number};
	put_entry(c, path, S_IFCHR | mode, 1, rdev, "", 0);
}

bool cpio_add_file(struct cpio *c, const char *path, mode_t mode, const char *source, struct err *e)
{
	size_t len;
	char *bytes FREE_ON_EXIT = fd_read_file(source, CPIO_MOST, &len, e);
	if (!bytes)
		return false;
	cpio_add_bytes(c, path, mode, bytes, len);
	return true;
}

bool cpio_end(struct cpio *c, struct err *e)
{
	c->next_inode = 0;
	put_entry(c, "TRAILER!!!", 0, 1, NO_DEVICE, "", 0);
	return buf_ok(&c->out) ||
	       err_set(e, ERR_LIMIT, "the initramfs is larger than %d MiB", CPIO_MOST >> 20);
}
