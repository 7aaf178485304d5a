#include <stdio.h>
#include <uv.h>

#include "core/cli/cli.h"
#include "core/cli/format.h"

static const struct arg_option OPTIONS[] = {
    {.name = "json", .kind = ARG_FLAG, .help = "as JSON"},
    {.name = NULL},
};

static int run(struct cli *cli, struct args *args)
{
	(void)cli;
	if (!args_has(args, "json")) {
		printf("ccvm %s\n", CCVM_VERSION);
		return CLI_OK;
	}
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "version", CCVM_VERSION);
	cJSON_AddStringToObject(o, "libuv", uv_version_string());
	format_print_json(o);
	return CLI_OK;
}

const struct command command_version = {
    .name = "version",
    .usage = "[--json]",
    .summary = "print the version",
    .options = OPTIONS,
    .run = run,
};
