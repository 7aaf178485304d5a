#!/bin/sh
# What the console does to the operator's terminal, and what it makes of different ones. tmux is the terminal: what is on its screen,
# and `stty -a`, tell whether all is as it was before.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/mux.sh"

start_vm alpha

# try TAG PROGRAM...: runs it, waits until the settings of the terminal are those of before, and says so. What brings the screen back
# is written before the settings are.
cat >"$TMP/try" <<EOF
tag=\$1 dir=$TMP/\$2
shift 2
mkdir -p \$dir
stty -a >\$dir/before
echo "first screen \$tag"
sh -c 'echo \$\$ >\$0/pid; exec "\$@" 2>\$0/err' \$dir "\$@" 2>/dev/null
echo \$? >\$dir/status
n=0
until stty -a >\$dir/after; cmp -s \$dir/before \$dir/after || [ \$n -ge 200 ]; do n=\$((n + 1)); sleep 0.05; done
echo "over \$tag"
EOF
for w in attach dash; do window $w 90 20 "PS1='\$ ' sh"; done

flag() { mux display-message -p -t "$1" "#{$2}"; } # WINDOW NAME
is_flag() { [ "$(flag "$1" "$2")" = "$3" ]; }
type() { # WINDOW TEXT
	mux send-keys -t "$1" -l "$2"
	mux send-keys -t "$1" Enter
}
begin() { # WINDOW TAG: until it has the screen
	case $1 in
	attach) type "$1" "clear; sh $TMP/try $2 $1 build/ccvm attach alpha" ;;
	dash) type "$1" "clear; sh $TMP/try $2 $1 build/ccvm" ;;
	esac
	wait_for $WAIT is_flag "$1" alternate_on 1
}
drawn() { case $1 in attach) has attach '$' ;; dash) has dash COMMAND ;; esac; }
leave() { case $1 in attach) mux send-keys -t attach C-] d ;; dash) mux send-keys -t dash q ;; esac; }
# as_before WINDOW TAG: all that was switched on is off, the screen is the one of before, and so are the settings.
as_before() {
	wait_for $WAIT has "$1" "over $2" && cmp "$TMP/$1/before" "$TMP/$1/after" && own_screen "$1" "$2"
}
own_screen() {
	is_flag "$1" alternate_on 0 && is_flag "$1" cursor_flag 1 && is_flag "$1" mouse_any_flag 0 && is_flag "$1" keypad_flag 0 &&
		[ "$(shows "$1" | sed -n 1p)" = "first screen $2" ] && lacks "$1" COMMAND
}

# ---- signals ----

signals() {
	for n in 1 2 3 4 5 6 7 8 10 11 12 14 15 16 24 25 26 27 29 30 31 9; do
		ends='attach dash'
		[ "$n" != 1 ] || ends=attach # the dashboard reads its settings again
		for w in $ends; do begin "$w" "$n"; done
		for w in $ends; do
			wait_for $WAIT drawn "$w"
			kill -"$n" "$(cat "$TMP/$w/pid")"
		done
		for w in $ends; do
			as_before "$w" "$n"
			ok $? "$w, signal $n: the terminal is as it was" "$(shows "$w")"
		done
	done
}
signals

# Those that do not end a program: it goes on, and the screen is right.
for n in 1 13 17 18 23 28; do
	goes_on='attach dash'
	[ "$n" != 1 ] || goes_on=dash
	for w in $goes_on; do begin "$w" "$n"; done
	for w in $goes_on; do
		wait_for $WAIT drawn "$w"
		kill -"$n" "$(cat "$TMP/$w/pid")"
		wait_for $WAIT drawn "$w"
		leave "$w"
		as_before "$w" "$n" && [ "$(cat "$TMP/$w/status")" = 0 ]
		ok $? "$w, signal $n: it goes on" "$(shows "$w")"
	done
done

# Those that stop it, and what Ctrl-Z does: the shell gets the terminal, fg gives it back.
for n in 20 21 22 key; do
	for w in attach dash; do
		begin $w "$n"
		wait_for $WAIT drawn $w
		case $n-$w in
		key-attach) mux send-keys -t attach C-] z ;;
		key-dash) mux send-keys -t dash C-z ;;
		*) kill -"$n" "$(cat "$TMP/$w/pid")" ;;
		esac
		wait_for $WAIT has $w Stopped
		type $w "stty -a >$TMP/$w/stopped; echo stopp''ed"
		wait_for $WAIT has $w stopped
		own_screen $w "$n" && cmp "$TMP/$w/before" "$TMP/$w/stopped"
		ok $? "$w, stopped by $n: the terminal is as it was" "$(shows $w)"
		type $w fg
		wait_for $WAIT is_flag $w alternate_on 1 && wait_for $WAIT drawn $w && leave $w && as_before $w "$n"
		ok $? "$w: fg brings it back, and it ends as ever" "$(shows $w)"
	done
done

# Stopped without a word, continued in the foreground.
for w in attach dash; do
	begin $w stop
	wait_for $WAIT drawn $w
	kill -STOP "$(cat "$TMP/$w/pid")"
	kill -CONT "$(cat "$TMP/$w/pid")"
	wait_for $WAIT drawn $w && leave $w && as_before $w stop
	ok $? "$w: kill -STOP and -CONT do no harm" "$(shows $w)"
done

# ---- what TERM says ----

refused=0
refuses() { # WHAT ERROR ENVIRONMENT...
	what=$1 error=$2
	shift 2
	for c in '' 'attach alpha'; do
		refused=$((refused + 1)) # what the last one said is on the screen until it is cleared
		type dash "clear; env $* build/ccvm $c; echo st''atus $refused \$?."
		wait_for $WAIT has dash "status $refused 1."
		like "$(shows dash | tr -d '\n')" "$error" "ccvm $c: $what is refused in a line"
		is "$(flag dash alternate_on)" 0 "ccvm $c: and the screen is not touched"
	done
}
refuses 'an unknown TERM' "terminal 'no-such-terminal' .TERM. is not known here" TERM=no-such-terminal
refuses 'TERM=dumb' "terminal 'dumb' .TERM. cannot be drawn on" TERM=dumb
refuses 'no TERM' 'TERM is not set' -u TERM
type dash 'clear; TERM=alacritty-of-tomorrow build/ccvm'
check 'the terminals that are known by name need no terminfo' wait_for $WAIT has dash COMMAND
leave dash

# ---- locales and colours ----

mux resize-window -t dash -x 100 -y 24
type dash 'clear; LC_ALL=C build/ccvm'
wait_for $WAIT has dash COMMAND
like "$(shows dash)" '\|' 'a C locale gets lines of ASCII'
is "$(shows dash | LC_ALL=C tr -d '\000-\177')" '' 'and nothing else'
leave dash
type attach 'clear; LC_ALL=C build/ccvm attach alpha'
wait_for $WAIT is_flag attach alternate_on 1
type attach "clear; printf '\\342\\224\\200\\342\\226\\210 \\303\\244 \\344\\270\\255.\\n'"
check 'attach draws likenesses too' wait_for $WAIT has attach '-# a ? .'
leave attach
wait_for $WAIT is_flag attach alternate_on 0
type attach 'clear; NO_COLOR=1 build/ccvm attach alpha'
wait_for $WAIT is_flag attach alternate_on 1
type attach "clear; printf '\\033[1;31;44mre''d\\033[m\\n'"
wait_for $WAIT has attach red
like "$(mux capture-pane -p -e -t attach)" '.\[1mred' 'NO_COLOR leaves the attributes'
unlike "$(mux capture-pane -p -e -t attach)" '\[([0-9;]*;)?([34][0-8]|9[0-7])[;m]' 'and no colour'
leave attach
wait_for $WAIT is_flag attach alternate_on 0

# ---- sizes ----

type dash 'clear; build/ccvm'
for size in '20 5' '40 12' '500 200' '1 1' '2 2' '300 3' '5 100' '80 24'; do
	mux resize-window -t dash -x "${size% *}" -y "${size#* }"
	case $size in
	'1 1' | '2 2' | '300 3' | '5 100') continue ;; # it only has to live through them
	'20 5') wait_for $WAIT has dash '▸ alp' ;;
	*) wait_for $WAIT sh -c "tmux -S $TMP/tmux capture-pane -p -t dash | sed -n ${size#* }p | grep -q COMMAND" ;;
	esac
	ok $? "a dashboard of $size" "$(shows dash)"
done
leave dash
wait_for $WAIT is_flag dash alternate_on 0

# ---- widths that nobody agrees on ----

# Each of these is followed by an X in column 41 of the guest's terminal. tmux has widths of its own for them.
cat >"$TMP/widths" <<'EOF'
printf '\033[2J\033[H'
show() { printf "    $1 hello world\033[41GX\r\n"; }
show '\342\232\240\357\270\217'                                                         # warning sign, emoji style
show '\360\237\221\250\342\200\215\360\237\221\251\342\200\215\360\237\221\247'         # a family, joined
show '\360\237\221\215\360\237\217\275'                                                 # thumb with a skin tone
show '\360\237\207\251\360\237\207\252'                                                 # a flag
show '\342\234\215'                                                                     # writing hand
show '\360\237\253\240\360\237\247\213\360\237\233\234'                                 # of newer Unicode
show 'e\314\201\314\202o\314\210'                                                       # marks
show '\344\270\255\346\226\207\343\201\202'                                             # wide
show '\342\200\213\342\200\256x\302\255y'                                               # of no width, turned, soft hyphen
show '1\357\270\217\342\203\243'                                                        # a keycap
show '\342\235\244\357\270\217\342\200\215\360\237\224\245'                             # heart on fire
echo en''d
EOF
# Lengths of what is before PATTERN in the lines of the window that say hello, counted as tmux counts.
lengths() { # WINDOW PATTERN
	shows "$1" | sed -n "/hello world/s/$2.*//p" | while IFS= read -r line; do printf '%s' "$line" | wc -L; done | sort -u
}
mux resize-window -t attach -x 80 -y 24 \; resize-window -t dash -x 110 -y 24
type attach 'clear; build/ccvm attach alpha'
wait_for $WAIT is_flag attach alternate_on 1
type attach "sh $TMP/widths"
wait_for $WAIT has attach end
is "$(shows attach | grep -c 'hello world')" 11 'attach draws odd characters'
is "$(lengths attach X)" 40 'and what comes after them keeps its column'
leave attach
type dash 'clear; build/ccvm'
wait_for $WAIT has dash 'hello world'
is "$(shows dash | grep -c 'hello world')" 11 'so does a pane'
is "$(lengths dash X | wc -l)" 1 'and everything right of them is aligned'
is "$(lengths dash │ | wc -l)" 1 'so is the border'
leave dash

# ---- inside GNU screen ----

cat >"$TMP/screenrc" <<EOF
startup_message off
defutf8 on
altscreen on
EOF
export SCREENDIR="$TMP/screens"
mkdir -m 700 "$SCREENDIR"
tap_on_exit 'screen -S inside -X quit >/dev/null' # it would outlive the window
window inside 80 24 "COLORTERM=truecolor SCREENDIR=$SCREENDIR screen -S inside -c $TMP/screenrc -U sh"
window beside 80 24 'build/ccvm attach alpha'
mux send-keys -t inside -l "PS1='in screen> '"
mux send-keys -t inside Enter
wait_for $WAIT has inside 'in screen>'
type inside 'clear; build/ccvm attach alpha'
wait_for $WAIT has inside 'hello world'
type inside "clear; printf '\\033[4:3;58:5:1mcurly\\033[m \\033[38;2;255;0;0mred\\033[m \\033]8;;http://x.example\\033\\\\li''nk\\033]8;;\\033\\\\\\n'"
wait_for $WAIT has inside link
same_inside() { [ "$(shows inside)" = "$(shows beside)" ]; }
wait_for $WAIT same_inside
ok $? 'GNU screen shows what a terminal shows' "$(shows inside)"
like "$(mux capture-pane -p -e -t inside)" '\[4mcurly' 'an underline is plain where kinds of it are not known'
unlike "$(mux capture-pane -p -e -t inside)" '\[([0-9;]*;)?[13578]m' 'and nothing is mistaken for another attribute'
type inside "stty -icanon -echo; dd bs=1 count=3 2>/dev/null | cat -v; stty sane"
mux send-keys -t inside Up
check 'keys are the same' wait_for $WAIT sh -c "tmux -S $TMP/tmux capture-pane -p -t inside | grep -qF '^[[A'"
mux send-keys -t inside C-] d
wait_for $WAIT has inside '[left alpha'
like "$(shows inside)" 'in screen>' 'and leaving brings its screen back'
type inside 'clear; build/ccvm'
check 'the dashboard works in GNU screen' wait_for $WAIT has inside COMMAND
mux send-keys -t inside q

tap_done
