#!/bin/sh
# Real programs of a real guest in a pane of the dashboard, beside the same programs in tmux as an independent terminal: vim,
# less and git log, opened, scrolled, resized while open, quit. Issue test 2.
#
# The reference: the guest program runs under script(1) in the guest and its raw bytes go to a tmux pane of exactly the
# size of the dashboard's pane. The dashboard itself runs in another tmux; its pane is cut out of what that one shows.
. "$(dirname "$0")/../lib/tap.sh"
. tests/lib/vm.sh

sock=$TMP/tmux
console() { tmux -S "$sock" -f /dev/null "$@"; }
tap_on_exit 'console kill-server 2>/dev/null'
export TERM=xterm-256color
unset TMUX

check 'up alpha' $ccvm up alpha
in_vm alpha sh -c '
	cd /root && seq 1 500 | sed "s/.*/line & of a text that is long enough to be cut by a narrow pane, wide äöü 漢字 end/" >text
	printf "%s\n" "int main(void)" "{" "	return 0; /* ok */" "}" >main.c
	git init -q repo && cd repo && git config user.email a@b.test && git config user.name A
	for i in $(seq 1 40); do echo $i >f; git add f; GIT_COMMITTER_DATE="2026-01-01T00:00:$i" GIT_AUTHOR_DATE="2026-01-01T00:00:$i" \
		git commit -qm "commit number $i"; done' >/dev/null
ok $? 'files for the programs'

# ---- the dashboard, and where its pane is
console new-session -d -s dash -x 110 -y 34 "build/ccvm; echo CLOSED; sleep 1000"
shows() { console capture-pane -p -t dash | grep -Eq -- "$1"; }
keys() { console send-keys -t dash "$@"; }
check 'the dashboard shows the VM' wait_for 20 shows 'alpha.*ready'
check 'and a shell prompt in its pane' wait_for 20 shows '[#$] *$|[#$] '
keys Enter
check 'Enter types' wait_for 5 shows 'TYPING alpha'

# geometry TAG: finds the pane by a mark that the guest prints in its top left corner; sets top, left, rows, cols. The tag
# makes the mark of each call another one.
geometry() {
	keys "clear; printf 'CORN''ER$1 '; stty size" Enter
	wait_for 10 shows "CORNER$1 [0-9]+ [0-9]+" || return 1
	console capture-pane -p -t dash | python3 -c '
import re, sys
tag = sys.argv[1]
for y, line in enumerate(sys.stdin.read().split("\n")):
    m = re.search("CORNER" + tag + r" (\d+) (\d+)", line)
    if m:
        print(f"top={y} left={m.start()} rows={m.group(1)} cols={m.group(2)}")
        break' "$1" >"$TMP/geometry"
	. "$TMP/geometry"
}
# The text of the dashboard's pane: rows and cols at top and left, blanks at the end dropped. Columns are those of a terminal:
# wide characters count two.
pane() {
	console capture-pane -p -t dash | python3 -c '
import sys, unicodedata
top, left, rows, cols = map(int, sys.argv[1:])
for line in sys.stdin.read().split("\n")[top:top + rows]:
    out, at = "", 0
    for c in line:
        if left <= at < left + cols:
            out += c
        at += 0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
    print(out.rstrip())' "$top" "$left" "$rows" "$cols"
}
geometry A
ok $? 'stty size answers at the first prompt'
diag "pane: $rows rows, $cols columns at row $top, column $left"
[ "$rows" -ge 10 ] && [ "$cols" -ge 40 ]
ok $? 'the pane has a sensible size'

# The size is what the pane really shows: a line of exactly `cols` characters fills a row and does not wrap.
keys "clear; printf '%${cols}s' X | tr ' ' '='; echo; echo BELOW" Enter
check 'BELOW is on the second row' wait_for 10 shows BELOW
sleep_free_row2() { [ "$(pane | sed -n 2p)" = BELOW ]; }
check 'a full row of the reported width does not wrap' wait_for 5 sleep_free_row2

# ---- the reference
reference() { # COMMAND
	console kill-session -t ref 2>/dev/null
	console new-session -d -s ref -x "$cols" -y "$rows" \
		"stty raw -echo; build/ccvm exec alpha -- script -qfc 'stty rows $rows cols $cols; tty >/root/ref.tty; cd /root; exec $1' /dev/null | cat"
	console set -t ref status off
	console resize-window -t ref -x "$cols" -y "$rows"
}
ref() { console capture-pane -p -t ref | sed 's/ *$//' | python3 -c 'import sys; print("\n".join(sys.stdin.read().split("\n")[:int(sys.argv[1])]))' "$rows"; }
same() { pane >"$TMP/pane"; ref >"$TMP/ref"; cmp -s "$TMP/pane" "$TMP/ref" && [ "$(grep -c . "$TMP/ref")" -gt 2 ]; }
looks_the_same() { # NAME: waits until both show the same, prints the difference when they do not
	wait_for 20 "${2:-same}"
	ok $? "$1" "$(diff -u "$TMP/ref" "$TMP/pane" | head -n 60)"
}
# vim forgets a SIGWINCH that comes while it redraws. The reference is told again; the dashboard's vim has to do with one.
same_size() { same || { in_vm alpha sh -c 'pkill -WINCH -t "$(sed s,/dev/,, /root/ref.tty)" .' && false; }; }
both() { keys "$@"; console send-keys -t ref "$@"; }
resize_all() { # COLUMNS ROWS of the dashboard
	old=$rows/$cols
	console resize-window -t dash -x "$1" -y "$2"
	# The guest's own word on the new size, asked from outside the program that is open.
	in_vm alpha sh -c 'for t in /dev/pts/[0-9]*; do [ "$t" = "$(cat /root/ref.tty)" ] || stty -F "$t" size; done' >"$TMP/size"
	new_size() {
		in_vm alpha sh -c 'for t in /dev/pts/[0-9]*; do [ "$t" = "$(cat /root/ref.tty)" ] || stty -F "$t" size; done' >"$TMP/size"
		grep -q ' ' "$TMP/size" && [ "$(tr ' ' / <"$TMP/size" | head -n 1)" != "$old" ]
	}
	wait_for 10 new_size
	ok $? "the guest hears of the new size"
	read -r rows cols <"$TMP/size"
	left=$(($1 - cols)) # the pane reaches to the right edge
	console resize-window -t ref -x "$cols" -y "$rows"
	in_vm alpha sh -c "stty -F \$(cat /root/ref.tty) rows $rows cols $cols"
}
# What is compared is the program's screen; where the pane begins may move with the layout, so it is found again.
prompt_is_back() { shows '[#$] *$|[#$] '; }

for program in 'vim -n -u NONE -N -c "set nocp ruler laststatus=2" text' 'less text' 'git -C repo log'; do
	name=${program%% *}
	keys "clear; cd /root; $program" Enter
	reference "$program"
	looks_the_same "$name: opened"
	case $name in
	vim) both C-f C-f; looks_the_same 'vim: two pages down'
		both G; looks_the_same 'vim: the end'
		both o; both 'typed text'; both Escape; looks_the_same 'vim: text inserted' ;;
	less) both Space Space; looks_the_same 'less: two pages down'
		both /; both 'line 77 '; both Enter; looks_the_same 'less: searched' ;;
	git) both Space; looks_the_same 'git log: a page down' ;;
	esac
	resize_all 96 26
	looks_the_same "$name: resized while open" same_size
	resize_all 110 34
	looks_the_same "$name: and back" same_size
	case $name in
	vim) both Escape; both ':q!' Enter ;;
	*) both q ;;
	esac
	check "$name: quit, the prompt is back" wait_for 10 prompt_is_back
	keys "clear; echo AFTER-$name" Enter
	check "$name: the shell works on" wait_for 10 shows "^.*AFTER-$name\$|AFTER-$name *[^ ;]*\$"
done

geometry B
ok $? 'stty size answers after the resizes'
is "$(in_vm alpha true; echo $?)" 0 'the VM is well'

# ---- leaving
keys C-]
check 'C-] leaves typing' wait_for 5 shows 'COMMAND'
keys q
check 'q leaves the dashboard' wait_for 10 shows CLOSED
check 'and the VM runs on' $ccvm ping alpha

tap_done
