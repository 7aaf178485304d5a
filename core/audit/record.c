/* A hostile guest chooses the host, the raw target and, through a resolver, parts of the detail. Each field has a cap
 * on its escaped length, chosen so that the sum of all caps stays below AUDIT_LINE_MAX: a line can always be written
 * whole, and no field can push another one out. No cap is above what the field holds when it is read back. */
#include "core/audit/record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/escape.h"

enum {
	CAP_VM = 33,
	CAP_HOST = 254,
	CAP_RULE = 352,
	CAP_IP = 64,
	CAP_WORD = 32,
	CAP_RAW = 384,
	CAP_DETAIL = 256
};
enum { FIXED_PART = 512 }; /* all keys, numbers of up to 20 digits and quotes together are below this */
static_assert(CAP_VM + CAP_HOST + CAP_WORD + CAP_RULE + CAP_IP + CAP_RAW + CAP_DETAIL + FIXED_PART <
                  AUDIT_LINE_MAX,
              "the longest record fits in a line");

static const char *const EVENT_NAMES[] = {
    [AUDIT_START] = "start",   [AUDIT_STOP] = "stop",           [AUDIT_OPEN] = "open",
    [AUDIT_CLOSE] = "close",   [AUDIT_DENY] = "deny",           [AUDIT_FAIL] = "fail",
    [AUDIT_POLICY] = "policy", [AUDIT_RECOVERED] = "recovered",
};
static_assert(ARRAY_LEN(EVENT_NAMES) == AUDIT_EVENT_COUNT, "a name for each event");

static const struct {
	const char *name, *text;
} WHY[] = {
    [AUDIT_WHY_NONE] = {"none", "no reason"},
    [AUDIT_NO_RULE] = {"no_rule", "no rule allows it"},
    [AUDIT_DENY_RULE] = {"deny_rule", "a rule denies it"},
    [AUDIT_IP_LITERAL] = {"ip_literal", "IP addresses are not allowed, only names"},
    [AUDIT_BAD_NAME] = {"bad_name", "that is no name of a host on the network"},
    [AUDIT_BAD_REQUEST] = {"bad_request", "not a valid CONNECT request"},
    [AUDIT_TIMEOUT] = {"timeout", "the request did not arrive in time"},
    [AUDIT_ADDRESS_REFUSED] = {"address_refused", "the name leads to a private address"},
    [AUDIT_RESOLVE_FAILED] = {"resolve_failed", "the name could not be resolved"},
    [AUDIT_RESOLVE_TIMEOUT] = {"resolve_timeout", "resolving the name took too long"},
    [AUDIT_CONNECT_FAILED] = {"connect_failed", "the host could not be reached"},
    [AUDIT_CONNECT_TIMEOUT] = {"connect_timeout", "the host did not answer in time"},
    [AUDIT_LIMIT] = {"limit", "too many connections are open"},
    [AUDIT_POLICY_BAD] = {"policy_bad", "the new policy has an error, the old one stays"},
    [AUDIT_STOPPED] = {"stopped", "the proxy was stopped"},
};
static_assert(ARRAY_LEN(WHY) == AUDIT_WHY_COUNT, "a name and a text for each reason");

static const char *const END_NAMES[] = {
    [AUDIT_END_NONE] = "none",
    [AUDIT_END_CLIENT_EOF] = "client_eof",
    [AUDIT_END_SERVER_EOF] = "server_eof",
    [AUDIT_END_CLIENT_ERROR] = "client_error",
    [AUDIT_END_SERVER_ERROR] = "server_error",
    [AUDIT_END_DRAIN] = "drain",
    [AUDIT_END_STOP] = "stop",
};
static_assert(ARRAY_LEN(END_NAMES) == AUDIT_END_COUNT, "a name for each end");

const char *audit_event_name(enum audit_event ev)
{
	return (unsigned)ev < AUDIT_EVENT_COUNT ? EVENT_NAMES[ev] : "?";
}

const char *audit_why_name(enum audit_why why)
{
	return (unsigned)why < AUDIT_WHY_COUNT ? WHY[why].name : "?";
}

const char *audit_why_text(enum audit_why why)
{
	return (unsigned)why < AUDIT_WHY_COUNT ? WHY[why].text : "?";
}

const char *audit_end_name(enum audit_end end)
{
	return (unsigned)end < AUDIT_END_COUNT ? END_NAMES[end] : "?";
}

void audit_set_detail(struct audit_record *r, const char *text)
{
	snprintf(r->detail, AUDIT_DETAIL_MAX + 1, "%s", text);
}

void audit_set_raw(struct audit_record *r, const void *bytes, size_t len)
{
	r->raw_len = len;
	memcpy(r->raw, bytes, MIN(len, AUDIT_RAW_MAX));
}

/* The line while it is built; `n` never goes over the size because of the caps above. */
struct line {
	char *out;
	size_t n;
};

static void put(struct line *l, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(l->out + l->n, AUDIT_LINE_MAX + 1 - l->n, fmt, ap);
	va_end(ap);
	CHECK(n >= 0 && l->n + (size_t)n <= AUDIT_LINE_MAX);
	l->n += (size_t)n;
}

static void put_bytes(struct line *l, const char *key, const char *bytes, size_t len, size_t cap)
{
	char text[512];
	CHECK(cap <= sizeof(text));
	escape_json(text, cap, bytes, len);
	put(l, ",\"%s\":\"%s\"", key, text);
}

static void put_text(struct line *l, const char *key, const char *text, size_t cap)
{
	if (*text)
		put_bytes(l, key, text, strlen(text), cap);
	else
		put(l, ",\"%s\":null", key);
}

static void put_number_or_null(struct line *l, const char *key, uint64_t v)
{
	if (v)
		put(l, ",\"%s\":%" PRIu64, key, v);
	else
		put(l, ",\"%s\":null", key);
}

static void put_extras(struct line *l, const struct audit_record *r)
{
	if (r->ip[0])
		put_text(l, "ip", r->ip, CAP_IP);
	if (r->event == AUDIT_CLOSE) {
		put(l, ",\"up\":%" PRIu64 ",\"down\":%" PRIu64 ",\"ms\":%" PRIu64, r->up, r->down, r->ms);
		put(l, ",\"end\":\"%s\"", audit_end_name(r->end));
	}
	if (r->raw_len) {
		put_bytes(l, "raw", r->raw, MIN(r->raw_len, (size_t)AUDIT_RAW_MAX), CAP_RAW);
		put(l, ",\"raw_len\":%zu", r->raw_len);
	}
	if (r->event == AUDIT_START || r->event == AUDIT_POLICY)
		put(l, ",\"rules\":%" PRIu64, r->rules);
	if (r->event == AUDIT_RECOVERED)
		put(l, ",\"bytes\":%" PRIu64, r->bytes);
	if (r->detail[0])
		put_bytes(l, "detail", r->detail, strnlen(r->detail, AUDIT_DETAIL_MAX), CAP_DETAIL);
}

size_t audit_format(const struct audit_record *r, char out[AUDIT_LINE_MAX + 1])
{
	struct line l = {.out = out};
	char when[CLOCK_RFC3339_SIZE];
	clock_rfc3339(when, r->t_ms);
	put(&l, "{\"v\":%d,\"seq\":%" PRIu64 ",\"t\":\"%s\"", AUDIT_VERSION, r->seq, when);
	put_text(&l, "vm", r->vm, CAP_VM);
	put(&l, ",\"ev\":\"%s\"", audit_event_name(r->event));
	put_number_or_null(&l, "conn", r->conn);
	put_text(&l, "host", r->host, CAP_HOST);
	put_number_or_null(&l, "port", r->port);
	put_text(&l, "why", r->why == AUDIT_WHY_NONE ? "" : audit_why_name(r->why), CAP_WORD);
	put_text(&l, "rule", r->rule, CAP_RULE);
	put_extras(&l, r);
	put(&l, "}\n");
	return l.n;
}
