/* What `ccvm doctor` says about this host's VMM. */
#ifndef CCVM_BACKEND_DOCTOR_H
#define CCVM_BACKEND_DOCTOR_H

#include <stdbool.h>

struct backend_facts {
	bool can_run;   /* everything that a VM under TCG needs is there */
	char qemu[256]; /* "/usr/bin/qemu-system-x86_64: QEMU emulator version 7.2.22", or what is missing */
	char firmware[256];    /* path, or a word about the fallback */
	char mkfs[256];        /* path, or what is missing */
	char kvm[200];         /* "/dev/kvm opens", or why not */
	char accelerator[256]; /* what was found out by trying, or that it was not tried yet */
};

/* Blocks for up to two seconds (it asks QEMU for its version). Nothing is booted. */
void backend_doctor(const char *memory_file, struct backend_facts *out);

#endif
