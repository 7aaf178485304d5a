/* exec: run a program in a VM as if it ran here. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/cli/cli.h"
#include "core/cli/exec_plain.h"
#include "core/cli/setup.h"
#include "core/cli/viewer.h"
#include "core/config/config.h"

static const struct arg_option OPTIONS[] = {
    {.name = "tty", .letter = 't', .kind = ARG_FLAG, .help = "give it a terminal of this one's size"},
    {.name = "env", .letter = 'e', .kind = ARG_LIST, .value = "NAME=VALUE", .help = "one more variable"},
    {.name = "workdir",
     .letter = 'w',
     .kind = ARG_TEXT,
     .value = "DIR",
     .help = "run it in this folder of the guest"},
    {.name = NULL},
};

static bool check_env(const struct arg_values *env, struct err *e)
{
	for (size_t i = 0; i < env->count; i++) {
		const char *equals = strchr(env->values[i], '=');
		if (!equals || equals == env->values[i])
			return err_set(e, ERR_INVALID, "--env '%.60s' is not NAME=VALUE", env->values[i]);
	}
	return true;
}

static int run_on_terminal(struct cli *cli, const char *vm, const struct exec_spec *spec)
{
	struct viewer_spec view = {
	    .vm = vm,
	    .term = CLIENT_TERM_NEW,
	    .argv = spec->argv,
	    .env = spec->env,
	    .cwd = spec->cwd,
	    .keep_last_screen = true,
	};
	struct config config;
	struct err e = ERR_INIT;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(&e, ERR_INVALID, "-t needs a terminal on standard input and output");
		return cli_usage_error(cli, &e);
	}
	if (!setup_load_config(&config, &e))
		return cli_error(cli, &e);
	view.detach_key = config.detach_key;
	config_finish(&config);
	return viewer_run(cli, &view);
}

static int run(struct cli *cli, struct args *args)
{
	struct err e = ERR_INIT;
	const struct arg_values *env = args_list(args, "env");
	const char **env_list = NULL;
	struct exec_spec spec = {.cwd = args_text(args, "workdir")};
	int status = CLI_USAGE;
	/* NAME -- PROGRAM..., or NAME PROGRAM... when nothing of it looks like an option of ours. */
	spec.argv = args->rest ? args->rest : args->words + 1;
	if (args->rest && args->word_count > 1) {
		err_set(&e, ERR_INVALID, "unexpected argument '%.60s' before --", args->words[1]);
	} else if (!spec.argv[0]) {
		err_set(&e, ERR_INVALID, "PROGRAM is missing; usage: ccvm exec %s", cli->command->usage);
	} else if (!check_env(env, &e)) {
		/* e says it */
	} else {
		env_list = mem_array(env->count + 1, sizeof(*env_list));
		for (size_t i = 0; i < env->count; i++)
			env_list[i] = env->values[i];
		spec.env = env_list;
		if (args_has(args, "tty"))
			status = run_on_terminal(cli, args->words[0], &spec);
		else
			status = exec_plain_run(cli, args->words[0], &spec);
		free(env_list);
	}
	return e.kind ? cli_usage_error(cli, &e) : status;
}

const struct command command_exec = {
    .name = "exec",
    .usage = "NAME [-t] [-e NAME=VALUE]... [-w DIR] -- PROGRAM [ARGUMENTS]",
    .summary = "run a program in a VM: stdin, stdout, stderr and exit status as if it ran here",
    .details = "Exit status: the program's own; 128 + n when signal n ended it; 127 when there is no such "
               "program, 126\n"
               "when it cannot be executed; 1 when the VM cannot be reached. INT, TERM, HUP and QUIT are "
               "passed on to\n"
               "the program; the third in a row gives up on it. With -t its last screen is printed when it "
               "has ended.\n"
               "Without -t a terminal here gets text only: escape sequences are left out. A file or a pipe "
               "gets every byte.\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = SIZE_MAX,
    .run = run,
};
