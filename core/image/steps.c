/* The commands of a build. No mirror is named anywhere: the packages come from the sources of the
 * distribution that the host's own apt has. The kernel package is only unpacked, never installed, so no root
 * is needed for it. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/image/apt.h"
#include "core/image/cpio.h"
#include "core/image/module.h"
#include "core/image/plan.h"

#define ORIGIN       "Debian"
#define ARCHITECTURE "amd64"
#define KEYRING      "/usr/share/keyrings/debian-archive-keyring.gpg"
#define KERNEL_STEM  "linux-image-"

/* Files of the work folder that do not stay. */
#define SHOW_FILE    "scratch/show"
#define TARGETS_FILE "scratch/targets"
#define SOURCES_FILE "scratch/layer.list"
#define TAR_FILE     "scratch/layer.tar"
#define DEB_DIR      "scratch/deb"
#define ROOT_DIR     "scratch/root"

#define TEXT_MOST (4 * 1024 * 1024)

static char *in_work(const struct plan *p, const char *file)
{
	return mem_printf("%s/%s", p->work, file);
}

static void arg(struct command *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void arg(struct command *c, const char *fmt, ...)
{
	va_list ap;
	CHECK(c->argc < COMMAND_MOST_ARGS);
	va_start(ap, fmt);
	if (vasprintf(&c->argv[c->argc++], fmt, ap) < 0)
		BUG("out of memory");
	va_end(ap);
}

void command_finish(struct command *c)
{
	for (size_t i = 0; i < c->argc; i++)
		free(c->argv[i]);
	free(c->in);
	free(c->out);
	*c = (struct command){0};
}

/* ---- kernel and modules, into the cache ---- */

static void lookup_command(const struct plan *p, struct command *c)
{
	arg(c, "apt-cache");
	arg(c, "show");
	arg(c, "--no-all-versions");
	arg(c, "%s", p->recipe.kernel_package);
	c->out = in_work(p, SHOW_FILE);
}

static bool after_lookup(struct plan *p, struct err *e)
{
	char *path FREE_ON_EXIT = in_work(p, SHOW_FILE);
	char *deb_dir FREE_ON_EXIT = in_work(p, DEB_DIR);
	char *show FREE_ON_EXIT = fd_read_file(path, TEXT_MOST, NULL, e);
	if (!show)
		return false;
	free(p->kernel_package);
	p->kernel_package = apt_kernel_package(show, p->recipe.kernel_package, KERNEL_STEM);
	return fd_make_dirs(deb_dir, 0755, e);
}

/* apt-get writes into its current folder, and into no other: env gets it there. As root it would else ask for
 * a folder that its own unprivileged user can reach. */
static void download_command(const struct plan *p, struct command *c)
{
	arg(c, "env");
	arg(c, "--chdir=%s/%s", p->work, DEB_DIR);
	arg(c, "apt-get");
	arg(c, "-q");
	arg(c, "-oAPT::Sandbox::User=root");
	arg(c, "-oDpkg::Use-Pty=false");
	arg(c, "download");
	arg(c, "%s", p->kernel_package);
}

/* The path of the one entry of a folder that begins with `stem`; NULL when there is none. */
static char *find_in(const char *dir, const char *stem)
{
	char *found = NULL;
	DIR *d = opendir(dir);
	for (struct dirent *ent; d && !found && (ent = readdir(d));) {
		if (strncmp(ent->d_name, stem, strlen(stem)) == 0)
			found = mem_printf("%s/%s", dir, ent->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

static bool after_download(struct plan *p, struct err *e)
{
	char *dir FREE_ON_EXIT = in_work(p, DEB_DIR);
	char *from FREE_ON_EXIT = find_in(dir, p->kernel_package);
	char *to FREE_ON_EXIT = in_work(p, DEB_DIR "/kernel.deb");
	if (!from)
		return err_set(e, ERR_NOT_FOUND, "apt-get downloaded no %s", p->kernel_package);
	return rename(from, to) == 0 || err_sys(e, errno, "rename %s", from);
}

static void unpack_command(const struct plan *p, struct command *c)
{
	arg(c, "dpkg-deb");
	arg(c, "-x");
	arg(c, "%s/%s/kernel.deb", p->work, DEB_DIR);
	arg(c, "%s/%s", p->work, ROOT_DIR);
}

/* The path of NAME.ko anywhere below `dir`, or NULL. */
static char *find_module(const char *dir, const char *name, int depth)
{
	char *found = NULL;
	DIR *d = depth ? opendir(dir) : NULL;
	for (struct dirent *ent; d && !found && (ent = readdir(d));) {
		if (ent->d_name[0] == '.')
			continue;
		char *path = mem_printf("%s/%s", dir, ent->d_name);
		size_t len = strlen(name);
		if (strncmp(ent->d_name, name, len) == 0 && strcmp(ent->d_name + len, ".ko") == 0)
			found = mem_strdup(path);
		else if (ent->d_type == DT_DIR || ent->d_type == DT_UNKNOWN)
			found = find_module(path, name, depth - 1);
		free(path);
	}
	if (d)
		closedir(d);
	return found;
}

static bool move_file(const char *from, const char *dir, const char *name, struct err *e)
{
	size_t len;
	char *bytes FREE_ON_EXIT = fd_read_file(from, CPIO_MOST, &len, e);
	char *to FREE_ON_EXIT = mem_printf("%s/%s", dir, name);
	return bytes && fd_write_file(to, bytes, len, 0644, e);
}

/* The kernel comes last: the cache's folder counts as whole when it is there. */
static bool after_unpack(struct plan *p, struct err *e)
{
	char *boot FREE_ON_EXIT = in_work(p, ROOT_DIR "/boot");
	char *modules FREE_ON_EXIT = in_work(p, ROOT_DIR "/lib/modules");
	char *kernel FREE_ON_EXIT = find_in(boot, "vmlinuz-");
	if (!kernel)
		return err_set(e, ERR_NOT_FOUND, "no kernel in the package %s", p->kernel_package);
	if (!fd_remove_tree(p->kernel_dir, e) || !fd_make_dirs(p->kernel_dir, 0755, e))
		return false;
	for (size_t i = 0; i < p->recipe.modules.count; i++) {
		const char *name = p->recipe.modules.values[i];
		char *from FREE_ON_EXIT = find_module(modules, name, 16);
		char *file FREE_ON_EXIT = mem_printf("%s.ko", name);
		if (!from)
			return err_set(e, ERR_NOT_FOUND, "no module %s in the package %s", name,
			               p->kernel_package);
		if (!move_file(from, p->kernel_dir, file, e))
			return false;
	}
	return move_file(kernel, p->kernel_dir, p->kernel.file, e);
}

/* ---- the parts kernel and initramfs ---- */

static bool add_module(struct cpio *c, const char *to, const char *from, struct err *e)
{
	size_t len;
	char *bytes FREE_ON_EXIT = fd_read_file(from, CPIO_MOST, &len, e);
	if (!bytes)
		return false;
	cpio_add_bytes(c, to, 0644, bytes, module_unsigned_size(bytes, len));
	return true;
}

static bool fill_initramfs(const struct plan *p, struct cpio *c, struct err *e)
{
	struct str names = STR_INIT(65536);
	static const char *const DIRS[] = {"dev", "etc", "etc/ccvm", "lib", "lib/modules"};
	for (size_t i = 0; i < ARRAY_LEN(DIRS); i++)
		cpio_add_dir(c, DIRS[i], 0755);
	cpio_add_char_device(c, "dev/console", 0600, 5, 1); /* the kernel opens it for pid 1 */
	bool ok = cpio_add_file(c, "init", 0755, p->guest_program, e);
	for (size_t i = 0; ok && i < p->recipe.modules.count; i++) {
		const char *name = p->recipe.modules.values[i];
		char *from FREE_ON_EXIT = mem_printf("%s/%s.ko", p->kernel_dir, name);
		char *to FREE_ON_EXIT = mem_printf("lib/modules/%s.ko", name);
		str_appendf(&names, "%s.ko\n", name);
		ok = add_module(c, to, from, e);
	}
	cpio_add_bytes(c, "etc/ccvm/modules", 0644, names.s, names.len);
	str_finish(&names);
	return ok && cpio_end(c, e);
}

static bool pack_boot(struct plan *p, struct err *e)
{
	char *kernel FREE_ON_EXIT = mem_printf("%s/%s", p->kernel_dir, p->kernel.file);
	char *path FREE_ON_EXIT = in_work(p, p->initramfs.file);
	struct cpio c;
	cpio_init(&c);
	bool ok = move_file(kernel, p->work, p->kernel.file, e) && fill_initramfs(p, &c, e) &&
	          fd_write_file(path, c.out.data, c.out.len, 0644, e);
	cpio_finish(&c);
	return ok;
}

/* ---- the layer ---- */

static void targets_command(const struct plan *p, struct command *c)
{
	arg(c, "apt-get");
	arg(c, "indextargets");
	arg(c, "--format");
	arg(c, "%s", APT_TARGETS_FORMAT);
	arg(c, "Created-By: Packages");
	c->out = in_work(p, TARGETS_FILE);
}

static bool after_targets(struct plan *p, struct err *e)
{
	char *from FREE_ON_EXIT = in_work(p, TARGETS_FILE);
	char *to FREE_ON_EXIT = in_work(p, SOURCES_FILE);
	char *targets FREE_ON_EXIT = fd_read_file(from, TEXT_MOST, NULL, e);
	struct str list = STR_INIT(65536);
	bool ok = targets &&
	          apt_sources(targets, ORIGIN, ARCHITECTURE, access(KEYRING, R_OK) == 0 ? KEYRING : NULL,
	                      &list, e) &&
	          fd_write_file(to, list.s, list.len, 0644, e);
	str_finish(&list);
	return ok;
}

/* mmdebstrap copies the host's resolv.conf and hostname. A guest has no resolver, and gets its name from
 * ccvm-guest, which writes into /run/ccvm (guest/boot.c). */
#define CUSTOMIZE                                                       \
	"cd \"$1\" && rm -f etc/resolv.conf etc/hostname etc/hosts && " \
	"ln -s /run/ccvm/hostname /run/ccvm/hosts etc/ && ln -s /run/ccvm/ccvm-guest usr/bin/"

/* Without a suite: the list of sources says it all. */
static void install_command(const struct plan *p, struct command *c)
{
	const struct recipe *r = &p->recipe;
	struct str packages = STR_INIT(65536);
	for (size_t i = 0; i < r->packages.count; i++)
		str_appendf(&packages, "%s%s", i ? "," : "", r->packages.values[i]);
	arg(c, "mmdebstrap");
	arg(c, "--variant=minbase");
	arg(c, "--format=tar");
	arg(c, "--include=%s", packages.s);
	arg(c, "--aptopt=Acquire::Languages \"none\"");
	for (size_t i = 0; i < r->excludes.count; i++)
		arg(c, "--dpkgopt=path-exclude=%s", r->excludes.values[i]);
	arg(c, "--customize-hook=%s", CUSTOMIZE);
	arg(c, "%s", "");
	arg(c, "%s/%s", p->work, TAR_FILE);
	arg(c, "%s/%s", p->work, SOURCES_FILE);
	str_finish(&packages);
}

/* zstd at a middle level: a fourth of the time of the highest for a tenth more bytes, and as fast to read. */
static void compress_command(const struct plan *p, struct command *c)
{
	arg(c, "mksquashfs");
	arg(c, "-");
	arg(c, "%s/%s", p->work, p->layer.file);
	arg(c, "-tar");
	arg(c, "-comp");
	arg(c, "zstd");
	arg(c, "-Xcompression-level");
	arg(c, "9");
	arg(c, "-noappend");
	arg(c, "-quiet");
	arg(c, "-no-progress");
	c->in = in_work(p, TAR_FILE);
}

const struct step PLAN_STEPS[] = {
    {PLAN_KERNEL_FILES, "kernel: look up the package", "apt", lookup_command, after_lookup},
    {PLAN_KERNEL_FILES, "kernel: download", "apt", download_command, after_download},
    {PLAN_KERNEL_FILES, "kernel: unpack", "dpkg", unpack_command, after_unpack},
    {PLAN_BOOT, "initramfs: pack", NULL, NULL, pack_boot},
    {PLAN_LAYER, "layer: choose the sources", "apt", targets_command, after_targets},
    {PLAN_LAYER, "layer: install packages", "mmdebstrap", install_command, NULL},
    {PLAN_LAYER, "layer: compress", "squashfs-tools", compress_command, NULL},
};
const size_t PLAN_STEP_COUNT = ARRAY_LEN(PLAN_STEPS);
