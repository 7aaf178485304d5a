/* Making the state folder of a VM: all of it or nothing. */
#ifndef CCVM_CLI_VM_MAKE_H
#define CCVM_CLI_VM_MAKE_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/config/config.h"
#include "core/egress/policy.h"
#include "core/vm/vm.h"

#define VM_POLICY_FILE "policy"

/* The policy that a new VM begins with: what the config says, then the allow rules of a command line. Errors name the rule. */
bool vm_make_policy(struct policy *out, const struct config *config, const char *const *allow, size_t count,
                    struct err *e) MUST_USE;
/* Adds rules to a VM that exists but does not run. */
bool vm_make_add_rules(const char *vm, const char *const *allow, size_t count, struct err *e) MUST_USE;

/* Writes vm.json and the policy into a folder beside, then gives it its name. ERR_EXISTS: there is one of that name. */
bool vm_make_state(const struct vm_spec *spec, const struct policy *policy, struct err *e) MUST_USE;

#endif
