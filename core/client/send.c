/* The items go out when the terminal is open. A status that is asked for behind them tells when they were taken: a supervisor
 * handles what one client sends in its order. */
#include "core/client/send.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/internal.h"
#include "core/client/terminal.h"
#include "core/loop/timer.h"

#define LIMIT_MS 40000 /* a little more than opening a terminal may take */

struct client_send {
	struct client *client;
	struct client_term *term;
	struct timer *limit;
	struct send_item *items; /* owned; their bytes lie in `bytes` */
	size_t count, sent;
	char *bytes;
	client_send_fn *done; /* NULL once it was called */
	void *arg;
};

static void finish(struct client_send *s, const struct err *e)
{
	client_send_fn *done = s->done;
	s->done = NULL;
	timer_stop(s->limit);
	if (done)
		done(s->arg, e); /* may close s */
}

static void on_limit(void *arg)
{
	struct client_send *s = arg;
	struct err e = ERR_INIT;
	client_set_hangs(client_vm(s->client), &e);
	finish(s, &e);
}

static void on_taken(void *arg, const struct vm_status *status, const struct err *e)
{
	(void)status;
	finish(arg, e);
}

static bool send_item(struct client_term *t, const struct send_item *item)
{
	switch (item->kind) {
	case SEND_TEXT: return client_term_text(t, item->bytes, item->len);
	case SEND_KEY: return client_term_key(t, item->key, item->mods);
	case SEND_PASTE: return client_term_paste(t, item->bytes, item->len);
	}
	return false;
}

/* As much as the connection takes now; on_drain goes on. */
static void send_more(void *arg)
{
	struct client_send *s = arg;
	if (s->sent == s->count)
		return;
	while (s->sent < s->count && send_item(s->term, &s->items[s->sent]))
		s->sent++;
	if (s->sent == s->count)
		client_status(s->client, on_taken, s);
}

static void on_opened(void *arg, uint32_t term)
{
	struct client_send *s = arg;
	(void)term;
	if (s->count == 0)
		client_status(s->client, on_taken, s);
	send_more(s);
}

static void on_screen(void *arg)
{
	(void)arg;
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	struct client_send *s = arg;
	struct err gone = ERR_INIT;
	(void)code;
	(void)signum;
	if (!e && s->sent == s->count)
		return; /* it may have been told to end; whether all was taken is still answered */
	if (!e)
		err_set(&gone, ERR_GONE, "the program in the terminal ended");
	finish(s, e ? e : &gone);
}

static void on_closed(void *arg, const struct err *e)
{
	finish(arg, e);
}

static const struct client_ops CLIENT_OPS = {.on_closed = on_closed};
static const struct client_term_ops TERM_OPS = {
    .on_opened = on_opened, .on_screen = on_screen, .on_ended = on_ended, .on_drain = send_more};

/* False: longer than CLIENT_SEND_MAX. */
static bool copy_items(struct client_send *s, const struct send_item *items, size_t count)
{
	size_t all = 0, at = 0;
	for (size_t i = 0; i < count; i++) {
		if (items[i].len > CLIENT_SEND_MAX - all)
			return false;
		all += items[i].len;
	}
	s->items = mem_array(MAX(count, 1), sizeof(*items));
	s->bytes = mem_alloc(MAX(all, 1));
	s->count = count;
	for (size_t i = 0; i < count; i++) {
		s->items[i] = items[i];
		s->items[i].bytes = s->bytes + at;
		if (items[i].len)
			memcpy(s->bytes + at, items[i].bytes, items[i].len);
		at += items[i].len;
	}
	return true;
}

struct client_send *client_send_start(struct loop *loop, const char *vm, uint32_t term,
                                      const struct send_item *items, size_t count, client_send_fn *done,
                                      void *arg, struct err *e)
{
	struct client_send *s = mem_alloc(sizeof(*s));
	const struct client_term_spec spec = {.term = term};
	s->done = done;
	s->arg = arg;
	s->limit = timer_create_on(loop, on_limit, s);
	timer_once(s->limit, LIMIT_MS);
	if (!copy_items(s, items, count)) {
		err_set(e, ERR_LIMIT, "more than %d bytes", CLIENT_SEND_MAX);
	} else {
		s->client = client_connect(loop, vm, &CLIENT_OPS, s, e);
		s->term = s->client ? client_term_open(s->client, &spec, &TERM_OPS, s, e) : NULL;
	}
	if (s->term)
		return s;
	client_send_close(s);
	return NULL;
}

void client_send_close(struct client_send *s)
{
	if (!s)
		return;
	client_term_close(s->term);
	client_close(s->client);
	timer_close(s->limit);
	free(s->items);
	free(s->bytes);
	free(s);
}

void client_send_expire(struct client_send *s)
{
	timer_once(s->limit, 0);
}
