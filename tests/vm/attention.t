#!/bin/sh
# What programs in a real guest do to be noticed, and what the host makes of it: bell, notices, progress, a shell's marks, hooks,
# ends; looking and answering; CPU and memory; a supervisor that dies.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

drive() { timeout 120 build/tests/vm/console_drive alpha "$@" >"$TMP/out" 2>&1; }
run() { drive open=24x80 "type=clear; $1\r" 'wait=# '; } # types a command line
# field EXPRESSION: of ls --json; v is the VM, t its first terminal.
field() {
	$ccvm ls --json | python3 -c '
import json, sys
v = json.load(sys.stdin)[0]
t = (v["terminals"] or [{}])[0]
print(eval(sys.argv[1]))' "$1"
}
attention='v["attention"], v["attention_source"], "seen" if v["attention_seen"] else "unseen", v["attention_text"]'
is_now() { [ "$(field "$attention")" = "('$1', '$2', '$3', '$4')" ]; }
becomes() { wait_for 30 is_now "$@"; }
# calls NAME SOURCE TEXT COMMAND: the command line makes it wait for the operator, typing answers. The pause in it keeps what it
# does apart from the echo of typing.
calls() {
	run "sleep 2; $4"
	becomes waiting "$2" unseen "$3"
	ok $? "$1" "$(field "$attention")"
	drive open=24x80 'type=\r'
	becomes idle none seen ''
	ok $? 'and typing answers' "$(field "$attention")"
}

check 'up alpha' $ccvm up alpha
is "$(field "$attention")" "('none', 'none', 'seen', '')" 'at first nothing is known'
is "$(field 'v["paused"], v["terminals"], v["cpu_percent"]')" '(False, [], None)' 'nor what it uses, while nobody looks'

calls 'a bell' bell '' 'printf "\\a"'
calls 'OSC 9' notice 'build is done' 'printf "\\033]9;build is done\\a"'
calls 'OSC 777' notice 'build: done' 'printf "\\033]777;notify;build;done\\a"'
calls 'OSC 99' notice 'hello' 'printf "\\033]99;;hello\\033\\\\"'
calls 'a hook' hook 'need you' 'ccvm-guest notify waiting need you'
calls 'no text of a guest does harm' hook 'a [31mb c' 'ccvm-guest notify waiting "$(printf "a\\033[31mb\\nc")"'

# ---- looking
run 'sleep 2; printf "\\a"'
becomes waiting bell unseen ''
ok $? 'it waits' "$(field "$attention")"
like "$($ccvm ls)" '^NAME +STATE +ATTENTION ' 'ls has a column for it'
like "$($ccvm ls)" '^alpha +ready +waiting [0-9]' 'with its age'
is "$(field 't["number"], t["attention"], t["attention_seen"]')" "(1, 'waiting', False)" 'and so does the terminal'
check 'looking' drive seen
becomes waiting bell seen ''
ok $? 'it waits still, and was seen' "$(field "$attention")"
like "$($ccvm ls)" '^alpha +ready +\(waiting [0-9]' 'as ls says'

# ---- a shell that marks its commands; progress
run 'PS1="\\[\\033]133;A\\a\\]# "; printf "\\033]133;C\\a"; sleep 11; printf "\\033]133;D;3\\a"'
becomes working prompt seen ''
ok $? 'a command runs' "$(field "$attention")"
becomes failed prompt unseen 'exit status 3'
ok $? 'a long one fails' "$(field "$attention")"
run 'PS1="# "; printf "\\033]9;4;1;40\\a"; sleep 3; printf "\\033]9;4;0\\a"'
becomes working progress seen '40%'
ok $? 'progress' "$(field "$attention")"
becomes idle progress seen ''
ok $? 'that ends' "$(field "$attention")"

# ---- output and silence
drive open=24x80 'type=clear; for i in 1 2 3 4 5; do sleep 1; echo $i; done\r' 'wait=5'
becomes working output seen ''
ok $? 'output is work' "$(field "$attention")"
becomes idle output seen ''
ok $? 'silence is none' "$(field "$attention")"

# ---- hooks from elsewhere
check 'a hook without a terminal' in_vm alpha ccvm-guest notify failed 'out of paper'
becomes failed hook unseen 'out of paper'
ok $? 'is the VM'\''s' "$(field "$attention")"
check 'another user may say it too' in_vm alpha setpriv --reuid=65534 --clear-groups ccvm-guest notify working
becomes working hook seen ''
ok $? 'and it is heard' "$(field "$attention")"
in_vm alpha ccvm-guest notify sleeping 2>"$TMP/err"
is "$?" 2 'a state that there is not is wrong usage'
like "$(cat "$TMP/err")" "'sleeping' is not working, waiting" 'that is told'
in_vm alpha ccvm-guest 2>"$TMP/err"
is "$?" 2 'without a word: wrong usage'
like "$(cat "$TMP/err")" 'ccvm-guest notify working' 'and how to do it'
in_vm alpha sh -c 'for i in $(seq 40); do ccvm-guest notify idle $i & done; wait'
check 'many at once' in_vm alpha ccvm-guest notify idle last
becomes idle hook seen last
ok $? 'the last one is heard' "$(field "$attention")"

# ---- the end of a program
drive open=24x80 'type=exec sh -c "sleep 11; exit 5"\r' ended
becomes failed exit unseen 'exit status 5'
ok $? 'a program that fails is news, although its terminal is gone' "$(field "$attention")"
is "$(field 'v["terminals"]')" '[]' 'it is gone'
drive open=24x80 'type=exit 1\r' ended
check 'what the operator ends himself is not' is_now failed exit unseen 'exit status 5'
check 'looking at it' drive seen
becomes failed exit seen 'exit status 5'
ok $? 'it was seen' "$(field "$attention")"

# ---- CPU and memory
check 'they are known once somebody looks' drive vitals
like "$(cat "$TMP/out")" '^[0-9]+ permille [1-9][0-9]* of [1-9][0-9][0-9] MiB$' 'and make sense'

# ---- what was seen outlives the supervisor, and so does its death
in_vm alpha sh -c 'wget -q -T 5 -O /dev/null https://refused.test/ || curl -s -m 5 https://refused.test/ || perl -MIO::Socket -e "
	\$s = IO::Socket::INET->new(\"127.0.0.1:3128\"); print \$s \"CONNECT refused.test:443 HTTP/1.1\r\n\r\n\"; <\$s>"' >/dev/null 2>&1
denied() { [ "$(field 'v["denied"] > 0')" = True ]; }
check 'something is refused' wait_for 10 denied
check 'and looked at' drive seen
is "$(field 'v["denied_seen"] == v["denied"]')" True 'that is known'
kill -9 "$(field 'v["supervisor_pid"]')"
died() { [ "$(field 'v["state"]')" = failed ]; }
check 'the supervisor is killed' wait_for 20 died
is_now failed exit unseen 'its supervisor died (it was ready)'
ok $? 'that is a call' "$(field "$attention")"
check 'nothing is left of the VM' wait_for 20 vm_no_processes
check 'up again' $ccvm up alpha
is "$(field 'v["denied_seen"] > 0 and v["denied_seen"] == v["denied"]')" True 'what was seen stays seen'

# ---- the guest's own end
in_vm alpha sh -c 'ccvm-guest notify waiting; echo o >/proc/sysrq-trigger; sleep 20' >/dev/null 2>&1
becomes finished exit unseen 'the guest powered off'
ok $? 'a guest that powers off is finished' "$(field "$attention")"
check 'up once more' $ccvm up alpha
check 'stop' $ccvm stop alpha
is "$(field "$attention")" "('none', 'none', 'seen', '')" 'whoever stops it needs no call'
tap_done
