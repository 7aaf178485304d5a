/* ccvm-guest: pid 1 of a guest. The host talks to it over vsock; it starts programs, relays the way out and
 * buries the dead. Whatever goes wrong after the boot costs one connection; whatever goes wrong before turns
 * the machine off. As any other process it is a command for those inside. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/wire/wire.h"
#include "guest/agent.h"
#include "guest/boot.h"
#include "guest/hello.h"
#include "guest/net.h"
#include "guest/notify.h"
#include "guest/power.h"
#include "guest/program.h"
#include "guest/reactor.h"
#include "guest/reap.h"
#include "guest/relay.h"
#include "guest/vsock.h"

#define MOST_FILES 65536 /* a relayed connection takes two, a program up to six */

struct guest {
	struct reactor *reactor;
	struct reaper *reaper;
	struct programs programs;
	struct relay *relay;
	struct agent *agent;
	struct hello *hello;
	struct power power;
	int disk_fd;
	bool reboot;
};

static void on_bug(const char *msg)
{
	log_error("%s", msg);
	sync();
	reboot(RB_POWER_OFF);
}

static int dial_egress(void *arg, struct err *e)
{
	(void)arg;
	return vsock_dial(WIRE_PORT_EGRESS, e);
}

static int dial_events(void *arg, struct err *e)
{
	(void)arg;
	return vsock_dial(WIRE_PORT_EVENTS, e);
}

static bool relay_listening(void *arg)
{
	const struct guest *g = arg;
	return relay_is_listening(g->relay);
}

static bool lo_up(void *arg)
{
	(void)arg;
	return net_lo_is_up();
}

static void shut_down(void *arg, bool reboot_it)
{
	struct guest *g = arg;
	g->reboot = reboot_it;
	log_info("power: %s", reboot_it ? "restarting" : "turning off");
	power_begin(&g->power);
}

static void on_end(void *arg)
{
	struct guest *g = arg;
	boot_end(g->disk_fd, g->reboot);
}

/* The way out is not needed to run: a VM without it says so in every answer to a ping. */
static void start_relay(struct guest *g)
{
	struct err e = ERR_INIT;
	int fd = net_lo_up(&e) ? net_listen_loopback(WIRE_RELAY_PORT, &e) : -1;
	if (fd < 0)
		log_error("relay: %s", e.msg);
	else
		g->relay = relay_open(g->reactor, fd, dial_egress, NULL);
}

static bool serve(struct guest *g, struct err *e)
{
	const struct rlimit files = {.rlim_cur = MOST_FILES, .rlim_max = MOST_FILES};
	g->reactor = reactor_create();
	g->reaper = reaper_open(g->reactor);
	programs_init(&g->programs, g->reactor, g->reaper); /* remembers the limit that programs get */
	setrlimit(RLIMIT_NOFILE, &files);
	power_init(&g->power, g->reactor, on_end, g);
	start_relay(g);
	int listen_fd = vsock_listen(WIRE_PORT_AGENT, e);
	if (listen_fd < 0)
		return false;
	const struct agent_host host = {
	    .programs = &g->programs,
	    .relay_listening = relay_listening,
	    .lo_up = lo_up,
	    .dial_egress = dial_egress,
	    .shut_down = shut_down,
	    .arg = g,
	};
	g->agent = agent_create(g->reactor, &host);
	agent_listen(g->agent, listen_fd);
	g->hello = hello_start(g->reactor, relay_is_listening(g->relay), dial_events, NULL);
	reactor_run(g->reactor);
	return true;
}

static bool boot(struct guest *g, struct err *e)
{
	struct cmdline c;
	if (!boot_mount_basics(e) || !boot_read_cmdline(&c, e))
		return false;
	if (c.probe) {
		static const char OK[] = "CCVM-PROBE-OK\n";
		ssize_t n = write(STDOUT_FILENO, OK, sizeof(OK) - 1);
		(void)n;
		reboot(RB_POWER_OFF);
		return err_sys(e, errno, "power off");
	}
	log_set_vm(c.name);
	return boot_load_modules(e) && boot_enter_root(&c, &g->disk_fd, e) && serve(g, e);
}

static const char USAGE[] =
    "ccvm-guest " CCVM_VERSION ": runs this VM. For programs in it:\n"
    "\n"
    "  ccvm-guest notify working|waiting|idle|finished|failed [TEXT...]\n"
    "      Tells the operator's console how this program is doing, and why in a few words.\n"
    "      waiting, finished and failed call the operator. Made for the hooks of agents.\n";

static int notify(char *const *words)
{
	struct wire_event_notify m;
	struct err e = ERR_INIT;
	if (!notify_read(words, getenv("CCVM_TERMINAL"), &m, &e)) {
		fprintf(stderr, "ccvm-guest: %s\n", e.msg);
		return 2;
	}
	int fd = dial_events(NULL, &e);
	if (fd >= 0 && notify_send(fd, &m, &e))
		return 0;
	fprintf(stderr, "ccvm-guest: notify: %s\n", e.msg);
	return 1;
}

static int command(char *const *words)
{
	if (words[0] && strcmp(words[0], "notify") == 0)
		return notify(words + 1);
	bool asked = words[0] && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0);
	fputs(USAGE, asked ? stdout : stderr);
	return asked ? 0 : 2;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (getpid() != 1)
		return command(argv + MIN(argc, 1));
	struct guest g = {.disk_fd = -1};
	struct err e = ERR_INIT;
	log_open("ccvm-guest", STDERR_FILENO, LOG_INFO);
	check_on_bug(on_bug);
	if (!boot(&g, &e))
		log_error("%s", e.msg);
	boot_end(g.disk_fd, false);
}
