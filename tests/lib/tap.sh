# shellcheck shell=sh
# TAP for shell tests: `. tests/lib/tap.sh`, then ok/is/like/skip, and tap_done at the end.
# The working folder is the project's root. TMP is a private folder that goes away with the test.

cd "$(dirname "$0")/.." && { [ -f Makefile ] || cd ..; } || exit 2
tap_count=0
tap_failed=0
TMP=$(mktemp -d "${TMPDIR:-/tmp}/ccvm-t.XXXXXX") || exit 2
tap_hooks=
# tap_on_exit COMMAND: run when the test ends, however it ends; the last one first.
tap_on_exit() { tap_hooks="$1
$tap_hooks"; }
tap_cleanup() {
	tap_status=$?
	trap - EXIT INT TERM HUP PIPE
	eval "$tap_hooks"
	rm -rf "$TMP"
	exit "$tap_status"
}
trap tap_cleanup EXIT
trap 'exit 130' INT TERM HUP PIPE

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

# ok STATUS NAME [DETAIL]: passes when STATUS is 0.
ok() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $2"
		[ -z "${3-}" ] || diag "$2: $3" >&2 # prove shows stderr
	fi
	return 0
}

# check NAME COMMAND...: passes when the command does; its output is shown when it does not.
check() {
	tap_name=$1
	shift
	tap_out=$("$@" 2>&1)
	ok $? "$tap_name" "$tap_out"
}

is() { # GOT WANT NAME
	[ "$1" = "$2" ]
	ok $? "$3" "got:  '$1'
want: '$2'"
}

like() { # TEXT ERE NAME
	printf '%s\n' "$1" | grep -Eq -- "$2"
	ok $? "$3" "no match for /$2/ in:
$1"
}

unlike() { # TEXT ERE NAME
	! printf '%s\n' "$1" | grep -Eq -- "$2"
	ok $? "$3" "unexpected match for /$2/ in:
$1"
}

# wait_for SECONDS COMMAND...: polls until the command succeeds; fails at the deadline.
wait_for() {
	tap_end=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$tap_end" ] || return 1
		sleep 0.05
	done
}

tap_done() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ] || exit 1
	exit 0
}
