#!/bin/sh
# Nothing is left behind: five VMs, each loses another part in the hardest way, and afterwards no process, socket, folder
# or disk of them exists. ls never shows a ghost. Issue test 5.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

field() { # NAME FIELD: of ls --json
	$ccvm ls --json | python3 -c '
import json, sys
vms = json.load(sys.stdin)
vms = vms if isinstance(vms, list) else vms["vms"]
print(next((str(v.get(sys.argv[2])) for v in vms if v["name"] == sys.argv[1]), "none"))' "$1" "$2"
}
state_is() { [ "$(field "$1" state)" = "$2" ]; }
child_of() { # SUPERVISOR_PID NAME
	for pid in $(cat "/proc/$1/task/$1/children"); do
		case $(tr '\0' ' ' <"/proc/$pid/cmdline") in *"$2"*) echo "$pid" ;; esac
	done
}
gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }

# Five at once, on purpose.
for vm in a b c d e; do
	$ccvm up "$vm" --memory 256M >"$TMP/up-$vm" 2>&1 &
done
wait
for vm in a b c d e; do
	is "$(field $vm state)" ready "up $vm" || cat "$TMP/up-$vm"
done

$ccvm up a >"$TMP/out" 2>&1
ok $((! $?)) 'up of a running VM fails'
like "$(cat "$TMP/out")" 'a.*(running|already)' 'and says that it runs'

# ---- stop
check 'stop a' $ccvm stop a
is "$(field a state)" stopped 'a is stopped'
[ ! -e "$XDG_RUNTIME_DIR/ccvm/a" ]
ok $? 'its runtime folder is gone'

# ---- the supervisor, killed: its children go with it
sup=$(field b supervisor_pid)
kids=$(cat "/proc/$sup/task/$sup/children")
kill -9 "$sup"
left=
for pid in $kids; do wait_for 10 gone "$pid" || left="$left $pid"; done
is "$(echo "$kids" | wc -w)/$left" '3/' 'a killed supervisor takes its three children with it'
check 'ls shows it as failed' wait_for 5 state_is b failed
like "$($ccvm ls)" 'supervisor' 'and says why'
check 'the same VM can be started again' $ccvm up b
is "$(field b state)" ready 'and is ready'
kill -9 "$(field b supervisor_pid)"

# ---- QEMU, killed
kill -9 "$(field c vmm_pid)"
check 'a killed VMM makes the VM failed' wait_for 20 state_is c failed
like "$(field c reason)" 'qemu|VMM|killed|signal' 'with a reason'

# ---- the proxy, killed: the VM goes on with a new one
sup=$(field d supervisor_pid)
proxy=$(child_of "$sup" ccvm-proxy)
kill -9 "$proxy"
new_proxy() { p=$(child_of "$sup" ccvm-proxy) && [ -n "$p" ] && [ "$p" != "$proxy" ] && $ccvm ping d; }
check 'a killed proxy is started again and the VM goes on' wait_for 30 new_proxy
is "$(field d state)" ready 'the VM stayed ready'

# ---- the vsock device, killed
kill -9 "$(child_of "$(field e supervisor_pid)" ccvm-vsock)"
check 'a killed vsock device makes the VM failed' wait_for 20 state_is e failed
like "$(field e reason)" 'vsock' 'with a reason that names it'

# ---- what a power cut would leave
mkdir -p "$XDG_RUNTIME_DIR/ccvm/ghost" "$XDG_STATE_HOME/ccvm/half"
: >"$XDG_RUNTIME_DIR/ccvm/ghost/control.sock"
unlike "$($ccvm ls)" 'ghost' 'ls shows no ghost of a runtime folder'
out=$($ccvm doctor --gc 2>&1)
like "$out" 'ghost' 'doctor --gc finds it'
[ -d "$XDG_RUNTIME_DIR/ccvm/ghost" ] && [ -d "$XDG_STATE_HOME/ccvm/half" ]
ok $? 'and only tells'
$ccvm doctor --gc --yes >"$TMP/out" 2>&1
[ ! -e "$XDG_RUNTIME_DIR/ccvm/ghost" ] && [ ! -e "$XDG_STATE_HOME/ccvm/half" ]
ok $? 'until told --yes' "$(cat "$TMP/out")"
is "$(field d state)" ready 'a running VM is left alone'

# ---- rm
$ccvm rm d >"$TMP/out" 2>&1
ok $((! $?)) 'rm of a running VM is refused'
check 'rm --force' $ccvm rm --force d
check 'rm of the others' $ccvm rm a b c e
is "$($ccvm ls --json | tr -d ' \n')" "$(printf '[]')" 'ls is empty'
check 'no process is left' wait_for 10 vm_no_processes
is "$(ls -A "$XDG_RUNTIME_DIR/ccvm")" '' 'no runtime folder or socket is left'
is "$(ls -A "$XDG_STATE_HOME/ccvm")" '' 'no state folder or disk is left'

tap_done
