/* Method: every pair has two directions. Bytes are read into one buffer that all share and written on at
 * once; only what the other side does not take is kept, and until it has gone nothing more is read in that
 * direction. So an idle or a flowing pair owns no memory, and a stalled one at most one read's worth each
 * way.
 *
 * A host that has answered and closed while the client still sends is the delicate case: the answer must
 * arrive whole, but closing a TCP socket with unread bytes resets it and throws away what the client has not
 * read yet. So the client's further bytes are read and dropped until it has seen the end and closes, or has
 * no more of the answer to read and does not close for LINGER_MS. */
#include "guest/relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/sockios.h>

#include "core/base/buf.h"
#include "core/base/fd.h"
#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "guest/reactor.h"
#include "guest/vsock.h"

#define CHUNK         (64 * 1024)
#define CHUNKS_A_TURN 4     /* then it is somebody else's turn */
#define FULL_RETRY_MS 100   /* out of descriptors: look again after this time */
#define LINGER_MS     2000  /* a client that sends what nobody takes any more */
#define HALF_IDLE_MS  60000 /* a client that does not close although the host has ended */

enum { TCP, HOST }; /* the two sides of a pair */

struct side {
	struct pair *pair;
	int fd;
	struct reactor_watch *watch;
	bool ended;         /* read to its end */
	bool discard;       /* the other side takes no more: read and drop */
	struct buf pending; /* read from this side, not yet taken by the other */
};

struct pair {
	struct list link;
	struct relay *relay;
	struct side sides[2];
	bool dialing;
	unsigned lingered_ms;
	struct deadline linger; /* runs while the host has ended and the client has not */
};

struct relay {
	struct reactor *reactor;
	int listen_fd;
	struct reactor_watch *watch;
	struct deadline retry;
	int (*dial)(void *arg, struct err *e);
	void *arg;
	struct list pairs;
	size_t count;
	bool told_full, told_down;
	uint8_t *chunk; /* CHUNK bytes, shared by all pairs */
};

static void close_side(struct side *s)
{
	reactor_unwatch(s->watch);
	s->watch = NULL;
	fd_close(&s->fd);
	buf_finish(&s->pending);
}

static void listen_again(struct relay *relay)
{
	if (relay->count < RELAY_MOST_PAIRS && !deadline_is_set(&relay->retry))
		reactor_want(relay->watch, EPOLLIN);
}

/* `reset`: the TCP client must not take this for the regular end. */
static void close_pair(struct pair *p, bool reset)
{
	struct relay *relay = p->relay;
	if (reset) {
		struct linger hard = {.l_onoff = 1, .l_linger = 0};
		setsockopt(p->sides[TCP].fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	}
	deadline_clear(&p->linger);
	close_side(&p->sides[TCP]);
	close_side(&p->sides[HOST]);
	list_remove(&p->link);
	free(p);
	relay->count--;
	listen_again(relay);
}

static struct side *other(struct side *s)
{
	return &s->pair->sides[s == &s->pair->sides[TCP] ? HOST : TCP];
}

/* The host takes no more of what the client sends. */
static void discard_rest(struct side *tcp)
{
	if (tcp->discard)
		return;
	tcp->discard = true;
	buf_finish(&tcp->pending);
	deadline_clear(&tcp->pair->linger); /* a shorter one from now on */
}

/* 1: all of it, 0: a part (the rest waits), -1: broken. */
static int write_on(struct side *from, const uint8_t *bytes, size_t len)
{
	size_t done = 0;
	if (from->discard)
		return 1;
	while (done < len) {
		ssize_t n = send(other(from)->fd, bytes + done, len - done, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			if (from != &from->pair->sides[TCP])
				return -1;
			discard_rest(from);
			return 1;
		}
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (from->pending.len)
		buf_drop(&from->pending, done);
	else
		buf_put(&from->pending, bytes + done, len - done);
	return from->pending.len == 0;
}

/* Moves what can be moved away from this side. False when the pair must be reset. */
static bool pump(struct side *from)
{
	if (from->pending.len) {
		int r = write_on(from, from->pending.data, from->pending.len);
		if (r <= 0)
			return r == 0;
		buf_finish(&from->pending);
	}
	for (int i = 0; i < CHUNKS_A_TURN && !from->ended; i++) {
		ssize_t n = recv(from->fd, from->pair->relay->chunk, CHUNK, 0);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			break;
		if (n < 0)
			return false;
		if (n == 0) {
			from->ended = true;
			shutdown(other(from)->fd, SHUT_WR);
			break;
		}
		int r = write_on(from, from->pair->relay->chunk, (size_t)n);
		if (r <= 0)
			return r == 0;
	}
	return true;
}

static void look_at(struct side *s)
{
	uint32_t in = s->ended || s->pending.len ? 0 : EPOLLIN;
	uint32_t out = other(s)->pending.len ? EPOLLOUT : 0;
	reactor_want(s->watch, in | out);
}

/* A client that drops nothing but reads slowly still has bytes of the answer in front of it. */
static void on_linger(void *arg)
{
	struct pair *p = arg;
	int unread = 0;
	p->lingered_ms += p->sides[TCP].discard ? LINGER_MS : HALF_IDLE_MS;
	if (p->lingered_ms < HALF_IDLE_MS && ioctl(p->sides[TCP].fd, SIOCOUTQ, &unread) == 0 && unread > 0)
		deadline_set(&p->linger, p->relay->reactor, LINGER_MS);
	else
		close_pair(p, false);
}

/* Says what to wait for next; false when the pair was closed. */
static bool settle(struct pair *p)
{
	struct side *tcp = &p->sides[TCP], *host = &p->sides[HOST];
	bool host_done = host->ended && !host->pending.len;
	if (host_done && tcp->ended && !tcp->pending.len) {
		close_pair(p, false);
		return false;
	}
	if (host_done && !(tcp->discard && deadline_is_set(&p->linger)))
		deadline_set(&p->linger, p->relay->reactor, tcp->discard ? LINGER_MS : HALF_IDLE_MS);
	look_at(tcp);
	if (host_done && tcp->discard)
		reactor_deafen(host->watch);
	else
		look_at(host);
	return true;
}

/* Once, not for each of the many tries of a program in the guest. */
static void tell_down(struct relay *relay, const char *why)
{
	if (!relay->told_down)
		log_warn("relay: no connection to the host's proxy: %s", why);
	relay->told_down = true;
}

static void on_dialed(struct pair *p)
{
	int code = socket_outcome(p->sides[HOST].fd);
	if (code != 0) {
		tell_down(p->relay, strerror(code));
		close_pair(p, true);
		return;
	}
	p->relay->told_down = false;
	p->dialing = false;
	settle(p);
}

static void on_side(void *arg, uint32_t events)
{
	struct side *s = arg;
	struct pair *p = s->pair;
	if (p->dialing) {
		/* The client may give up meanwhile; its bytes wait in the kernel. */
		if (s == &p->sides[HOST])
			on_dialed(p);
		else
			close_pair(p, true);
		return;
	}
	bool hung = events & (EPOLLHUP | EPOLLERR);
	/* A client that reset is gone at once. A host's last bytes may still wait before its error. */
	if (s == &p->sides[TCP] && (events & EPOLLERR)) {
		close_pair(p, true);
		return;
	}
	/* Readable, writable or hung up: try both directions, whatever is not ready says so. */
	if (!pump(s) || !pump(other(s))) {
		close_pair(p, true);
		return;
	}
	if (s == &p->sides[HOST] && hung && s->ended)
		discard_rest(&p->sides[TCP]);
	/* Hung up, and what is left to do is to wait for the other side: nothing new can come from here. */
	bool stuck = hung && s->pending.len && !other(s)->pending.len;
	if (settle(p) && stuck)
		reactor_deafen(s->watch);
}

static void open_pair(struct relay *relay, int client)
{
	struct err e = ERR_INIT;
	int host = relay->dial(relay->arg, &e);
	if (host < 0) {
		tell_down(relay, e.msg);
		struct linger hard = {.l_onoff = 1, .l_linger = 0};
		setsockopt(client, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		close(client);
		return;
	}
	int one = 1;
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	struct pair *p = mem_alloc(sizeof(*p));
	p->relay = relay;
	p->dialing = true;
	deadline_init(&p->linger, on_linger, p);
	int fds[2] = {[TCP] = client, [HOST] = host};
	for (int i = 0; i < 2; i++) {
		struct side *s = &p->sides[i];
		*s = (struct side){.pair = p, .fd = fds[i]};
		buf_init(&s->pending, CHUNK);
		s->watch = reactor_watch(relay->reactor, s->fd, i == HOST ? EPOLLOUT : 0, on_side, s);
	}
	list_append(&relay->pairs, &p->link);
	relay->count++;
}

static void on_retry(void *arg)
{
	listen_again(arg);
}

static void on_accept(void *arg, uint32_t events)
{
	(void)events;
	struct relay *relay = arg;
	while (relay->count < RELAY_MOST_PAIRS) {
		int fd = socket_accept(relay->listen_fd);
		if (fd >= 0) {
			open_pair(relay, fd);
			continue;
		}
		if (errno != EAGAIN) {
			deadline_set(&relay->retry, relay->reactor, FULL_RETRY_MS);
			reactor_deafen(relay->watch);
		}
		return;
	}
	if (!relay->told_full)
		log_warn("relay: %d connections are open, more have to wait", RELAY_MOST_PAIRS);
	relay->told_full = true;
	reactor_deafen(relay->watch);
}

struct relay *relay_open(struct reactor *reactor, int listen_fd, int (*dial)(void *arg, struct err *e),
                         void *arg)
{
	struct relay *relay = mem_alloc(sizeof(*relay));
	*relay = (struct relay){.reactor = reactor, .listen_fd = listen_fd, .dial = dial, .arg = arg};
	relay->chunk = mem_alloc(CHUNK);
	list_init(&relay->pairs);
	deadline_init(&relay->retry, on_retry, relay);
	relay->watch = reactor_watch(reactor, listen_fd, EPOLLIN, on_accept, relay);
	return relay;
}

void relay_close(struct relay *relay)
{
	if (!relay)
		return;
	deadline_clear(&relay->retry);
	LIST_FOREACH (item, &relay->pairs) {
		close_pair(LIST_ENTRY(item, struct pair, link), true);
	}
	reactor_unwatch(relay->watch);
	fd_close(&relay->listen_fd);
	free(relay->chunk);
	free(relay);
}

bool relay_is_listening(const struct relay *relay)
{
	int yes = 0;
	socklen_t len = sizeof(yes);
	return relay && getsockopt(relay->listen_fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) == 0 && yes;
}

size_t relay_pair_count(const struct relay *relay)
{
	return relay->count;
}
