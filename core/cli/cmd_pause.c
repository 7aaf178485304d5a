/* pause and resume: the CPUs of VMs stand still, or go on. */
#include <stdio.h>

#include "core/cli/call.h"
#include "core/cli/cli.h"

static int set_paused(struct cli *cli, struct args *args, bool paused)
{
	int status = CLI_OK;
	for (size_t i = 0; i < args->word_count; i++) {
		struct err e = ERR_INIT;
		if (!call_pause(cli->loop, args->words[i], paused, &e)) {
			status = cli_error(cli, &e);
			continue;
		}
		printf("%s: %s\n", args->words[i], paused ? "paused" : "goes on");
		fflush(stdout);
	}
	return status;
}

static int run_pause(struct cli *cli, struct args *args)
{
	return set_paused(cli, args, true);
}

static int run_resume(struct cli *cli, struct args *args)
{
	return set_paused(cli, args, false);
}

const struct command command_pause = {
    .name = "pause",
    .usage = "NAME...",
    .summary = "let the CPUs of VMs stand still",
    .details =
        "Its memory stays, its open connections may time out. Nothing in it runs until `ccvm resume`.\n",
    .min_words = 1,
    .max_words = SIZE_MAX,
    .run = run_pause,
};

const struct command command_resume = {
    .name = "resume",
    .usage = "NAME...",
    .summary = "let paused VMs go on",
    .min_words = 1,
    .max_words = SIZE_MAX,
    .run = run_resume,
};
