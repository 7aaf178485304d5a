#include "core/vsock/backend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/vsock/channel.h"
#include "core/vsock/device.h"
#include "core/vsock/watch.h"

#define OFFERED_FEATURES \
	(VHOST_F_VERSION_1 | VHOST_F_PROTOCOL_FEATURES | VHOST_F_EVENT_IDX | VHOST_F_INDIRECT_DESC)
#define OFFERED_PROTOCOL (VHOST_P_REPLY_ACK | VHOST_P_CONFIG)
#define CONFIG_SIZE      8 /* le64 guest_cid */

enum { RX, TX };

struct vring {
	struct backend *backend;
	struct virtqueue *queue; /* kept */
	struct virtqueue_layout at;
	bool has_addresses;
	bool enabled;
	bool refused;       /* the present settings were tried and are no good */
	struct watch *kick; /* owned, as are the next two */
	int call, err;
	uint32_t stopped_at; /* index when QEMU stopped it */
};

struct backend {
	struct loop *loop; /* kept */
	struct channel *channel;
	uint64_t cid;
	uint64_t features, protocol;
	struct memory memory;
	struct vring vrings[VHOST_USER_VRINGS];
	struct device *device; /* kept */
	bool ran;              /* both rings were running */
	void (*on_end)(void *arg, const struct err *e);
	void *arg;
};

/* ---- rings ---- */

static bool both_run(const struct backend *b)
{
	return virtqueue_is_running(b->vrings[RX].queue) && virtqueue_is_running(b->vrings[TX].queue);
}

static void read_guest(struct backend *b)
{
	uint64_t one = 1;
	/* More than fits into a turn: kick ourselves, so that everybody else gets a turn first. */
	if (device_read_guest(b->device) && write(watch_fd(b->vrings[TX].kick), &one, sizeof(one)) < 0)
		log_warn("cannot come back to the transmit queue: %s", strerror(errno));
}

static void on_kick(void *arg, int events)
{
	struct vring *v = arg;
	uint64_t count;
	(void)events;
	ssize_t n = read(watch_fd(v->kick), &count, sizeof(count));
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		log_error("kick descriptor of a vring: %s", strerror(errno));
		return; /* the watch stays off if it reported the error */
	}
	watch_set(v->kick, WATCH_READ);
	device_wake(v->backend->device);
	if (v == &v->backend->vrings[TX])
		read_guest(v->backend);
}

static bool should_run(const struct vring *v)
{
	bool enabled = v->enabled || !(v->backend->features & VHOST_F_PROTOCOL_FEATURES);
	return v->kick && v->has_addresses && v->at.num && v->backend->memory.count && enabled && !v->refused;
}

static void stop_vring(struct vring *v)
{
	if (v->queue->state == VIRTQUEUE_OFF)
		return;
	v->at.base = v->queue->next_avail;
	virtqueue_stop(v->queue);
}

/* The guest begins at 0 after a reboot and goes on where it was after a pause. */
static bool is_same_guest(const struct backend *b)
{
	uint32_t moved = 0;
	for (size_t i = 0; i < ARRAY_LEN(b->vrings); i++) {
		if (b->vrings[i].at.base != b->vrings[i].stopped_at)
			return false;
		moved |= b->vrings[i].at.base;
	}
	return moved != 0;
}

/* Brings the rings into the state that the settings ask for. */
static void settle(struct backend *b)
{
	for (size_t i = 0; i < ARRAY_LEN(b->vrings); i++) {
		struct vring *v = &b->vrings[i];
		struct err e = ERR_INIT;
		if (!should_run(v)) {
			stop_vring(v);
			continue;
		}
		v->at.event_idx = b->features & VHOST_F_EVENT_IDX;
		if (v->queue->state == VIRTQUEUE_OFF && !virtqueue_start(v->queue, &b->memory, &v->at, &e)) {
			log_warn("vring %zu does not start: %s", i, e.msg);
			v->refused = true;
		}
	}
	bool run = both_run(b);
	if (run && !b->ran) {
		if (!is_same_guest(b))
			device_forget_guest(b->device);
		read_guest(b); /* what came before the kick descriptor did */
	}
	b->ran = run;
	device_wake(b->device);
}

/* ---- messages ----
 * Each handler says whether the message was accepted; what it refuses has no effect. */

static void answer(struct backend *b, const uint8_t *bytes, size_t len)
{
	if (!channel_send(b->channel, bytes, len))
		log_warn("QEMU does not take an answer");
}

static bool answer_u64(struct backend *b, const struct vhost_user_message *m, uint64_t value)
{
	uint8_t out[VHOST_USER_ANSWER_SIZE];
	answer(b, out, vhost_user_answer_u64(out, m->request, value));
	return true;
}

static bool get_features(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	(void)fds;
	return answer_u64(b, m, OFFERED_FEATURES);
}

static bool set_features(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	(void)fds;
	if (m->value & ~(uint64_t)OFFERED_FEATURES)
		return false;
	b->features = m->value;
	return true;
}

static bool get_protocol_features(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	(void)fds;
	return answer_u64(b, m, OFFERED_PROTOCOL);
}

static bool set_protocol_features(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	(void)fds;
	if (m->value & ~(uint64_t)OFFERED_PROTOCOL)
		return false;
	b->protocol = m->value;
	return true;
}

static bool accept_silently(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	(void)b, (void)m, (void)fds;
	return true;
}

static bool get_queue_num(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	(void)fds;
	return answer_u64(b, m, VHOST_USER_VRINGS);
}

/* The new table replaces the old one only when all of it is good. Rings that run are found again in it. */
static bool set_mem_table(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	struct memory fresh;
	struct err e = ERR_INIT;
	memory_init(&fresh);
	for (uint32_t i = 0; i < m->region_count; i++) {
		if (!memory_map(&fresh, &m->regions[i], fds[i], &e)) {
			log_error("guest memory: %s", e.msg);
			memory_finish(&fresh);
			return false;
		}
	}
	struct memory old = b->memory;
	b->memory = fresh;
	for (size_t i = 0; i < ARRAY_LEN(b->vrings); i++) {
		struct vring *v = &b->vrings[i];
		struct err lost = ERR_INIT;
		v->refused = false;
		if (!virtqueue_remap(v->queue, &v->at, &lost))
			log_warn("vring %zu is not in the new memory: %s", i, lost.msg);
	}
	memory_finish(&old);
	return true;
}

/* Settings of a ring that runs are fixed. */
static struct vring *idle_vring(struct backend *b, const struct vhost_user_message *m)
{
	struct vring *v = &b->vrings[m->vring];
	if (v->queue->state == VIRTQUEUE_RUNNING)
		return NULL;
	v->refused = false;
	return v;
}

static bool set_vring_num(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	struct vring *v = idle_vring(b, m);
	(void)fds;
	if (!v)
		return false;
	v->at.num = m->number; /* checked by virtqueue_start */
	return true;
}

static bool set_vring_addr(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	struct vring *v = idle_vring(b, m);
	(void)fds;
	if (!v || m->vring_flags) /* the only flag asks for a log of writes, which was not offered */
		return false;
	v->at.desc_uva = m->desc_uva;
	v->at.avail_uva = m->avail_uva;
	v->at.used_uva = m->used_uva;
	v->has_addresses = true;
	return true;
}

static bool set_vring_base(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	struct vring *v = idle_vring(b, m);
	(void)fds;
	if (!v)
		return false;
	v->at.base = m->number;
	return true;
}

static bool get_vring_base(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	struct vring *v = &b->vrings[m->vring];
	uint8_t out[VHOST_USER_ANSWER_SIZE];
	(void)fds;
	stop_vring(v);
	watch_close(v->kick);
	v->kick = NULL;
	v->stopped_at = v->at.base;
	answer(b, out, vhost_user_answer_vring(out, m->request, m->vring, v->at.base));
	return true;
}

static bool set_vring_kick(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	struct vring *v = &b->vrings[m->vring];
	watch_close(v->kick);
	v->kick = NULL;
	if (m->no_fd) /* would mean to poll the ring all the time */
		return false;
	if (!fd_set_nonblock(fds[0], true))
		return false;
	v->kick = watch_open(b->loop, fds[0], on_kick, v);
	fds[0] = -1;
	if (!v->kick) /* a file, say */
		return false;
	watch_set(v->kick, WATCH_READ);
	return true;
}

static bool set_vring_call(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	struct vring *v = &b->vrings[m->vring];
	fd_close(&v->call);
	if (!m->no_fd) {
		v->call = fds[0];
		fds[0] = -1;
	}
	v->queue->call_fd = v->call;
	return true;
}

static bool set_vring_err(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	struct vring *v = &b->vrings[m->vring];
	fd_close(&v->err);
	if (!m->no_fd) {
		v->err = fds[0];
		fds[0] = -1;
	}
	v->queue->err_fd = v->err;
	return true;
}

static bool set_vring_enable(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	(void)fds;
	if (m->number > 1)
		return false;
	b->vrings[m->vring].enabled = m->number == 1;
	return true;
}

static bool get_config(struct backend *b, const struct vhost_user_message *m, int *fds)
{
	uint8_t out[VHOST_USER_ANSWER_SIZE], config[CONFIG_SIZE];
	(void)fds;
	for (size_t i = 0; i < CONFIG_SIZE; i++)
		config[i] = (uint8_t)(b->cid >> (8 * i));
	bool inside = m->config_offset <= CONFIG_SIZE && m->config_size <= CONFIG_SIZE - m->config_offset;
	size_t len = inside ? m->config_size : 0;
	answer(b, out,
	       vhost_user_answer_config(out, m->config_offset, config + (len ? m->config_offset : 0), len));
	return inside;
}

static bool (*const HANDLERS[VHOST_USER_REQUEST_COUNT])(struct backend *b, const struct vhost_user_message *m,
                                                        int *fds) = {
    [VHOST_USER_GET_FEATURES] = get_features,
    [VHOST_USER_SET_FEATURES] = set_features,
    [VHOST_USER_SET_OWNER] = accept_silently,
    [VHOST_USER_RESET_OWNER] = accept_silently, /* deprecated, and nobody agrees on what it does */
    [VHOST_USER_SET_MEM_TABLE] = set_mem_table,
    [VHOST_USER_SET_VRING_NUM] = set_vring_num,
    [VHOST_USER_SET_VRING_ADDR] = set_vring_addr,
    [VHOST_USER_SET_VRING_BASE] = set_vring_base,
    [VHOST_USER_GET_VRING_BASE] = get_vring_base,
    [VHOST_USER_SET_VRING_KICK] = set_vring_kick,
    [VHOST_USER_SET_VRING_CALL] = set_vring_call,
    [VHOST_USER_SET_VRING_ERR] = set_vring_err,
    [VHOST_USER_GET_PROTOCOL_FEATURES] = get_protocol_features,
    [VHOST_USER_SET_PROTOCOL_FEATURES] = set_protocol_features,
    [VHOST_USER_GET_QUEUE_NUM] = get_queue_num,
    [VHOST_USER_SET_VRING_ENABLE] = set_vring_enable,
    [VHOST_USER_GET_CONFIG] = get_config,
    /* SET_CONFIG: no field of ours may be written. */
};

static void on_message(void *arg, const struct vhost_user_message *m, int fds[VHOST_USER_MOST_FDS])
{
	struct backend *b = arg;
	bool ok = HANDLERS[m->request] && HANDLERS[m->request](b, m, fds);
	log_debug("%s (%u): %s", vhost_user_request_name(m->request), m->request, ok ? "done" : "refused");
	if (!ok)
		log_warn("message %s (%u) of QEMU refused", vhost_user_request_name(m->request), m->request);
	settle(b);
	/* Answered last: when QEMU hears of it, the ring runs or has stopped. */
	if (m->need_reply && !m->answers && (b->protocol & VHOST_P_REPLY_ACK))
		answer_u64(b, m, ok ? 0 : 1);
}

static void on_channel_end(void *arg, const struct err *e)
{
	struct backend *b = arg;
	b->on_end(b->arg, e);
}

static const struct channel_ops CHANNEL_OPS = {.on_message = on_message, .on_end = on_channel_end};

struct backend *backend_create(struct loop *loop, int fd, uint64_t cid, struct backend_rings *rings,
                               struct device *device, void (*on_end)(void *arg, const struct err *e),
                               void *arg)
{
	struct backend *b = mem_alloc(sizeof(*b));
	b->loop = loop;
	b->cid = cid;
	b->device = device;
	b->on_end = on_end;
	b->arg = arg;
	memory_init(&b->memory);
	b->vrings[RX] = (struct vring){.backend = b, .queue = &rings->rx, .call = -1, .err = -1};
	b->vrings[TX] = (struct vring){.backend = b, .queue = &rings->tx, .call = -1, .err = -1};
	b->channel = channel_open(loop, fd, &CHANNEL_OPS, b);
	return b;
}

void backend_destroy(struct backend *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < ARRAY_LEN(b->vrings); i++) {
		struct vring *v = &b->vrings[i];
		virtqueue_init(v->queue);
		watch_close(v->kick);
		fd_close(&v->call);
		fd_close(&v->err);
	}
	memory_finish(&b->memory);
	channel_close(b->channel);
	free(b);
}
