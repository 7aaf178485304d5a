/* Does KVM work here? The presence of /dev/kvm proves nothing: there are hosts where it opens, makes VMs and then boots
 * no guest. So the answer is found by trying (probe.h) and remembered, because trying takes seconds where it fails.
 *
 * An answer holds for one boot of the host and for these very files: QEMU, kernel, initramfs. The file is JSON of ours;
 * anything unexpected in it means "not known". */
#ifndef CCVM_BACKEND_ACCEL_H
#define CCVM_BACKEND_ACCEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

#define ACCEL_WHY_SIZE 160

/* Opens /dev/kvm and makes an empty VM. When that fails, why (ACCEL_WHY_SIZE bytes) says what and how to mend it. */
bool accel_kvm_opens(char *why) MUST_USE;

/* What an answer depends on. Files are named by size, time and inode. */
struct accel_key {
	char boot[64];
	char qemu[96], kernel[96], initramfs[96];
};
bool accel_key_of(struct accel_key *key, const char *qemu, const char *kernel, const char *initramfs,
                  struct err *e) MUST_USE;

struct accel_answer {
	bool works;
	char why[ACCEL_WHY_SIZE]; /* escaped; why not, "" when it works */
};

/* Pure parts, for tests and fuzzing. `text` is NUL-terminated. Not known: false. */
bool accel_parse(const char *text, const struct accel_key *key, struct accel_answer *out) MUST_USE;
/* The new content of the file: `answer` first, then what `old` (may be NULL) knew of this boot for other files, at most
 * ACCEL_ANSWERS_MOST in all. The caller frees. */
char *accel_format(const char *old, const struct accel_key *key, const struct accel_answer *answer) MUST_USE;
#define ACCEL_ANSWERS_MOST 16

bool accel_recall(const char *memory_file, const struct accel_key *key, struct accel_answer *out) MUST_USE;
bool accel_remember(const char *memory_file, const struct accel_key *key, const struct accel_answer *answer,
                    struct err *e) MUST_USE;
/* The newest answer of this boot of the host, whatever its files. */
bool accel_recall_any(const char *memory_file, struct accel_answer *out) MUST_USE;

#endif
