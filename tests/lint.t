#!/bin/sh
# The rules that a machine can check: include arrows, warnings of the second compiler, format, analyzers, sizes.
. "$(dirname "$0")/lib/tap.sh"

sources() { git ls-files -co --exclude-standard -- '*.c' '*.h' | sort; }

# rule FOLDER ALLOWED BANNED: files of FOLDER may include only "ALLOWED..." and no <BANNED...>. Prints what is wrong.
rule() {
	find "$1" -maxdepth 1 -name '*.[ch]' | sort | while read -r file; do
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$file" | grep -Ev "^($2)" |
			sed "s|^|$file: may not include |"
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*<\([^>]*\)>.*/\1/p' "$file" | grep -E "^($3)\$" |
			sed "s|^|$file: may not include |"
	done
}

SSL='openssl/.*' UV='uv\.h' CURSES='.*(ncurses|curses|panel)\.h' VTERM='vterm\.h' INI='ini\.h' CJSON='.*cJSON\.h'
arrows() {
	rule core/base       'core/base/'                                              "$UV|$CURSES|$VTERM|$SSL|$INI|$CJSON"
	rule core/wire       'core/(wire|base)/'                                       "$UV|$CURSES|$VTERM|$SSL|$INI|$CJSON"
	rule core/loop       'core/(loop|base)/'                                       "$CURSES|$VTERM|$SSL|$INI|$CJSON"
	rule core/config     'core/(config|base|vm|egress)/'                           "$UV|$CURSES|$VTERM|$SSL|$CJSON"
	rule core/vm         'core/(vm|base)/'                                         "$UV|$CURSES|$VTERM|$SSL|$INI"
	rule core/egress     'core/(egress|base)/'                                     "$UV|$CURSES|$VTERM|$SSL|$INI|$CJSON"
	rule core/term       'core/(term|base)/'                                       "$UV|$CURSES|$SSL|$INI|$CJSON"
	rule core/audit      'core/(audit|base)/'                                      "$UV|$CURSES|$VTERM|$INI"
	rule core/vsock      'core/(vsock|base|loop)/'                                 "$CURSES|$VTERM|$SSL|$INI|$CJSON"
	rule core/backend    'core/(backend|base|loop|vm)/'                            "$CURSES|$VTERM|$SSL|$INI"
	rule core/image      'core/(image|base|loop|config)/'                          "$CURSES|$VTERM"
	rule core/supervisor 'core/(supervisor|base|wire|loop|config|vm|term|audit|egress|backend|image)/' "$CURSES|$VTERM|$INI"
	rule core/client     'core/(client|base|wire|loop|config|vm|term|audit|egress)/'     "$CURSES|$VTERM|$SSL|$INI"
	rule core/cli        'core/(cli|client|base|loop|config|vm|term|audit|egress|image|backend)/' "$CURSES|$VTERM|$SSL|$INI"
	rule proxy           '(proxy|core/(base|loop|audit|egress))/'                  "$CURSES|$VTERM|$INI"
	rule guest           '(guest|core/(base|wire))/'                               "$UV|$CURSES|$VTERM|$SSL|$INI|$CJSON"
	rule tui             '(tui|core/(client|base|loop|config|vm|term|audit|egress|cli))/' "$VTERM|$SSL|$INI|$CJSON"
	# The terminal library and curses each live in one place only.
	grep -lE '#[ \t]*include[ \t]*<vterm' $(sources) | grep -v -e '^core/term/' -e '^tests/bench/bare_state\.c$' | sed 's|$|: libvterm lives in core/term|'
	grep -lE "#[ \t]*include[ \t]*<($CURSES)" $(sources) | grep -Ev '^tui/(screen|input|terminfo)\.' | sed 's|$|: curses lives in tui/terminfo|'
	# Of the terminal core, the console side uses only the plain parts.
	grep -nE '"core/term/(emulator|filter|grid|scrollback)\.h"' core/client/*.[ch] core/cli/*.[ch] tui/*.[ch] |
		sed 's|$|: the console side draws from cells|'
	# The commands are joined to the dashboard in one file.
	grep -n '"core/cli/' tui/*.[ch] | grep -v '^tui/main.c:'
}
no_output() { out=$("$@"); [ -z "$out" ] || { echo "$out"; return 1; }; }

check 'include arrows of the design' no_output arrows

# A rule that finds nothing proves nothing: the same check must see a planted mistake.
mkdir -p "$TMP/core/base"
echo '#include <uv.h>' >"$TMP/core/base/x.c"
planted=$(cd "$TMP" && rule core/base 'core/base/' "$UV")
like "$planted" 'core/base/x.c: may not include uv.h' 'the arrow check sees a planted mistake'

compile() { # COMPILER FILES: warnings as errors, without output
	flags=$(make --no-print-directory lint-flags)
	sources | grep "^$2.*\.c\$" | xargs -P 2 -n 8 "$1" $flags -I. -D_GNU_SOURCE -DCCVM_VERSION='"lint"' -fsyntax-only
}
# What else there is, gcc has built with these flags.
check 'no warnings with gcc in what only clang builds' compile gcc tests/fuzz/
check 'no warnings with clang' compile clang ''

format() { sources | xargs clang-format --dry-run -Werror; }
check 'clang-format' format

static_analysis() {
	cppcheck -q -j 2 --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,performance,portability \
		--suppress=missingIncludeSystem --suppress=internalAstError -D_GNU_SOURCE -DCCVM_VERSION='"lint"' -I. \
		core proxy guest tui
}
check 'cppcheck' static_analysis

scripts() {
	git ls-files -co --exclude-standard | while read -r file; do
		head -c 64 "$file" | head -n 1 | grep -qE '^#!.*/(env )?(ba|da)?sh' && echo "$file"
	done | xargs shellcheck -x -S warning -e SC1090,SC1091,SC2046,SC2154
}
check 'shellcheck' scripts

spelling() { git ls-files -co --exclude-standard | grep -Ev '^tests/(fuzz/corpus|screens)/' | xargs codespell -q 3 -L fo,te,nd,ba,ot,ser,iif,covert,tiem,atach,alpah,packge; }
check 'codespell' spelling

banned() {
	grep -nE '[^_a-z](strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|strncpy|alloca|system|popen|mktemp|tmpnam)\(' \
		$(sources) /dev/null | grep -v '^tests/'
}
check 'no banned function' no_output banned

readmes() {
	for folder in core/*/ proxy/ guest/ tui/; do
		ls "$folder"*.c >/dev/null 2>&1 || continue
		lines=$(cat "${folder}README.md" 2>/dev/null | wc -l)
		[ "$lines" -ge 5 ] && [ "$lines" -le 40 ] || echo "${folder}README.md has $lines lines, wanted 5 to 40"
	done
}
check 'each folder has its README' no_output readmes

sizes() {
	sources | grep -v '^tests/' | xargs wc -l | awk '$2 != "total" && $1 > 700 {print $2 ": " $1 " lines, over 700"}'
	sources | grep '\.c$' | xargs ctags --languages=C --kinds-C=f --fields=+ne -f - 2>/dev/null | awk -F '\t' '
		{ l = e = 0
		  for (i = 4; i <= NF; i++) { if ($i ~ /^line:/) l = substr($i, 6); if ($i ~ /^end:/) e = substr($i, 5) }
		  if (e - l >= 80) print $2 ": " $1 "() has " e - l + 1 " lines, over 80" }'
}
check 'no giant file or function' no_output sizes

tap_done
