#!/bin/sh
# The dashboard makes, restarts, pauses and removes real VMs.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

sock=$TMP/tmux
console() { tmux -S "$sock" -f /dev/null "$@"; }
tap_on_exit 'console kill-server 2>/dev/null'
export TERM=xterm-256color LC_ALL=C.UTF-8
unset TMUX
console new-session -d -s dash -x 110 -y 30 "$ccvm; echo CLOSED \$?; sleep 1000"
shows() { console capture-pane -p -t dash | grep -Eq -- "$1"; }
shows_not() { ! shows "$1"; }
keys() { console send-keys -t dash "$@"; }

check 'an empty dashboard says how to begin' wait_for 20 shows 'N makes one'
keys N
check 'N opens the form' wait_for 20 shows 'New VM'
keys -l gamma
keys Tab Tab
keys -l 'a.example *.b.example:8443'
keys Enter
check 'making it is shown as it goes on' wait_for 20 shows '(up gamma .*reads|booting|creating)'
check 'and the VM becomes ready' wait_for 180 shows 'gamma +[^ ]+ (ready|idle|working)'
is "$(grep -c ^allow "$XDG_STATE_HOME/ccvm/gamma/policy")" 2 'it may reach the two hosts'
check 'its terminal is there' wait_for 60 shows 'root@|[$#] *$'
keys Enter
check 'Enter types' wait_for 20 shows 'TYPING gamma'
keys -l 'echo in-$((20+3))-vm'
keys Enter
check 'into the guest' wait_for 30 shows 'in-23-vm'
keys 'C-]' p
check 'p lets it stand still' wait_for 30 shows '(paused|1 paused)'
keys p
check 'and go on' wait_for 30 shows_not '1 paused'
keys R
check 'a restart asks' wait_for 20 shows 'restart gamma\? y/n'
first=$($ccvm ls --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["supervisor_pid"])')
keys y
restarted() {
	now=$($ccvm ls --json | python3 -c 'import json,sys; v=json.load(sys.stdin)[0]; print(v["state"], v["supervisor_pid"])')
	[ "${now% *}" = ready ] && [ "${now#* }" != "$first" ]
}
check 'and another supervisor runs it' wait_for 240 restarted
keys D
check 'removing asks' wait_for 20 shows 'gamma.*\? y/n'
keys y
check 'and then it is gone' wait_for 60 shows 'N makes one'
check 'with all of its files' test ! -e "$XDG_STATE_HOME/ccvm/gamma"
keys N
wait_for 20 shows 'New VM'
keys -l delta
keys Tab C-u
keys -l no-such-image
keys Enter
check 'an image that is not there is told' wait_for 30 shows 'no-such-image|no image'
keys Escape
wait_for 20 shows_not 'New VM'
keys q
check 'q leaves' wait_for 10 shows 'CLOSED 0'

tap_done
