/* Drives one backend by hand, for tests/vm/backend.t:
 *
 *     backend_drive [-d DISK] [-l LAYER]... [-v VHOST_SOCKET] [-m MIB] [-c CPUS] OPS KERNEL INITRAMFS CMDLINE LOG STEP...
 *     backend_drive choose WANT KERNEL INITRAMFS MEMORY_FILE
 *     backend_drive disk PATH BYTES
 *
 * OPS is qemu-tcg or qemu-kvm. Steps: wait=TEXT (on the console), power, kill, exit (until on_exit), close, hold (until
 * killed). Each step prints a line; a step that takes over a minute ends the program with 1. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend/backend.h"
#include "core/backend/disk.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"

#define STEP_MS 60000

struct drive {
	struct loop *loop;
	const struct backend_ops *ops;
	struct backend *backend;
	struct timer *deadline;
	char console[65536]; /* what came last */
	size_t console_len;
	const char *wanted;
	bool exited, found, late, done;
};

static void on_exit_event(void *arg, bool clean, const char *why)
{
	struct drive *d = arg;
	d->exited = true;
	printf("exit clean=%d why=%s\n", clean, why);
}

static void on_guest_event(void *arg, const char *what)
{
	(void)arg;
	printf("event %s\n", what);
}

static void look(struct drive *d)
{
	if (d->wanted && !d->found && memmem(d->console, d->console_len, d->wanted, strlen(d->wanted)))
		d->found = true;
}

static void on_console(void *arg, const uint8_t *bytes, size_t len)
{
	struct drive *d = arg;
	if (len > sizeof(d->console) / 2) {
		bytes += len - sizeof(d->console) / 2;
		len = sizeof(d->console) / 2;
	}
	if (d->console_len + len > sizeof(d->console)) {
		size_t keep = sizeof(d->console) / 2;
		memmove(d->console, d->console + d->console_len - keep, keep);
		d->console_len = keep;
	}
	memcpy(d->console + d->console_len, bytes, len);
	d->console_len += len;
	look(d);
}

static void on_deadline(void *arg)
{
	((struct drive *)arg)->late = true;
}

static bool run_until(struct drive *d, const bool *flag)
{
	timer_once(d->deadline, STEP_MS);
	while (!*flag && !d->late && !d->exited)
		loop_turn(d->loop, false);
	timer_stop(d->deadline);
	return *flag;
}

static bool do_step(struct drive *d, const char *step)
{
	static const bool never = false;
	if (strncmp(step, "wait=", 5) == 0) {
		d->wanted = step + 5;
		d->found = false;
		look(d);
		return run_until(d, &d->found);
	}
	if (strcmp(step, "power") == 0)
		d->ops->power_down(d->backend);
	else if (strcmp(step, "kill") == 0)
		d->ops->kill(d->backend);
	else if (strcmp(step, "exit") == 0)
		return run_until(d, &d->exited);
	else if (strcmp(step, "hold") == 0)
		return run_until(d, &never);
	else if (strcmp(step, "close") == 0) {
		d->ops->close(d->backend);
		d->backend = NULL;
	} else
		return false;
	return true;
}

static int drive(struct drive *d, const struct backend_spec *spec, char **steps)
{
	const struct backend_events events = {
	    .on_exit = on_exit_event, .on_guest_event = on_guest_event, .on_console = on_console};
	struct err e = ERR_INIT;
	d->backend = d->ops->start(d->loop, spec, &events, d, &e);
	if (!d->backend) {
		printf("refused: %s\n", e.msg);
		return 1;
	}
	printf("pid %ld\n", (long)d->ops->pid(d->backend));
	for (; *steps; steps++) {
		if (!do_step(d, *steps)) {
			printf("failed: %s\n", *steps);
			return 1;
		}
		printf("%s\n", *steps);
	}
	return 0;
}

static void on_choice(void *arg, const struct backend_choice *choice, const struct err *e)
{
	struct drive *d = arg;
	d->done = true;
	if (e)
		printf("error: %s\n", e->msg);
	else
		printf("%s: %s\n", choice->ops->name, choice->why);
}

static void on_progress(void *arg, const char *text)
{
	(void)arg;
	printf("progress: %s\n", text);
}

static void on_disk(void *arg, const struct err *e)
{
	struct drive *d = arg;
	d->done = true;
	printf("%s\n", e ? e->msg : "made");
}

static int usage(void)
{
	fprintf(stderr, "usage: see the top of tests/vm/backend_drive.c\n");
	return 2;
}

static bool parse_options(int argc, char **argv, struct backend_spec *spec)
{
	uint64_t n;
	for (int c; (c = getopt(argc, argv, "+d:l:v:m:c:")) != -1;) {
		if (c == 'd')
			spec->disk = optarg;
		else if (c == 'l' && spec->layer_count < BACKEND_LAYERS_MAX)
			spec->layers[spec->layer_count++] = optarg;
		else if (c == 'v')
			spec->vhost_socket = optarg;
		else if (c == 'm' && parse_u64(optarg, 1, 1 << 20, &n))
			spec->memory_bytes = n << 20;
		else if (c == 'c' && parse_u64(optarg, 1, 64, &n))
			spec->cpus = (uint32_t)n;
		else
			return false;
	}
	return true;
}

static int command(struct drive *d, int argc, char **argv)
{
	uint64_t bytes;
	if (argc == 6 && strcmp(argv[1], "choose") == 0) {
		backend_choose(d->loop, argv[2], argv[3], argv[4], argv[5], on_progress, on_choice, d);
		return run_until(d, &d->done) ? 0 : 1;
	}
	if (argc == 4 && strcmp(argv[1], "disk") == 0 && parse_u64(argv[3], 1, UINT64_MAX, &bytes)) {
		struct err e = ERR_INIT;
		if (!disk_create(d->loop, argv[2], bytes, on_disk, d, &e)) {
			printf("%s\n", e.msg);
			return 1;
		}
		return run_until(d, &d->done) ? 0 : 1;
	}
	struct backend_spec spec = {.vm = "drive", .memory_bytes = 256u << 20, .cpus = 1, .guest_cid = 3};
	if (!parse_options(argc, argv, &spec) || argc - optind < 5)
		return usage();
	argv += optind;
	d->ops = strcmp(argv[0], "qemu-kvm") == 0 ? &backend_qemu_kvm : &backend_qemu_tcg;
	spec.kernel = argv[1];
	spec.initramfs = argv[2];
	spec.cmdline = argv[3];
	spec.console_log = argv[4];
	int r = drive(d, &spec, argv + 5);
	if (d->backend)
		d->ops->close(d->backend);
	return r;
}

int main(int argc, char **argv)
{
	child_guard(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	log_open("backend_drive", STDERR_FILENO, LOG_INFO);
	struct drive d = {.loop = loop_create()};
	d.deadline = timer_create_on(d.loop, on_deadline, &d);
	int r = command(&d, argc, argv);
	timer_close(d.deadline);
	loop_run(d.loop);
	loop_destroy(d.loop);
	return r;
}
