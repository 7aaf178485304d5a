#!/bin/sh
# vttest's menus in our emulator and in tmux, screen by screen. The checks are in vttest.c; here is a private tmux.
. "$(dirname "$0")/../lib/tap.sh"

command -v vttest >/dev/null || { echo '1..0 # SKIP no vttest'; exit 0; }
export TMUX_TMPDIR="$TMP" LC_ALL=C.UTF-8
unset TMUX COLUMNS LINES
tap_on_exit 'tmux -L vttest kill-server 2>/dev/null'
build/tests/e2e/vttest
exit
