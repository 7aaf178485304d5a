/* Keystroke to echoed cell: pane_latency VM KEYS. Types one character at a time into a terminal of the VM that runs
 * `stty raw -echo; cat` (the guest echoes each byte once) and waits until it stands in a cell. Prints each round trip in
 * microseconds, one a line. The next key goes out when the last one came back, so nothing is timed that waits for us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/parse.h"
#include "core/client/client.h"
#include "core/client/terminal.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"
#include "core/term/screen.h"

#define GIVE_UP_MS 60000

struct bench {
	struct loop *loop;
	struct client *client;
	struct client_term *term;
	struct timer *limit;
	uint64_t keys, done, sent_us;
	bool started;
	bool failed;
};

static void finish(struct bench *b, const char *problem)
{
	if (problem)
		fprintf(stderr, "pane_latency: %s\n", problem);
	b->failed = b->failed || problem;
	loop_stop(b->loop);
}

/* The character of the next key differs from the last one, so that its cell cannot be there already. */
static char next_key(const struct bench *b)
{
	return (char)('a' + b->done % 26);
}

static void type_next(struct bench *b)
{
	char key = next_key(b);
	b->sent_us = clock_mono_us();
	client_term_text(b->term, &key, 1);
}

static void on_screen(void *arg)
{
	struct bench *b = arg;
	struct screen *s = client_term_screen(b->term);
	struct str text = STR_INIT(1 << 20);
	screen_text(s, &text);
	if (!b->started) {
		b->started = strstr(text.s, "READY") != NULL;
		if (b->started)
			type_next(b);
	} else {
		const char *typed = strstr(text.s, "READY");
		size_t count = 0;
		for (const char *p = typed ? typed + 5 : ""; *p; p++)
			count += *p != '\n' && *p != ' ';
		if (count > b->done) {
			printf("%llu\n", (unsigned long long)(clock_mono_us() - b->sent_us));
			if (++b->done == b->keys)
				finish(b, NULL);
			else
				type_next(b);
		}
	}
	str_finish(&text);
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	(void)code;
	(void)signum;
	finish(arg, e ? e->msg : "the program in the terminal ended");
}

static void on_closed(void *arg, const struct err *e)
{
	finish(arg, e->msg);
}

static void on_limit(void *arg)
{
	finish(arg, "no echo in time");
}

static const struct client_ops CLIENT_OPS = {.on_closed = on_closed};
static const struct client_term_ops TERM_OPS = {.on_screen = on_screen, .on_ended = on_ended};

int main(int argc, char **argv)
{
	struct bench b = {0};
	struct err e = ERR_INIT;
	if (argc != 3 || !parse_name("VM name", argv[1], &e) || !parse_u64(argv[2], 1, 1000, &b.keys)) {
		fprintf(stderr, "usage: pane_latency VM KEYS\n");
		return 2;
	}
	const char *const program[] = {"sh", "-c", "stty raw -echo; printf READY; exec cat", NULL};
	const struct client_term_spec spec = {
	    .term = CLIENT_TERM_NEW, .rows = 24, .cols = 80, .argv = program};
	b.loop = loop_create();
	b.client = client_connect(b.loop, argv[1], &CLIENT_OPS, &b, &e);
	b.term = b.client ? client_term_open(b.client, &spec, &TERM_OPS, &b, &e) : NULL;
	b.limit = timer_create_on(b.loop, on_limit, &b);
	timer_once(b.limit, GIVE_UP_MS);
	if (b.term)
		loop_run(b.loop);
	else
		finish(&b, e.msg);
	client_term_close(b.term);
	client_close(b.client);
	timer_close(b.limit);
	loop_destroy(b.loop);
	return b.failed ? 1 : 0;
}
