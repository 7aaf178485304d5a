/* up: make a VM, or start one again. Everything is checked before anything is made. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/cli/boot.h"
#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/cli/vm_end.h"
#include "core/cli/vm_list.h"
#include "core/cli/vm_make.h"
#include "core/config/paths.h"
#include "core/vm/store.h"

static const struct arg_option OPTIONS[] = {
    {.name = "image",
     .letter = 'i',
     .kind = ARG_TEXT,
     .value = "IMAGE",
     .help = "what it is made from (base)"},
    {.name = "allow",
     .letter = 'a',
     .kind = ARG_LIST,
     .value = "HOST[:PORT]",
     .help = "a host that it may reach"},
    {.name = "memory", .letter = 'm', .kind = ARG_TEXT, .value = "SIZE", .help = "512M, 2G"},
    {.name = "cpus", .letter = 'c', .kind = ARG_TEXT, .value = "N", .help = "virtual processors"},
    {.name = "disk", .kind = ARG_TEXT, .value = "SIZE", .help = "most that its own files may take"},
    {.name = "backend", .kind = ARG_TEXT, .value = "NAME", .help = "auto, qemu-kvm or qemu-tcg"},
    {.name = "ready-timeout", .kind = ARG_TEXT, .value = "TIME", .help = "how long it may take to be ready"},
    {.name = NULL},
};

/* ---- what the options say ---- */

static bool set_text(char *out, size_t size, const char *value)
{
	return (size_t)snprintf(out, size, "%s", value) < size;
}

static bool set_image(struct vm_spec *s, const char *value)
{
	return set_text(s->image, sizeof(s->image), value);
}

static bool set_backend(struct vm_spec *s, const char *value)
{
	return set_text(s->backend, sizeof(s->backend), value);
}

static bool set_memory(struct vm_spec *s, const char *value)
{
	return parse_size(value, &s->memory_bytes);
}

static bool set_disk(struct vm_spec *s, const char *value)
{
	return parse_size(value, &s->disk_bytes);
}

static bool set_cpus(struct vm_spec *s, const char *value)
{
	uint64_t v;
	bool fine = parse_u64(value, 1, VM_CPUS_MAX, &v);
	if (fine)
		s->cpus = (uint32_t)v;
	return fine;
}

static bool set_ready_timeout(struct vm_spec *s, const char *value)
{
	return parse_duration(value, &s->ready_timeout_ms);
}

static const struct setting {
	const char *option;
	bool (*set)(struct vm_spec *s, const char *value);
	size_t at, size; /* of what it sets */
} SETTINGS[] = {
#define SETTING(option, fn, field)                                                                   \
	{                                                                                            \
		option, fn, offsetof(struct vm_spec, field), sizeof(((struct vm_spec *)NULL)->field) \
	}
    SETTING("image", set_image, image),
    SETTING("backend", set_backend, backend),
    SETTING("memory", set_memory, memory_bytes),
    SETTING("disk", set_disk, disk_bytes),
    SETTING("cpus", set_cpus, cpus),
    SETTING("ready-timeout", set_ready_timeout, ready_timeout_ms),
#undef SETTING
};

static bool apply_options(const struct args *args, struct vm_spec *spec, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(SETTINGS); i++) {
		const char *value = args_text(args, SETTINGS[i].option);
		if (value && !SETTINGS[i].set(spec, value))
			return err_set(e, ERR_INVALID, "--%s: '%.60s' makes no sense", SETTINGS[i].option,
			               value);
	}
	return vm_spec_check(spec, e);
}

/* What is fixed cannot be changed by starting the VM again; saying nothing would hide that. */
static bool refuse_changes(const struct args *args, const struct vm_spec *have, const struct vm_spec *want,
                           struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(SETTINGS); i++) {
		const struct setting *s = &SETTINGS[i];
		bool text = s->set == set_image || s->set == set_backend;
		const char *a = (const char *)have + s->at, *b = (const char *)want + s->at;
		bool same = text ? strcmp(a, b) == 0 : memcmp(a, b, s->size) == 0;
		if (args_has(args, s->option) && !same)
			return err_set(
			    e, ERR_EXISTS,
			    "VM %s exists with another %s, which --%s cannot change: leave it out, or "
			    "ccvm rm %s first",
			    have->name, s->option, s->option, have->name);
	}
	return true;
}

/* ---- new or known ---- */

static bool start_known(struct args *args, const char *state_dir, struct vm_spec *spec, struct err *e)
{
	struct vm_spec want;
	const struct arg_values *allow = args_list(args, "allow");
	if (!store_read_spec(state_dir, spec, e))
		return false;
	want = *spec;
	return apply_options(args, &want, e) && refuse_changes(args, spec, &want, e) &&
	       setup_check_image(spec->image, e) &&
	       (allow->count == 0 || vm_make_add_rules(spec->name, allow->values, allow->count, e));
}

static bool make_new(struct args *args, const struct config *config, struct vm_spec *spec, struct err *e)
{
	struct policy policy;
	const struct arg_values *allow = args_list(args, "allow");
	*spec = config->defaults;
	set_text(spec->name, sizeof(spec->name), args->words[0]);
	spec->created_ms = clock_wall_ms();
	if (!apply_options(args, spec, e) || !vm_make_policy(&policy, config, allow->values, allow->count, e))
		return false;
	bool fine = setup_check_image(spec->image, e) && vm_make_state(spec, &policy, e);
	policy_finish(&policy);
	return fine;
}

/* "; --memory is ignored", "; --allow is ignored: ccvm allow NAME HOST": what was asked for and does not happen. */
static void tell_ignored(const struct args *args, const char *vm, struct err *e)
{
	struct str text = STR_INIT(300);
	for (size_t i = 0; i < ARRAY_LEN(SETTINGS); i++) {
		if (args_has(args, SETTINGS[i].option))
			str_appendf(&text, "%s--%s", text.len ? ", " : "; ignored: ", SETTINGS[i].option);
	}
	if (args_has(args, "allow"))
		str_appendf(&text, "%s--allow (while it runs: ccvm allow %s HOST)",
		            text.len ? ", " : "; ignored: ", vm);
	size_t len = strlen(e->msg);
	snprintf(e->msg + len, sizeof(e->msg) - len, "%s", text.s);
	str_finish(&text);
}

static bool refuse_running(struct cli *cli, const struct args *args, struct err *e)
{
	const char *vm = args->words[0];
	struct vm_list list;
	if (!vm_list_get(cli->loop, &list, e))
		return false;
	const struct vm_status *status = vm_list_find(&list, vm);
	bool runs = status && vm_state_is_live(status->state);
	if (runs) {
		err_set(e, ERR_BUSY, "VM %s is already running (%s)", vm, vm_state_name(status->state));
		tell_ignored(args, vm, e);
	}
	vm_list_finish(&list);
	return !runs;
}

/* Checks and makes; *made: there was no such VM before. */
static bool prepare(struct cli *cli, struct args *args, struct vm_spec *spec, bool *made, struct err *e)
{
	const char *vm = args->words[0];
	struct config config;
	struct err no_vm = ERR_INIT;
	char *program FREE_ON_EXIT = paths_program("ccvm-supervisor", e);
	if (!program || !setup_load_config(&config, e))
		return false;
	char *state_dir FREE_ON_EXIT = paths_vm_state(vm);
	bool known = setup_check_vm(vm, &no_vm);
	bool fine;
	if (known)
		fine = refuse_running(cli, args, e) && start_known(args, state_dir, spec, e);
	else
		fine = make_new(args, &config, spec, e);
	*made = fine && !known;
	config_finish(&config);
	return fine;
}

/* What is wrong with the command line itself, whatever the machine looks like. */
static bool check_usage(const struct args *args, struct err *e)
{
	struct config builtin;
	struct policy policy;
	const struct arg_values *allow = args_list(args, "allow");
	config_init(&builtin);
	struct vm_spec spec = builtin.defaults;
	if (!parse_name("VM name", args->words[0], e))
		return false;
	set_text(spec.name, sizeof(spec.name), args->words[0]);
	if (!apply_options(args, &spec, e) ||
	    !vm_make_policy(&policy, &builtin, allow->values, allow->count, e))
		return false;
	policy_finish(&policy);
	return true;
}

static int run(struct cli *cli, struct args *args)
{
	struct vm_spec spec;
	struct err e = ERR_INIT, ignored = ERR_INIT;
	bool made = false;
	if (!check_usage(args, &e))
		return cli_usage_error(cli, &e);
	if (!prepare(cli, args, &spec, &made, &e))
		return cli_error(cli, &e);
	enum boot_end end = boot_vm(cli->loop, &spec, &e);
	if (end == BOOT_NOT_STARTED && made && !vm_end_remove(spec.name, &ignored))
		err_wrap(&e, "%s", ignored.msg); /* nothing half-made stays, or at least it is told */
	if (end != BOOT_READY)
		cli_error(cli, &e);
	return end == BOOT_READY ? CLI_OK : end == BOOT_INTERRUPTED ? 128 + SIGINT : CLI_FAILED;
}

const struct command command_up = {
    .name = "up",
    .usage = "NAME [--image IMAGE] [--allow HOST[:PORT]]... [--memory SIZE] [--cpus N] [--disk SIZE] ...",
    .summary = "make a VM, or start one again, and wait until it is ready",
    .details = "A new VM may reach the hosts that ccvm.ini allows and those given with --allow, nothing "
               "else. The other\n"
               "options are fixed when the VM is made; what is left out is taken from ccvm.ini. Exit status "
               "1 when the VM\n"
               "does not become ready, and also when it runs but its way out does not work.\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
