#include <unistd.h>

#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/config/config.h"

static int run(struct cli *cli, struct args *args)
{
	(void)args;
	struct config config;
	struct err e = ERR_INIT;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(&e, ERR_INVALID, "the dashboard needs a terminal; for scripts: ccvm ls --json");
		return cli_usage_error(cli, &e);
	}
	if (!setup_load_config(&config, &e))
		return cli_error(cli, &e);
	char detach_key = config.detach_key;
	config_finish(&config);
	return cli->hooks->dashboard(cli->loop, detach_key);
}

const struct command command_dashboard = {
    .name = "dashboard",
    .usage = "",
    .summary = "watch all VMs and type into them (also: ccvm without a command)",
    .run = run,
};
