/* One rule of the egress policy, in the one grammar that policy files, the config and the commands share:
 *
 *     allow HOST[:PORT]            443 when no port is given
 *     deny HOST[:PORT]             every port when none is given; a deny wins over any allow
 *     resolve NAME ADDRESS:PORT    where NAME is dialled instead of asking the resolver; the only way to a
 *                                  private address; does not allow anything by itself
 *
 * HOST is a full name, or "*." before one: any depth below it, never the name itself. */
#ifndef CCVM_EGRESS_RULE_H
#define CCVM_EGRESS_RULE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/egress/host.h"

#define RULE_ANY_PORT     0
#define RULE_DEFAULT_PORT 443
#define RULE_TEXT_SIZE    352 /* the longest canonical form and its NUL */

enum rule_kind { RULE_ALLOW, RULE_DENY, RULE_RESOLVE, RULE_KIND_COUNT };

union endpoint {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct rule {
	enum rule_kind kind;
	bool below;              /* "*.host" */
	char host[HOST_SIZE];    /* normalised, without the "*." */
	uint16_t port;           /* RULE_ANY_PORT only in a deny; unused in a resolve */
	union endpoint endpoint; /* of a resolve */
};

/* A whole line ("allow a.example:8443"); blanks around and between words are fine. */
bool rule_parse(const char *text, size_t len, struct rule *out, struct err *e) MUST_USE;
/* Only the "HOST[:PORT]" of an allow or a deny, as a command line has it. */
bool rule_parse_host(enum rule_kind kind, const char *text, size_t len, struct rule *out,
                     struct err *e) MUST_USE;
/* Digits only, no leading zero, 1..65535. */
bool rule_parse_port(const char *text, size_t len, uint16_t *out) MUST_USE;

/* The canonical form; rule_parse gives the same rule back. `out` holds RULE_TEXT_SIZE bytes. */
void rule_format(const struct rule *r, char *out);
/* The same without the first word: "*.a.example:443". */
void rule_format_target(const struct rule *r, char *out);
/* "192.0.2.1:443", "[2001:db8::1]:443"; at least 64 bytes. */
void endpoint_format(const union endpoint *a, char *out, size_t size);

/* `host` is normalised. An allow or deny covers this host and port; a resolve, this host. */
bool rule_matches(const struct rule *r, const char *host, uint16_t port);
bool rule_equal(const struct rule *a, const struct rule *b);

#endif
