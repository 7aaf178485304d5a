/* The command line of QEMU as data: pure, no file is opened, nothing is run.
 *
 * What every VM gets: no network card, no monitor, no display, no user configuration, seccomp. The machine-readable
 * monitor and the serial console are descriptors that the child inherits, so neither has a name in the file system. */
#ifndef CCVM_BACKEND_QEMU_ARGS_H
#define CCVM_BACKEND_QEMU_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

struct backend_spec;

#define QEMU_FD_QMP     3 /* a connected stream socket */
#define QEMU_FD_CONSOLE 4 /* a connected stream socket */
#define QEMU_ARGS_MOST  96

/* What was found on this host. */
struct qemu_host {
	const char *program;  /* absolute path of qemu-system-x86_64 */
	const char *firmware; /* a small SeaBIOS, or NULL: QEMU's own */
	bool kvm;             /* else TCG */
};

struct qemu_args {
	char *argv[QEMU_ARGS_MOST + 1]; /* owned; NULL-terminated */
	size_t count;
};

/* Refused (ERR_INVALID, ERR_LIMIT) with the name of the field: an empty or relative path, control bytes, a socket path
 * longer than sun_path, a kernel command line over 2047 bytes, no memory, no cpu, a reserved CID. */
bool qemu_args_build(struct qemu_args *out, const struct qemu_host *host, const struct backend_spec *spec,
                     struct err *e) MUST_USE;
void qemu_args_finish(struct qemu_args *args); /* a zeroed one is fine */

#endif
