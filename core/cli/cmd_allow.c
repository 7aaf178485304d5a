/* allow and deny: one rule more, in force at once and kept for the next start. */
#include <stdio.h>
#include <string.h>

#include "core/cli/call.h"
#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/egress/rule.h"

static int change(struct cli *cli, struct args *args, enum rule_kind kind, call_rule_fn *fn)
{
	const char *vm = args->words[0], *text = args->words[1];
	struct rule rule;
	struct err e = ERR_INIT;
	char answer[CALL_TEXT_SIZE] = "";
	if (!rule_parse_host(kind, text, strlen(text), &rule, &e))
		return cli_usage_error(cli, &e);
	if (!call_rule(cli->loop, vm, fn, text, answer, &e))
		return cli_error(cli, &e);
	printf("%s: %s\n", vm, answer);
	return CLI_OK;
}

static void allow_for_good(struct client *c, const char *rule, client_text_fn *done, void *arg)
{
	client_allow(c, rule, 0, done, arg);
}

static int run_allow(struct cli *cli, struct args *args)
{
	return change(cli, args, RULE_ALLOW, allow_for_good);
}

static int run_deny(struct cli *cli, struct args *args)
{
	return change(cli, args, RULE_DENY, client_deny);
}

const struct command command_allow = {
    .name = "allow",
    .usage = "NAME RULE",
    .summary = "let a running VM reach one more host, at once",
    .details =
        "RULE is HOST, *.HOST (any depth below HOST, never HOST itself) and optionally :PORT (443 if left\n"
        "out). The rule stays when the VM is stopped and started again.\n",
    .min_words = 2,
    .max_words = 2,
    .run = run_allow,
};

const struct command command_deny = {
    .name = "deny",
    .usage = "NAME RULE",
    .summary = "stop a running VM from reaching a host, at once",
    .details =
        "Takes the allow rules of that HOST away and refuses it even where a wider rule would allow it.\n"
        "Tunnels that are open stay open. RULE is as for allow.\n",
    .min_words = 2,
    .max_words = 2,
    .run = run_deny,
};
