/* ls: every VM in a line. */
#include <stdio.h>

#include "core/base/clock.h"
#include "core/cli/cli.h"
#include "core/cli/format.h"
#include "core/cli/columns.h"
#include "core/cli/vm_list.h"

static const struct arg_option OPTIONS[] = {
    {.name = "json", .kind = ARG_FLAG, .help = "as JSON: an array of VMs"},
    {.name = "quiet", .letter = 'q', .kind = ARG_FLAG, .help = "only the names"},
    {.name = NULL},
};

static const char *const HEADS[] = {"NAME",   "STATE",   "EGRESS", "BACKEND", "IMAGE",
                                    "UPTIME", ">DENIED", "REASON", NULL};

static uint64_t uptime_ms(const struct vm_status *vm, int64_t now)
{
	bool runs = vm_state_is_live(vm->state) && vm->started_ms > 0;
	return runs && now > vm->started_ms ? (uint64_t)(now - vm->started_ms) : 0;
}

static void print_json(const struct vm_list *list)
{
	int64_t now = clock_wall_ms();
	cJSON *all = cJSON_CreateArray();
	for (size_t i = 0; i < list->count; i++) {
		const struct vm_status *vm = &list->items[i];
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "name", vm->name);
		cJSON_AddStringToObject(o, "state", vm_state_name(vm->state));
		cJSON_AddStringToObject(o, "egress", vm_egress_name(vm->egress));
		cJSON_AddStringToObject(o, "reason", vm->reason);
		cJSON_AddStringToObject(o, "backend", vm->backend);
		cJSON_AddStringToObject(o, "image", vm->image);
		format_add_time(o, "started", vm->started_ms);
		format_add_time(o, "ready", vm->ready_ms);
		cJSON_AddNumberToObject(o, "uptime_ms", (double)uptime_ms(vm, now));
		cJSON_AddNumberToObject(o, "denied", vm->denied);
		cJSON_AddNumberToObject(o, "tunnels", vm->tunnels);
		cJSON_AddNumberToObject(o, "terminals", vm->terminal_count);
		cJSON_AddNumberToObject(o, "cpus", vm->cpus);
		cJSON_AddNumberToObject(o, "memory_bytes", (double)vm->memory_bytes);
		cJSON_AddNumberToObject(o, "supervisor_pid", vm->supervisor_pid);
		cJSON_AddNumberToObject(o, "vmm_pid", vm->vmm_pid);
		cJSON_AddItemToArray(all, o);
	}
	format_print_json(all);
}

/* Egress is a matter of a VM that runs; "broken" is in capitals, so that nobody overlooks it. */
static const char *egress_word(const struct vm_status *vm)
{
	if (vm->state != VM_READY)
		return "-";
	return vm->egress == VM_EGRESS_BROKEN ? "BROKEN" : vm_egress_name(vm->egress);
}

static void print_table(const struct vm_list *list)
{
	struct columns t;
	struct str text = STR_INIT(16 * 1024 * 1024);
	int64_t now = clock_wall_ms();
	columns_init(&t, HEADS);
	for (size_t i = 0; i < list->count; i++) {
		const struct vm_status *vm = &list->items[i];
		char up[FORMAT_SIZE] = "-";
		if (uptime_ms(vm, now))
			format_duration(up, uptime_ms(vm, now));
		columns_add(&t, vm->name);
		columns_add(&t, vm_state_name(vm->state));
		columns_add(&t, egress_word(vm));
		columns_add(&t, vm->backend[0] ? vm->backend : "-");
		columns_add(&t, vm->image);
		columns_add(&t, up);
		columns_addf(&t, "%u", vm->denied);
		columns_add(&t, vm->reason);
	}
	columns_render(&t, &text);
	fputs(text.s, stdout);
	str_finish(&text);
	columns_finish(&t);
}

static int run(struct cli *cli, struct args *args)
{
	struct vm_list list;
	struct err e = ERR_INIT;
	if (!vm_list_get(cli->loop, &list, &e))
		return cli_error(cli, &e);
	if (args_has(args, "json")) {
		print_json(&list);
	} else if (args_has(args, "quiet")) {
		for (size_t i = 0; i < list.count; i++)
			printf("%s\n", list.items[i].name);
	} else if (list.count == 0) {
		fflush(stdout);
		fprintf(stderr, "No VMs. This makes one: ccvm up NAME\n");
	} else {
		print_table(&list);
	}
	vm_list_finish(&list);
	return CLI_OK;
}

const struct command command_ls = {
    .name = "ls",
    .usage = "[--json | -q]",
    .summary = "list the VMs",
    .options = OPTIONS,
    .run = run,
};
