/* core/egress: a text that is accepted has one canonical form, and that form means the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/check.h"
#include "core/egress/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rule(const struct policy *p, const struct rule *r)
{
	char again[HOST_SIZE];
	const struct rule *by;
	CHECK(host_normalise(r->host, strlen(r->host), again) == HOST_OK && strcmp(again, r->host) == 0);
	CHECK(host_labels(r->host) >= 2);
	if (r->kind == RULE_RESOLVE)
		return;
	uint16_t port = r->port == RULE_ANY_PORT ? 1 : r->port;
	int64_t now_ms = r->until_s ? r->until_s * 1000 - 1 : 1; /* its last moment */
	enum decision d = policy_decide(p, r->host, port, now_ms, &by);
	if (r->below)
		CHECK(!rule_matches(r, r->host, port));
	else
		CHECK(d == DECISION_DENY || (d == DECISION_ALLOW && r->kind == RULE_ALLOW));
	if (r->until_s)
		CHECK(!rule_is_alive(r, now_ms + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct policy p, q;
	struct err e = ERR_INIT;
	policy_init(&p);
	policy_init(&q);
	if (!policy_parse(&p, "fuzz", (const char *)data, size, &e)) {
		CHECK(p.count == 0 && strncmp(e.msg, "fuzz:", 5) == 0);
		return 0;
	}
	for (size_t i = 0; i < p.count; i++)
		check_rule(&p, &p.rules[i]);
	char *text = policy_format(&p);
	CHECK(policy_parse(&q, "again", text, strlen(text), &e));
	CHECK(p.count == q.count);
	for (size_t i = 0; i < p.count; i++)
		CHECK(rule_equal(&p.rules[i], &q.rules[i]));
	policy_drop_dead(&q, INT64_MAX / 2);
	for (size_t i = 0; i < q.count; i++)
		CHECK(q.rules[i].until_s == 0);
	free(text);
	policy_finish(&p);
	policy_finish(&q);
	return 0;
}
