/* core/egress: names, rules, policies. The inputs follow the bug reports of other proxies. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/egress/host.h"
#include "core/egress/change.h"
#include "core/egress/narrow.h"
#include "core/egress/policy.h"
#include "core/egress/rule.h"

#define NOW_MS 1796120400000 /* 2026-12-01T10:20:00Z */

static void names_are_normalised(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} GOOD[] = {
	    {"a.test", "a.test"},
	    {"A.Test", "a.test"},
	    {"a.test.", "a.test"},
	    {"a_b.c-d.test", "a_b.c-d.test"},
	    {"xn--bcher-kva.example", "xn--bcher-kva.example"},
	    {"1.2.3.4.test", "1.2.3.4.test"},
	    {"0x7f.test", "0x7f.test"},
	    {"a.0xg", "a.0xg"},
	};
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		char out[HOST_SIZE];
		assert_int_equal(host_normalise(GOOD[i].in, strlen(GOOD[i].in), out), HOST_OK);
		assert_string_equal(out, GOOD[i].out);
	}
}

static void bad_names_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		const char *in;
		size_t len; /* 0: strlen */
		enum host_fault fault;
	} BAD[] = {
	    {"", 0, HOST_EMPTY},
	    {".", 0, HOST_EMPTY},
	    {"..", 0, HOST_BAD_LABEL},
	    {"a.test..", 0, HOST_BAD_LABEL},
	    {".a.test", 0, HOST_BAD_LABEL},
	    {"a..test", 0, HOST_BAD_LABEL},
	    {"attacker.example\0.google.com", 28, HOST_BAD_BYTE},
	    {"a\x01.test", 0, HOST_BAD_BYTE},
	    {"a%2e.test", 0, HOST_BAD_BYTE},
	    {"::ffff:1.2.3.4%x.allowed.com", 0, HOST_BAD_BYTE},
	    {"evil.test/api.anthropic.com", 0, HOST_BAD_BYTE},
	    {"evil.test\\api.anthropic.com", 0, HOST_BAD_BYTE},
	    {"evil.test?api.anthropic.com", 0, HOST_BAD_BYTE},
	    {"evil.test#api.anthropic.com", 0, HOST_BAD_BYTE},
	    {"api.anthropic.com@evil.test", 0, HOST_BAD_BYTE},
	    {"[localhost]", 0, HOST_BAD_BYTE},
	    {"b\xc3\xbc"
	     "cher.example",
	     0, HOST_BAD_BYTE},
	    {"a b.test", 0, HOST_BAD_BYTE},
	    {"*.test", 0, HOST_BAD_BYTE},
	    {"127.0.0.1", 0, HOST_IS_ADDRESS},
	    {"127.0.0.1.", 0, HOST_IS_ADDRESS},
	    {"127.1", 0, HOST_IS_ADDRESS},
	    {"0", 0, HOST_IS_ADDRESS},
	    {"2130706433", 0, HOST_IS_ADDRESS},
	    {"0x7f.1", 0, HOST_IS_ADDRESS},
	    {"0X7F000001", 0, HOST_IS_ADDRESS},
	    {"0177.0.0.1", 0, HOST_IS_ADDRESS},
	    {"a.0x", 0, HOST_IS_ADDRESS},
	    {"evil.test.99", 0, HOST_IS_ADDRESS},
	    {"localhost", 0, HOST_IS_LOCAL},
	    {"LOCALHOST.", 0, HOST_IS_LOCAL},
	    {"a.localhost", 0, HOST_IS_LOCAL},
	    {"metadata", 0, HOST_SINGLE_LABEL},
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		char out[HOST_SIZE] = "untouched";
		size_t len = BAD[i].len ? BAD[i].len : strlen(BAD[i].in);
		assert_int_equal(host_normalise(BAD[i].in, len, out), BAD[i].fault);
		assert_string_equal(out, "untouched");
	}
}

static void name_lengths_have_exact_limits(void **state)
{
	(void)state;
	char name[300], out[HOST_SIZE];
	memset(name, 'a', sizeof(name));
	name[63] = '.';
	assert_int_equal(host_normalise(name, 65, out), HOST_OK); /* 63, dot, 1 */
	name[63] = 'a';
	name[64] = '.';
	assert_int_equal(host_normalise(name, 66, out), HOST_BAD_LABEL);
	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = i % 50 == 49 ? '.' : 'a';
	assert_int_equal(host_normalise(name, 253, out), HOST_OK);
	assert_int_equal(strlen(out), 253);
	assert_int_equal(host_normalise(name, 254, out), HOST_TOO_LONG);
	name[253] = '.'; /* the final dot does not count */
	assert_int_equal(host_normalise(name, 254, out), HOST_OK);
}

static void wildcards_end_at_a_label(void **state)
{
	(void)state;
	assert_true(host_is_below("a.x.test", "x.test"));
	assert_true(host_is_below("c.b.a.x.test", "x.test"));
	assert_false(host_is_below("x.test", "x.test"));
	assert_false(host_is_below("notx.test", "x.test"));
	assert_false(host_is_below("untrusted.net", "trusted.net"));
	assert_false(host_is_below("x.test.evil.example", "x.test"));
	assert_false(host_is_below("test", "x.test"));
}

static void rules_have_one_canonical_form(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} GOOD[] = {
	    {"allow a.test", "allow a.test:443"},
	    {"  allow\t A.Test.:443 ", "allow a.test:443"},
	    {"allow *.A.Test:8080", "allow *.a.test:8080"},
	    {"deny a.test", "deny a.test"},
	    {"deny a.test:22", "deny a.test:22"},
	    {"resolve a.test 127.0.0.1:8443", "resolve a.test 127.0.0.1:8443"},
	    {"resolve a.test [::1]:1", "resolve a.test [::1]:1"},
	    {"allow a.test:65535", "allow a.test:65535"},
	    {"allow  a.test \tuntil  2026-12-01T10:20:00Z ", "allow a.test:443 until 2026-12-01T10:20:00Z"},
	    {"allow *.a.test:8443 until 2028-02-29T23:59:59Z",
	     "allow *.a.test:8443 until 2028-02-29T23:59:59Z"},
	};
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		struct rule r, again;
		struct err e = ERR_INIT;
		char text[RULE_TEXT_SIZE];
		assert_true(rule_parse(GOOD[i].in, strlen(GOOD[i].in), &r, &e));
		rule_format(&r, text);
		assert_string_equal(text, GOOD[i].out);
		assert_true(rule_parse(text, strlen(text), &again, &e));
		assert_true(rule_equal(&r, &again));
	}
}

static void bad_rules_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *in, *says;
	} BAD[] = {
	    {"allow", "host name"},
	    {"allow *", "everything"},
	    {"allow *:443", "everything"},
	    {"allow *a.test", "everything"},
	    {"allow *.com", "top-level"},
	    {"deny *.com.", "top-level"},
	    {"allow *.", "empty"},
	    {"allow a.*.test", "byte"},
	    {"allow 10.0.0.1", "resolve"},
	    {"allow 0x7f.1:80", "resolve"},
	    {"allow [::1]:443", "HOST[:PORT]"},
	    {"allow ::1", "HOST[:PORT]"},
	    {"allow localhost", "this machine"},
	    {"allow intranet", "no dot"},
	    {"allow a.test:0", "port"},
	    {"allow a.test:", "port"},
	    {"allow a.test:00443", "port"},
	    {"allow a.test:+443", "port"},
	    {"allow a.test:65536", "port"},
	    {"allow a.test:443 b.test", "does not belong"},
	    {"allow a.test # why", "does not belong"},
	    {"allow b\xc3\xbc"
	     "cher.example",
	     "xn--"},
	    {"allow a.test until", "no time"},
	    {"allow a.test until 2026-12-01", "no time"},
	    {"allow a.test until 2026-12-01T10:20:00", "no time"},
	    {"allow a.test until 2026-12-01T10:20:00.000Z", "no time"},
	    {"allow a.test until 2026-12-01T10:20:00+01:00", "no time"},
	    {"allow a.test until 2026-02-30T10:20:00Z", "no time"},
	    {"allow a.test until 2026-12-01T10:20:60Z", "no time"},
	    {"allow a.test until 2026-12-01T10:2x:00Z", "no time"},
	    {"allow a.test until 1970-01-01T00:00:00Z", "no time"},
	    {"allow a.test until 2026-12-01T10:20:00Z until 2026-12-01T10:20:00Z", "does not belong"},
	    {"allow a.test until 2026-12-01T10:20:00Z b", "does not belong"},
	    {"allow a.test for 10m", "does not belong"},
	    {"deny a.test until 2026-12-01T10:20:00Z", "does not belong"},
	    {"resolve a.test 127.0.0.1:80 until 2026-12-01T10:20:00Z", "does not belong"},
	    {"permit a.test", "no rule"},
	    {"ALLOW a.test", "no rule"},
	    {"allow a.test\r", "byte"},
	    {"allow https://a.test", "port"},
	    {"resolve a.test", "ADDRESS:PORT"},
	    {"resolve a.test 127.0.0.1", "ADDRESS:PORT"},
	    {"resolve a.test 127.1:80", "ADDRESS:PORT"},
	    {"resolve a.test ::1:80", "ADDRESS:PORT"},
	    {"resolve a.test b.test:80", "ADDRESS:PORT"},
	    {"resolve *.a.test 127.0.0.1:80", "byte"},
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct rule r;
		struct err e = ERR_INIT;
		if (rule_parse(BAD[i].in, strlen(BAD[i].in), &r, &e) || !strstr(e.msg, BAD[i].says))
			fail_msg("%s: %s", BAD[i].in, e.msg);
	}
}

static void policy_of(struct policy *p, const char *text)
{
	struct err e = ERR_INIT;
	policy_init(p);
	if (!policy_parse(p, "policy", text, strlen(text), &e))
		fail_msg("%s", e.msg);
}

static void decisions_follow_the_rules(void **state)
{
	(void)state;
	struct policy p;
	policy_of(&p,
	          "allow a.test\n# note\n\nallow *.b.test\nallow c.test:22\ndeny x.b.test\ndeny a.test:8080\n"
	          "allow a.test:8080\nresolve d.test 127.0.0.1:1");
	static const struct {
		const char *host;
		uint16_t port;
		enum decision want;
	} ROWS[] = {
	    {"a.test", 443, DECISION_ALLOW},
	    {"a.test", 80, DECISION_NO_RULE},
	    {"a.test", 8080, DECISION_DENY},
	    {"b.test", 443, DECISION_NO_RULE},
	    {"y.b.test", 443, DECISION_ALLOW},
	    {"z.y.b.test", 443, DECISION_ALLOW},
	    {"x.b.test", 443, DECISION_DENY},
	    {"x.b.test", 80, DECISION_DENY},
	    {"y.x.b.test", 443, DECISION_ALLOW},
	    {"nota.test", 443, DECISION_NO_RULE},
	    {"c.test", 22, DECISION_ALLOW},
	    {"c.test", 443, DECISION_NO_RULE},
	    {"c.test", 6379, DECISION_NO_RULE},
	    {"d.test", 443, DECISION_NO_RULE},
	    {"a.test.evil.example", 443, DECISION_NO_RULE},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
		assert_int_equal(policy_decide(&p, ROWS[i].host, ROWS[i].port, NOW_MS, NULL), ROWS[i].want);
	const struct rule *r;
	policy_decide(&p, "a.test", 8080, NOW_MS, &r);
	assert_int_equal(r->kind, RULE_DENY);
	policy_decide(&p, "q.test", 443, NOW_MS, &r);
	assert_null(r);
	assert_non_null(policy_find_resolve(&p, "d.test"));
	assert_null(policy_find_resolve(&p, "a.test"));
	policy_finish(&p);
}

#define END_MS  NOW_MS
#define HOUR_MS INT64_C(3600000)

static void a_rule_with_a_time_counts_until_then(void **state)
{
	(void)state;
	struct policy p;
	const struct rule *by;
	policy_of(&p, "allow a.test until 2026-12-01T10:20:00Z\nallow *.b.test until 2026-12-01T10:20:00Z\n"
	              "allow x.b.test\n");
	static const struct {
		const char *host;
		int64_t wall_ms;
		enum decision want;
	} ROWS[] = {
	    {"a.test", END_MS - 1, DECISION_ALLOW},
	    {"a.test", END_MS, DECISION_NO_RULE},
	    {"a.test", END_MS + 1, DECISION_NO_RULE},
	    {"a.test", INT64_MAX / 2, DECISION_NO_RULE},
	    /* A clock that is set back revives what is younger than any rule may become, and no more. */
	    {"a.test", END_MS - RULE_LIFE_MOST_S * INT64_C(1000), DECISION_ALLOW},
	    {"a.test", END_MS - RULE_LIFE_MOST_S * INT64_C(1000) - 1, DECISION_NO_RULE},
	    {"a.test", 0, DECISION_NO_RULE},
	    {"a.test", -END_MS, DECISION_NO_RULE},
	    {"y.b.test", END_MS - 1, DECISION_ALLOW},
	    {"y.b.test", END_MS, DECISION_NO_RULE},
	    {"x.b.test", END_MS, DECISION_ALLOW},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		enum decision d = policy_decide(&p, ROWS[i].host, 443, ROWS[i].wall_ms, &by);
		if (d != ROWS[i].want)
			fail_msg("row %zu: %s is decided as %d", i, ROWS[i].host, d);
		assert_int_equal(by != NULL, d != DECISION_NO_RULE);
	}
	assert_false(policy_drop_dead(&p, END_MS - 1));
	assert_true(policy_drop_dead(&p, END_MS));
	char *text FREE_ON_EXIT = policy_format(&p);
	assert_string_equal(text, "allow x.b.test:443\n");
	policy_finish(&p);
}

static void an_empty_policy_refuses_all(void **state)
{
	(void)state;
	struct policy p;
	policy_of(&p, "");
	assert_int_equal(policy_decide(&p, "a.test", 443, NOW_MS, NULL), DECISION_NO_RULE);
	policy_of(&p, "\n  \n# nothing\n");
	assert_int_equal(p.count, 0);
	struct err e = ERR_INIT;
	assert_false(policy_load(&p, "/nonexistent/policy", &e));
}

static void one_bad_line_spoils_the_text(void **state)
{
	(void)state;
	struct policy p;
	struct err e = ERR_INIT;
	policy_of(&p, "allow a.test");
	static const char BAD[] = "allow b.test\n\nallow *.com\nallow c.test\n";
	assert_false(policy_parse(&p, "my.policy", BAD, sizeof(BAD) - 1, &e));
	assert_non_null(strstr(e.msg, "my.policy:3: "));
	assert_int_equal(policy_decide(&p, "a.test", 443, NOW_MS, NULL),
	                 DECISION_ALLOW); /* the old one stays */
	err_clear(&e);
	assert_false(policy_parse(&p, "p", "allow a.test\0", 13, &e)); /* a NUL is no blank */
	err_clear(&e);
	static const char TWO[] = "resolve a.test 127.0.0.1:1\nresolve a.test 127.0.0.1:2\n";
	assert_false(policy_parse(&p, "p", TWO, sizeof(TWO) - 1, &e));
	policy_finish(&p);
}

static void apply(struct policy *p, const char *text, bool want_change)
{
	struct rule r;
	struct err e = ERR_INIT;
	bool changed;
	assert_true(rule_parse(text, strlen(text), &r, &e));
	assert_true(policy_apply(p, &r, &changed, &e));
	assert_int_equal(changed, want_change);
}

static void live_changes_take_the_place_of_their_opposite(void **state)
{
	(void)state;
	struct policy p;
	policy_of(&p, "allow a.test\nallow b.test\n");
	apply(&p, "allow a.test", false);
	apply(&p, "deny a.test", true);
	assert_int_equal(policy_decide(&p, "a.test", 443, NOW_MS, NULL), DECISION_DENY);
	apply(&p, "allow a.test:443", true);
	assert_int_equal(policy_decide(&p, "a.test", 443, NOW_MS, NULL), DECISION_ALLOW);
	apply(&p, "resolve a.test 127.0.0.1:1", true);
	apply(&p, "resolve a.test 127.0.0.1:2", true);
	apply(&p, "deny b.test:80", true);
	char *text FREE_ON_EXIT = policy_format(&p);
	assert_string_equal(
	    text, "allow b.test:443\nallow a.test:443\nresolve a.test 127.0.0.1:2\ndeny b.test:80\n");
	policy_finish(&p);
}

static void the_longer_life_wins(void **state)
{
	(void)state;
	struct policy p;
	policy_of(&p, "allow a.test\nallow b.test until 2026-12-01T10:20:00Z\ndeny c.test\n");
	apply(&p, "allow a.test until 2026-12-01T10:20:00Z", false); /* for good already */
	apply(&p, "allow b.test until 2026-12-01T10:10:00Z", false);
	apply(&p, "allow b.test:80 until 2026-12-01T10:10:00Z", true); /* another port is another rule */
	apply(&p, "allow b.test until 2026-12-01T10:30:00Z", true);
	apply(&p, "allow c.test until 2026-12-01T10:30:00Z", true); /* takes the deny back */
	char *text FREE_ON_EXIT = policy_format(&p);
	assert_string_equal(text, "allow a.test:443\nallow b.test:80 until 2026-12-01T10:10:00Z\n"
	                          "allow b.test:443 until 2026-12-01T10:30:00Z\n"
	                          "allow c.test:443 until 2026-12-01T10:30:00Z\n");
	apply(&p, "allow b.test", true); /* for good replaces */
	apply(&p, "deny c.test:443", true);
	char *after FREE_ON_EXIT = policy_format(&p);
	assert_string_equal(after, "allow a.test:443\nallow b.test:80 until 2026-12-01T10:10:00Z\n"
	                           "allow b.test:443\ndeny c.test:443\n");
	policy_finish(&p);
}

static void the_narrowest_rule_is_one_that_helps(void **state)
{
	(void)state;
	static const struct {
		const char *target, *rule, *out, *says;
	} ROWS[] = {
	    {"telemetry.example:443", "", "telemetry.example:443", NULL},
	    {"A.Test.:8080", NULL, "a.test:8080", NULL},
	    {"a.test:443", "deny a.test", "a.test:443", NULL},       /* an allow takes that one back */
	    {"a.test:443", "deny *.other.test", "a.test:443", NULL}, /* of another host */
	    {"a.test:443", "nonsense", "a.test:443", NULL},
	    {"a.test:443", "allow a.test until 2026-12-01T10:20:00Z", "a.test:443", NULL}, /* it is over */
	    {"x.a.test:443", "deny *.a.test", NULL, "deny *.a.test refuses it"},
	    {"a.test:443", "allow a.test", NULL, "resolve"},
	    {"", "", NULL, "named no host"},
	    {"a.test", "", NULL, "is not HOST:PORT"},
	    {"a.test:", "", NULL, "is not HOST:PORT"},
	    {"a.test:0", "", NULL, "is not HOST:PORT"},
	    {"a.test:443/x", "", NULL, "is not HOST:PORT"},
	    {"192.0.2.7:443", "", NULL, "192.0.2.7 is an IP address"},
	    {"0x7f.1:80", "", NULL, "is an IP address"},
	    {"[2001:db8::1]:443", "", NULL, "[2001:db8::1] is an IP address"},
	    {"2001:db8::1:443", "", NULL, "is an IP address"},
	    {"metadata:80", "", NULL, "no dot"},
	    {"localhost:80", "", NULL, "this machine"},
	    {"*.test:443", "", NULL, "byte"},
	    {"http://a.test:80", "", NULL, "is an IP address"},
	    {"a b.test:443", "", NULL, "byte"},
	    {"\x1b[31m.test:443", "", NULL, "\\x1b[31m.test holds"},
	};
	for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
		char out[RULE_TEXT_SIZE] = "untouched";
		struct err e = ERR_INIT;
		bool found = narrow_rule(ROWS[i].target, ROWS[i].rule, out, &e);
		if (found != (ROWS[i].out != NULL))
			fail_msg("%s: %s", ROWS[i].target, found ? out : e.msg);
		if (found)
			assert_string_equal(out, ROWS[i].out);
		else if (!strstr(e.msg, ROWS[i].says))
			fail_msg("%s: %s", ROWS[i].target, e.msg);
		/* What it says would help does. */
		struct policy p;
		struct rule r;
		if (!found)
			continue;
		policy_of(&p, ROWS[i].rule && strncmp(ROWS[i].rule, "deny", 4) == 0 ? ROWS[i].rule : "");
		assert_true(rule_parse_host(RULE_ALLOW, out, strlen(out), &r, &e));
		assert_true(policy_apply(&p, &r, NULL, &e));
		assert_int_equal(policy_decide(&p, r.host, r.port, NOW_MS, NULL), DECISION_ALLOW);
		policy_finish(&p);
	}
}

static void a_policy_has_a_maximum(void **state)
{
	(void)state;
	char *text FREE_ON_EXIT = mem_alloc((POLICY_MOST_RULES + 1) * 32);
	char *at = text;
	for (int i = 0; i <= POLICY_MOST_RULES; i++)
		at += sprintf(at, "allow h%d.test\n", i);
	struct policy p;
	struct err e = ERR_INIT;
	policy_init(&p);
	assert_false(policy_parse(&p, "p", text, (size_t)(at - text), &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	policy_finish(&p);
}

static void a_change_is_told_by_its_rules(void **state)
{
	(void)state;
	static const struct {
		const char *was, *now, *text;
	} CASES[] = {
	    {"", "", ""},
	    {"allow a.test\n", "allow a.test\n", ""},
	    {"allow a.test\n", "allow a.test\nallow *.b.test:8443\n", "added allow *.b.test:8443"},
	    {"allow a.test\nallow b.test\n", "allow b.test\n", "removed allow a.test:443"},
	    {"deny a.test\nallow c.test\n", "allow c.test\nallow a.test\n",
	     "added allow a.test:443, removed deny a.test"},
	    {"allow a.test\nallow b.test\n", "allow b.test\nallow a.test\n", ""}, /* only the order */
	    {"", "allow a.test\nallow b.test\nallow c.test\nallow d.test\nallow e.test\n",
	     "added allow a.test:443, added allow b.test:443, and 3 more"},
	    {"allow a-name-that-has-no-room-in-here-at-all.because-it-is-far-too-long.test\n", "", "1 more"},
	};
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		struct policy was, now;
		struct err e = ERR_INIT;
		char text[80];
		policy_init(&was);
		policy_init(&now);
		assert_true(policy_parse(&was, "was", CASES[i].was, strlen(CASES[i].was), &e));
		assert_true(policy_parse(&now, "now", CASES[i].now, strlen(CASES[i].now), &e));
		policy_describe_change(&was, &now, text, sizeof(text));
		assert_string_equal(text, CASES[i].text);
		policy_finish(&was);
		policy_finish(&now);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_normalised),
	    cmocka_unit_test(bad_names_are_told_apart),
	    cmocka_unit_test(name_lengths_have_exact_limits),
	    cmocka_unit_test(wildcards_end_at_a_label),
	    cmocka_unit_test(rules_have_one_canonical_form),
	    cmocka_unit_test(bad_rules_are_refused),
	    cmocka_unit_test(decisions_follow_the_rules),
	    cmocka_unit_test(an_empty_policy_refuses_all),
	    cmocka_unit_test(one_bad_line_spoils_the_text),
	    cmocka_unit_test(live_changes_take_the_place_of_their_opposite),
	    cmocka_unit_test(a_rule_with_a_time_counts_until_then),
	    cmocka_unit_test(the_longer_life_wins),
	    cmocka_unit_test(the_narrowest_rule_is_one_that_helps),
	    cmocka_unit_test(a_change_is_told_by_its_rules),
	    cmocka_unit_test(a_policy_has_a_maximum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
