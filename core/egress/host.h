/* Host names as the egress policy sees them: one normaliser for every way a name comes in (a CONNECT request, a
 * policy line, a command), so that no two parts can disagree about what a name is. */
#ifndef CCVM_EGRESS_HOST_H
#define CCVM_EGRESS_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_MAX  253 /* longest name without its final dot */
#define HOST_SIZE (HOST_MAX + 1)

enum host_fault {
	HOST_OK = 0,
	HOST_EMPTY,
	HOST_TOO_LONG,
	HOST_BAD_BYTE,   /* anything but a-z A-Z 0-9 - _ and dots */
	HOST_BAD_LABEL,  /* empty, or longer than 63 */
	HOST_IS_ADDRESS, /* the last label is a number, so some resolver would take it for an IPv4 address */
	HOST_SINGLE_LABEL, /* would go through a search list or name this machine */
	HOST_IS_LOCAL,     /* below "localhost" */
	HOST_FAULT_COUNT
};

/* Lower case, without the one final dot that a name may have; `out` is set only on HOST_OK. */
enum host_fault host_normalise(const char *bytes, size_t len, char out[HOST_SIZE]);

/* "holds a byte that no host name has" and so on: what follows the name in a sentence. */
const char *host_fault_text(enum host_fault fault);

/* Both normalised: true when `host` is one or more labels below `domain`, never for the domain itself. */
bool host_is_below(const char *host, const char *domain);

/* Number of labels of a normalised name. */
size_t host_labels(const char *host);

#endif
