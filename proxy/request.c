/* The verdict is made line by line, in order, on whole lines only. That is what makes it independent of chunking: a
 * prefix that ends inside a line says nothing about that line yet.
 *
 * A target that is well formed but never allowed (an address, this machine) is refused with 403 at the end of the
 * head, after any 400 that the fields earn. */
#include "proxy/request.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "core/base/check.h"
#include "core/egress/rule.h"

struct span {
	const char *p;
	size_t len;
};

static bool bad(struct request *r, int status, enum audit_why why, const char *reason)
{
	r->state = REQUEST_BAD;
	r->status = status;
	r->why = why;
	r->reason = reason;
	return false;
}

static bool bad_request(struct request *r, const char *reason)
{
	return bad(r, 400, AUDIT_BAD_REQUEST, reason);
}

static bool is_token_char(char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return c != '\0' && strchr("!#$%&'*+-.^_`|~", c);
}

static size_t token_len(struct span s)
{
	size_t n = 0;
	while (n < s.len && is_token_char(s.p[n]))
		n++;
	return n;
}

static bool is_text(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* Refusals that wait for the end of the head: the target is well formed, and never allowed. */
struct later {
	enum audit_why why;
	const char *reason;
};

/* "[::1]:443" is an address literal; brackets around anything else are an error. */
static bool parse_bracketed(struct request *r, struct span target, struct later *later)
{
	char ip[INET6_ADDRSTRLEN];
	struct in6_addr addr;
	uint16_t port;
	const char *close = memchr(target.p, ']', target.len);
	size_t len = close ? (size_t)(close - target.p) - 1 : 0;
	if (len == 0 || len >= sizeof(ip) || memchr(target.p + 1, '\0', len))
		return bad_request(r, "bad host name");
	memcpy(ip, target.p + 1, len);
	ip[len] = '\0';
	if (inet_pton(AF_INET6, ip, &addr) != 1)
		return bad_request(r, "bad host name");
	size_t used = len + 2;
	if (used == target.len || target.p[used] != ':' ||
	    !rule_parse_port(target.p + used + 1, target.len - used - 1, &port))
		return bad_request(r, "bad port");
	*later = (struct later){AUDIT_IP_LITERAL, "IP addresses are refused"};
	return true;
}

static bool parse_target(struct request *r, struct span target, struct later *later)
{
	if (target.len && target.p[0] == '[')
		return parse_bracketed(r, target, later);
	const char *colon = memchr(target.p, ':', target.len);
	if (!colon)
		return bad_request(r, "the target is not HOST:PORT");
	size_t host_len = (size_t)(colon - target.p);
	enum host_fault fault = host_normalise(target.p, host_len, r->host);
	bool never = fault == HOST_IS_ADDRESS || fault == HOST_SINGLE_LABEL || fault == HOST_IS_LOCAL;
	if (fault != HOST_OK && !never)
		return bad_request(r, "bad host name");
	if (!rule_parse_port(colon + 1, target.len - host_len - 1, &r->port))
		return bad_request(r, "bad port");
	if (fault == HOST_IS_ADDRESS)
		*later = (struct later){AUDIT_IP_LITERAL, "IP addresses are refused"};
	else if (never)
		*later = (struct later){AUDIT_BAD_NAME, "only full names of other hosts are used"};
	return true;
}

static bool other_method(struct request *r, struct span line)
{
	size_t method = token_len(line);
	if (method > 0 && method < line.len && line.p[method] == ' ')
		r->raw_len = method; /* the rest may be a URL with secrets in it */
	if (method == 0 || method + 1 >= line.len || line.p[method] != ' ' || line.p[method + 1] == '/' ||
	    line.p[method + 1] == ' ')
		return bad_request(r, "not a CONNECT request");
	return bad(r, 405, AUDIT_BAD_REQUEST, "only CONNECT is served here");
}

static bool parse_version(struct request *r, struct span v)
{
	static const char PREFIX[] = "HTTP/";
	size_t n = sizeof(PREFIX) - 1;
	if (v.len != n + 3 || memcmp(v.p, PREFIX, n) != 0 || v.p[n + 1] != '.' || v.p[n] < '0' ||
	    v.p[n] > '9' || v.p[n + 2] < '0' || v.p[n + 2] > '9')
		return bad_request(r, "bad request line");
	if (v.p[n] != '1' || v.p[n + 2] > '1')
		return bad(r, 505, AUDIT_BAD_REQUEST, "HTTP/1.1 is spoken here");
	return true;
}

static bool parse_request_line(struct request *r, struct span line, struct later *later)
{
	static const char CONNECT[] = "CONNECT ";
	size_t n = sizeof(CONNECT) - 1;
	r->raw = line.p;
	r->raw_len = line.len;
	if (line.len < n || memcmp(line.p, CONNECT, n) != 0)
		return other_method(r, line);
	struct span target = {line.p + n, line.len - n};
	const char *space = memchr(target.p, ' ', target.len);
	if (!space)
		return bad_request(r, "bad request line");
	struct span version = {space + 1, (size_t)(line.p + line.len - space) - 1};
	target.len = (size_t)(space - target.p);
	if (target.len) {
		const char *at = memrchr(target.p, '@', target.len); /* a password may stand before it */
		r->raw = at ? at : target.p;
		r->raw_len = target.len - (size_t)(r->raw - target.p);
	}
	return parse_version(r, version) && parse_target(r, target, later);
}

static bool parse_field(struct request *r, struct span line, bool *host_seen)
{
	size_t name = token_len(line);
	if (name == 0 || name == line.len || line.p[name] != ':')
		return bad_request(r, "bad header field");
	if (name == 4 && strncasecmp(line.p, "host", 4) == 0) {
		if (*host_seen)
			return bad_request(r, "two Host fields");
		*host_seen = true;
	}
	return true;
}

/* The next whole line of `rest`, without its end; false when none is there. */
static bool next_line(struct span *rest, struct span *line)
{
	const char *lf = memchr(rest->p, '\n', rest->len);
	if (!lf)
		return false;
	*line = (struct span){rest->p, (size_t)(lf - rest->p)};
	rest->len -= line->len + 1;
	rest->p = lf + 1;
	return true;
}

/* Takes the CR off; any other CR, NUL or control byte in a line is an error. */
static bool check_line(struct request *r, struct span *line)
{
	if (line->len == 0 || line->p[line->len - 1] != '\r')
		return bad_request(r, "a line does not end with CR LF");
	line->len--;
	return is_text(*line) || bad_request(r, "a control byte in the request");
}

static void end_of_head(struct request *r, const struct later *later, size_t head_len)
{
	if (later->reason) {
		bad(r, 403, later->why, later->reason);
		return;
	}
	r->state = REQUEST_OK;
	r->head_len = head_len;
}

void request_parse(const char *bytes, size_t len, struct request *out)
{
	struct span rest = {bytes, MIN(len, (size_t)REQUEST_HEAD_MAX)}, line;
	struct later later = {0};
	bool host_seen = false;
	*out = (struct request){.state = REQUEST_MORE};
	if (rest.len >= 2 &&
	    memcmp(rest.p, "\r\n", 2) == 0) { /* some clients end the request before with it */
		rest.p += 2;
		rest.len -= 2;
	}
	for (unsigned lines = 0; next_line(&rest, &line); lines++) {
		if (lines == 0 && line.len) {
			out->raw = line.p;
			out->raw_len = line.len;
		}
		if (!check_line(out, &line))
			return;
		if (lines == 0) {
			if (!parse_request_line(out, line, &later))
				return;
		} else if (line.len == 0) {
			end_of_head(out, &later, (size_t)(rest.p - bytes));
			return;
		} else if (lines > REQUEST_LINES_MAX) {
			bad(out, 431, AUDIT_BAD_REQUEST, "too many header fields");
			return;
		} else if (!parse_field(out, line, &host_seen)) {
			return;
		}
	}
	if (len >= REQUEST_HEAD_MAX)
		bad(out, 431, AUDIT_BAD_REQUEST, "the request head is too long");
}
