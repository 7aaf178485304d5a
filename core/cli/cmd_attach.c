/* attach: one terminal of a VM on the whole screen. */
#include <unistd.h>

#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/cli/target.h"
#include "core/cli/viewer.h"
#include "core/config/config.h"

static int run(struct cli *cli, struct args *args)
{
	struct target target;
	struct config config;
	struct err e = ERR_INIT;
	if (!target_parse(args->words[0], &target, &e))
		return cli_usage_error(cli, &e);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(&e, ERR_INVALID,
		        "attach needs a terminal; for scripts: ccvm send, screen, wait and exec");
		return cli_usage_error(cli, &e);
	}
	if (!setup_load_config(&config, &e))
		return cli_error(cli, &e);
	struct viewer_spec view = {.vm = target.vm, .term = target.term, .detach_key = config.detach_key};
	config_finish(&config);
	return viewer_run(cli, &view);
}

const struct command command_attach = {
    .name = "attach",
    .usage = TARGET_USAGE,
    .summary = "type into a VM's terminal on the whole screen",
    .details =
        "The VM's first terminal when none is named; a shell is started there when it has none. C-] d leaves "
        "and the program goes on; C-] C-] sends C-] "
        "itself;\n"
        "C-] z suspends ccvm; C-] ? shows these keys. The key is `detach` in ccvm.ini. Exit status: 0 after\n"
        "leaving, else the program's.\n",
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
