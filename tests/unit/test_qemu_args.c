/* core/backend/qemu_args: what QEMU is told, and what is refused before it is. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/backend/backend.h"
#include "core/backend/qemu_args.h"
#include "core/base/mem.h"
#include "core/base/str.h"

static const struct qemu_host tcg_host = {.program = "/usr/bin/qemu", .firmware = "/fw.bin"};
static const struct qemu_host kvm_host = {.program = "/usr/bin/qemu", .kvm = true};

static struct backend_spec good_spec(void)
{
	return (struct backend_spec){
	    .vm = "alpha",
	    .kernel = "/i/kernel",
	    .initramfs = "/i/initramfs",
	    .layers = {"/i/base.sqfs", "/i/tools.sqfs"},
	    .layer_count = 2,
	    .disk = "/s/disk.img",
	    .cmdline = "ccvm.name=alpha",
	    .vhost_socket = "/r/vhost.sock",
	    .memory_bytes = (512ull << 20) + 12345,
	    .cpus = 2,
	    .guest_cid = 3,
	};
}

static char *joined(const struct qemu_host *host, const struct backend_spec *spec)
{
	struct qemu_args args;
	struct err e = ERR_INIT;
	struct str s = STR_INIT(65536);
	assert_true(qemu_args_build(&args, host, spec, &e));
	assert_null(args.argv[args.count]);
	for (size_t i = 0; i < args.count; i++)
		str_appendf(&s, "%s%s", i ? " " : "", args.argv[i]);
	qemu_args_finish(&args);
	return str_detach(&s);
}

static void whole_command_line_under_tcg(void **state)
{
	(void)state;
	struct backend_spec spec = good_spec();
	char *line FREE_ON_EXIT = joined(&tcg_host, &spec);
	assert_string_equal(
	    line,
	    "/usr/bin/qemu -name ccvm-alpha -no-user-config -nodefaults -no-reboot -display none -nic none "
	    "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny "
	    "-chardev socket,id=qmp,fd=3 -mon chardev=qmp,mode=control "
	    "-chardev socket,id=console,fd=4 -serial chardev:console "
	    "-machine "
	    "q35,memory-backend=ram,usb=off,sata=off,smbus=off,vmport=off,i8042=off,dump-guest-core=off "
	    "-accel tcg,tb-size=256 -cpu max -smp 2 -m 512M "
	    "-object memory-backend-memfd,id=ram,size=512M,share=on -bios /fw.bin "
	    "-kernel /i/kernel -initrd /i/initramfs "
	    "-append console=ttyS0 quiet panic=-1 cryptomgr.notests ccvm.name=alpha "
	    "-blockdev driver=raw,node-name=layer0,read-only=on,file.driver=file,file.locking=off,"
	    "file.filename=/i/base.sqfs "
	    "-device virtio-blk-pci,drive=layer0,serial=layer0,addr=0x08,disable-legacy=on "
	    "-blockdev driver=raw,node-name=layer1,read-only=on,file.driver=file,file.locking=off,"
	    "file.filename=/i/tools.sqfs "
	    "-device virtio-blk-pci,drive=layer1,serial=layer1,addr=0x09,disable-legacy=on "
	    "-blockdev driver=raw,node-name=disk,read-only=off,file.driver=file,discard=unmap,"
	    "file.discard=unmap,file.locking=auto,file.filename=/s/disk.img "
	    "-device virtio-blk-pci,drive=disk,serial=disk,addr=0x10,disable-legacy=on "
	    "-chardev socket,id=vsock,path=/r/vhost.sock "
	    "-device vhost-user-vsock-pci,chardev=vsock,addr=0x18");
}

static void only_the_accelerator_differs_under_kvm(void **state)
{
	(void)state;
	struct backend_spec spec = good_spec();
	char *line FREE_ON_EXIT = joined(&kvm_host, &spec);
	assert_non_null(strstr(line, "-machine q35,"));
	assert_non_null(strstr(line, " -accel kvm -cpu host "));
	assert_null(strstr(line, "tcg"));
	assert_null(strstr(line, "-bios"));
}

static void a_probe_has_no_devices(void **state)
{
	(void)state;
	struct backend_spec spec = {
	    .vm = "p", .kernel = "/k", .initramfs = "/i", .memory_bytes = 64ull << 20, .cpus = 1};
	char *line FREE_ON_EXIT = joined(&tcg_host, &spec);
	assert_null(strstr(line, "-device"));
	assert_null(strstr(line, "-blockdev"));
	assert_non_null(strstr(line, "cryptomgr.notests"));
}

static void commas_are_doubled_where_qemu_splits(void **state)
{
	(void)state;
	struct backend_spec spec = good_spec();
	spec.kernel = "/a,b/k";
	spec.layers[0] = "/a,b/base.sqfs";
	spec.disk = "/a,readonly=on,b/d.img";
	spec.vhost_socket = "/r,server=on/v";
	char *line FREE_ON_EXIT = joined(&tcg_host, &spec);
	assert_non_null(strstr(line, "-kernel /a,b/k ")); /* a value of its own: not split */
	assert_non_null(strstr(line, "file.filename=/a,,b/base.sqfs "));
	assert_non_null(strstr(line, "file.filename=/a,,readonly=on,,b/d.img "));
	assert_non_null(strstr(line, "path=/r,,server=on/v "));
}

static void the_most_that_is_allowed_fits(void **state)
{
	(void)state;
	char path[4096], cmdline[2048];
	struct backend_spec spec = good_spec();
	memset(path, ',', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	memset(cmdline, 'x', sizeof(cmdline) - 1);
	cmdline[sizeof(cmdline) - 1 - sizeof("console=ttyS0 quiet panic=-1 cryptomgr.notests")] = '\0';
	for (size_t i = 0; i < BACKEND_LAYERS_MAX; i++)
		spec.layers[i] = path;
	spec.layer_count = BACKEND_LAYERS_MAX;
	spec.disk = spec.kernel = spec.initramfs = path;
	spec.cmdline = cmdline;
	struct qemu_args args;
	struct err e = ERR_INIT;
	assert_true(qemu_args_build(&args, &tcg_host, &spec, &e));
	for (size_t i = 0; i + 1 < args.count; i++)
		if (strcmp(args.argv[i], "-append") == 0)
			assert_int_equal(strlen(args.argv[i + 1]), 2047);
	qemu_args_finish(&args);
	cmdline[strlen(cmdline)] = 'x';
	assert_false(qemu_args_build(&args, &tcg_host, &spec, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
}

struct bad_case {
	const char *name;
	void (*spoil)(struct backend_spec *s);
	enum err_kind kind;
	const char *text; /* in the message */
};

#define SPOIL(fn, statement)                   \
	static void fn(struct backend_spec *s) \
	{                                      \
		statement;                     \
	}
SPOIL(spoil_name, s->vm = "Alpha,x=y")
SPOIL(spoil_no_name, s->vm = NULL)
SPOIL(spoil_kernel, s->kernel = "kernel")
SPOIL(spoil_no_kernel, s->kernel = NULL)
SPOIL(spoil_initramfs, s->initramfs = "")
SPOIL(spoil_layer, s->layers[1] = "/a\nb")
SPOIL(spoil_no_layer, s->layers[1] = NULL)
SPOIL(spoil_layers, s->layer_count = BACKEND_LAYERS_MAX + 1)
SPOIL(spoil_disk, s->disk = "-device")
SPOIL(spoil_cmdline, s->cmdline = "a\tb")
SPOIL(spoil_memory, s->memory_bytes = (64ull << 20) - 1)
SPOIL(spoil_huge_memory, s->memory_bytes = UINT64_MAX)
SPOIL(spoil_cpus, s->cpus = 0)
SPOIL(spoil_many_cpus, s->cpus = 256)
SPOIL(spoil_cid, s->guest_cid = 2)
SPOIL(spoil_any_cid, s->guest_cid = 0xffffffffu)
SPOIL(spoil_socket, s->vhost_socket = "/0123456789012345678901234567890123456789012345678901234567890123"
                                      "456789012345678901234567890123456789012345678")

static const struct bad_case bad[] = {
    {"name", spoil_name, ERR_INVALID, "VM name"},
    {"no name", spoil_no_name, ERR_INVALID, "VM name"},
    {"relative kernel", spoil_kernel, ERR_INVALID, "kernel: an absolute path"},
    {"no kernel", spoil_no_kernel, ERR_INVALID, "kernel"},
    {"empty initramfs", spoil_initramfs, ERR_INVALID, "initramfs"},
    {"newline in a layer", spoil_layer, ERR_INVALID, "image layer has a control byte"},
    {"missing layer", spoil_no_layer, ERR_INVALID, "image layer"},
    {"too many layers", spoil_layers, ERR_LIMIT, "9 image layers"},
    {"disk like an option", spoil_disk, ERR_INVALID, "disk"},
    {"control byte in the command line", spoil_cmdline, ERR_INVALID, "kernel command line"},
    {"little memory", spoil_memory, ERR_INVALID, "memory"},
    {"too much memory", spoil_huge_memory, ERR_INVALID, "memory"},
    {"no cpu", spoil_cpus, ERR_INVALID, "0 cpus"},
    {"too many cpus", spoil_many_cpus, ERR_INVALID, "256 cpus"},
    {"CID of the host", spoil_cid, ERR_INVALID, "CID 2"},
    {"CID any", spoil_any_cid, ERR_INVALID, "CID 4294967295"},
    {"socket path over sun_path", spoil_socket, ERR_LIMIT, "vsock socket is 110 bytes long, at most 107"},
};

static void bad_specs_are_refused_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct backend_spec spec = good_spec();
		struct qemu_args args = {.count = 0};
		struct err e = ERR_INIT;
		bad[i].spoil(&spec);
		if (qemu_args_build(&args, &tcg_host, &spec, &e))
			fail_msg("%s: accepted", bad[i].name);
		if (e.kind != bad[i].kind || !strstr(e.msg, bad[i].text))
			fail_msg("%s: kind %s, \"%s\"", bad[i].name, err_kind_name(e.kind), e.msg);
		assert_int_equal(args.count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whole_command_line_under_tcg),
	    cmocka_unit_test(only_the_accelerator_differs_under_kvm),
	    cmocka_unit_test(a_probe_has_no_devices),
	    cmocka_unit_test(commas_are_doubled_where_qemu_splits),
	    cmocka_unit_test(the_most_that_is_allowed_fits),
	    cmocka_unit_test(bad_specs_are_refused_by_name),
	};
	return cmocka_run_group_tests_name("qemu_args", tests, NULL, NULL);
}
