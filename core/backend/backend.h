/* A backend starts and ends one virtual machine monitor. Nothing above this header knows which VMM runs: all give the
 * hybrid vsock sockets (vsock.sock, vsock.sock_PORT) and a console log.
 *
 *     start ──► running ──► exited (on_exit, once)
 *                  │ power_down: the guest is asked (ACPI); kill: at once
 *
 * Chosen in one place: backend_choose. */
#ifndef CCVM_BACKEND_BACKEND_H
#define CCVM_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/err.h"

struct loop;
struct backend; /* one running VMM */

#define BACKEND_LAYERS_MAX 8

/* All strings are borrowed during start. */
struct backend_spec {
	const char *vm; /* name, for the VMM's own process title and the guest's host name */
	const char *kernel, *initramfs;
	const char *layers[BACKEND_LAYERS_MAX]; /* read-only squashfs files, lowest first */
	size_t layer_count;
	const char *disk;         /* the VM's own raw disk image */
	const char *cmdline;      /* kernel arguments of ours, appended to the backend's */
	const char *console_log;  /* the guest's serial console goes here (appended) */
	const char *run_dir;      /* for sockets of the backend: qmp.sock */
	const char *vhost_socket; /* where ccvm-vsock listens (vhost-user) */
	uint64_t memory_bytes;
	uint32_t cpus;
	uint32_t guest_cid;
};

struct backend_events {
	/* The VMM is gone; `why` is one line ("" for a clean power-off by the guest). */
	void (*on_exit)(void *arg, bool clean, const char *why);
	/* The guest crashed or reset itself while the VMM lives (QMP GUEST_PANICKED, RESET). May be NULL. */
	void (*on_guest_event)(void *arg, const char *what);
};

struct backend_ops {
	const char *name; /* "qemu-tcg" */
	/* Starts the VMM; it dies with this process. If it fails nothing is left running and no event fires. */
	struct backend *(*start)(struct loop *loop, const struct backend_spec *spec,
	                         const struct backend_events *events, void *arg, struct err *e);
	void (*power_down)(struct backend *b); /* asks the guest; no promise */
	void (*kill)(struct backend *b);       /* at once; on_exit follows */
	pid_t (*pid)(const struct backend *b);
	/* Accepts NULL. Kills what runs; no event afterwards. */
	void (*close)(struct backend *b);
};

extern const struct backend_ops backend_qemu_tcg;
extern const struct backend_ops backend_qemu_kvm;

struct backend_choice {
	const struct backend_ops *ops;
	char why
	    [200]; /* one line for people: "KVM does not boot a guest here (no output in 4 s): using TCG" */
};

/* `want` is "auto", "qemu-kvm" or "qemu-tcg". For auto a tiny guest (this kernel and initramfs with ccvm.probe on the
 * kernel command line) is booted under KVM once; the answer is kept in `memory_file` for this boot of the host.
 * May take some seconds the first time: `progress` (may be NULL) is told. `done` fires from the loop exactly once. */
void backend_choose(struct loop *loop, const char *want, const char *kernel, const char *initramfs,
                    const char *memory_file, void (*progress)(void *arg, const char *text),
                    void (*done)(void *arg, const struct backend_choice *choice, const struct err *e),
                    void *arg);

#endif
