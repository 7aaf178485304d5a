/* VM[:TERMINAL]: what most commands about terminals are told. */
#ifndef CCVM_CLI_TARGET_H
#define CCVM_CLI_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/parse.h"
#include "core/client/terminal.h"

#define TARGET_USAGE "VM[:TERMINAL]"

struct target {
	char vm[VM_NAME_MAX + 1];
	uint32_t term; /* CLIENT_TERM_FIRST when none was named */
};

/* "alpha", "alpha:2". ERR_INVALID names what is wrong. */
bool target_parse(const char *text, struct target *t, struct err *e) MUST_USE;
/* The same, and there is such a VM (setup_check_vm). */
bool target_find(const char *text, struct target *t, struct err *e) MUST_USE;

#endif
