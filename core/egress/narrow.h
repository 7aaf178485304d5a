/* The narrowest rule that would let a refused request through, or why there is none. Pure. */
#ifndef CCVM_EGRESS_NARROW_H
#define CCVM_EGRESS_NARROW_H

#include <stdbool.h>

#include "core/egress/rule.h"

/* `target`: what was asked for, as the audit log has it ("host:port"); the guest chose it, so any text is fine. `rule`: the
 * canonical text of the rule that decided, or "" or NULL when there was none.
 *
 * True: `out` holds "host:port" (the host itself, that port), for client_allow and config_add_allow. False: no allow would help, and
 * the error says why: it is no host:port, an address, a name that is never allowed, or a wider deny refuses it, or it is
 * allowed and was refused for where its name leads. The error holds no byte of the target that is not printable ASCII. */
bool narrow_rule(const char *target, const char *rule, char out[RULE_TEXT_SIZE], struct err *e) MUST_USE;

#endif
