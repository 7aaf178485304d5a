/* Work that takes a while, done by this same program as a child (`ccvm up`, `ccvm image build`): what it says is kept and
 * shown, and it goes on when the dashboard is left. */
#ifndef CCVM_TUI_JOBS_H
#define CCVM_TUI_JOBS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/check.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "tui/model.h"

struct loop;
struct jobs;

#define JOBS_RUN_MOST  8                   /* at a time */
#define JOBS_KEPT_MOST 16                  /* with those that have ended */
#define JOBS_TEXT_MAX  ((size_t)64 * 1024) /* of jobs_text */

struct jobs_ops {
	void (*on_change)(void *arg);
	/* It ended: "up alpha: VM alpha is ready", or what it said last and how it ended. */
	void (*on_end)(void *arg, bool ok, const char *text);
};

/* `ops` is kept. `program`: borrowed; NULL is this program. */
struct jobs *jobs_create(struct loop *loop, const char *program, const struct jobs_ops *ops,
                         void *arg) MUST_USE;
void jobs_destroy(struct jobs *j); /* accepts NULL; no callback afterwards, the programs go on */

/* argv: what follows the program's name, NULL-terminated, borrowed. */
bool jobs_start(struct jobs *j, const char *const *argv, struct err *e) MUST_USE;

/* Those that run, as plain data; valid until the next turn of the loop. */
size_t jobs_running(struct jobs *j, const struct job_info **out);
/* What all of them have said, the newest last: a heading and its lines each. Replaces `out`. */
void jobs_text(const struct jobs *j, struct str *out);

#endif
