#!/bin/sh
# Real programs in a pane of the dashboard and in `ccvm attach`, compared with the same programs run by tmux itself.
#
# tmux is the outer terminal of both and the independent one: three windows get the same keys, and what tmux says is in them
# must become the same: text, attributes, cursor. The pane is zoomed; its window has as many rows more as the dashboard needs.
. "$(dirname "$0")/../lib/tap.sh"

export LESSHISTFILE=- GIT_CONFIG_NOSYSTEM=1 PAGER=less LESS=R # before tmux starts, which hands them on
unset VIMINIT LESSOPEN
. "$(dirname "$0")/../lib/mux.sh"
COLS=100 ROWS=24
ABOVE=2 BELOW=1 # rows of the dashboard around a zoomed pane

# ---- windows ----

resize() { # COLS ROWS
	COLS=$1 ROWS=$2
	mux resize-window -t pane -x "$COLS" -y $((ROWS + ABOVE + BELOW)) \; \
		resize-window -t attach -x "$COLS" -y "$ROWS" \; resize-window -t plain -x "$COLS" -y "$ROWS"
}
keys() { # KEY...: into all three, as tmux names them
	for w in pane attach plain; do mux send-keys -t "$w" "$@"; done
}
text() { for w in pane attach plain; do mux send-keys -t "$w" -l "$1"; done; }

# Colours and attributes of what can be seen: a blank has no foreground, and 31 is the same as 38;5;1.
looks() {
	LC_ALL=C awk '
	function colour(p, i) {
		used = p[i + 1] == 5 ? 2 : 4
		if (p[i + 1] != 5) return p[i + 2] "," p[i + 3] "," p[i + 4]
		return p[i + 2]
	}
	function sgr(s,    p, n, i, v) {
		n = split(s, p, ";")
		if (n == 0) p[n = 1] = 0
		for (i = 1; i <= n; i++) {
			v = p[i] + 0
			if (v == 0) { fg = bg = ""; split("", on) }
			else if (v == 38) { fg = colour(p, i); i += used }
			else if (v == 48) { bg = colour(p, i); i += used }
			else if (v == 39) fg = ""
			else if (v == 49) bg = ""
			else if (v >= 30 && v <= 37) fg = v - 30
			else if (v >= 90 && v <= 97) fg = v - 82
			else if (v >= 40 && v <= 47) bg = v - 40
			else if (v >= 100 && v <= 107) bg = v - 92
			else if (v == 22) { delete on[1]; delete on[2] }
			else if (v > 22 && v < 30) delete on[v - 20]
			else on[v] = 1
		}
	}
	function style(blank,    s, a) {
		for (a = 1; a < 10; a++) if (a in on && (!blank || a == 4 || a == 7 || a == 9)) s = s "+" a
		return (blank && !(7 in on) && !(4 in on) ? "" : fg) "/" bg s
	}
	{
		text = ""; kept = 0; was = "/"
		while (length($0)) {
			if (match($0, /^\033\[[0-9;]*m/)) { sgr(substr($0, 3, RLENGTH - 3)); $0 = substr($0, RLENGTH + 1); continue }
			c = substr($0, 1, 1); $0 = substr($0, 2); now = style(c == " ")
			if (now != was) text = text "{" now "}"
			text = text c; was = now
			if (c != " " || now != "/") kept = length(text)
		}
		print substr(text, 1, kept)
	}'
}

# What is in a window, without what the dashboard has around the pane.
shows() { # NAME [-e]
	case $1 in
	pane) set -- pane ${2+"$2"} -S $ABOVE -E $((ABOVE + ROWS - 1)) ;;
	esac
	case ${2-} in
	-e) mux capture-pane -p -t "$@" | looks ;;
	*) mux capture-pane -p -t "$@" ;;
	esac
}
cursor() { # NAME: column,row
	at=$(mux display-message -p -t "$1" '#{cursor_x} #{cursor_y}')
	[ "$1" != pane ] || at="${at% *} $((${at#* } - ABOVE))"
	echo "$at"
}

equal() { # NAME [-e]
	[ "$(shows "$1" ${2+"$2"})" = "$(shows plain ${2+"$2"})" ] && [ "$(cursor "$1")" = "$(cursor plain)" ]
}

# same NAME TEXT [-e]: TEXT comes in the plain window, and the others become equal to it.
same() {
	wait_for $WAIT has plain "$2" || {
		ok 1 "$1" "'$2' does not come:
$(shows plain)"
		return
	}
	for w in pane attach; do
		wait_for $WAIT equal $w ${3+"$3"}
		ok $? "$1: $w" "cursor $(cursor $w), wanted $(cursor plain)
$(shows $w ${3+"$3"} >"$TMP/have"; shows plain ${3+"$3"} | diff - "$TMP/have")"
	done
}
gone() { # TEXT: from all three, as after Escape, which must stand alone
	for w in pane attach plain; do wait_for $WAIT lacks $w "$1"; done
}
come() { for w in pane attach plain; do wait_for $WAIT has $w "$1"; done; }

# ---- VMs, dashboard, attach ----

(cd "$HOME" && git init -q repo && cd repo && git config user.name A && git config user.email a@x.test &&
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		GIT_AUTHOR_DATE="2026-01-$n 10:00" GIT_COMMITTER_DATE="2026-01-$n 10:00" git commit -q --allow-empty -m "change $n" \
			-m "Why number $n is right, in a line that is long enough to be wrapped or cut somewhere. 日本語 é"
	done)
start_vm alpha
start_vm beta
window plain $COLS $ROWS "PS1='$ ' sh"
window attach $COLS $ROWS 'build/ccvm attach beta'
window pane $COLS $((ROWS + ABOVE + BELOW)) 'build/ccvm'
resize $COLS $ROWS
wait_for $WAIT has pane alpha
mux send-keys -t pane z
wait_for $WAIT lacks pane beta
mux send-keys -t pane Enter
check 'the dashboard has the VM under the hands' wait_for $WAIT sh -c \
	"tmux -S $TMP/tmux capture-pane -p -t pane | tail -n 1 | grep -q 'TYPING alpha'"
come '$'
text "PS1='sh: '; cd $HOME/repo; clear; stty size"
keys Enter
same 'the size is that of the window' "$ROWS $COLS"

# ---- vim ----

text 'clear; vim -u NONE -i NONE -n -N --cmd "set bg=dark" text.c'
keys Enter
come '"text.c"' # vim says so; only then it takes keys, and the terminal no longer echoes them
text ':set showmode ruler laststatus=2 hlsearch | syntax on'
keys Enter
text 'i'
come '-- INSERT --'
text 'int main(void) { return 0; } /* 日本語 and é */'
keys Enter
text 'char *s = "a second line";'
same 'vim: insert' 'second line' -e
keys Escape
gone '-- INSERT --'
text 'ggV'
same 'vim: visual' '-- VISUAL LINE --' -e
text 'j'
keys Escape
gone '-- VISUAL'
text ':split | vsplit'
keys Enter
text '/line'
keys Enter
same 'vim: three windows and a search' '/line' -e
resize 71 19
same 'vim: smaller' 'text.c' -e
resize 100 24
same 'vim: larger again' 'text.c' -e
text ':qa!'
keys Enter
same 'vim: the shell is back' 'sh:'

# ---- less ----

seq -f 'line %g of a text that is read' 1 500 >"$HOME/repo/lines"
text 'clear; less lines'
keys Enter
same 'less: first page' 'line 1 of'
keys NPage NPage
text '/line 77'
keys Enter
same 'less: a match is marked' 'line 77 of' -e
text 'G'
same 'less: the end' 'line 500 of' -e
keys PPage Up Up
same 'less: back' 'line 4'
text 'q'
same 'less: the shell is back' 'sh:'

# ---- git log ----

text 'clear; git --no-pager log --color=always --oneline | head -5'
keys Enter
same 'git log: colours' 'change 12' -e
text 'clear; git log --color=always --graph'
keys Enter
same 'git log: in its pager' 'change 12' -e
text '/change 3'
keys Enter
same 'git log: searched' 'change 3' -e
text 'q'
same 'git log: the shell is back' 'sh:'

# ---- zsh with vi keys ----

cat >"$HOME/.zshrc" <<'ZSH'
bindkey -v
KEYTIMEOUT=1
setopt prompt_subst
PROMPT='%F{green}zsh%f %# ' RPROMPT='$MODE' MODE='[insert]'
zle-keymap-select() { [[ $KEYMAP = vicmd ]] && MODE='[normal]' || MODE='[insert]'; zle reset-prompt; }
zle-line-init() { zle-keymap-select; }
zle -N zle-keymap-select
zle -N zle-line-init
ZSH
text "clear; zsh -d"
keys Enter
come '[insert]'
text 'echo one two thre'
same 'zsh: typed' 'thre' -e
keys Escape
same 'zsh: normal mode' '[normal]' -e
text 'bcwfour'
same 'zsh: a word changed' 'two four' -e
keys Escape
gone '[insert]'
text '0wD'
text 'iecho done; exit 0'
keys C-a
keys Escape
gone '[insert]'
text 'ddaexit'
same 'zsh: a line thrown away' 'exit' -e
keys Enter
same 'zsh: the shell is back' 'sh:'

# ---- top ----

# Its numbers change: digits are all the same, and the list of processes is only this shell's.
text 'clear; top -d 600 -p 1'
keys Enter
masked() { shows "$1" | sed -e 's/[0-9]/9/g' -e 's/9[9.,:]*/9/g' -e 's/ //g' -e '/^9/d'; }
similar() { [ "$(masked "$1" | sed '/^top/d')" = "$(masked plain | sed '/^top/d')" ]; }
come 'COMMAND'
for w in pane attach; do
	wait_for $WAIT similar $w
	ok $? "top: $w" "$(masked $w >"$TMP/have"; masked plain | diff - "$TMP/have")"
done
text 'q'
come 'sh:'
text 'clear'
keys Enter
same 'top: the shell is back' 'sh:'

# ---- sizes ----

# 500 of them as fast as a terminal can be dragged. What counts is the last one.
i=0
while [ $i -lt 500 ]; do
	echo "resize-window -t pane -x $((40 + i * 7 % 90)) -y $((10 + i * 3 % 30))"
	echo "resize-window -t attach -x $((20 + i * 7 % 90)) -y $((5 + i * 3 % 30))"
	i=$((i + 1))
done >"$TMP/storm"
mux source-file "$TMP/storm"
resize 93 22
text 'clear; until s=$(stty size); [ "$s" = "22 93" ]; do sleep 0.1; done; clear; echo size $s'
keys Enter
same 'after 500 sizes the program has the last one' 'size 22 93'

# ---- a console that is killed ----

text 'clear; printf "\033[31mred\033[m \033[1mbold\033[m 日本語\n"; seq 30'
keys Enter
same 'before it is killed' '30' -e
for w in pane attach; do kill -9 "$(mux display-message -p -t $w '#{pane_pid}')"; done
for w in pane attach; do wait_for $WAIT sh -c "! tmux -S $TMP/tmux has-session -t $w"; done
window attach $COLS $ROWS 'build/ccvm attach beta'
window pane $COLS $((ROWS + ABOVE + BELOW)) 'build/ccvm'
resize 93 22
wait_for $WAIT has pane alpha
mux send-keys -t pane z
wait_for $WAIT lacks pane beta
mux send-keys -t pane Enter
same 'a new console shows the same' '30' -e

tap_done
