/* Notes on what is not obvious in the list of arguments:
 *
 * - q35 for both accelerators. microvm hangs in half of the boots under TCG (no PIT, no HPET to calibrate the TSC
 *   with), and one machine for both means that what was tested is what runs. Parts of the chipset that the guest has
 *   no use for are left out: each is code that a hostile guest could reach. HPET stays, the TSC is calibrated with it.
 * - The RAM is a shared memfd, because the vsock device (another process) reads and writes the rings in it.
 * - "-no-reboot": a kernel panic (panic=-1) or a reboot ends QEMU, and QMP says which kind of end it was.
 * - QemuOpts splits values at commas; a comma that belongs to a value is written twice.
 * - cryptomgr.notests: the self tests of the kernel's crypto cost 0.4 s of a 2.3 s boot under TCG. Other well-known
 *   switches (tsc=reliable, no_timer_check, lpj=, mitigations=off, fewer UARTs) made no measurable difference. */
#include "core/backend/qemu_args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "core/backend/backend.h"
#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/base/str.h"

#define CMDLINE_MOST    2047 /* COMMAND_LINE_SIZE of x86 less the NUL */
#define CMDLINE_BASE    "console=ttyS0 quiet panic=-1 cryptomgr.notests"
#define VALUE_MOST      16384
#define CPUS_MOST       255
#define MEMORY_MIN      (64ull << 20)
#define MEMORY_MAX      (1ull << 40)
#define CID_FIRST       3 /* 0..2 are reserved */
#define CID_LAST        0xfffffffeu
#define FIRST_LAYER_PCI 0x08
#define DISK_PCI        0x10
#define VSOCK_PCI       0x18

static const char *const fixed[] = {"-no-user-config", "-nodefaults", "-no-reboot", "-display", "none",
                                    "-nic", "none", "-sandbox",
                                    "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
                                    /* monitor and console */
                                    "-chardev", "socket,id=qmp,fd=3", "-mon", "chardev=qmp,mode=control",
                                    "-chardev", "socket,id=console,fd=4", "-serial", "chardev:console"};

static_assert(QEMU_FD_QMP == 3 && QEMU_FD_CONSOLE == 4, "the descriptors are spelled out above");

static void add(struct qemu_args *args, const char *text)
{
	CHECK(args->count < QEMU_ARGS_MOST);
	args->argv[args->count++] = mem_strdup(text);
}

/* An option with a value; hands the text of `value` over and empties it. */
static void add_option(struct qemu_args *args, const char *option, struct str *value)
{
	CHECK(!value->overflow && args->count < QEMU_ARGS_MOST);
	add(args, option);
	CHECK(args->count < QEMU_ARGS_MOST);
	args->argv[args->count++] = str_detach(value);
}

static void append_escaped(struct str *s, const char *path)
{
	for (; *path; path++) {
		str_append_char(s, *path);
		if (*path == ',')
			str_append_char(s, ',');
	}
}

static bool check_text(const char *what, const char *text, size_t most, struct err *e)
{
	size_t len = strlen(text);
	if (len > most)
		return err_set(e, ERR_LIMIT, "%s is %zu bytes long, at most %zu are possible", what, len,
		               most);
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return err_set(e, ERR_INVALID, "%s has a control byte in it", what);
	return true;
}

static bool check_path(const char *what, const char *path, size_t most, struct err *e)
{
	if (!path || path[0] != '/')
		return err_set(e, ERR_INVALID, "%s: an absolute path is needed, not \"%.100s\"", what,
		               path ? path : "");
	return check_text(what, path, most, e);
}

static bool check_paths(const struct qemu_host *host, const struct backend_spec *spec, struct err *e)
{
	const size_t most = 4095;
	const struct {
		const char *what, *path;
		bool optional;
		size_t most;
	} table[] = {
	    {"QEMU program", host->program, false, most},
	    {"firmware", host->firmware, true, most},
	    {"kernel", spec->kernel, false, most},
	    {"initramfs", spec->initramfs, false, most},
	    {"disk", spec->disk, true, most},
	    {"vsock socket", spec->vhost_socket, true, sizeof(((struct sockaddr_un *)0)->sun_path) - 1},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if ((table[i].path || !table[i].optional) &&
		    !check_path(table[i].what, table[i].path, table[i].most, e))
			return false;
	for (size_t i = 0; i < spec->layer_count; i++)
		if (!check_path("image layer", spec->layers[i], most, e))
			return false;
	return true;
}

static bool check_numbers(const struct backend_spec *spec, struct err *e)
{
	if (spec->layer_count > BACKEND_LAYERS_MAX)
		return err_set(e, ERR_LIMIT, "%zu image layers, at most %d are possible", spec->layer_count,
		               BACKEND_LAYERS_MAX);
	if (spec->memory_bytes < MEMORY_MIN || spec->memory_bytes > MEMORY_MAX)
		return err_set(e, ERR_INVALID, "memory of %" PRIu64 " bytes: 64 MiB to 1 TiB are possible",
		               spec->memory_bytes);
	if (spec->cpus < 1 || spec->cpus > CPUS_MOST)
		return err_set(e, ERR_INVALID, "%" PRIu32 " cpus: 1 to %d are possible", spec->cpus,
		               CPUS_MOST);
	if (spec->vhost_socket && (spec->guest_cid < CID_FIRST || spec->guest_cid > CID_LAST))
		return err_set(e, ERR_INVALID, "vsock CID %" PRIu32 " is reserved", spec->guest_cid);
	return true;
}

static bool check_cmdline(const struct backend_spec *spec, struct err *e)
{
	return !spec->cmdline ||
	       check_text("kernel command line", spec->cmdline, CMDLINE_MOST - sizeof(CMDLINE_BASE), e);
}

static void add_machine(struct qemu_args *args, const struct qemu_host *host, const struct backend_spec *spec)
{
	struct str v = STR_INIT(VALUE_MOST);
	uint64_t mib = spec->memory_bytes >> 20;
	add(args, "-machine");
	add(args, "q35,memory-backend=ram,usb=off,sata=off,smbus=off,vmport=off,i8042=off,"
	          "dump-guest-core=off");
	add(args, "-accel");
	/* QEMU's own default is a translation cache of up to 1 GiB per VM. */
	add(args, host->kvm ? "kvm" : "tcg,tb-size=256");
	add(args, "-cpu");
	add(args, host->kvm ? "host" : "max");
	str_appendf(&v, "%" PRIu32, spec->cpus);
	add_option(args, "-smp", &v);
	str_appendf(&v, "%" PRIu64 "M", mib);
	add_option(args, "-m", &v);
	str_appendf(&v, "memory-backend-memfd,id=ram,size=%" PRIu64 "M,share=on", mib);
	add_option(args, "-object", &v);
	if (host->firmware) {
		add(args, "-bios");
		add(args, host->firmware);
	}
}

static void add_boot(struct qemu_args *args, const struct backend_spec *spec)
{
	struct str v = STR_INIT(VALUE_MOST);
	add(args, "-kernel");
	add(args, spec->kernel);
	add(args, "-initrd");
	add(args, spec->initramfs);
	str_append(&v, CMDLINE_BASE);
	if (spec->cmdline && *spec->cmdline)
		str_appendf(&v, " %s", spec->cmdline);
	add_option(args, "-append", &v);
}

/* A raw file as a virtio disk at a fixed place, so that the guest's names for them never change. */
static void add_disk(struct qemu_args *args, const char *name, const char *path, unsigned pci, bool read_only)
{
	struct str v = STR_INIT(VALUE_MOST);
	str_appendf(&v, "driver=raw,node-name=%s,read-only=%s,file.driver=file,", name,
	            read_only ? "on" : "off");
	str_append(&v,
	           read_only ? "file.locking=off," : "discard=unmap,file.discard=unmap,file.locking=auto,");
	str_append(&v, "file.filename=");
	append_escaped(&v, path);
	add_option(args, "-blockdev", &v);
	str_appendf(&v, "virtio-blk-pci,drive=%s,serial=%s,addr=0x%02x,disable-legacy=on", name, name, pci);
	add_option(args, "-device", &v);
}

static void add_devices(struct qemu_args *args, const struct backend_spec *spec)
{
	struct str v = STR_INIT(VALUE_MOST);
	for (size_t i = 0; i < spec->layer_count; i++) {
		char name[16];
		snprintf(name, sizeof(name), "layer%zu", i);
		add_disk(args, name, spec->layers[i], FIRST_LAYER_PCI + (unsigned)i, true);
	}
	if (spec->disk)
		add_disk(args, "disk", spec->disk, DISK_PCI, false);
	if (!spec->vhost_socket)
		return;
	str_append(&v, "socket,id=vsock,path=");
	append_escaped(&v, spec->vhost_socket);
	add_option(args, "-chardev", &v);
	str_appendf(&v, "vhost-user-vsock-pci,chardev=vsock,addr=0x%02x", VSOCK_PCI);
	add_option(args, "-device", &v);
}

bool qemu_args_build(struct qemu_args *out, const struct qemu_host *host, const struct backend_spec *spec,
                     struct err *e)
{
	if (!parse_name("VM name", spec->vm ? spec->vm : "", e) || !check_numbers(spec, e) ||
	    !check_paths(host, spec, e) || !check_cmdline(spec, e))
		return false;
	*out = (struct qemu_args){.count = 0};
	add(out, host->program);
	struct str name = STR_INIT(VALUE_MOST);
	str_appendf(&name, "ccvm-%s", spec->vm);
	add_option(out, "-name", &name);
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		add(out, fixed[i]);
	add_machine(out, host, spec);
	add_boot(out, spec);
	add_devices(out, spec);
	return true;
}

void qemu_args_finish(struct qemu_args *args)
{
	for (size_t i = 0; i < args->count; i++)
		free(args->argv[i]);
	*args = (struct qemu_args){.count = 0};
}
