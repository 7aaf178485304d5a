/* attach: one terminal of a VM on the whole screen. */
#include <unistd.h>

#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/cli/viewer.h"
#include "core/config/config.h"

static const struct arg_option OPTIONS[] = {
    {.name = "term",
     .letter = 'T',
     .kind = ARG_TEXT,
     .value = "N",
     .help = "another terminal than the first one"},
    {.name = NULL},
};

static int run(struct cli *cli, struct args *args)
{
	struct viewer_spec view = {.vm = args->words[0]};
	struct config config;
	struct err e = ERR_INIT;
	uint64_t term;
	if (!args_number(args, "term", 0, UINT32_MAX - 1, CLIENT_TERM_FIRST, &term, &e))
		return cli_usage_error(cli, &e);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(&e, ERR_INVALID, "attach needs a terminal; for scripts: ccvm exec NAME -- PROGRAM");
		return cli_usage_error(cli, &e);
	}
	if (!setup_load_config(&config, &e))
		return cli_error(cli, &e);
	view.term = (uint32_t)term;
	view.detach_key = config.detach_key;
	config_finish(&config);
	return viewer_run(cli, &view);
}

const struct command command_attach = {
    .name = "attach",
    .usage = "NAME [--term N]",
    .summary = "type into a VM's terminal on the whole screen",
    .details =
        "Starts a shell there when none runs. C-] d leaves and the program goes on; C-] C-] sends C-] "
        "itself;\n"
        "C-] z suspends ccvm; C-] ? shows these keys. The key is `detach` in ccvm.ini. Exit status: 0 after\n"
        "leaving, else the program's.\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
