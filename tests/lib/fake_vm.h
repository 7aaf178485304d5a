/* VMs without a VM (tests/e2e/fake_supervisor.c) for end-to-end tests in C, and the lines of TAP that these print. */
#ifndef CCVM_TESTS_LIB_FAKE_VM_H
#define CCVM_TESTS_LIB_FAKE_VM_H

#include <stdbool.h>
#include <sys/types.h>

struct tap {
	int count, failed;
};

/* Prints the line and returns `passed`. */
bool tap_ok(struct tap *t, bool passed, const char *what);

struct fake_vm {
	pid_t pid;
	int commands; /* its stdin */
};

/* Waits until its socket is there. The program ends when it cannot be started. */
struct fake_vm fake_vm_start(const char *name);
/* A line of fake_supervisor's own commands. */
void fake_vm_tell(const struct fake_vm *vm, const char *line);
bool fake_vm_runs(const struct fake_vm *vm);
void fake_vm_end(struct fake_vm *vm);

#endif
