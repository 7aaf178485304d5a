/* SHA-256 as lower-case hex. */
#ifndef CCVM_IMAGE_DIGEST_H
#define CCVM_IMAGE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

#define DIGEST_SIZE 65 /* with its NUL */

/* A whole file; blocks. `size_bytes` (may be NULL) is what was read. */
bool digest_file(const char *path, char out[DIGEST_SIZE], uint64_t *size_bytes, struct err *e) MUST_USE;

/* Of several texts in a row. Each is set apart from the next, so moving a byte over changes the digest. */
struct digest;
struct digest *digest_create(void);
void digest_add(struct digest *d, const char *text);
void digest_finish(struct digest *d, char out[DIGEST_SIZE]); /* frees */

/* 64 lower-case hex digits. */
bool digest_is_valid(const char *text);

#endif
