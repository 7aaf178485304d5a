#!/bin/sh
# The commands against real VMs: two `up` at once, exec as a citizen of a pipeline, terminals, VMs that fail, broken images.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

field() { # NAME FIELD: of ls --json
	$ccvm ls --json | python3 -c '
import json, sys
print(next((str(v[sys.argv[2]]) for v in json.load(sys.stdin) if v["name"] == sys.argv[1]), "none"))' "$1" "$2"
}
lacks_process() { ! $ccvm exec "$1" -- pgrep -f "$2"; }

# ---- one wins
$ccvm up alpha >"$TMP/one" 2>&1 &
one=$!
$ccvm up alpha >"$TMP/two" 2>&1 &
two=$!
wait $one
a=$?
wait $two
b=$?
is "$((a + b))" 1 'of two up at the same time one wins' "$(cat "$TMP/one" "$TMP/two")"
like "$(cat "$TMP/one" "$TMP/two")" '(already running|runs already|somebody else|is there already)' 'and the other one says why it does not'
is "$(field alpha state)" ready 'the VM is ready'

# ---- signals reach the program
$ccvm exec alpha -- sh -c 'trap "echo got INT; exit 7" INT; echo ready; while :; do sleep 0.1; done' >"$TMP/out" 2>&1 &
pid=$!
check 'a program runs' wait_for 20 grep -q ready "$TMP/out"
kill -INT $pid
wait $pid
is "$?/$(tail -n 1 "$TMP/out")" '7/got INT' 'SIGINT is passed on to the program, which decides'
$ccvm exec alpha -- sleep 1001 >/dev/null 2>&1 &
pid=$!
check 'sleep runs' wait_for 20 $ccvm exec alpha -- pgrep -f 'sleep 1001'
kill -TERM $pid
wait $pid
is $? 143 'SIGTERM ends one that does not care'

# ---- a reader that goes away, a client that is killed
{ timeout 60 $ccvm exec alpha -- yes a-marker; echo $? >"$TMP/status"; } | head -n 1 >"$TMP/out"
is "$(cat "$TMP/out")/$(cat "$TMP/status")" 'a-marker/141' 'closed stdout ends exec like any program'
check 'and the program in the VM' wait_for 20 lacks_process alpha 'yes a-marker'
is "$($ccvm exec alpha -- sh -c 'cat; echo end' <&-)" end 'a closed stdin is an empty one'
$ccvm exec alpha -- sh -c 'seq 10000; exit 7' >&- 2>&-
is $? 7 'and a closed stdout and stderr are /dev/null'
$ccvm exec alpha -- sleep 1002 &
pid=$!
check 'sleep runs again' wait_for 20 $ccvm exec alpha -- pgrep -f 'sleep 1002'
kill -9 $pid
wait $pid 2>/dev/null
check 'a killed client takes its program with it' wait_for 20 lacks_process alpha 'sleep 1002'
$ccvm exec alpha -- true >/dev/full
is $? 0 'no output, no failure'
$ccvm exec alpha -- echo x >/dev/full 2>"$TMP/err"
is $? 1 'output that cannot be written is a failure'

# ---- a slow reader costs no memory
cat >"$TMP/slow.py" <<'P'
import subprocess, sys, time
size = 64 << 20
p = subprocess.Popen([sys.argv[1], "exec", "alpha", "--", "head", "-c", str(size), "/dev/zero"], stdout=subprocess.PIPE)
def status(key):
    return int(next(l.split()[1] for l in open(f"/proc/{p.pid}/status") if l.startswith(key)))
def read_so_far():
    return int(next(l.split()[1] for l in open(f"/proc/{p.pid}/io") if l.startswith("rchar")))
p.stdout.read(1)
last, still = -1, 0
while still < 20:  # until it reads no more, because we do not
    now = read_so_far()
    still = still + 1 if now == last else 0
    last = now
    time.sleep(0.02)
peak = status("VmHWM")
got = 1
while piece := p.stdout.read(1 << 16):
    got += len(piece)
print(p.wait(), got == size, last < size // 4, "small" if peak < 32 * 1024 else peak)
P
is "$(timeout 120 python3 "$TMP/slow.py" $ccvm)" '0 True True small' 'a slow reader stops the program and costs no memory'

# ---- terminals
cat >"$TMP/on_tty.py" <<'P'
import fcntl, os, pty, re, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm-256color"
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
out = b""
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    out += piece
left = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.split(b"\x1b[?1049l")[-1].decode())  # what stays on the terminal
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), " ".join(left.split()))
P
is "$(timeout 60 python3 "$TMP/on_tty.py" $ccvm exec -t alpha -- sh -c 'stty size; echo end; exit 9')" '9 33 77 end' \
	'exec -t: size, last screen, exit code'
is "$(timeout 60 python3 "$TMP/on_tty.py" $ccvm exec -t alpha -- sh -c 'kill -9 $$' | cut -d' ' -f1)" 137 'exec -t: killed by a signal'
is "$(timeout 60 python3 "$TMP/on_tty.py" $ccvm exec -t -e FOO=bar -w /tmp alpha -- sh -c 'echo $FOO; pwd | tr -d /; echo end')" \
	'0 bar tmp end' 'exec -t: environment and folder'

# ---- scripting: the guest's own shell
check 'send' $ccvm send alpha 'stty -echo; PS1=; clear; echo guest-$((40+2))' --enter
is "$($ccvm wait alpha --text '^guest-[0-9]+$' --timeout 60s)" guest-42 'wait: the shell in the guest has answered'
is "$($ccvm screen alpha)" guest-42 'screen shows it'
$ccvm record alpha -o "$TMP/cast" &
pid=$!
check 'record' wait_for 20 grep -q guest-42 "$TMP/cast"
$ccvm send alpha "printf '\\033[32mgreen\\033[0m\\n'; seq 40; stty size" --enter
check 'a lot more text' $ccvm wait alpha --text '^24 80$' --timeout 60s
recorded() { build/tests/e2e/play_cast <"$TMP/cast" >"$TMP/played" && $ccvm screen alpha --ansi | cmp -s - "$TMP/played"; }
check 'a recording, played, shows the screen' wait_for 20 recorded
is "$($ccvm screen alpha --history 1000 | sed -n '/green/,+1p' | tr '\n' ' ')" 'green 1 ' 'what has left the screen is there'
check 'pause' $ccvm pause alpha
like "$($ccvm ls)" '^alpha +paused ' 'ls says so'
stands_still() { ! timeout 3 $ccvm exec alpha -- true; }
check 'nothing runs in it' stands_still
check 'resume' $ccvm resume alpha
check 'and it goes on' timeout 60 $ccvm exec alpha -- true
$ccvm wait alpha --exit --timeout 60s &
waiter=$!
is_watched() { $ccvm ls --json | grep -q '"watchers":[[:space:]]*2'; } # the recording and the waiting one
check 'it watches' wait_for 30 is_watched
$ccvm send alpha 'exit 5' --enter
wait $waiter
is $? 5 'wait --exit: the status of the program'
wait $pid
is $? 0 'which ends the recording'

# ---- a rule with a lifetime
connect() { in_vm alpha curl -s -o /dev/null -w '%{http_connect}' https://short.test/; }
is_refused() { [ "$(connect)" = 403 ]; }
is "$(connect)" 403 'a host that no rule allows'
like "$($ccvm allow alpha short.test --for 4s)" '^alpha: short.test:443 allowed for 4 seconds, until [0-9:]+$' 'allow --for'
is "$(connect)" 502 'it is let through (and no resolver knows it)'
check 'and refused again, by itself' wait_for 60 is_refused
check 'restart' $ccvm restart alpha
is "$(cat "$XDG_STATE_HOME/ccvm/alpha/policy")" '' 'a start takes away what is over'

# ---- stopped and started again: disk and policy stay
in_vm alpha sh -c 'echo kept >/root/file; sync'
check 'allow' $ccvm allow alpha later.test
check 'stop --all' $ccvm stop --all
is "$(field alpha state)" stopped 'it is stopped'
check 'up again' $ccvm up alpha --allow more.test
is "$(in_vm alpha cat /root/file)" kept 'the disk is the same'
is "$(sort "$XDG_STATE_HOME/ccvm/alpha/policy")" 'allow later.test:443
allow more.test:443' 'the policy too, and one rule more'
$ccvm up alpha >"$TMP/out" 2>&1
is $? 1 'up of a running VM'
like "$(cat "$TMP/out")" 'already running' 'is told'
check 'kill' $ccvm kill alpha

# ---- a VM that does not get ready
$ccvm up slow --ready-timeout 1s >"$TMP/out" 2>&1
is $? 1 'a VM that is not ready in time fails'
like "$(cat "$TMP/out")" 'VM slow failed: .*1' 'up says so'
is "$(field slow state)" failed 'ls says so'
check 'its console can be read' $ccvm log slow --console
check 'rm' $ccvm rm slow alpha

# ---- an image that was changed is refused by name
images=${XDG_DATA_HOME:-$HOME/.local/share}/ccvm/images
mkdir -p "$TMP/d/ccvm/images"
cp -R "$images/base" "$TMP/d/ccvm/images/"
printf x | dd of="$TMP/d/ccvm/images/base/vmlinuz" bs=1 seek=5000 conv=notrunc 2>/dev/null
XDG_DATA_HOME=$TMP/d $ccvm up beta >"$TMP/out" 2>&1
is $? 1 'a changed image is refused'
like "$(cat "$TMP/out")" 'vmlinuz' 'by the name of the part'
XDG_DATA_HOME=$TMP/d $ccvm image verify base >"$TMP/out" 2>&1
is $? 1 'image verify sees it too'
is "$(field beta state)" none 'and nothing was made'

# ---- what cannot run here leaves nothing: no disk, no failed VM that never was one
PATH="$TMP/empty" $ccvm up beta >"$TMP/out" 2>&1
is $? 1 'up without QEMU fails'
like "$(cat "$TMP/out")" 'VM beta was not started: qemu-system-x86_64 is not in PATH' 'and says what to install'
is "$(field beta state)/$(find "$XDG_STATE_HOME/ccvm" "$XDG_RUNTIME_DIR/ccvm" -mindepth 1)" 'none/' 'and leaves nothing'
check 'no process is left' wait_for 10 vm_no_processes

tap_done
