#include "core/image/image.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/image/manifest.h"

static bool check_size(const char *path, const struct image_part *p, struct err *e)
{
	struct stat st;
	if (lstat(path, &st) != 0)
		return errno == ENOENT ? err_set(e, ERR_INVALID, "%s is missing: build the image again", path)
		                       : err_sys(e, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s is not a regular file", path);
	if ((uint64_t)st.st_size != p->size_bytes)
		return err_set(e, ERR_INVALID, "%s has %llu bytes instead of %llu: build the image again",
		               path, (unsigned long long)st.st_size, (unsigned long long)p->size_bytes);
	return true;
}

static bool find_parts(struct image *image, struct err *e)
{
	for (size_t i = 0; i < image->part_count; i++) {
		const struct image_part *p = &image->parts[i];
		char *path = mem_printf("%s/%s", image->dir, p->file);
		switch (p->kind) {
		case IMAGE_KERNEL: image->kernel = path; break;
		case IMAGE_INITRAMFS: image->initramfs = path; break;
		case IMAGE_LAYER: image->layers[image->layer_count++] = path; break;
		}
		if (!check_size(path, p, e))
			return false;
	}
	return true;
}

bool image_load(const char *images_dir, const char *name, struct image *out, struct err *e)
{
	struct image image = {0};
	if (!parse_name("image name", name, e))
		return false;
	char *path FREE_ON_EXIT = mem_printf("%s/%s/%s", images_dir, name, IMAGE_MANIFEST);
	size_t len;
	struct err failed = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(path, MANIFEST_MAX, &len, &failed);
	if (!text && failed.kind == ERR_NOT_FOUND)
		return err_set(e, ERR_NOT_FOUND, "no image %s: build it with 'ccvm image build %s'", name,
		               name);
	bool ok = text && manifest_parse(path, text, len, &image, &failed);
	if (ok && strcmp(image.name, name) != 0)
		ok = err_set(&failed, ERR_INVALID, "%s describes the image %s", path, image.name);
	if (ok) {
		image.dir = mem_printf("%s/%s", images_dir, name);
		ok = find_parts(&image, &failed);
	}
	if (!ok) {
		image_finish(&image);
		*e = failed;
		return err_wrap(e, "image %s", name);
	}
	*out = image;
	return true;
}

void image_finish(struct image *image)
{
	free(image->dir);
	free(image->kernel);
	free(image->initramfs);
	for (size_t i = 0; i < image->layer_count; i++)
		free(image->layers[i]);
	*image = (struct image){0};
}

uint64_t image_size_bytes(const struct image *image)
{
	uint64_t total = 0;
	for (size_t i = 0; i < image->part_count; i++)
		total += image->parts[i].size_bytes;
	return total;
}

static int by_name(const void *a, const void *b)
{
	const struct image_entry *x = a, *y = b;
	return strcmp(x->image.name, y->image.name);
}

static struct image_entry read_entry(const char *images_dir, const char *name)
{
	struct image_entry entry = {0};
	struct err e = ERR_INIT;
	if (!image_load(images_dir, name, &entry.image, &e)) {
		snprintf(entry.image.name, sizeof(entry.image.name), "%s", name);
		entry.error = mem_strdup(e.msg);
	}
	return entry;
}

bool image_list(const char *images_dir, struct image_entry **out, size_t *count, struct err *e)
{
	struct image_entry *entries = NULL;
	size_t n = 0;
	DIR *d = opendir(images_dir);
	if (!d && errno != ENOENT)
		return err_sys(e, errno, "read %s", images_dir);
	for (struct dirent *ent; d && (ent = readdir(d));) {
		struct err not_ours = ERR_INIT;
		if (!parse_name("image name", ent->d_name, &not_ours))
			continue; /* half-built ones and locks begin with a dot */
		entries = mem_resize(entries, n + 1, sizeof(*entries));
		entries[n++] = read_entry(images_dir, ent->d_name);
	}
	if (d)
		closedir(d);
	if (n)
		qsort(entries, n, sizeof(*entries), by_name);
	*out = entries;
	*count = n;
	return true;
}

void image_list_free(struct image_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		image_finish(&entries[i].image);
		free(entries[i].error);
	}
	free(entries);
}
