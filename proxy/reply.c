#include "proxy/reply.h"

#include <stdio.h>
#include <string.h>

#include "core/base/check.h"

static const struct {
	int status;
	const char *phrase;
} PHRASES[] = {
    {400, "Bad Request"},           {403, "Forbidden"},
    {405, "Method Not Allowed"},    {408, "Request Timeout"},
    {429, "Too Many Requests"},     {431, "Request Header Fields Too Large"},
    {502, "Bad Gateway"},           {503, "Service Unavailable"},
    {504, "Gateway Timeout"},       {505, "HTTP Version Not Supported"},
    {500, "Internal Server Error"}, /* the last one stands for any other */
};

/* How a reason is said in the status line; %s in `line` is HOST:PORT. `advice` ends the body. */
static const struct {
	int status;
	enum audit_event event;
	const char *line;
	const char *advice;
} REASONS[AUDIT_WHY_COUNT] = {
    [AUDIT_NO_RULE] = {403, AUDIT_DENY, "no rule for %s", NULL},
    [AUDIT_DENY_RULE] = {403, AUDIT_DENY, "a rule denies %s", NULL},
    [AUDIT_IP_LITERAL] = {403, AUDIT_DENY, NULL, "Use a host name that the policy allows."},
    [AUDIT_BAD_NAME] = {403, AUDIT_DENY, NULL, "Use a full host name that the policy allows."},
    [AUDIT_BAD_REQUEST] = {400, AUDIT_DENY, NULL, "Send CONNECT HOST:PORT HTTP/1.1."},
    [AUDIT_TIMEOUT] = {408, AUDIT_FAIL, "no whole request in time", "Send the request at once."},
    [AUDIT_ADDRESS_REFUSED] = {403, AUDIT_DENY, "%s leads to a private address",
                               "An internal host needs a resolve line in the policy."},
    [AUDIT_RESOLVE_FAILED] = {502, AUDIT_FAIL, "the name of %s could not be resolved",
                              "Check the spelling, or the resolver of the host."},
    [AUDIT_RESOLVE_TIMEOUT] = {504, AUDIT_FAIL, "resolving %s took too long", "Try again later."},
    [AUDIT_CONNECT_FAILED] = {502, AUDIT_FAIL, "%s could not be reached", "It is allowed; try again later."},
    [AUDIT_CONNECT_TIMEOUT] = {504, AUDIT_FAIL, "%s did not answer", "It is allowed; try again later."},
    [AUDIT_LIMIT] = {429, AUDIT_FAIL, "too many connections", "Close some and try again."},
};

int reply_status(enum audit_why why)
{
	return (unsigned)why < AUDIT_WHY_COUNT && REASONS[why].status ? REASONS[why].status : 500;
}

enum audit_event reply_event(enum audit_why why)
{
	return (unsigned)why < AUDIT_WHY_COUNT && REASONS[why].status ? REASONS[why].event : AUDIT_FAIL;
}

static const char *phrase_of(int status)
{
	size_t i = 0;
	while (i + 1 < ARRAY_LEN(PHRASES) && PHRASES[i].status != status)
		i++;
	return PHRASES[i].phrase;
}

static size_t format(char *out, int status, const char *reason, const char *body)
{
	int n = snprintf(out, REPLY_SIZE,
	                 "HTTP/1.1 %d %s by ccvm: %s\r\n"
	                 "Content-Type: text/plain\r\n"
	                 "Content-Length: %zu\r\n"
	                 "%s%s"
	                 "Connection: close\r\n\r\n%s",
	                 status, phrase_of(status), reason, strlen(body),
	                 status == 429 ? "Retry-After: 1\r\n" : "", status == 405 ? "Allow: CONNECT\r\n" : "",
	                 body);
	CHECK(n > 0 && n < REPLY_SIZE);
	return (size_t)n;
}

/* The command that would let it through. */
static void format_command(const struct reply *r, char *out, size_t size)
{
	char port[8] = "";
	if (r->port != 443)
		snprintf(port, sizeof(port), ":%u", r->port);
	snprintf(out, size, "To allow it, the operator runs: ccvm allow %s %s%s", r->vm[0] ? r->vm : "VM",
	         r->host, port);
}

size_t reply_format(const struct reply *r, char out[REPLY_SIZE])
{
	char target[264] = "the request", reason[400], advice[400], rule[384] = "", body[1280];
	if (r->host[0])
		snprintf(target, sizeof(target), "%s:%u", r->host, r->port);
	const char *line = (unsigned)r->why < AUDIT_WHY_COUNT ? REASONS[r->why].line : NULL;
	const char *cut = line ? strstr(line, "%s") : NULL;
	if (cut) /* formats stay literals, so the one %s is filled in by hand */
		snprintf(reason, sizeof(reason), "%.*s%s%s", (int)(cut - line), line, target, cut + 2);
	else
		snprintf(reason, sizeof(reason), "%s", line ? line : r->reason ? r->reason : "refused");
	const char *usual = (unsigned)r->why < AUDIT_WHY_COUNT ? REASONS[r->why].advice : NULL;
	if (usual)
		snprintf(advice, sizeof(advice), "%s", usual);
	else
		format_command(r, advice, sizeof(advice));
	if (r->why == AUDIT_DENY_RULE)
		snprintf(rule, sizeof(rule), " (%s)", r->rule);
	snprintf(body, sizeof(body), "ccvm refused %s: %s%s. %s\n", target,
	         line ? audit_why_text(r->why) : reason, rule, advice);
	return format(out, r->status ? r->status : reply_status(r->why), reason, body);
}

size_t reply_format_no_record(char out[REPLY_SIZE])
{
	return format(out, 503, "the audit log cannot be written",
	              "ccvm refused the request: the audit log cannot be written. "
	              "The operator frees space on the host's disk.\n");
}
