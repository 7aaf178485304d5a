/* A VM's own disk: a sparse raw file with an empty ext4 on it. */
#ifndef CCVM_BACKEND_DISK_H
#define CCVM_BACKEND_DISK_H

#include <stdint.h>

#include "core/base/err.h"

struct loop;
struct disk_job;

/* Absolute path, caller frees; also looked for in /usr/sbin and /sbin, which the PATH of a user often lacks.
 * ERR_NOT_FOUND says how to get it. */
char *disk_find_mkfs(struct err *e) MUST_USE;

/* Made under a temporary name in the same folder and then linked into place, so `path` is a whole disk or absent; one
 * that is there already is ERR_EXISTS and untouched. Takes some 20 ms and 4 MiB. NULL with the error when it cannot
 * start (then `done` does not fire); else `done` fires exactly once, from the loop, NULL when all is well, and the job is
 * no more. */
struct disk_job *disk_create(struct loop *loop, const char *path, uint64_t size_bytes,
                             void (*done)(void *arg, const struct err *e), void *arg, struct err *e) MUST_USE;
/* Accepts NULL. Leaves nothing behind; `done` does not fire. Never after `done`. */
void disk_cancel(struct disk_job *job);

#endif
