#!/bin/sh
# ccvm-vsock as a program: options, exit codes, its sockets, and a fake QEMU with a fake guest in front of it.
. "$(dirname "$0")/../lib/tap.sh"

vsock=$PWD/build/ccvm-vsock
front=$PWD/build/tests/e2e/vsock_front
device=
tap_on_exit '[ -z "$device" ] || kill "$device" 2>/dev/null'

usage() { # NAME WANTED-TEXT ARGUMENT...: exit 2 and one line that names the thing
	usage_name=$1 usage_want=$2
	shift 2
	usage_out=$("$vsock" "$@" 2>&1 >/dev/null)
	is "$?" 2 "$usage_name: exit 2"
	like "$usage_out" "$usage_want" "$usage_name: says what is wrong"
}

like "$("$vsock" --help)" '^usage: ccvm-vsock ' '--help'
like "$("$vsock" --version)" '^ccvm-vsock [0-9]' '--version'
usage 'no options' '--socket, --uds and --cid'
usage 'host address as cid' 'cid must be 3 to 4294967294, not 2' --socket "$TMP/q" --uds "$TMP/v" --cid 2
usage 'cid over 32 bits' 'not 4294967295' --socket "$TMP/q" --uds "$TMP/v" --cid 4294967295
usage 'unknown option' 'unrecognized option' --frobnicate
usage 'stray argument' 'unexpected argument x' --socket "$TMP/q" --uds "$TMP/v" --cid 3 x

long=$TMP/$(printf '%090d' 0)
out=$("$vsock" --socket "$TMP/q" --uds "$long" --cid 3 2>&1)
is "$?" 1 'a path that leaves no room for a port: exit 1'
like "$out" 'longer than' 'and the reason'
out=$("$vsock" --socket "$TMP/no/such/folder" --uds "$TMP/v" --cid 3 2>&1)
is "$?" 1 'a folder that does not exist: exit 1'
like "$out" 'no/such/folder' 'and its name'

start() {
	rm -f "$TMP"/v* "$TMP"/q "$TMP/ready"
	"$vsock" --socket "$TMP/q" --uds "$TMP/v" --cid 42 --notify-fd 3 3>"$TMP/ready" 2>"$TMP/log" &
	device=$!
	wait_for 20 grep -q '^ready$' "$TMP/ready"
}
finish() { # WANTED-CODE NAME
	wait "$device"
	is "$?" "$1" "$2: exit $1"
	device=
	is "$(find "$TMP" -type s ! -name 'v_*')" '' "$2: its sockets are gone"
}

start
ok $? 'says that it is ready'
is "$(stat -c %a "$TMP/q") $(stat -c %a "$TMP/v")" '600 600' 'sockets are for this user only'
kill -TERM "$device"
finish 0 'SIGTERM'

scenario() { # NAME WANTED-CODE
	start
	check "$1" "$front" "$TMP/q" "$TMP/v" "$1"
	finish "$2" "$1"
}
scenario guest-to-host 0
scenario host-to-guest 0
scenario last-words 0
scenario broken-ring 0
like "$(cat "$TMP/log")" 'transmit queue is stopped' 'a broken ring is logged'
is "$(wc -l <"$TMP/log")" 1 'once'
scenario bad-message 1
like "$(cat "$TMP/log")" 'SET_VRING_NUM for vring 2' 'a bad message is named'
hard=$(prlimit --nofile --output HARD --noheadings | tr -d ' ')
if [ "$hard" = unlimited ] || [ "$hard" -ge 2048 ]; then
	start
	is "$("$front" "$TMP/q" "$TMP/v" many)" '1023 connections' 'the limit of connections'
	finish 0 many
fi
tap_done
