/* Adding to the user's ccvm.ini without touching what is theirs. */
#ifndef CCVM_CONFIG_CONFIG_EDIT_H
#define CCVM_CONFIG_CONFIG_EDIT_H

#include <stdbool.h>

#include "core/base/err.h"

#define CONFIG_FILE_MAX (1024 * 1024)

/* Adds "allow = RULE" to [egress] of the file (paths_config_file), which every new VM starts with. `rule`: "HOST[:PORT]"; what is
 * written is its canonical form. Every other byte stays: comments, order, line ends. A missing file or section is made
 * (the file 0600, its folders 0700); a link is followed; the file keeps its mode; the old or the new content is there at
 * any time, never a mix.
 *
 * *changed (may be NULL) is false when the file has such a line already. ERR_INVALID with "FILE:LINE: what" when the file has an
 * error, before or after: then nothing is written. */
bool config_add_allow(const char *path, const char *rule, bool *changed, struct err *e) MUST_USE;

#endif
