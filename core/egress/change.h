/* What came and what went between two policies, for people. Pure. */
#ifndef CCVM_EGRESS_CHANGE_H
#define CCVM_EGRESS_CHANGE_H

#include <stddef.h>

#include "core/egress/policy.h"

/* "added allow a.example:443, removed deny b.example"; "" when all rules are the same. What has no room is counted: "and 7
 * more". `size`: 64 or more. */
void policy_describe_change(const struct policy *was, const struct policy *now, char *out, size_t size);

#endif
