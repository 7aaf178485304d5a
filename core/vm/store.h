/* What is kept of a VM on disk, as JSON: `vm.json` (its description, written once by `up`) and `status.json` (its last
 * status, written by the supervisor at each change of state).
 *
 * Written whole or not at all (temp file, fsync, rename). Read strictly: a missing, double, unknown or mistyped key,
 * or a number out of range, is ERR_INVALID with the file's name; keys that an older build did not write may be missing.
 * No such file is ERR_NOT_FOUND. Texts are ASCII without controls; anything else in them reads back as '?'. */
#ifndef CCVM_VM_STORE_H
#define CCVM_VM_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/vm/vm.h"

#define STORE_SPEC_FILE   "vm.json"
#define STORE_STATUS_FILE "status.json"
#define STORE_FILE_MAX    (64 * 1024)

/* `state_dir` is the VM's own state folder. The name in the file must be the VM's folder's name. */
bool store_write_spec(const char *state_dir, const struct vm_spec *spec, struct err *e) MUST_USE;
bool store_read_spec(const char *state_dir, struct vm_spec *out, struct err *e) MUST_USE;

/* The supervisor's pid is stored with its start time (child_start_time), so that a pid that was used again is not taken
 * for it. Terminals, tunnels, CPU and memory in use, the pause and the generation are of the moment and not kept: they read
 * back as 0. */
struct store_status {
	struct vm_status status;
	unsigned long long supervisor_start;
};
bool store_write_status(const char *state_dir, const struct store_status *s, struct err *e) MUST_USE;
bool store_read_status(const char *state_dir, struct store_status *out, struct err *e) MUST_USE;

/* The texts of the files, for tests and fuzzing. Pure. `what` names the text in errors. */
bool store_parse_spec(const char *what, const char *text, size_t len, struct vm_spec *out,
                      struct err *e) MUST_USE;
bool store_parse_status(const char *what, const char *text, size_t len, struct store_status *out,
                        struct err *e) MUST_USE;

#endif
