/* One connection from the guest, from its first byte to its last.
 *
 *     head ──► resolving ──► dialling ──► tunnel ──► gone
 *       └──────────┴───────────┴──► refused ──► gone
 *
 * The order of work, which is what the policy rests on: the whole request is parsed; the name is decided on; only then
 * is it looked up; what comes out is filtered; the record "open" is written; the filtered address itself is dialled;
 * only a connection that stands is answered with 200. A name that is refused is never looked up. Every refusal is on
 * record before its answer, closes the connection, and nothing after it is parsed. */
#ifndef CCVM_PROXY_CONN_H
#define CCVM_PROXY_CONN_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/egress/policy.h"

#define CONN_HEAD_MS   10000 /* until the request is whole, however it trickles in */
#define CONN_LINGER_MS 1000  /* for the answer of a refusal to be read */
#define MOST_TUNNELS   256
#define MOST_CONNS     (MOST_TUNNELS + 64) /* with those that ask or have been refused */

struct conn;
struct journal;
struct loop;
struct resolver;

/* What all connections of a proxy share. Plain data, owned by the server, outlives them. */
struct egress {
	struct loop *loop;
	struct policy policy; /* the newest; decides on requests that come from now on */
	struct journal *journal;
	struct resolver *resolver;
	const char *vm; /* "" when it has no name */
	struct list conns;
	size_t conn_count;
	size_t tunnel_count; /* allowed ones: resolving, dialling or open */
	size_t most_tunnels;
	uint64_t last_id;
	void (*on_conn_gone)(void *arg);
	void *arg;
};

/* Takes the descriptor. */
void conn_start(struct egress *g, int fd);
/* Ends it now, on record if it was allowed, without on_conn_gone. */
void conn_stop(struct conn *c);

/* The connection of a list item. */
struct conn *conn_of_link(struct list *link);

#endif
