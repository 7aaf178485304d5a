/* The user's settings: ccvm.ini, read once by the command that needs them.
 *
 * inih cuts lines at 200 characters and reports it only afterwards, so any parse error discards the whole file
 * (facts.md). Unknown sections and keys are errors with file and line: a typo never silently widens a policy. */
#ifndef CCVM_CONFIG_CONFIG_H
#define CCVM_CONFIG_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/vm/vm.h"

#define CONFIG_LIST_MAX 256

struct config {
	struct vm_spec defaults; /* [vm] image memory cpus disk backend ready_timeout; name empty */
	char detach_key;         /* [keys] detach = C-] : the control byte */
	/* [egress] allow = RULE, deny = RULE; [resolve] NAME = ADDRESS:PORT. Lines of a policy file in file order
	 * ("allow api.example:443", "resolve git.example 10.0.0.7:443"), which every new VM starts with. Owned. */
	char *policy[CONFIG_LIST_MAX];
	size_t policy_count;
};

void config_init(struct config *c); /* built-in defaults */
void config_finish(struct config *c);
/* A missing file is fine (defaults). Anything wrong in it is ERR_INVALID with "FILE:LINE: what", and `c` is as before. */
bool config_load(struct config *c, const char *path, struct err *e) MUST_USE;

#endif
