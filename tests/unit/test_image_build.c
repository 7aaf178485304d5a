/* core/image/build: a whole build with stand-ins for apt, dpkg-deb, mmdebstrap and mksquashfs in PATH: what
 * is made, what is taken over, and what a failure leaves behind. */
#include "tests/lib/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/image/build.h"
#include "core/image/image.h"
#include "core/loop/loop.h"
#include "tests/lib/loop_wait.h"

#define KERNEL_INI "[kernel]\npackage = linux-image-fake\nmodule = one\nmodule = two\n"
#define LAYER_INI  "[layer]\npackage = bash\npackage = vim\nexclude = /usr/share/doc/*\n"

/* Each notes its call in $CALLS. */
#define NOTE "#!/bin/sh\necho \"${0##*/} $*\" >>\"$CALLS\"\n"

static const struct {
	const char *name, *script;
} COMMANDS[] = {
    {"apt-cache", NOTE "echo 'Package: linux-image-fake'; echo 'Depends: linux-image-9-fake (= 9)'\n"},
    {"apt-get", NOTE "case $1 in indextargets) echo 'Debian|http://mirror.test/debian|suite|main|amd64' ;;\n"
                     "*) echo deb >linux-image-9-fake_9_amd64.deb ;; esac\n"},
    {"dpkg-deb",
     NOTE "[ \"$(cat \"$2\")\" = deb ] || exit 9\n"
          "mkdir -p \"$3/boot\" \"$3/lib/modules/9/kernel/x\"; echo kernel >\"$3/boot/vmlinuz-9\"\n"
          "echo m1 >\"$3/lib/modules/9/kernel/x/one.ko\"; echo m2 >\"$3/lib/modules/9/two.ko\"\n"},
    {"mmdebstrap", NOTE "echo \"epoch $SOURCE_DATE_EPOCH\" >>\"$CALLS\"\n"
                        "for a; do list=$tar; tar=$last; last=$a; done; tar=$list\n"
                        "[ -z \"$HANG\" ] || { echo hanging >&2; exec sleep 60; }\n"
                        "[ -z \"$FAIL\" ] || { echo 'E: no such package: vmi' >&2; echo bye >&2; exit 25; }\n"
                        "grep -q 'http://mirror.test/debian suite main' \"$last\" || exit 9\n"
                        "echo rootfs >\"${last%.list}.tar\"\n"},
    {"mksquashfs", NOTE "cat >\"$2\"\n"},
};

struct scene {
	char dir[64];
	char *images, *cache, *recipe, *guest, *calls, *path_before;
	struct loop *loop;
	struct image_build *build;
	bool done, reused;
	struct err why;
	struct str progress;
	bool cancel_when_hanging;
};

static void write_text(const char *path, const char *text, mode_t mode)
{
	struct err e = ERR_INIT;
	assert_true(fd_write_file(path, text, strlen(text), mode, &e));
}

static int setup(void **state)
{
	struct scene *s = mem_alloc(sizeof(*s));
	snprintf(s->dir, sizeof(s->dir), "/tmp/ccvm-build-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	s->images = mem_printf("%s/images", s->dir);
	s->cache = mem_printf("%s/cache", s->dir);
	s->recipe = mem_printf("%s/base.ini", s->dir);
	s->guest = mem_printf("%s/guest", s->dir);
	s->calls = mem_printf("%s/calls", s->dir);
	for (size_t i = 0; i < ARRAY_LEN(COMMANDS); i++) {
		char *path FREE_ON_EXIT = mem_printf("%s/%s", s->dir, COMMANDS[i].name);
		write_text(path, COMMANDS[i].script, 0755);
	}
	write_text(s->recipe, KERNEL_INI LAYER_INI, 0644);
	write_text(s->guest, "guest program 1", 0755);
	s->path_before = mem_strdup(getenv("PATH"));
	char *path FREE_ON_EXIT = mem_printf("%s:%s", s->dir, s->path_before);
	setenv("PATH", path, 1);
	setenv("CALLS", s->calls, 1);
	unsetenv("FAIL");
	unsetenv("HANG");
	str_init(&s->progress, 1 << 20);
	s->loop = loop_create();
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	struct err e = ERR_INIT;
	image_build_close(s->build);
	loop_destroy(s->loop);
	setenv("PATH", s->path_before, 1);
	assert_true(fd_remove_tree(s->dir, &e));
	str_finish(&s->progress);
	free(s->images);
	free(s->cache);
	free(s->recipe);
	free(s->guest);
	free(s->calls);
	free(s->path_before);
	free(s);
	return 0;
}

static void on_progress(void *arg, unsigned step, unsigned steps, const char *line)
{
	struct scene *s = arg;
	assert_true(step < steps);
	str_appendf(&s->progress, "%s\n", line);
	if (s->cancel_when_hanging && strcmp(line, "hanging") == 0)
		image_build_cancel(s->build);
}

static void on_done(void *arg, bool reused, const struct err *e)
{
	struct scene *s = arg;
	assert_false(s->done);
	s->done = true;
	s->reused = reused;
	s->why = e ? *e : (struct err)ERR_INIT;
}

static struct image_build *start(struct scene *s, bool fresh, struct err *e)
{
	struct image_build_options o = {
	    .recipe_path = s->recipe,
	    .images_dir = s->images,
	    .cache_dir = s->cache,
	    .guest_program = s->guest,
	    .fresh = fresh,
	    .on_progress = on_progress,
	};
	return image_build_start(s->loop, "base", &o, on_done, s, e);
}

/* Runs a build to its end; `calls` afterwards holds the names of the commands that ran. */
static void build(struct scene *s, bool fresh)
{
	struct err e = ERR_INIT;
	unlink(s->calls);
	s->done = false;
	str_clear(&s->progress);
	s->build = start(s, fresh, &e);
	if (!s->build)
		fail_msg("%s", e.msg);
	assert_false(s->done); /* never from inside the start */
	assert_true(loop_wait_flag(s->loop, &s->done));
	image_build_close(s->build);
	s->build = NULL;
}

static bool ran(struct scene *s, const char *text)
{
	struct err e = ERR_INIT;
	char *calls FREE_ON_EXIT = fd_read_file(s->calls, 65536, NULL, &e);
	return calls && strstr(calls, text);
}

static bool is_whole(struct scene *s)
{
	struct image image;
	struct err e = ERR_INIT;
	if (!image_load(s->images, "base", &image, &e))
		return false;
	bool ok = image_verify(&image, true, &e);
	image_finish(&image);
	return ok;
}

/* Of the images folder: names other than the image and the lock. */
static size_t litter(struct scene *s)
{
	size_t n = 0;
	DIR *d = opendir(s->images);
	assert_non_null(d);
	for (struct dirent *ent; (ent = readdir(d));)
		n += strcmp(ent->d_name, ".") && strcmp(ent->d_name, "..") && strcmp(ent->d_name, "base") &&
		     strcmp(ent->d_name, ".lock-base");
	closedir(d);
	return n;
}

static char *part(struct scene *s, const char *file)
{
	struct err e = ERR_INIT;
	size_t len;
	char *path FREE_ON_EXIT = mem_printf("%s/base/%s", s->images, file);
	char *text = fd_read_file(path, 1 << 20, &len, &e);
	assert_non_null(text);
	for (size_t i = 0; i < len; i++) /* an archive has zero bytes */
		text[i] = text[i] ? text[i] : ' ';
	return text;
}

static void a_build_makes_all_parts(void **state)
{
	struct scene *s = *state;
	build(s, false);
	if (s->why.kind)
		fail_msg("%s", s->why.msg);
	assert_false(s->reused);
	assert_true(is_whole(s));
	assert_int_equal(litter(s), 0);
	assert_true(ran(
	    s, "apt-get -q -oAPT::Sandbox::User=root -oDpkg::Use-Pty=false download linux-image-9-fake\n"));
	assert_true(ran(s, "--include=bash,vim "));
	assert_true(ran(s, "--dpkgopt=path-exclude=/usr/share/doc/* "));
	assert_true(ran(s, "epoch 1735689600\n"));
	char *kernel FREE_ON_EXIT = part(s, "vmlinuz");
	char *layer FREE_ON_EXIT = part(s, "base.squashfs");
	char *initramfs FREE_ON_EXIT = part(s, "initramfs.cpio");
	assert_string_equal(kernel, "kernel\n");
	assert_string_equal(layer, "rootfs\n");
	assert_non_null(strstr(initramfs, "guest program 1"));
	assert_non_null(strstr(initramfs, "one.ko\ntwo.ko\n"));
	assert_non_null(strstr(s->progress.s, "layer: install packages\n"));
}

static void nothing_changed_nothing_runs(void **state)
{
	struct scene *s = *state;
	build(s, false);
	build(s, false);
	assert_true(s->reused && !s->why.kind);
	assert_false(ran(s, ""));
	assert_true(is_whole(s));
	assert_int_equal(litter(s), 0);
	build(s, true); /* unless it is asked for */
	assert_false(s->reused);
	assert_true(ran(s, "download") && ran(s, "mmdebstrap"));
	assert_true(is_whole(s));
}

static void only_what_changed_is_made_again(void **state)
{
	struct scene *s = *state;
	build(s, false);
	write_text(s->guest, "guest program 2", 0755);
	build(s, false);
	assert_false(s->reused);
	assert_false(ran(s, "")); /* no command at all */
	char *initramfs FREE_ON_EXIT = part(s, "initramfs.cpio");
	assert_non_null(strstr(initramfs, "guest program 2"));
	assert_true(is_whole(s));
	write_text(s->recipe, KERNEL_INI LAYER_INI "package = zsh\n", 0644);
	build(s, false);
	assert_true(ran(s, "mmdebstrap") && ran(s, "bash,vim,zsh") && !ran(s, "download"));
	build(s, false);
	assert_true(s->reused);
	write_text(s->recipe, KERNEL_INI "module = three\n" LAYER_INI "package = zsh\n", 0644);
	build(s, false); /* the package has no such module */
	assert_non_null(strstr(s->why.msg, "no module three in the package linux-image-9-fake"));
	assert_true(is_whole(s));
	assert_int_equal(litter(s), 0);
}

static void a_failed_build_leaves_the_old_image(void **state)
{
	struct scene *s = *state;
	build(s, false);
	char *before FREE_ON_EXIT = part(s, IMAGE_MANIFEST);
	setenv("FAIL", "1", 1);
	build(s, true);
	assert_non_null(strstr(s->why.msg, "layer: install packages: E: no such package: vmi (exit 25; "));
	assert_non_null(strstr(s->why.msg, "build-base.log"));
	char *after FREE_ON_EXIT = part(s, IMAGE_MANIFEST);
	assert_string_equal(before, after);
	assert_true(is_whole(s));
	assert_int_equal(litter(s), 0);
	unsetenv("FAIL");
	char *log_path FREE_ON_EXIT = mem_printf("%s/build-base.log", s->cache);
	struct err e = ERR_INIT;
	char *log FREE_ON_EXIT = fd_read_file(log_path, 65536, NULL, &e);
	assert_non_null(strstr(log, "bye\n"));
}

static void a_stopped_build_leaves_the_old_image(void **state)
{
	struct scene *s = *state;
	build(s, false);
	setenv("HANG", "1", 1);
	s->cancel_when_hanging = true;
	build(s, true);
	assert_int_equal(s->why.kind, ERR_CANCELED);
	assert_true(is_whole(s));
	assert_int_equal(litter(s), 0);
}

static void a_missing_command_is_named(void **state)
{
	struct scene *s = *state;
	char *path FREE_ON_EXIT = mem_printf("%s/mksquashfs", s->dir);
	unlink(path);
	setenv("PATH", s->dir, 1);
	for (size_t i = 0; i < ARRAY_LEN(COMMANDS); i++) { /* they need the rest of PATH themselves */
		char *file FREE_ON_EXIT = mem_printf("%s/%s", s->dir, COMMANDS[i].name);
		char *script FREE_ON_EXIT =
		    mem_printf("#!/bin/sh\nPATH='%s'\n%s", s->path_before, COMMANDS[i].script);
		if (access(file, F_OK) == 0)
			write_text(file, script, 0755);
	}
	char *env FREE_ON_EXIT = mem_printf("%s/env", s->dir);
	assert_int_equal(symlink("/usr/bin/env", env), 0);
	build(s, false);
	assert_non_null(strstr(s->why.msg, "the package squashfs-tools is needed"));
	assert_int_equal(litter(s), 0);
}

static void a_damaged_image_is_made_again(void **state)
{
	struct scene *s = *state;
	build(s, false);
	char *path FREE_ON_EXIT = mem_printf("%s/base/base.squashfs", s->images);
	write_text(path, "ROOTFS\n", 0644);
	assert_false(is_whole(s));
	build(s, false);
	assert_false(s->reused);
	assert_true(is_whole(s));
}

static void two_builds_at_once(void **state)
{
	struct scene *s = *state;
	struct err e = ERR_INIT;
	s->build = start(s, false, &e);
	assert_non_null(s->build);
	assert_null(start(s, false, &e));
	assert_int_equal(e.kind, ERR_BUSY);
	assert_true(loop_wait_flag(s->loop, &s->done)); /* the first one is not disturbed */
	assert_int_equal(s->why.kind, ERR_NONE);
	assert_true(is_whole(s));
}

static void bad_input_fails_at_once(void **state)
{
	struct scene *s = *state;
	struct err e = ERR_INIT;
	write_text(s->recipe, "nonsense\n", 0644);
	assert_null(start(s, false, &e));
	assert_non_null(strstr(e.msg, "base.ini:1: "));
	err_clear(&e);
	write_text(s->recipe, KERNEL_INI LAYER_INI, 0644);
	unlink(s->guest);
	assert_null(start(s, false, &e));
	assert_non_null(strstr(e.msg, s->guest));
	err_clear(&e);
	struct image_build_options o = {
	    .recipe_path = s->recipe, .images_dir = s->images, .cache_dir = s->cache};
	assert_null(image_build_start(s->loop, "../base", &o, on_done, s, &e));
	assert_int_equal(e.kind, ERR_INVALID);
	loop_settle(s->loop);
	assert_false(s->done);
}

/* Closing in the middle: no callback, nothing left. */
static void closing_gives_up(void **state)
{
	struct scene *s = *state;
	struct err e = ERR_INIT;
	s->build = start(s, false, &e);
	assert_non_null(s->build);
	loop_turn(s->loop, false);
	image_build_close(s->build);
	s->build = NULL;
	loop_settle(s->loop);
	assert_false(s->done);
	assert_int_equal(litter(s), 0);
	build(s, false); /* and the lock is free again */
	assert_int_equal(s->why.kind, ERR_NONE);
}

#define SCENE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCENE_TEST(a_build_makes_all_parts),
	    SCENE_TEST(nothing_changed_nothing_runs),
	    SCENE_TEST(only_what_changed_is_made_again),
	    SCENE_TEST(a_failed_build_leaves_the_old_image),
	    SCENE_TEST(a_stopped_build_leaves_the_old_image),
	    SCENE_TEST(a_missing_command_is_named),
	    SCENE_TEST(a_damaged_image_is_made_again),
	    SCENE_TEST(two_builds_at_once),
	    SCENE_TEST(bad_input_fails_at_once),
	    SCENE_TEST(closing_gives_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
