/* The commands of `ccvm`: which there are, how one is called, and what they share.
 *
 * Each command is a file cmd_NAME.c that ends in its const table entry; the table of all is in cli.c. A command prints
 * data to stdout and everything else to stderr, and returns the exit status: 0 done, 1 it failed, 2 wrong usage. */
#ifndef CCVM_CLI_CLI_H
#define CCVM_CLI_CLI_H

#include "core/base/err.h"
#include "core/cli/args.h"

struct loop;
struct tty_caps;

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* What main gives: the dashboard is not part of this folder. */
struct cli_hooks {
	/* Runs it on the terminal and returns the exit status of the program. */
	int (*dashboard)(struct loop *loop);
	/* What the operator's terminal can do; the error says why it cannot be drawn on. */
	bool (*terminal)(struct tty_caps *caps, struct err *e);
};

struct cli {
	struct loop *loop; /* keeps */
	const struct cli_hooks *hooks;
	const struct command *command; /* the running one */
};

struct command {
	const char *name;
	const char *usage;                /* what follows the name: "NAME [-n N]" */
	const char *summary;              /* one line, for the list of commands */
	const char *details;              /* more lines of its help, or NULL */
	const struct arg_option *options; /* without --help; NULL: none */
	size_t min_words, max_words;
	int (*run)(struct cli *cli, struct args *args);
};

int cli_main(int argc, char **argv, const struct cli_hooks *hooks);

/* "ccvm COMMAND: text" on stderr; the exit status that fits (ERR_INVALID is a usage error only by cli_usage_error). */
int cli_error(const struct cli *cli, const struct err *e);
/* The same with a hint where to read on; CLI_USAGE. */
int cli_usage_error(const struct cli *cli, const struct err *e);

/* "unknown command 'x' (did you mean y?)"; CLI_USAGE. */
int cli_unknown_command(const struct cli *cli, const char *name);

/* All commands, NULL-terminated, in the order of the help. */
const struct command *const *cli_commands(void);
void cli_print_help(const struct command *command);
void cli_print_overview(void);

extern const struct command command_up, command_ls, command_attach, command_send, command_screen,
    command_wait, command_record, command_exec, command_ping, command_log, command_allow, command_deny,
    command_pause, command_resume, command_restart, command_stop, command_kill, command_rm, command_image,
    command_doctor, command_dashboard, command_version, command_help;

#endif
