/* exec without a terminal: pumps bytes between our standard descriptors and a program in a VM. */
#ifndef CCVM_CLI_EXEC_PLAIN_H
#define CCVM_CLI_EXEC_PLAIN_H

#include "core/client/exec.h"

struct cli;

/* Returns the exit status of the program. */
int exec_plain_run(struct cli *cli, const char *vm, const struct exec_spec *spec);
/* What the shell makes of an end: code, or 128 + signal. */
int exec_exit_status(uint32_t code, unsigned signum);
/* Of a program that did not start: 127 not found, 126 not executable, else 1. `reached`: the VM was. */
int exec_failure_status(const struct err *e, bool reached);

#endif
