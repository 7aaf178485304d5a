#include "core/vsock/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/vsock/watch.h"

/* Control packets to send, in the order in which they go out. */
enum pending {
	PENDING_RST = 1,
	PENDING_REQUEST = 2,
	PENDING_RESPONSE = 4,
	PENDING_SHUTDOWN = 8,
	PENDING_CREDIT_UPDATE = 16,
	PENDING_CREDIT_REQUEST = 32,
};

static const struct {
	unsigned bit;
	uint16_t op;
} PENDING_OPS[] = {
    {PENDING_RST, PACKET_OP_RST},
    {PENDING_REQUEST, PACKET_OP_REQUEST},
    {PENDING_RESPONSE, PACKET_OP_RESPONSE},
    {PENDING_SHUTDOWN, PACKET_OP_SHUTDOWN},
    {PENDING_CREDIT_UPDATE, PACKET_OP_CREDIT_UPDATE},
    {PENDING_CREDIT_REQUEST, PACKET_OP_CREDIT_REQUEST},
};

#define BACKOFF_FIRST_MS 10
#define BACKOFF_MOST_MS  1000

static const char *const STATE_NAMES[] = {
    [CONNECTION_LINE] = "line",           [CONNECTION_NAMED] = "named",
    [CONNECTION_REQUESTED] = "requested", [CONNECTION_CONNECTING] = "connecting",
    [CONNECTION_OPEN] = "open",           [CONNECTION_CLOSING] = "closing",
    [CONNECTION_OVER] = "over",
};
static_assert(ARRAY_LEN(STATE_NAMES) == CONNECTION_STATE_COUNT, "every state has a name");

const char *connection_state_name(enum connection_state s)
{
	return STATE_NAMES[s];
}

static void changed(struct connection *c)
{
	connection_update_watch(c);
	c->on_change(c->arg, c);
}

static void pend(struct connection *c, unsigned bit)
{
	c->pending |= bit;
}

static void close_host(struct connection *c)
{
	watch_close(c->host);
	c->host = NULL;
	ring_finish(&c->queue);
	c->readable = false;
}

static bool queue_is_empty(const struct connection *c)
{
	return ring_used(&c->queue) == 0;
}

void connection_update_watch(struct connection *c)
{
	if (!c->host)
		return;
	int events = WATCH_NONE;
	bool reads = c->state == CONNECTION_OPEN && !(c->host_shut & PACKET_NO_SEND) &&
	             !(c->guest_shut & PACKET_NO_RECEIVE) && !c->starved && !c->parked;
	if (c->state == CONNECTION_LINE || reads)
		events |= WATCH_READ;
	if (!queue_is_empty(c))
		events |= WATCH_WRITE;
	watch_set(c->host, events);
}

/* In CLOSING: over as soon as the guest was told and the host has everything. */
static void settle(struct connection *c)
{
	if (c->state == CONNECTION_CLOSING && queue_is_empty(c)) {
		close_host(c);
		c->deadline_ms = 0;
		if (!c->pending)
			c->state = CONNECTION_OVER;
	}
	changed(c);
}

/* The guest's side is over; `tell` is what it still has to hear. */
static void begin_closing(struct connection *c, unsigned tell)
{
	c->state = CONNECTION_CLOSING;
	c->pending = tell;
	c->readable = c->starved = false;
	c->deadline_ms = queue_is_empty(c) ? 0 : clock_mono_ms() + CONNECTION_DRAIN_MS;
	settle(c);
}

void connection_reset(struct connection *c)
{
	bool guest_knows = c->state == CONNECTION_CONNECTING || c->state == CONNECTION_OPEN ||
	                   (c->state == CONNECTION_REQUESTED && !(c->pending & PENDING_REQUEST));
	if (c->state == CONNECTION_OVER)
		return;
	unsigned tell = c->state == CONNECTION_CLOSING ? c->pending : guest_knows ? PENDING_RST : 0u;
	close_host(c);
	begin_closing(c, tell);
}

void connection_abandon(struct connection *c)
{
	if (c->state != CONNECTION_OVER)
		begin_closing(c, 0);
}

/* ---- from the guest to the host ---- */

static void shut_host_writes(struct connection *c)
{
	if (c->host && (c->guest_shut & PACKET_NO_SEND) && queue_is_empty(c))
		shutdown(watch_fd(c->host), SHUT_WR);
}

static void forwarded(struct connection *c, size_t n)
{
	credit_forwarded(&c->credit, (uint32_t)n);
	if (c->state == CONNECTION_OPEN && !(c->guest_shut & PACKET_NO_SEND) &&
	    credit_update_is_due(&c->credit))
		pend(c, PENDING_CREDIT_UPDATE);
}

/* The host takes no more bytes. What comes for it is thrown away, but what it sent before still reaches the guest. */
static void host_is_deaf(struct connection *c)
{
	size_t lost = ring_used(&c->queue);
	ring_finish(&c->queue);
	c->host_shut |= PACKET_NO_RECEIVE;
	if (c->state == CONNECTION_OPEN)
		pend(c, PENDING_SHUTDOWN);
	forwarded(c, lost);
}

/* Bytes written, 0 when the socket is full, -1 when it is broken. */
static ssize_t write_host(struct connection *c, const struct iovec *iov, size_t count)
{
	ssize_t n;
	do {
		n = writev(watch_fd(c->host), iov, (int)count);
	} while (n < 0 && errno == EINTR);
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : n;
}

static void write_queue(struct connection *c)
{
	struct iovec iov[2];
	int count = ring_read_spans(&c->queue, iov);
	if (!count)
		return;
	ssize_t n = write_host(c, iov, (size_t)count);
	if (n < 0) {
		host_is_deaf(c);
		return;
	}
	ring_take(&c->queue, (size_t)n);
	if (n && c->state == CONNECTION_CLOSING)
		c->deadline_ms = clock_mono_ms() + CONNECTION_DRAIN_MS;
	if (queue_is_empty(c)) {
		ring_finish(&c->queue);
		shut_host_writes(c);
	}
	forwarded(c, (size_t)n);
}

static void enqueue(struct connection *c, const struct iovec *iov, size_t count, size_t skip)
{
	for (size_t i = 0; i < count; i++) {
		size_t from = MIN(skip, iov[i].iov_len), len = iov[i].iov_len - from;
		skip -= from;
		if (!len)
			continue;
		if (!c->queue.data)
			ring_init(&c->queue, c->credit.buf_alloc);
		/* Credit bounds what is held, so it fits. */
		CHECK(ring_put(&c->queue, (uint8_t *)iov[i].iov_base + from, len) == len);
	}
}

static void on_rw(struct connection *c, const struct packet_header *h, struct iovec *iov, size_t count)
{
	ssize_t n = 0;
	if (c->state == CONNECTION_CLOSING)
		return;
	if (c->state != CONNECTION_OPEN || (c->guest_shut & PACKET_NO_SEND) ||
	    !credit_received(&c->credit, h->len)) {
		connection_reset(c);
		return;
	}
	if (h->len == 0)
		return;
	if (!(c->host_shut & PACKET_NO_RECEIVE) && queue_is_empty(c)) {
		n = write_host(c, iov, count);
		if (n < 0)
			host_is_deaf(c);
	}
	if (c->host_shut & PACKET_NO_RECEIVE)
		n = (ssize_t)h->len;
	else
		enqueue(c, iov, count, (size_t)n);
	forwarded(c, (size_t)n);
	changed(c);
}

/* ---- the other packets of the guest ---- */

static void on_response(struct connection *c, const struct packet_header *h, struct iovec *iov, size_t count)
{
	(void)h, (void)iov, (void)count;
	char ok[HYBRID_OK_SIZE];
	if (c->state == CONNECTION_CLOSING)
		return;
	size_t len = hybrid_format_ok(ok, c->host_port);
	/* Readers expect the line in one piece; nothing was written before it, so there is room. */
	if (c->state != CONNECTION_REQUESTED || (c->pending & PENDING_REQUEST) ||
	    write(watch_fd(c->host), ok, len) != (ssize_t)len) {
		connection_reset(c);
		return;
	}
	c->state = CONNECTION_OPEN;
	c->deadline_ms = 0;
	changed(c);
}

static void on_rst(struct connection *c, const struct packet_header *h, struct iovec *iov, size_t count)
{
	(void)h, (void)iov, (void)count;
	begin_closing(c, 0);
}

static void on_shutdown(struct connection *c, const struct packet_header *h, struct iovec *iov, size_t count)
{
	(void)iov, (void)count;
	if (c->state == CONNECTION_CLOSING)
		return;
	if (c->state != CONNECTION_OPEN) {
		connection_reset(c);
		return;
	}
	c->guest_shut |= h->flags & PACKET_NO_MORE;
	if (c->guest_shut == PACKET_NO_MORE) {
		begin_closing(c, PENDING_RST);
		return;
	}
	shut_host_writes(c);
	if (c->guest_shut & PACKET_NO_RECEIVE) {
		shutdown(watch_fd(c->host), SHUT_RD);
		c->readable = c->starved = false;
		c->deadline_ms = 0;
	}
	changed(c);
}

static void on_credit_update(struct connection *c, const struct packet_header *h, struct iovec *iov,
                             size_t count)
{
	(void)c, (void)h, (void)iov, (void)count; /* every packet carries credit and is read for it */
}

static void on_credit_request(struct connection *c, const struct packet_header *h, struct iovec *iov,
                              size_t count)
{
	(void)h, (void)iov, (void)count;
	if (c->state != CONNECTION_OPEN)
		return;
	pend(c, PENDING_CREDIT_UPDATE);
	changed(c);
}

static void on_nonsense(struct connection *c, const struct packet_header *h, struct iovec *iov, size_t count)
{
	(void)h, (void)iov, (void)count;
	connection_reset(c);
}

static void (*const ON_PACKET[PACKET_OP_COUNT])(struct connection *c, const struct packet_header *h,
                                                struct iovec *iov, size_t count) = {
    [PACKET_OP_INVALID] = on_nonsense,
    [PACKET_OP_REQUEST] = on_nonsense, /* the guest uses a port pair twice: both ends start afresh */
    [PACKET_OP_RESPONSE] = on_response,
    [PACKET_OP_RST] = on_rst,
    [PACKET_OP_SHUTDOWN] = on_shutdown,
    [PACKET_OP_RW] = on_rw,
    [PACKET_OP_CREDIT_UPDATE] = on_credit_update,
    [PACKET_OP_CREDIT_REQUEST] = on_credit_request,
};

static bool all_fits(const struct connection *c, uint32_t bytes)
{
	int waiting = 0;
	return bytes && ioctl(watch_fd(c->host), FIONREAD, &waiting) == 0 && waiting >= 0 &&
	       (uint32_t)waiting <= bytes;
}

/* The guest has given enough credit to go on: not so little that a larger block would be cut into slivers. */
static bool has_room(const struct connection *c)
{
	uint32_t bytes = credit_bytes(&c->credit);
	return credit_packets(&c->credit) && (bytes >= credit_sliver(&c->credit) || all_fits(c, bytes));
}

void connection_packet(struct connection *c, const struct packet_header *h, struct iovec *iov, size_t count)
{
	if (c->state == CONNECTION_OVER)
		return;
	credit_peer(&c->credit, h->buf_alloc, h->fwd_cnt);
	if (c->starved && has_room(c)) {
		c->starved = false;
		c->readable = true;
		c->backoff_ms = 0;
		c->deadline_ms = 0;
		changed(c);
	}
	ON_PACKET[h->op < PACKET_OP_COUNT ? h->op : PACKET_OP_INVALID](c, h, iov, count);
}

/* ---- from the host to the guest ---- */

bool connection_has_data(const struct connection *c)
{
	return c->state == CONNECTION_OPEN && c->readable && !c->starved &&
	       !(c->host_shut & PACKET_NO_SEND) && !(c->guest_shut & PACKET_NO_RECEIVE);
}

/* Guests announce that they have read when they have read a lot of bytes. Nothing makes them announce many small
 * packets, so we ask: at once, and then less and less often for as long as the host has something to send. */
static void starve(struct connection *c, bool ask_now)
{
	c->starved = true;
	c->backoff_ms = c->backoff_ms ? MIN(c->backoff_ms * 2, (uint32_t)BACKOFF_MOST_MS) : BACKOFF_FIRST_MS;
	c->deadline_ms = clock_mono_ms() + c->backoff_ms;
	if (ask_now)
		pend(c, PENDING_CREDIT_REQUEST);
	changed(c);
}

bool connection_may_read(struct connection *c, struct to_guest_fill *f)
{
	f->most_bytes = credit_bytes(&c->credit);
	f->most_packets = credit_packets(&c->credit);
	if (has_room(c))
		return true;
	starve(c, f->most_packets == 0);
	return false;
}

int connection_fd(const struct connection *c)
{
	return watch_fd(c->host);
}

static void on_host_eof(struct connection *c)
{
	c->host_shut |= PACKET_NO_SEND;
	c->readable = false;
	pend(c, PENDING_SHUTDOWN);
}

static void on_sent(struct connection *c, const struct to_guest_fill *f)
{
	bool was_low = credit_packets_are_low(&c->credit);
	for (unsigned i = 0; i < f->packets; i++)
		credit_sent(&c->credit, f->sizes[i]);
	if (!was_low && credit_packets_are_low(&c->credit))
		pend(c, PENDING_CREDIT_REQUEST);   /* early enough for the answer to come before we run dry */
	c->credit.announced = c->credit.forwarded; /* data carries our credit as well */
	c->pending &= ~(unsigned)PENDING_CREDIT_UPDATE;
	c->readable = !f->drained;
}

void connection_read(struct connection *c, enum to_guest_result r, const struct to_guest_fill *f)
{
	switch (r) {
	case TO_GUEST_DONE: on_sent(c, f); break;
	case TO_GUEST_EOF: on_host_eof(c); break;
	case TO_GUEST_ERROR: /* the host closed without reading what it was sent */
		on_host_eof(c);
		host_is_deaf(c);
		break;
	case TO_GUEST_AGAIN: c->readable = false; break;
	case TO_GUEST_FULL: break;
	}
	changed(c);
}

/* ---- control packets ---- */

void connection_header(const struct connection *c, struct packet_header *h)
{
	*h = (struct packet_header){.src_cid = VSOCK_CID_HOST,
	                            .src_port = c->host_port,
	                            .dst_port = c->guest_port,
	                            .type = PACKET_STREAM,
	                            .op = PACKET_OP_RW,
	                            .buf_alloc = c->credit.buf_alloc,
	                            .fwd_cnt = c->credit.forwarded};
}

bool connection_has_control(const struct connection *c)
{
	return c->pending != 0;
}

void connection_next_control(const struct connection *c, struct packet_header *h)
{
	connection_header(c, h);
	for (size_t i = 0; i < ARRAY_LEN(PENDING_OPS); i++) {
		if (!(c->pending & PENDING_OPS[i].bit))
			continue;
		h->op = PENDING_OPS[i].op;
		/* What the host will not do is what the guest must know: the flags speak of the sender. */
		h->flags = h->op == PACKET_OP_SHUTDOWN ? c->host_shut : 0;
		return;
	}
	BUG("no control packet pending");
}

void connection_control_sent(struct connection *c, const struct packet_header *h)
{
	for (size_t i = 0; i < ARRAY_LEN(PENDING_OPS); i++) {
		if (PENDING_OPS[i].op == h->op)
			c->pending &= ~PENDING_OPS[i].bit;
	}
	c->credit.announced = c->credit.forwarded;
	c->pending &= ~(unsigned)PENDING_CREDIT_UPDATE;
	settle(c);
}

/* ---- the CONNECT line, deadlines, life ---- */

/* Takes bytes only as far as the newline: what is glued to the line stays in the socket until the stream is open. */
static void read_line(struct connection *c)
{
	size_t room = sizeof(c->line) - c->line_len;
	int fd = watch_fd(c->host);
	ssize_t n = recv(fd, c->line + c->line_len, room, MSG_PEEK);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	const char *end = n > 0 ? memchr(c->line + c->line_len, '\n', (size_t)n) : NULL;
	if (end)
		n = end + 1 - (c->line + c->line_len);
	if (n <= 0 || recv(fd, c->line + c->line_len, (size_t)n, 0) != n) {
		connection_reset(c);
		return;
	}
	c->line_len += (size_t)n;
	if (end && hybrid_parse_connect(c->line, c->line_len, &c->guest_port)) {
		c->state = CONNECTION_NAMED;
		c->deadline_ms = 0;
		changed(c);
	} else if (end || c->line_len == sizeof(c->line)) {
		connection_reset(c);
	}
}

static void on_host_ready(void *arg, int events)
{
	struct connection *c = arg;
	if (c->state == CONNECTION_LINE) {
		read_line(c);
		return;
	}
	if (events & WATCH_WRITE)
		write_queue(c);
	if ((events & WATCH_READ) && c->state == CONNECTION_OPEN)
		c->readable = true;
	settle(c);
}

void connection_on_deadline(struct connection *c, uint64_t now_ms)
{
	if (!c->deadline_ms || now_ms < c->deadline_ms)
		return;
	c->deadline_ms = 0;
	if (c->state == CONNECTION_OPEN && c->starved) {
		if (has_room(c)) {
			c->starved = false;
			c->readable = true;
			changed(c);
		} else {
			starve(c, true);
		}
	} else {
		connection_reset(c); /* in CLOSING: drops what the host does not take */
	}
}

static struct connection *create(const struct connection_owner *o, uint32_t buf_alloc)
{
	struct connection *c = mem_alloc(sizeof(*c));
	list_init(&c->all);
	list_init(&c->control);
	list_init(&c->data);
	credit_init(&c->credit, buf_alloc);
	c->loop = o->loop;
	c->on_change = o->on_change;
	c->arg = o->arg;
	return c;
}

struct connection *connection_create_for_host(const struct connection_owner *o, int fd, uint32_t buf_alloc)
{
	struct connection *c = create(o, buf_alloc);
	c->state = CONNECTION_LINE;
	c->host = watch_open(c->loop, fd, on_host_ready, c);
	if (!c->host)
		c->state = CONNECTION_OVER;
	c->deadline_ms = clock_mono_ms() + CONNECTION_LINE_MS;
	connection_update_watch(c);
	return c;
}

struct connection *connection_create_for_guest(const struct connection_owner *o,
                                               const struct packet_header *h, uint32_t buf_alloc)
{
	struct connection *c = create(o, buf_alloc);
	c->state = CONNECTION_CONNECTING;
	c->guest_port = h->src_port;
	c->host_port = h->dst_port;
	credit_peer(&c->credit, h->buf_alloc, h->fwd_cnt);
	return c;
}

void connection_connected(struct connection *c, int fd)
{
	CHECK(c->state == CONNECTION_CONNECTING);
	c->host = watch_open(c->loop, fd, on_host_ready, c);
	if (!c->host) {
		connection_reset(c);
		return;
	}
	c->state = CONNECTION_OPEN;
	c->deadline_ms = 0;
	pend(c, PENDING_RESPONSE);
	changed(c);
}

void connection_request(struct connection *c, uint32_t host_port)
{
	CHECK(c->state == CONNECTION_NAMED);
	c->state = CONNECTION_REQUESTED;
	c->host_port = host_port;
	c->deadline_ms = clock_mono_ms() + CONNECTION_REQUEST_MS;
	pend(c, PENDING_REQUEST);
	changed(c);
}

void connection_destroy(struct connection *c)
{
	if (!c)
		return;
	list_remove(&c->all);
	list_remove(&c->control);
	list_remove(&c->data);
	close_host(c);
	credit_finish(&c->credit);
	free(c);
}
