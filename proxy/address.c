/* For IPv4 a list of what is not public. For IPv6 the other way round: today's global unicast is 2000::/3, so whatever
 * lies outside is refused, except forms that carry an IPv4 address, which is then tested instead. */
#include "proxy/address.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include "core/base/check.h"

#define IP4(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static const struct {
	uint32_t net;
	unsigned bits;
} NOT_PUBLIC_V4[] = {
    {IP4(0, 0, 0, 0), 8},       /* this network */
    {IP4(10, 0, 0, 0), 8},      /* private */
    {IP4(100, 64, 0, 0), 10},   /* carrier NAT, and a cloud's metadata service */
    {IP4(127, 0, 0, 0), 8},     /* loopback */
    {IP4(169, 254, 0, 0), 16},  /* link-local, metadata services */
    {IP4(172, 16, 0, 0), 12},   /* private */
    {IP4(192, 0, 0, 0), 24},    /* protocol assignments, and a cloud's metadata service */
    {IP4(192, 0, 2, 0), 24},    /* documentation */
    {IP4(192, 88, 99, 0), 24},  /* 6to4 relays */
    {IP4(192, 168, 0, 0), 16},  /* private */
    {IP4(198, 18, 0, 0), 15},   /* benchmarks */
    {IP4(198, 51, 100, 0), 24}, /* documentation */
    {IP4(203, 0, 113, 0), 24},  /* documentation */
    {IP4(224, 0, 0, 0), 4},     /* multicast */
    {IP4(240, 0, 0, 0), 4},     /* reserved, broadcast */
};

static bool is_public_v4(uint32_t ip)
{
	for (size_t i = 0; i < ARRAY_LEN(NOT_PUBLIC_V4); i++) {
		if ((ip ^ NOT_PUBLIC_V4[i].net) >> (32 - NOT_PUBLIC_V4[i].bits) == 0)
			return false;
	}
	return true;
}

/* Prefixes of IPv6 addresses; `v4_at` is where an IPv4 address stands in them, or NO_V4: refused as a whole. */
enum { NO_V4 = -1 };
static const struct {
	uint8_t prefix[12];
	unsigned bits;
	int v4_at;
} PREFIXES_V6[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12},    /* mapped ::ffff:a.b.c.d */
    {{0}, 96, 12},                                           /* compatible ::a.b.c.d, and :: and ::1 */
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96, 12},    /* translated ::ffff:0:a.b.c.d */
    {{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}, 96, 12}, /* NAT64 */
    {{0x20, 0x02}, 16, 2},                                   /* 6to4 */
    {{0x20, 0x01, 0x00}, 23, NO_V4},                         /* special purposes, Teredo among them */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, NO_V4},                   /* documentation */
    {{0x3f, 0xff, 0x00}, 20, NO_V4},                         /* documentation */
};

static uint32_t v4_of(const uint8_t *p)
{
	return IP4(p[0], p[1], p[2], p[3]);
}

static bool has_prefix(const uint8_t *ip, const uint8_t *prefix, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;
	if (memcmp(ip, prefix, whole) != 0)
		return false;
	return rest == 0 || (ip[whole] ^ prefix[whole]) >> (8 - rest) == 0;
}

/* An interface id 0000:5efe or 0200:5efe followed by the IPv4 address, below any prefix. */
static bool is_isatap(const uint8_t *ip)
{
	return (ip[8] & 0xfd) == 0 && ip[9] == 0 && ip[10] == 0x5e && ip[11] == 0xfe;
}

static bool is_public_v6(const uint8_t *ip)
{
	if (is_isatap(ip) && !is_public_v4(v4_of(ip + 12)))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(PREFIXES_V6); i++) {
		if (!has_prefix(ip, PREFIXES_V6[i].prefix, PREFIXES_V6[i].bits))
			continue;
		int at = PREFIXES_V6[i].v4_at;
		return at != NO_V4 && is_public_v4(v4_of(ip + at));
	}
	return (ip[0] & 0xe0) == 0x20;
}

static const uint8_t *v6_bytes(const struct sockaddr *sa)
{
	return ((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr.s6_addr;
}

static uint32_t v4_value(const struct sockaddr *sa)
{
	return ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr);
}

bool address_is_public(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return is_public_v4(v4_value(sa));
	return sa->sa_family == AF_INET6 && is_public_v6(v6_bytes(sa));
}

/* The 16 bytes of an IPv6 address; IPv4 in its mapped form. */
static bool as_v6(const struct sockaddr *sa, uint8_t out[16])
{
	static const uint8_t MAPPED[12] = {[10] = 0xff, [11] = 0xff};
	if (sa->sa_family == AF_INET6) {
		memcpy(out, v6_bytes(sa), 16);
		return true;
	}
	if (sa->sa_family != AF_INET)
		return false;
	memcpy(out, MAPPED, 12);
	memcpy(out + 12, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
	return true;
}

bool address_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	uint8_t x[16], y[16];
	return as_v6(a, x) && as_v6(b, y) && memcmp(x, y, 16) == 0;
}
