#!/bin/sh
# Themes as the operator meets them: by the settings, by a command, one's own, while the console runs, from where they are installed; and
# what a helper that gets the clipboard has open. tmux is the terminal.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/mux.sh"

config=$XDG_CONFIG_HOME/ccvm
mkdir "$config"
settings() { printf "$@" >"$config/new" && mv "$config/new" "$config/ccvm.ini"; }
dark_settings() { settings '[ui]\ntheme = dark\nclipboard = command\ncopy_command = cat >%s/got; (ls -l /proc/$$/fd >%s/fds); :\n' "$TMP" "$TMP"; }
dark_settings
start_vm alpha
window dash 100 24 'COLORTERM=truecolor build/ccvm'

keys() { mux send-keys -t "$1" "$2"; }
text() { mux send-keys -t "$1" -l "$2"; }
order() {
	text dash ":$1"
	keys dash Enter
}
colours() { mux capture-pane -p -e -t "$1"; }
dressed() { colours "$1" | grep -qF "48;2;$2"; } # WINDOW BACKGROUND
see_dressed() {                                  # NAME WINDOW BACKGROUND
	wait_for $WAIT dressed "$2" "$3"
	ok $? "$1" "$(colours "$2" | cat -v)"
}
see() { # NAME WINDOW TEXT
	wait_for $WAIT has "$2" "$3"
	ok $? "$1" "'$3' does not come:
$(shows "$2")"
}
dark='18;21;26m' light='251;251;248m'

see_dressed 'the theme of the settings' dash $dark
order 'theme light'
see_dressed ':theme shows another one' dash $light
check 'and nothing of the first one stays' sh -c "! tmux -S $TMP/tmux capture-pane -p -e -t dash | grep -qF '48;2;$dark'"
order 'theme nonesuch'
see 'one that is not there is told' dash "no theme 'nonesuch'"
see_dressed 'and the old one stays' dash $light
order reload
see_dressed ':reload brings that of the settings back' dash $dark

# ---- one's own, in a folder that was not there before ----

mkdir "$TMP/themes"
echo 'plain = #ffffff on #010203' >"$TMP/themes/mine.ini"
mv "$TMP/themes" "$config/themes"
settings '[ui]\ntheme = mine\n'
see_dressed "one's own is taken as soon as the settings name it" dash '1;2;3m'
echo 'plain = #ffffff on #040506' >"$config/themes/mine.ini"
see_dressed 'and again when it changes' dash '4;5;6m'
printf '# mine\nplain = #ffffff on #07080\n' >"$config/new"
mv "$config/new" "$config/themes/mine.ini"
see 'a mistake in it is named with its place' dash "mine.ini:2: '#07080' is no colour"
see_dressed 'and changes nothing' dash '4;5;6m'
rm "$config/themes/mine.ini"

# ---- no colours ----

dark_settings
window bare 100 24 'NO_COLOR=1 build/ccvm'
wait_for $WAIT has bare '─ alpha'
keys bare Enter
wait_for $WAIT has bare 'TYPING alpha'
text bare "PS1='sh: '; clear; echo no''table"
keys bare Enter
wait_for $WAIT has bare '┃notable'
keys bare 'C-]'
keys bare '['
wait_for $WAIT has bare 'copy 0/'
text bare kV
wait_for $WAIT sh -c "tmux -S $TMP/tmux capture-pane -p -e -t bare | grep -qF '[7mnotable'"
ok $? 'without colours what is selected is reversed' "$(colours bare | cat -v)"
unlike "$(colours bare)" '\[([0-9;]*;)?[34][0-8](;|m)' 'and nothing has a colour'
keys bare y
see 'copying says what it did' bare 'given to the copy command, 8 bytes'
is "$(cat "$TMP/got")" notable 'the command got the text'
is "$(sed -n 's/.* \([0-9]*\) -> .*/\1/p' "$TMP/fds" | sort -n | tr '\n' ' ')" '0 1 2 ' 'and no descriptor beside the usual three'
is "$(sed -n 's|.* [12] -> ||p' "$TMP/fds" | sort -u)" /dev/null 'of which two lead nowhere'

# ---- installed ----

check 'make install' make --no-print-directory install PREFIX="$TMP/usr"
window usr 100 24 "COLORTERM=truecolor $TMP/usr/bin/ccvm"
see_dressed 'the installed program has the installed themes' usr $dark
mv "$TMP/usr/share/ccvm/themes/light.ini" "$TMP/usr/share/ccvm/themes/other.ini"
text usr ':theme other'
keys usr Enter
see_dressed 'and none but those' usr $light

tap_done
