/* image: the guest images that VMs are made from. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/cli/cli.h"
#include "core/cli/format.h"
#include "core/cli/image_use.h"
#include "core/cli/litter.h"
#include "core/cli/progress.h"
#include "core/cli/columns.h"
#include "core/config/paths.h"
#include "core/image/build.h"
#include "core/image/image.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"

static const struct arg_option OPTIONS[] = {
    {.name = "json", .kind = ARG_FLAG, .help = "as JSON (ls)"},
    {.name = "fresh", .kind = ARG_FLAG, .help = "build every part again (build)"},
    {.name = "force", .letter = 'f', .kind = ARG_FLAG, .help = "although VMs are made from it (rm)"},
    {.name = NULL},
};

/* ---- build ---- */

struct build {
	struct progress progress;
	struct image_build *running;
	bool fresh, done, reused;
	int signum;
	struct err why;
};

static void on_progress(void *arg, unsigned step, unsigned steps, const char *line)
{
	struct build *b = arg;
	progress_say(&b->progress, "[%u/%u] %s", step, steps, line);
}

static void on_built(void *arg, bool reused, const struct err *e)
{
	struct build *b = arg;
	b->done = true;
	b->reused = reused;
	if (e)
		b->why = *e;
}

static void on_signal(void *arg, int signum)
{
	struct build *b = arg;
	b->signum = signum;
	image_build_cancel(b->running);
}

static bool wait_for_build(struct cli *cli, const char *name, struct build *b, struct err *e)
{
	static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, 0};
	char *recipe FREE_ON_EXIT = paths_recipe(name, e);
	char *guest FREE_ON_EXIT = recipe ? paths_program("ccvm-guest", e) : NULL;
	char *images FREE_ON_EXIT = paths_images_dir();
	char *cache FREE_ON_EXIT = paths_cache_dir();
	if (!guest)
		return false;
	struct image_build_options options = {.recipe_path = recipe,
	                                      .images_dir = images,
	                                      .cache_dir = cache,
	                                      .guest_program = guest,
	                                      .fresh = b->fresh,
	                                      .on_progress = on_progress};
	b->running = image_build_start(cli->loop, name, &options, on_built, b, e);
	if (!b->running)
		return false;
	struct signals *signals = signals_open(cli->loop, SIGNALS, on_signal, b);
	while (!b->done)
		loop_turn(cli->loop, false);
	signals_close(signals);
	image_build_close(b->running);
	if (b->why.kind != ERR_NONE)
		*e = b->why;
	return b->why.kind == ERR_NONE;
}

static int build(struct cli *cli, struct args *args, const char *name)
{
	struct build b = {.fresh = args_has(args, "fresh")};
	struct err e = ERR_INIT;
	char took[FORMAT_SIZE];
	if (!parse_name("image name", name, &e))
		return cli_usage_error(cli, &e);
	progress_start(&b.progress);
	bool fine = wait_for_build(cli, name, &b, &e);
	progress_end(&b.progress);
	if (!fine) {
		cli_error(cli, &e);
		return b.signum ? 128 + b.signum : CLI_FAILED;
	}
	format_duration(took, progress_ms(&b.progress));
	if (b.reused)
		printf("image %s is up to date\n", name);
	else
		printf("image %s built in %s\n", name, took);
	return CLI_OK;
}

/* ---- ls ---- */

static void print_json(const struct image_entry *entries, size_t count)
{
	cJSON *all = cJSON_CreateArray();
	for (size_t i = 0; i < count; i++) {
		const struct image *image = &entries[i].image;
		cJSON *o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "name", image->name);
		format_add_time(o, "built", image->built_ms);
		cJSON_AddNumberToObject(o, "size_bytes", (double)image_size_bytes(image));
		cJSON *parts = cJSON_AddArrayToObject(o, "parts");
		for (size_t p = 0; p < image->part_count; p++) {
			cJSON *part = cJSON_CreateObject();
			cJSON_AddStringToObject(part, "file", image->parts[p].file);
			cJSON_AddNumberToObject(part, "size_bytes", (double)image->parts[p].size_bytes);
			cJSON_AddStringToObject(part, "sha256", image->parts[p].sha256);
			cJSON_AddItemToArray(parts, part);
		}
		if (entries[i].error)
			cJSON_AddStringToObject(o, "error", entries[i].error);
		else
			cJSON_AddNullToObject(o, "error");
		cJSON_AddItemToArray(all, o);
	}
	format_print_json(all);
}

static void print_table(const struct image_entry *entries, size_t count)
{
	static const char *const HEADS[] = {"NAME", ">SIZE", "LAYERS", "BUILT", "ERROR", NULL};
	struct columns t;
	struct str text = STR_INIT(1024 * 1024);
	columns_init(&t, HEADS);
	for (size_t i = 0; i < count; i++) {
		const struct image *image = &entries[i].image;
		char size[FORMAT_SIZE], built[FORMAT_SIZE];
		format_bytes(size, image_size_bytes(image));
		format_time(built, image->built_ms, clock_wall_ms());
		columns_add(&t, image->name);
		columns_add(&t, entries[i].error ? "-" : size);
		columns_addf(&t, "%zu", image->layer_count);
		columns_add(&t, entries[i].error ? "-" : built);
		columns_add(&t, entries[i].error);
	}
	columns_render(&t, &text);
	fputs(text.s, stdout);
	str_finish(&text);
	columns_finish(&t);
}

static int list(struct cli *cli, struct args *args, const char *name)
{
	struct image_entry *entries;
	size_t count;
	struct err e = ERR_INIT;
	char *images FREE_ON_EXIT = paths_images_dir();
	(void)name;
	if (!image_list(images, &entries, &count, &e))
		return cli_error(cli, &e);
	if (args_has(args, "json")) {
		print_json(entries, count);
	} else if (count == 0) {
		fprintf(stderr, "No images. This makes one: ccvm image build base\n");
	} else {
		print_table(entries, count);
	}
	image_list_free(entries, count);
	return CLI_OK;
}

/* ---- verify, rm ---- */

static int verify(struct cli *cli, struct args *args, const char *name)
{
	struct image image = {0};
	struct err e = ERR_INIT;
	char *images FREE_ON_EXIT = paths_images_dir();
	(void)args;
	if (!parse_name("image name", name, &e))
		return cli_usage_error(cli, &e);
	bool fine = image_load(images, name, &image, &e) && image_verify(&image, true, &e);
	if (fine)
		printf("image %s: %zu parts are as they were built\n", name, image.part_count);
	image_finish(&image);
	return fine ? CLI_OK : cli_error(cli, &e);
}

static bool remove_image(const char *name, bool force, struct err *e)
{
	char user[VM_NAME_MAX + 1];
	char *images FREE_ON_EXIT = paths_images_dir();
	char *dir FREE_ON_EXIT = paths_join(images, name);
	char *gone FREE_ON_EXIT = litter_name(images, name);
	if (access(dir, F_OK) != 0)
		return err_set(e, ERR_NOT_FOUND, "no image '%s' (ccvm image ls lists them)", name);
	if (!force && image_use_find(name, user))
		return err_set(e, ERR_BUSY, "VM %s is made from image %s: ccvm rm %s first, or --force", user,
		               name, user);
	if (rename(dir, gone) != 0)
		return err_sys(e, errno, "remove image %s", name);
	return fd_remove_tree(gone, e);
}

static int rm(struct cli *cli, struct args *args, const char *name)
{
	struct err e = ERR_INIT;
	if (!parse_name("image name", name, &e))
		return cli_usage_error(cli, &e);
	if (!remove_image(name, args_has(args, "force"), &e))
		return cli_error(cli, &e);
	printf("image %s: removed\n", name);
	return CLI_OK;
}

static const struct {
	const char *verb;
	bool takes_name;
	int (*run)(struct cli *cli, struct args *args, const char *name);
} VERBS[] = {
    {"build", true, build},   {"ls", false, list}, {"list", false, list},
    {"verify", true, verify}, {"rm", true, rm},
};

static int run(struct cli *cli, struct args *args)
{
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(VERBS); i++) {
		if (strcmp(args->words[0], VERBS[i].verb) != 0)
			continue;
		if (args->word_count == (VERBS[i].takes_name ? 2u : 1u))
			return VERBS[i].run(cli, args, args->words[1]);
		err_set(&e, ERR_INVALID, "usage: ccvm image %s%s", VERBS[i].verb,
		        VERBS[i].takes_name ? " IMAGE" : "");
		return cli_usage_error(cli, &e);
	}
	err_set(&e, ERR_INVALID, "'%.40s' is not build, ls, verify or rm", args->words[0]);
	return cli_usage_error(cli, &e);
}

const struct command command_image = {
    .name = "image",
    .usage = "build IMAGE | ls [--json] | verify IMAGE | rm IMAGE [--force]",
    .summary = "build, list, check and remove guest images",
    .details = "build takes over what has not changed since the last build, without network or work. verify "
               "reads every\n"
               "part and compares it with the digest that was written when it was built.\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = 2,
    .run = run,
};
