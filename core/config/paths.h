/* Where things live (design.md section 4). Every function returns an allocated path that the caller frees.
 * Names of VMs and images must have passed parse_name before they get here. */
#ifndef CCVM_CONFIG_PATHS_H
#define CCVM_CONFIG_PATHS_H

#include <stdbool.h>

#include "core/base/err.h"

/* $XDG_RUNTIME_DIR/ccvm, else /tmp/ccvm-<uid>. Made 0700 if missing; one that is a link, belongs to somebody else or is
 * open to others is refused. NULL with the error then. */
char *paths_runtime_dir(struct err *e) MUST_USE;
char *paths_vm_runtime(const char *vm, struct err *e) MUST_USE; /* <runtime>/<vm>; not made here */

char *paths_state_dir(void);          /* $XDG_STATE_HOME/ccvm, else ~/.local/state/ccvm */
char *paths_vm_state(const char *vm); /* <state>/<vm> */
char *paths_images_dir(void);         /* $XDG_DATA_HOME/ccvm/images, else ~/.local/share/ccvm/images */
char *paths_cache_dir(void);          /* $XDG_CACHE_HOME/ccvm, else ~/.cache/ccvm */
char *paths_config_file(void);        /* $XDG_CONFIG_HOME/ccvm/ccvm.ini, else ~/.config/ccvm/ccvm.ini */
/* Folders with themes, the user's own first; NULL-terminated, the caller frees each and the array. They need not exist. */
char **paths_theme_folders(void);
char *paths_join(const char *folder, const char *name);

/* One of our other programs ("ccvm-proxy"): beside the running one, else in ../libexec/ccvm. */
char *paths_program(const char *name, struct err *e) MUST_USE;
/* A recipe ("base"): the user's own in the config folder, else the build tree's guest/image, else ../share/ccvm/image.
 * ERR_NOT_FOUND names the image. */
char *paths_recipe(const char *image, struct err *e) MUST_USE;

#endif
