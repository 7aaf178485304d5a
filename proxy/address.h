/* Which addresses the proxy dials after a lookup: public unicast ones only. Pure; there is no rule that turns this off
 * (a `resolve` line names its address itself and does not pass here). */
#ifndef CCVM_PROXY_ADDRESS_H
#define CCVM_PROXY_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Decodes IPv4 addresses that stand inside IPv6 ones (mapped, compatible, translated, NAT64, 6to4, ISATAP) and tests
 * what they lead to. Anything doubtful, and any other family, is not public. */
bool address_is_public(const struct sockaddr *sa);

/* The same address, ports aside; a v4-mapped IPv6 address equals the IPv4 one. */
bool address_equal(const struct sockaddr *a, const struct sockaddr *b);

#endif
