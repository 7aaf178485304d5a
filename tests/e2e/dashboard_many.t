#!/bin/sh
# The dashboard with several VMs, end to end: build/ccvm on a pseudo terminal. All of the checks are in
# dashboard_many.c; here are the private folders.
. "$(dirname "$0")/../lib/tap.sh"

export XDG_RUNTIME_DIR="$TMP/run" XDG_STATE_HOME="$TMP/state" XDG_DATA_HOME="$TMP/data" XDG_CONFIG_HOME="$TMP/config"
mkdir -m 700 "$XDG_RUNTIME_DIR"
mkdir "$XDG_STATE_HOME" "$XDG_DATA_HOME" "$XDG_CONFIG_HOME"
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR COLUMNS LINES
build/tests/e2e/dashboard_many
exit
