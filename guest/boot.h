/* From the kernel's hands to a usable root: pseudo file systems, modules, layers and disk under one overlay,
 * the switch into it. Only pid 1 calls these; they block, and a step that fails says which. */
#ifndef CCVM_GUEST_BOOT_H
#define CCVM_GUEST_BOOT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "guest/cmdline.h"

/* In the new root; the image has links to what lies here (core/image/steps.c). */
#define BOOT_FOLDER     "/run/ccvm"
#define BOOT_GUEST_PATH BOOT_FOLDER "/ccvm-guest" /* this program, for those inside */

/* /proc, /sys, /dev and the console as standard descriptors, in the initramfs. */
bool boot_mount_basics(struct err *e) MUST_USE;
bool boot_read_cmdline(struct cmdline *out, struct err *e) MUST_USE;
/* The modules that /etc/ccvm/modules of the initramfs names, in that order. */
bool boot_load_modules(struct err *e) MUST_USE;
/* Mounts layers and disk, switches the root, names the machine. `disk_fd` is the root of the disk's file
 * system, kept for boot_end. */
bool boot_enter_root(const struct cmdline *c, int *disk_fd, struct err *e) MUST_USE;
/* No process is left: what can be written is written, then power off or restart. Does not return. */
void boot_end(int disk_fd, bool reboot_it) NORETURN;

#endif
