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

static const char *const HEADS[] = {"NAME",    "STATE", "ATTENTION", ">CPU",    ">MEM",   "EGRESS",
                                    "BACKEND", "IMAGE", "UPTIME",    ">DENIED", "REASON", NULL};

static uint64_t uptime_ms(const struct vm_status *vm, int64_t now)
{
	bool runs = vm_state_is_live(vm->state) && vm->started_ms > 0;
	return runs && now > vm->started_ms ? (uint64_t)(now - vm->started_ms) : 0;
}

static uint64_t age_ms(const struct vm_attention *a, int64_t now)
{
	return a->at_ms > 0 && now > a->at_ms ? (uint64_t)(now - a->at_ms) : 0;
}

static void add_attention(cJSON *o, const struct vm_attention *a, int64_t now)
{
	cJSON_AddStringToObject(o, "attention", vm_attention_name(a->state));
	cJSON_AddStringToObject(o, "attention_source", vm_attention_source_name(a->source));
	cJSON_AddBoolToObject(o, "attention_seen", a->seen || !vm_attention_calls(a->state));
	if (a->at_ms > 0)
		cJSON_AddNumberToObject(o, "attention_age_ms", (double)age_ms(a, now));
	else
		cJSON_AddNullToObject(o, "attention_age_ms");
	cJSON_AddStringToObject(o, "attention_text", a->text);
}

static cJSON *terminals_json(const struct vm_status *vm, int64_t now)
{
	cJSON *all = cJSON_CreateArray();
	for (uint32_t i = 0; i < vm->terminal_count; i++) {
		const struct vm_terminal *t = &vm->terminal[i];
		cJSON *o = cJSON_CreateObject();
		cJSON_AddNumberToObject(o, "number", t->number);
		cJSON_AddBoolToObject(o, "first", t->first);
		cJSON_AddStringToObject(o, "command", t->command);
		cJSON_AddStringToObject(o, "title", t->title);
		cJSON_AddNumberToObject(o, "rows", t->rows);
		cJSON_AddNumberToObject(o, "cols", t->cols);
		cJSON_AddNumberToObject(o, "watchers", t->watchers);
		add_attention(o, &t->attention, now);
		cJSON_AddItemToArray(all, o);
	}
	return all;
}

/* Known only while somebody watches the VM: a dashboard. */
static void add_vitals(cJSON *o, const struct vm_status *vm)
{
	static const char *const NAMES[] = {"cpu_percent", "mem_used_bytes", "mem_total_bytes"};
	const double values[] = {vm->cpu_permille / 10.0, (double)vm->mem_used_kib * 1024,
	                         (double)vm->mem_total_kib * 1024};
	for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
		if (vm->mem_total_kib)
			cJSON_AddNumberToObject(o, NAMES[i], values[i]);
		else
			cJSON_AddNullToObject(o, NAMES[i]);
	}
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
		cJSON_AddBoolToObject(o, "paused", vm->paused);
		add_attention(o, &vm->attention, now);
		cJSON_AddStringToObject(o, "egress", vm_egress_name(vm->egress));
		cJSON_AddStringToObject(o, "reason", vm->reason);
		cJSON_AddStringToObject(o, "backend", vm->backend);
		cJSON_AddStringToObject(o, "image", vm->image);
		format_add_time(o, "started", vm->started_ms);
		format_add_time(o, "ready", vm->ready_ms);
		cJSON_AddNumberToObject(o, "uptime_ms", (double)uptime_ms(vm, now));
		cJSON_AddNumberToObject(o, "denied", vm->denied);
		cJSON_AddNumberToObject(o, "denied_seen", vm->denied_seen);
		cJSON_AddNumberToObject(o, "tunnels", vm->tunnels);
		add_vitals(o, vm);
		cJSON_AddItemToObject(o, "terminals", terminals_json(vm, now));
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

/* "waiting 2m 5s"; in parentheses when it calls but was seen. */
static void add_attention_cell(struct columns *t, const struct vm_attention *a, int64_t now)
{
	char age[FORMAT_SIZE] = "";
	bool seen = vm_attention_calls(a->state) && a->seen;
	if (a->state == ATTENTION_NONE) {
		columns_add(t, "-");
		return;
	}
	if (age_ms(a, now))
		format_duration(age, age_ms(a, now));
	columns_addf(t, "%s%s%s%s%s", seen ? "(" : "", vm_attention_name(a->state), *age ? " " : "", age,
	             seen ? ")" : "");
}

static void add_vitals_cells(struct columns *t, const struct vm_status *vm)
{
	char used[FORMAT_SIZE] = "-";
	if (!vm->mem_total_kib) {
		columns_add(t, "-");
		columns_add(t, "-");
		return;
	}
	format_bytes(used, vm->mem_used_kib * 1024);
	columns_addf(t, "%u%%", (vm->cpu_permille + 5) / 10);
	columns_add(t, used);
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
		columns_add(&t, vm->paused ? "paused" : vm_state_name(vm->state));
		add_attention_cell(&t, &vm->attention, now);
		add_vitals_cells(&t, vm);
		columns_add(&t, egress_word(vm));
		columns_add(&t, vm->backend[0] ? vm->backend : "-");
		columns_add(&t, vm->image);
		columns_add(&t, up);
		columns_addf(&t, "%u", vm->denied);
		columns_add(&t, vm->reason[0] ? vm->reason : vm->attention.text);
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
