/* ccvm-proxy: the only way out of a VM. See server.h for what it does; this is its command line and its signals. */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/parse.h"
#include "core/egress/policy.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "proxy/conn.h"
#include "proxy/server.h"

enum { EXIT_USAGE = 2 };

static const char HELP[] =
    "usage: ccvm-proxy --listen SOCKET --policy FILE --audit FILE [--vm NAME] [--notify-fd N]\n"
    "\n"
    "An HTTP CONNECT proxy on a Unix socket that lets through what a policy names and puts every\n"
    "decision on record first. What no rule allows is refused.\n"
    "\n"
    "  --listen SOCKET   path of the Unix socket (made with mode 0600)\n"
    "  --policy FILE     one rule a line, \"#\" starts a comment line:\n"
    "                      allow HOST[:PORT]          443 when no port is given; *.HOST: any depth below it\n"
    "                      deny HOST[:PORT]           wins over allow; every port when none is given\n"
    "                      resolve NAME ADDRESS:PORT  dial this instead of asking the resolver\n"
    "  --audit FILE      the audit log, JSON Lines; appended to\n"
    "  --vm NAME         named in the records and in the answers\n"
    "  --notify-fd N     write \"ready\" to this descriptor, and the outcome of each reload\n"
    "  --help, --version\n"
    "\n"
    "SIGHUP reads the policy again (a bad one changes nothing; open tunnels stay). SIGTERM ends it.\n"
    "Exit status: 0 stopped, 1 could not run, 2 wrong usage or a bad policy.\n";

struct program {
	struct loop *loop;
	struct server *server;
	struct signals *signals;
};

static void on_signal(void *arg, int signum)
{
	struct program *p = arg;
	if (signum == SIGHUP)
		server_reload(p->server);
	else
		loop_stop(p->loop);
}

static int usage_error(const char *what)
{
	fprintf(stderr, "ccvm-proxy: %s; see ccvm-proxy --help\n", what);
	return EXIT_USAGE;
}

/* Two descriptors a tunnel, one for each other connection, and some to spare. */
static void raise_fd_limit(void)
{
	const rlim_t want = 2 * MOST_TUNNELS + MOST_CONNS + 64;
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur >= want)
		return;
	r.rlim_cur = MIN(want, r.rlim_max);
	setrlimit(RLIMIT_NOFILE, &r);
}

enum { OPT_LISTEN = 256, OPT_POLICY, OPT_AUDIT, OPT_VM, OPT_NOTIFY, OPT_HELP, OPT_VERSION };
static const struct option OPTIONS[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},    {"policy", required_argument, NULL, OPT_POLICY},
    {"audit", required_argument, NULL, OPT_AUDIT},      {"vm", required_argument, NULL, OPT_VM},
    {"notify-fd", required_argument, NULL, OPT_NOTIFY}, {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},        {0},
};

/* -1: go on; else what to exit with. */
static int take_option(int option, const char *value, struct server_options *o)
{
	uint64_t fd;
	switch (option) {
	case OPT_LISTEN: o->listen = value; return -1;
	case OPT_POLICY: o->policy = value; return -1;
	case OPT_AUDIT: o->audit = value; return -1;
	case OPT_VM: o->vm = value; return -1;
	case OPT_NOTIFY:
		if (!parse_u64(value, 0, 1 << 20, &fd) || fcntl((int)fd, F_GETFD) < 0)
			return usage_error("--notify-fd is no open descriptor");
		o->notify_fd = (int)fd;
		return -1;
	case OPT_HELP: return fputs(HELP, stdout) < 0;
	case OPT_VERSION: return puts("ccvm-proxy " CCVM_VERSION) < 0;
	default: return EXIT_USAGE; /* getopt has said what */
	}
}

static int read_options(int argc, char **argv, struct server_options *o)
{
	struct err e = ERR_INIT;
	int option, code;
	while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
		code = take_option(option, optarg, o);
		if (code >= 0)
			return code;
	}
	if (optind < argc)
		return usage_error("arguments that are no options");
	if (!o->listen || !o->policy || !o->audit)
		return usage_error("--listen, --policy and --audit are needed");
	if (o->vm[0] && !parse_name("VM name", o->vm, &e))
		return usage_error(e.msg);
	return -1;
}

/* Prepares what the loop must not meet later. */
static void prepare(const struct server_options *o)
{
	log_set_vm(o->vm);
	if (o->notify_fd >= 0)
		fd_set_cloexec(o->notify_fd, true);
	signal(SIGXFSZ, SIG_IGN); /* a full log is an error to answer, not an end */
	raise_fd_limit();
	setenv("UV_THREADPOOL_SIZE", "3", 0); /* two lookups at once, and the sync of the log */
}

int main(int argc, char **argv)
{
	static const int SIGNALS[] = {SIGHUP, SIGTERM, SIGINT, 0};
	struct server_options o = {.vm = "", .notify_fd = -1};
	struct program p = {0};
	struct policy policy;
	struct err e = ERR_INIT;
	if (!fd_fill_standard())
		return 1;
	log_open("ccvm-proxy", STDERR_FILENO, LOG_WARN);
	int code = read_options(argc, argv, &o);
	if (code >= 0)
		return code;
	policy_init(&policy);
	if (!policy_load(&policy, o.policy, &e)) {
		fprintf(stderr, "ccvm-proxy: %s\n", e.msg);
		return EXIT_USAGE;
	}
	prepare(&o);
	p.loop = loop_create();
	p.signals = signals_open(p.loop, SIGNALS, on_signal, &p);
	p.server = server_start(p.loop, &o, &policy, &e);
	if (p.server)
		loop_run(p.loop);
	else
		fprintf(stderr, "ccvm-proxy: %s\n", e.msg);
	code = p.server ? 0 : 1;
	signals_close(p.signals);
	if (p.server && !server_stop(p.server))
		_exit(code); /* a lookup hangs in the system's resolver: nothing can end it but this */
	loop_destroy(p.loop);
	return code;
}
