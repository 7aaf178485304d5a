/* Two connected streams spliced together, until both directions have ended.
 *
 *     open ──(one side ends)──► draining ──(the other ends, or stands still for TUNNEL_DRAIN_MS)──► done
 *
 * - What one side sent before it ended reaches the other, whichever way it ended. An end of file is passed on once the
 *   bytes before it are; the other direction goes on.
 * - A side that does not read stops the side that sends (TUNNEL_QUEUE_MAX bytes and one read are held at most).
 * - While both directions are open nothing is timed: a language model may think for minutes. */
#ifndef CCVM_PROXY_TUNNEL_H
#define CCVM_PROXY_TUNNEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/audit/record.h"

#define TUNNEL_DRAIN_MS  60000
#define TUNNEL_QUEUE_MAX (128 * 1024)

struct loop;
struct stream;
struct tunnel;

struct tunnel_result {
	uint64_t up, down; /* bytes from the client, from the server */
	enum audit_end end;
};

/* Takes both streams, paused. `early` is what the client has sent already; it goes first. on_done comes once, from the
 * loop; both streams are closed and the handle is gone then. `drain_ms` is TUNNEL_DRAIN_MS outside of tests. */
struct tunnel *tunnel_start(struct loop *loop, struct stream *client, struct stream *server,
                            const void *early, size_t early_len, uint64_t drain_ms,
                            void (*on_done)(void *arg, const struct tunnel_result *r), void *arg);
/* Ends it now: no on_done, the result comes back. */
void tunnel_stop(struct tunnel *t, struct tunnel_result *out);

#endif
