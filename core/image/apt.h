/* Reading what apt says of its sources and packages. Pure. */
#ifndef CCVM_IMAGE_APT_H
#define CCVM_IMAGE_APT_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/base/str.h"

/* What to ask `apt-get indextargets` for: one line a source, its fields set apart by APT_SEPARATOR. */
#define APT_SEPARATOR      "|"
#define APT_TARGETS_FORMAT "$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ARCHITECTURE)"

/* One sources.list line for each of those of `origin` ("Debian") and `architecture`, in order, without
 * duplicates. The distribution's packages come from the host's own mirrors, and from nowhere else that the
 * host may use. ERR_NOT_FOUND when there is none. `keyring` may be NULL. */
bool apt_sources(const char *targets, const char *origin, const char *architecture, const char *keyring,
                 struct str *out, struct err *e) MUST_USE;

/* The one package that a kernel's meta package depends on and that begins with `prefix`, from the text of
 * `apt-cache show`; `package` itself when it does not depend on one. Caller frees. */
char *apt_kernel_package(const char *show, const char *package, const char *prefix);

#endif
