# shellcheck shell=sh
# Real VMs for shell tests: `. tests/lib/tap.sh; . tests/lib/vm.sh`. Every test gets runtime, state and config folders
# of its own; the guest images are the user's (built once by tests/image-for-tests).

mkdir -m 700 "$TMP/r" "$TMP/s" "$TMP/c" "$TMP/c/ccvm"
export XDG_RUNTIME_DIR="$TMP/r" XDG_STATE_HOME="$TMP/s" XDG_CONFIG_HOME="$TMP/c"
ccvm=build/ccvm

vm_cleanup() {
	for vm_dir in "$TMP"/s/ccvm/*/; do
		[ -d "$vm_dir" ] || continue
		vm_name=$(basename "$vm_dir")
		[ "$tap_failed" -eq 0 ] || tail -n 5 "$vm_dir/supervisor.log" 2>/dev/null | sed "s/^/# $vm_name: /"
		$ccvm rm --force "$vm_name" >/dev/null 2>&1
	done
}
tap_on_exit vm_cleanup

in_vm() { # NAME COMMAND...: run it in the guest
	vm_name=$1
	shift
	timeout 120 $ccvm exec "$vm_name" -- "$@"
}

# What belongs to VMs of this test: processes whose command line or environment names its folder.
vm_processes() {
	grep -laz -- "$TMP/r" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | while read -r pid; do
		[ "$pid" = $$ ] && continue
		case $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null) in
		*ccvm-supervisor* | *ccvm-proxy* | *ccvm-vsock* | *qemu-system*) echo "$pid" ;;
		esac
	done
}
vm_no_processes() { [ -z "$(vm_processes)" ]; }

# upstream_start: a TLS server for allowed.test and raw services, all on loopback; sets the ports, writes $TMP/ca.pem
# and the [resolve] section that leads their names there.
upstream_start() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj '/CN=ccvm test CA' \
		-addext 'basicConstraints=critical,CA:TRUE' -keyout "$TMP/ca.key" -out "$TMP/ca.pem" 2>/dev/null &&
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=allowed.test' \
			-keyout "$TMP/key.pem" -out "$TMP/csr.pem" 2>/dev/null &&
		printf 'subjectAltName=DNS:allowed.test,DNS:refused.test,DNS:later.test\n' >"$TMP/ext" &&
		openssl x509 -req -in "$TMP/csr.pem" -CA "$TMP/ca.pem" -CAkey "$TMP/ca.key" -CAcreateserial -days 2 \
			-extfile "$TMP/ext" -out "$TMP/cert.pem" 2>/dev/null || return 1
	python3 tests/vm/upstream.py "$TMP/cert.pem" "$TMP/key.pem" "$TMP/ports" &
	upstream_pid=$!
	tap_on_exit "kill $upstream_pid 2>/dev/null"
	wait_for 20 test -s "$TMP/ports" || return 1
	# shellcheck disable=SC1091
	. "$TMP/ports"
	cat >"$TMP/c/ccvm/ccvm.ini" <<-EOF
		[resolve]
		allowed.test = 127.0.0.1:$tls_port
		refused.test = 127.0.0.1:$tls_port
		later.test = 127.0.0.1:$tls_port
		burst.test = 127.0.0.1:$burst_port
		count.test = 127.0.0.1:$count_port
	EOF
}
