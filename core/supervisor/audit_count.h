/* Counts in the audit log of the VM, as it grows: refusals, and tunnels that are open now. */
#ifndef CCVM_SUPERVISOR_AUDIT_COUNT_H
#define CCVM_SUPERVISOR_AUDIT_COUNT_H

#include <stdint.h>

#include "core/base/err.h"

struct audit_count;
struct loop;

/* on_change comes from the loop, once for many records. */
struct audit_count *audit_count_open(struct loop *loop, const char *path,
                                     void (*on_change)(void *arg, uint32_t denied, uint32_t tunnels),
                                     void *arg, struct err *e) MUST_USE;
void audit_count_close(struct audit_count *c); /* accepts NULL; no callback afterwards */

#endif
