#include "core/image/manifest.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/image/digest.h"

#define EXACT_MAX 9007199254740991.0 /* whole numbers up to here survive JSON */

static const char *const KIND_NAMES[] = {
    [IMAGE_KERNEL] = "kernel", [IMAGE_INITRAMFS] = "initramfs", [IMAGE_LAYER] = "layer"};

static_assert(IMAGE_DIGEST_SIZE == DIGEST_SIZE, "one size of digests");

static bool get_number(const cJSON *object, const char *key, double max, uint64_t *out)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= max) ||
	    item->valuedouble != (double)(uint64_t)item->valuedouble)
		return false;
	*out = (uint64_t)item->valuedouble;
	return true;
}

static bool get_text(const cJSON *object, const char *key, char *out, size_t size)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	if (!cJSON_IsString(item) || strlen(item->valuestring) >= size)
		return false;
	memcpy(out, item->valuestring, strlen(item->valuestring) + 1);
	return true;
}

static bool get_digest(const cJSON *object, const char *key, char out[IMAGE_DIGEST_SIZE])
{
	return get_text(object, key, out, IMAGE_DIGEST_SIZE) && digest_is_valid(out);
}

/* A plain name: no folder, nothing hidden, nothing that a message has to escape. */
static bool is_file_name(const char *name)
{
	return name[0] && name[0] != '.' && name[0] != '-' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-._")] == '\0';
}

static bool get_kind(const cJSON *object, enum image_kind *out)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "kind");
	for (size_t i = 0; cJSON_IsString(item) && i < ARRAY_LEN(KIND_NAMES); i++) {
		if (strcmp(item->valuestring, KIND_NAMES[i]) == 0) {
			*out = (enum image_kind)i;
			return true;
		}
	}
	return false;
}

static bool get_part(const cJSON *object, struct image_part *p)
{
	return cJSON_IsObject(object) && cJSON_GetArraySize(object) == 5 && get_kind(object, &p->kind) &&
	       get_text(object, "file", p->file, sizeof(p->file)) && is_file_name(p->file) &&
	       get_number(object, "size_bytes", EXACT_MAX, &p->size_bytes) &&
	       get_digest(object, "sha256", p->sha256) && get_digest(object, "inputs", p->inputs);
}

static bool get_parts(const cJSON *list, struct image *image)
{
	const cJSON *item;
	size_t count[ARRAY_LEN(KIND_NAMES)] = {0};
	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > IMAGE_MOST_PARTS)
		return false;
	cJSON_ArrayForEach(item, list)
	{
		struct image_part *p = &image->parts[image->part_count];
		if (!get_part(item, p))
			return false;
		for (size_t i = 0; i < image->part_count; i++) {
			if (strcmp(image->parts[i].file, p->file) == 0)
				return false;
		}
		count[p->kind]++;
		image->part_count++;
	}
	return count[IMAGE_KERNEL] == 1 && count[IMAGE_INITRAMFS] == 1 && count[IMAGE_LAYER] >= 1 &&
	       count[IMAGE_LAYER] <= IMAGE_MOST_LAYERS;
}

static bool get_image(const char *path, const cJSON *root, struct image *image, struct err *e)
{
	uint64_t format = 0, built = 0;
	struct err bad_name = ERR_INIT;
	if (!cJSON_IsObject(root) || !get_number(root, "format", 1000, &format))
		return err_set(e, ERR_INVALID, "%s does not describe an image", path);
	if (format != MANIFEST_FORMAT)
		return err_set(e, ERR_INVALID, "%s has format %u, not %u: build the image again", path,
		               (unsigned)format, MANIFEST_FORMAT);
	if (cJSON_GetArraySize(root) != 4)
		return err_set(e, ERR_INVALID, "%s: unknown or repeated keys", path);
	if (!get_text(root, "name", image->name, sizeof(image->name)) ||
	    !parse_name("image name", image->name, &bad_name))
		return err_set(e, ERR_INVALID, "%s: bad name", path);
	if (!get_number(root, "built_ms", EXACT_MAX, &built))
		return err_set(e, ERR_INVALID, "%s: bad built_ms", path);
	image->built_ms = (int64_t)built;
	if (!get_parts(cJSON_GetObjectItemCaseSensitive(root, "parts"), image))
		return err_set(e, ERR_INVALID, "%s: bad part %zu", path, image->part_count);
	return true;
}

bool manifest_parse(const char *path, const char *text, size_t len, struct image *out, struct err *e)
{
	struct image image = {0};
	if (len > MANIFEST_MAX)
		return err_set(e, ERR_LIMIT, "%s is larger than %d bytes", path, MANIFEST_MAX);
	char *copy FREE_ON_EXIT = mem_alloc(len + 1);
	if (len)
		memcpy(copy, text, len);
	cJSON *root = strlen(copy) == len ? cJSON_ParseWithLengthOpts(copy, len + 1, NULL, true) : NULL;
	if (!root)
		return err_set(e, ERR_INVALID, "%s is not JSON", path);
	bool ok = get_image(path, root, &image, e);
	cJSON_Delete(root);
	if (ok)
		*out = image;
	return ok;
}

bool manifest_write(const char *path, const struct image *image, struct err *e)
{
	struct str s = STR_INIT(MANIFEST_MAX);
	str_appendf(&s, "{\n  \"format\": %d,\n  \"name\": \"%s\",\n  \"built_ms\": %lld,\n  \"parts\": [\n",
	            MANIFEST_FORMAT, image->name, (long long)image->built_ms);
	for (size_t i = 0; i < image->part_count; i++) {
		const struct image_part *p = &image->parts[i];
		str_appendf(
		    &s,
		    "    {\n      \"kind\": \"%s\",\n      \"file\": \"%s\",\n      \"size_bytes\": %llu,\n"
		    "      \"sha256\": \"%s\",\n      \"inputs\": \"%s\"\n    }%s\n",
		    KIND_NAMES[p->kind], p->file, (unsigned long long)p->size_bytes, p->sha256, p->inputs,
		    i + 1 < image->part_count ? "," : "");
	}
	str_append(&s, "  ]\n}\n");
	CHECK(!s.overflow);
	bool ok = fd_write_file(path, s.s, s.len, 0644, e);
	str_finish(&s);
	return ok;
}
