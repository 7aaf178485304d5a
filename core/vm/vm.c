#include "core/vm/vm.h"

#include <string.h>

static const char *const STATE_NAMES[] = {
    [VM_CREATING] = "creating", [VM_BOOTING] = "booting", [VM_READY] = "ready",
    [VM_STOPPING] = "stopping", [VM_STOPPED] = "stopped", [VM_FAILED] = "failed",
};
static_assert(ARRAY_LEN(STATE_NAMES) == VM_STATE_COUNT, "every state has a name");

static const char *const EGRESS_NAMES[] = {
    [VM_EGRESS_UNKNOWN] = "unknown", [VM_EGRESS_OK] = "ok", [VM_EGRESS_BROKEN] = "broken"};
static_assert(ARRAY_LEN(EGRESS_NAMES) == VM_EGRESS_COUNT, "every egress state has a name");

const char *vm_state_name(enum vm_state s)
{
	return (unsigned)s < VM_STATE_COUNT ? STATE_NAMES[s] : "unknown";
}

const char *vm_egress_name(enum vm_egress s)
{
	return (unsigned)s < VM_EGRESS_COUNT ? EGRESS_NAMES[s] : "unknown";
}

bool vm_state_parse(const char *name, enum vm_state *out)
{
	for (size_t i = 0; i < VM_STATE_COUNT; i++) {
		if (strcmp(name, STATE_NAMES[i]) == 0) {
			*out = (enum vm_state)i;
			return true;
		}
	}
	return false;
}

bool vm_state_is_live(enum vm_state s)
{
	return s != VM_STOPPED && s != VM_FAILED;
}

static bool in_whole_mib(uint64_t bytes, uint64_t least, uint64_t most)
{
	return bytes >= least && bytes <= most && bytes % (1 << 20) == 0;
}

bool vm_spec_check(const struct vm_spec *s, struct err *e)
{
	static const char *const BACKENDS[] = {"auto", "qemu-kvm", "qemu-tcg"};
	if (!parse_name("VM name", s->name, e) || !parse_name("image name", s->image, e))
		return false;
	bool known = false;
	for (size_t i = 0; i < ARRAY_LEN(BACKENDS); i++)
		known = known || strcmp(s->backend, BACKENDS[i]) == 0;
	if (!known)
		return err_set(e, ERR_INVALID, "backend '%s' is not auto, qemu-kvm or qemu-tcg", s->backend);
	if (!in_whole_mib(s->memory_bytes, VM_MEMORY_MIN, VM_MEMORY_MAX))
		return err_set(e, ERR_INVALID, "memory must be whole MiB, from %lluM to %lluT",
		               VM_MEMORY_MIN >> 20, VM_MEMORY_MAX >> 40);
	if (!in_whole_mib(s->disk_bytes, VM_DISK_MIN, VM_DISK_MAX))
		return err_set(e, ERR_INVALID, "disk must be whole MiB, from %lluM to %lluT",
		               VM_DISK_MIN >> 20, VM_DISK_MAX >> 40);
	if (s->cpus < 1 || s->cpus > VM_CPUS_MAX)
		return err_set(e, ERR_INVALID, "cpus must be 1 to %d", VM_CPUS_MAX);
	if (s->ready_timeout_ms < 1000 || s->ready_timeout_ms > 3600000)
		return err_set(e, ERR_INVALID, "ready_timeout must be 1s to 1h");
	return true;
}
