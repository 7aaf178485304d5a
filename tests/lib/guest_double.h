/* Stands in for a VM's vsock socket and the agent behind it: speaks the real protocol and behaves, or misbehaves in the way
 * that a test names.
 *
 * Programs that it "runs" (argv[0]): `cat` gives its stdin back and ends with it; `exit N`; `flood N` writes N KiB of 'x' as
 * fast as it is read; `sink` never reads its stdin; `missing` cannot be started. With a terminal any program writes
 * "<rows>x<cols>$ " and echoes what it gets, RESIZE writes the new size, a line feed alone ends it with exit code 7. */
#ifndef CCVM_TESTS_LIB_GUEST_DOUBLE_H
#define CCVM_TESTS_LIB_GUEST_DOUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"

struct guest_double;
struct loop;

enum guest_manners {
	GUEST_BEHAVES,
	GUEST_REFUSES_PORT,     /* closes instead of "OK" */
	GUEST_ANSWERS_NONSENSE, /* instead of "OK" */
	GUEST_SILENT,           /* "OK", then nothing */
	GUEST_OTHER_VERSION,
	GUEST_WRONG_ID,     /* answers carry another id */
	GUEST_UNKNOWN_TYPE, /* instead of an answer */
	GUEST_SHORT_BODY,
	GUEST_CONTROL_MESSAGE, /* one that only a supervisor may send */
	GUEST_HANGS_UP,        /* closes when it is asked */
	GUEST_EGRESS_BROKEN,   /* the relay does not listen */
};

/* Listens on `path` (kept). */
struct guest_double *guest_double_open(struct loop *loop, const char *path);
void guest_double_close(struct guest_double *g);
void guest_double_set(struct guest_double *g, enum guest_manners manners);

size_t guest_double_programs(const struct guest_double *g); /* running now */
size_t guest_double_sent(const struct guest_double *g);     /* bytes that `flood` has got rid of */
size_t guest_double_got(const struct guest_double *g);      /* bytes of stdin, all programs */
/* As if the terminal's program wrote this. */
void guest_double_write(struct guest_double *g, const void *bytes, size_t len);
/* What the terminals' programs wrote and nobody has read yet: 0 or more than 0, not exact. */
size_t guest_double_unread(const struct guest_double *g);
/* Whether the terminals' programs read what is typed (they do at first). */
void guest_double_read(struct guest_double *g, bool reads);
/* What terminals' programs got typed since the last call of this, at most GUEST_TYPED_MOST bytes; borrowed until then. */
#define GUEST_TYPED_MOST (4 * 1024 * 1024)
struct bytes guest_double_typed(struct guest_double *g);
const char *
guest_double_env(const struct guest_double *g); /* of the last program: NAME=VALUE, a space, ... */
unsigned guest_double_resizes(const struct guest_double *g, unsigned *rows,
                              unsigned *cols);              /* how many; the last one */
unsigned guest_double_signal(const struct guest_double *g); /* the last one */
unsigned guest_double_pings(const struct guest_double *g);  /* how many were answered */
bool guest_double_was_shut_down(const struct guest_double *g);

#endif
