#include <string.h>

#include "core/cli/cli.h"

static int run(struct cli *cli, struct args *args)
{
	if (args->word_count == 0) {
		cli_print_overview();
		return CLI_OK;
	}
	for (const struct command *const *c = cli_commands(); *c; c++) {
		if (strcmp((*c)->name, args->words[0]) == 0) {
			cli_print_help(*c);
			return CLI_OK;
		}
	}
	struct err e = ERR_INIT;
	err_set(&e, ERR_INVALID, "no such command: '%.40s'", args->words[0]);
	return cli_usage_error(cli, &e);
}

const struct command command_help = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "list the commands, or explain one",
    .max_words = 1,
    .run = run,
};
