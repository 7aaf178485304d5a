/* A lookup has two lives. `struct lookup` is what the caller waits for; it ends with the answer, the deadline or a
 * cancel. `struct job` is the work in the pool, which nothing can stop; it lets go of its lookup and dies when the
 * thread comes back. */
#include "proxy/resolve.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"
#include "proxy/address.h"

struct resolver {
	struct loop *loop; /* keeps */
	const struct resolve_source *source;
	unsigned in_flight;
	struct list waiting; /* of lookup.link: not started yet */
	struct list running; /* of lookup.link */
	bool over;           /* the owner is gone; the last job frees this */
};

struct job {
	uv_work_t work;
	struct resolver *resolver;
	struct lookup *lookup; /* NULL once nobody waits for it */
	char name[HOST_SIZE + 1];
	int result;
	struct addrinfo *list;
};

struct lookup {
	struct list link;
	struct resolver *resolver;
	struct job *job; /* NULL while it waits */
	struct timer *limit;
	char host[HOST_SIZE];
	uint16_t port;
	void (*on_done)(void *arg, const struct resolve_answer *a, const struct err *e);
	void *arg;
};

static const struct resolve_source SYSTEM = {.get = getaddrinfo, .release = freeaddrinfo};

struct resolver *resolver_create(struct loop *loop, const struct resolve_source *source)
{
	struct resolver *r = mem_alloc(sizeof(*r));
	r->loop = loop;
	r->source = source ? source : &SYSTEM;
	list_init(&r->waiting);
	list_init(&r->running);
	return r;
}

bool resolver_destroy(struct resolver *r)
{
	LIST_FOREACH (item, &r->waiting)
		lookup_cancel(LIST_ENTRY(item, struct lookup, link));
	LIST_FOREACH (item, &r->running)
		lookup_cancel(LIST_ENTRY(item, struct lookup, link));
	r->over = true;
	if (r->in_flight)
		return false;
	free(r);
	return true;
}

static void release(struct lookup *l)
{
	if (l->job)
		l->job->lookup = NULL;
	list_remove(&l->link);
	timer_close(l->limit);
	free(l);
}

void lookup_cancel(struct lookup *l)
{
	if (l)
		release(l);
}

static void finish(struct lookup *l, const struct resolve_answer *a, const struct err *e)
{
	void (*on_done)(void *arg, const struct resolve_answer *answer, const struct err *err) = l->on_done;
	void *arg = l->arg;
	release(l);
	on_done(arg, a, e);
}

static bool is_own(const struct ifaddrs *own, const struct sockaddr *sa)
{
	for (; own; own = own->ifa_next) {
		if (own->ifa_addr && address_equal(own->ifa_addr, sa))
			return true;
	}
	return false;
}

static void take_address(struct resolve_answer *a, const struct sockaddr *sa, uint16_t port)
{
	union endpoint *to = &a->found[a->count++];
	memset(to, 0, sizeof(*to));
	if (sa->sa_family == AF_INET) {
		to->v4.sin_family = AF_INET;
		to->v4.sin_addr = ((const struct sockaddr_in *)(const void *)sa)->sin_addr;
		to->v4.sin_port = htons(port);
	} else {
		to->v6.sin6_family = AF_INET6;
		to->v6.sin6_addr = ((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
		to->v6.sin6_port = htons(port);
	}
}

/* The filter: what the name leads to, without private addresses and this machine's own. */
static void filter(const struct resolve_source *source, const struct addrinfo *list, uint16_t port,
                   struct resolve_answer *a)
{
	struct ifaddrs *own = NULL;
	bool know_own = getifaddrs(&own) == 0;
	bool (*may_dial)(const struct sockaddr *sa) = source->may_dial ? source->may_dial : address_is_public;
	for (; list; list = list->ai_next) {
		if (!know_own || !may_dial(list->ai_addr) || is_own(own, list->ai_addr))
			a->refused++;
		else if (a->count < RESOLVE_MOST)
			take_address(a, list->ai_addr, port);
	}
	if (know_own)
		freeifaddrs(own);
}

static void answer(struct lookup *l, const struct job *job)
{
	struct resolve_answer a = {0};
	struct err e = ERR_INIT;
	if (job->result != 0) {
		err_set(&e, ERR_NOT_FOUND, "%s: %s", l->host, gai_strerror(job->result));
		finish(l, NULL, &e);
		return;
	}
	filter(l->resolver->source, job->list, l->port, &a);
	if (a.count > 0) {
		finish(l, &a, NULL);
		return;
	}
	if (a.refused > 0)
		err_set(&e, ERR_DENIED, "%s leads to %zu private or own addresses only", l->host, a.refused);
	else
		err_set(&e, ERR_NOT_FOUND, "%s has no address", l->host);
	finish(l, NULL, &e);
}

static void work(uv_work_t *req)
{
	struct job *job = CONTAINER_OF(req, struct job, work);
	struct addrinfo hints = {
	    .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	job->result = job->resolver->source->get(job->name, NULL, &hints, &job->list);
}

static void start_waiting(struct resolver *r);

static void on_worked(uv_work_t *req, int status)
{
	struct job *job = CONTAINER_OF(req, struct job, work);
	struct resolver *r = job->resolver;
	if (job->lookup) {
		struct lookup *l = job->lookup;
		l->job = NULL;
		if (status != 0)
			job->result = EAI_AGAIN;
		answer(l, job);
	}
	if (status == 0 && job->result == 0 && job->list)
		r->source->release(job->list);
	free(job);
	r->in_flight--;
	if (!r->over)
		start_waiting(r);
	else if (r->in_flight == 0)
		free(r);
}

static void start(struct resolver *r, struct lookup *l)
{
	struct job *job = mem_alloc(sizeof(*job));
	job->resolver = r;
	job->lookup = l;
	snprintf(job->name, sizeof(job->name), "%s.", l->host);
	l->job = job;
	list_remove(&l->link);
	list_append(&r->running, &l->link);
	if (uv_queue_work(loop_uv(r->loop), &job->work, work, on_worked) != 0)
		BUG("cannot queue a lookup");
	r->in_flight++;
}

static void start_waiting(struct resolver *r)
{
	while (r->in_flight < RESOLVE_AT_ONCE && !list_is_empty(&r->waiting))
		start(r, LIST_ENTRY(r->waiting.next, struct lookup, link));
}

static void on_limit(void *arg)
{
	struct lookup *l = arg;
	struct err e = ERR_INIT;
	err_set(&e, ERR_TIMEOUT, "%s: no answer in time", l->host);
	finish(l, NULL, &e);
}

struct lookup *
resolver_look_up(struct resolver *r, const char *host, uint16_t port,
                 void (*on_done)(void *arg, const struct resolve_answer *a, const struct err *e), void *arg)
{
	struct lookup *l = mem_alloc(sizeof(*l));
	l->resolver = r;
	l->port = port;
	l->on_done = on_done;
	l->arg = arg;
	snprintf(l->host, sizeof(l->host), "%s", host);
	l->limit = timer_create_on(r->loop, on_limit, l);
	timer_once(l->limit, r->source->limit_ms ? r->source->limit_ms : RESOLVE_LIMIT_MS);
	list_init(&l->link);
	list_append(&r->waiting, &l->link);
	start_waiting(r);
	return l;
}
