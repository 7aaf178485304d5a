/* The error value: what a function that can fail tells its caller.
 *
 * Rules (one page, obeyed everywhere):
 *  - Last argument, never NULL, untouched on success. The function returns bool, or a pointer that is NULL.
 *  - `kind` is for code, `msg` is for people: one line, lower-case start, no full stop, names the thing.
 *    Nobody parses `msg`.
 *  - Callers add context in front on the way up: err_wrap(e, "start VM %s", name).
 *  - Log once, at the top, where the error is finally handled.
 *  - Asynchronous callbacks get `const struct err *`, NULL when all is well.
 *  - Setting an error that is already set is a bug.
 * A value on the caller's stack: nothing to release, works when memory is short, safe in the guest.
 */
#ifndef CCVM_BASE_ERR_H
#define CCVM_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

#include "core/base/check.h"

enum err_kind {
	ERR_NONE = 0,
	ERR_SYSTEM,    /* a system call failed; `sys` is its errno */
	ERR_INVALID,   /* the request or the input makes no sense */
	ERR_NOT_FOUND, /* no such VM, image, file, host */
	ERR_EXISTS,    /* it is there already */
	ERR_BUSY,      /* somebody else holds it */
	ERR_DENIED,    /* policy or permission says no */
	ERR_TIMEOUT,   /* a deadline passed */
	ERR_CANCELED,  /* the owner closed it */
	ERR_PROTOCOL,  /* the peer broke the protocol */
	ERR_LIMIT,     /* a maximum was reached */
	ERR_GONE,      /* the peer went away */
	ERR_INTERNAL,  /* anything else that went wrong on our side */
	ERR_KIND_COUNT
};

struct err {
	enum err_kind kind;
	int sys; /* errno of ERR_SYSTEM, else 0 */
	char msg[512];
};

#define ERR_INIT                 \
	{                        \
		.kind = ERR_NONE \
	}

/* All three return false, so that "return err_set(e, ...);" works. The message is cut at the size of `msg`. */
bool err_set(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool err_sys(struct err *e, int errnum, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool err_wrap(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Back to the empty state, for a retry. */
void err_clear(struct err *e);

/* "not-found" and so on: stable words for logs and JSON. Out of range gives "internal". */
const char *err_kind_name(enum err_kind kind);

#endif
