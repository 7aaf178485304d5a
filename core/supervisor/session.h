/* One client on the control socket.
 *
 *     open ─► GREETING ─(HELLO)─► OPEN ─► gone (on_gone, once)
 *
 * A table says which message may come in which phase and who handles it; everything else gets one readable ERROR and the
 * connection is closed. A request that cannot be done (wrong state, no such terminal, refused rule) is answered by an
 * ERROR with its id and the connection goes on.
 *
 * Back-pressure: programs of a client that does not read are not read either (each program has a vsock connection of
 * its own), screens and status are sent when there is room, and a client whose program does not take its stdin is not
 * read. Such a client needs a connection for each program. */
#ifndef CCVM_SUPERVISOR_SESSION_H
#define CCVM_SUPERVISOR_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

struct board;
struct health;
struct live_policy;
struct loop;
struct session;
struct terminals;
struct vitals;

#define SESSION_HELLO_MS 10000

/* What a client may ask for; all kept. */
struct session_host {
	struct loop *loop;
	struct board *board;
	struct health *health;
	struct live_policy *policy;
	struct terminals *terminals;
	struct vitals *vitals; /* NULL: nobody asks how the guest is */
	const char *vsock_path;
	void (*on_stop)(void *arg, uint32_t grace_ms); /* the board tells when it has stopped */
	void (*on_kill)(void *arg);
	void (*on_pause)(void *arg, bool paused); /* the board tells when it is so */
	void (*on_seen)(void *arg, bool attention, bool denied);
	void *arg;
};

/* Takes the connected `fd`, even on failure. on_gone comes from the loop; the session is over then: close it. */
struct session *session_open(const struct session_host *host, int fd,
                             void (*on_gone)(void *arg, struct session *s), void *arg,
                             struct err *e) MUST_USE;
/* At once: programs of this client end, its terminals go on. Accepts NULL; no callback afterwards. */
void session_close(struct session *s);
/* The VM is over: sends what is to be known of that, gives the client a moment to read it, closes. No callback
 * afterwards; `s` is gone. */
void session_close_told(struct session *s);

#endif
