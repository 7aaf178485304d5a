/* What a VM is: the plain description that `up` writes and the status that everybody shows. No behaviour.
 *
 *   creating ──► booting ──► ready ──► stopping ──► stopped
 *       └──────────┴──────────┴──────────┴────────► failed      (each with a reason)
 *
 * creating: files, proxy and vsock device are being set up.   booting: the VMM runs, the guest has not said READY.
 * ready: the guest's agent answers.   stopping: asked to end.   stopped, failed: nothing runs any more. */
#ifndef CCVM_VM_VM_H
#define CCVM_VM_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/parse.h" /* VM_NAME_MAX */

enum vm_state { VM_CREATING, VM_BOOTING, VM_READY, VM_STOPPING, VM_STOPPED, VM_FAILED, VM_STATE_COUNT };

/* The egress path of a ready VM. */
enum vm_egress {
	VM_EGRESS_UNKNOWN, /* not asked yet */
	VM_EGRESS_OK,      /* relay, vsock and proxy answered */
	VM_EGRESS_BROKEN,  /* the VM runs but its way out does not work; `reason` says where */
	VM_EGRESS_COUNT
};

const char *vm_state_name(enum vm_state s); /* "ready"; out of range: "unknown" */
const char *vm_egress_name(enum vm_egress s);
bool vm_state_parse(const char *name, enum vm_state *out) MUST_USE;
/* Something of the VM may be running. */
bool vm_state_is_live(enum vm_state s);

#define VM_MEMORY_MIN (128ull << 20)
#define VM_MEMORY_MAX (1ull << 40)
#define VM_DISK_MIN   (64ull << 20)
#define VM_DISK_MAX   (16ull << 40) /* of ext4 with 32-bit block numbers */
#define VM_CPUS_MAX   64

/* Fixed when the VM is made; kept in <state>/vm.json. The policy is a file of its own (<state>/policy). */
struct vm_spec {
	char name[VM_NAME_MAX + 1];
	char image[VM_NAME_MAX + 1];
	char backend[32]; /* "auto", "qemu-kvm", "qemu-tcg" */
	uint64_t memory_bytes;
	uint64_t disk_bytes;
	uint32_t cpus;
	uint64_t ready_timeout_ms;
	int64_t created_ms; /* wall clock */
};

/* Limits and words; the error names the field. */
bool vm_spec_check(const struct vm_spec *s, struct err *e) MUST_USE;

/* What is known of a VM now. */
struct vm_status {
	char name[VM_NAME_MAX + 1];
	enum vm_state state;
	enum vm_egress egress;
	char reason[401]; /* why failed, or what is broken; "" */
	char backend[32]; /* what really runs: "qemu-tcg" */
	char image[VM_NAME_MAX + 1];
	int64_t started_ms; /* wall clock, 0: never */
	int64_t ready_ms;   /* wall clock of READY, 0: not yet */
	uint32_t denied;    /* deny records in the audit log */
	uint32_t tunnels;   /* open now */
	uint32_t terminals;
	uint32_t supervisor_pid, vmm_pid;
	uint32_t cpus;
	uint64_t memory_bytes;
	uint64_t generation; /* grows with each change */
};

#endif
