/* What a command needs before it can do anything: settings, a VM that exists. */
#ifndef CCVM_CLI_SETUP_H
#define CCVM_CLI_SETUP_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/config/config.h"

/* The user's ccvm.ini; config_finish releases. */
bool setup_load_config(struct config *c, struct err *e) MUST_USE;
/* The name is right and there is such a VM; otherwise the error says so and names the nearest one. */
bool setup_check_vm(const char *name, struct err *e) MUST_USE;
/* The image is there and whole (but for the digests of its parts). */
bool setup_check_image(const char *name, struct err *e) MUST_USE;

#endif
