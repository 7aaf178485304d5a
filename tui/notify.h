/* Tells the operator that a VM has begun to wait: which ones it is time to tell of, and the command that the settings have
 * for it. */
#ifndef CCVM_TUI_NOTIFY_H
#define CCVM_TUI_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"
#include "core/base/err.h"
#include "core/client/fleet.h"

#define NOTIFY_EVERY_MS  10000 /* at most once in this time for one VM */
#define NOTIFY_RUNS_MOST 8     /* commands that run at a time */

struct loop;
struct notify;

/* on_problem: what there is to say of a command that cannot be started or fails. May come from inside notify_update. */
struct notify *notify_create(struct loop *loop, void (*on_problem)(void *arg, const char *text),
                             void *arg) MUST_USE;
void notify_destroy(struct notify *n); /* accepts NULL; commands that run go on */

/* Looks for VMs that wait and that nobody has looked at since. Each is told once for each time that it begins to wait; of
 * those that change too fast, once in NOTIFY_EVERY_MS. Those that wait in the first call are told together and without the
 * command: nothing began.
 *
 * `command` is given to /bin/sh -c with CCVM_VM, CCVM_ATTENTION and CCVM_TEXT in its environment (never in its words: a guest
 * chose them); "" runs none. True: ring the bell. */
bool notify_update(struct notify *n, const struct fleet_vm *const *vms, size_t count, const char *command,
                   int64_t now_ms);

#endif
