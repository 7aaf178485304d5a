/* Events only change connections and put them on lists; device_flush, at the end of the turn, does the writing and
 * the freeing. So no callback ever sees a connection disappear under it.
 *
 *   control  connections with a packet that must not wait behind data (RST, RESPONSE, SHUTDOWN, credit)
 *   data     connections whose socket has bytes and whose guest has room: served in turn, one batch each
 *
 * When receive buffers run out, both lists stay as they are, the sockets are not polled, and the guest is asked to
 * kick when it adds buffers. Packets from the guest are taken all the while: what they cause to be sent is bounded
 * (bits in each connection, TABLE_RESETS for the rest). */
#include "core/vsock/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/listener.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"
#include "core/vsock/hybrid.h"
#include "core/vsock/table.h"
#include "core/vsock/to_guest.h"

#define PACKETS_PER_TURN 256 /* taken from the guest */
#define BATCHES_PER_TURN 64  /* of data to the guest */
#define ROUNDS_PER_TURN  8   /* of that, while the guest keeps adding buffers */

/* What we promise to hold for a connection. Only the first ones get a large window: together they bound the memory
 * that a guest can make us hold for hosts that do not read to about 46 MiB. */
#define LARGE_WINDOW (256u * 1024)
#define SMALL_WINDOW (32u * 1024)
#define MOST_LARGE   64

#define DIAL_AGAIN_MS   20
#define DIAL_GIVE_UP_MS 2000

struct device {
	struct life life;
	uv_check_t turn_end;
	struct loop *loop;
	struct device_config config;
	char *path; /* owned */
	struct listener *listener;
	struct timer *timer;
	uint64_t timer_at; /* 0: not set */
	bool dirty;
	struct list all, control, data, over;
	unsigned large;
	struct table table;
	struct device_counts counts;
	struct to_guest to_guest;
	struct iovec pool[VIRTQUEUE_MOST_PIECES]; /* of the packet that is being taken from the guest */
};

static bool is_running(const struct device *d)
{
	return virtqueue_is_running(d->config.rx) && virtqueue_is_running(d->config.tx);
}

void device_wake(struct device *d)
{
	d->dirty = true;
}

/* ---- lists and deadlines ---- */

static void arm(struct device *d, uint64_t at)
{
	if (!at || (d->timer_at && d->timer_at <= at))
		return;
	uint64_t now = clock_mono_ms();
	d->timer_at = at;
	timer_once(d->timer, at > now ? at - now : 0);
}

/* Puts the item on `list` if wanted and not there yet, off it if not. */
static void place(struct list *list, struct list *item, bool wanted)
{
	if (!wanted)
		list_remove(item);
	else if (list_is_empty(item))
		list_append(list, item);
}

static void name_host_port(struct device *d, struct connection *c)
{
	if (!is_running(d)) {
		connection_reset(c);
		return;
	}
	uint32_t port = table_new_host_port(&d->table, c->guest_port);
	c->host_port = port;
	table_add(&d->table, c);
	connection_request(c, port);
}

static void on_change(void *arg, struct connection *c)
{
	struct device *d = arg;
	if (c->state == CONNECTION_NAMED) {
		name_host_port(d, c); /* changes it, and so comes here again */
		return;
	}
	bool over = c->state == CONNECTION_OVER;
	bool has_control = connection_has_control(c);
	if (over || (c->state == CONNECTION_CLOSING && !has_control))
		table_remove(&d->table, c); /* the guest may use the ports again */
	place(&d->data, &c->data, connection_has_data(c));
	if (over) {
		list_remove(&c->control);
		list_append(&d->over, &c->control);
	} else {
		place(&d->control, &c->control, has_control);
	}
	arm(d, c->deadline_ms);
	d->dirty = true;
}

static void adopt(struct device *d, struct connection *c)
{
	list_append(&d->all, &c->all);
	d->counts.connections++;
	d->large += c->credit.buf_alloc == LARGE_WINDOW;
	arm(d, c->deadline_ms);
}

static void reap(struct device *d)
{
	while (!list_is_empty(&d->over)) {
		struct connection *c = LIST_ENTRY(d->over.next, struct connection, control);
		d->counts.connections--;
		d->large -= c->credit.buf_alloc == LARGE_WINDOW;
		connection_destroy(c);
	}
}

static struct connection_owner owner(struct device *d)
{
	return (struct connection_owner){.loop = d->loop, .on_change = on_change, .arg = d};
}

static uint32_t window(const struct device *d)
{
	return d->large < MOST_LARGE ? LARGE_WINDOW : SMALL_WINDOW;
}

/* ---- host programs come in ---- */

void device_accept(struct device *d, int fd)
{
	if (!is_running(d) || d->counts.connections >= d->config.most) {
		log_debug("a host program is turned away: %s",
		          is_running(d) ? "too many connections" : "no guest driver");
		fd_close(&fd);
		return;
	}
	struct connection_owner o = owner(d);
	struct connection *c = connection_create_for_host(&o, fd, window(d));
	adopt(d, c);
	on_change(d, c);
}

static void on_accept(void *arg, int fd)
{
	device_accept(arg, fd);
}

bool device_listen(struct device *d, struct err *e)
{
	if (!hybrid_check_path(d->path, e))
		return false;
	d->listener = listener_open(d->loop, d->path, on_accept, d, e);
	return d->listener != NULL;
}

/* ---- the guest comes in ---- */

static int dial_path(void *arg, uint32_t port)
{
	const struct device *d = arg;
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int n = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s_%u", d->path, port);
	if (n < 0 || (size_t)n >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	int why =
	    errno; /* EAGAIN: the listener's backlog is full; a Unix socket has no connection in progress */
	fd_close(&fd);
	return -why;
}

static void dial(struct device *d, struct connection *c)
{
	int fd = d->config.dial(d->config.arg, c->host_port);
	if (fd >= 0) {
		connection_connected(c, fd);
		return;
	}
	uint64_t now = clock_mono_ms();
	if (fd == -EAGAIN && now < c->give_up_ms) {
		c->deadline_ms = now + DIAL_AGAIN_MS;
		arm(d, c->deadline_ms);
		return;
	}
	log_debug("guest connects to port %u: %s", c->host_port, strerror(-fd));
	connection_reset(c);
}

static void owe_reset(struct device *d, const struct packet_header *h)
{
	if (!table_push_reset(&d->table, h->src_port, h->dst_port) && d->counts.dropped_resets++ == 0)
		log_warn("more than %d resets wait for the guest, some are dropped", TABLE_RESETS);
	d->dirty = true;
}

static void on_request(struct device *d, const struct packet_header *h)
{
	if (d->counts.connections >= d->config.most) {
		owe_reset(d, h);
		return;
	}
	struct connection_owner o = owner(d);
	struct connection *c = connection_create_for_guest(&o, h, window(d));
	adopt(d, c);
	table_add(&d->table, c);
	c->give_up_ms = clock_mono_ms() + DIAL_GIVE_UP_MS;
	dial(d, c);
}

/* One packet whose header was copied out of shared memory. `has` bytes of payload really came with it. */
static void on_packet(struct device *d, const struct packet_header *h, struct iovec *iov, size_t count,
                      size_t has)
{
	if (h->src_cid != d->config.cid || h->dst_cid != VSOCK_CID_HOST) {
		d->counts.dropped_packets++; /* a forged sender gets no answer */
		return;
	}
	struct connection *c = table_find(&d->table, h->src_port, h->dst_port);
	bool sane = h->type == PACKET_STREAM && h->op != PACKET_OP_INVALID && h->op < PACKET_OP_COUNT &&
	            h->len <= PACKET_MAX_PAYLOAD && h->len <= has;
	if (!sane) {
		d->counts.dropped_packets++;
		log_debug("bad packet of the guest: type %u, %s, %u bytes of %zu", h->type,
		          packet_op_name(h->op), h->len, has);
	}
	if (sane && h->op == PACKET_OP_RW)
		d->counts.bytes_from_guest += h->len;
	if (c && sane)
		connection_packet(c, h, iov, count);
	else if (c)
		connection_reset(c);
	else if (sane && h->op == PACKET_OP_REQUEST)
		on_request(d, h);
	else if (h->op != PACKET_OP_RST) /* an RST is never answered with an RST */
		owe_reset(d, h);
}

/* Moves the start of a list of pieces past `skip` bytes and ends it after `most` more. Returns what it then holds. */
static size_t cut(struct iovec **iov, size_t *count, size_t skip, size_t most)
{
	size_t total = 0, kept = 0;
	while (*count && (*iov)->iov_len <= skip) {
		skip -= (*iov)->iov_len;
		(*iov)++;
		(*count)--;
	}
	for (; kept < *count && total < most; kept++) {
		struct iovec *v = &(*iov)[kept];
		v->iov_base = (uint8_t *)v->iov_base + skip;
		v->iov_len = MIN(v->iov_len - skip, most - total);
		total += v->iov_len;
		skip = 0;
	}
	*count = kept;
	return total;
}

static void copy_out(const struct iovec *iov, uint8_t *out, size_t len)
{
	for (size_t done = 0; done < len; iov++) {
		size_t part = MIN(iov->iov_len, len - done);
		memcpy(out + done, iov->iov_base, part);
		done += part;
	}
	__asm__ volatile(
	    "" ::
	        : "memory"); /* the guest may write meanwhile: from here on only the copy counts */
}

static void on_chain(struct device *d, const struct virtqueue_chain *chain)
{
	uint8_t bytes[PACKET_HEADER_SIZE];
	struct packet_header h;
	if (chain->readable_bytes < PACKET_HEADER_SIZE) {
		d->counts.dropped_packets++;
		return;
	}
	copy_out(chain->iov, bytes, sizeof(bytes));
	packet_decode(&h, bytes);
	struct iovec *iov = chain->iov;
	size_t count = chain->readable;
	cut(&iov, &count, PACKET_HEADER_SIZE, MIN(h.len, (uint32_t)PACKET_MAX_PAYLOAD));
	d->counts.packets_from_guest++;
	on_packet(d, &h, iov, count, chain->readable_bytes - PACKET_HEADER_SIZE);
}

bool device_read_guest(struct device *d)
{
	struct virtqueue *tx = d->config.tx;
	struct virtqueue_chain chain;
	unsigned left = PACKETS_PER_TURN;
	if (!is_running(d))
		return false;
	do {
		virtqueue_no_kick(tx);
		while (left && virtqueue_pop(tx, d->pool, ARRAY_LEN(d->pool), &chain) == VIRTQUEUE_CHAIN) {
			on_chain(d, &chain);
			virtqueue_push(tx, chain.head, 0);
			left--;
		}
		virtqueue_flush(tx);
	} while (left && virtqueue_want_kick(tx));
	d->dirty = true;
	return left == 0;
}

/* ---- towards the guest ---- */

static bool send_packet(struct device *d, struct packet_header *h)
{
	h->dst_cid = d->config.cid;
	if (to_guest_send(&d->to_guest, h) != TO_GUEST_DONE)
		return false;
	d->counts.packets_to_guest++;
	return true;
}

static bool send_resets(struct device *d)
{
	const struct table_pair *p;
	while ((p = table_first_reset(&d->table))) {
		struct packet_header h = {.src_cid = VSOCK_CID_HOST,
		                          .src_port = p->host_port,
		                          .dst_port = p->guest_port,
		                          .type = PACKET_STREAM,
		                          .op = PACKET_OP_RST};
		if (!send_packet(d, &h))
			return false;
		table_pop_reset(&d->table);
	}
	return true;
}

static bool send_control(struct device *d)
{
	while (!list_is_empty(&d->control)) {
		struct connection *c = LIST_ENTRY(d->control.next, struct connection, control);
		struct packet_header h;
		connection_next_control(c, &h);
		if (!send_packet(d, &h))
			return false;
		connection_control_sent(c, &h); /* takes it off the list once nothing is left */
	}
	return true;
}

/* One batch of one connection. False: no receive buffers. */
static bool send_data(struct device *d, struct connection *c)
{
	struct to_guest_fill fill;
	struct packet_header h;
	list_remove(&c->data);
	list_append(&d->data, &c->data); /* the others come first next time */
	c->parked = false;
	if (!connection_may_read(c, &fill))
		return true;
	connection_header(c, &h);
	h.dst_cid = d->config.cid;
	enum to_guest_result r = to_guest_read(&d->to_guest, connection_fd(c), h, &fill);
	if (r == TO_GUEST_FULL)
		return false;
	d->counts.packets_to_guest += fill.packets;
	for (unsigned i = 0; i < fill.packets; i++)
		d->counts.bytes_to_guest += fill.sizes[i];
	connection_read(c, r, &fill);
	return true;
}

/* Everything that fits now. False: receive buffers have run out. */
static bool send_all(struct device *d)
{
	for (unsigned batches = 0; batches < BATCHES_PER_TURN; batches++) {
		if (!send_resets(d) || !send_control(d))
			return false;
		if (list_is_empty(&d->data))
			return true;
		bool sent = send_data(d, LIST_ENTRY(d->data.next, struct connection, data));
		virtqueue_flush(d->config.rx);
		if (!sent)
			return false;
	}
	return true;
}

/* With receive buffers the sockets of waiting connections are polled (what is left over wakes us at once); without,
 * or while the queues do not run, they are not: they would be ready again and again, and nothing could be done. */
static void park(struct device *d, bool parked)
{
	LIST_FOREACH (item, &d->data) {
		struct connection *c = LIST_ENTRY(item, struct connection, data);
		c->parked = parked;
		connection_update_watch(c);
	}
}

static void report_broken(struct virtqueue *q, const char *name)
{
	if (q->state != VIRTQUEUE_BROKEN || q->reported)
		return;
	q->reported = true;
	log_warn("the %s queue is stopped, the guest broke it: %s", name, q->why.msg);
}

void device_flush(struct device *d)
{
	d->dirty = false;
	bool room = false;
	if (is_running(d)) {
		bool again;
		unsigned rounds = ROUNDS_PER_TURN;
		virtqueue_no_kick(d->config.rx);
		do {
			room = send_all(d);
			virtqueue_flush(d->config.rx);
			again = !room && virtqueue_want_kick(d->config.rx);
		} while (again && --rounds);
		if (again) /* buffers came while we looked, so no kick will */
			arm(d, clock_mono_ms());
	}
	park(d, !room);
	report_broken(d->config.rx, "receive");
	report_broken(d->config.tx, "transmit");
	reap(d);
}

void device_forget_guest(struct device *d)
{
	table_drop_resets(&d->table);
	LIST_FOREACH (item, &d->all)
		connection_abandon(LIST_ENTRY(item, struct connection, all));
	d->dirty = true;
}

/* ---- time and life ---- */

static void on_timer(void *arg)
{
	struct device *d = arg;
	uint64_t now = clock_mono_ms();
	d->timer_at = 0;
	LIST_FOREACH (item, &d->all) {
		struct connection *c = LIST_ENTRY(item, struct connection, all);
		if (c->state == CONNECTION_CONNECTING && c->deadline_ms && c->deadline_ms <= now)
			dial(d, c);
		else
			connection_on_deadline(c, now);
		arm(d, c->deadline_ms);
	}
	device_flush(d); /* timers run before the loop polls, so the end of this turn may be far away */
}

static void on_turn_end(uv_check_t *handle)
{
	struct device *d = CONTAINER_OF(handle->data, struct device, life);
	if (!d->life.closing && d->dirty)
		device_flush(d);
}

static void on_gone(struct life *life)
{
	struct device *d = CONTAINER_OF(life, struct device, life);
	free(d->path);
	free(d);
}

struct device *device_create(struct loop *loop, const struct device_config *config)
{
	struct device *d = mem_alloc(sizeof(*d));
	life_init(&d->life, on_gone);
	d->loop = loop;
	d->config = *config;
	d->path = mem_strdup(config->path);
	d->config.path = d->path;
	d->config.most = MIN(config->most, (unsigned)DEVICE_MOST_CONNECTIONS);
	if (!d->config.dial) {
		d->config.dial = dial_path;
		d->config.arg = d;
	}
	list_init(&d->all);
	list_init(&d->control);
	list_init(&d->data);
	list_init(&d->over);
	to_guest_init(&d->to_guest, config->rx);
	d->timer = timer_create_on(loop, on_timer, d);
	uv_check_init(loop_uv(loop), &d->turn_end);
	life_adopt(&d->life, (uv_handle_t *)&d->turn_end);
	uv_check_start(&d->turn_end, on_turn_end);
	return d;
}

void device_destroy(struct device *d)
{
	if (!d || d->life.closing)
		return;
	device_forget_guest(d);
	LIST_FOREACH (item, &d->all) /* what a gone guest had left for slow hosts ends here too */
		connection_reset(LIST_ENTRY(item, struct connection, all));
	reap(d);
	CHECK(d->counts.connections == 0);
	listener_close(d->listener);
	timer_close(d->timer);
	life_close_handle(&d->life, (uv_handle_t *)&d->turn_end);
	life_end(&d->life);
}

void device_get_counts(const struct device *d, struct device_counts *out)
{
	*out = d->counts;
}
