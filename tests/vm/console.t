#!/bin/sh
# What a console does to a real guest: a storm of sizes, a large paste to a slow program, pauses, signals, variables; and a
# supervisor that hangs.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

drive() { timeout 120 build/tests/vm/console_drive alpha "$@" >"$TMP/out" 2>&1; }
said() { grep -Eq -- "$1" "$TMP/out"; }

check 'up alpha' $ccvm up alpha

# ---- the list of terminals, the variables of a program
check 'a terminal opens' drive open=24x80 'type=printf "%s " "MY=$CCVM_TERMINAL" "$TERM" "$COLORTERM" "$TERM_PROGRAM" "v=${TERM_PROGRAM_VERSION}."\r' \
	'wait=MY=1 xterm-256color truecolor ccvm v=0' 'type=printf "\\033]2;my title\\a"; echo S""ET\r' 'wait=SET' status
check 'the status lists it' said "\[1 first 24x80 watchers 1 'my title' shell\]"

# ---- sizes
check 'a storm of 500 sizes' drive open=30x100 storm=500 size=21x77 'type=clear; stty size; echo DO""NE\r' wait=DONE 'wait=21 77'
check 'the guest has the last one' test "$(in_vm alpha sh -c 'stty -F /dev/pts/0 size')" = '21 77'

# ---- a paste of 1 MiB, while the program reads slowly; it counts what it gets
cat >"$TMP/slow" <<'END'
system "stty raw -echo";
syswrite STDOUT, "\e[?2004hREADY ";
my $got = "";
until (substr($got, -6) eq "\e[201~") {
	sysread STDIN, my $piece, 65536 or last;
	$got .= $piece;
	select undef, undef, undef, 0.02 if length $got < 200000;
}
my ($p, $open, $close) = map { my $n = () = $got =~ /$_/g; $n } "p", "\e\\[200~", "\e\\[201~";
system "stty sane";
print "\e[?2004lGOT $p OPEN $open CLOSE $close \n";
END
$ccvm exec alpha -- sh -c 'cat >/root/slow' <"$TMP/slow"
check 'a paste of 1 MiB' drive open=24x80 'type=clear; perl /root/slow\r' wait=READY paste=1048576 'wait=GOT 1048576 OPEN 1 CLOSE 1'

# ---- pauses
check 'pause' drive open=24x80 'type=\rclear; i=0; while :; do i=$((i+1)); printf "\\rn=%s " $i; sleep 0.01; done\r' wait=n= pause status
check 'it is paused' said '^ready paused'
check 'ccvm exec says so' sh -c "$ccvm exec alpha -- true 2>&1 | grep -q paused"
cpu() { awk '{ print $14 + $15 }' "/proc/$vmm/stat"; }
vmm=$($ccvm ls --json | python3 -c 'import json, sys; v = json.load(sys.stdin); print((v if isinstance(v, list) else v["vms"])[0]["vmm_pid"])')
before=$(cpu)
sleep 2 # the time itself is what is tested
used=$(($(cpu) - before))
[ "$used" -le 20 ]
ok $? 'a paused guest uses no CPU' "$used ticks in 2 s"
check 'resume' drive resume status
check 'it goes on' said '^ready egress'
check 'and so does the terminal' drive open=24x80 "$(printf 'type=\003')" 'type=\rclear; echo AL""IVE\r' wait=ALIVE
check 'the guest answers' $ccvm ping alpha
check 'pause for the end' drive pause
check 'stop of a paused VM' $ccvm stop alpha
check 'the guest powered off itself' grep -q '"reason": *"[^"]*powered off' "$TMP/s/ccvm/alpha/status.json"
check 'up again' $ccvm up alpha
check 'pause for the kill' drive pause
check 'kill of a paused VM' $ccvm kill alpha
check 'up once more: a pause survives nothing' $ccvm up alpha
check 'it runs' $ccvm ping alpha

# ---- closing a terminal
check 'SIGHUP closes it' drive open=24x80 'type=sleep 1000\r' signal=1 ended
check 'nothing is left of it' test "$(in_vm alpha sh -c 'pgrep -x sleep | wc -l')" = 0

# ---- a supervisor that hangs
pid=$($ccvm ls --json | python3 -c 'import json, sys; v = json.load(sys.stdin); print((v if isinstance(v, list) else v["vms"])[0]["supervisor_pid"])')
kill -STOP "$pid"
$ccvm allow alpha x.test 2>"$TMP/err"
check 'a request says what to do' grep -q 'ccvm kill alpha' "$TMP/err"
check 'and that ends it' $ccvm kill alpha
check 'nothing of it runs' wait_for 10 vm_no_processes

tap_done
