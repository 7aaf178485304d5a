/* rm: a VM and everything of it, disk and logs included. */
#include <stdio.h>

#include "core/cli/call.h"
#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/cli/vm_end.h"
#include "core/cli/vm_list.h"

static const struct arg_option OPTIONS[] = {
    {.name = "force", .letter = 'f', .kind = ARG_FLAG, .help = "kill it first when it runs"},
    {.name = NULL},
};

static bool remove_one(struct cli *cli, const struct vm_list *list, const char *vm, bool force, struct err *e)
{
	if (!setup_check_vm(vm, e))
		return false;
	const struct vm_status *status = vm_list_find(list, vm);
	bool lives = status && vm_state_is_live(status->state);
	if (lives && !force)
		return err_set(e, ERR_BUSY, "VM %s is %s: ccvm stop %s first, or --force", vm,
		               vm_state_name(status->state), vm);
	if (lives && !call_kill(cli->loop, vm, e)) {
		if (e->kind != ERR_NOT_FOUND) /* it ended meanwhile: just what we want */
			return false;
		err_clear(e);
	}
	return vm_end_wait(vm, e) && vm_end_remove(vm, e);
}

static int run(struct cli *cli, struct args *args)
{
	struct vm_list list;
	struct err e = ERR_INIT;
	int status = CLI_OK;
	if (!vm_list_get(cli->loop, &list, &e))
		return cli_error(cli, &e);
	for (size_t i = 0; i < args->word_count; i++) {
		struct err why = ERR_INIT;
		if (remove_one(cli, &list, args->words[i], args_has(args, "force"), &why))
			printf("%s: removed\n", args->words[i]);
		else
			status = cli_error(cli, &why);
	}
	vm_list_finish(&list);
	return status;
}

const struct command command_rm = {
    .name = "rm",
    .usage = "NAME... [--force]",
    .summary = "remove VMs with their disks and logs",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = SIZE_MAX,
    .run = run,
};
