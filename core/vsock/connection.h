/* One stream between a guest port and a host socket: its life, its two half-closes, its credit.
 *
 *   host opens:    LINE ──"CONNECT n\n"──► NAMED ──owner gives a host port──► REQUESTED ──RESPONSE──► OPEN
 *                    │ bad line, 2 s                                            │ RST, 5 s
 *                    ▼                                                          ▼
 *                   OVER                                                     CLOSING
 *
 *   guest opens:   CONNECTING ──owner connected the host socket──► OPEN        (refused: CLOSING with RST)
 *
 *   OPEN ──guest RST, guest SHUTDOWN both, broken rule──► CLOSING ──RST sent, queue written──► OVER
 *
 * In CLOSING the guest's side is over: what the guest had sent before is still written to the host (for as long as
 * that makes progress), nothing is read any more. OVER: the owner may destroy it.
 *
 * Half-closes while OPEN: the guest's SHUTDOWN(SEND) becomes shutdown(SHUT_WR) once the queue is written; end of
 * file on the socket becomes SHUTDOWN(SEND) to the guest; a socket that takes no more bytes becomes SHUTDOWN(RECEIVE)
 * to the guest, and what the host had sent before it went away still arrives.
 *
 * Every change is reported by on_change (possibly several times, possibly from inside a call below): the owner then
 * looks at the state, at connection_has_control, at connection_has_data and at the deadline. The connection never
 * frees itself. */
#ifndef CCVM_VSOCK_CONNECTION_H
#define CCVM_VSOCK_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/base/list.h"
#include "core/base/ring.h"
#include "core/vsock/credit.h"
#include "core/vsock/hybrid.h"
#include "core/vsock/packet.h"
#include "core/vsock/to_guest.h"

struct loop;
struct watch;

#define CONNECTION_LINE_MS    2000  /* to say CONNECT */
#define CONNECTION_REQUEST_MS 5000  /* for the guest's kernel to answer a REQUEST */
#define CONNECTION_DRAIN_MS   10000 /* without progress, for the host to take what a gone guest had sent */

enum connection_state {
	CONNECTION_LINE,
	CONNECTION_NAMED,
	CONNECTION_REQUESTED,
	CONNECTION_CONNECTING,
	CONNECTION_OPEN,
	CONNECTION_CLOSING,
	CONNECTION_OVER,
	CONNECTION_STATE_COUNT
};

struct connection {
	/* The owner's: where it keeps this connection. */
	struct list all, control, data;
	struct connection *next_in_table;
	bool in_table;
	bool parked;         /* set by the owner: no receive buffers, do not poll the socket */
	uint64_t give_up_ms; /* of CONNECTING */
	/* Read by the owner. */
	enum connection_state state;
	uint32_t guest_port, host_port;
	uint64_t deadline_ms; /* monotonic; 0: none */
	struct credit credit;
	/* The connection's own. */
	struct loop *loop;   /* kept */
	struct watch *host;  /* owned; NULL before CONNECTING ends and after the socket was closed */
	struct ring queue;   /* guest bytes that the host has not taken; memory only while there are any */
	unsigned pending;    /* control packets to send, see connection.c */
	uint8_t guest_shut;  /* PACKET_NO_* that the guest said */
	uint8_t host_shut;   /* PACKET_NO_* that hold for the host side */
	bool readable;       /* the socket may have bytes */
	bool starved;        /* it has, but the guest has given too little credit */
	uint32_t backoff_ms; /* before the guest is asked for credit again */
	char line[HYBRID_LINE_MAX];
	size_t line_len;
	void (*on_change)(void *arg, struct connection *c);
	void *arg;
};

struct connection_owner {
	struct loop *loop;
	void (*on_change)(void *arg, struct connection *c);
	void *arg;
};

/* `fd` (taken; non-blocking) is a host program that has just connected. No callback from inside: look at
 * its state (OVER when the descriptor is no good). */
struct connection *connection_create_for_host(const struct connection_owner *o, int fd, uint32_t buf_alloc);
/* The guest's REQUEST `h`. The owner goes on with connection_connected or connection_reset. */
struct connection *connection_create_for_guest(const struct connection_owner *o,
                                               const struct packet_header *h, uint32_t buf_alloc);
void connection_destroy(struct connection *c);

void connection_request(struct connection *c, uint32_t host_port); /* NAMED -> REQUESTED */
void connection_connected(struct connection *c, int fd);           /* CONNECTING -> OPEN; takes `fd` */
/* Ends it from our side: the guest gets RST if it knows of the connection, queued bytes are dropped. */
void connection_reset(struct connection *c);
/* The guest has forgotten everything (it was rebooted): no word to it, and what it had sent is still written. */
void connection_abandon(struct connection *c);
void connection_on_deadline(struct connection *c, uint64_t now_ms);

/* A packet of the guest. Its payload (h->len bytes at `iov`) is used during the call; `iov` may be changed. */
void connection_packet(struct connection *c, const struct packet_header *h, struct iovec *iov, size_t count);

bool connection_has_control(const struct connection *c);
/* The next control packet to send, as op and flags of `h`; call again after it was sent. */
void connection_next_control(const struct connection *c, struct packet_header *h);
void connection_control_sent(struct connection *c, const struct packet_header *h);

bool connection_has_data(const struct connection *c);
/* How much may be read from the socket into packets now. False: nothing (credit is short; it says so itself). */
bool connection_may_read(struct connection *c, struct to_guest_fill *f);
int connection_fd(const struct connection *c);
/* What to_guest_read made of it. */
void connection_read(struct connection *c, enum to_guest_result r, const struct to_guest_fill *f);

/* Ports, op-independent fields and our half of the credit, for any packet to the guest. */
void connection_header(const struct connection *c, struct packet_header *h);
/* Polls the socket for what the state needs; the owner calls it after it changed `parked`. */
void connection_update_watch(struct connection *c);

const char *connection_state_name(enum connection_state s);

#endif
