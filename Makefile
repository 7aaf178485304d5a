# ccvm. `make run` and `make check` are all that a newcomer needs; `make help` lists the rest.

VERSION := 0.1.0
PREFIX  ?= /usr/local
B       := build
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)

# Everything that building, running and testing needs from the distribution, in one place.
PACKAGES := gcc make pkg-config musl-tools libc6-dev linux-libc-dev \
	libuv1-dev libncurses-dev libvterm-dev libssl-dev libinih-dev libcjson-dev \
	qemu-system-x86 seabios mmdebstrap uidmap squashfs-tools cpio e2fsprogs ca-certificates
CHECK_PACKAGES := clang libclang-rt-14-dev clang-format cppcheck shellcheck codespell libcmocka-dev perl \
	universal-ctags tmux screen zsh vim less git curl procps openssl python3 socat vttest

CC       ?= gcc
CFLAGS   ?= -O2 -g
WARN     := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wformat=2 -Wundef -Wvla -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough -Wswitch-enum \
	-Wno-format-truncation -Wno-unknown-warning-option -Werror
CPPFLAGS := -I. -D_GNU_SOURCE -DCCVM_VERSION='"$(VERSION)"' -MMD -MP
HARDEN   := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
LDHARDEN := -pie -Wl,-z,relro,-z,now
LIBS      = -Wl,--as-needed $(shell pkg-config --libs libuv vterm libcrypto inih libcjson ncursesw) -lpanelw

# One archive of everything but the mains: the linker takes what a program uses.
FOLDERS := core/base core/wire core/loop core/config core/vm core/term core/egress core/audit core/handoff core/vsock core/backend \
	core/image core/supervisor core/client core/cli proxy tui
MAINS   := core/vsock/main.c proxy/main.c core/supervisor/main.c tui/main.c
SRCS    := $(filter-out $(MAINS),$(wildcard $(addsuffix /*.c,$(FOLDERS))))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all lint-flags picture run check check-fast unit lint format fuzz bench image deps deps-check install uninstall clean help
all: $(addprefix $(B)/,ccvm ccvm-supervisor ccvm-proxy ccvm-vsock ccvm-guest)

$(B)/ccvm: $(B)/obj/tui/main.o
$(B)/ccvm-supervisor: $(B)/obj/core/supervisor/main.o
$(B)/ccvm-proxy: $(B)/obj/proxy/main.o
$(B)/ccvm-vsock: $(B)/obj/core/vsock/main.o
$(addprefix $(B)/,ccvm ccvm-supervisor ccvm-proxy ccvm-vsock): $(B)/obj/ccvm.a
	@echo "  LD    $@"
	$(Q)$(CC) $(LDHARDEN) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(WARN) $(CPPFLAGS) $(HARDEN) $(CFLAGS) -c -o $@ $<

$(B)/obj/ccvm.a: $(SRCS:%.c=$(B)/obj/%.o)
	$(Q)rm -f $@ && ar rcs $@ $^

# The guest program: static, with musl, and only base and wire beside its own files.
GUEST_SRCS := $(wildcard guest/*.c core/base/*.c core/wire/*.c)
MUSL       := musl-gcc -idirafter /usr/include -idirafter /usr/include/$(shell gcc -print-multiarch)
$(B)/musl/%.o: %.c
	@mkdir -p $(@D)
	@echo "  MUSL  $<"
	$(Q)$(MUSL) $(WARN) $(CPPFLAGS) -Os -g -ffunction-sections -fdata-sections -fstack-protector-strong -c -o $@ $<
$(B)/ccvm-guest: $(GUEST_SRCS:%.c=$(B)/musl/%.o)
	@echo "  LD    $@"
	$(Q)$(MUSL) -static -Wl,--gc-sections -s -o $@ $^

# ---- tests -------------------------------------------------------------------------------------------------------
# Unit tests and the fuzz targets run on objects built with the sanitizers.
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
$(B)/san/%.o: %.c
	@mkdir -p $(@D)
	@echo "  SAN   $<"
	$(Q)$(CC) $(WARN) $(CPPFLAGS) -Og -g $(SAN) -DCCVM_TEST -c -o $@ $<
$(B)/san/ccvm.a: $(SRCS:%.c=$(B)/san/%.o) $(patsubst %.c,$(B)/san/%.o,$(wildcard tests/lib/*.c) \
		$(filter-out guest/main.c,$(wildcard guest/*.c)))
	$(Q)rm -f $@ && ar rcs $@ $^

UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
$(B)/unit/%: $(B)/san/tests/unit/%.o $(B)/san/ccvm.a
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS) -lcmocka

FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzzers/%,$(wildcard tests/fuzz/fuzz_*.c))
$(B)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	$(Q)clang $(WARN) $(CPPFLAGS) -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -c -o $@ $<
$(B)/fuzz/ccvm.a: $(SRCS:%.c=$(B)/fuzz/%.o) $(patsubst %.c,$(B)/fuzz/%.o,$(wildcard tests/lib/*.c) \
		$(filter-out guest/main.c,$(wildcard guest/*.c)))
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/fuzzers/%: $(B)/fuzz/tests/fuzz/%.o $(B)/fuzz/ccvm.a
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)clang -fsanitize=fuzzer,address,undefined -o $@ $^ $(LIBS)
fuzz: $(FUZZ)

# Small programs that the shell tests and the benchmarks start (servers, drivers); each is one file in tests/.
HELPERS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/e2e/*.c tests/vm/*.c tests/bench/*.c))
$(B)/tests/%: $(B)/obj/tests/%.o $(B)/obj/testlib.a $(B)/obj/ccvm.a
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDHARDEN) -o $@ $^ $(LIBS)
$(B)/obj/testlib.a: $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/lib/*.c))
	$(Q)rm -f $@ && ar rcs $@ $^

unit: $(UNIT)
	$(Q)tests/run $(UNIT)

FAST := $(UNIT) $(wildcard tests/e2e/*.t)
# One lane computes (lint), the others mostly wait.
check-fast: all $(UNIT) $(HELPERS)
	$(Q)CCVM_JOBS=$${CCVM_JOBS:-3} tests/run tests/lint.t $(FAST)

check: deps-check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all $(UNIT) $(HELPERS) $(FUZZ)
	$(Q)tests/image-for-tests
	$(Q)tests/run tests/lint.t $(FAST) tests/fuzz.t $(wildcard tests/vm/*.t)

lint:
	$(Q)tests/run tests/lint.t
lint-flags:
	@echo $(WARN)

format:
	clang-format -i $$(git ls-files '*.[ch]')

# The picture in the README, of what the program draws.
picture: $(B)/unit/test_picture
	$(Q)UPDATE=1 $(B)/unit/test_picture >/dev/null

bench: all $(HELPERS)
	$(Q)tests/image-for-tests
	$(Q)tests/bench/run

# ---- running -----------------------------------------------------------------------------------------------------
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
define install_missing
	$(Q)missing=$$(for p in $(1); do dpkg -s $$p 2>/dev/null | grep -q '^Status: install ok' || echo $$p; done); \
	[ -z "$$missing" ] || { echo "installing:" $$missing; $(SUDO) apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing >/dev/null; }
endef
deps:
	$(call install_missing,$(PACKAGES))
deps-check:
	$(call install_missing,$(PACKAGES) $(CHECK_PACKAGES))

image: all
	$(Q)$(B)/ccvm image build base

run: deps
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)$(B)/ccvm image build base
	$(Q)[ -t 0 ] && [ -t 1 ] || { echo "everything is built; the dashboard needs a terminal" >&2; exit 2; }
	$(Q)$(B)/ccvm ping alpha >/dev/null 2>&1 || $(B)/ccvm up alpha --allow api.anthropic.com --allow github.com
	$(Q)$(B)/ccvm ping beta >/dev/null 2>&1 || $(B)/ccvm up beta
	$(Q)$(B)/ccvm

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/ccvm $(DESTDIR)$(PREFIX)/share/ccvm/image \
		$(DESTDIR)$(PREFIX)/share/ccvm/themes
	install -m 755 $(B)/ccvm $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(B)/ccvm-supervisor $(B)/ccvm-proxy $(B)/ccvm-vsock $(B)/ccvm-guest $(DESTDIR)$(PREFIX)/libexec/ccvm/
	install -m 644 guest/image/*.ini ccvm.ini.example $(DESTDIR)$(PREFIX)/share/ccvm/image/
	install -m 644 themes/*.ini $(DESTDIR)$(PREFIX)/share/ccvm/themes/
uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/ccvm $(DESTDIR)$(PREFIX)/libexec/ccvm $(DESTDIR)$(PREFIX)/share/ccvm

clean:
	rm -rf $(B)

help:
	@echo "make             build the programs into build/"
	@echo "make run         install what is missing, build, start two VMs, open the dashboard"
	@echo "make check       install what is missing, run all tests (real VMs included)"
	@echo "make check-fast  the tests that need no VM (under a minute)"
	@echo "make unit        only the unit tests        make lint    warnings, arrows, format, cppcheck"
	@echo "make fuzz        build the fuzz targets     make bench   figures, side by side with the peers"
	@echo "make picture     draw tui/dashboard.svg anew"
	@echo "make format      clang-format in place      make install PREFIX=/usr/local"

-include $(shell find $(B) -name '*.d' 2>/dev/null)
