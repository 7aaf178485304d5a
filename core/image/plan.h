/* The steps of a build, as data: which commands run with which arguments, and what is done with their output.
 * build.c runs them. Each step sees only the plan and the files of its work folder. */
#ifndef CCVM_IMAGE_PLAN_H
#define CCVM_IMAGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/image/digest.h"
#include "core/image/image.h"
#include "core/image/recipe.h"

/* What has to be made; the rest is taken over from the old image or the cache. */
enum plan_unit {
	PLAN_KERNEL_FILES, /* kernel and modules, unpacked in the cache */
	PLAN_BOOT,         /* the parts kernel and initramfs */
	PLAN_LAYER,        /* the part with the distribution's packages */
	PLAN_UNITS
};

struct plan {
	struct recipe recipe;
	char *name, *cache_dir, *guest_program; /* owned */
	char *work;                             /* owned; the folder that becomes the image */
	char *kernel_dir;                       /* owned; in the cache: vmlinuz and NAME.ko files */
	char *kernel_package;                   /* owned; the real one, once looked up */
	bool needs[PLAN_UNITS];
	struct image_part kernel, initramfs, layer; /* of the new image */
};

/* Works out what has to be made. `old` may be NULL: no old image, or none to rely on. `fresh`: make it all
 * again. The plan takes `recipe`, also on failure. */
bool plan_init(struct plan *p, const char *name, struct recipe *recipe, const char *images_dir,
               const char *cache_dir, const char *guest_program, const struct image *old, bool fresh,
               struct err *e) MUST_USE;
void plan_finish(struct plan *p);
bool plan_is_empty(const struct plan *p);

#define COMMAND_MOST_ARGS 64

struct command {
	char *argv[COMMAND_MOST_ARGS + 1]; /* owned, NULL-terminated */
	size_t argc;
	char *in, *out; /* owned paths for its standard input and output, or NULL */
};

void command_finish(struct command *c);

struct step {
	enum plan_unit unit;
	const char *title;
	const char *package;                                        /* the Debian package of the command */
	void (*command)(const struct plan *p, struct command *out); /* NULL: nothing to run */
	bool (*after)(struct plan *p, struct err *e);               /* NULL: nothing more to do */
};

/* In order. */
extern const struct step PLAN_STEPS[];
extern const size_t PLAN_STEP_COUNT;

/* The last act in the work folder: takes over what was not made from the old image, and writes image.json. */
bool plan_complete(struct plan *p, const struct image *old, struct err *e) MUST_USE;

#endif
