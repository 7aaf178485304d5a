/* The life of one VM as a table: state x event -> next state and what is to be done. Pure; supervisor.c does it.
 *
 *   CREATING ─► BOOTING ─► READY ─► STOPPING          (asked politely, grace running)
 *       │          │         │          │
 *       ├──────────┴─────────┴──────────┴─► ENDING ─► STOPPED     everything is being ended, as asked
 *       └──────────┴─────────┴────────────► FAILING ─► FAILED     the same, because something broke
 *
 * STOPPED and FAILED are entered when nothing runs any more. Every cell of the table is one of three: handled, ignored
 * on purpose, or a bug of ours (an event that cannot come then). No event that a guest or a client can cause is a bug. */
#ifndef CCVM_SUPERVISOR_MACHINE_H
#define CCVM_SUPERVISOR_MACHINE_H

#include "core/vm/vm.h"

enum machine_state {
	MACHINE_CREATING,
	MACHINE_BOOTING,
	MACHINE_READY,
	MACHINE_STOPPING,
	MACHINE_ENDING,
	MACHINE_FAILING,
	MACHINE_STOPPED,
	MACHINE_FAILED,
	MACHINE_STATE_COUNT
};

enum machine_event {
	MACHINE_SET_UP,          /* image, disk, backend, vsock device and proxy are there */
	MACHINE_SETUP_FAILED,    /* one of them cannot be had */
	MACHINE_GUEST_READY,     /* the guest said READY */
	MACHINE_OTHER_VERSION,   /* the guest speaks another version of the protocol */
	MACHINE_DEADLINE,        /* it did not in time */
	MACHINE_STOP_ASKED,      /* by a client or a signal */
	MACHINE_KILL_ASKED,      /* by a client */
	MACHINE_GRACE_OVER,      /* the guest did not power off in time */
	MACHINE_VMM_POWERED_OFF, /* the VMM ended cleanly */
	MACHINE_VMM_DIED,        /* the VMM ended otherwise */
	MACHINE_GUEST_CRASHED,   /* the guest panicked or reset itself */
	MACHINE_VSOCK_DIED,      /* the vsock device ended */
	MACHINE_PROXY_DIED,      /* the proxy ended */
	MACHINE_PROXY_UP,        /* the proxy is ready (again) */
	MACHINE_ALL_GONE,        /* after TEAR_DOWN: no child is left */
	MACHINE_EVENT_COUNT
};

enum machine_action {
	MACHINE_NOTHING,
	MACHINE_START_VMM,     /* and arm the ready deadline */
	MACHINE_GREET,         /* disarm it; ask the agent about the egress path */
	MACHINE_ASK_GUEST,     /* shut down, please; arm the grace timer */
	MACHINE_TEAR_DOWN,     /* end every child; ALL_GONE follows */
	MACHINE_RESTART_PROXY, /* after a pause; egress is broken meanwhile */
	MACHINE_CHECK_EGRESS,  /* the proxy is back: ask the agent again */
	MACHINE_FINISH,        /* last status, clean the runtime folder, leave */
	MACHINE_ACTION_COUNT
};

enum machine_verdict { MACHINE_BUG, MACHINE_IGNORED, MACHINE_HANDLED };

struct machine_step {
	enum machine_verdict verdict;
	enum machine_state next;
	enum machine_action action;
};

struct machine_step machine_step(enum machine_state state, enum machine_event event);

/* What everybody else sees of it. */
enum vm_state machine_public_state(enum machine_state state);
const char *machine_state_name(enum machine_state state);
const char *machine_event_name(enum machine_event event);

#endif
