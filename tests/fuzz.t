#!/bin/sh
# Every fuzz target with its corpus, for CCVM_FUZZ_SECONDS each (default 20), under ASan and UBSan.
. "$(dirname "$0")/lib/tap.sh"

seconds=${CCVM_FUZZ_SECONDS:-20}
fuzz_one() { # PROGRAM: what it finds new stays in TMP; a crash leaves its input in build/crashes
	name=$(basename "$1" | sed 's/^fuzz_//')
	mkdir -p "$TMP/$name" build/crashes
	corpus=tests/fuzz/corpus/$name
	[ -n "$(ls -A "$corpus" 2>/dev/null)" ] || { echo "no corpus in $corpus"; return 1; }
	dict=
	[ ! -f "tests/fuzz/$name.dict" ] || dict=-dict=tests/fuzz/$name.dict
	# shellcheck disable=SC2086
	"$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -artifact_prefix="build/crashes/$name-" \
		-print_final_stats=1 -verbosity=1 $dict "$TMP/$name" "$corpus" >"$TMP/$name.log" 2>&1 || {
		tail -n 40 "$TMP/$name.log"
		return 1
	}
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$TMP/$name.log")
	[ "${runs:-0}" -gt 100 ] || { echo "only ${runs:-0} runs"; return 1; }
}

found=0
# Two at a time: each is one process on one core.
for program in build/fuzzers/fuzz_*; do
	case $program in *.*) continue ;; esac
	found=$((found + 1))
	( fuzz_one "$program" >"$TMP/$(basename "$program").out" 2>&1; echo $? >"$TMP/$(basename "$program").rc" ) &
	[ $((found % 2)) -eq 0 ] && wait
done
wait
for program in build/fuzzers/fuzz_*; do
	case $program in *.*) continue ;; esac
	name=$(basename "$program")
	ok "$(cat "$TMP/$name.rc")" "$name stays clean for $seconds s" "$(cat "$TMP/$name.out")"
done
[ "$found" -gt 0 ]
ok $? "there are fuzz targets"
tap_done
