/* The agent's side of the wire protocol without any doing: which message may come when, and what is in it.
 * Pure.
 *
 *     HELLO ──► REQUEST ──ping──► REQUEST
 *                  ├──spawn──► RUNNING ──(the program ended)──► DONE: late input is dropped
 *                  └──shutdown──► DONE */
#ifndef CCVM_GUEST_PROTOCOL_H
#define CCVM_GUEST_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/wire/frame.h"
#include "core/wire/wire.h"

enum protocol_phase { PHASE_HELLO, PHASE_REQUEST, PHASE_RUNNING, PHASE_DONE };

#define PROTOCOL_MOST_STRINGS 8192 /* of argv, and of the environment */

struct protocol {
	enum protocol_phase phase;
	uint32_t id; /* of the request */
};

enum protocol_what {
	PROTOCOL_NOTHING, /* late input of a program that has ended */
	PROTOCOL_HELLO,
	PROTOCOL_PING,
	PROTOCOL_SPAWN,
	PROTOCOL_SHUTDOWN,
	PROTOCOL_STDIN,
	PROTOCOL_STDIN_EOF,
	PROTOCOL_RESIZE,
	PROTOCOL_SIGNAL,
};

/* A checked message. Only the part of `what` is filled in. */
struct protocol_event {
	enum protocol_what what;
	struct wire_agent_spawn spawn; /* tty 0 or 1; rows and cols at least 1 when tty */
	char **argv, **env;            /* of spawn; owned by the event */
	struct bytes data;             /* of stdin; borrowed from the frame */
	struct wire_resize resize;     /* both at least 1 */
	int signum;                    /* 1..64 */
	bool reboot;
};

/* Reads one message and moves the phase on. Wrong phase, wrong id, malformed: ERR_PROTOCOL (a name that makes
 * no sense for the kernel: ERR_INVALID), and nothing is to be released. */
bool protocol_read(struct protocol *p, const struct frame *f, struct protocol_event *out,
                   struct err *e) MUST_USE;
void protocol_event_finish(struct protocol_event *ev);
/* The program of the connection ended. */
void protocol_done(struct protocol *p);

#endif
