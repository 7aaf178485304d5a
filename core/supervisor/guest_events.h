/* The port on which the guest calls us (9003): it is up; a program in it says how it is doing.
 *
 * The guest may do there what it likes: connections are few and silent ones end, every message is checked, and what is
 * wrong is an incident that ends that connection. Calls and messages over GUEST_EVENTS_BURST in a second make the port rest:
 * nothing is read and nobody accepted for GUEST_EVENTS_REST_MS. So a flood waits in the guest. */
#ifndef CCVM_SUPERVISOR_GUEST_EVENTS_H
#define CCVM_SUPERVISOR_GUEST_EVENTS_H

#include "core/base/err.h"
#include "core/wire/wire.h"

struct guest_events;
struct loop;

#define GUEST_EVENTS_MOST       16    /* connections at a time; more are closed at once */
#define GUEST_EVENTS_SILENCE_MS 10000 /* of one that has not said READY */
#define GUEST_EVENTS_BURST      256
#define GUEST_EVENTS_REST_MS    250
#define GUEST_EVENTS_READY_MOST 16

struct guest_events_ops {
	/* For each EVENT_READY that is well-formed, the first GUEST_EVENTS_READY_MOST of them; its texts are the guest's:
	 * escape them. One is due in a boot; whoever says it for ever must not fill a log with it. */
	void (*on_ready)(void *arg, const struct wire_event_ready *m);
	/* The guest was built with another version of the protocol and cannot be talked to; an incident, too. */
	void (*on_other_version)(void *arg);
	/* The guest broke the protocol; a line for the log, at most GUEST_EVENTS_INCIDENTS in ten seconds. */
	void (*on_incident)(void *arg, const char *text);
	/* For each EVENT_NOTIFY, which is answered then; `attention` is one of vm.h and not NONE. The text is the guest's: clean it. May be NULL. */
	void (*on_notify)(void *arg, const struct wire_event_notify *m);
};
#define GUEST_EVENTS_INCIDENTS 10

struct guest_events *guest_events_open(struct loop *loop, const char *path,
                                       const struct guest_events_ops *ops, void *arg, struct err *e) MUST_USE;
void guest_events_close(struct guest_events *g); /* accepts NULL; no callback afterwards */

#endif
