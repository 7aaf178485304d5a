#!/bin/sh
# attach and exec -t end to end: build/ccvm on a pseudo terminal, a fake supervisor behind it. The checks are in attach.c;
# here are the private folders and the VM.
. "$(dirname "$0")/../lib/tap.sh"

export XDG_RUNTIME_DIR="$TMP/r" XDG_STATE_HOME="$TMP/s" XDG_CONFIG_HOME="$TMP/c" LC_ALL=C.UTF-8
mkdir -m 700 "$TMP/r" "$TMP/s" "$TMP/c"
unset NO_COLOR COLUMNS LINES COLORTERM
build/tests/e2e/attach
exit
