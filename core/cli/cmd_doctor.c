/* doctor: is this machine able to run VMs, and is anything left over that should not be? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend/doctor.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/cli/cli.h"
#include "core/cli/format.h"
#include "core/cli/litter.h"
#include "core/cli/setup.h"
#include "core/config/paths.h"
#include "core/image/image.h"

static const struct arg_option OPTIONS[] = {
    {.name = "json", .kind = ARG_FLAG, .help = "as JSON"},
    {.name = "gc", .kind = ARG_FLAG, .help = "look for what a power cut has left, and tell"},
    {.name = "yes", .letter = 'y', .kind = ARG_FLAG, .help = "with --gc: remove it"},
    {.name = NULL},
};

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };
static const char *const VERDICTS[] = {[VERDICT_OK] = "ok", [VERDICT_WARN] = "warn", [VERDICT_FAIL] = "fail"};

struct report {
	cJSON *json; /* NULL: as text */
	bool failed;
};

static void tell(struct report *r, const char *name, enum verdict verdict, const char *text)
{
	r->failed = r->failed || verdict == VERDICT_FAIL;
	if (!r->json) {
		printf("%-5s %-12s %s\n", VERDICTS[verdict], name, text);
		return;
	}
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "check", name);
	cJSON_AddStringToObject(o, "verdict", VERDICTS[verdict]);
	cJSON_AddStringToObject(o, "text", text);
	cJSON_AddItemToArray(r->json, o);
}

/* ---- the checks ---- */

static void check_backend(struct report *r)
{
	struct backend_facts facts;
	char *cache FREE_ON_EXIT = paths_cache_dir();
	char *memory FREE_ON_EXIT = paths_join(cache, "backend");
	backend_doctor(memory, &facts);
	tell(r, "qemu", facts.qemu[0] == '/' ? VERDICT_OK : VERDICT_FAIL, facts.qemu);
	tell(r, "firmware", facts.firmware[0] == '/' ? VERDICT_OK : VERDICT_WARN, facts.firmware);
	tell(r, "mkfs", facts.mkfs[0] == '/' ? VERDICT_OK : VERDICT_FAIL, facts.mkfs);
	tell(r, "kvm", strcmp(facts.kvm, "/dev/kvm opens") == 0 ? VERDICT_OK : VERDICT_WARN, facts.kvm);
	tell(r, "accelerator", VERDICT_OK, facts.accelerator);
}

static void check_programs(struct report *r)
{
	static const char *const OURS[] = {"ccvm-supervisor", "ccvm-proxy", "ccvm-vsock", "ccvm-guest"};
	for (size_t i = 0; i < ARRAY_LEN(OURS); i++) {
		struct err e = ERR_INIT;
		char *path FREE_ON_EXIT = paths_program(OURS[i], &e);
		tell(r, OURS[i] + strlen("ccvm-"), path ? VERDICT_OK : VERDICT_FAIL, path ? path : e.msg);
	}
}

static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	char *copy FREE_ON_EXIT = mem_strdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	char *rest = copy;
	for (const char *dir = strsep(&rest, ":"); dir; dir = strsep(&rest, ":")) {
		char *full FREE_ON_EXIT = paths_join(dir, program);
		if (access(full, X_OK) == 0)
			return true;
	}
	return false;
}

/* Without these VMs run, but no image can be built. */
static void check_builders(struct report *r)
{
	static const char *const TOOLS[] = {"mmdebstrap", "mksquashfs", "apt-get", "dpkg-deb"};
	char missing[128] = "";
	for (size_t i = 0; i < ARRAY_LEN(TOOLS); i++) {
		size_t len = strlen(missing);
		if (!is_in_path(TOOLS[i]))
			snprintf(missing + len, sizeof(missing) - len, " %s", TOOLS[i]);
	}
	char text[160];
	snprintf(text, sizeof(text), missing[0] ? "not found, so images cannot be built:%s" : "all found%s",
	         missing);
	tell(r, "image tools", missing[0] ? VERDICT_WARN : VERDICT_OK, text);
}

static void check_folders(struct report *r)
{
	struct err e = ERR_INIT;
	char *runtime FREE_ON_EXIT = paths_runtime_dir(&e);
	tell(r, "runtime", runtime ? VERDICT_OK : VERDICT_FAIL, runtime ? runtime : e.msg);
	struct err e2 = ERR_INIT;
	char *state FREE_ON_EXIT = paths_state_dir();
	bool writable = fd_make_dirs(state, 0700, &e2) && access(state, W_OK) == 0;
	tell(r, "state", writable ? VERDICT_OK : VERDICT_FAIL, e2.kind ? e2.msg : state);
}

static void check_config(struct report *r)
{
	struct config config;
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = paths_config_file();
	bool fine = setup_load_config(&config, &e);
	bool there = access(path, F_OK) == 0;
	char *text FREE_ON_EXIT =
	    fine && !there ? mem_printf("%s: none, built-in settings", path) : mem_strdup(path);
	tell(r, "config", fine ? VERDICT_OK : VERDICT_FAIL, fine ? text : e.msg);
	if (fine)
		config_finish(&config);
}

static void check_images(struct report *r)
{
	struct image_entry *entries;
	size_t count;
	struct err e = ERR_INIT;
	char *dir FREE_ON_EXIT = paths_images_dir();
	if (!image_list(dir, &entries, &count, &e)) {
		tell(r, "image", VERDICT_FAIL, e.msg);
		return;
	}
	if (count == 0)
		tell(r, "image", VERDICT_WARN, "none yet: ccvm image build base");
	for (size_t i = 0; i < count; i++) {
		struct err why = ERR_INIT;
		bool fine = !entries[i].error && image_verify(&entries[i].image, false, &why);
		char *text FREE_ON_EXIT =
		    fine ? mem_printf("%s: every part is as it was built", entries[i].image.name)
		         : mem_strdup(entries[i].error ? entries[i].error : why.msg);
		tell(r, "image", fine ? VERDICT_OK : VERDICT_FAIL, text);
	}
	image_list_free(entries, count);
}

static int diagnose(bool json)
{
	static void (*const CHECKS[])(struct report * r) = {check_programs, check_backend, check_builders,
	                                                    check_folders,  check_config,  check_images};
	struct report r = {.json = json ? cJSON_CreateArray() : NULL};
	for (size_t i = 0; i < ARRAY_LEN(CHECKS); i++)
		CHECKS[i](&r);
	if (json)
		format_print_json(r.json);
	return r.failed ? CLI_FAILED : CLI_OK;
}

/* ---- what is left over ---- */

static const char *clean_one(const struct litter *l, bool yes, char *why, size_t size, bool *failed)
{
	struct err e = ERR_INIT;
	why[0] = '\0';
	if (!yes)
		return "found";
	if (litter_remove(l, &e))
		return "removed";
	snprintf(why, size, "%s", e.msg);
	if (e.kind == ERR_BUSY)
		return "in use";
	*failed = true;
	return "failed";
}

static int collect(struct cli *cli, bool yes, bool json)
{
	struct litter_list list;
	struct err e = ERR_INIT;
	bool failed = false;
	if (!litter_find(&list, &e))
		return cli_error(cli, &e);
	cJSON *all = json ? cJSON_CreateArray() : NULL;
	for (size_t i = 0; i < list.count; i++) {
		char why[sizeof(e.msg)];
		const struct litter *l = &list.items[i];
		const char *word = clean_one(l, yes, why, sizeof(why), &failed);
		if (!json) {
			printf("%-8s %s (%s)%s%s\n", word, l->path, l->what, why[0] ? ": " : "", why);
			continue;
		}
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "path", l->path);
		cJSON_AddStringToObject(o, "what", l->what);
		cJSON_AddStringToObject(o, "result", word);
		cJSON_AddStringToObject(o, "error", why);
		cJSON_AddItemToArray(all, o);
	}
	if (json)
		format_print_json(all);
	else if (list.count == 0)
		printf("nothing is left over\n");
	else if (!yes)
		fprintf(stderr, "Nothing was removed. This does it: ccvm doctor --gc --yes\n");
	litter_finish(&list);
	return failed ? CLI_FAILED : CLI_OK;
}

static int run(struct cli *cli, struct args *args)
{
	struct err e = ERR_INIT;
	if (args_has(args, "gc"))
		return collect(cli, args_has(args, "yes"), args_has(args, "json"));
	if (args_has(args, "yes")) {
		err_set(&e, ERR_INVALID, "--yes belongs to --gc");
		return cli_usage_error(cli, &e);
	}
	return diagnose(args_has(args, "json"));
}

const struct command command_doctor = {
    .name = "doctor",
    .usage = "[--gc [--yes]] [--json]",
    .summary = "check this machine; find what a power cut has left",
    .details = "Each check says ok, warn or fail; exit status 1 when one fails. --gc removes nothing without "
               "--yes, and\n"
               "never what a running VM holds.\n",
    .options = OPTIONS,
    .run = run,
};
