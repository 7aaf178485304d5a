#include "core/supervisor/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"
#include "core/supervisor/agent.h"
#include "core/supervisor/board.h"

struct health {
	struct loop *loop;
	struct board *board;
	const char *vsock_path, *proxy_path;
	struct timer *retry;
	struct health_ask *own; /* the check that runs, or NULL */
	bool again;             /* asked for while one runs */
	bool stopped;
};

/* Two questions at once; done when both are answered. */
struct health_ask {
	struct health *health;
	struct agent_ask *agent;
	struct stream *proxy;
	struct timer *settle; /* tells from the loop when nothing could even be asked */
	bool agent_done, proxy_done;
	struct wire_pong pong;
	char agent_error[WIRE_TEXT_MAX + 1];
	void (*done)(void *arg, const struct wire_pong *pong);
	void *arg;
};

/* One line for people about the first thing that is wrong, or "". */
static void describe(struct health_ask *a)
{
	struct wire_pong *p = &a->pong;
	const char *text = "";
	if (!p->agent_ok)
		text = a->agent_error;
	else if (!p->lo_up)
		text = "lo is down in the guest";
	else if (!p->relay_listening)
		text = "the relay in the guest does not listen on port 3128";
	else if (!p->proxy_ok)
		text = "the proxy on the host does not answer";
	else if (!p->vsock_reachable)
		text = "the guest does not reach the proxy over vsock";
	snprintf(p->text, sizeof(p->text), "%s", text);
}

static void publish(struct health *h, const char *broken)
{
	struct vm_status *s = board_edit(h->board);
	enum vm_egress egress = *broken ? VM_EGRESS_BROKEN : VM_EGRESS_OK;
	if (h->stopped || s->paused || (s->egress == egress && strcmp(s->reason, broken) == 0))
		return;
	if (*broken)
		log_warn("egress broken: %s", broken);
	else
		log_info("egress ok");
	s->egress = egress;
	snprintf(s->reason, sizeof(s->reason), "%s", broken);
	board_changed(h->board);
}

static void maybe_done(struct health_ask *a)
{
	if (!a->agent_done || !a->proxy_done)
		return;
	describe(a);
	publish(a->health, a->pong.text);
	if (*a->pong.text && !a->health->stopped)
		timer_once(a->health->retry, HEALTH_RETRY_MS);
	a->done(a->arg, &a->pong); /* may close a */
}

static void on_agent(void *arg, const struct wire_agent_pong *pong, uint32_t rtt_us, const struct err *e)
{
	struct health_ask *a = arg;
	a->agent_done = true;
	if (e) {
		snprintf(a->agent_error, sizeof(a->agent_error), "%.*s", WIRE_TEXT_MAX, e->msg);
	} else {
		a->pong.agent_ok = 1;
		a->pong.relay_listening = pong->relay_listening != 0;
		a->pong.vsock_reachable = pong->vsock_reachable != 0;
		a->pong.lo_up = pong->lo_up != 0;
		a->pong.rtt_us = rtt_us;
		a->pong.uptime_ms = pong->uptime_ms;
		a->pong.mem_total_kib = pong->mem_total_kib;
		a->pong.mem_available_kib = pong->mem_available_kib;
		a->pong.cpu_busy_ms = pong->cpu_busy_ms;
	}
	maybe_done(a);
}

static void proxy_answered(struct health_ask *a, bool ok)
{
	a->proxy_done = true;
	a->pong.proxy_ok = ok;
	stream_close(a->proxy, NULL, NULL);
	a->proxy = NULL;
	maybe_done(a);
}

static void on_proxy_open(void *arg)
{
	proxy_answered(arg, true);
}

static void on_proxy_data(void *arg, const uint8_t *bytes, size_t len)
{
	(void)arg; /* never read */
	(void)bytes;
	(void)len;
}

static void on_proxy_eof(void *arg)
{
	(void)arg;
}

static void on_proxy_error(void *arg, const struct err *e)
{
	(void)e;
	proxy_answered(arg, false);
}

static const struct stream_ops PROXY_OPS = {
    .on_open = on_proxy_open, .on_data = on_proxy_data, .on_eof = on_proxy_eof, .on_error = on_proxy_error};

static void on_settle(void *arg)
{
	maybe_done(arg);
}

struct health_ask *health_ping(struct health *h, void (*done)(void *arg, const struct wire_pong *pong),
                               void *arg)
{
	struct health_ask *a = mem_alloc(sizeof(*a));
	struct err agent_error = ERR_INIT, proxy_error = ERR_INIT;
	a->health = h;
	a->done = done;
	a->arg = arg;
	a->settle = timer_create_on(h->loop, on_settle, a);
	a->agent = agent_ping(h->loop, h->vsock_path, on_agent, a, &agent_error);
	a->agent_done = !a->agent;
	if (!a->agent)
		snprintf(a->agent_error, sizeof(a->agent_error), "%.*s", WIRE_TEXT_MAX, agent_error.msg);
	a->proxy = stream_connect_unix(h->loop, h->proxy_path, &PROXY_OPS, a, &proxy_error);
	a->proxy_done = !a->proxy;
	if (a->agent_done && a->proxy_done)
		timer_once(a->settle, 0);
	return a;
}

void health_ask_close(struct health_ask *a)
{
	if (!a)
		return;
	agent_ask_close(a->agent);
	stream_close(a->proxy, NULL, NULL);
	timer_close(a->settle);
	free(a);
}

static void on_own_done(void *arg, const struct wire_pong *pong)
{
	struct health *h = arg;
	(void)pong; /* published already */
	health_ask_close(h->own);
	h->own = NULL;
	if (h->again)
		health_check(h);
}

static void on_retry(void *arg)
{
	health_check(arg);
}

struct health *health_create(struct loop *loop, struct board *board, const char *vsock_path,
                             const char *proxy_path)
{
	struct health *h = mem_alloc(sizeof(*h));
	h->loop = loop;
	h->board = board;
	h->vsock_path = vsock_path;
	h->proxy_path = proxy_path;
	h->retry = timer_create_on(loop, on_retry, h);
	return h;
}

void health_destroy(struct health *h)
{
	if (!h)
		return;
	health_ask_close(h->own);
	timer_close(h->retry);
	free(h);
}

void health_check(struct health *h)
{
	h->again = h->own != NULL;
	if (h->own || h->stopped || board_status(h->board)->paused)
		return;
	timer_stop(h->retry);
	h->own = health_ping(h, on_own_done, h);
}

void health_stop(struct health *h)
{
	h->stopped = true;
	h->again = false;
	timer_stop(h->retry);
	health_ask_close(h->own);
	h->own = NULL;
}

void health_note_broken(struct health *h, const char *why)
{
	publish(h, why);
	if (h->own)
		h->again = true; /* what runs may have asked the old proxy */
}
