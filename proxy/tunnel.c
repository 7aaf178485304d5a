/* Each side is read until its end and written to until it is finished: our end of file has been handed to the kernel,
 * or it takes no more bytes. The tunnel is done when both sides are finished.
 *
 * The cases that lose bytes in careless relays:
 * - A server that answers, closes and then resets because we still send. The failed write must not stop the reading:
 *   its answer lies in our receive queue. So a dead writing half (on_write_error) only makes us throw away what was to
 *   go there.
 * - A client that has closed for good while a request of it is still on its way. The same, the other way round.
 * Only a read error of the client ends all at once: it is gone and left bytes unread, so what it was sending may be
 * cut short. The server must not take that for a regular end, so it gets a reset. */
#include "proxy/tunnel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"

struct side {
	struct tunnel *tunnel;
	struct side *peer;
	struct stream *stream; /* owned */
	uint64_t bytes;        /* read from it */
	bool ended;            /* nothing more comes from it */
	bool mute;             /* takes no more bytes: what is for it is thrown away */
	bool finished;         /* needs nothing more from us */
};

struct tunnel {
	struct loop *loop; /* keeps */
	struct side client, server;
	struct timer *drain;
	uint64_t drain_ms;
	size_t queued_at; /* by both streams when the drain timer was started */
	enum audit_end end;
	void (*on_done)(void *arg, const struct tunnel_result *r);
	void *arg;
};

static size_t queued(const struct tunnel *t)
{
	return stream_queued(t->client.stream) + stream_queued(t->server.stream);
}

static void restart_drain(struct tunnel *t)
{
	t->queued_at = queued(t);
	timer_once(t->drain, t->drain_ms);
}

static void set_end(struct tunnel *t, enum audit_end end)
{
	if (t->end == AUDIT_END_NONE) /* whoever ended first */
		t->end = end;
}

void tunnel_stop(struct tunnel *t, struct tunnel_result *out)
{
	set_end(t, AUDIT_END_STOP);
	*out = (struct tunnel_result){.up = t->client.bytes, .down = t->server.bytes, .end = t->end};
	stream_close(t->client.stream, NULL, NULL);
	stream_close(t->server.stream, NULL, NULL);
	timer_close(t->drain);
	free(t);
}

static void done(struct tunnel *t)
{
	void (*on_done)(void *arg, const struct tunnel_result *r) = t->on_done;
	void *arg = t->arg;
	struct tunnel_result r;
	tunnel_stop(t, &r);
	on_done(arg, &r);
}

static void maybe_done(struct tunnel *t)
{
	if (t->client.finished && t->server.finished)
		done(t);
	else
		restart_drain(t);
}

static bool is_draining(const struct tunnel *t)
{
	return t->client.ended || t->server.ended || t->client.mute || t->server.mute;
}

static void on_drain_timer(void *arg)
{
	struct tunnel *t = arg;
	if (queued(t) < t->queued_at) { /* slow, but it moves */
		restart_drain(t);
		return;
	}
	t->end = AUDIT_END_DRAIN;
	done(t);
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct side *side = arg;
	side->bytes += len;
	if (is_draining(side->tunnel))
		restart_drain(side->tunnel);
	if (side->peer->mute || !stream_send(side->peer->stream, bytes, len))
		return; /* it takes no more; on_write_error tells so */
	if (stream_is_full(side->peer->stream))
		stream_pause(side->stream);
}

static void on_eof(void *arg)
{
	struct side *side = arg;
	struct tunnel *t = side->tunnel;
	side->ended = true;
	set_end(t, side == &t->client ? AUDIT_END_CLIENT_EOF : AUDIT_END_SERVER_EOF);
	stream_shutdown(side->peer->stream);
	maybe_done(t);
}

static void on_finished(void *arg)
{
	struct side *side = arg;
	side->finished = true;
	maybe_done(side->tunnel);
}

static void on_room(void *arg)
{
	struct side *side = arg;
	if (!side->peer->ended)
		stream_resume(side->peer->stream);
}

static void on_write_error(void *arg, const struct err *e)
{
	struct side *side = arg;
	struct tunnel *t = side->tunnel;
	(void)e;
	side->mute = side->finished = true;
	set_end(t, side == &t->client ? AUDIT_END_CLIENT_ERROR : AUDIT_END_SERVER_ERROR);
	on_room(side); /* its peer may have been paused; what it sends is thrown away from now on */
	maybe_done(t);
}

static void on_server_error(void *arg, const struct err *e)
{
	struct side *side = arg;
	struct tunnel *t = side->tunnel;
	(void)e;
	set_end(t, AUDIT_END_SERVER_ERROR);
	side->ended = side->mute = side->finished = true;
	on_room(side);
	stream_shutdown(t->client.stream); /* after what the server had sent before */
	maybe_done(t);
}

static void on_client_error(void *arg, const struct err *e)
{
	struct side *side = arg;
	struct tunnel *t = side->tunnel;
	struct linger reset = {.l_onoff = 1, .l_linger = 0};
	(void)e;
	set_end(t, AUDIT_END_CLIENT_ERROR);
	setsockopt(stream_fd(t->server.stream), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	done(t);
}

static const struct stream_ops CLIENT_OPS = {
    .on_data = on_data,
    .on_eof = on_eof,
    .on_error = on_client_error,
    .on_drain = on_room,
    .on_finished = on_finished,
    .on_write_error = on_write_error,
};
static const struct stream_ops SERVER_OPS = {
    .on_data = on_data,
    .on_eof = on_eof,
    .on_error = on_server_error,
    .on_drain = on_room,
    .on_finished = on_finished,
    .on_write_error = on_write_error,
};

struct tunnel *tunnel_start(struct loop *loop, struct stream *client, struct stream *server,
                            const void *early, size_t early_len, uint64_t drain_ms,
                            void (*on_done)(void *arg, const struct tunnel_result *r), void *arg)
{
	struct tunnel *t = mem_alloc(sizeof(*t));
	t->loop = loop;
	t->drain_ms = drain_ms;
	t->on_done = on_done;
	t->arg = arg;
	t->client = (struct side){.tunnel = t, .peer = &t->server, .stream = client, .bytes = early_len};
	t->server = (struct side){.tunnel = t, .peer = &t->client, .stream = server};
	t->drain = timer_create_on(loop, on_drain_timer, t);
	stream_set_ops(client, &CLIENT_OPS, &t->client);
	stream_set_ops(server, &SERVER_OPS, &t->server);
	stream_set_limits(client, TUNNEL_QUEUE_MAX, STREAM_HARD_DEFAULT);
	stream_set_limits(server, TUNNEL_QUEUE_MAX, STREAM_HARD_DEFAULT);
	if (early_len > 0 && !stream_send(server, early, early_len))
		set_end(t, AUDIT_END_SERVER_ERROR); /* on_write_error tells the rest */
	stream_resume(client);
	stream_resume(server);
	return t;
}
