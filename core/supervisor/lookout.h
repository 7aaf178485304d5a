/* Keeps the attention of the VM and of each terminal in the status: hears what happens in the terminals and what hooks say,
 * has attention.h judge it, and wakes up only when that asks for it. */
#ifndef CCVM_SUPERVISOR_LOOKOUT_H
#define CCVM_SUPERVISOR_LOOKOUT_H

#include <stdbool.h>

#include "core/supervisor/terminals.h"
#include "core/vm/vm.h"
#include "core/wire/wire.h"

struct board;
struct lookout;
struct loop;

struct lookout *lookout_create(struct loop *loop, struct board *board);
void lookout_destroy(struct lookout *l); /* accepts NULL */

/* For terminals_create; its argument is the lookout. */
extern const struct terminals_ops LOOKOUT_TERMINALS;

/* A program in the guest says how it is doing. The text is the guest's; a terminal that is not there counts as none. */
void lookout_notify(struct lookout *l, const struct wire_event_notify *m);
/* The operator has looked at all of it. */
void lookout_seen(struct lookout *l);
/* The VM's CPUs stand still: that is no silence. */
void lookout_pause(struct lookout *l, bool paused);
/* Nothing runs any more. ATTENTION_NONE: as the operator wanted it, and since when. `why` is a clean text. Nothing changes afterwards. */
void lookout_end(struct lookout *l, enum vm_attention_state state, const char *why);

#endif
