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
	return cli_unknown_command(cli, args->words[0]);
}

const struct command command_help = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "list the commands, or explain one",
    .max_words = 1,
    .run = run,
};
