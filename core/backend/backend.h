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

/* All strings are borrowed during start. The guest sees its block devices in this order: layers (vda, vdb, ...), then
 * the disk; their serial numbers are "layer0", "layer1", ... and "disk". Layers are opened read-only without a lock, so
 * that all VMs share them; the disk is locked, so that no two VMs can open it. */
struct backend_spec {
	const char *vm; /* name, for the VMM's own process title and the guest's host name */
	const char *kernel, *initramfs;
	const char *layers[BACKEND_LAYERS_MAX]; /* read-only squashfs files, lowest first */
	size_t layer_count;
	const char *disk;         /* the VM's own raw disk image, or NULL */
	const char *cmdline;      /* kernel arguments of ours, appended to the backend's; or NULL */
	const char *console_log;  /* the guest's serial console goes here (console_log.h), or NULL */
	const char *run_dir;      /* for sockets that a backend needs by name; QEMU needs none. Or NULL */
	const char *vhost_socket; /* where ccvm-vsock listens already (vhost-user), or NULL: no vsock */
	uint64_t memory_bytes;    /* rounded down to whole MiB */
	uint32_t cpus;
	uint32_t guest_cid;
};

struct backend_events {
	/* The VMM is gone; `why` is one line ("" for a clean power-off by the guest). */
	void (*on_exit)(void *arg, bool clean, const char *why);
	/* The guest crashed or reset itself while the VMM lives (QMP GUEST_PANICKED, RESET). May be NULL. */
	void (*on_guest_event)(void *arg, const char *what);
	/* Its CPUs stand still, or go on. May be NULL. */
	void (*on_paused)(void *arg, bool paused);
	/* What the guest writes to its console, raw and hostile, after it went to the log. May be NULL. */
	void (*on_console)(void *arg, const uint8_t *bytes, size_t len);
};

struct backend_ops {
	const char *name; /* "qemu-tcg" */
	/* Starts the VMM; it dies with this process. If it fails nothing is left running and no event fires. */
	struct backend *(*start)(struct loop *loop, const struct backend_spec *spec,
	                         const struct backend_events *events, void *arg, struct err *e);
	/* Presses the ACPI power button; no promise. A guest without the modules button and evdev does not notice, so ask
	 * its agent first. */
	void (*power_down)(struct backend *b);
	/* Stops the guest's CPUs, or lets them go on; on_paused follows. */
	void (*pause)(struct backend *b, bool paused);
	void (*kill)(struct backend *b); /* at once, paused or not; on_exit follows */
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

struct backend_choosing;

/* `want` is "auto", "qemu-kvm" or "qemu-tcg". For the first two a tiny guest (this kernel and initramfs with ccvm.probe
 * on the kernel command line) is booted under KVM once; the answer is kept in `memory_file` for this boot of the host
 * and these files. "auto" takes TCG where KVM does not boot it, "qemu-kvm" is an error then.
 * May take some seconds the first time: `progress` (may be NULL) is told. `done` fires from the loop exactly once, with a
 * choice or an error; after it the returned handle is no more. Strings are copied. */
struct backend_choosing *
backend_choose(struct loop *loop, const char *want, const char *kernel, const char *initramfs,
               const char *memory_file, void (*progress)(void *arg, const char *text),
               void (*done)(void *arg, const struct backend_choice *choice, const struct err *e), void *arg);
/* Accepts NULL. Ends the probe; `done` does not fire afterwards. Never after `done`. */
void backend_choose_cancel(struct backend_choosing *c);

#endif
