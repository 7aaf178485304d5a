#!/bin/sh
# ccvm-supervisor by itself, as far as it goes without an image: what it refuses, what it says to whoever started it, and
# that nothing is left of a VM that could not be set up.
. "$(dirname "$0")/../lib/tap.sh"

supervisor=build/ccvm-supervisor
mkdir -m 700 "$TMP/r" "$TMP/s" "$TMP/d"
export XDG_RUNTIME_DIR="$TMP/r" XDG_STATE_HOME="$TMP/s" XDG_DATA_HOME="$TMP/d" XDG_CACHE_HOME="$TMP/c"

describe() { # NAME BACKEND: as `ccvm up` does
	mkdir -p "$TMP/s/ccvm/$1"
	printf '{"name":"%s","image":"none","backend":"%s","memory_bytes":268435456,"disk_bytes":134217728,"cpus":1,"ready_timeout_ms":60000,"created_ms":1}\n' \
		"$1" "$2" >"$TMP/s/ccvm/$1/vm.json"
	echo 'allow a.test' >"$TMP/s/ccvm/$1/policy"
}
run() { # NAME: its exit code is in $code, what it told in $TMP/told
	timeout 60 $supervisor "$1" --ready-fd 9 9>"$TMP/told" 2>"$TMP/err"
	code=$?
}
status() { python3 -c 'import json,sys; s=json.load(open(sys.argv[1])); print(s["state"], s["reason"])' "$TMP/s/ccvm/$1/status.json"; }

like "$($supervisor --help)" '^usage: ccvm-supervisor NAME' 'help'
like "$($supervisor --version)" '^ccvm-supervisor [0-9]' 'version'
for args in '' 'Bad' '../x' 'a b' 'a --nonsense' 'a --ready-fd 77' 'a --ready-fd x'; do
	# shellcheck disable=SC2086
	$supervisor $args >"$TMP/out" 2>&1
	is $? 2 "usage error: '$args'"
done

run unknown
is "$code" 1 'a VM that was never described'
like "$(cat "$TMP/told")" '^error VM unknown: .*vm.json: no such file$' 'is an error with its name'
[ ! -e "$TMP/r/ccvm/unknown" ]
ok $? 'and makes no runtime folder'

describe a nonsense
run a
is "$code" 1 'a description that makes no sense'
like "$(cat "$TMP/told")" "^error VM a: .*backend 'nonsense'" 'says what is wrong'

describe a qemu-tcg
run a
is "$code" 1 'a VM without an image fails'
is "$(cat "$TMP/told")" listening 'after it has listened'
like "$(status a)" "^failed no image none: build it with 'ccvm image build none'" 'the reason stays readable'
is "$(ls -A "$TMP/r/ccvm")" '' 'and the runtime folder is gone'
like "$(cat "$TMP/s/ccvm/a/supervisor.log")" 'failing -> failed' 'the log tells'

describe b qemu-tcg
echo 'allow *' >"$TMP/s/ccvm/b/policy"
mkdir -p "$TMP/d/ccvm/images"
run b
like "$(status b)" '^failed ' 'a policy that is none is no reason to run without one'

# Somebody holds the lock.
mkdir -m 700 "$TMP/r/ccvm/a"
python3 - "$TMP/r/ccvm/a/lock" "$TMP/held" <<'P' &
import fcntl, sys, time
f = open(sys.argv[1], "w")
fcntl.flock(f, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(60)
P
holder=$!
tap_on_exit "kill $holder 2>/dev/null"
wait_for 20 test -e "$TMP/held"
touch "$TMP/r/ccvm/a/vsock.sock"
run a
is "$code" 1 'a second supervisor of the same VM'
like "$(cat "$TMP/told")" '^error VM a runs already' 'is told so'
[ -e "$TMP/r/ccvm/a/vsock.sock" ]
ok $? 'and touches nothing of the first'
kill "$holder"
wait "$holder" 2>/dev/null
run a
is "$(cat "$TMP/told")" listening 'what a dead one left is taken over'
is "$(ls -A "$TMP/r/ccvm")" '' 'and goes away'

tap_done
