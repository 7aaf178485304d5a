/* The two programs beside the VMM. ccvm-vsock cannot be started again: QEMU does not reconnect to it. ccvm-proxy can, with
 * growing pauses; what the guest asks meanwhile is refused by the vsock device, because nobody listens. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/timer.h"
#include "core/supervisor/health.h"
#include "core/supervisor/helper.h"
#include "core/supervisor/live_policy.h"
#include "core/supervisor/supervisor_internal.h"

#define GUEST_CID       "3" /* every VM has a device of its own, so the number needs not differ */
#define VSOCK_GONE_MS   1000
#define PROXY_PAUSE_MS  200
#define PROXY_PAUSE_MAX 10000
#define PROXY_STEADY_MS 60000 /* after so long the pauses start small again */

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

/* ---- vsock device ---- */

static void on_vsock_line(void *arg, const char *line)
{
	struct supervisor *s = arg;
	if (strcmp(line, "ready") != 0)
		return;
	s->vsock_ready = true;
	supervisor_check_set_up(s);
}

static void on_vsock_error(void *arg, const char *line)
{
	(void)arg;
	log_info("ccvm-vsock: %s", line);
}

/* The device ends by itself when its VMM has: then the VMM's end is what counts, and it is about to be told. */
static void on_vsock_exit(void *arg, const char *why)
{
	struct supervisor *s = arg;
	log_info("%s", why);
	snprintf(s->vsock_why, sizeof(s->vsock_why), "the vsock device is gone: %s", why);
	helper_close(s->vsock);
	s->vsock = NULL;
	timer_once(s->vsock_gone, s->vmm_running ? VSOCK_GONE_MS : 0);
	supervisor_look_for_end(s);
}

static const struct helper_ops VSOCK_OPS = {
    .on_line = on_vsock_line, .on_error_line = on_vsock_error, .on_exit = on_vsock_exit};

static bool start_vsock(struct supervisor *s, struct err *e)
{
	const char *argv[] = {s->places->vsock_program, "--socket", s->places->vhost, "--uds",
	                      s->places->vsock,         "--cid",    GUEST_CID,        "--notify-fd",
	                      STRING(HELPER_NOTIFY_FD), NULL};
	s->vsock = helper_start(s->loop, "ccvm-vsock", argv, &VSOCK_OPS, s, e);
	return s->vsock != NULL;
}

/* ---- proxy ---- */

static void on_proxy_line(void *arg, const char *line)
{
	struct supervisor *s = arg;
	live_policy_proxy_line(s->policy, line);
	if (strcmp(line, "ready") != 0)
		return;
	s->proxy_ready = true;
	s->proxy_up_ms = clock_mono_ms();
	supervisor_check_set_up(s);
	supervisor_event(s, MACHINE_PROXY_UP, NULL);
}

static void on_proxy_error(void *arg, const char *line)
{
	struct supervisor *s = arg;
	snprintf(s->proxy_said, sizeof(s->proxy_said), "%s", line);
	log_info("ccvm-proxy: %s", line);
}

static void on_proxy_exit(void *arg, const char *why)
{
	struct supervisor *s = arg;
	char reason[SUPERVISOR_REASON_SIZE];
	log_info("%s", why);
	snprintf(reason, sizeof(reason), "the proxy does not run: %s%s%s", why, s->proxy_said[0] ? ": " : "",
	         s->proxy_said);
	if (s->proxy_ready && clock_mono_ms() - s->proxy_up_ms > PROXY_STEADY_MS)
		s->proxy_failures = 0;
	s->proxy_ready = false;
	helper_close(s->proxy);
	s->proxy = NULL;
	supervisor_event(s, MACHINE_PROXY_DIED, reason);
	supervisor_look_for_end(s);
}

static const struct helper_ops PROXY_OPS = {
    .on_line = on_proxy_line, .on_error_line = on_proxy_error, .on_exit = on_proxy_exit};

static bool start_proxy(struct supervisor *s, struct err *e)
{
	const char *argv[] = {s->places->proxy_program,
	                      "--listen",
	                      s->places->vsock_egress,
	                      "--policy",
	                      s->places->policy,
	                      "--audit",
	                      s->places->audit,
	                      "--vm",
	                      s->spec->name,
	                      "--notify-fd",
	                      STRING(HELPER_NOTIFY_FD),
	                      NULL};
	s->proxy_said[0] = '\0';
	s->proxy = helper_start(s->loop, "ccvm-proxy", argv, &PROXY_OPS, s, e);
	return s->proxy != NULL;
}

static void pause_before_proxy(struct supervisor *s)
{
	uint64_t pause = (uint64_t)PROXY_PAUSE_MS << MIN(s->proxy_failures, 10u);
	s->proxy_failures++;
	timer_once(s->proxy_again, MIN(pause, PROXY_PAUSE_MAX));
}

static void on_proxy_again(void *arg)
{
	struct supervisor *s = arg;
	struct err e = ERR_INIT;
	if (start_proxy(s, &e))
		return;
	log_error("%s", e.msg);
	pause_before_proxy(s);
}

void helpers_restart_proxy(struct supervisor *s)
{
	pause_before_proxy(s);
}

void helpers_reload_policy(void *supervisor)
{
	struct supervisor *s = supervisor;
	if (s->proxy)
		helper_signal(s->proxy, SIGHUP);
}

/* ---- both ---- */

static void on_vsock_gone(void *arg)
{
	struct supervisor *s = arg;
	supervisor_event(s, MACHINE_VSOCK_DIED, s->vsock_why);
}

bool helpers_start(struct supervisor *s, struct err *e)
{
	s->vsock_gone = timer_create_on(s->loop, on_vsock_gone, s);
	s->proxy_again = timer_create_on(s->loop, on_proxy_again, s);
	return start_vsock(s, e) && start_proxy(s, e);
}

void helpers_stop(struct supervisor *s)
{
	timer_stop(s->proxy_again);
	timer_stop(s->vsock_gone);
	if (s->vsock)
		helper_stop(s->vsock);
	if (s->proxy)
		helper_stop(s->proxy);
}

bool helpers_are_gone(const struct supervisor *s)
{
	return !s->vsock && !s->proxy;
}

void helpers_close(struct supervisor *s)
{
	timer_close(s->vsock_gone);
	timer_close(s->proxy_again);
	helper_close(s->vsock);
	helper_close(s->proxy);
	s->vsock = s->proxy = NULL;
}
