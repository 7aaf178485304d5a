/* record: what a terminal of a VM shows, for players of asciicast v2. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/cli/cast.h"
#include "core/cli/cli.h"
#include "core/cli/look.h"
#include "core/cli/target.h"
#include "core/loop/signals.h"

static const struct arg_option OPTIONS[] = {
    {.name = "output",
     .letter = 'o',
     .kind = ARG_TEXT,
     .value = "FILE",
     .help = "instead of standard output"},
    {.name = NULL},
};

struct recording {
	struct cast cast;
	struct str lines;
	int fd;
	int error; /* errno of a write that failed */
};

static void on_screen(struct look *l, struct screen *s)
{
	struct recording *r = l->arg;
	str_clear(&r->lines);
	cast_frame(&r->cast, s, clock_mono_ms(), clock_wall_ms(), &r->lines);
	if (fd_write_all(r->fd, r->lines.s, r->lines.len))
		return;
	r->error = errno;
	look_done(l);
}

static void on_signal(void *arg, int signum)
{
	(void)signum; /* how a recording is ended */
	look_done(arg);
}

static int record(struct cli *cli, const struct target *target, int fd, const char *file)
{
	static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, 0};
	struct recording r = {.lines = STR_INIT(CAST_TEXT_MAX), .fd = fd};
	struct look look = {.target = target, .wants_terminal = true, .on_screen = on_screen, .arg = &r};
	struct err e = ERR_INIT;
	cast_init(&r.cast);
	struct signals *signals = signals_open(cli->loop, SIGNALS, on_signal, &look);
	enum look_end end = look_run(cli->loop, &look, &e);
	signals_close(signals);
	look_close(&look);
	cast_finish(&r.cast);
	str_finish(&r.lines);
	if (r.error == EPIPE)
		return CLI_FAILED; /* nobody reads any more, which needs no words */
	if (r.error)
		err_sys(&e, r.error, "write %s", file ? file : "standard output");
	return end == LOOK_FAILED || r.error ? cli_error(cli, &e) : CLI_OK;
}

static int run(struct cli *cli, struct args *args)
{
	struct target target;
	struct err e = ERR_INIT;
	const char *file = args_text(args, "output");
	int fd CLOSE_ON_EXIT = -1;
	if (!target_parse(args->words[0], &target, &e))
		return cli_usage_error(cli, &e);
	if (!target_find(args->words[0], &target, &e))
		return cli_error(cli, &e);
	if (file) {
		fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0)
			return cli_error(cli, (err_sys(&e, errno, "create %s", file), &e));
	}
	return record(cli, &target, file ? fd : STDOUT_FILENO, file);
}

const struct command command_record = {
    .name = "record",
    .usage = TARGET_USAGE " [-o FILE]",
    .summary = "record what a VM's terminal shows, as asciicast v2",
    .details = "Until the terminal's program ends or Ctrl-C. The size is the terminal's own and changes with "
               "it. What was\n"
               "typed where nothing was shown (passwords) is not in it. Exit status: 0 after either end, 1 "
               "when the VM\n"
               "cannot be reached or went away.\n"
               "    ccvm record alpha -o alpha.cast; asciinema play alpha.cast\n",
    .options = OPTIONS,
    .min_words = 1,
    .max_words = 1,
    .run = run,
};
