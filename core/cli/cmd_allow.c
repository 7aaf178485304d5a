/* allow and deny: one rule more, in force at once and kept for the next start. */
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/parse.h"
#include "core/cli/call.h"
#include "core/cli/cli.h"
#include "core/egress/rule.h"

static const struct arg_option ALLOW_OPTIONS[] = {
    {.name = "for", .kind = ARG_TEXT, .value = "TIME", .help = "only for that long: 10m, 2h, at most 30d"},
    {.name = NULL},
};

/* What is not HOST[:PORT] but an address that people have in their hands. */
static bool check_no_url(const char *text, struct err *e)
{
	const char *after = strstr(text, "://");
	if (!after)
		return true;
	size_t len = strcspn(after + 3, "/?#");
	char host[HOST_SIZE], shown[300];
	escape_text(shown, sizeof(shown), text, strlen(text));
	if (len < sizeof(host) && host_normalise(after + 3, len, host) == HOST_OK)
		return err_set(e, ERR_INVALID, "'%s' is a URL; the rule is only its host: %s%s", shown, host,
		               strncmp(text, "http:", 5) == 0 ? ":80" : "");
	return err_set(e, ERR_INVALID, "'%s' is a URL; a rule is HOST[:PORT]", shown);
}

static bool parse_for(const char *text, uint32_t *seconds, struct err *e)
{
	uint64_t ms;
	*seconds = 0;
	if (!text)
		return true;
	if (!parse_duration(text, &ms) || ms < 1000 || ms > (uint64_t)RULE_LIFE_MOST_S * 1000)
		return err_set(e, ERR_INVALID, "--for '%.40s' is not a time like 10m, from 1s to 30d", text);
	*seconds = (uint32_t)(ms / 1000);
	return true;
}

static bool check_rule(enum rule_kind kind, const char *text, struct err *e)
{
	struct rule rule;
	return check_no_url(text, e) && rule_parse_host(kind, text, strlen(text), &rule, e);
}

static int tell(struct cli *cli, const char *vm, bool fine, const char *answer, const struct err *e)
{
	if (!fine)
		return cli_error(cli, e);
	printf("%s: %s\n", vm, answer);
	return CLI_OK;
}

static int run_allow(struct cli *cli, struct args *args)
{
	const char *vm = args->words[0], *rule = args->words[1];
	struct err e = ERR_INIT;
	char answer[CALL_TEXT_SIZE] = "";
	uint32_t seconds;
	if (!check_rule(RULE_ALLOW, rule, &e) || !parse_for(args_text(args, "for"), &seconds, &e))
		return cli_usage_error(cli, &e);
	return tell(cli, vm, call_allow(cli->loop, vm, rule, seconds, answer, &e), answer, &e);
}

static int run_deny(struct cli *cli, struct args *args)
{
	const char *vm = args->words[0], *rule = args->words[1];
	struct err e = ERR_INIT;
	char answer[CALL_TEXT_SIZE] = "";
	if (!check_rule(RULE_DENY, rule, &e))
		return cli_usage_error(cli, &e);
	return tell(cli, vm, call_deny(cli->loop, vm, rule, answer, &e), answer, &e);
}

const struct command command_allow = {
    .name = "allow",
    .usage = "NAME RULE [--for TIME]",
    .summary = "let a running VM reach one more host, at once",
    .details =
        "RULE is HOST, *.HOST (any depth below HOST, never HOST itself) and optionally :PORT (443 if left\n"
        "out). The rule stays when the VM is stopped and started again. With --for it ends by itself, for "
        "new\n"
        "connections; tunnels that are open then stay. A host that is allowed for good stays so.\n",
    .options = ALLOW_OPTIONS,
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
