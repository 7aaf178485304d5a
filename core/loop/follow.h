/* Follows a growing file of lines (an audit log), also one that does not exist yet, without polling.
 *
 *     open ──► on_line... ──► on_caught_up ⇄ on_line...          replaced or cut file: on_restart, then from its start
 *
 * A line counts once its newline is there. A file that was renamed away is read to its end before the new one is
 * begun. Reading is done in bounded pieces, so that a huge file does not keep the loop from its other work. */
#ifndef CCVM_LOOP_FOLLOW_H
#define CCVM_LOOP_FOLLOW_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

struct loop;
struct follow;

#define FOLLOW_START    0
#define FOLLOW_END      UINT64_MAX
#define FOLLOW_LINE_MAX (16 * 1024)

struct follow_ops {
	/* Without its newline; valid during the call; holds whatever bytes the file holds. A line over FOLLOW_LINE_MAX
	 * is cut there. */
	void (*on_line)(void *arg, const char *line, size_t len);
	/* The file was replaced or cut: what follows comes from its start. May be NULL. */
	void (*on_restart)(void *arg);
	/* All that is there has been given out; again after each later batch. May be NULL. */
	void (*on_caught_up)(void *arg);
};

/* `offset` in bytes: FOLLOW_START, FOLLOW_END or in between; one that is not the start of a line begins with the next
 * line. The folder of `path` must exist. Callbacks come from the loop only. */
struct follow *follow_open(struct loop *loop, const char *path, uint64_t offset, const struct follow_ops *ops,
                           void *arg, struct err *e) MUST_USE;
/* Accepts NULL; may be called from a callback. None comes afterwards. */
void follow_close(struct follow *f);

#endif
