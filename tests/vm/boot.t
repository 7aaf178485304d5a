#!/bin/sh
# A real VM, end to end: it boots, has no network card, reaches what is allowed and is refused the rest, and the log
# tells. Issue tests 1, 3 and the live policy.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

upstream_start
ok $? 'local servers run'

out=$($ccvm up alpha --allow allowed.test --allow burst.test --allow count.test:7 2>&1)
ok $? 'up alpha' "$out"
like "$out" 'alpha.*ready' 'up says when it is ready'
like "$out" 'egress: ok' 'up reports the egress path'
like "$out" 'qemu-(tcg|kvm)' 'up says which backend runs'

is "$($ccvm ls --json | python3 -c 'import json,sys; v=json.load(sys.stdin); v=v if isinstance(v, list) else v["vms"]; print(v[0]["name"], v[0]["state"], v[0]["egress"])')" \
	'alpha ready ok' 'ls --json'
check 'ping' $ccvm ping alpha

# ---- what QEMU was started with
vmm=$($ccvm ls --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["vmm_pid"])')
tr '\0' '\n' <"/proc/$vmm/cmdline" >"$TMP/qemu"
is "$(grep -A1 '^-nic$' "$TMP/qemu" | tail -n 1)" none 'QEMU runs without a network card'
is "$(grep -cE '^-(net|netdev|monitor|qmp|serial|redir|fsdev|virtfs|gdb|s)$|(e1000|rtl8139|virtio-net|vmxnet|usb-net|stdio)' "$TMP/qemu")" 1 \
	'nothing else that leads out, no monitor on stdio'
is "$(grep -A1 '^-serial$' "$TMP/qemu" | tail -n 1)" 'chardev:console' '(the one is the console)'
like "$(grep -A1 '^-sandbox$' "$TMP/qemu")" '^on,.*spawn=deny' 'with its sandbox on'
is "$(sed -n 's/^Seccomp:\t//p' "/proc/$vmm/status")" 2 'which the kernel confirms'
is "$(grep -A1 '^-mon$' "$TMP/qemu" | tail -n 1)" 'chardev=qmp,mode=control' 'its only monitor is QMP'
is "$(readlink "/proc/$vmm/fd/3" "/proc/$vmm/fd/4" | sed 's/:.*//' | tr '\n' ' ')" 'socket socket ' 'on a socket of its own'
is "$(readlink "/proc/$vmm/fd/0")" '/dev/null' 'and stdin is nothing'

# ---- no network but the proxy
is "$(in_vm alpha ls /sys/class/net)" 'lo' 'the guest has no network card'
like "$(in_vm alpha cat /sys/class/net/lo/flags)" '0x.*[9bdf]$' 'lo is up'
is "$(in_vm alpha sh -c 'cat /etc/resolv.conf 2>/dev/null')" '' 'no resolver in the guest'

# ---- allowed and refused
in_vm alpha sh -c 'cat >/root/ca.pem' <"$TMP/ca.pem"
ok $? 'exec takes stdin'
is "$(in_vm alpha curl -sS --cacert /root/ca.pem https://allowed.test/)" 'hello from the other side' \
	'an allowed host is reached through relay, vsock and proxy'
out=$(in_vm alpha curl -sS --cacert /root/ca.pem https://refused.test/ 2>&1)
ok $((! $?)) 'a refused host fails'
like "$out" '403' 'with the answer 403 of the proxy'
unlike "$out" 'resolve' 'and not by name resolution'
out=$(in_vm alpha curl -svS --cacert /root/ca.pem https://refused.test/ 2>&1)
like "$out" 'HTTP/1.1 403 .*refused.test' 'the status line names the host'

out=$($ccvm log alpha --denied)
like "$out" 'refused.test:443' 'the log shows the refused host'
unlike "$out" 'allowed.test' 'and not the allowed one as refused'
is "$(python3 - "$XDG_STATE_HOME/ccvm/alpha/audit.jsonl" <<'P'
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
assert [r["seq"] for r in records] == list(range(records[0]["seq"], records[0]["seq"] + len(records)))
seen = {(r["ev"], r.get("host")) for r in records}
print(sorted(e for e, h in seen if h == "allowed.test"), sorted(e for e, h in seen if h == "refused.test"))
P
)" "['close', 'open'] ['deny']" 'the audit log holds open, close and deny'

# ---- the same request passes when it is allowed, at once, and not any more when it is denied
out=$($ccvm allow alpha refused.test)
ok $? 'allow' "$out"
like "$out" 'refused.test:443' 'allow prints the rule in full'
is "$(in_vm alpha curl -sS --cacert /root/ca.pem https://refused.test/)" 'hello from the other side' \
	'the refused host is reached once it is allowed'
check 'deny' $ccvm deny alpha refused.test
like "$(in_vm alpha curl -sS --cacert /root/ca.pem https://refused.test/ 2>&1)" '403' 'and refused again once it is denied'
$ccvm allow alpha '*.test' >"$TMP/out" 2>&1
ok $((! $?)) 'a rule for a whole top-level domain is refused' "$(cat "$TMP/out")"

# ---- environment, with and without a caller's
like "$(in_vm alpha env)" '^https_proxy=http://127.0.0.1:3128$' 'proxy variables without a caller environment'
out=$(timeout 60 $ccvm exec alpha -e FOO=bar -- env)
like "$out" '^https_proxy=http://127.0.0.1:3128$' 'and with one'
like "$out" '^FOO=bar$' 'which arrives too'

# ---- exec: streams apart, exit codes
out=$(in_vm alpha sh -c 'echo out; echo err >&2; exit 3' 2>"$TMP/err")
is "$?/$out/$(cat "$TMP/err")" '3/out/err' 'exec keeps stdout, stderr and the exit code apart'
in_vm alpha sh -c 'kill -TERM $$' >/dev/null 2>&1
is $? 143 'a signal gives 128 + n'
in_vm alpha /no/such/program >/dev/null 2>&1
is $? 127 'a program that is not there gives 127'

# ---- 16 MiB each way through exec and through the tunnel
head -c 16777216 /dev/urandom >"$TMP/big"
sum=$(sha256sum <"$TMP/big" | cut -d' ' -f1)
is "$(in_vm alpha sh -c 'tee /root/big | sha256sum | cut -d" " -f1' <"$TMP/big")" "$sum" '16 MiB into the guest arrive whole'
is "$(in_vm alpha cat /root/big | sha256sum | cut -d' ' -f1)" "$sum" '16 MiB out of the guest arrive whole'
want=$(curl -sS --cacert "$TMP/ca.pem" --resolve "allowed.test:$tls_port:127.0.0.1" \
	"https://allowed.test:$tls_port/bytes/16777216" | sha256sum | cut -d' ' -f1)
is "$(in_vm alpha sh -c 'curl -sS --cacert /root/ca.pem https://allowed.test/bytes/16777216 | sha256sum | cut -d" " -f1')" \
	"$want" '16 MiB through the tunnel into the guest arrive whole'
is "$(in_vm alpha curl -sS --cacert /root/ca.pem --data-binary @/root/big https://allowed.test/hash)" "$sum" \
	'16 MiB through the tunnel out of the guest arrive whole'

# ---- bursts and half-close, with the guest's own perl
cat >"$TMP/tunnel.pl" <<'P'
use strict; use IO::Socket::INET;
sub tunnel {
	my ($target) = @_;
	my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1:3128') or die "connect: $!";
	print $s "CONNECT $target HTTP/1.1\r\nHost: $target\r\n\r\n"; $s->flush;
	my $head = '';
	while ($head !~ /\r\n\r\n$/) { sysread($s, my $c, 1) or die "no answer: $head"; $head .= $c }
	$head =~ /^HTTP\/1.1 200 / or die $head;
	return $s;
}
sub drain { my ($s) = @_; my $all = ''; while (sysread($s, my $piece, 65536)) { $all .= $piece } return $all }
if ($ARGV[0] eq 'burst') {
	my $bad = 0;
	for (1 .. 200) { my $n = length drain(tunnel('burst.test:443')); if ($n != 7728) { $bad++; print "got $n\n" } }
	print "bad $bad\n";
} else {
	my $s = tunnel('count.test:7');
	syswrite($s, 'y' x 50000) for 1 .. 20;
	shutdown($s, 1);
	print drain($s);
}
P
in_vm alpha sh -c 'cat >/root/tunnel.pl' <"$TMP/tunnel.pl"
is "$(in_vm alpha perl /root/tunnel.pl burst 2>&1)" 'bad 0' 'an upstream that sends 7,728 bytes and closes, 200 times, loses none'
is "$(in_vm alpha perl /root/tunnel.pl count 2>&1)" \
	"1000000 $(head -c 1000000 /dev/zero | tr '\0' y | sha256sum | cut -d' ' -f1)" \
	'a half-close of the guest reaches the server and its answer comes back'

# ---- host names that try to look like something else (egress.md A7, A8), from inside
like "$(in_vm alpha curl -sS https://evil.test/api.anthropic.com 2>&1)" '403' 'evil.test/allowed-name is refused'
for target in 'evil.test@allowed.test:443' '127.0.0.1:443' '2130706433:443' 'allowed.test.evil.test:443' 'notallowed.test:443'; do
	out=$(in_vm alpha perl -MIO::Socket::INET -e '
		my $s = IO::Socket::INET->new("127.0.0.1:3128"); print $s "CONNECT $ARGV[0] HTTP/1.1\r\n\r\n"; print <$s>' "$target")
	like "$out" '^HTTP/1.1 40[03] ' "$target is refused"
done

# ---- a second VM that may reach nothing, with limits of its own
check 'up beta' $ccvm up beta --cpus 2 --memory 300M --disk 200M
like "$(in_vm beta curl -sS https://allowed.test/ 2>&1)" '403' 'a VM without an allow-list reaches nothing'
is "$(in_vm beta nproc)" 2 'a guest has the processors that it was given'
kib=$(in_vm beta sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
[ "$kib" -gt $((200 * 1024)) ] && [ "$kib" -lt $((300 * 1024)) ]
ok $? 'and the memory' "$kib KiB of 300 MiB"
kib=$(in_vm beta df -k --output=size / | tail -n 1)
[ "$kib" -gt $((150 * 1024)) ] && [ "$kib" -le $((200 * 1024)) ]
ok $? 'and the disk' "$kib KiB of 200 MiB"
out=$(in_vm beta sh -c 'head -c 250000000 /dev/zero >/root/too-much; echo $?; rm /root/too-much' 2>&1)
like "$out" 'No space left' 'which ends where it was told to'
size=$(du -k "$XDG_STATE_HOME/ccvm/beta/disk.img" | cut -f1)
[ "$size" -le $((201 * 1024)) ]
ok $? 'on the host as well' "$size KiB"

# ---- the dashboard tells as it happens, of all VMs, newest last
sock=$TMP/tmux
console() { TMUX='' tmux -S "$sock" -f /dev/null "$@"; }
tap_on_exit 'console kill-server 2>/dev/null'
console new-session -d -s dash -x 110 -y 34 'TERM=screen-256color build/ccvm; echo CLOSED; sleep 1000'
shows() { console capture-pane -p -t dash | grep -Eq -- "$1"; }
check 'the dashboard shows alpha' wait_for 20 shows 'alpha +.* ready'
check 'and beta' wait_for 20 shows 'beta +.* ready'
unlike "$(console capture-pane -p -t dash)" 'watched.test' 'nothing of a host that was not asked for'
for vm in alpha beta; do
	in_vm $vm curl -sS "https://watched-$vm.test/" >/dev/null 2>&1
	check "a request that $vm is refused comes up in the feed" wait_for 10 shows "$vm +watched-$vm.test:443 +no rule"
done
in_vm alpha curl -sS --cacert /root/ca.pem https://allowed.test/ >/dev/null
feed() { console capture-pane -p -t dash | sed -n '/Denied/,$p'; }
is "$(feed | grep -o 'watched-[a-z]*' | tr '\n' ' ')" 'watched-alpha watched-beta ' 'the newest is the last'
like "$(feed)" 'Denied [0-9]+' 'under the title of what was denied'
unlike "$(feed)" 'alpha +allowed.test:443' 'where no allowed request stands'
# The count comes from the supervisor and the log from the proxy: they agree, but not at the same moment.
denied_of() { $ccvm ls --json | python3 -c 'import json,sys; print(next(v["denied"] for v in json.load(sys.stdin) if v["name"] == sys.argv[1]))' "$1"; }
counts_all() { [ "$(denied_of alpha)" = "$(grep -c '"ev":"deny"' "$XDG_STATE_HOME/ccvm/alpha/audit.jsonl")" ]; }
check 'and each refusal of the VM is counted' wait_for 10 counts_all
console send-keys -t dash q
check 'q leaves' wait_for 10 shows CLOSED

check 'stop beta' $ccvm stop beta
like "$($ccvm ls)" 'beta +. stopped|beta +stopped' 'ls shows it as stopped'

tap_done
