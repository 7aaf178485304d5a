#!/bin/sh
# Scripting, as tmux users expect it: send, screen, wait, record, pause and VM:terminal, against a supervisor without a VM (real
# sessions and terminals, real shells of this machine).
. "$(dirname "$0")/../lib/tap.sh"

mkdir -m 700 "$TMP/r" "$TMP/s" "$TMP/c" "$TMP/d"
export XDG_RUNTIME_DIR="$TMP/r" XDG_STATE_HOME="$TMP/s" XDG_CONFIG_HOME="$TMP/c" XDG_DATA_HOME="$TMP/d" TZ=UTC
ccvm=build/ccvm

run() { # COMMAND...: status, out and err of it.
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	out=$(cat "$TMP/out")
	err=$(cat "$TMP/err")
}
fails() { # STATUS PATTERN COMMAND...
	want=$1 pattern=$2
	shift 2
	run "$@"
	is "$status/$out" "$want/" "$* fails with $want"
	like "$err" "$pattern" "it says: $pattern"
}
json() { printf '%s' "$out" | python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }
shows() { $ccvm screen "$1" | grep -qE -- "$2"; }

mkfifo "$TMP/alpha.in"
build/tests/e2e/fake_supervisor alpha <"$TMP/alpha.in" >"$TMP/alpha.out" 2>&1 &
fake=$!
tap_on_exit 'kill -9 $fake 2>/dev/null'
exec 8>"$TMP/alpha.in"
check 'the supervisor is there' wait_for 10 grep -q ready "$TMP/alpha.out"
tell() { printf '%s\n' "$*" >&8; }

# ---- a VM without terminals: looking starts none
fails 1 'VM alpha has no terminal; ccvm attach alpha starts one' $ccvm screen alpha
fails 1 'has no terminal' $ccvm record alpha
fails 1 'has no terminal' $ccvm wait alpha --exit
run $ccvm ls --json
is "$(json 'd[0]["terminals"]')" '[]' 'and none was started'

# ---- send
run $ccvm send alpha 'echo hi-$((40+2))' --enter
is "$status/$out/$err" '0//' 'send starts a shell where there is none'
run $ccvm wait alpha --text 'hi-4[0-9]$' --timeout 20s
is "$status/${out#'$ '}" '0/hi-42' 'and types into it; wait sees the answer and prints it'
run $ccvm send alpha:1 'printf "<%s>"' a --key Space b --key Enter
run $ccvm wait alpha --text '<a><b>' --timeout 20s
is "$status" 0 'texts and keys go in the order of the command line'
run $ccvm send alpha -- echo -- --key -n x --enter
run $ccvm send alpha --key Enter
run $ccvm wait alpha:1 --text '^(. )?-- --key -n x --enter$' --timeout 20s
is "$status" 0 'after -- everything is text, words with a blank between them'
printf 'echo from-$((1+1))-stdin\necho "second line"\n' | $ccvm send alpha -
run $ccvm wait alpha --text '^(. )?second line$' --timeout 20s
is "$status" 0 '- is standard input'
check 'all of it' shows alpha 'from-2-stdin$'
: | $ccvm send alpha -
is "$?" 0 'nothing on standard input is nothing to send, and no error'
$ccvm send alpha 'stty -echo; printf "\033[?2004h"; exec cat -v' --enter
run $ccvm wait alpha --text 'exec cat -v' --timeout 20s
$ccvm send alpha --key C-l --key F5 --key M-x --key Up --enter
run $ccvm wait alpha --text '\^L\^\[\[15~\^\[x\^\[\[A' --timeout 20s
is "$status" 0 'keys are those of the terminal'
printf 'p q\nr' | $ccvm send alpha --paste one two - --enter
run $ccvm wait alpha --text 'r\^\[\[201~' --timeout 20s
check 'a paste is one paste, in brackets where they were asked for' shows alpha '\^\[\[200~one twop q'
head -c 1100000 /dev/zero | tr '\0' x >"$TMP/big"
$ccvm send alpha - <"$TMP/big" >"$TMP/out" 2>&1
is "$?" 2 'more than a megabyte is refused'
like "$(cat "$TMP/out")" 'more than 1048576 bytes' 'with its reason'
fails 1 'no terminal' $ccvm send alpha:9 x
$ccvm send alpha --key C-d
run $ccvm wait alpha --exit --timeout 20s
like "$status" '^[01]$' 'the program is gone'

# ---- screen
$ccvm send alpha 'stty -echo; PS1=; clear; printf "\033[31mred\033[0m \033[1m<&\033[0m \344\275\240e\314\201"' --enter
run $ccvm wait alpha --text 'red <& 你é' --timeout 20s
is "$status" 0 'styles, wide characters and marks'
run $ccvm screen alpha
is "$out" 'red <& 你é' 'screen prints the text'
run $ccvm screen alpha --ansi
is "$out" "$(printf '\033[0;31mred\033[0m \033[0;1m<&\033[0m 你é')" '--ansi its styles as well'
run $ccvm screen alpha --json
is "$(json '(d["vm"], d["rows"], d["cols"], d["lines"][0]["text"], len(d["lines"]), d["cursor"]["row"], d["cursor"]["col"])')" \
	"('alpha', 24, 80, 'red <& 你é', 24, 0, 10)" '--json rows, size and cursor'
is "$(json '(d["modes"]["alternate_screen"], d["history"], d["attention"]["seen"] in (True, False))')" '(False, 0, True)' \
	'and modes, history, attention'
run $ccvm screen alpha --svg
check '--svg is well-formed' python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$TMP/out"
like "$out" 'fill="#cd0000">red</text>' 'with the text in its colour'
$ccvm send alpha "clear; seq -f 'line %g' 100; printf end" --enter
run $ccvm wait alpha --text '^end' --timeout 20s
run $ccvm screen alpha --history 5
is "$(printf '%s\n' "$out" | sed -n '1p;6p;$p' | tr '\n' ' ')" 'line 73 line 78 end ' '--history: lines that have left the top'
run $ccvm screen alpha --history 100000
is "$(printf '%s\n' "$out" | grep -c '^line ')" 100 'all of them'
run $ccvm screen alpha --json -H 7
is "$(json '(d["history"], d["lines"][d["history"]]["text"], len(d["lines"]))')" "(7, 'line 78', 31)" 'in JSON too'
run $ccvm screen alpha --svg --history 50
is "$(printf '%s\n' "$out" | grep -c '>line ')" 73 'and in the picture'
$ccvm send alpha 'stty size' --enter
run $ccvm wait alpha --text '24 80' --timeout 20s
is "$status" 0 'looking has not changed the size'
fails 1 'VM alpha has no terminal 7 \(it has alpha:[0-9]+\)' $ccvm screen alpha:7

# ---- wait
fails 124 'did not happen in time' $ccvm wait alpha --text never --timeout 300ms
$ccvm wait alpha --text 'late-[0-9]+' --timeout 30s >"$TMP/late" &
waiter=$!
$ccvm send alpha 'echo late-$((6*7))' --enter
wait $waiter
is "$?/$(cat "$TMP/late")" '0/late-42' 'what comes later ends the waiting'
$ccvm wait alpha --text '^passing [b]y$' --timeout 30s >"$TMP/late" 2>&1 &
waiter=$!
one_watches() { $ccvm ls --json | python3 -c "import json, sys; sys.exit(json.load(sys.stdin)[0]['terminals'][0]['watchers'] != 1)"; }
check 'it is watched' wait_for 20 one_watches
$ccvm send alpha "seq 3000; echo passing by; seq 6000; echo 'all' gone" --enter
wait $waiter
is "$?/$(cat "$TMP/late")" '0/passing by' 'what scrolls by faster than it is drawn is not missed'
run $ccvm wait alpha --text '^all gone$' --timeout 20s
$ccvm send alpha "clear; printf '%s' start; printf '%0100d' 0; printf 'finish\n'" --enter
run $ccvm wait alpha --text '^start0{100}finish$' --timeout 20s
is "$status" 0 'a line that was wrapped is one line'
tell attention working
run $ccvm wait alpha --attention working --timeout 20s
is "$status/$out" '0/working' 'a state'
$ccvm wait alpha --attention waiting --attention failed --timeout 30s >"$TMP/late" &
waiter=$!
tell attention waiting may I push?
wait $waiter
is "$?/$(cat "$TMP/late")" '0/waiting: may I push?' 'one of several states, with what the agent says'
run $ccvm wait alpha:2 --attention waiting --timeout 20s
is "$status" 0 'that of one terminal'
fails 124 'in time' $ccvm wait alpha --attention idle --timeout 200ms
run $ccvm ls
like "$out" '^alpha +ready +waiting' 'ls says who waits'
run $ccvm screen alpha --json
is "$(json '(d["attention"]["state"], d["attention"]["text"])')" "('waiting', 'may I push?')" 'and so does screen --json'
$ccvm wait alpha --text never --timeout 30s >"$TMP/late" 2>&1 &
waiter=$!
$ccvm wait alpha --exit --timeout 30s 2>"$TMP/late2" &
exiter=$!
$ccvm send alpha 'echo waiting' --enter
run $ccvm wait alpha --text '^waiting$' --timeout 20s
watched_by() { $ccvm ls --json | python3 -c "import json, sys; sys.exit(json.load(sys.stdin)[0]['terminals'][0]['watchers'] != $1)"; }
check 'two watch' wait_for 20 watched_by 2
$ccvm send alpha 'exit 7' --enter
is "$?" 0 'telling a program to end is delivered, although it ends'
wait $exiter
is "$?" 7 '--exit: the status of the program'
wait $waiter
is "$?" 1 'a text that can never come any more'
like "$(cat "$TMP/late")" 'ended before' 'is told'
$ccvm send alpha 'kill -KILL $$' --enter
run $ccvm wait alpha --exit --timeout 20s
like "$status/$err" '^137/|^1/.*has no terminal' 'one that a signal ended'

# ---- VM:terminal, and record
python3 - $ccvm >/dev/null 2>&1 <<'P' &
import fcntl, os, pty, struct, sys, termios
# Two terminals: attach in one, exec -t in another, at sizes of their own.
def attach(rows, cols, *argv):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        os.execv(sys.argv[1], [sys.argv[1], *argv])
    return fd
a = attach(10, 40, "attach", "alpha")
os.read(a, 1) # it is drawn, so the terminal is there
b = attach(12, 50, "exec", "-t", "alpha", "--", "sh")
while os.read(a, 65536):
    pass
P
python=$!
tap_on_exit 'kill $python 2>/dev/null'
has_two() { $ccvm ls --json | python3 -c 'import json, sys; sys.exit(len(json.load(sys.stdin)[0]["terminals"]) != 2)'; }
check 'two terminals' wait_for 20 has_two
run $ccvm ls --json
one=$(json 'd[0]["terminals"][0]["number"]')
two=$(json 'd[0]["terminals"][1]["number"]')
$ccvm send "alpha:$two" 'stty -echo; PS1=; clear; echo number-two; stty size' --enter
run $ccvm wait "alpha:$two" --text '^12 50$' --timeout 20s
is "$status" 0 'the second terminal has its own size'
check 'and its own text' shows "alpha:$two" '^number-two$'
run $ccvm screen "alpha:$one"
unlike "$out" 'number-two' 'which the first has not'
$ccvm record "alpha:$two" -o "$TMP/two.cast" &
recorder=$!
check 'the recording has begun' wait_for 20 grep -q '"o"' "$TMP/two.cast"
$ccvm send "alpha:$two" "clear; printf '\\033]2;a title\\a'; printf '\\033[31mred \\033[48;2;1;2;3mdeep\\033[0m 你é|\\n'; seq 30 -1 1" --enter
run $ccvm wait "alpha:$two" --text '^1$' --timeout 20s
$ccvm send "alpha:$two" "tput cup 3 7 2>/dev/null || printf '\\033[4;8H'; printf 'here'; printf '\\033[1;1Htop'" --enter
run $ccvm wait "alpha:$two" --text '^top' --timeout 20s
run $ccvm screen "alpha:$two" --ansi
cp "$TMP/out" "$TMP/want"
played() { build/tests/e2e/play_cast <"$TMP/two.cast" 2>&1 | cmp - "$TMP/want"; }
check 'the recording has all of it' wait_for 20 played
is "$(build/tests/e2e/play_cast <"$TMP/two.cast")" "$(cat "$TMP/want")" 'played, it shows the same screen'
like "$(head -n 1 "$TMP/two.cast")" '^\{"version":2,"width":50,"height":12,"timestamp":[0-9]+,.*"env":\{"TERM":"xterm-256color"\}\}$' \
	'its header'
$ccvm send "alpha:$two" 'exit 3' --enter
wait $recorder
is "$?" 0 'the end of the program ends the recording'
is "$(stat -c %a "$TMP/two.cast")" 600 'a recording is private'
$ccvm record "alpha:$one" >"$TMP/one.cast" &
recorder=$!
check 'another one' wait_for 20 grep -q '"o"' "$TMP/one.cast"
kill -INT $recorder
wait $recorder
is "$?" 0 'Ctrl-C ends a recording well'
check 'whose every line is whole' build/tests/e2e/play_cast <"$TMP/one.cast"
$ccvm record "alpha:$one" >/dev/full 2>"$TMP/err"
is "$?" 1 'a full disk is a failure'
like "$(cat "$TMP/err")" 'No space left' 'that is told'
kill $python
wait $python 2>/dev/null

# ---- rules with a lifetime, pauses
run $ccvm allow alpha telemetry.example --for 10m
is "$status" 0 'allow --for'
like "$out" '^alpha: telemetry.example:443 allowed for 10 minutes, until [0-9][0-9]:[0-9][0-9]$' 'says for how long and until when'
like "$(cat "$TMP/s/ccvm/alpha/policy")" '^allow telemetry.example:443 until 20[0-9-]+T[0-9:]+Z$' 'and is on file'
run $ccvm allow alpha telemetry.example
is "$out/$(cat "$TMP/s/ccvm/alpha/policy")" 'alpha: allow telemetry.example:443: in force/allow telemetry.example:443' \
	'for good replaces it'
run $ccvm allow alpha telemetry.example --for 1h
is "$out" 'alpha: allow telemetry.example:443: nothing to change' 'which a shorter life does not change'
run $ccvm pause alpha
is "$status/$out" '0/alpha: paused' 'pause'
run $ccvm ls --json
is "$(json 'd[0]["paused"]')" True 'is seen'
run $ccvm resume alpha
is "$status/$out" '0/alpha: goes on' 'resume'
fails 1 "already running .ready.; ignored: --memory, --allow .while it runs: ccvm allow alpha HOST" \
	$ccvm up alpha --memory 1G --allow x.example

# ---- the VM goes away
$ccvm send alpha 'sleep 100' --enter
$ccvm wait alpha --exit --timeout 30s 2>"$TMP/err" &
waiter=$!
wait_for 20 watched_by 1
tell state failed the VMM died
wait $waiter
is "$?" 1 'a VM that goes away ends the waiting'
like "$(cat "$TMP/err")" '^ccvm wait: ' 'with a word'
wait $fake

tap_done
