/* What the guest uses of its CPUs and memory, in the status while somebody watches it. Asks the guest's agent every
 * VITALS_EVERY_MS; nothing runs while nobody watches, the VM is not ready, or its CPUs stand still. */
#ifndef CCVM_SUPERVISOR_VITALS_H
#define CCVM_SUPERVISOR_VITALS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/vm/vm.h"
#include "core/wire/wire.h"

struct board;
struct loop;
struct vitals;

#define VITALS_FIRST_MS 500 /* who looks only once is gone by then */
#define VITALS_EVERY_MS 5000
#define VITALS_AGAIN_MS 30000 /* when the agent did not answer */

/* `vsock_path` is kept. */
struct vitals *vitals_create(struct loop *loop, struct board *board, const char *vsock_path);
void vitals_destroy(struct vitals *v); /* accepts NULL */
/* One more watches the status, or one less. Accepts NULL: nothing is asked. */
void vitals_watch(struct vitals *v, bool watching);

/* Pure: puts what two answers of the guest say (`before` may be NULL: memory only) into the status; true when a figure changed
 * by so much that people see it. The guest may say what it likes: nothing over its CPUs and its memory is believed. */
bool vitals_apply(struct vm_status *s, const struct wire_agent_pong *before,
                  const struct wire_agent_pong *now);

#endif
