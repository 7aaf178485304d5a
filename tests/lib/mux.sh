# shellcheck shell=sh
# For tests that look at the console inside tmux, with fake supervisors behind it: `. tests/lib/mux.sh` after tap.sh.
# Private folders, a private tmux server, and what is left running ends with the test.

export XDG_RUNTIME_DIR="$TMP/run" XDG_STATE_HOME="$TMP/state" XDG_DATA_HOME="$TMP/data" XDG_CONFIG_HOME="$TMP/config"
mkdir -m 700 "$XDG_RUNTIME_DIR" "$TMP/home"
mkdir "$XDG_STATE_HOME" "$XDG_DATA_HOME" "$XDG_CONFIG_HOME"
export LC_ALL=C.UTF-8 TZ=UTC HOME="$TMP/home" SHELL=/bin/sh
unset NO_COLOR COLUMNS LINES COLORTERM TMUX STY SSH_TTY SSH_CONNECTION DISPLAY WAYLAND_DISPLAY ENV
WAIT=20 # seconds; only a failure takes so long

mux() { tmux -S "$TMP/tmux" -f /dev/null "$@"; }
window() { # NAME COLS ROWS COMMAND
	mux new-session -d -s "$1" -x "$2" -y "$3" "cd $PWD && exec env TERM=xterm-256color $4"
}
start_vm() { # NAME [PROGRAM...]: lines to $TMP/NAME.in make things happen in it
	vm_name=$1
	shift
	mkfifo "$TMP/$vm_name.in"
	build/tests/e2e/fake_supervisor "$vm_name" "$@" <"$TMP/$vm_name.in" >"$TMP/$vm_name.out" 2>&1 &
	eval "vm_pid_$vm_name=$!"
	sleep 1000 >"$TMP/$vm_name.in" & # keeps it open
	vm_holders="${vm_holders-} $!"
	wait_for $WAIT grep -q ready "$TMP/$vm_name.out" || { echo "Bail out! no fake supervisor"; exit 2; }
}
# shellcheck disable=SC2086
mux_end() {
	mux kill-server 2>/dev/null
	[ -z "${vm_holders-}" ] || kill $vm_holders 2>/dev/null
	wait
}
tap_on_exit mux_end
mux new-session -d -s first -x 80 -y 24 'sleep 1000' # for the options, which count for the windows after it
mux set -g default-terminal xterm-256color \; set -g status off \; set -s escape-time 0 \; set -g allow-rename off

shows() { mux capture-pane -p -t "$1"; }
has() { shows "$1" | grep -qF -- "$2"; }
lacks() { ! has "$1" "$2"; }
