/* A console without a screen, for tests/vm: console_drive VM STEP...
 *
 * The first step that needs one opens a terminal (the VM's first one), the others use it:
 *
 *     open=ROWSxCOLS     watches it in that size            storm=N      N sizes in a row; the last one is 21x77
 *     type=TEXT          types; \r and \e as usual          size=RxC     waits until the screen has that size
 *     wait=TEXT          until the screen shows it          paste=BYTES  one paste of so many 'p'
 *     pause, resume      the VM                             signal=N     for the terminal's program
 *     ended              until the terminal is over         status       one line about the VM and its terminals
 *     seen               what calls, what was refused       vitals       CPU and memory, once they are known
 *     still=TEXT         the screen does not show it after the supervisor has answered twice
 *
 * Each step prints a line; one that fails or takes over a minute ends the program with 1. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/client/client.h"
#include "core/client/terminal.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"
#include "core/term/screen.h"

#define STEP_MS 60000

struct drive {
	struct loop *loop;
	struct client *client;
	struct client_term *term;
	struct timer *limit;
	bool answered, ended;
	struct vm_status status;
};

static NORETURN void give_up(struct drive *d, const char *what)
{
	struct str text = STR_INIT(1 << 20);
	if (d->term)
		screen_text(client_term_screen(d->term), &text);
	fprintf(stderr, "console_drive: %s\n%s\n", what, text.s);
	exit(1);
}

static void on_limit(void *arg)
{
	give_up(arg, "it took too long");
}

static void on_closed(void *arg, const struct err *e)
{
	give_up(arg, e->msg);
}

static void on_screen(void *arg)
{
	(void)arg;
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	struct drive *d = arg;
	if (e)
		give_up(d, e->msg);
	printf("terminal ended: code %u, signal %u\n", code, signum);
	d->ended = true;
}

static void on_text(void *arg, const char *text, const struct err *e)
{
	struct drive *d = arg;
	if (e)
		give_up(d, e->msg);
	if (*text)
		puts(text);
	d->answered = true;
}

static void on_status(void *arg, const struct vm_status *status, const struct err *e)
{
	struct drive *d = arg;
	if (e)
		give_up(d, e->msg);
	d->status = *status;
	d->answered = true;
}

static void wait_answer(struct drive *d)
{
	while (!d->answered)
		loop_turn(d->loop, false);
	d->answered = false;
}

static void ask_status(struct drive *d)
{
	client_status(d->client, on_status, d);
	wait_answer(d);
}

static bool shows(struct drive *d, const char *text)
{
	struct str all = STR_INIT(1 << 20);
	screen_text(client_term_screen(d->term), &all);
	bool found = strstr(all.s, text) != NULL;
	str_finish(&all);
	return found;
}

/* ---- steps ---- */

static void read_size(struct drive *d, const char *text, unsigned *rows, unsigned *cols)
{
	if (sscanf(text, "%ux%u", rows, cols) != 2)
		give_up(d, "a size is ROWSxCOLS");
}

static void do_open(struct drive *d, const char *size)
{
	static const struct client_term_ops OPS = {.on_screen = on_screen, .on_ended = on_ended};
	struct client_term_spec spec = {.term = CLIENT_TERM_FIRST};
	struct err e = ERR_INIT;
	read_size(d, size, &spec.rows, &spec.cols);
	d->term = client_term_open(d->client, &spec, &OPS, d, &e);
	if (!d->term)
		give_up(d, e.msg);
	while (!client_term_is_open(d->term))
		loop_turn(d->loop, false);
}

static void do_storm(struct drive *d, const char *count)
{
	unsigned long n = strtoul(count, NULL, 10);
	for (unsigned long i = 1; i < n; i++) {
		client_term_resize(d->term, 5 + (unsigned)(i * 7 % 60), 20 + (unsigned)(i * 13 % 180));
		if (i % 10 == 0)
			loop_turn(d->loop, true);
	}
	client_term_resize(d->term, 21, 77);
}

static void do_type(struct drive *d, const char *text)
{
	struct str out = STR_INIT(65536);
	for (; *text; text++) {
		bool escaped = *text == '\\' && (text[1] == 'r' || text[1] == 'e');
		text += escaped;
		str_append_char(&out, !escaped ? *text : *text == 'r' ? '\r' : '\033');
	}
	if (!client_term_text(d->term, out.s, out.len))
		give_up(d, "the terminal takes no input");
	str_finish(&out);
}

static void do_size(struct drive *d, const char *size)
{
	unsigned rows, cols;
	read_size(d, size, &rows, &cols);
	while (client_term_screen(d->term)->rows != rows || client_term_screen(d->term)->cols != cols)
		loop_turn(d->loop, false);
}

static void do_wait(struct drive *d, const char *text)
{
	while (!shows(d, text))
		loop_turn(d->loop, false);
}

static void do_still(struct drive *d, const char *text)
{
	ask_status(d);
	ask_status(d);
	if (shows(d, text))
		give_up(d, "the screen shows it");
}

static void do_paste(struct drive *d, const char *count)
{
	size_t n = strtoul(count, NULL, 10);
	char *text = mem_alloc(n + 1);
	memset(text, 'p', n);
	if (!client_term_paste(d->term, text, n))
		give_up(d, "the paste was refused");
	free(text);
}

static void do_pause(struct drive *d, const char *arg)
{
	(void)arg;
	client_pause_vm(d->client, true, on_text, d);
	wait_answer(d);
}

static void do_resume(struct drive *d, const char *arg)
{
	(void)arg;
	client_pause_vm(d->client, false, on_text, d);
	wait_answer(d);
}

static void do_signal(struct drive *d, const char *number)
{
	client_term_signal(d->client, 0, atoi(number), on_text, d);
	wait_answer(d);
}

static void do_ended(struct drive *d, const char *arg)
{
	(void)arg;
	while (!d->ended)
		loop_turn(d->loop, false);
}

static void do_status(struct drive *d, const char *arg)
{
	(void)arg;
	ask_status(d);
	const struct vm_status *v = &d->status;
	printf("%s%s egress %s", vm_state_name(v->state), v->paused ? " paused" : "",
	       vm_egress_name(v->egress));
	for (uint32_t i = 0; i < v->terminal_count; i++) {
		const struct vm_terminal *t = &v->terminal[i];
		printf(" [%u%s %ux%u watchers %u '%s' %s]", t->number, t->first ? " first" : "", t->rows,
		       t->cols, t->watchers, t->title, t->command);
	}
	putchar('\n');
}

static void do_seen(struct drive *d, const char *arg)
{
	(void)arg;
	client_seen(d->client, true, true, on_text, d);
	wait_answer(d);
}

/* Watches from now on. */
static void do_vitals(struct drive *d, const char *arg)
{
	(void)arg;
	client_watch(d->client, on_status, d);
	do {
		wait_answer(d);
	} while (!d->status.mem_total_kib);
	printf("%u permille %llu of %llu MiB\n", d->status.cpu_permille,
	       (unsigned long long)(d->status.mem_used_kib >> 10),
	       (unsigned long long)(d->status.mem_total_kib >> 10));
}

static const struct {
	const char *name;
	void (*run)(struct drive *d, const char *arg);
} STEPS[] = {
    {"open", do_open},   {"storm", do_storm},   {"type", do_type},     {"size", do_size},
    {"wait", do_wait},   {"still", do_still},   {"paste", do_paste},   {"pause", do_pause},
    {"ended", do_ended}, {"resume", do_resume}, {"signal", do_signal}, {"status", do_status},
    {"seen", do_seen},   {"vitals", do_vitals},
};

static void run_step(struct drive *d, char *step)
{
	char *arg = strchr(step, '=');
	if (arg)
		*arg++ = '\0';
	for (size_t i = 0; i < ARRAY_LEN(STEPS); i++) {
		if (strcmp(STEPS[i].name, step) != 0)
			continue;
		timer_once(d->limit, STEP_MS);
		STEPS[i].run(d, arg ? arg : "");
		printf("%s done\n", step);
		fflush(stdout);
		return;
	}
	give_up(d, "no such step");
}

int main(int argc, char **argv)
{
	static const struct client_ops OPS = {.on_closed = on_closed};
	struct drive d = {.loop = loop_create()};
	struct err e = ERR_INIT;
	if (argc < 3 || !parse_name("VM name", argv[1], &e)) {
		fprintf(stderr, "usage: console_drive VM STEP...\n");
		return 2;
	}
	d.limit = timer_create_on(d.loop, on_limit, &d);
	d.client = client_connect(d.loop, argv[1], &OPS, &d, &e);
	if (!d.client)
		give_up(&d, e.msg);
	for (int i = 2; i < argc; i++)
		run_step(&d, argv[i]);
	client_term_close(d.term);
	client_close(d.client);
	timer_close(d.limit);
	loop_destroy(d.loop);
	return 0;
}
