/* restart: stop and up in one, with everything that up would refuse checked before anything is stopped. */
#include <signal.h>
#include <stdio.h>

#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/cli/boot.h"
#include "core/cli/call.h"
#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/cli/vm_end.h"
#include "core/config/paths.h"
#include "core/vm/store.h"

#define GRACE_MS 10000

static bool prepare(const char *vm, struct vm_spec *spec, struct err *e)
{
	if (!setup_check_vm(vm, e))
		return false;
	char *program FREE_ON_EXIT = paths_program("ccvm-supervisor", e);
	char *dir FREE_ON_EXIT = paths_vm_state(vm);
	return program && store_read_spec(dir, spec, e) && setup_check_image(spec->image, e);
}

/* One that does not run is started all the same. */
static bool stop(struct cli *cli, const char *vm, struct err *e)
{
	struct err why = ERR_INIT;
	if (!call_stop(cli->loop, vm, GRACE_MS, &why) && why.kind != ERR_NOT_FOUND) {
		*e = why;
		return false;
	}
	return vm_end_wait(vm, e);
}

static int run(struct cli *cli, struct args *args)
{
	const char *vm = args->words[0];
	struct vm_spec spec;
	struct err e = ERR_INIT;
	if (!parse_name("VM name", vm, &e))
		return cli_usage_error(cli, &e);
	if (!prepare(vm, &spec, &e) || !stop(cli, vm, &e))
		return cli_error(cli, &e);
	enum boot_end end = boot_vm(cli->loop, &spec, &e);
	if (end != BOOT_READY)
		cli_error(cli, &e);
	return end == BOOT_READY ? CLI_OK : end == BOOT_INTERRUPTED ? 128 + SIGINT : CLI_FAILED;
}

const struct command command_restart = {
    .name = "restart",
    .usage = "NAME",
    .summary = "shut a VM down and start it again",
    .details = "The guest has 10 seconds to shut down. What runs in it ends; its disk stays. A VM that does "
               "not run is\n"
               "started. Exit status as of `ccvm up`.\n",
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
