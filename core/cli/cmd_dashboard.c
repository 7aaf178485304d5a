#include <unistd.h>

#include "core/cli/cli.h"

static int run(struct cli *cli, struct args *args)
{
	(void)args;
	struct err e = ERR_INIT;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(&e, ERR_INVALID, "the dashboard needs a terminal; for scripts: ccvm ls --json");
		return cli_usage_error(cli, &e);
	}
	return cli->hooks->dashboard(cli->loop);
}

const struct command command_dashboard = {
    .name = "dashboard",
    .usage = "",
    .summary = "watch all VMs and type into them (also: ccvm without a command)",
    .run = run,
};
