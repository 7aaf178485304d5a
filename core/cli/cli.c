#include "core/cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/log.h"
#include "core/base/nearest.h"
#include "core/loop/loop.h"

static const struct command *const COMMANDS[] = {
    &command_up,     &command_ls,     &command_attach,    &command_send,    &command_screen, &command_wait,
    &command_record, &command_exec,   &command_log,       &command_ping,    &command_allow,  &command_deny,
    &command_pause,  &command_resume, &command_restart,   &command_stop,    &command_kill,   &command_rm,
    &command_image,  &command_doctor, &command_dashboard, &command_version, &command_help,   NULL,
};

const struct command *const *cli_commands(void)
{
	return COMMANDS;
}

/* ---- messages ---- */

static const char *command_name(const struct cli *cli)
{
	return cli->command ? cli->command->name : "";
}

static void print_error(const struct cli *cli, const char *text)
{
	const char *name = command_name(cli);
	fflush(stdout); /* what was printed before comes before */
	fprintf(stderr, "ccvm%s%s: %s\n", name[0] ? " " : "", name, text);
}

int cli_error(const struct cli *cli, const struct err *e)
{
	print_error(cli, e->msg);
	return CLI_FAILED;
}

int cli_usage_error(const struct cli *cli, const struct err *e)
{
	const char *name = command_name(cli);
	char text[sizeof(e->msg) + 64];
	snprintf(text, sizeof(text), "%s (see: ccvm%s%s --help)", e->msg, name[0] ? " " : "", name);
	print_error(cli, strstr(e->msg, "usage: ccvm ") ? e->msg : text);
	return CLI_USAGE;
}

/* ---- help ---- */

static void print_option(const struct arg_option *o)
{
	char left[64];
	snprintf(left, sizeof(left), "%c%c%s --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
	         o->letter ? "," : " ", o->name, o->kind == ARG_FLAG ? "" : " ",
	         o->kind == ARG_FLAG ? "" : o->value);
	printf("  %-30s %s\n", left, o->help);
}

void cli_print_help(const struct command *command)
{
	printf("usage: ccvm %s%s%s\n\n%s\n", command->name, command->usage[0] ? " " : "", command->usage,
	       command->summary);
	if (command->details)
		printf("\n%s", command->details);
	printf("\noptions:\n");
	for (const struct arg_option *o = command->options; o && o->name; o++)
		print_option(o);
	static const struct arg_option HELP = {.name = "help", .letter = 'h', .help = "print this and exit"};
	print_option(&HELP);
}

void cli_print_overview(void)
{
	printf("usage: ccvm [COMMAND] [ARGUMENTS]\n\n"
	       "Runs coding agents in virtual machines whose only way out is an allow-list of hosts.\n"
	       "Without a command: the dashboard.\n\ncommands:\n");
	for (const struct command *const *c = COMMANDS; *c; c++)
		printf("  %-10s %s\n", (*c)->name, (*c)->summary);
	printf(
	    "\n`ccvm COMMAND --help` explains a command. Exit status: 0 done, 1 it failed, 2 wrong usage;\n"
	    "exec, attach and wait --exit pass on that of the program. Settings: ccvm.ini (see "
	    "ccvm.ini.example).\n");
}

/* ---- running one ---- */

static const struct command *find_command(const char *name)
{
	for (const struct command *const *c = COMMANDS; *c; c++) {
		if (strcmp((*c)->name, name) == 0)
			return *c;
	}
	return NULL;
}

int cli_unknown_command(const struct cli *cli, const char *name)
{
	struct err e = ERR_INIT;
	struct nearest n;
	char shown[64];
	escape_text(shown, sizeof(shown), name, strlen(name));
	nearest_begin(&n, name);
	for (const struct command *const *c = COMMANDS; *c; c++)
		nearest_offer(&n, (*c)->name);
	if (name[0] == '-')
		err_set(&e, ERR_INVALID, "unknown option %s", shown);
	else if (nearest_best(&n))
		err_set(&e, ERR_INVALID, "unknown command '%s' (did you mean %s?)", shown, nearest_best(&n));
	else
		err_set(&e, ERR_INVALID, "unknown command '%s'", shown);
	return cli_usage_error(cli, &e);
}

/* Names what is missing, where the usage has a name for it. */
static bool fail_missing(const struct command *command, size_t given, struct err *e)
{
	const char *word = command->usage;
	while (given-- && strchr(word, ' '))
		word = strchr(word, ' ') + 1;
	int len = (int)strcspn(word, " .");
	if (*word < 'A' || *word > 'Z')
		return err_set(e, ERR_INVALID, "usage: ccvm %s %s", command->name, command->usage);
	return err_set(e, ERR_INVALID, "%.*s is missing; usage: ccvm %s %s", len, word, command->name,
	               command->usage);
}

static bool check_words(const struct command *command, const struct args *a, struct err *e)
{
	if (a->word_count < command->min_words)
		return fail_missing(command, a->word_count, e);
	if (a->word_count > command->max_words) {
		char shown[64];
		const char *word = a->words[command->max_words];
		escape_text(shown, sizeof(shown), word, strlen(word));
		return err_set(e, ERR_INVALID, "unexpected argument '%s'", shown);
	}
	return true;
}

/* --help counts wherever it stands before "--", whatever else is wrong. */
static bool asks_for_help(const char *const *argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
			return true;
	}
	return false;
}

static int run_command(struct cli *cli, int argc, const char *const *argv)
{
	static const struct arg_option NONE[] = {{.name = NULL}};
	const struct command *command = cli->command;
	struct args args;
	struct err e = ERR_INIT;
	int status;
	if (asks_for_help(argv)) {
		cli_print_help(command);
		return CLI_OK;
	}
	if (args_parse(&args, command->options ? command->options : NONE, argc, argv, &e) &&
	    check_words(command, &args, &e))
		status = command->run(cli, &args);
	else
		status = cli_usage_error(cli, &e);
	args_finish(&args);
	return status;
}

/* What was printed must have arrived: a full disk is a failure, a closed pipe (`ccvm ls | head -1`) a silent one. */
static int finish_output(const struct cli *cli, int status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno != EPIPE) {
		struct err e = ERR_INIT;
		err_sys(&e, errno ? errno : EIO, "write to standard output");
		cli_error(cli, &e);
	}
	return status == CLI_OK ? CLI_FAILED : status;
}

int cli_main(int argc, char **argv, const struct cli_hooks *hooks)
{
	struct cli cli = {.hooks = hooks};
	int status;
	log_open("ccvm", 2, LOG_WARN);
	const char *name = argc > 1 ? argv[1] : "dashboard";
	if (strcmp(name, "--version") == 0)
		name = "version";
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	cli.command = find_command(name);
	if (!cli.command)
		return cli_unknown_command(&cli, name);
	cli.loop = loop_create();
	status = run_command(&cli, MAX(argc - 2, 0), (const char *const *)argv + MIN(argc, 2));
	loop_destroy(cli.loop);
	return finish_output(&cli, status);
}
