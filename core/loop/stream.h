/* A connected byte stream: Unix socket, TCP connection, pipe or vsock.
 *
 *     open ──► reading ⇄ paused ──► (eof) ──► closed
 *
 * - Writing never blocks and never queues without bound. stream_send copies. Above `high` bytes queued
 *   stream_is_full() is true: stop your source; on_drain tells when the queue is below a quarter of that.
 *   Above `hard` stream_send refuses and the stream is as good as broken: close it.
 * - End of file is one event (on_eof), an error another (on_error, once; nothing follows).
 * - Not for pty masters where the last bytes matter: these hand out a little at a time, and libuv takes a hang-up after
 *   a partial read for the end. Their EIO is on_eof here.
 * - Callbacks come from the loop, never from inside stream_open or stream_send. After stream_close none comes
 *   except `closed`. */
#ifndef CCVM_LOOP_STREAM_H
#define CCVM_LOOP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/base/err.h"

struct loop;
struct stream;

struct stream_ops {
	void (*on_open)(void *arg); /* only after stream_connect_*; may be NULL */
	void (*on_data)(void *arg, const uint8_t *bytes,
	                size_t len); /* len > 0; bytes valid during the call */
	void (*on_eof)(void *arg);
	void (*on_error)(void *arg, const struct err *e);
	void (*on_drain)(void *arg); /* may be NULL */
	/* After stream_shutdown: the queue and the end of file are with the kernel. May be NULL. */
	void (*on_finished)(void *arg);
	/* Once, when the peer takes no more bytes. May be NULL: then that is an on_error. Otherwise only the writing
	 * half is dead (stream_send refuses) and what the peer sent before is still read, up to on_eof or on_error. */
	void (*on_write_error)(void *arg, const struct err *e);
};

#define STREAM_HIGH_DEFAULT (256 * 1024)
#define STREAM_HARD_DEFAULT (16 * 1024 * 1024)

/* Takes `fd` even on failure; works for any kind of stream descriptor. Reading starts with stream_resume. */
struct stream *stream_open(struct loop *loop, int fd, const struct stream_ops *ops, void *arg,
                           struct err *e) MUST_USE;
/* Connecting fails by on_error (ERR_NOT_FOUND when nobody listens). Reading starts with stream_resume. */
struct stream *stream_connect_unix(struct loop *loop, const char *path, const struct stream_ops *ops,
                                   void *arg, struct err *e) MUST_USE;
struct stream *stream_connect_addr(struct loop *loop, const struct sockaddr *addr,
                                   const struct stream_ops *ops, void *arg, struct err *e) MUST_USE;

void stream_set_limits(struct stream *s, size_t high, size_t hard);
/* Another owner takes over (a parser hands the connection to a session). */
void stream_set_ops(struct stream *s, const struct stream_ops *ops, void *arg);

void stream_resume(struct stream *s); /* read; idempotent */
void stream_pause(struct stream *s);

/* False: over the hard limit or broken; nothing was queued. */
bool stream_send(struct stream *s, const void *bytes, size_t len) MUST_USE;
bool stream_is_full(const struct stream *s);
size_t stream_queued(const struct stream *s);
/* Sends EOF once the queue is flushed; reading goes on. */
void stream_shutdown(struct stream *s);

/* Accepts NULL. What is queued is dropped: use stream_shutdown and wait where it matters. Idempotent; the memory
 * goes by itself. `closed` may be NULL. */
void stream_close(struct stream *s, void (*closed)(void *arg), void *arg);
/* Flush what is queued for at most `ms`, then close. No more callbacks. */
void stream_close_flushed(struct stream *s, uint64_t ms);

int stream_fd(const struct stream *s);

#endif
