#!/bin/sh
# Panes of the dashboard end to end: copy mode, the mouse, grids, tabs, sizes that others set, VMs that flood or hang.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/mux.sh"

for name in alpha beta gamma omega; do start_vm $name; done
window dash 110 30 build/ccvm

keys() { mux send-keys -t dash "$@"; }
text() { mux send-keys -t dash -l "$1"; }
bottom() { shows dash | tail -n 1 | grep -qF -- "$1"; }
see() { # NAME TEXT
	wait_for $WAIT has dash "$2"
	ok $? "$1" "'$2' does not come:
$(shows dash)"
}
see_not() {
	wait_for $WAIT lacks dash "$2"
	ok $? "$1" "'$2' stays:
$(shows dash)"
}
type_into() { # NAME: Enter, when the list has it selected
	wait_for $WAIT has dash "─ $1"
	keys Enter
	wait_for $WAIT bottom "TYPING $1"
}
leave() {
	keys 'C-]'
	wait_for $WAIT lacks dash 'TYPING'
}

# ---- copy mode ----

type_into alpha
text "PS1='sh: '; clear; seq -f 'number %g' 3000; printf '%s\\n' 'a-line-that-is-much-too-long-for-the-pane-and-goes-on-in-the-next-row-where-it-ends' la''st" # not what is typed: what is said
keys Enter
wait_for $WAIT has dash 'last'
leave
keys '['
see 'copy mode says where it is' 'copy 0/'
keys g
see 'the whole history is there' 'number 1'
text '/number 42'
see 'a search finds while it is typed' 'number 42'
keys Enter
text 'n'
see 'and says how many there are' '2/11'
text 'V'
keys y
check 'copied text is in the buffer of tmux' wait_for $WAIT sh -c "tmux -S $TMP/tmux show-buffer | grep -qx 'number 420'"
see_not 'copying leaves copy mode' 'copy -'
keys '['
text 'G?much-too-long'
keys Enter
text 'V'
keys y
check 'a long line is copied as one' wait_for $WAIT sh -c \
	"tmux -S $TMP/tmux show-buffer | grep -qx 'a-line-that-is-much-too-long-for-the-pane-and-goes-on-in-the-next-row-where-it-ends'"

# ---- the mouse ----

mouse() { printf '\033[<%s;%s;%s%s' "$1" "$2" "$3" "$4" >"$TMP/mouse" && mux send-keys -t dash -l "$(cat "$TMP/mouse")"; }
press() { mouse 0 "$1" "$2" M; }
drag() { mouse 32 "$1" "$2" M; }
release() { mouse 0 "$1" "$2" m; }
row_of() { shows dash | grep -nF -- "$1" | head -n 1 | cut -d: -f1; }
col_of() { # TEXT: column where it begins
	shows dash | grep -F -- "$1" | head -n 1 | sed 's/[^ -~]/x/g' | awk -v t="$1" '{ print index($0, t) }'
}
press 5 "$(row_of '  beta')"
release 5 "$(row_of 'beta')"
see 'a click selects a VM' '─ beta'
press 5 "$(row_of '  alpha')"
release 5 4
see 'and another one' '─ alpha'
wait_for $WAIT has dash 'number 3000'
r=$(row_of 'number 3000') c=$(col_of 'number 3000')
press "$c" "$r"
drag $((c + 3)) "$r"
drag $((c + 10)) "$r"
release $((c + 10)) "$r"
check 'what is dragged over is copied' wait_for $WAIT sh -c "tmux -S $TMP/tmux show-buffer | grep -qx 'number 3000'"
mouse 64 90 10 M
see 'the wheel goes into the history' 'copy -3/'
mouse 65 90 10 M
see_not 'and back' 'copy -'
type_into alpha
text "clear; stty -icanon -echo; printf '\\033[?1000;1006h%s\\n' as''ked; cat -v"
keys Enter
wait_for $WAIT has dash 'asked'
press 90 10
release 90 10
see 'a program that asks gets the mouse, counted in its pane' '^[[<0;'
mouse 4 90 10 M
mouse 36 95 10 M
mouse 4 95 10 m
see_not 'with Shift it selects' 'TYPING'
type_into alpha
keys C-c
text "printf '\\033[?1000;1006l'; stty sane; clear"
keys Enter
leave

# ---- several terminals ----

keys c
see 'a new shell is a tab' '[2 '
type_into alpha
text "PS1='two: '; clear; stty size"
keys Enter
wait_for $WAIT has dash 'two:'
size=$(shows dash | sed -n 's/.* \([0-9]*\)x\([0-9]*\) .*/\2 \1/p' | head -n 1)
see 'and has the size of its pane' "┃$size"
leave
keys h
see 'the first one is a key away' '[1 '
see_not 'and shown alone' 'two:'
keys l
see 'and so is the second' 'two:'
keys h

# ---- a grid ----

keys g
for name in alpha beta gamma omega; do see "$name is in the grid" "$name"; done
see 'four panes' '┼'
keys l
wait_for $WAIT has dash '▸ beta'
keys Enter
wait_for $WAIT bottom 'TYPING beta'
text 'echo only-$((40 + 2))'
keys Enter
see 'typing goes to one pane' 'only-42'
is "$(shows dash | grep -o 'only-42' | wc -l)" 1 'and to no other'
leave
keys Space # marks beta, and goes on to the next one
wait_for $WAIT has dash '▸ gamma'
keys Space
wait_for $WAIT has dash '2 marked'
keys B
wait_for $WAIT has dash BROADCAST
text 'echo both-$((40 + 3))'
keys Enter
twice() { [ "$(shows dash | grep -o "$1" | wc -l)" = 2 ]; }
wait_for $WAIT twice both-43
ok $? 'typing to marked VMs reaches each' "$(shows dash)"
has dash BROADCAST
ok $? 'and the screen says so' "$(shows dash)"
leave

# ---- floods and VMs that hang ----

to() { # NAME: in the grid, from wherever the selection is
	until has dash "▸ $1"; do
		keys l
		sleep 0.1
	done
	keys Enter
	wait_for $WAIT bottom "TYPING $1"
}
keys Home
to omega
text 'clear; yes flood-flood-flood'
keys Enter
wait_for $WAIT has dash 'flood-flood-flood'
leave
keys Home
to beta
text 'echo beside-$((40 + 4))'
keys Enter
see 'beside a flood keys work' 'beside-44'
kill -STOP "$vm_pid_gamma"
text 'echo still-$((40 + 5))'
keys Enter
see 'beside a VM that hangs keys work' 'still-45'
see 'a VM that hangs says so' 'no answer'
kill -CONT "$vm_pid_gamma"
see_not 'until it answers again' 'no answer'
leave
to omega
keys C-c
text 'clear'
keys Enter
see_not 'a flood can be interrupted' 'flood-flood-flood'
leave
keys g
wait_for $WAIT has dash 'STATE'

# ---- a size that somebody else sets ----

mux send-keys -t dash Home
wait_for $WAIT has dash '─ alpha'
window attach 140 45 'build/ccvm attach alpha'
wait_for $WAIT has attach 'sh:'
mux send-keys -t attach -l 'clear; until s=$(stty size); [ "$s" = "45 140" ]; do sleep 0.1; done; echo size $s'
mux send-keys -t attach Enter
wait_for $WAIT has attach 'size 45 140'
ok $? 'another console has its own size' "$(shows attach)"
see 'the pane shows a part of it and says so' '140x45 cut'
type_into alpha
text 'clear; stty size'
keys Enter
see_not 'who types gets the size back' '140x45'
text 'q'
leave

tap_done
