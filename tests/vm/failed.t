#!/bin/sh
# What goes wrong says so: a guest that is not ready in time, an image that is not what was built, a broken way out.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

images=${XDG_DATA_HOME:-$HOME/.local/share}/ccvm/images

# ---- not ready by the deadline: an image whose init says one line and then nothing
mkdir -p "$TMP/stuck/ccvm/images"
cp -r "$images/base" "$TMP/stuck/ccvm/images/base"
mkdir "$TMP/initramfs"
printf '#include <unistd.h>\nint main(void) { write(1, "stuck on purpose\\n", 17); for (;;) pause(); }\n' |
	musl-gcc -static -x c -o "$TMP/initramfs/init" - 2>"$TMP/out"
ok $? 'an init that never gets ready' "$(cat "$TMP/out")"
(cd "$TMP/initramfs" && echo init | cpio -o -H newc 2>/dev/null) >"$TMP/stuck/ccvm/images/base/initramfs.cpio"
python3 - "$TMP/stuck/ccvm/images/base" <<'P'
import hashlib, json, sys
path = sys.argv[1] + "/image.json"
manifest = json.load(open(path))
for part in manifest["parts"]:
    if part["kind"] == "initramfs":
        content = open(sys.argv[1] + "/" + part["file"], "rb").read()
        part["size_bytes"], part["sha256"] = len(content), hashlib.sha256(content).hexdigest()
json.dump(manifest, open(path, "w"))
P
out=$(XDG_DATA_HOME=$TMP/stuck $ccvm up late --backend qemu-tcg --ready-timeout 8s 2>&1)
is $? 1 'a guest that is not ready in time fails'
like "$out" 'late.*not ready within 8 s' 'and says so'
like "$out" 'stuck on purpose' 'with the last lines of its console'
late_failed() { $ccvm ls | grep -Eq 'late +failed'; }
check 'ls shows it as failed' wait_for 10 late_failed
like "$($ccvm ls --json)" '"reason":.*"[^"]*not ready.*stuck on purpose' 'with the reason'
like "$($ccvm log late --console)" 'stuck on purpose' 'and its console can be read'
check 'no process is left' wait_for 10 vm_no_processes
check 'rm' $ccvm rm late

# ---- an image that was changed after it was built
mkdir -p "$TMP/data/ccvm/images"
cp -r "$images/base" "$TMP/data/ccvm/images/base"
rm -f "$TMP/data/ccvm/images/base/.verified"
check 'an untouched copy of the image is right' env XDG_DATA_HOME="$TMP/data" $ccvm image verify base
layer=$(basename "$TMP"/data/ccvm/images/base/*.squashfs)
printf 'x' | dd of="$TMP/data/ccvm/images/base/$layer" bs=1 seek=4096 conv=notrunc 2>/dev/null
XDG_DATA_HOME=$TMP/data $ccvm up tampered >"$TMP/out" 2>&1
is $? 1 'a changed image is refused'
like "$(cat "$TMP/out")" "$layer" 'and the part is named'
check 'nothing was started for it' wait_for 10 vm_no_processes
$ccvm rm tampered >/dev/null 2>&1
XDG_DATA_HOME=$TMP/data $ccvm up missing --image nosuch >"$TMP/out" 2>&1
ok $((! $?)) 'an image that does not exist is refused'
like "$(cat "$TMP/out")" 'nosuch' 'by name'
unlike "$($ccvm ls)" 'missing' 'and no VM is made'

# ---- a way out that does not work is never silent
check 'up alpha' $ccvm up alpha
# The guest's half breaks: lo goes down inside (ip is not in the image; the ioctl is).
$ccvm exec alpha -- perl -e '
	socket(my $s, 2, 2, 0) or die; my $r = pack("a16s", "lo", 0);
	ioctl($s, 0x8914, $r) or die "SIOCSIFFLAGS: $!"' >"$TMP/out" 2>&1
ok $? 'lo is taken down in the guest' "$(cat "$TMP/out")"
out=$($ccvm ping alpha 2>&1)
is $? 1 'ping fails'
like "$out" 'lo +BROKEN +down' 'and says which part'
egress_broken() { $ccvm ls | grep -Eiq 'alpha +ready .* broken'; }
check 'ls shows the egress as broken' wait_for 30 egress_broken
# And whole again.
$ccvm exec alpha -- perl -e '
	socket(my $s, 2, 2, 0) or die; my $r = pack("a16s", "lo", 1); ioctl($s, 0x8914, $r) or die' >/dev/null 2>&1
check 'ping is well again' wait_for 10 $ccvm ping alpha

# ---- broken from the start: a proxy that says it is ready and listens where nobody looks
mkdir "$TMP/bin"
cp build/ccvm build/ccvm-supervisor build/ccvm-vsock build/ccvm-guest "$TMP/bin"
cat >"$TMP/bin/ccvm-proxy" <<EOF
#!/bin/sh
[ "\$1" = --listen ] || exit 2
elsewhere=\$2.elsewhere
shift 2
exec $PWD/build/ccvm-proxy --listen "\$elsewhere" "\$@"
EOF
chmod +x "$TMP/bin/ccvm-proxy"
"$TMP/bin/ccvm" up mute >"$TMP/out" 2>"$TMP/err"
is $? 1 'up of a VM without a way out fails'
like "$(cat "$TMP/out")" '^mute ready .*egress: broken$' 'and reports it'
like "$(cat "$TMP/err")" 'VM mute runs, but its way out is broken: the proxy on the host does not answer' 'with the reason'
like "$($ccvm ls)" '^mute +ready .* BROKEN .*the proxy on the host does not answer' 'which ls repeats'
out=$($ccvm ping mute --json)
is "$?/$(printf '%s' "$out" | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(sorted(k for k, v in p.items() if v is False))')" "1/['ok', 'proxy_ok', 'vsock_reachable']" \
	'ping names the parts, as JSON too'
TMUX='' TERM=xterm-256color tmux -S "$TMP/tmux" -f /dev/null new-session -d -s dash -x 110 -y 30 build/ccvm
tap_on_exit 'tmux -S "$TMP/tmux" kill-server 2>/dev/null'
shows() { tmux -S "$TMP/tmux" capture-pane -p -t dash | grep -Eq -- "$1"; }
check 'and the dashboard as well' wait_for 20 shows '1 egress broken'
check 'with the reason' wait_for 5 shows 'the proxy on the host does not answer'
check 'while the program in it runs' test "$(in_vm mute echo well)" = well

# ---- wrong words change nothing
for words in 'up -x' 'up alpha beta' 'up UPPER' 'exec alpha' 'exec nosuch -- true' 'allow alpha *' 'nonsense' 'attach alpha'; do
	# shellcheck disable=SC2086
	$ccvm $words >"$TMP/out" 2>"$TMP/err" </dev/null
	code=$?
	[ "$code" -ne 0 ] && [ "$(wc -l <"$TMP/err")" -ge 1 ] && [ "$(wc -l <"$TMP/err")" -le 3 ]
	ok $? "ccvm $words: fails with a short line" "exit $code: $(cat "$TMP/err")"
done

tap_done
