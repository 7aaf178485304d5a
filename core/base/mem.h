/* Memory: running out is fatal (there is no sensible way to go on), so these never return NULL.
 * Sizes that come from outside are checked against a limit before they get here. */
#ifndef CCVM_BASE_MEM_H
#define CCVM_BASE_MEM_H

#include <stddef.h>

#include "core/base/check.h"

void *mem_alloc(size_t size) MUST_USE;               /* zeroed */
void *mem_array(size_t count, size_t size) MUST_USE; /* zeroed, overflow checked */
void *mem_resize(void *old, size_t count, size_t size) MUST_USE;
char *mem_strdup(const char *s) MUST_USE;
char *mem_printf(const char *fmt, ...) PRINTF_LIKE(1, 2) MUST_USE;
void *mem_copy(const void *bytes, size_t len) MUST_USE;

/* Takes the pointer out of *p and leaves NULL, to hand ownership over. */
void *mem_steal(void *p);

/* For CLEANUP(): frees what a local points to. */
void mem_free_ptr(void *p);
#define FREE_ON_EXIT CLEANUP(mem_free_ptr)

#endif
