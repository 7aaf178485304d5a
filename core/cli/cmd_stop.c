/* stop and kill: any number of VMs, one after the other; one that fails does not keep the others from their turn. */
#include <stdio.h>

#include "core/base/parse.h"
#include "core/cli/call.h"
#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/cli/vm_end.h"
#include "core/cli/vm_list.h"

#define GRACE_MS 10000

static const struct arg_option STOP_OPTIONS[] = {
    {.name = "all", .letter = 'a', .kind = ARG_FLAG, .help = "all VMs that run"},
    {.name = "time",
     .letter = 't',
     .kind = ARG_TEXT,
     .value = "TIME",
     .help = "how long the guest may take, then it is ended (10s)"},
    {.name = NULL},
};
static const struct arg_option KILL_OPTIONS[] = {
    {.name = "all", .letter = 'a', .kind = ARG_FLAG, .help = "all VMs that run"},
    {.name = NULL},
};

struct ending {
	bool kill;
	uint32_t grace_ms;
};

static bool end_one(struct cli *cli, const char *vm, const struct ending *how)
{
	struct err e = ERR_INIT;
	if (!setup_check_vm(vm, &e)) {
		cli_error(cli, &e);
		return false;
	}
	bool asked = how->kill ? call_kill(cli->loop, vm, &e) : call_stop(cli->loop, vm, how->grace_ms, &e);
	if (how->kill && e.kind == ERR_TIMEOUT) { /* it does not listen any more: without being asked */
		err_clear(&e);
		asked = vm_end_by_force(vm, &e);
	}
	bool ran = asked || e.kind != ERR_NOT_FOUND;
	if (!ran)
		err_clear(&e); /* what was asked for is the case */
	if (e.kind != ERR_NONE || !vm_end_wait(vm, &e)) {
		cli_error(cli, &e);
		return false;
	}
	printf("%s: %s\n", vm, !ran ? "was not running" : how->kill ? "killed" : "stopped");
	fflush(stdout);
	return true;
}

static int end_all(struct cli *cli, const struct ending *how)
{
	struct vm_list list;
	struct err e = ERR_INIT;
	int status = CLI_OK;
	if (!vm_list_get(cli->loop, &list, &e))
		return cli_error(cli, &e);
	for (size_t i = 0; i < list.count; i++) {
		if (vm_state_is_live(list.items[i].state) && !end_one(cli, list.items[i].name, how))
			status = CLI_FAILED;
	}
	vm_list_finish(&list);
	return status;
}

static int end(struct cli *cli, struct args *args, const struct ending *how)
{
	struct err e = ERR_INIT;
	bool all = args_has(args, "all");
	if (all == (args->word_count > 0)) {
		err_set(&e, ERR_INVALID, "give the names of VMs, or --all");
		return cli_usage_error(cli, &e);
	}
	if (all)
		return end_all(cli, how);
	int status = CLI_OK;
	for (size_t i = 0; i < args->word_count; i++) {
		if (!end_one(cli, args->words[i], how))
			status = CLI_FAILED;
	}
	return status;
}

static int run_stop(struct cli *cli, struct args *args)
{
	struct ending how = {.grace_ms = GRACE_MS};
	uint64_t ms;
	const char *text = args_text(args, "time");
	struct err e = ERR_INIT;
	if (text) {
		if (!parse_duration(text, &ms) || ms > 3600000) {
			err_set(&e, ERR_INVALID, "--time '%.40s' is not a time like 30s, at most 1h", text);
			return cli_usage_error(cli, &e);
		}
		how.grace_ms = (uint32_t)ms;
	}
	return end(cli, args, &how);
}

static int run_kill(struct cli *cli, struct args *args)
{
	struct ending how = {.kill = true};
	return end(cli, args, &how);
}

const struct command command_stop = {
    .name = "stop",
    .usage = "NAME... | --all",
    .summary = "shut VMs down; their disks stay and `ccvm up` starts them again",
    .options = STOP_OPTIONS,
    .max_words = SIZE_MAX,
    .run = run_stop,
};

const struct command command_kill = {
    .name = "kill",
    .usage = "NAME... | --all",
    .summary = "end VMs at once, as if their power was cut",
    .options = KILL_OPTIONS,
    .max_words = SIZE_MAX,
    .run = run_kill,
};
