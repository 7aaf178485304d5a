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

static const char *const ATTENTION_NAMES[] = {
    [ATTENTION_NONE] = "none", [ATTENTION_WORKING] = "working",   [ATTENTION_WAITING] = "waiting",
    [ATTENTION_IDLE] = "idle", [ATTENTION_FINISHED] = "finished", [ATTENTION_FAILED] = "failed",
};
static_assert(ARRAY_LEN(ATTENTION_NAMES) == ATTENTION_STATE_COUNT, "every attention state has a name");

static const char *const SOURCE_NAMES[] = {
    [ATTENTION_BY_NOTHING] = "none",      [ATTENTION_BY_HOOK] = "hook", [ATTENTION_BY_NOTICE] = "notice",
    [ATTENTION_BY_PROGRESS] = "progress", [ATTENTION_BY_BELL] = "bell", [ATTENTION_BY_PROMPT] = "prompt",
    [ATTENTION_BY_TITLE] = "title",       [ATTENTION_BY_EXIT] = "exit", [ATTENTION_BY_OUTPUT] = "output",
};
static_assert(ARRAY_LEN(SOURCE_NAMES) == ATTENTION_SOURCE_COUNT, "every attention source has a name");

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

const char *vm_attention_name(enum vm_attention_state s)
{
	return (unsigned)s < ATTENTION_STATE_COUNT ? ATTENTION_NAMES[s] : "unknown";
}

const char *vm_attention_source_name(enum vm_attention_source s)
{
	return (unsigned)s < ATTENTION_SOURCE_COUNT ? SOURCE_NAMES[s] : "unknown";
}

bool vm_attention_parse(const char *name, enum vm_attention_state *out)
{
	for (size_t i = 0; i < ATTENTION_STATE_COUNT; i++) {
		if (strcmp(name, ATTENTION_NAMES[i]) == 0) {
			*out = (enum vm_attention_state)i;
			return true;
		}
	}
	return false;
}

bool vm_attention_calls(enum vm_attention_state s)
{
	return s == ATTENTION_WAITING || s == ATTENTION_FINISHED || s == ATTENTION_FAILED;
}

/* The most urgent has the highest number. */
static int urgency(const struct vm_attention *a)
{
	static const int OF_STATE[] = {
	    [ATTENTION_NONE] = 0,   [ATTENTION_IDLE] = 1,    [ATTENTION_FINISHED] = 2,
	    [ATTENTION_FAILED] = 3, [ATTENTION_WAITING] = 4, [ATTENTION_WORKING] = 5,
	};
	static_assert(ARRAY_LEN(OF_STATE) == ATTENTION_STATE_COUNT, "every attention state has an urgency");
	int n = OF_STATE[a->state];
	return vm_attention_calls(a->state) && !a->seen ? n + ATTENTION_STATE_COUNT : n;
}

const struct vm_attention *vm_attention_worse(const struct vm_attention *a, const struct vm_attention *b)
{
	int ua = urgency(a), ub = urgency(b);
	if (ua != ub)
		return ua > ub ? a : b;
	return a->at_ms >= b->at_ms ? a : b;
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
