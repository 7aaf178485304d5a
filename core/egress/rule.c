#include "core/egress/rule.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/escape.h"

static const char *const KIND_NAMES[] = {
    [RULE_ALLOW] = "allow", [RULE_DENY] = "deny", [RULE_RESOLVE] = "resolve"};
static_assert(ARRAY_LEN(KIND_NAMES) == RULE_KIND_COUNT, "a name for each kind of rule");

struct word {
	const char *p;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word of *text, which moves on; length 0 at the end. */
static struct word next_word(struct word *text)
{
	while (text->len && is_blank(*text->p))
		text->p++, text->len--;
	struct word w = {.p = text->p};
	while (text->len && !is_blank(*text->p))
		text->p++, text->len--, w.len++;
	return w;
}

static bool refuse(struct err *e, struct word w, const char *what)
{
	char shown[80];
	escape_text(shown, sizeof(shown), w.p, w.len);
	return err_set(e, ERR_INVALID, "'%s' %s", shown, what);
}

bool rule_parse_port(const char *text, size_t len, uint16_t *out)
{
	unsigned long v = 0;
	if (len == 0 || len > 5 || text[0] == '0')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		v = v * 10 + (unsigned long)(text[i] - '0');
	}
	if (v > UINT16_MAX)
		return false;
	*out = (uint16_t)v;
	return true;
}

static bool parse_name(struct word w, struct rule *r, struct err *e)
{
	enum host_fault fault = host_normalise(w.p, w.len, r->host);
	if (fault == HOST_OK)
		return true;
	if (fault == HOST_IS_ADDRESS)
		return refuse(e, w,
		              "is an IP address, which no rule can allow; use resolve NAME ADDRESS:PORT");
	for (size_t i = 0; i < w.len; i++) {
		if ((unsigned char)w.p[i] >= 0x80)
			return refuse(e, w, "is not ASCII; write such names in their xn-- form");
	}
	return refuse(e, w, host_fault_text(fault));
}

bool rule_parse_host(enum rule_kind kind, const char *text, size_t len, struct rule *out, struct err *e)
{
	CHECK(kind == RULE_ALLOW || kind == RULE_DENY);
	struct word all = {text, len}, name = all;
	struct rule r = {.kind = kind, .port = kind == RULE_DENY ? RULE_ANY_PORT : RULE_DEFAULT_PORT};
	if (len == 0)
		return err_set(e, ERR_INVALID, "%s needs a host name", KIND_NAMES[kind]);
	if (text[0] == '[' || memchr(text, ':', len) != memrchr(text, ':', len))
		return refuse(e, all, "is not HOST[:PORT]; IP addresses cannot be used");
	const char *colon = memchr(text, ':', len);
	if (colon) {
		name.len = (size_t)(colon - text);
		if (!rule_parse_port(colon + 1, len - name.len - 1, &r.port))
			return refuse(e, all, "has a bad port; it is a number from 1 to 65535");
	}
	if (name.len >= 1 && name.p[0] == '*') {
		if (name.len < 2 || name.p[1] != '.')
			return refuse(e, all, "would match everything; a wildcard is *. before a domain");
		r.below = true;
		name.p += 2;
		name.len -= 2;
		char tld[HOST_SIZE];
		if (host_normalise(name.p, name.len, tld) == HOST_SINGLE_LABEL)
			return refuse(e, all, "covers a whole top-level domain; name a domain below it");
	}
	if (!parse_name(name, &r, e))
		return false;
	*out = r;
	return true;
}

/* "192.0.2.1:443" or "[2001:db8::1]:443". */
static bool parse_endpoint(struct word w, union endpoint *out)
{
	char host[INET6_ADDRSTRLEN];
	const char *colon = memrchr(w.p, ':', w.len);
	if (!colon)
		return false;
	uint16_t port;
	size_t len = (size_t)(colon - w.p);
	if (!rule_parse_port(colon + 1, w.len - len - 1, &port))
		return false;
	bool v6 = len >= 2 && w.p[0] == '[' && w.p[len - 1] == ']';
	const char *p = v6 ? w.p + 1 : w.p;
	len -= v6 ? 2 : 0;
	if (len >= sizeof(host) || memchr(p, '\0', len))
		return false;
	memcpy(host, p, len);
	host[len] = '\0';
	union endpoint a;
	memset(&a, 0, sizeof(a));
	if (v6) {
		a.v6.sin6_family = AF_INET6;
		a.v6.sin6_port = htons(port);
		if (inet_pton(AF_INET6, host, &a.v6.sin6_addr) != 1)
			return false;
	} else {
		a.v4.sin_family = AF_INET;
		a.v4.sin_port = htons(port);
		if (inet_pton(AF_INET, host, &a.v4.sin_addr) != 1)
			return false;
	}
	*out = a;
	return true;
}

static bool parse_resolve(struct word *text, struct rule *out, struct err *e)
{
	struct rule r = {.kind = RULE_RESOLVE};
	struct word name = next_word(text), addr = next_word(text);
	if (name.len == 0 || addr.len == 0)
		return err_set(e, ERR_INVALID, "resolve needs NAME ADDRESS:PORT");
	if (!parse_name(name, &r, e))
		return false;
	if (!parse_endpoint(addr, &r.endpoint))
		return refuse(e, addr, "is not ADDRESS:PORT (an IPv6 address stands in brackets)");
	*out = r;
	return true;
}

#define TIME_LEN 20 /* "2026-12-01T10:20:00Z" */

static void format_until(int64_t until_s, char out[CLOCK_RFC3339_SIZE])
{
	clock_rfc3339(out, until_s * 1000);
	memcpy(out + TIME_LEN - 1, "Z", 2); /* whole seconds */
}

static bool parse_until(struct word w, int64_t *until_s)
{
	char text[CLOCK_RFC3339_SIZE], again[CLOCK_RFC3339_SIZE];
	int64_t ms;
	if (w.len != TIME_LEN || w.p[TIME_LEN - 1] != 'Z')
		return false;
	snprintf(text, sizeof(text), "%.*s.000Z", TIME_LEN - 1, w.p);
	if (!clock_parse_rfc3339(text, TIME_LEN + 4, &ms) || ms <= 0)
		return false;
	format_until(ms / 1000, again);
	*until_s = ms / 1000;
	return memcmp(again, w.p, TIME_LEN) == 0; /* no 30th of February */
}

/* HOST[:PORT] of an allow or deny, and the [until TIME] of an allow. */
static bool parse_decision(struct word *text, enum rule_kind kind, struct rule *out, struct err *e)
{
	struct word host = next_word(text);
	if (!rule_parse_host(kind, host.p, host.len, out, e))
		return false;
	struct word after = *text, until = next_word(&after);
	if (kind != RULE_ALLOW || until.len != 5 || memcmp(until.p, "until", 5) != 0)
		return true;
	struct word when = next_word(&after);
	*text = after;
	return parse_until(when, &out->until_s) ||
	       refuse(e, when, "is no time; it is written 2026-12-01T10:20:00Z");
}

bool rule_parse(const char *text, size_t len, struct rule *out, struct err *e)
{
	struct word rest = {text, len};
	struct word verb = next_word(&rest);
	struct rule r;
	size_t kind = 0;
	while (kind < RULE_KIND_COUNT &&
	       !(strlen(KIND_NAMES[kind]) == verb.len && memcmp(KIND_NAMES[kind], verb.p, verb.len) == 0))
		kind++;
	if (kind == RULE_KIND_COUNT)
		return refuse(e, verb, "is no rule; a rule starts with allow, deny or resolve");
	if (kind == RULE_RESOLVE ? !parse_resolve(&rest, &r, e)
	                         : !parse_decision(&rest, (enum rule_kind)kind, &r, e))
		return false;
	struct word more = next_word(&rest);
	if (more.len)
		return refuse(e, more,
		              "does not belong here; one rule a line, comments on lines of their own");
	*out = r;
	return true;
}

void endpoint_format(const union endpoint *a, char *out, size_t size)
{
	char ip[INET6_ADDRSTRLEN] = "?";
	bool v6 = a->any.sa_family == AF_INET6;
	if (v6)
		inet_ntop(AF_INET6, &a->v6.sin6_addr, ip, sizeof(ip));
	else
		inet_ntop(AF_INET, &a->v4.sin_addr, ip, sizeof(ip));
	snprintf(out, size, v6 ? "[%s]:%u" : "%s:%u", ip, ntohs(v6 ? a->v6.sin6_port : a->v4.sin_port));
}

void rule_format_target(const struct rule *r, char *out)
{
	char tail[64] = "";
	if (r->kind == RULE_RESOLVE) {
		tail[0] = ' ';
		endpoint_format(&r->endpoint, tail + 1, sizeof(tail) - 1);
	} else if (r->port != RULE_ANY_PORT) {
		snprintf(tail, sizeof(tail), ":%u", r->port);
	}
	snprintf(out, RULE_TEXT_SIZE, "%s%s%s", r->below ? "*." : "", r->host, tail);
}

void rule_format(const struct rule *r, char *out)
{
	size_t n = (size_t)snprintf(out, RULE_TEXT_SIZE, "%s ", KIND_NAMES[r->kind]);
	char target[RULE_TEXT_SIZE], until[CLOCK_RFC3339_SIZE] = "";
	rule_format_target(r, target);
	if (r->until_s)
		format_until(r->until_s, until);
	snprintf(out + n, RULE_TEXT_SIZE - n, "%s%s%s", target, r->until_s ? " until " : "", until);
}

bool rule_matches(const struct rule *r, const char *host, uint16_t port)
{
	if (r->kind != RULE_RESOLVE && r->port != RULE_ANY_PORT && r->port != port)
		return false;
	return r->below ? host_is_below(host, r->host) : strcmp(host, r->host) == 0;
}

bool rule_is_alive(const struct rule *r, int64_t wall_ms)
{
	int64_t left_ms = r->until_s * 1000 - wall_ms;
	return r->until_s == 0 || (left_ms > 0 && left_ms <= (int64_t)RULE_LIFE_MOST_S * 1000);
}

static bool endpoint_equal(const union endpoint *a, const union endpoint *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET)
		return a->v4.sin_port == b->v4.sin_port && a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
	return a->v6.sin6_port == b->v6.sin6_port &&
	       memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof(a->v6.sin6_addr)) == 0;
}

bool rule_same_target(const struct rule *a, const struct rule *b)
{
	if (a->kind != b->kind || a->below != b->below || a->port != b->port || strcmp(a->host, b->host) != 0)
		return false;
	return a->kind != RULE_RESOLVE || endpoint_equal(&a->endpoint, &b->endpoint);
}

bool rule_equal(const struct rule *a, const struct rule *b)
{
	return rule_same_target(a, b) && a->until_s == b->until_s;
}
