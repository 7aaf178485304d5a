/* A batch takes receive buffers off the ring, sets 44 bytes of each aside for a header, hands the rest to one readv,
 * and then writes the headers of the buffers that got bytes. Buffers that got none go back as if never taken: that
 * is cheaper than asking the socket first how much it holds. */
#include "core/vsock/to_guest.h"

#include <errno.h>
#include <string.h>

#include "core/base/check.h"

void to_guest_init(struct to_guest *g, struct virtqueue *queue)
{
	g->queue = queue;
	g->count = 0;
	g->payload_count = 0;
}

/* The header may be split over several pieces: a guest may lay out its buffers as it likes. */
static void write_header(const struct virtqueue_chain *c, const struct packet_header *h)
{
	uint8_t bytes[PACKET_HEADER_SIZE];
	size_t done = 0;
	packet_encode(bytes, h);
	for (const struct iovec *v = c->iov + c->readable; done < sizeof(bytes); v++) {
		size_t part = MIN(v->iov_len, sizeof(bytes) - done);
		memcpy(v->iov_base, bytes + done, part);
		done += part;
	}
}

/* The next buffer that can hold a header and `payload` more bytes. One that cannot goes back empty: it is the guest's
 * loss, and keeping it would stop the queue. */
static enum virtqueue_pop take(struct to_guest *g, size_t used, size_t payload, struct virtqueue_chain *out)
{
	for (unsigned tries = 0; tries < VIRTQUEUE_MOST_ENTRIES; tries++) {
		enum virtqueue_pop r =
		    virtqueue_pop(g->queue, g->pool + used, VIRTQUEUE_MOST_PIECES - used, out);
		if (r != VIRTQUEUE_CHAIN || out->writable_bytes >= PACKET_HEADER_SIZE + payload)
			return r;
		if (g->count) { /* order: those taken before are not given back yet */
			virtqueue_unpop(g->queue, 1);
			return VIRTQUEUE_EMPTY;
		}
		virtqueue_push(g->queue, out->head, 0);
	}
	return VIRTQUEUE_EMPTY; /* a guest that feeds us useless buffers does not keep us from the rest */
}

enum to_guest_result to_guest_send(struct to_guest *g, const struct packet_header *h)
{
	struct virtqueue_chain c;
	g->count = 0;
	if (take(g, 0, 0, &c) != VIRTQUEUE_CHAIN)
		return TO_GUEST_FULL;
	write_header(&c, h);
	virtqueue_push(g->queue, c.head, PACKET_HEADER_SIZE);
	return TO_GUEST_DONE;
}

/* Appends what lies behind the header, at most `most` bytes, to the list for readv; returns how much that is. */
static uint32_t add_payload(struct to_guest *g, const struct virtqueue_chain *c, uint32_t most)
{
	size_t skip = PACKET_HEADER_SIZE;
	uint32_t total = 0;
	const struct iovec *v = c->iov + c->readable;
	for (size_t i = 0; i < c->writable && total < most; i++) {
		size_t len = v[i].iov_len;
		size_t from = MIN(skip, len);
		skip -= from;
		len = MIN(len - from, (size_t)(most - total));
		if (!len)
			continue;
		g->payload[g->payload_count++] =
		    (struct iovec){.iov_base = (uint8_t *)v[i].iov_base + from, .iov_len = len};
		total += (uint32_t)len;
	}
	return total;
}

/* Takes buffers until they hold what may be sent. Returns the bytes that fit. */
static uint32_t gather(struct to_guest *g, const struct to_guest_fill *f)
{
	size_t used = 0;
	uint32_t total = 0;
	unsigned most = MIN(f->most_packets, (uint32_t)TO_GUEST_BATCH);
	g->count = 0;
	g->payload_count = 0;
	while (g->count < most && total < f->most_bytes) {
		struct virtqueue_chain *c = &g->chains[g->count];
		if (take(g, used, 1, c) != VIRTQUEUE_CHAIN)
			break;
		used += c->readable + c->writable;
		g->room[g->count] =
		    add_payload(g, c, MIN(f->most_bytes - total, (uint32_t)PACKET_MAX_PAYLOAD));
		total += g->room[g->count++];
	}
	return total;
}

static void finish(struct to_guest *g, struct packet_header *h, uint32_t left, struct to_guest_fill *f)
{
	for (unsigned i = 0; i < g->count && left; i++) {
		h->len = MIN(left, g->room[i]);
		write_header(&g->chains[i], h);
		virtqueue_push(g->queue, g->chains[i].head, PACKET_HEADER_SIZE + h->len);
		f->sizes[f->packets++] = h->len;
		left -= h->len;
	}
	virtqueue_unpop(g->queue, g->count - f->packets);
}

enum to_guest_result to_guest_read(struct to_guest *g, int fd, struct packet_header h,
                                   struct to_guest_fill *f)
{
	f->packets = 0;
	f->drained = false;
	CHECK(f->most_bytes && f->most_packets);
	uint32_t asked = gather(g, f);
	if (!asked)
		return TO_GUEST_FULL;
	ssize_t n;
	do {
		n = readv(fd, g->payload, (int)g->payload_count);
	} while (n < 0 && errno == EINTR);
	int why = errno;
	finish(g, &h, n > 0 ? (uint32_t)n : 0, f);
	f->drained = n < (ssize_t)asked;
	if (n > 0)
		return TO_GUEST_DONE;
	if (n == 0)
		return TO_GUEST_EOF;
	return why == EAGAIN ? TO_GUEST_AGAIN : TO_GUEST_ERROR;
}
