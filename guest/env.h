/* The environment that every program in the guest gets, whether or not the caller sends any: a proxy that
 * each tool finds (they do not agree on a name), a terminal that exists in every Debian guest, and the usual.
 * Pure. */
#ifndef CCVM_GUEST_ENV_H
#define CCVM_GUEST_ENV_H

/* The guest's own entries, each replaced by one of `extra` (NULL-terminated, or NULL) with the same name,
 * then the rest of `extra`. One allocation of pointers that the caller frees; the texts are constants or
 * those of `extra`. */
char **env_build(char *const *extra);
/* The value of `name` in `env`, or NULL. */
const char *env_get(char *const *env, const char *name);

#endif
