#include "core/egress/narrow.h"

#include <string.h>

#include "core/base/escape.h"

static bool refuse(struct err *e, const char *target, size_t len, const char *what)
{
	char shown[200];
	escape_text(shown, sizeof(shown), target, len);
	return err_set(e, ERR_INVALID, "%s %s", shown, what);
}

static bool parse_target(const char *target, struct rule *r, struct err *e)
{
	size_t len = strlen(target);
	const char *colon = strrchr(target, ':');
	if (len == 0)
		return err_set(e, ERR_INVALID, "the request named no host");
	if (!colon || !rule_parse_port(colon + 1, len - (size_t)(colon + 1 - target), &r->port))
		return refuse(e, target, len, "is not HOST:PORT");
	size_t name = (size_t)(colon - target);
	if (target[0] == '[' || memchr(target, ':', name))
		return refuse(e, target, name, host_fault_text(HOST_IS_ADDRESS));
	enum host_fault fault = host_normalise(target, name, r->host);
	return fault == HOST_OK || refuse(e, target, name, host_fault_text(fault));
}

/* An allow takes back only a deny of the very same host (policy_apply), and a name that is allowed needs no other allow. */
static bool check_decided(const struct rule *r, const char *text, struct err *e)
{
	struct rule by;
	struct err ignored = ERR_INIT;
	char shown[RULE_TEXT_SIZE];
	if (!text || !rule_parse(text, strlen(text), &by, &ignored) || !rule_matches(&by, r->host, r->port))
		return true;
	rule_format(&by, shown);
	if (by.kind == RULE_DENY && by.below)
		return err_set(e, ERR_DENIED, "%s refuses it, and a deny wins over any allow", shown);
	if (by.kind == RULE_ALLOW && !by.until_s)
		return err_set(
		    e, ERR_DENIED,
		    "%s is in force; only a resolve line in ccvm.ini lets its name lead to a private "
		    "address",
		    shown);
	return true;
}

bool narrow_rule(const char *target, const char *rule, char out[RULE_TEXT_SIZE], struct err *e)
{
	struct rule r = {.kind = RULE_ALLOW};
	if (!parse_target(target, &r, e) || !check_decided(&r, rule, e))
		return false;
	rule_format_target(&r, out);
	return true;
}
