#!/bin/sh
# The commands without a VM: help, usage errors, JSON, empty states, what is made when something is wrong (nothing), and
# what a power cut has left.
. "$(dirname "$0")/../lib/tap.sh"

mkdir -m 700 "$TMP/r" "$TMP/s" "$TMP/c" "$TMP/d"
mkdir "$TMP/c/ccvm"
export XDG_RUNTIME_DIR="$TMP/r" XDG_STATE_HOME="$TMP/s" XDG_CONFIG_HOME="$TMP/c" XDG_DATA_HOME="$TMP/d"
ccvm=build/ccvm
config=$TMP/c/ccvm/ccvm.ini

# run COMMAND...: status, out and err of it.
run() {
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out")
	err=$(cat "$TMP/err")
}
is_json() { printf '%s' "$out" | python3 -c 'import json, sys; json.load(sys.stdin)' 2>/dev/null; }

# ---- help
run $ccvm help
is "$status" 0 'help'
commands=$(printf '%s\n' "$out" | sed -n 's/^  \([a-z]*\)  *.*/\1/p')
for want in up ls attach send screen wait record exec ping log allow deny pause resume restart stop kill rm image doctor \
	version; do
	printf '%s\n' "$commands" | grep -qx "$want"
	ok $? "help names $want"
done
for command in $commands; do
	run $ccvm "$command" --help
	is "$status/$(head -n 1 "$TMP/out" | cut -d' ' -f1-3)/$err" "0/usage: ccvm $command/" "$command --help"
	like "$out" '^  -h, --help' "$command --help lists its options"
	cp "$TMP/out" "$TMP/help"
	run $ccvm help "$command"
	cmp -s "$TMP/out" "$TMP/help"
	ok $? "help $command says the same"
done
run $ccvm --help
like "$out" '^commands:' '--help'
run $ccvm --version
like "$out" '^ccvm [0-9]+\.[0-9]+\.[0-9]+$' '--version'
run $ccvm exec alpha -- env --help
unlike "$out" 'usage: ccvm' 'after -- it is not our --help'

# ---- usage errors: exit 2, one line on stderr that names the thing, nothing on stdout
usage() { # PATTERN ARGUMENTS...
	pattern=$1
	shift
	run $ccvm "$@"
	is "$status/$(printf '%s\n' "$err" | wc -l)/$out" '2/1/' "usage error: ccvm $*"
	like "$err" "$pattern" "it says: $pattern"
}
usage "unknown command 'attachh' .did you mean attach" attachh x
usage "unknown command 'frobnicate'" frobnicate
usage 'unknown option --frobnicate' --frobnicate
usage 'unknown option --jsno .did you mean --json' ls --jsno
usage 'unknown option -x' up -x
usage 'NAME is missing; usage: ccvm up NAME' up
usage "unexpected argument 'b'" up a b
usage "VM name 'A/b'" up A/b
usage 'option --memory needs a value: SIZE' up a --memory
usage 'option --memory is given twice' up a --memory 1G --memory 2G
usage '.--memory. .12Q. makes no sense|--memory: .12Q.' up a --memory 12Q
usage 'memory must be whole MiB, from 128M to 1T' up a --memory 2T
usage 'memory must be whole MiB, from 128M to 1T' up a --memory 64M
usage 'disk must be whole MiB, from 64M to 16T' up a --disk 17T
usage '.--cpus. .65. makes no sense|--cpus: .65.' up a --cpus 65
usage 'ready_timeout must be' up a --ready-timeout 10ms
usage "backend 'kvm' is not" up a --backend kvm
usage 'PROGRAM is missing; usage: ccvm exec' exec alpha
usage 'NAME is missing; usage: ccvm exec' exec
usage "unexpected argument 'ls' before --" exec alpha ls -- -l
usage "NAME=VALUE" exec alpha -e FOO -- env
usage '-t needs a terminal' exec -t alpha -- sh
usage 'attach needs a terminal' attach alpha
usage 'the dashboard needs a terminal'
usage 'the dashboard needs a terminal' dashboard
usage "'x' is no number of a terminal" attach alpha:x
usage "'0' is no number of a terminal" screen alpha:0
usage "'' is no number of a terminal" record alpha:
usage "VM name 'A'" wait A:1 --exit
usage 'RULE is missing; usage: ccvm allow' allow alpha
usage 'is a URL; the rule is only its host: x.example:80' allow alpha http://x.example/index.html
usage 'is a URL; the rule is only its host: x.example' allow alpha https://X.example
usage 'is a URL; a rule is HOST' deny alpha 'https://user@x.example/'
usage "--for '0s' is not a time like 10m, from 1s to 30d" allow alpha x.example --for 0s
usage "--for '31d' is not" allow alpha x.example --for 31d
usage "--for 'ever' is not" allow alpha x.example --for ever
usage 'option --for needs a value: TIME' allow alpha x.example --for
usage 'nothing to send' send alpha
usage "'Hyper-x' is no key" send alpha --key Hyper-x
usage '- is given twice' send alpha - -
usage 'give one of --ansi, --json and --svg' screen alpha --ansi --svg
usage "--history '-1' is not a number" screen alpha --history -1
usage "--history '1001' is not a number" screen alpha --svg --history 1001
usage 'give one of --attention, --text and --exit' wait alpha
usage 'give one of --attention, --text and --exit' wait alpha --exit --text x
usage "--attention 'bored' is not" wait alpha --attention bored
usage "--text '\(': " wait alpha --text '('
usage "--timeout 'soon' is no time" wait alpha --exit --timeout soon
usage 'NAME is missing; usage: ccvm pause' pause
usage "unexpected argument 'b'" restart a b
usage "top-level" allow alpha '*.test'
usage 'name of a VM, or --all' log
usage 'name of a VM, or --all' log alpha --all
usage '--lines .0. is not a number' log alpha -n 0
usage '--console does not go with' log alpha --console --json
usage 'names of VMs, or --all' stop
usage 'names of VMs, or --all' kill --all alpha
usage '--time' stop alpha --time soon
usage 'is not build, ls, verify or rm' image frobnicate
usage 'usage: ccvm image build' image build
usage "image name 'A'" image build A
usage '--yes belongs to --gc' doctor --yes
usage "unknown command 'frobnicate'" help frobnicate
usage "unknown command 'recordd' .did you mean record" help recordd

# ---- failures: exit 1, and what to do
fails() { # PATTERN ARGUMENTS...
	pattern=$1
	shift
	run $ccvm "$@"
	is "$status/$(printf '%s\n' "$err" | wc -l)/$out" '1/1/' "failure: ccvm $*"
	like "$err" "$pattern" "it says: $pattern"
}
for command in ping attach_ 'exec x' 'allow x' 'send x' 'wait x' screen record pause resume restart log stop kill rm; do
	case $command in
	'exec x') fails "no VM 'alpha'" exec alpha -- true ;;
	'allow x') fails "no VM 'alpha'" allow alpha x.example ;;
	'send x') fails "no VM 'alpha'" send alpha:2 text ;;
	'wait x') fails "no VM 'alpha'" wait alpha --exit ;;
	attach_) ;;
	*) fails "no VM 'alpha'" "$command" alpha ;;
	esac
done
fails 'no image|ccvm image build' up alpha
fails 'no image .base.|image base' image rm base
fails 'recipe' image build no-such-image
is "$(find "$TMP/s" "$TMP/r" -mindepth 2)" '' 'nothing was made'

printf '[vm]\nmemory = lots\n' >"$config"
fails 'ccvm.ini:2: bad value for memory' up alpha
printf '[egress]\nallow = *.com\n' >"$config"
run $ccvm up alpha
like "$err" 'com' 'a bad rule in the config is named'
is "$status" 1 'a bad rule in the config stops up'
: >"$config"
usage '1.2.3.4' up alpha --allow 1.2.3.4
is "$(find "$TMP/s" "$TMP/r" -mindepth 2)" '' 'nothing was made of it'

# ---- empty states and JSON
run $ccvm ls
is "$status/$out" '0/' 'ls without VMs'
like "$err" 'No VMs' 'says what to do'
run $ccvm ls --json
is "$status/$(printf '%s' "$out" | tr -d ' \n')/$err" '0/[]/' 'ls --json without VMs'
for list in ls list; do
	run $ccvm image $list
	like "$err" 'ccvm image build' "image $list without images says what to do"
done
for command in version ls 'image ls' doctor 'doctor --gc'; do
	# shellcheck disable=SC2086
	run $ccvm $command --json
	is_json
	ok $? "$command --json is JSON" "$out"
done
run $ccvm log --all
is "$status/$out/$err" '0//' 'log --all without VMs'
run $ccvm stop --all
is "$status/$out/$err" '0//' 'stop --all without VMs'
$ccvm version >/dev/full 2>"$TMP/err"
is "$?" 1 'a full disk is a failure'
like "$(cat "$TMP/err")" 'No space left' 'that is told'

# ---- doctor
run $ccvm doctor
for check in supervisor proxy vsock guest qemu kvm accelerator runtime state config image; do
	like "$out" "^(ok|warn|fail) +$check " "doctor looks at: $check"
done
chmod 755 "$TMP/r/ccvm"
run $ccvm doctor
is "$status" 1 'an open runtime folder is a failure'
like "$out" '^fail +runtime .*0700' 'that is named'
chmod 700 "$TMP/r/ccvm"

# ---- what a power cut has left
run $ccvm doctor --gc
is "$status/$out" '0/nothing is left over' 'doctor --gc of a clean machine'
mkdir -p "$TMP/r/ccvm/ghost" "$TMP/s/ccvm/half" "$TMP/s/ccvm/.made.tmp-999999-1" "$TMP/d/ccvm/images/.build-base"
: >"$TMP/r/ccvm/ghost/control.sock"
run $ccvm ls --json
is "$(printf '%s' "$out" | tr -d ' \n')" '[]' 'ls shows no ghost'
run $ccvm doctor --gc
for path in r/ccvm/ghost s/ccvm/half s/ccvm/.made.tmp-999999-1 d/ccvm/images/.build-base; do
	like "$out" "^found +$TMP/$path " "doctor --gc finds $path"
	[ -e "$TMP/$path" ]
	ok $? 'and only tells'
done
like "$err" '--gc --yes' 'and says how to remove it'
run $ccvm doctor --gc --yes
is "$status" 0 'doctor --gc --yes'
is "$(find "$TMP/r/ccvm" "$TMP/s/ccvm" -mindepth 1; ls "$TMP/d/ccvm/images")" '' 'removes all of it'

# ---- a VM that is only files
mkdir "$TMP/s/ccvm/alpha"
cat >"$TMP/s/ccvm/alpha/vm.json" <<'J'
{"name": "alpha", "image": "base", "backend": "auto", "memory_bytes": 536870912, "disk_bytes": 1073741824, "cpus": 1,
 "ready_timeout_ms": 120000, "created_ms": 1796073242123}
J
printf 'allow a.example:443\n' >"$TMP/s/ccvm/alpha/policy"
cat >"$TMP/s/ccvm/alpha/audit.jsonl" <<'J'
{"v":1,"seq":1,"t":"2026-11-29T21:30:00.123Z","vm":"alpha","ev":"open","conn":1,"host":"a.example","port":443,"why":null,"rule":"allow a.example:443","ip":"192.0.2.1:443"}
{"v":1,"seq":2,"t":"2026-11-29T21:30:01.000Z","vm":"alpha","ev":"deny","conn":2,"host":"x.example","port":443,"why":"no_rule","rule":null}
this is no record
{"v":1,"seq":3,"t":"2026-11-29T21:30:02.000Z","vm":"alpha","ev":"deny","conn":3,"host":null,"port":null,"why":"bad_request","rule":null,"raw":"GET \u001b[31m","raw_len":9}
J
printf 'boot\r\n\033[31mred\n' >"$TMP/s/ccvm/alpha/console.log"
run $ccvm ls
like "$out" '^alpha +stopped .*never started' 'ls shows a VM that was never started'
fails 'not running .ccvm up alpha' ping alpha
fails 'not running .ccvm up alpha' send alpha x
fails 'not running .ccvm up alpha' screen alpha
fails 'not running .ccvm up alpha' pause alpha
fails 'no image none|no image base|image base' restart alpha
fails 'did you mean alpha' ping alphaa
run $ccvm stop alpha
is "$status/$out" '0/alpha: was not running' 'stop of a stopped VM'
run $ccvm log alpha
is "$status/$(printf '%s\n' "$out" | wc -l)" '0/3' 'log'
like "$out" '^2026-11-29 21:30:01  DENIED +x.example:443 +no rule' 'a refusal as text'
like "$out" 'GET \\x1b\[31m' 'raw bytes are escaped'
run $ccvm log alpha --denied -n 1
is "$(printf '%s\n' "$out" | wc -l)" 1 'log --denied -n 1'
like "$out" 'GET' 'is the last one'
run $ccvm log --all --json --denied
is "$(printf '%s\n' "$out" | python3 -c 'import json, sys; print([json.loads(l)["seq"] for l in sys.stdin])')" '[2, 3]' \
	'log --json prints records'
$ccvm log alpha --denied -f >"$TMP/follow" 2>&1 &
follower=$!
tap_on_exit 'kill $follower 2>/dev/null'
check 'log -f shows what is there' wait_for 10 grep -q x.example "$TMP/follow"
for seq in 4 5; do # in pieces: a line is shown when it is whole
	printf '{"v":1,"seq":%s,"t":"2026-11-29T21:30:03.000Z","vm":"alpha","ev":"deny","conn":%s,"host":"late' $seq $seq
	printf '%s.example","port":443,"why":"no_rule","rule":null}\n' $seq
done >>"$TMP/s/ccvm/alpha/audit.jsonl"
check 'and goes on as it grows' wait_for 10 grep -q 'late5.example:443' "$TMP/follow"
kill $follower
wait $follower 2>/dev/null
is "$?/$(grep -c DENIED "$TMP/follow")" '143/4' 'until it is ended, each line once'
run $ccvm log alpha --console
is "$out" 'boot
\x1b[31mred' 'the console is escaped'
run $ccvm up alpha --memory 1G
is "$status" 1 'a fixed setting cannot be changed by up'
like "$err" 'another memory.*ccvm rm alpha' 'that is named'
run $ccvm image rm base
like "$err" 'no image' 'an image that is not there'
mkdir -p "$TMP/d/ccvm/images/base"
fails 'VM alpha is made from image base' image rm base
run $ccvm rm alpha
is "$status/$out" '0/alpha: removed' 'rm'
is "$(find "$TMP/r/ccvm" "$TMP/s/ccvm" -mindepth 1)" '' 'nothing of it is left'
run $ccvm image rm base
is "$status/$(ls "$TMP/d/ccvm/images")" '0/' 'image rm'

tap_done
