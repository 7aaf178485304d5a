#include "core/backend/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/accel.h"
#include "core/backend/backend.h"
#include "core/backend/qemu.h"
#include "core/base/mem.h"
#include "core/loop/timer.h"

/* Everything that the kernel has to say, from its first instructions on: silence then means that it hangs. */
#define PROBE_CMDLINE "earlyprintk=serial,ttyS0,115200 loglevel=7 ccvm.probe"

struct probe {
	struct backend *backend;
	struct timer *quiet, *total;
	size_t matched; /* bytes of the marker seen so far */
	bool spoke;
	void (*done)(void *arg, bool works, const char *why);
	void *arg;
};

static void finish(struct probe *p, bool works, const char *why)
{
	backend_qemu_kvm.close(p->backend);
	p->backend = NULL;
	timer_stop(p->quiet);
	timer_stop(p->total);
	p->done(p->arg, works, why); /* may have closed p */
}

static void on_exit_event(void *arg, bool clean, const char *why)
{
	finish(arg, false, clean ? "the guest powered off before it said that it was there" : why);
}

static void on_console(void *arg, const uint8_t *bytes, size_t len)
{
	static const char marker[] = PROBE_MARKER;
	struct probe *p = arg;
	p->spoke = true;
	timer_once(p->quiet, PROBE_QUIET_MS);
	/* After a mismatch only a C can begin the marker anew, and after CC a third C still leaves CC. */
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == (uint8_t)marker[p->matched])
			p->matched++;
		else if (p->matched != 2 || bytes[i] != 'C')
			p->matched = bytes[i] == 'C' ? 1 : 0;
		if (p->matched == sizeof(marker) - 1) {
			finish(p, true, "");
			return;
		}
	}
}

static void on_quiet(void *arg)
{
	struct probe *p = arg;
	char why[ACCEL_WHY_SIZE];
	snprintf(why, sizeof(why), "a test guest %s for %d s",
	         p->spoke ? "hung while booting, silent" : "printed nothing", PROBE_QUIET_MS / 1000);
	finish(p, false, why);
}

static void on_total(void *arg)
{
	char why[ACCEL_WHY_SIZE];
	snprintf(why, sizeof(why), "a test guest was not up after %d s", PROBE_TOTAL_MS / 1000);
	finish(arg, false, why);
}

struct probe *probe_start(struct loop *loop, const char *kernel, const char *initramfs,
                          void (*done)(void *arg, bool works, const char *why), void *arg, struct err *e)
{
	const struct backend_spec spec = {
	    .vm = "kvm-probe",
	    .kernel = kernel,
	    .initramfs = initramfs,
	    .cmdline = PROBE_CMDLINE,
	    .memory_bytes = 256u << 20,
	    .cpus = 1,
	};
	const struct backend_events events = {.on_exit = on_exit_event, .on_console = on_console};
	struct probe *p = mem_alloc(sizeof(*p));
	p->done = done;
	p->arg = arg;
	p->backend = qemu_start(loop, true, &spec, &events, p, e);
	if (!p->backend) {
		free(p);
		return NULL;
	}
	p->quiet = timer_create_on(loop, on_quiet, p);
	p->total = timer_create_on(loop, on_total, p);
	timer_once(p->quiet, PROBE_QUIET_MS);
	timer_once(p->total, PROBE_TOTAL_MS);
	return p;
}

void probe_close(struct probe *p)
{
	if (!p)
		return;
	backend_qemu_kvm.close(p->backend);
	timer_close(p->quiet);
	timer_close(p->total);
	free(p);
}
