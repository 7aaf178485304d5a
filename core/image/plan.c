#include "core/image/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/image/manifest.h"

/* Part of every digest of inputs: when a step does something else with the same inputs, this changes. */
#define METHOD "1"

#define KERNEL_FILE    "vmlinuz"
#define INITRAMFS_FILE "initramfs.cpio"
#define LAYER_FILE     "base.squashfs"

static void add_list(struct digest *d, const char *title, const struct recipe_list *list)
{
	digest_add(d, title);
	for (size_t i = 0; i < list->count; i++)
		digest_add(d, list->values[i]);
}

static void kernel_inputs(const struct recipe *r, char out[DIGEST_SIZE])
{
	struct digest *d = digest_create();
	digest_add(d, "kernel " METHOD);
	digest_add(d, r->kernel_package);
	add_list(d, "modules", &r->modules);
	digest_finish(d, out);
}

static void initramfs_inputs(const struct recipe *r, const char *guest_sha256, const char *kernel_sha256,
                             char out[DIGEST_SIZE])
{
	struct digest *d = digest_create();
	digest_add(d, "initramfs " METHOD " unsigned");
	digest_add(d, guest_sha256);
	digest_add(d, kernel_sha256);
	add_list(d, "modules", &r->modules);
	digest_finish(d, out);
}

static void layer_inputs(const struct recipe *r, char out[DIGEST_SIZE])
{
	struct digest *d = digest_create();
	digest_add(d, "layer " METHOD " linked names");
	add_list(d, "packages", &r->packages);
	add_list(d, "excludes", &r->excludes);
	digest_finish(d, out);
}

static struct image_part new_part(enum image_kind kind, const char *file)
{
	struct image_part p = {.kind = kind};
	memcpy(p.file, file, strlen(file) + 1);
	return p;
}

static const struct image_part *old_part(const struct image *old, enum image_kind kind)
{
	for (size_t i = 0; old && i < old->part_count; i++) {
		if (old->parts[i].kind == kind)
			return &old->parts[i];
	}
	return NULL;
}

static bool is_unchanged(const struct image *old, const struct image_part *p)
{
	const struct image_part *before = old_part(old, p->kind);
	return before && strcmp(before->inputs, p->inputs) == 0;
}

bool plan_init(struct plan *p, const char *name, struct recipe *recipe, const char *images_dir,
               const char *cache_dir, const char *guest_program, const struct image *old, bool fresh,
               struct err *e)
{
	*p = (struct plan){.recipe = *recipe};
	*recipe = (struct recipe){0};
	p->name = mem_strdup(name);
	p->cache_dir = mem_strdup(cache_dir);
	p->guest_program = mem_strdup(guest_program);
	p->work = mem_printf("%s/.build-%s", images_dir, name);
	p->kernel = new_part(IMAGE_KERNEL, KERNEL_FILE);
	p->initramfs = new_part(IMAGE_INITRAMFS, INITRAMFS_FILE);
	p->layer = new_part(IMAGE_LAYER, LAYER_FILE);
	char guest[DIGEST_SIZE];
	if (!digest_file(guest_program, guest, NULL, e)) {
		plan_finish(p);
		return false;
	}
	const struct image_part *kernel = old_part(old, IMAGE_KERNEL);
	kernel_inputs(&p->recipe, p->kernel.inputs);
	layer_inputs(&p->recipe, p->layer.inputs);
	initramfs_inputs(&p->recipe, guest, kernel ? kernel->sha256 : "", p->initramfs.inputs);
	p->kernel_dir = mem_printf("%s/kernel-%.16s", cache_dir, p->kernel.inputs);
	char *vmlinuz FREE_ON_EXIT = mem_printf("%s/%s", p->kernel_dir, KERNEL_FILE);
	p->needs[PLAN_LAYER] = fresh || !is_unchanged(old, &p->layer);
	p->needs[PLAN_BOOT] = fresh || !is_unchanged(old, &p->kernel) || !is_unchanged(old, &p->initramfs);
	p->needs[PLAN_KERNEL_FILES] = fresh || (p->needs[PLAN_BOOT] && access(vmlinuz, R_OK) != 0);
	return true;
}

void plan_finish(struct plan *p)
{
	recipe_finish(&p->recipe);
	free(p->name);
	free(p->cache_dir);
	free(p->guest_program);
	free(p->work);
	free(p->kernel_dir);
	free(p->kernel_package);
	*p = (struct plan){0};
}

bool plan_is_empty(const struct plan *p)
{
	for (size_t i = 0; i < PLAN_UNITS; i++) {
		if (p->needs[i])
			return false;
	}
	return true;
}

static bool sync_file(const char *path, struct err *e)
{
	int fd CLOSE_ON_EXIT = open(path, O_RDONLY | O_CLOEXEC);
	return (fd >= 0 && fsync(fd) == 0) || err_sys(e, errno, "write %s", path);
}

/* Made in the work folder: its digest, and on the disk for sure. */
static bool seal(const struct plan *p, struct image_part *part, struct err *e)
{
	char *path FREE_ON_EXIT = mem_printf("%s/%s", p->work, part->file);
	return digest_file(path, part->sha256, &part->size_bytes, e) && sync_file(path, e);
}

static bool take_over(const struct plan *p, const struct image *old, struct image_part *part, struct err *e)
{
	const struct image_part *before = old_part(old, part->kind);
	CHECK(before);
	char *from FREE_ON_EXIT = mem_printf("%s/%s", old->dir, before->file);
	char *to FREE_ON_EXIT = mem_printf("%s/%s", p->work, part->file);
	if (link(from, to) != 0)
		return err_sys(e, errno, "link %s to %s", from, to);
	memcpy(part->sha256, before->sha256, sizeof(part->sha256));
	part->size_bytes = before->size_bytes;
	return true;
}

bool plan_complete(struct plan *p, const struct image *old, struct err *e)
{
	char guest[DIGEST_SIZE];
	struct {
		struct image_part *part;
		bool made;
	} all[] = {
	    {&p->kernel, p->needs[PLAN_BOOT]},
	    {&p->initramfs, p->needs[PLAN_BOOT]},
	    {&p->layer, p->needs[PLAN_LAYER]},
	};
	struct image image = {.built_ms = clock_wall_ms()};
	memcpy(image.name, p->name, strlen(p->name) + 1);
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (!(all[i].made ? seal(p, all[i].part, e) : take_over(p, old, all[i].part, e)))
			return false;
	}
	/* Its inputs name the kernel that it goes with, which is known only now. */
	if (!digest_file(p->guest_program, guest, NULL, e))
		return false;
	initramfs_inputs(&p->recipe, guest, p->kernel.sha256, p->initramfs.inputs);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		image.parts[image.part_count++] = *all[i].part;
	char *manifest FREE_ON_EXIT = mem_printf("%s/%s", p->work, IMAGE_MANIFEST);
	return manifest_write(manifest, &image, e);
}
