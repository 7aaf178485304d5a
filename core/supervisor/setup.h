/* What must be there before the VMM starts: a whole image, the VM's disk, a backend that works here.
 *
 *     start ─► image (checked in a thread) ─► disk (made when missing) ─► backend chosen ─► on_done, once */
#ifndef CCVM_SUPERVISOR_SETUP_H
#define CCVM_SUPERVISOR_SETUP_H

#include "core/backend/backend.h"
#include "core/image/image.h"
#include "core/supervisor/places.h"
#include "core/vm/vm.h"

struct loop;
struct setup;

struct setup_result {
	struct image image; /* owned by who gets the result: image_finish */
	struct backend_choice backend;
};

struct setup_ops {
	void (*on_progress)(void *arg, const char *text); /* a line for people */
	/* `r` is NULL when `e` is not. The setup is over and gone. */
	void (*on_done)(void *arg, const struct setup_result *r, const struct err *e);
};

/* `places` and `spec` are kept until on_done or setup_cancel. */
struct setup *setup_start(struct loop *loop, const struct places *places, const struct vm_spec *spec,
                          const struct setup_ops *ops, void *arg);
/* Accepts NULL. No callback afterwards; what a thread is doing ends by itself. */
void setup_cancel(struct setup *s);

#endif
