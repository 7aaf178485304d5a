#!/bin/sh
# The terminal core with the other libvterm: the next Debian's 0.3.x, downloaded beside the system's from the same archive
# that this machine uses, unpacked without root, and the emulator's own tests run against it.
. "$(dirname "$0")/../lib/tap.sh"

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}
suite=trixie

# The machine's own archive, under another suite: the first deb source that is not a security or backports one.
archive=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
	grep -v -e security -e backports -e updates | head -n 1 | cut -d' ' -f1)
[ -n "$archive" ] || skip_all 'no Debian archive is configured'
mkdir -p "$TMP/apt/lists/partial" "$TMP/apt/cache/archives/partial" "$TMP/root"
printf 'deb %s %s main\n' "$archive" "$suite" >"$TMP/apt/sources.list"
private_apt() {
	apt-get -o Dir::Etc::sourcelist="$TMP/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$TMP/apt/lists" \
		-o Dir::Cache="$TMP/apt/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}
private_apt update >"$TMP/out" 2>&1 || skip_all "$suite cannot be reached"
root=$PWD
(cd "$TMP/apt" && private_apt download libvterm-dev libvterm0 >"$TMP/out" 2>&1)
ok $? "packages of $suite" "$(cat "$TMP/out")"
for package in "$TMP"/apt/*.deb; do dpkg-deb -x "$package" "$TMP/root"; done
like "$(grep 'define VTERM_VERSION_M' "$TMP/root/usr/include/vterm.h" | tr '\n' ' ')" 'MINOR 3' 'they are 0.3.x'

library=$(dirname "$(find "$TMP/root" -name 'libvterm.so.0*' | head -n 1)")
flags=$(make --no-print-directory lint-flags)
for compiler in gcc clang; do
	# shellcheck disable=SC2086
	$compiler $flags -I. -I"$TMP/root/usr/include" -D_GNU_SOURCE -DCCVM_VERSION='"test"' -fsyntax-only core/term/*.c >"$TMP/out" 2>&1
	ok $? "core/term compiles without a warning ($compiler)" "$(cat "$TMP/out")"
done

# The terminal core's own files and what it stands on, once; then one program for each test.
# shellcheck disable=SC2016,SC2086
printf '%s\n' core/term/*.c core/base/*.c tests/lib/term_test.c | ROOT=$TMP xargs -P 2 -I{} sh -c \
	'exec gcc -std=c11 -g -O1 -I. -I"$ROOT/root/usr/include" -D_GNU_SOURCE -DCCVM_VERSION="\"test\"" \
		-fsanitize=address,undefined -fno-sanitize-recover=all -c "$1" -o "$ROOT/$(echo "$1" | tr / -).o"' sh {} >"$TMP/out" 2>&1
ok $? "core/term and core/base compile with the sanitizers" "$(cat "$TMP/out")"
for test in emulator events filter grid keys lines links pane scrollback snapshot text transcript; do
	gcc -std=c11 -g -O1 -I. -I"$TMP/root/usr/include" -D_GNU_SOURCE -DCCVM_VERSION='"test"' -fsanitize=address,undefined \
		-fno-sanitize-recover=all -o "$TMP/test_$test" tests/unit/test_$test.c "$TMP"/*.c.o "$library/libvterm.so.0" \
		-lcmocka >"$TMP/out" 2>&1 && (cd "$root" && LD_LIBRARY_PATH=$library "$TMP/test_$test" >"$TMP/out" 2>&1)
	ok $? "test_$test passes with it" "$(tail -n 30 "$TMP/out")"
done
ldd_says=$(LD_LIBRARY_PATH=$library ldd "$TMP/test_emulator" | grep libvterm)
like "$ldd_says" "$TMP" 'and it was that library'

tap_done
