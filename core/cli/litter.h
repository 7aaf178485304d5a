/* What a power cut leaves behind: finding it, and removing it without touching anything that lives.
 *
 * Folders that are being made or thrown away have a name of their own (litter_name) that no VM and no image can have and that
 * tells which process is at it. So what is half done is never taken for a VM, and is found when that process is gone. */
#ifndef CCVM_CLI_LITTER_H
#define CCVM_CLI_LITTER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

/* "<dir>/.NAME.tmp-PID-START" of this process; the caller frees. */
char *litter_name(const char *dir, const char *name) MUST_USE;

struct litter {
	char *path;       /* owned */
	const char *what; /* for people: "runtime folder of a VM that does not run" */
	char *lock;       /* owned; a lock to take while removing it, or NULL */
};

struct litter_list {
	struct litter *items; /* owned */
	size_t count;
};

/* Looks only. A missing folder holds no litter. */
bool litter_find(struct litter_list *out, struct err *e) MUST_USE;
void litter_finish(struct litter_list *list);
/* ERR_BUSY when it has come to life meanwhile. */
bool litter_remove(const struct litter *l, struct err *e) MUST_USE;

/* Somebody holds this lock file (flock), as the kernel's list tells; the lock is not tried, which could get in the way of
 * a supervisor that starts. */
bool litter_lock_is_held(const char *path);

#endif
