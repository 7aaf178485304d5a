#!/bin/sh
# The QEMU backend with real guests: how they start, how each kind of end is told, and that no QEMU outlives anything.
. "$(dirname "$0")/../lib/tap.sh"

drive=build/tests/vm/backend_drive
export CCVM_STRICT_LOOP=1

images=${XDG_DATA_HOME:-$HOME/.local/share}/ccvm/images/base
part() { # KIND: path of a part of the base image
	python3 -c 'import json,sys
print(next(p["file"] for p in json.load(open(sys.argv[1]))["parts"] if p["kind"] == sys.argv[2]))' \
		"$images/image.json" "$1" | sed "s|^|$images/|"
}
kernel=$(part kernel) && initramfs=$(part initramfs)
ok $? 'there is a base image'

# A guest that does what the kernel command line says.
mkdir -p "$TMP/root/dev"
cat >"$TMP/init.c" <<'EOF'
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
	static char line[4096];
	mkdir("/dev", 0755), mkdir("/proc", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, "");
	mount("proc", "/proc", "proc", 0, "");
	int console = open("/dev/console", O_RDWR), fd = open("/proc/cmdline", O_RDONLY);
	if (console < 0 || fd < 0 || read(fd, line, sizeof(line) - 1) <= 0)
		return 2;
	static const char hello[] = "TINY-READY \033[31mred\n";
	write(console, hello, sizeof(hello) - 1);
	if (strstr(line, "tiny.off"))
		reboot(RB_POWER_OFF);
	if (strstr(line, "tiny.reboot"))
		reboot(RB_AUTOBOOT);
	while (!strstr(line, "tiny.panic"))
		pause();
	return 1;
}
EOF
musl-gcc -static -O2 -w -o "$TMP/root/init" "$TMP/init.c" &&
	(cd "$TMP/root" && find . | cpio -o -H newc --quiet) >"$TMP/tiny.cpio"
ok $? 'a tiny guest is built'

guest() { # CMDLINE STEP...
	guest_cmdline=$1
	shift
	timeout 120 $drive qemu-tcg "$kernel" "$TMP/tiny.cpio" "$guest_cmdline" "$TMP/console.log" "$@"
}
qemu_of() { sed -n 's/^pid //p' "$1"; }
is_gone() { ! grep -q qemu "/proc/$1/cmdline" 2>/dev/null; }

# ---- how it ends
like "$(guest tiny.off wait=TINY-READY exit close)" '^exit clean=1 why=$' 'a power-off by the guest is clean'
is "$(grep -c '^TINY-READY \\x1b\[31mred$' "$TMP/console.log")" 1 'the console is logged, control bytes spelled out'
like "$(guest tiny.reboot exit)" 'clean=0 why=the guest reset itself' 'a reboot is an end with a reason'
like "$(guest tiny.panic exit)" 'clean=0 why=the guest reset itself' 'so is a kernel panic'
like "$(cat "$TMP/console.log")" 'Kernel panic - not syncing' 'whose text is in the console log'
like "$(guest '' wait=TINY-READY kill exit)" '^exit clean=0 why=killed$' 'kill'
like "$(timeout 120 $drive qemu-tcg "$kernel" "$initramfs" ccvm.probe "$TMP/c" wait=CCVM-PROBE-OK exit)" \
	'^exit clean=1' "the image's own guest answers a probe"
like "$($drive -v "$TMP/nobody" qemu-tcg "$kernel" "$TMP/tiny.cpio" '' "$TMP/c" exit)" \
	'QEMU exited with code 1: .*nobody.*No such file' "QEMU's own words tell why it did not start"

# ---- its files
mkdir "$TMP/a,b"
is "$($drive disk "$TMP/a,b/disk.img" 1073741824)" made 'a disk, in a folder with a comma in its name'
cp "$TMP/tiny.cpio" "$TMP/a,b/layer"
chmod 400 "$TMP/a,b/layer"
holding() { # OUT: a guest that holds the disk and the layer
	$drive -d "$TMP/a,b/disk.img" -l "$TMP/a,b/layer" -l "$TMP/a,b/layer" qemu-tcg "$kernel" "$TMP/tiny.cpio" '' \
		"$TMP/c" wait=TINY-READY hold >"$1" 2>&1 &
	holder=$!
	wait_for 60 grep -q '^wait=' "$1"
}
holding "$TMP/held"
ok $? 'a guest with layers and a disk' "$(cat "$TMP/held")"
like "$($drive -d "$TMP/a,b/disk.img" qemu-tcg "$kernel" "$TMP/tiny.cpio" '' "$TMP/c2" exit)" \
	'Failed to get "write" lock' 'no second VM opens its disk'
like "$(timeout 120 $drive -l "$TMP/a,b/layer" qemu-tcg "$kernel" "$TMP/tiny.cpio" tiny.off "$TMP/c2" exit)" \
	'^exit clean=1' 'but any number share a layer'

# ---- nothing outlives its owner
qemu=$(qemu_of "$TMP/held")
is "$(tr '\0' '\n' <"/proc/$qemu/environ")" 'LC_ALL=C' 'QEMU has nothing of our environment'
is "$(sed -n 's/^Seccomp:\t//p' "/proc/$qemu/status")" 2 'QEMU runs under seccomp'
kill -9 "$holder"
check 'QEMU dies with its owner' wait_for 10 is_gone "$qemu"
guest '' wait=TINY-READY close >"$TMP/closed"
is_gone "$(qemu_of "$TMP/closed")"
ok $? 'close leaves no QEMU behind'

# ---- choosing
out=$($drive choose auto "$kernel" "$initramfs" "$TMP/memory")
like "$out" '^qemu-(kvm: KVM boots a guest here|tcg: no KVM \(.+\): using TCG, slower)$' 'auto finds an answer'
out2=$($drive choose auto "$kernel" "$initramfs" "$TMP/memory")
is "$out2" "$(printf '%s\n' "$out" | grep -v '^progress')" 'which is remembered'
case $out in
*qemu-tcg:*)
	like "$($drive choose qemu-kvm "$kernel" "$initramfs" "$TMP/memory")" \
		'^error: backend qemu-kvm does not work here: .' 'qemu-kvm is refused with the reason'
	;;
*)
	like "$(timeout 120 $drive qemu-kvm "$kernel" "$TMP/tiny.cpio" tiny.off "$TMP/c3" exit)" '^exit clean=1' \
		'qemu-kvm boots a guest'
	;;
esac
no_probe_left() { ! grep -laz 'ccvm-kvm-probe' /proc/[0-9]*/cmdline >/dev/null 2>&1; }
check 'no probe is left running' wait_for 20 no_probe_left

tap_done
