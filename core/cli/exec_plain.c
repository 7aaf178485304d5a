#include "core/cli/exec_plain.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/cli/cli.h"
#include "core/cli/setup.h"
#include "core/cli/stdio.h"
#include "core/client/client.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "core/term/plain.h"

/* Back-pressure: stdin is read only while the connection takes more; the connection is read only while stdout and stderr
 * take more. So at most one piece each way is in memory. It is over when the program has ended (or could not start) and
 * what it wrote is written. */

#define SIGNALS_TO_GIVE_UP 3

struct plain_exec {
	struct cli *cli;
	struct client *client;
	struct exec *exec;
	struct inlet *in;
	struct outlet *out, *err;
	struct plain *out_text, *err_text; /* owned; NULL where the bytes go to no terminal */
	struct signals *signals;
	unsigned signals_seen;
	bool in_ended;
	bool ended; /* the program did */
	bool done;  /* the loop may stop */
	int status;
};

static void finish(struct plain_exec *p, int status)
{
	if (!p->done)
		p->status = status;
	p->done = true;
}

static void finish_when_written(struct plain_exec *p)
{
	if (p->ended && outlet_is_empty(p->out) && outlet_is_empty(p->err))
		finish(p, p->status);
}

/* ---- stdin ---- */

static void on_stdin(void *arg, const uint8_t *bytes, size_t len)
{
	struct plain_exec *p = arg;
	if (!exec_send_stdin(p->exec, bytes, len) || exec_is_full(p->exec))
		inlet_pause(p->in);
}

static void on_stdin_eof(void *arg)
{
	struct plain_exec *p = arg;
	p->in_ended = true;
	exec_stdin_eof(p->exec);
}

static const struct inlet_ops INLET_OPS = {.on_data = on_stdin, .on_eof = on_stdin_eof};

/* ---- stdout and stderr ---- */

static void on_written(void *arg)
{
	struct plain_exec *p = arg;
	if (outlet_is_empty(p->out) && outlet_is_empty(p->err))
		exec_resume_output(p->exec);
	finish_when_written(p);
}

/* As for a program that runs here: nobody reads its output, so it ends. */
static void on_write_error(void *arg, const struct err *e)
{
	struct plain_exec *p = arg;
	if (e->sys == EPIPE) {
		finish(p, 128 + SIGPIPE);
		return;
	}
	if (!p->done)
		cli_error(p->cli, e);
	finish(p, CLI_FAILED);
}

static const struct outlet_ops OUTLET_OPS = {.on_drain = on_written, .on_error = on_write_error};

/* A terminal gets the text only: whoever runs `cat` in a guest must not be at the mercy of what the file does to it. */
static struct plain *open_text(int fd)
{
	if (!isatty(fd))
		return NULL;
	struct plain *text = mem_alloc(sizeof(*text));
	plain_init(text, strcasecmp(nl_langinfo(CODESET), "UTF-8") != 0);
	return text;
}

static void close_text(struct plain *text)
{
	if (text)
		plain_finish(text);
	free(text);
}

static void write_out(struct plain_exec *p, struct outlet *to, struct plain *text, const uint8_t *bytes,
                      size_t len)
{
	struct bytes b = {.p = bytes, .len = len};
	if (text)
		b = plain_feed(text, bytes, len);
	if (b.len)
		outlet_write(to, b.p, b.len);
	if (!outlet_is_empty(to))
		exec_pause_output(p->exec);
}

static void on_stdout(void *arg, const uint8_t *bytes, size_t len)
{
	struct plain_exec *p = arg;
	write_out(p, p->out, p->out_text, bytes, len);
}

static void on_stderr(void *arg, const uint8_t *bytes, size_t len)
{
	struct plain_exec *p = arg;
	write_out(p, p->err, p->err_text, bytes, len);
}

/* ---- the program ---- */

static void on_room(void *arg)
{
	struct plain_exec *p = arg;
	if (!p->in_ended)
		inlet_resume(p->in);
}

int exec_exit_status(uint32_t code, unsigned signum)
{
	return signum ? 128 + (int)signum : (int)(code & 0xff);
}

int exec_failure_status(const struct err *e, bool reached)
{
	if (reached && e->kind == ERR_NOT_FOUND)
		return 127;
	return reached && e->kind == ERR_DENIED ? 126 : CLI_FAILED;
}

static void on_exit_of_program(void *arg, uint32_t code, unsigned signum, bool output_cut)
{
	struct plain_exec *p = arg;
	p->ended = true;
	p->status = exec_exit_status(code, signum);
	inlet_pause(p->in);
	if (output_cut)
		fprintf(stderr,
		        "ccvm exec: something in the VM kept the output open; the rest of it is lost\n");
	finish_when_written(p);
}

static void on_failed(void *arg, const struct err *e)
{
	struct plain_exec *p = arg;
	cli_error(p->cli, e);
	finish(p, exec_failure_status(e, client_is_open(p->client)));
}

static const struct exec_ops EXEC_OPS = {
    .on_stdout = on_stdout,
    .on_stderr = on_stderr,
    .on_drain = on_room,
    .on_exit = on_exit_of_program,
    .on_failed = on_failed,
};

static void on_closed(void *arg, const struct err *e)
{
	struct plain_exec *p = arg;
	if (p->ended) /* all is here already; only what is queued for our own output remains */
		return;
	if (!p->done)
		cli_error(p->cli, e);
	finish(p, CLI_FAILED);
}

static const struct client_ops CLIENT_OPS = {.on_closed = on_closed};

static void on_signal(void *arg, int signum)
{
	struct plain_exec *p = arg;
	if (p->ended || exec_is_starting(p->exec) || ++p->signals_seen >= SIGNALS_TO_GIVE_UP) {
		finish(p, 128 + signum);
		return;
	}
	exec_signal(p->exec, signum);
}

int exec_plain_run(struct cli *cli, const char *vm, const struct exec_spec *spec)
{
	static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};
	struct plain_exec p = {.cli = cli};
	struct err e = ERR_INIT;
	if (!setup_check_vm(vm, &e))
		return cli_error(cli, &e);
	p.client = client_connect(cli->loop, vm, &CLIENT_OPS, &p, &e);
	p.exec = p.client ? client_exec(p.client, spec, &EXEC_OPS, &p, &e) : NULL;
	if (!p.exec) {
		client_close(p.client);
		return cli_error(cli, &e);
	}
	p.in = inlet_open(cli->loop, STDIN_FILENO, &INLET_OPS, &p);
	p.out = outlet_open(cli->loop, STDOUT_FILENO, &OUTLET_OPS, &p);
	p.err = outlet_open(cli->loop, STDERR_FILENO, &OUTLET_OPS, &p);
	p.out_text = open_text(STDOUT_FILENO);
	p.err_text = open_text(STDERR_FILENO);
	p.signals = signals_open(cli->loop, SIGNALS, on_signal, &p);
	while (!p.done)
		loop_turn(cli->loop, false);
	exec_close(p.exec);
	client_close(p.client);
	inlet_close(p.in);
	outlet_close(p.out);
	outlet_close(p.err);
	close_text(p.out_text);
	close_text(p.err_text);
	signals_close(p.signals);
	return p.status;
}
