/* core/image: what lies in an image's folder, and whether it is still what was built. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/image/cpio.h"
#include "core/image/digest.h"
#include "core/image/image.h"
#include "core/image/manifest.h"
#include "core/image/module.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct scene {
	char dir[64]; /* the images folder */
};

static int setup(void **state)
{
	struct scene *s = mem_alloc(sizeof(*s));
	snprintf(s->dir, sizeof(s->dir), "/tmp/ccvm-image-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	struct err e = ERR_INIT;
	assert_true(fd_remove_tree(s->dir, &e));
	free(s);
	return 0;
}

static void write_text(const char *path, const char *text)
{
	struct err e = ERR_INIT;
	assert_true(fd_write_file(path, text, strlen(text), 0644, &e));
}

static void make_part(const struct scene *s, const char *name, struct image *image, enum image_kind kind,
                      const char *file, const char *content)
{
	struct image_part *p = &image->parts[image->part_count++];
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = mem_printf("%s/%s/%s", s->dir, name, file);
	write_text(path, content);
	p->kind = kind;
	snprintf(p->file, sizeof(p->file), "%s", file);
	memcpy(p->inputs, HEX, sizeof(HEX));
	assert_true(digest_file(path, p->sha256, &p->size_bytes, &e));
}

static void make_image(const struct scene *s, const char *name)
{
	struct image image = {.built_ms = 1700000000123};
	struct err e = ERR_INIT;
	char *dir FREE_ON_EXIT = mem_printf("%s/%s", s->dir, name);
	char *manifest FREE_ON_EXIT = mem_printf("%s/%s", dir, IMAGE_MANIFEST);
	assert_int_equal(mkdir(dir, 0755), 0);
	snprintf(image.name, sizeof(image.name), "%s", name);
	make_part(s, name, &image, IMAGE_KERNEL, "vmlinuz", "kernel");
	make_part(s, name, &image, IMAGE_INITRAMFS, "initramfs.cpio", "init");
	make_part(s, name, &image, IMAGE_LAYER, "base.squashfs", "layer one");
	make_part(s, name, &image, IMAGE_LAYER, "tools.squashfs", "layer two");
	assert_true(manifest_write(manifest, &image, &e));
}

static bool load_and_verify(const struct scene *s, const char *name, bool full, struct err *e)
{
	struct image image;
	*e = (struct err)ERR_INIT;
	if (!image_load(s->dir, name, &image, e))
		return false;
	bool ok = image_verify(&image, full, e);
	image_finish(&image);
	return ok;
}

static void what_is_written_is_read(void **state)
{
	struct scene *s = *state;
	struct image image;
	struct err e = ERR_INIT;
	make_image(s, "base");
	assert_true(image_load(s->dir, "base", &image, &e));
	assert_string_equal(image.name, "base");
	assert_int_equal(image.built_ms, 1700000000123);
	assert_int_equal(image.layer_count, 2);
	char *lowest FREE_ON_EXIT = mem_printf("%s/base/base.squashfs", s->dir);
	char *kernel FREE_ON_EXIT = mem_printf("%s/base/vmlinuz", s->dir);
	assert_string_equal(image.layers[0], lowest);
	assert_string_equal(image.kernel, kernel);
	assert_int_equal(image_size_bytes(&image), 6 + 4 + 9 + 9);
	image_finish(&image);
	image_finish(&image);
}

static void a_missing_image_says_how_to_build_it(void **state)
{
	struct scene *s = *state;
	struct err e = ERR_INIT;
	struct image image;
	assert_false(image_load(s->dir, "nope", &image, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(e.msg, "ccvm image build nope"));
	err_clear(&e);
	assert_false(image_load(s->dir, "../x", &image, &e));
	assert_int_equal(e.kind, ERR_INVALID);
}

static void damage_is_found_and_named(void **state)
{
	struct scene *s = *state;
	struct err e;
	make_image(s, "base");
	assert_true(load_and_verify(s, "base", false, &e)); /* notes that all is well */
	assert_true(load_and_verify(s, "base", false, &e));
	char *path FREE_ON_EXIT = mem_printf("%s/base/tools.squashfs", s->dir);
	struct stat before;
	assert_int_equal(stat(path, &before), 0);
	FILE *f = fopen(path, "r+"); /* the same inode and size */
	assert_non_null(f);
	fputs("layer TWO", f);
	fclose(f);
	/* Even with its old time: the change time cannot be set back. */
	struct timespec times[2] = {before.st_atim, before.st_mtim};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_false(load_and_verify(s, "base", false, &e));
	assert_int_equal(e.kind, ERR_INVALID);
	assert_non_null(strstr(e.msg, "tools.squashfs"));
	assert_false(load_and_verify(s, "base", false, &e)); /* and it stays so */
	assert_false(load_and_verify(s, "base", true, &e));
	write_text(path, "layer two");
	assert_true(load_and_verify(s, "base", false, &e));
	write_text(path, "layer twenty");
	assert_false(load_and_verify(s, "base", false, &e));
	assert_non_null(strstr(e.msg, "has 12 bytes instead of 9"));
	unlink(path);
	assert_false(load_and_verify(s, "base", false, &e));
	assert_non_null(strstr(e.msg, "tools.squashfs is missing"));
}

/* A note that says what is not so must not count: it holds the digest too. */
static void a_note_of_another_content_does_not_count(void **state)
{
	struct scene *s = *state;
	struct err e;
	make_image(s, "base");
	char *path FREE_ON_EXIT = mem_printf("%s/base/" IMAGE_MANIFEST, s->dir);
	assert_true(load_and_verify(s, "base", false, &e));
	char *text FREE_ON_EXIT = fd_read_file(path, 65536, NULL, &e);
	char *sha = strstr(text, "\"sha256\": \"") + 11;
	sha[0] = sha[0] == '0' ? '1' : '0';
	write_text(path, text);
	assert_false(load_and_verify(s, "base", false, &e));
	assert_non_null(strstr(e.msg, "vmlinuz"));
}

static void the_list_shows_broken_ones_too(void **state)
{
	struct scene *s = *state;
	struct image_entry *entries;
	size_t count;
	struct err e = ERR_INIT;
	char *missing FREE_ON_EXIT = mem_printf("%s/none", s->dir);
	assert_true(image_list(missing, &entries, &count, &e));
	assert_int_equal(count, 0);
	image_list_free(entries, count);
	make_image(s, "tools");
	make_image(s, "base");
	char *broken FREE_ON_EXIT = mem_printf("%s/broken", s->dir);
	char *half FREE_ON_EXIT = mem_printf("%s/.build-base", s->dir);
	assert_int_equal(mkdir(broken, 0755), 0);
	assert_int_equal(mkdir(half, 0755), 0);
	assert_true(image_list(s->dir, &entries, &count, &e));
	assert_int_equal(count, 3);
	assert_string_equal(entries[0].image.name, "base");
	assert_null(entries[0].error);
	assert_string_equal(entries[1].image.name, "broken");
	assert_non_null(entries[1].error);
	assert_string_equal(entries[2].image.name, "tools");
	image_list_free(entries, count);
}

#define PART(kind, file, rest) \
	"{\"kind\":\"" kind "\",\"file\":\"" file "\",\"size_bytes\":1,\"sha256\":\"" HEX "\"" rest "}"
#define INPUTS  ",\"inputs\":\"" HEX "\""
#define GOOD    PART("kernel", "k", INPUTS) "," PART("initramfs", "i", INPUTS) "," PART("layer", "l", INPUTS)
#define HEAD(n) "{\"format\":" n ",\"name\":\"base\",\"built_ms\":1,\"parts\":["

static void manifests_are_read_strictly(void **state)
{
	(void)state;
	static const char *const BAD[] = {
	    "",
	    "null",
	    "[]",
	    "{}",
	    HEAD("2") GOOD "]}",
	    HEAD("1.5") GOOD "]}",
	    HEAD("\"1\"") GOOD "]}",
	    HEAD("1") GOOD "]} x",
	    HEAD("1") GOOD "],\"more\":1}",
	    HEAD("1") GOOD "],\"format\":1}",
	    HEAD("1") "]}",
	    HEAD("1") PART("kernel", "k", INPUTS) "," PART("initramfs", "i", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("kernel", "k2", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("layer", "l", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("disk", "d", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("layer", "../l", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("layer", "a/l", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("layer", ".l", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("layer", "", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("layer", "m\\u001b", INPUTS) "]}",
	    HEAD("1") GOOD "," PART("layer", "m", "") "]}",
	    HEAD("1") GOOD "," PART("layer", "m", INPUTS INPUTS) "]}",
	    HEAD("1") GOOD "," PART("layer", "m", ",\"inputs\":\"XYZ\"") "]}",
	    HEAD("1") GOOD ",7]}",
	    "{\"format\":1,\"name\":\"Base\",\"built_ms\":1,\"parts\":[" GOOD "]}",
	    "{\"format\":1,\"name\":\"base\",\"built_ms\":-1,\"parts\":[" GOOD "]}",
	    "{\"format\":1,\"name\":\"base\",\"built_ms\":1,\"parts\":{}}",
	};
	struct image image;
	struct err e = ERR_INIT;
	static const char FINE[] = HEAD("1") GOOD "]}\n";
	assert_true(manifest_parse("m", FINE, sizeof(FINE) - 1, &image, &e));
	assert_false(manifest_parse("m", FINE, sizeof(FINE), &image, &e)); /* a zero byte behind it */
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		err_clear(&e);
		if (manifest_parse("m", BAD[i], strlen(BAD[i]), &image, &e))
			fail_msg("%zu: read: %s", i, BAD[i]);
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

static void digests_set_texts_apart(void **state)
{
	(void)state;
	char one[DIGEST_SIZE], two[DIGEST_SIZE];
	struct digest *d = digest_create();
	digest_add(d, "ab");
	digest_add(d, "c");
	digest_finish(d, one);
	d = digest_create();
	digest_add(d, "a");
	digest_add(d, "bc");
	digest_finish(d, two);
	assert_string_not_equal(one, two);
	assert_true(digest_is_valid(one));
	assert_false(digest_is_valid("ABCDEF"));
	struct scene *s = *state;
	char *path FREE_ON_EXIT = mem_printf("%s/abc", s->dir);
	uint64_t size;
	struct err e = ERR_INIT;
	write_text(path, "abc");
	assert_true(digest_file(path, one, &size, &e));
	assert_string_equal(one, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_int_equal(size, 3);
}

/* An independent reader says what is in the archive. */
static void cpio_reads_our_archive(void **state)
{
	struct scene *s = *state;
	struct cpio c;
	struct err e = ERR_INIT;
	char line[256], all[2048] = "";
	cpio_init(&c);
	cpio_add_dir(&c, "dev", 0755);
	cpio_add_char_device(&c, "dev/console", 0600, 5, 1);
	cpio_add_bytes(&c, "init", 0755, "12345", 5);
	cpio_add_bytes(&c, "empty", 0644, "", 0);
	assert_true(cpio_end(&c, &e));
	assert_int_equal(c.out.len % 4, 0);
	char *path FREE_ON_EXIT = mem_printf("%s/a.cpio", s->dir);
	assert_true(fd_write_file(path, c.out.data, c.out.len, 0644, &e));
	cpio_finish(&c);
	char *command FREE_ON_EXIT = mem_printf("LC_ALL=C cpio --quiet -ntv <%s 2>&1", path);
	FILE *p = popen(command, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p))
		strncat(all, line, sizeof(all) - strlen(all) - 1);
	assert_int_equal(pclose(p), 0);
	assert_non_null(strstr(all, "drwxr-xr-x   2 0        0               0 Jan  1  1970 dev\n"));
	assert_non_null(strstr(all, "crw-------   1 0        0          5,   1 Jan  1  1970 dev/console\n"));
	assert_non_null(strstr(all, "-rwxr-xr-x   1 0        0               5 Jan  1  1970 init\n"));
	assert_non_null(strstr(all, "-rw-r--r--   1 0        0               0 Jan  1  1970 empty\n"));
}

#define INFO(n)  "\0\0\2\0\0\0\0\0\0\0\0" n
#define APPENDED "~Module signature appended~\n"

static void signatures_are_cut_off(void **state)
{
	(void)state;
	static const char WITH[] = "ELFcode"
	                           "SIG" INFO("\3") APPENDED;
	static const char TOO_LONG[] = "SIG" INFO("\4") APPENDED;
	static const char SHORT[] = APPENDED;
	assert_int_equal(module_unsigned_size(WITH, sizeof(WITH) - 1), 7);
	assert_int_equal(module_unsigned_size(WITH, sizeof(WITH)), sizeof(WITH)); /* not at the end */
	assert_int_equal(module_unsigned_size(TOO_LONG, sizeof(TOO_LONG) - 1), sizeof(TOO_LONG) - 1);
	assert_int_equal(module_unsigned_size(SHORT, sizeof(SHORT) - 1), sizeof(SHORT) - 1);
	assert_int_equal(module_unsigned_size("", 0), 0);
}

#define SCENE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCENE_TEST(what_is_written_is_read),        SCENE_TEST(a_missing_image_says_how_to_build_it),
	    SCENE_TEST(damage_is_found_and_named),      SCENE_TEST(a_note_of_another_content_does_not_count),
	    SCENE_TEST(the_list_shows_broken_ones_too), cmocka_unit_test(manifests_are_read_strictly),
	    SCENE_TEST(digests_set_texts_apart),        SCENE_TEST(cpio_reads_our_archive),
	    cmocka_unit_test(signatures_are_cut_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
