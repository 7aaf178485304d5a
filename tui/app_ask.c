/* What VMs are asked. Several may be asked with one key: their answers are counted and told as one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/fleet.h"
#include "core/client/send.h"
#include "tui/app_internal.h"

#define STOP_GRACE_MS 10000
#define TEXT_SIZE     600 /* a name and an error */

/* Everything that was asked by one key. */
struct batch {
	size_t asked, answered, failed;
	bool open;            /* more may be asked */
	char text[TEXT_SIZE]; /* the first error, or the last answer */
};

/* One VM that was asked. The answer comes once, or never when the VM is removed meanwhile. */
struct asked {
	struct list link;
	struct app *app;
	struct batch *batch; /* NULL: nobody is told */
	struct client_send *send;
	char vm[VM_NAME_MAX + 1];
	enum dash_verb verb;
	char *rule; /* owned; of DASH_ALLOW and DASH_DENY, else NULL */
	uint32_t seconds;
};

static void tell(struct app *a, struct batch *b)
{
	char text[TEXT_SIZE + 64];
	if (b->asked == 1)
		snprintf(text, sizeof(text), "%s", b->text);
	else if (b->failed > 0)
		snprintf(text, sizeof(text), "%zu of %zu done; %s", b->asked - b->failed, b->asked, b->text);
	else
		snprintf(text, sizeof(text), "%zu VMs: done", b->asked);
	dash_notice(a->dash, text);
}

static void end_batch_if_over(struct app *a, struct batch *b)
{
	if (b->open || b->answered < b->asked)
		return;
	if (b->asked > 0)
		tell(a, b);
	free(b);
}

void app_end_batch(struct app *a)
{
	struct batch *b = a->batch;
	a->batch = NULL;
	if (!b)
		return;
	b->open = false;
	end_batch_if_over(a, b);
}

static struct batch *current_batch(struct app *a)
{
	if (!a->batch) {
		a->batch = mem_alloc(sizeof(*a->batch));
		a->batch->open = true;
	}
	return a->batch;
}

static void count_answer(struct app *a, struct batch *b, const char *vm, const char *text,
                         const struct err *e)
{
	b->answered++;
	b->failed += e != NULL;
	if (b->failed == 0 || (e && b->failed == 1))
		snprintf(b->text, sizeof(b->text), "%s: %s", vm, e ? e->msg : text);
	end_batch_if_over(a, b);
}

static void drop(struct asked *r)
{
	list_remove(&r->link);
	client_send_close(r->send);
	free(r->rule);
	free(r);
}

static void on_answer(void *arg, const char *text, const struct err *e)
{
	struct asked *r = arg;
	if (r->batch)
		count_answer(r->app, r->batch, r->vm, text, e);
	if (!e && r->rule && r->verb == DASH_ALLOW)
		dash_allowed(r->app->dash, r->vm, r->rule, r->seconds);
	else if (!e && r->rule)
		dash_denied(r->app->dash, r->vm, r->rule);
	app_changed(r->app);
	drop(r);
}

static void on_sent(void *arg, const struct err *e)
{
	on_answer(arg, "sent", e);
}

static struct asked *new_asked(struct app *a, const char *vm, bool told)
{
	struct asked *r = mem_alloc(sizeof(*r));
	*r = (struct asked){.app = a, .batch = told ? current_batch(a) : NULL};
	snprintf(r->vm, sizeof(r->vm), "%s", vm);
	list_append(&a->asked, &r->link);
	if (r->batch)
		r->batch->asked++;
	return r;
}

void app_drop_requests(struct app *a)
{
	/* A batch is freed with the last of those that wait for it. */
	LIST_FOREACH (item, &a->asked) {
		struct asked *r = LIST_ENTRY(item, struct asked, link);
		struct batch *b = r->batch;
		if (b && ++b->answered == b->asked)
			free(b);
		drop(r);
	}
}

/* ---- by verb ---- */

static void send(struct app *a, const struct dash_request *q)
{
	struct err e = ERR_INIT;
	struct send_item text = {.kind = SEND_TEXT, .bytes = q->text, .len = q->text ? strlen(q->text) : 0};
	struct send_item enter = {.kind = SEND_KEY, .key = TERM_KEY_ENTER};
	struct send_item interrupt = {.kind = SEND_KEY, .key = 'c', .mods = TERM_CTRL};
	const struct send_item line[] = {text, enter};
	struct asked *r = new_asked(a, q->vm, true);
	if (q->verb == DASH_SEND)
		r->send = client_send_start(a->loop, q->vm, q->term, line, 2, on_sent, r, &e);
	else
		r->send = client_send_start(a->loop, q->vm, q->term, &interrupt, 1, on_sent, r, &e);
	if (!r->send)
		on_answer(r, NULL, &e);
}

static void announce(struct app *a, const char *vm, const char *what)
{
	if (current_batch(a)->asked <= 1)
		app_notice(a, vm, what);
}

static void ask(struct app *a, struct client *c, const struct dash_request *q)
{
	struct asked *r = new_asked(a, q->vm, q->verb != DASH_SEEN && q->verb != DASH_SEEN_DENIED);
	r->verb = q->verb;
	r->seconds = q->seconds;
	if (q->verb == DASH_ALLOW || q->verb == DASH_DENY)
		r->rule = mem_strdup(q->text);
	switch (q->verb) {
	case DASH_ALLOW: client_allow(c, q->text, q->seconds, on_answer, r); return;
	case DASH_DENY: client_deny(c, q->text, on_answer, r); return;
	case DASH_STOP:
		announce(a, q->vm, "stopping...");
		client_stop(c, STOP_GRACE_MS, on_answer, r);
		return;
	case DASH_KILL: client_kill(c, on_answer, r); return;
	case DASH_PAUSE: client_pause_vm(c, true, on_answer, r); return;
	case DASH_RESUME: client_pause_vm(c, false, on_answer, r); return;
	case DASH_HANG_UP: client_term_signal(c, q->term, SIGHUP, on_answer, r); return;
	case DASH_SEEN: client_seen(c, true, false, on_answer, r); return;
	case DASH_SEEN_DENIED: client_seen(c, false, true, on_answer, r); return;
	case DASH_SEND:
	case DASH_INTERRUPT: break;
	}
	drop(r);
}

void app_request(struct app *a, const struct dash_request *q)
{
	const struct fleet_vm *vm = fleet_find(a->fleet, q->vm);
	struct err e = ERR_INIT;
	if (q->verb == DASH_SEND || q->verb == DASH_INTERRUPT) {
		send(a, q);
	} else if (vm && vm->client) {
		ask(a, vm->client, q);
	} else if (q->verb != DASH_SEEN && q->verb != DASH_SEEN_DENIED) {
		err_set(&e, ERR_GONE, "its supervisor does not answer");
		on_answer(new_asked(a, q->vm, true), NULL, &e);
	}
}
