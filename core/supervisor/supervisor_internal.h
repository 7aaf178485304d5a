/* What the files of the supervisor share: supervisor.c holds the state and does what the table says, vmm.c runs the VMM,
 * helpers.c the vsock device and the proxy. */
#ifndef CCVM_SUPERVISOR_SUPERVISOR_INTERNAL_H
#define CCVM_SUPERVISOR_SUPERVISOR_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/backend/backend.h"
#include "core/image/image.h"
#include "core/supervisor/machine.h"
#include "core/supervisor/session.h"
#include "core/supervisor/supervisor.h"

#define SUPERVISOR_REASON_SIZE 401

struct supervisor {
	struct loop *loop;
	const struct places *places;
	const struct vm_spec *spec;
	enum machine_state state;
	char reason[SUPERVISOR_REASON_SIZE]; /* why it ends; set once */
	bool interrupted;
	unsigned long long start_time; /* of this process */

	struct board *board;
	struct health *health;
	struct vitals *vitals;
	struct live_policy *policy;
	struct terminals *terminals;
	struct lookout *lookout;
	struct control *control;
	struct session_host session_host;
	struct guest_events *events;
	struct audit_count *audit;

	struct setup *setup; /* while it runs */
	bool set_up;
	struct image image;
	const struct backend_ops *ops; /* the chosen backend */

	struct backend *vmm;
	bool vmm_running;
	bool left; /* the guest powered off by itself */
	struct agent_ask *shutdown;
	uint32_t grace_ms;
	struct timer *deadline; /* READY by then */
	struct timer *grace;    /* powered off by then */

	struct helper *vsock, *proxy;
	bool vsock_ready, proxy_ready;
	char vsock_why[200];
	char proxy_said[200];     /* its last line of stderr */
	struct timer *vsock_gone; /* the device ended: because the VMM did? */
	struct timer *proxy_again;
	unsigned proxy_failures;
	uint64_t proxy_up_ms;

	struct timer *gone; /* tearing down: is everything gone? */
	void (*on_over)(void *arg, bool failed);
	void *arg;
};

/* Something has happened. `why` (for people, may be NULL) becomes the VM's reason when this ends it. */
void supervisor_event(struct supervisor *s, enum machine_event event, const char *why);
/* A line about the way to ready, in the status. */
void supervisor_progress(struct supervisor *s, const char *text);
/* The set-up, the device and the proxy: are all three there? */
void supervisor_check_set_up(struct supervisor *s);
/* A child has ended while tearing down. */
void supervisor_look_for_end(struct supervisor *s);

bool vmm_start(struct supervisor *s, struct err *e) MUST_USE;
/* Politely: the agent, then the power button. */
void vmm_ask_to_end(struct supervisor *s);
void vmm_kill(struct supervisor *s);
void vmm_close(struct supervisor *s);

/* The event of a helper that does not start comes from the loop. */
bool helpers_start(struct supervisor *s, struct err *e) MUST_USE;
void helpers_restart_proxy(struct supervisor *s);
void helpers_reload_policy(void *supervisor);
void helpers_stop(struct supervisor *s);
bool helpers_are_gone(const struct supervisor *s);
void helpers_close(struct supervisor *s);

#endif
