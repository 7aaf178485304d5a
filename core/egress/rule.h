/* One rule of the egress policy, in the one grammar that policy files, the config and the commands share:
 *
 *     allow HOST[:PORT] [until TIME]   443 when no port is given; TIME is "2026-12-01T10:20:00Z"
 *     deny HOST[:PORT]                 every port when none is given; a deny wins over any allow
 *     resolve NAME ADDRESS:PORT        where NAME is dialled instead of asking the resolver; the only way to a
 *                                      private address; does not allow anything by itself
 *
 * HOST is a full name, or "*." before one: any depth below it, never the name itself.
 *
 * A rule with a TIME counts for nothing from then on (rule_is_alive): whoever decides asks with the wall clock of that moment, so
 * it ends also when nobody is left to take it away. TIME is absolute: a clock that is set back by some minutes lets it
 * live as many minutes longer; one whose end is more than RULE_LIFE_MOST_S away, which no command makes, counts for nothing,
 * so a clock that is set back by a year revives nothing. */
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
#define RULE_LIFE_MOST_S  (30 * 24 * 3600)
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
	int64_t until_s;         /* of an allow: wall clock in seconds; 0: for good */
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
/* Only its host and port: "*.a.example:443". */
void rule_format_target(const struct rule *r, char *out);
/* "192.0.2.1:443", "[2001:db8::1]:443"; at least 64 bytes. */
void endpoint_format(const union endpoint *a, char *out, size_t size);

/* `host` is normalised. An allow or deny covers this host and port; a resolve, this host. */
bool rule_matches(const struct rule *r, const char *host, uint16_t port);
/* It is in force at this time. */
bool rule_is_alive(const struct rule *r, int64_t wall_ms);
bool rule_equal(const struct rule *a, const struct rule *b);
/* The same but for how long it lives. */
bool rule_same_target(const struct rule *a, const struct rule *b);

#endif
