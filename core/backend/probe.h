/* One real boot under KVM, to see whether it works: the kernel and initramfs of an image with "ccvm.probe" on the kernel
 * command line, which makes /init print CCVM-PROBE-OK and power off. */
#ifndef CCVM_BACKEND_PROBE_H
#define CCVM_BACKEND_PROBE_H

#include <stdbool.h>

#include "core/base/err.h"

struct loop;
struct probe;

#define PROBE_MARKER   "CCVM-PROBE-OK"
#define PROBE_QUIET_MS 4000  /* a guest that boots prints something all the time */
#define PROBE_TOTAL_MS 15000 /* and is there long before this */

/* `done` fires once, from the loop; `why` is one short line when it does not work. QEMU is gone or about to be reaped
 * then. NULL with the error when it cannot even be tried. */
struct probe *probe_start(struct loop *loop, const char *kernel, const char *initramfs,
                          void (*done)(void *arg, bool works, const char *why), void *arg,
                          struct err *e) MUST_USE;
void probe_close(struct probe *p); /* accepts NULL; ends it if it still runs; needed after `done` too */

#endif
