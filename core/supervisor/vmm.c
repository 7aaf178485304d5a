#include <stdio.h>
#include <unistd.h>

#include "core/backend/console_log.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/loop/timer.h"
#include "core/supervisor/agent.h"
#include "core/supervisor/board.h"
#include "core/supervisor/health.h"
#include "core/supervisor/lookout.h"
#include "core/supervisor/supervisor_internal.h"

#define GUEST_CID     3
#define TAIL_LINES    3
#define TAIL_SIZE     250
#define CMDLINE_MAX   1024
#define LAYER_DEVICES "abcdefghijklmnopqrstuvwxyz"
static_assert(BACKEND_LAYERS_MAX >= IMAGE_MOST_LAYERS, "an image's layers fit");
static_assert(sizeof(LAYER_DEVICES) - 1 > IMAGE_MOST_LAYERS, "each layer and the disk have a letter");

/* `what`, and the last lines of the console if there are any. */
static void with_console(struct supervisor *s, const char *what, char *out, size_t size)
{
	char tail[TAIL_SIZE];
	console_log_tail(s->places->console, TAIL_LINES, tail, sizeof(tail));
	for (char *p = tail; *p; p++) {
		if (*p == '\n' || *p == '\t')
			*p = *p == '\n' ? '|' : ' ';
	}
	if (*tail)
		snprintf(out, size, "%s; last on its console: %s", what, tail);
	else
		snprintf(out, size, "%s; its console is empty", what);
}

static void on_vmm_exit(void *arg, bool clean, const char *why)
{
	struct supervisor *s = arg;
	bool booting = s->state == MACHINE_BOOTING;
	char what[200], reason[SUPERVISOR_REASON_SIZE];
	s->vmm_running = false;
	s->left = clean && s->state == MACHINE_READY;
	board_edit(s->board)->vmm_pid = 0;
	if (clean)
		snprintf(what, sizeof(what), "the guest powered off%s",
		         booting ? " before it was ready" : "");
	else
		snprintf(what, sizeof(what), "%s", why);
	log_info("%s: %s", s->ops->name, what);
	if (booting)
		with_console(s, what, reason, sizeof(reason));
	else
		snprintf(reason, sizeof(reason), "%s", what);
	supervisor_event(s, clean ? MACHINE_VMM_POWERED_OFF : MACHINE_VMM_DIED, reason);
	supervisor_look_for_end(s);
}

static void on_guest_event(void *arg, const char *what)
{
	struct supervisor *s = arg;
	char text[120], reason[SUPERVISOR_REASON_SIZE];
	snprintf(text, sizeof(text), "the guest crashed (%s)", what);
	with_console(s, text, reason, sizeof(reason));
	supervisor_event(s, MACHINE_GUEST_CRASHED, reason);
}

static void on_shutdown_answer(void *arg, const struct wire_agent_pong *pong, uint32_t rtt_us,
                               const struct err *e)
{
	struct supervisor *s = arg;
	(void)pong;
	(void)rtt_us;
	agent_ask_close(s->shutdown);
	s->shutdown = NULL;
	if (!e || !s->vmm_running)
		return;
	log_warn("the agent was asked to power off: %s; pressing the power button", e->msg);
	s->ops->power_down(s->vmm);
}

static void ask_agent(struct supervisor *s)
{
	struct err e = ERR_INIT;
	if (s->shutdown)
		return;
	s->shutdown = agent_shutdown(s->loop, s->places->vsock, on_shutdown_answer, s, &e);
	if (!s->shutdown)
		s->ops->power_down(s->vmm);
}

/* QEMU stops the CPUs too when the guest powers off; that is no pause. */
static void on_paused(void *arg, bool paused)
{
	struct supervisor *s = arg;
	struct vm_status *v = board_edit(s->board);
	if (v->paused == paused || (paused && s->state != MACHINE_READY))
		return;
	log_info("%s", paused ? "paused" : "goes on");
	v->paused = paused;
	board_changed(s->board);
	lookout_pause(s->lookout, paused);
	if (!paused && s->state == MACHINE_READY)
		health_check(s->health);
	else if (!paused && s->state == MACHINE_STOPPING)
		ask_agent(s);
}

static const struct backend_events VMM_EVENTS = {
    .on_exit = on_vmm_exit, .on_guest_event = on_guest_event, .on_paused = on_paused};

static void on_deadline(void *arg)
{
	struct supervisor *s = arg;
	char text[120], reason[SUPERVISOR_REASON_SIZE];
	snprintf(text, sizeof(text), "the guest was not ready within %llu s",
	         (unsigned long long)(s->spec->ready_timeout_ms / 1000));
	with_console(s, text, reason, sizeof(reason));
	supervisor_event(s, MACHINE_DEADLINE, reason);
}

static void on_grace(void *arg)
{
	struct supervisor *s = arg;
	char reason[120];
	snprintf(reason, sizeof(reason), "the guest did not power off within %u.%u s and was killed",
	         s->grace_ms / 1000, s->grace_ms % 1000 / 100);
	supervisor_event(s, MACHINE_GRACE_OVER, reason);
}

/* The guest sees its block devices in the order of the specification: layers, then the disk. */
static void put_cmdline(const struct supervisor *s, struct str *out)
{
	str_appendf(out, "ccvm.name=%s ccvm.layers=", s->spec->name);
	for (size_t i = 0; i < s->image.layer_count; i++)
		str_appendf(out, "%svd%c", i ? "," : "", LAYER_DEVICES[i]);
	str_appendf(out, " ccvm.disk=vd%c ccvm.time=%lld", LAYER_DEVICES[s->image.layer_count],
	            (long long)(clock_wall_ms() / 1000));
}

bool vmm_start(struct supervisor *s, struct err *e)
{
	struct str cmdline = STR_INIT(CMDLINE_MAX);
	put_cmdline(s, &cmdline);
	struct backend_spec spec = {
	    .vm = s->spec->name,
	    .kernel = s->image.kernel,
	    .initramfs = s->image.initramfs,
	    .layer_count = s->image.layer_count,
	    .disk = s->places->disk,
	    .cmdline = cmdline.s,
	    .console_log = s->places->console,
	    .run_dir = s->places->run_dir,
	    .vhost_socket = s->places->vhost,
	    .memory_bytes = s->spec->memory_bytes,
	    .cpus = s->spec->cpus,
	    .guest_cid = GUEST_CID,
	};
	for (size_t i = 0; i < s->image.layer_count; i++)
		spec.layers[i] = s->image.layers[i];
	unlink(s->places->console); /* the log of this boot */
	s->vmm = s->ops->start(s->loop, &spec, &VMM_EVENTS, s, e);
	str_finish(&cmdline);
	if (!s->vmm)
		return false;
	s->vmm_running = true;
	s->deadline = timer_create_on(s->loop, on_deadline, s);
	s->grace = timer_create_on(s->loop, on_grace, s);
	timer_once(s->deadline, s->spec->ready_timeout_ms);
	board_edit(s->board)->vmm_pid = (uint32_t)s->ops->pid(s->vmm);
	return true;
}

void vmm_ask_to_end(struct supervisor *s)
{
	timer_once(s->grace, s->grace_ms);
	if (board_status(s->board)->paused)
		s->ops->pause(s->vmm,
		              false); /* asked when it goes on: while it sleeps its agent cannot be reached */
	else
		ask_agent(s);
}

void vmm_kill(struct supervisor *s)
{
	if (s->deadline)
		timer_stop(s->deadline);
	if (s->grace)
		timer_stop(s->grace);
	agent_ask_close(s->shutdown);
	s->shutdown = NULL;
	if (s->vmm_running)
		s->ops->kill(s->vmm);
}

void vmm_close(struct supervisor *s)
{
	timer_close(s->deadline);
	timer_close(s->grace);
	if (s->vmm)
		s->ops->close(s->vmm);
	s->vmm = NULL;
}
