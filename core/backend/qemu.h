/* QEMU as a backend: both accelerators, and what the probe and the doctor need of it. */
#ifndef CCVM_BACKEND_QEMU_H
#define CCVM_BACKEND_QEMU_H

#include <stdbool.h>

#include "core/backend/backend.h"

/* Where qemu-system-x86_64 is (absolute path, caller frees), searched in PATH. ERR_NOT_FOUND says how to get it. */
char *qemu_find_program(struct err *e) MUST_USE;
/* A small SeaBIOS without drivers that a direct kernel boot does not need; NULL: take QEMU's own. Borrowed for ever. */
const char *qemu_find_firmware(void);

/* What both backend_qemu_tcg and backend_qemu_kvm are made of; also the probe starts this. */
struct backend *qemu_start(struct loop *loop, bool kvm, const struct backend_spec *spec,
                           const struct backend_events *events, void *arg, struct err *e) MUST_USE;

#endif
