/* File descriptors, and files that must not be half-written. */
#ifndef CCVM_BASE_FD_H
#define CCVM_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/base/err.h"

void fd_close(int *fd); /* closes if >= 0 and sets -1 */
#define CLOSE_ON_EXIT CLEANUP(fd_close)

/* Descriptors 0, 1 and 2 are open afterwards: /dev/null in place of each that was not, so that no file or socket of ours
 * gets such a number. False when that cannot be had. */
bool fd_fill_standard(void);
bool fd_set_nonblock(int fd, bool on);
bool fd_set_cloexec(int fd, bool on);
/* Retries EINTR and short writes on a blocking descriptor. */
bool fd_write_all(int fd, const void *bytes, size_t len);
/* Reads up to len, stops early only at end of file. -1 on error. */
ssize_t fd_read_full(int fd, void *out, size_t len);

/* The whole file as text with a NUL after it (caller frees); over `max` bytes is ERR_LIMIT. */
char *fd_read_file(const char *path, size_t max, size_t *out_len, struct err *e) MUST_USE;
/* Temp file in the same folder, fsync, rename, fsync of the folder: the old or the new content, never a mix. */
bool fd_write_file(const char *path, const void *bytes, size_t len, mode_t mode, struct err *e) MUST_USE;

/* mkdir -p with this mode for what is made. */
bool fd_make_dirs(const char *path, mode_t mode, struct err *e) MUST_USE;
/* Removes a tree without following links. A missing path is fine. */
bool fd_remove_tree(const char *path, struct err *e) MUST_USE;

/* A lock that ends with the process: opens (creates) path 0600 and takes an exclusive flock. ERR_BUSY when held. */
int fd_lock_file(const char *path, struct err *e) MUST_USE;

/* Unix stream sockets, close-on-exec, blocking. The path length is checked against sun_path (ERR_LIMIT). */
int fd_unix_connect(const char *path, struct err *e) MUST_USE;
/* Replaces a stale socket file. The folder protects it: it should be 0700. */
int fd_unix_listen(const char *path, struct err *e) MUST_USE;

#endif
