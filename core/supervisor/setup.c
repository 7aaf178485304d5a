#include "core/supervisor/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/backend/disk.h"
#include "core/base/mem.h"
#include "core/loop/work.h"

/* Belongs to the thread while it runs, so it holds copies only. */
struct image_check {
	struct setup *setup; /* NULL: cancelled; only the loop looks at it */
	char *images_dir;
	char name[VM_NAME_MAX + 1];
	struct image image;
	struct err e;
};

struct setup {
	struct loop *loop;
	const struct places *places;
	const struct vm_spec *spec;
	struct image_check *check;
	struct disk_job *disk;
	struct backend_choosing *choosing;
	struct setup_result result;
	const struct setup_ops *ops;
	void *arg;
};

static void finish(struct setup *s, const struct err *e)
{
	if (e)
		image_finish(&s->result.image);
	s->ops->on_done(s->arg, e ? NULL : &s->result, e);
	free(s);
}

/* ---- backend ---- */

static void on_choosing(void *arg, const char *text)
{
	struct setup *s = arg;
	s->ops->on_progress(s->arg, text);
}

static void on_chosen(void *arg, const struct backend_choice *choice, const struct err *e)
{
	struct setup *s = arg;
	s->choosing = NULL;
	if (choice)
		s->result.backend = *choice;
	finish(s, e);
}

static void choose_backend(struct setup *s)
{
	s->choosing =
	    backend_choose(s->loop, s->spec->backend, s->result.image.kernel, s->result.image.initramfs,
	                   s->places->backend_memory, on_choosing, on_chosen, s);
}

/* ---- disk ---- */

static void on_disk(void *arg, const struct err *e)
{
	struct setup *s = arg;
	s->disk = NULL;
	if (e)
		finish(s, e);
	else
		choose_backend(s);
}

static void make_disk(struct setup *s)
{
	struct err e = ERR_INIT;
	if (access(s->places->disk, F_OK) == 0) {
		choose_backend(s);
		return;
	}
	s->ops->on_progress(s->arg, "making the disk");
	s->disk = disk_create(s->loop, s->places->disk, s->spec->disk_bytes, on_disk, s, &e);
	if (!s->disk)
		finish(s, &e);
}

/* ---- image ---- */

static void check_image(void *arg)
{
	struct image_check *c = arg;
	if (image_load(c->images_dir, c->name, &c->image, &c->e) && image_verify(&c->image, false, &c->e))
		return;
	CHECK(c->e.kind != ERR_NONE);
}

static void on_image_checked(void *arg)
{
	struct image_check *c = arg;
	struct setup *s = c->setup;
	struct err e = c->e;
	if (s && e.kind == ERR_NONE) {
		s->result.image = c->image;
		c->image = (struct image){0};
	}
	image_finish(&c->image);
	free(c->images_dir);
	free(c);
	if (!s)
		return;
	s->check = NULL;
	if (e.kind != ERR_NONE)
		finish(s, &e);
	else
		make_disk(s);
}

struct setup *setup_start(struct loop *loop, const struct places *places, const struct vm_spec *spec,
                          const struct setup_ops *ops, void *arg)
{
	struct setup *s = mem_alloc(sizeof(*s));
	s->loop = loop;
	s->places = places;
	s->spec = spec;
	s->ops = ops;
	s->arg = arg;
	s->check = mem_alloc(sizeof(*s->check));
	s->check->setup = s;
	s->check->images_dir = mem_strdup(places->images_dir);
	snprintf(s->check->name, sizeof(s->check->name), "%s", spec->image);
	work_start(loop, check_image, on_image_checked, s->check);
	return s;
}

void setup_cancel(struct setup *s)
{
	if (!s)
		return;
	if (s->check)
		s->check->setup = NULL;
	disk_cancel(s->disk);
	backend_choose_cancel(s->choosing);
	image_finish(&s->result.image);
	free(s);
}
