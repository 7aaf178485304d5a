/* Guest images on disk: `<images>/<name>/` holds a kernel, an initramfs, read-only layers and image.json.
 *
 * image.json names each part with its size, its SHA-256 and a digest of what it was built from. It is read
 * strictly: an unknown key, a part that points out of the folder or a wrong type refuses the image. The parts
 * are shared by all VMs and never written after the build, which replaces the whole folder at once. */
#ifndef CCVM_IMAGE_IMAGE_H
#define CCVM_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/parse.h" /* VM_NAME_MAX */

#define IMAGE_MOST_LAYERS 8
#define IMAGE_MOST_PARTS  (IMAGE_MOST_LAYERS + 2)
#define IMAGE_DIGEST_SIZE 65 /* SHA-256 in lower-case hex and a NUL */
#define IMAGE_MANIFEST    "image.json"

enum image_kind { IMAGE_KERNEL, IMAGE_INITRAMFS, IMAGE_LAYER };

struct image_part {
	enum image_kind kind;
	char file[64]; /* a plain name in the image's folder */
	uint64_t size_bytes;
	char sha256[IMAGE_DIGEST_SIZE];
	char inputs
	    [IMAGE_DIGEST_SIZE]; /* of what the part was made from: unchanged means no need to build it again */
};

struct image {
	char name[VM_NAME_MAX + 1];
	int64_t built_ms; /* wall clock */
	char *dir;        /* owned; the folder of the image */
	char *kernel;     /* owned paths */
	char *initramfs;
	char *layers[IMAGE_MOST_LAYERS]; /* lowest first */
	size_t layer_count;
	struct image_part parts[IMAGE_MOST_PARTS];
	size_t part_count;
};

/* Reads `<images_dir>/<name>/image.json` and looks whether each part is there with the right size (no
 * hashing). No such image is ERR_NOT_FOUND with a text that says how to build it. On success image_finish
 * releases. */
bool image_load(const char *images_dir, const char *name, struct image *out, struct err *e) MUST_USE;
void image_finish(struct image *image); /* a zeroed one is fine */

/* Compares each part with its SHA-256 and names the file that differs (ERR_INVALID). A part that was right
 * before and has had the same inode, size and times since is not read again, unless `full`. Blocks for a
 * second at most per GB. */
bool image_verify(const struct image *image, bool full, struct err *e) MUST_USE;

/* All images, by name. A broken one has `error` set and only its name filled in. */
struct image_entry {
	struct image image;
	char *error; /* owned, or NULL */
};
/* A missing folder is an empty list. Free with image_list_free. */
bool image_list(const char *images_dir, struct image_entry **out, size_t *count, struct err *e) MUST_USE;
void image_list_free(struct image_entry *entries, size_t count);

uint64_t image_size_bytes(const struct image *image);

#endif
