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

/* Does it need the operator? What a guest says is untrusted: it may colour a row, never cause an action on the VM. */
enum vm_attention_state {
	ATTENTION_NONE,     /* nothing is known */
	ATTENTION_WORKING,  /* busy by itself */
	ATTENTION_WAITING,  /* wants the operator */
	ATTENTION_IDLE,     /* nothing to do */
	ATTENTION_FINISHED, /* done with what it had to do */
	ATTENTION_FAILED,
	ATTENTION_STATE_COUNT
};

/* How we know, best first. */
enum vm_attention_source {
	ATTENTION_BY_NOTHING,
	ATTENTION_BY_HOOK,     /* the agent's own hooks, through the events port */
	ATTENTION_BY_NOTICE,   /* OSC 9, 777, 99 */
	ATTENTION_BY_PROGRESS, /* OSC 9;4 */
	ATTENTION_BY_BELL,
	ATTENTION_BY_PROMPT, /* OSC 133 */
	ATTENTION_BY_TITLE,
	ATTENTION_BY_EXIT,   /* its program ended */
	ATTENTION_BY_OUTPUT, /* output, or silence: a guess */
	ATTENTION_SOURCE_COUNT
};

struct vm_attention {
	enum vm_attention_state state;
	enum vm_attention_source source;
	bool seen;      /* the operator has looked since; nothing to see in what calls nobody */
	int64_t at_ms;  /* wall clock of the change; of a VM that is over: of its end */
	char text[201]; /* what it says itself, printable; "" */
};

const char *vm_attention_name(enum vm_attention_state s); /* "waiting" */
bool vm_attention_parse(const char *name, enum vm_attention_state *out) MUST_USE;
const char *vm_attention_source_name(enum vm_attention_source s); /* "hook" */
/* Waiting, finished and failed call the operator, until they are seen. */
bool vm_attention_calls(enum vm_attention_state s);
/* The one of two that needs the operator more: unseen waiting, failed, finished, then working, then the same that were
 * seen, then idle and none; of equal ones the newer. */
const struct vm_attention *vm_attention_worse(const struct vm_attention *a, const struct vm_attention *b);

#define VM_TERMINALS_MOST 32

struct vm_terminal {
	uint32_t number;
	uint16_t rows, cols;
	bool first; /* the one that is meant when none is named */
	uint32_t watchers;
	struct vm_attention attention;
	char title[257];   /* what its program calls it; printable UTF-8; "" */
	char command[129]; /* "claude", "sh -l" */
};

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
	uint32_t supervisor_pid, vmm_pid;
	uint32_t cpus;
	uint64_t memory_bytes;
	uint64_t generation;           /* grows with each change */
	bool paused;                   /* its CPUs stand still */
	struct vm_attention attention; /* the most urgent of its terminals and hooks */
	uint32_t denied_seen;          /* `denied` when the operator last looked */
	uint32_t cpu_permille;         /* of one CPU, over the last seconds; with the next two 0: not known */
	uint64_t mem_used_kib, mem_total_kib;           /* as the guest sees it */
	uint32_t terminal_count;                        /* 0 while nothing runs; not recorded on disk */
	struct vm_terminal terminal[VM_TERMINALS_MOST]; /* by number */
};

#endif
