#!/bin/sh
# The newcomer's way: `make run` in a terminal shows two VMs, the second time at once; without a terminal it says so. And
# the installed programs work as the built ones do.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

make --no-print-directory run </dev/null >"$TMP/out" 2>&1
is $? 2 'make run without a terminal exits 2'
like "$(tail -n 2 "$TMP/out")" 'needs a terminal' 'and says why'

sock=$TMP/tmux
console() { tmux -S "$sock" -f /dev/null "$@"; }
tap_on_exit 'console kill-server 2>/dev/null'
export TERM=xterm-256color
unset TMUX
console new-session -d -s run -x 100 -y 30 "make --no-print-directory run; echo CLOSED \$?; sleep 1000"
shows() { console capture-pane -p -t run | grep -Eq -- "$1"; }
check 'make run shows alpha' wait_for 120 shows 'alpha .*ready'
check 'and beta' wait_for 120 shows 'beta .*ready'
is "$(grep -c ^allow "$XDG_STATE_HOME/ccvm/alpha/policy")" 2 'alpha may reach two hosts'
is "$(grep -c ^allow "$XDG_STATE_HOME/ccvm/beta/policy")" 0 'beta none'
console send-keys -t run q
check 'q leaves' wait_for 10 shows 'CLOSED 0'
before=$(cat "$XDG_STATE_HOME"/ccvm/*/vm.json | sha256sum)
console respawn-pane -k -t run "make --no-print-directory run; echo CLOSED \$?; sleep 1000"
check 'a second make run is back with both' wait_for 20 shows 'beta .*ready'
is "$(cat "$XDG_STATE_HOME"/ccvm/*/vm.json | sha256sum)" "$before" 'on the same VMs'
console send-keys -t run q
check 'q leaves again' wait_for 10 shows 'CLOSED 0'

# ---- installed
check 'make install' make --no-print-directory install PREFIX="$TMP/usr"
is "$(find "$TMP/usr" -type f -perm -u+x | sed "s|$TMP/usr/||" | sort | tr '\n' ' ')" \
	'bin/ccvm libexec/ccvm/ccvm-guest libexec/ccvm/ccvm-proxy libexec/ccvm/ccvm-supervisor libexec/ccvm/ccvm-vsock ' \
	'five programs are installed'
installed=$TMP/usr/bin/ccvm
like "$($installed ls)" 'alpha' 'the installed ccvm sees the VMs'
check 'stop' $installed stop alpha
check 'up with the installed programs' $installed up gamma
like "$(tr '\0' ' ' <"/proc/$($installed ls --json | python3 -c '
import json, sys
print(next(v["supervisor_pid"] for v in json.load(sys.stdin) if v["name"] == "gamma"))')/cmdline")" "$TMP/usr/bin/../libexec/ccvm/ccvm-supervisor" \
	'which run its own supervisor'
check 'the installed recipe is found and nothing is built again' $installed image build base
check 'uninstall' make --no-print-directory uninstall PREFIX="$TMP/usr"
is "$(find "$TMP/usr" -type f)" '' 'leaves nothing'

tap_done
