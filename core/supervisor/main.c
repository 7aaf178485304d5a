/* ccvm-supervisor: runs one VM. `ccvm up` writes its description and starts this in a session of its own; with
 * --ready-fd it hears "listening\n" once control.sock answers, or "error TEXT\n". From there on the status that a client
 * watches tells how it goes. */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/parse.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "core/supervisor/log_file.h"
#include "core/supervisor/places.h"
#include "core/supervisor/supervisor.h"
#include "core/vm/store.h"

enum { EXIT_USAGE = 2 };

static const char HELP[] =
    "usage: ccvm-supervisor NAME [--ready-fd N]\n"
    "\n"
    "Runs the VM NAME, whose description `ccvm up` has written to its state folder, until it ends.\n"
    "Started by `ccvm up`; there is little reason to start it by hand.\n"
    "\n"
    "  --ready-fd N       write \"listening\" to this descriptor once the control socket answers, or\n"
    "                     \"error TEXT\"; then close it\n"
    "  --help, --version\n"
    "\n"
    "SIGTERM stops the VM politely, a second one at once.\n"
    "Exit status: 0 stopped, 1 failed, 2 wrong usage.\n";

struct options {
	const char *name;
	int ready_fd; /* -1: none */
};

struct program {
	struct options options;
	struct loop *loop;
	struct signals *signals;
	struct supervisor *supervisor;
	struct places places;
	struct vm_spec spec;
	bool failed;
};

static int usage_error(const char *what)
{
	fprintf(stderr, "ccvm-supervisor: %s; see ccvm-supervisor --help\n", what);
	return EXIT_USAGE;
}

static int take_ready_fd(const char *value, struct options *o)
{
	uint64_t fd;
	if (!parse_u64(value, 3, 1 << 20, &fd) || fcntl((int)fd, F_GETFD) < 0)
		return usage_error("--ready-fd is no open descriptor");
	o->ready_fd = (int)fd;
	fd_set_cloexec(o->ready_fd, true);
	return -1;
}

enum { OPT_READY = 256, OPT_HELP, OPT_VERSION };
static const struct option OPTIONS[] = {
    {"ready-fd", required_argument, NULL, OPT_READY},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {0},
};

/* -1: go on; else what to exit with. */
static int read_options(int argc, char **argv, struct options *o)
{
	struct err e = ERR_INIT;
	int option, code;
	while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
		switch (option) {
		case OPT_READY:
			if ((code = take_ready_fd(optarg, o)) >= 0)
				return code;
			break;
		case OPT_HELP: return fputs(HELP, stdout) < 0;
		case OPT_VERSION: return puts("ccvm-supervisor " CCVM_VERSION) < 0;
		default: return EXIT_USAGE; /* getopt has said what */
		}
	}
	if (optind + 1 != argc)
		return usage_error("exactly one VM is to be named");
	o->name = argv[optind];
	return parse_name("VM name", o->name, &e) ? -1 : usage_error(e.msg);
}

/* To whoever started us; only once. */
static void tell(struct options *o, const char *word, const char *text)
{
	char line[600];
	int n = snprintf(line, sizeof(line), "%s%s%s\n", word, *text ? " " : "", text);
	if (o->ready_fd >= 0)
		fd_write_all(o->ready_fd, line, MIN((size_t)n, sizeof(line) - 1)); /* it may have gone away */
	fd_close(&o->ready_fd);
}

static void on_signal(void *arg, int signum)
{
	struct program *p = arg;
	log_info("signal %d", signum);
	if (p->supervisor)
		supervisor_interrupt(p->supervisor);
}

static void on_over(void *arg, bool failed)
{
	struct program *p = arg;
	p->supervisor = NULL;
	p->failed = failed;
	signals_close(p->signals);
	p->signals = NULL;
}

/* Whatever a line is about, a guest may be its cause: no line goes past the bound. */
static void bound_log(void *arg)
{
	const struct places *places = arg;
	log_file_bound(STDERR_FILENO, places->log);
}

/* From here on standard error is the VM's log, and nothing holds a terminal or a folder. */
static bool settle(struct program *p, struct err *e)
{
	int log CLOSE_ON_EXIT = log_file_open(p->places.log, e);
	if (log < 0)
		return false;
	int null CLOSE_ON_EXIT = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	dup2(log, STDERR_FILENO);
	log_open("ccvm-supervisor", STDERR_FILENO, LOG_INFO);
	log_before_line(bound_log, &p->places);
	log_set_vm(p->spec.name);
	if (chdir("/") != 0)
		log_warn("chdir / failed");
	return true;
}

static void run(struct program *p, struct err *e)
{
	static const int SIGNALS[] = {SIGTERM, SIGINT, 0};
	p->loop = loop_create();
	p->signals = signals_open(p->loop, SIGNALS, on_signal, p);
	p->supervisor = supervisor_start(p->loop, &p->places, &p->spec, on_over, p, e);
	if (p->supervisor) {
		tell(&p->options, "listening", "");
		log_info("ccvm %s, pid %ld", CCVM_VERSION, (long)getpid());
	} else {
		signals_close(p->signals);
	}
	loop_run(p->loop);
	loop_destroy(p->loop);
}

/* True when the VM ran, however it ended. */
static bool supervise(struct program *p, struct err *e)
{
	if (!places_init(&p->places, p->options.name, e))
		return false;
	if (!store_read_spec(p->places.state_dir, &p->spec, e))
		return err_wrap(e, "VM %s", p->options.name);
	int lock CLOSE_ON_EXIT = places_claim(&p->places, e);
	if (lock < 0)
		return e->kind == ERR_BUSY ? err_wrap(e, "VM %s runs already", p->options.name) : false;
	if (settle(p, e))
		run(p, e);
	if (e->kind == ERR_NONE)
		return true;
	struct err failed = ERR_INIT;
	if (!places_release(&p->places, &failed))
		log_error("%s", failed.msg);
	return false;
}

int main(int argc, char **argv)
{
	child_guard(argc, argv);
	struct program p = {.options = {.ready_fd = -1}};
	struct err e = ERR_INIT;
	log_open("ccvm-supervisor", STDERR_FILENO, LOG_INFO);
	int code = read_options(argc, argv, &p.options);
	if (code >= 0)
		return code;
	umask(077);
	signal(SIGHUP, SIG_IGN);              /* the terminal that it was started from may go */
	setenv("UV_THREADPOOL_SIZE", "1", 0); /* for the check of the image */
	bool ran = supervise(&p, &e);
	if (!ran) {
		tell(&p.options, "error", e.msg);
		log_error("%s", e.msg);
	}
	log_before_line(NULL, NULL);
	places_finish(&p.places);
	return ran && !p.failed ? 0 : 1;
}
