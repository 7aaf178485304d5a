/* Kernel modules as files. Pure. */
#ifndef CCVM_IMAGE_MODULE_H
#define CCVM_IMAGE_MODULE_H

#include <stddef.h>

/* How long the module is without the signature that the distribution has put behind it; `len` when there is
 * none, or none that makes sense. Checking the signatures takes the guest's kernel five times as long as
 * loading the modules, and they come out of the same file as the kernel itself, which was verified as a
 * whole. */
size_t module_unsigned_size(const void *bytes, size_t len);

#endif
