/* Which VM is made from an image. */
#ifndef CCVM_CLI_IMAGE_USE_H
#define CCVM_CLI_IMAGE_USE_H

#include <stdbool.h>

#include "core/base/parse.h" /* VM_NAME_MAX */

/* The first VM (running or not) whose description names this image. */
bool image_use_find(const char *image, char vm[VM_NAME_MAX + 1]);

#endif
