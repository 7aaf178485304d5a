/* The initramfs stays the lowest mount and its /init keeps running as pid 1. The new root is moved on top of
 * it, which (other than a chroot alone) leaves user namespaces usable inside. Modules are removed from it
 * once they are loaded, since nobody can ever reach them again.
 *
 * Under software emulation every path of the kernel that runs for the first time costs, so a boot touches as
 * little as it can: nothing is written to the disk, nothing is copied, and what the image can hold ready it
 * holds ready. */
#include "guest/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/str.h"

#define ROOT           "/newroot"
#define DISK           "/disk"
#define MODULES_LIST   "/etc/ccvm/modules"
#define MODULES_FOLDER "/lib/modules"
#define DEVICE_WAIT_MS 10000
#define TEXT_MOST      65536

struct mount_step {
	const char *source, *target, *type, *data;
	unsigned long flags;
	bool optional;
};

static bool do_mount(const struct mount_step *m, struct err *e)
{
	mkdir(m->target, 0755);
	if (mount(m->source, m->target, m->type, m->flags, m->data) == 0 || errno == EBUSY)
		return true;
	if (m->optional) {
		log_info("boot: no %s on %s: %s", m->type, m->target, strerror(errno));
		return true;
	}
	return err_sys(e, errno, "mount %s (%s) on %s", m->source, m->type, m->target);
}

static bool do_mounts(const struct mount_step *steps, size_t count, struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		if (!do_mount(&steps[i], e))
			return false;
	}
	return true;
}

bool boot_mount_basics(struct err *e)
{
	static const struct mount_step BASICS[] = {
	    {"proc", "/proc", "proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC, false},
	    {"sysfs", "/sys", "sysfs", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC, false},
	    {"devtmpfs", "/dev", "devtmpfs", "mode=0755", MS_NOSUID, false},
	};
	umask(0);
	if (!do_mounts(BASICS, ARRAY_LEN(BASICS), e))
		return false;
	int console = open("/dev/console", O_RDWR | O_NOCTTY);
	if (console < 0)
		return true; /* there is none; what is said goes nowhere */
	for (int fd = 0; fd < 3; fd++) {
		if (console != fd)
			dup2(console, fd);
	}
	if (console > 2)
		close(console);
	return true;
}

bool boot_read_cmdline(struct cmdline *out, struct err *e)
{
	char *text FREE_ON_EXIT = fd_read_file("/proc/cmdline", TEXT_MOST, NULL, e);
	return text && cmdline_parse(text, out, e);
}

static bool load_module(const char *name, struct err *e)
{
	char *path FREE_ON_EXIT = mem_printf("%s/%s", MODULES_FOLDER, name);
	int fd CLOSE_ON_EXIT = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "open module %s", path);
	if (syscall(SYS_finit_module, fd, "", 0) != 0 && errno != EEXIST)
		return err_sys(e, errno, "load module %s", path);
	unlink(path); /* its memory is of more use elsewhere */
	return true;
}

bool boot_load_modules(struct err *e)
{
	char *text FREE_ON_EXIT = fd_read_file(MODULES_LIST, TEXT_MOST, NULL, e);
	if (!text)
		return false;
	char *save = NULL;
	for (char *name = strtok_r(text, "\n", &save); name; name = strtok_r(NULL, "\n", &save)) {
		if (!load_module(name, e))
			return false;
	}
	return true;
}

/* Drivers bind when their module is loaded, so the device is there at once; on a slow host a moment later. */
static bool wait_for_device(const char *path, struct err *e)
{
	struct stat st;
	for (int ms = 0; ms < DEVICE_WAIT_MS; ms += 10) {
		if (stat(path, &st) == 0)
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
	}
	return err_set(e, ERR_NOT_FOUND, "no disk %s after %d s", path, DEVICE_WAIT_MS / 1000);
}

static bool mount_device(const char *name, const char *target, const char *type, unsigned long flags,
                         struct err *e)
{
	char *device FREE_ON_EXIT = mem_printf("/dev/%s", name);
	struct mount_step m = {device, target, type, NULL, flags, false};
	return wait_for_device(device, e) && do_mount(&m, e);
}

/* The overlay's options name its lower folders from the highest to the lowest. */
static bool mount_all(const struct cmdline *c, struct err *e)
{
	struct str options = STR_INIT(1024);
	str_append(&options, "lowerdir=");
	bool ok = true;
	for (size_t i = c->layer_count; ok && i-- > 0;) {
		char target[32];
		snprintf(target, sizeof(target), "/layer%zu", i);
		ok = mount_device(c->layers[i], target, "squashfs", MS_RDONLY | MS_NODEV, e);
		str_appendf(&options, "%s%s", target, i ? ":" : "");
	}
	str_append(&options, ",upperdir=" DISK "/upper,workdir=" DISK "/work");
	struct mount_step overlay = {"ccvm", ROOT, "overlay", options.s, 0, false};
	ok = ok && mount_device(c->disk, DISK, "ext4", MS_NOATIME, e);
	mkdir(DISK "/upper", 0755);
	mkdir(DISK "/work", 0700);
	ok = ok && do_mount(&overlay, e);
	str_finish(&options);
	return ok;
}

static bool mount_inside(struct err *e)
{
	static const struct mount_step INSIDE[] = {
	    {"/proc", ROOT "/proc", NULL, NULL, MS_MOVE, false},
	    {"/sys", ROOT "/sys", NULL, NULL, MS_MOVE, false},
	    {"/dev", ROOT "/dev", NULL, NULL, MS_MOVE, false},
	    {"devpts", ROOT "/dev/pts", "devpts", "gid=5,mode=620,ptmxmode=666", MS_NOSUID | MS_NOEXEC,
	     false},
	    {"shm", ROOT "/dev/shm", "tmpfs", "mode=1777", MS_NOSUID | MS_NODEV, false},
	    {"run", ROOT "/run", "tmpfs", "mode=0755", MS_NOSUID | MS_NODEV, false},
	    {"tmp", ROOT "/tmp", "tmpfs", "mode=1777", MS_NOSUID | MS_NODEV, false},
	    {"cgroup2", ROOT "/sys/fs/cgroup", "cgroup2", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC, true},
	};
	static const char *const LINKS[][2] = {
	    {"/proc/self/fd", ROOT "/dev/fd"},
	    {"/proc/self/fd/0", ROOT "/dev/stdin"},
	    {"/proc/self/fd/1", ROOT "/dev/stdout"},
	    {"/proc/self/fd/2", ROOT "/dev/stderr"},
	};
	if (!do_mounts(INSIDE, ARRAY_LEN(INSIDE), e))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(LINKS); i++)
		symlink(LINKS[i][0], LINKS[i][1]);
	mkdir(ROOT "/run/lock", 01777);
	return true;
}

/* This program for those inside: the very same file, which costs no copy. */
static bool show_self(struct err *e)
{
	const struct mount_step self = {"/init", ROOT BOOT_GUEST_PATH, NULL, NULL, MS_BIND, false};
	mkdir(ROOT BOOT_FOLDER, 0755);
	int fd = open(self.target, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0)
		return err_sys(e, errno, "create %s", self.target);
	close(fd);
	return do_mount(&self, e);
}

static bool switch_root(struct err *e)
{
	if (chdir(ROOT) != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 ||
	    chdir("/") != 0)
		return err_sys(e, errno, "switch to the new root");
	return true;
}

static void write_text(const char *path, const char *text)
{
	int fd CLOSE_ON_EXIT = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || !fd_write_all(fd, text, strlen(text)))
		log_warn("boot: write %s: %s", path, strerror(errno));
}

/* The image's /etc/hostname and /etc/hosts are links to these files, so nothing is written to the disk. */
static void name_machine(const char *name)
{
	char *host FREE_ON_EXIT = mem_printf("%s\n", name);
	char *hosts FREE_ON_EXIT = mem_printf(
	    "127.0.0.1\tlocalhost\n127.0.1.1\t%s\n::1\tlocalhost ip6-localhost ip6-loopback\n", name);
	if (sethostname(name, strlen(name)) != 0)
		log_warn("boot: host name: %s", strerror(errno));
	write_text(BOOT_FOLDER "/hostname", host);
	write_text(BOOT_FOLDER "/hosts", hosts);
	/* No name is ever looked up in the guest. An empty list of servers fails at once, a dead one after
	 * seconds. */
	struct stat st;
	if (lstat("/etc/resolv.conf", &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > 0))
		unlink("/etc/resolv.conf");
}

/* The kernel has the time from the machine's clock, if it has one. Never back. */
static void set_clock(uint64_t floor_s)
{
	struct timespec now;
	if (floor_s && clock_gettime(CLOCK_REALTIME, &now) == 0 && (uint64_t)now.tv_sec < floor_s &&
	    clock_settime(CLOCK_REALTIME, &(struct timespec){.tv_sec = (time_t)floor_s}) != 0)
		log_warn("boot: clock: %s", strerror(errno));
}

bool boot_enter_root(const struct cmdline *c, int *disk_fd, struct err *e)
{
	set_clock(c->time_s);
	if (!mount_all(c, e))
		return false;
	*disk_fd = open(DISK, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*disk_fd < 0)
		return err_sys(e, errno, "open %s", DISK);
	if (!mount_inside(e) || !show_self(e) || !switch_root(e))
		return false;
	name_machine(c->name);
	return true;
}

void boot_end(int disk_fd, bool reboot_it)
{
	sync();
	if (disk_fd >= 0) {
		/* The path of the disk is out of reach below the root; the descriptor is not. */
		char path[32];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", disk_fd);
		if (mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
			log_warn("power: root read-only: %s", strerror(errno));
		if (mount(NULL, path, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
			log_warn("power: disk read-only: %s", strerror(errno));
		sync();
	}
	reboot(reboot_it ? RB_AUTOBOOT : RB_POWER_OFF);
	/* Refused: not pid 1 of the machine. Ending lets the kernel decide. */
	_exit(1);
}
