/* ccvm-vsock: a vsock device for one QEMU guest, with hybrid Unix sockets on the host side. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/parse.h"
#include "core/loop/listener.h"
#include "core/loop/loop.h"
#include "core/loop/signals.h"
#include "core/loop/timer.h"
#include "core/vsock/backend.h"
#include "core/vsock/device.h"

#define OTHER_FDS 64   /* beside the connections: rings, listeners, the loop */
#define DRAIN_MS  1000 /* after QEMU is gone, for hosts to take what the guest had sent */

static const char USAGE[] =
    "usage: ccvm-vsock --socket PATH --uds PATH --cid N [--notify-fd N]\n"
    "\n"
    "A vhost-user-vsock device for one QEMU guest, with Firecracker's hybrid Unix sockets on the host side.\n"
    "\n"
    "  --socket PATH    listen here for QEMU\n"
    "  --uds PATH       host to guest: connect here, send \"CONNECT <port>\\n\", read \"OK <n>\\n\"\n"
    "                   guest to host: a connection to port P arrives at the socket PATH_P\n"
    "  --cid N          the guest's address, 3 to 4294967294 (the host is 2)\n"
    "  --notify-fd N    write \"ready\\n\" there when both sockets are open\n"
    "  --version, --help\n"
    "\n"
    "QEMU needs shared memory and the device:\n"
    "  -object memory-backend-memfd,id=m,size=512M,share=on -machine q35,memory-backend=m \\\n"
    "  -chardev socket,id=v,path=PATH -device vhost-user-vsock-pci,chardev=v\n"
    "\n"
    "Exits 0 when QEMU closes the connection or on SIGTERM, 1 on failure, 2 on wrong usage.\n";

struct options {
	const char *socket, *uds;
	uint64_t cid;
	int notify_fd; /* -1: none */
};

struct program {
	struct loop *loop;
	const struct options *options;
	struct backend_rings rings;
	struct device *device;
	struct listener *qemu;
	struct backend *backend; /* NULL until QEMU has connected */
	int exit_code;
};

static NORETURN void usage_error(const char *text, const char *what)
{
	fprintf(stderr, "ccvm-vsock: %s%s (see ccvm-vsock --help)\n", text, what);
	exit(2);
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option LONG[] = {{"socket", required_argument, NULL, 's'},
	                                     {"uds", required_argument, NULL, 'u'},
	                                     {"cid", required_argument, NULL, 'c'},
	                                     {"notify-fd", required_argument, NULL, 'n'},
	                                     {"help", no_argument, NULL, 'h'},
	                                     {"version", no_argument, NULL, 'V'},
	                                     {0}};
	uint64_t v;
	*o = (struct options){.notify_fd = -1};
	for (int c; (c = getopt_long(argc, argv, "h", LONG, NULL)) != -1;) {
		switch (c) {
		case 's': o->socket = optarg; break;
		case 'u': o->uds = optarg; break;
		case 'c':
			if (!parse_u64(optarg, 3, UINT32_MAX - 1, &o->cid))
				usage_error("--cid must be 3 to 4294967294, not ", optarg);
			break;
		case 'n':
			if (!parse_u64(optarg, 0, 1023, &v))
				usage_error("--notify-fd must be a descriptor, not ", optarg);
			o->notify_fd = (int)v;
			break;
		case 'h': fputs(USAGE, stdout); exit(0);
		case 'V': puts("ccvm-vsock " CCVM_VERSION); exit(0);
		default: exit(2); /* getopt has said what is wrong */
		}
	}
	if (optind < argc)
		usage_error("unexpected argument ", argv[optind]);
	if (!o->socket || !o->uds || !o->cid)
		usage_error("--socket, --uds and --cid are needed", "");
}

/* As many connections as descriptors allow. */
static unsigned raise_limit(void)
{
	struct rlimit r;
	rlim_t want = DEVICE_MOST_CONNECTIONS + OTHER_FDS;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 128;
	if (r.rlim_cur < want) {
		r.rlim_cur = MIN(want, r.rlim_max);
		setrlimit(RLIMIT_NOFILE, &r);
	}
	rlim_t have = MIN(r.rlim_cur, want);
	unsigned most = have > OTHER_FDS ? (unsigned)(have - OTHER_FDS) : 1;
	if (most < DEVICE_MOST_CONNECTIONS)
		log_warn("only %u connections fit into this process's descriptor limit", most);
	return most;
}

static void on_signal(void *arg, int signum)
{
	struct program *p = arg;
	(void)signum;
	loop_stop(p->loop);
}

static void on_qemu_end(void *arg, const struct err *e)
{
	struct program *p = arg;
	if (e) {
		log_error("connection to QEMU: %s", e->msg);
		p->exit_code = 1;
	}
	loop_stop(p->loop);
}

static void on_qemu(void *arg, int fd)
{
	struct program *p = arg;
	if (p->backend) {
		log_warn("a second program connected to %s and was turned away", p->options->socket);
		fd_close(&fd);
		return;
	}
	p->backend = backend_create(p->loop, fd, p->options->cid, &p->rings, p->device, on_qemu_end, p);
}

static bool open_sockets(struct program *p, struct err *e)
{
	p->qemu = listener_open(p->loop, p->options->socket, on_qemu, p, e);
	return p->qemu && device_listen(p->device, e);
}

static void notify(int fd)
{
	if (fd >= 0 && !fd_write_all(fd, "ready\n", 6))
		log_warn("nobody reads --notify-fd");
	if (fd > STDERR_FILENO)
		fd_close(&fd);
}

static void on_drain_over(void *arg)
{
	bool *over = arg;
	*over = true;
}

/* QEMU is gone. Hosts still get what the guest had sent before. */
static void drain(struct program *p)
{
	struct device_counts counts;
	bool over = false;
	struct timer *deadline = timer_create_on(p->loop, on_drain_over, &over);
	timer_once(deadline, DRAIN_MS);
	device_forget_guest(p->device);
	device_flush(p->device);
	for (device_get_counts(p->device, &counts); counts.connections && !over;
	     device_get_counts(p->device, &counts))
		loop_turn(p->loop, false);
	timer_close(deadline);
}

int main(int argc, char **argv)
{
	static const int SIGNALS[] = {SIGTERM, SIGINT, SIGHUP, 0};
	struct options options;
	struct err e = ERR_INIT;
	if (!fd_fill_standard())
		return 1;
	parse_options(argc, argv, &options);
	log_open("ccvm-vsock", STDERR_FILENO, LOG_WARN);
	struct program p = {.loop = loop_create(), .options = &options};
	virtqueue_init(&p.rings.rx);
	virtqueue_init(&p.rings.tx);
	const struct device_config config = {.cid = options.cid,
	                                     .path = options.uds,
	                                     .most = raise_limit(),
	                                     .rx = &p.rings.rx,
	                                     .tx = &p.rings.tx};
	p.device = device_create(p.loop, &config);
	struct signals *signals = signals_open(p.loop, SIGNALS, on_signal, &p);
	if (open_sockets(&p, &e)) {
		notify(options.notify_fd);
		loop_run(p.loop);
		backend_destroy(p.backend);
		drain(&p);
	} else {
		fprintf(stderr, "ccvm-vsock: %s\n", e.msg);
		p.exit_code = 1;
	}
	signals_close(signals);
	listener_close(p.qemu);
	device_destroy(p.device);
	loop_destroy(p.loop);
	return p.exit_code;
}
