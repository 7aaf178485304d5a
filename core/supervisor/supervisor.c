/* Everything that happens comes through supervisor_event: it asks the table (machine.h), records the new state and does the
 * one action that belongs to it. Only FINISH ends `s`, and it is reached from the `gone` timer alone, so whoever reports
 * an event need not fear for what it stands on. */
#include "core/supervisor/supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/escape.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/child.h"
#include "core/loop/timer.h"
#include "core/supervisor/audit_count.h"
#include "core/supervisor/board.h"
#include "core/supervisor/control.h"
#include "core/supervisor/guest_events.h"
#include "core/supervisor/health.h"
#include "core/supervisor/live_policy.h"
#include "core/supervisor/lookout.h"
#include "core/supervisor/setup.h"
#include "core/supervisor/supervisor_internal.h"
#include "core/supervisor/terminals.h"
#include "core/supervisor/vitals.h"
#include "core/vm/store.h"

/* ---- status ---- */

static void store_status(struct supervisor *s)
{
	struct err e = ERR_INIT;
	struct store_status record = {.status = *board_status(s->board), .supervisor_start = s->start_time};
	if (!store_write_status(s->places->state_dir, &record, &e))
		log_error("%s", e.msg);
}

static void set_reason(struct supervisor *s, const char *text)
{
	struct vm_status *v = board_edit(s->board);
	snprintf(v->reason, sizeof(v->reason), "%s", text);
	board_changed(s->board);
}

void supervisor_progress(struct supervisor *s, const char *text)
{
	if (s->state != MACHINE_CREATING && s->state != MACHINE_BOOTING)
		return;
	log_info("%s", text);
	set_reason(s, text);
}

static void show_state(struct supervisor *s)
{
	struct vm_status *v = board_edit(s->board);
	v->state = machine_public_state(s->state);
	if (s->state == MACHINE_READY) {
		v->ready_ms = clock_wall_ms();
		v->reason[0] = '\0';
	} else if (s->state >= MACHINE_STOPPING) {
		snprintf(v->reason, sizeof(v->reason), "%s", s->reason);
		v->egress = VM_EGRESS_UNKNOWN;
	}
	v->paused = v->paused && vm_state_is_live(v->state);
	if (!vm_state_is_live(v->state))
		lookout_end(s->lookout,
		            v->state == VM_FAILED ? ATTENTION_FAILED
		            : s->left             ? ATTENTION_FINISHED
		                                  : ATTENTION_NONE,
		            v->reason);
	board_changed(s->board);
	store_status(s);
}

/* ---- actions ---- */

static void start_vmm(struct supervisor *s)
{
	struct err e = ERR_INIT;
	supervisor_progress(s, "booting the guest");
	if (!vmm_start(s, &e))
		supervisor_event(s, MACHINE_SETUP_FAILED, e.msg);
}

static void greet(struct supervisor *s)
{
	timer_stop(s->deadline);
	health_check(s->health);
}

static void ask_guest(struct supervisor *s)
{
	health_stop(s->health);
	vmm_ask_to_end(s);
}

static void tear_down(struct supervisor *s)
{
	health_stop(s->health);
	setup_cancel(s->setup);
	s->setup = NULL;
	vmm_kill(s);
	helpers_stop(s);
	supervisor_look_for_end(s);
}

static void restart_proxy(struct supervisor *s)
{
	if (s->state == MACHINE_READY)
		health_note_broken(s->health, "the proxy has ended and is being started again");
	helpers_restart_proxy(s);
}

static void check_egress(struct supervisor *s)
{
	health_check(s->health);
}

/* The order matters: who is told that the VM is over finds neither socket nor folder, and can start it again. */
static void finish(struct supervisor *s)
{
	struct err e = ERR_INIT;
	bool failed = s->state == MACHINE_FAILED;
	control_stop_listening(s->control);
	guest_events_close(s->events);
	if (!places_release(s->places, &e))
		log_error("%s", e.msg);
	board_flush(s->board);
	control_close(s->control);
	terminals_destroy(s->terminals);
	live_policy_destroy(s->policy);
	lookout_destroy(s->lookout);
	vitals_destroy(s->vitals);
	health_destroy(s->health);
	audit_count_close(s->audit);
	helpers_close(s);
	vmm_close(s);
	image_finish(&s->image);
	timer_close(s->gone);
	board_destroy(s->board);
	void (*on_over)(void *arg, bool failed) = s->on_over;
	void *arg = s->arg;
	free(s);
	on_over(arg, failed);
}

static void (*const ACTIONS[])(struct supervisor *s) = {
    [MACHINE_NOTHING] = NULL,
    [MACHINE_START_VMM] = start_vmm,
    [MACHINE_GREET] = greet,
    [MACHINE_ASK_GUEST] = ask_guest,
    [MACHINE_TEAR_DOWN] = tear_down,
    [MACHINE_RESTART_PROXY] = restart_proxy,
    [MACHINE_CHECK_EGRESS] = check_egress,
    [MACHINE_FINISH] = finish,
};
static_assert(ARRAY_LEN(ACTIONS) == MACHINE_ACTION_COUNT, "every action can be done");

void supervisor_event(struct supervisor *s, enum machine_event event, const char *why)
{
	struct machine_step step = machine_step(s->state, event);
	if (step.verdict == MACHINE_BUG)
		BUG("event '%s' in state '%s'", machine_event_name(event), machine_state_name(s->state));
	log_debug("event '%s' in state '%s'%s", machine_event_name(event), machine_state_name(s->state),
	          step.verdict == MACHINE_IGNORED ? ": ignored" : "");
	if (step.verdict == MACHINE_IGNORED)
		return;
	if (step.next != s->state) {
		if (why && !s->reason[0] && step.next >= MACHINE_STOPPING)
			snprintf(s->reason, sizeof(s->reason), "%s", why);
		log_info("%s -> %s%s%s", machine_state_name(s->state), machine_state_name(step.next),
		         why ? ": " : "", why ? why : "");
		s->state = step.next;
		show_state(s);
	}
	if (ACTIONS[step.action])
		ACTIONS[step.action](s);
}

/* ---- events ---- */

static void on_progress(void *arg, const char *text)
{
	supervisor_progress(arg, text);
}

static void on_set_up(void *arg, const struct setup_result *r, const struct err *e)
{
	struct supervisor *s = arg;
	s->setup = NULL;
	if (e) {
		supervisor_event(s, MACHINE_SETUP_FAILED, e->msg);
		return;
	}
	s->image = r->image;
	s->ops = r->backend.ops;
	s->set_up = true;
	struct vm_status *v = board_edit(s->board);
	snprintf(v->backend, sizeof(v->backend), "%s", s->ops->name);
	supervisor_progress(s, r->backend.why[0] ? r->backend.why : s->ops->name);
	supervisor_check_set_up(s);
}

static const struct setup_ops SETUP_OPS = {.on_progress = on_progress, .on_done = on_set_up};

void supervisor_check_set_up(struct supervisor *s)
{
	if (s->state == MACHINE_CREATING && s->set_up && s->vsock_ready && s->proxy_ready)
		supervisor_event(s, MACHINE_SET_UP, NULL);
}

static void on_guest_ready(void *arg, const struct wire_event_ready *m)
{
	struct supervisor *s = arg;
	char kernel[128], boot[80];
	escape_text(kernel, sizeof(kernel), m->kernel, strlen(m->kernel));
	escape_text(boot, sizeof(boot), m->boot_id, strlen(m->boot_id));
	log_info("guest ready: kernel %s, boot %s, up %llu ms%s", kernel, boot,
	         (unsigned long long)m->uptime_ms, m->relay_listening ? "" : ", relay does not listen");
	supervisor_event(s, MACHINE_GUEST_READY, NULL);
}

/* The guest program is part of the image. Later it is one program of the guest that says so, and an incident is enough. */
static void on_other_version(void *arg)
{
	struct supervisor *s = arg;
	char why[SUPERVISOR_REASON_SIZE];
	snprintf(why, sizeof(why),
	         "image %s was made for another version of ccvm; build it again: ccvm image build %s",
	         s->spec->image, s->spec->image);
	supervisor_event(s, MACHINE_OTHER_VERSION, why);
}

static void on_incident(void *arg, const char *text)
{
	(void)arg;
	log_info("incident: %s", text);
}

static void on_notify(void *arg, const struct wire_event_notify *m)
{
	struct supervisor *s = arg;
	lookout_notify(s->lookout, m);
}

static const struct guest_events_ops EVENTS_OPS = {.on_ready = on_guest_ready,
                                                   .on_other_version = on_other_version,
                                                   .on_notify = on_notify,
                                                   .on_incident = on_incident};

static void on_audit(void *arg, uint32_t denied, uint32_t tunnels)
{
	struct supervisor *s = arg;
	struct vm_status *v = board_edit(s->board);
	v->denied = denied;
	v->denied_seen = MIN(v->denied_seen, denied); /* the log was begun anew */
	v->tunnels = tunnels;
	board_changed(s->board);
}

/* What the operator has seen is the VM's: every console and the next one know. */
static void on_seen(void *arg, bool attention, bool denied)
{
	struct supervisor *s = arg;
	struct vm_status *v = board_edit(s->board);
	bool news = (attention && !v->attention.seen) || (denied && v->denied_seen != v->denied);
	if (attention)
		lookout_seen(s->lookout);
	if (denied)
		v->denied_seen = v->denied;
	board_changed(s->board);
	if (news)
		store_status(s);
}

static void on_stop(void *arg, uint32_t grace_ms)
{
	struct supervisor *s = arg;
	s->grace_ms = MIN(grace_ms, SUPERVISOR_GRACE_MAX);
	supervisor_event(s, MACHINE_STOP_ASKED, NULL);
}

static void on_kill(void *arg)
{
	supervisor_event(arg, MACHINE_KILL_ASKED, "killed");
}

static void on_pause(void *arg, bool paused)
{
	struct supervisor *s = arg;
	if (s->vmm_running)
		s->ops->pause(s->vmm, paused);
}

static void on_gone_timer(void *arg)
{
	struct supervisor *s = arg;
	if (!s->vmm_running && helpers_are_gone(s))
		supervisor_event(s, MACHINE_ALL_GONE, NULL);
}

void supervisor_look_for_end(struct supervisor *s)
{
	if (s->state == MACHINE_ENDING || s->state == MACHINE_FAILING)
		timer_once(s->gone, 0); /* from the loop: who ended may be in the middle of something */
}

void supervisor_interrupt(struct supervisor *s)
{
	if (s->interrupted) {
		supervisor_event(s, MACHINE_KILL_ASKED, "interrupted twice");
		return;
	}
	s->interrupted = true;
	on_stop(s, SUPERVISOR_GRACE_MS);
}

/* ---- start ---- */

/* What was seen in earlier lives of the VM stays seen. */
static uint32_t seen_before(const struct supervisor *s)
{
	struct store_status old;
	struct err e = ERR_INIT;
	return store_read_status(s->places->state_dir, &old, &e) ? old.status.denied_seen : 0;
}

static struct board *make_board(struct supervisor *s)
{
	struct vm_status v = {.state = VM_CREATING,
	                      .started_ms = clock_wall_ms(),
	                      .supervisor_pid = (uint32_t)getpid(),
	                      .cpus = s->spec->cpus,
	                      .memory_bytes = s->spec->memory_bytes,
	                      .denied_seen = seen_before(s),
	                      .generation = 1};
	snprintf(v.name, sizeof(v.name), "%s", s->spec->name);
	snprintf(v.image, sizeof(v.image), "%s", s->spec->image);
	snprintf(v.backend, sizeof(v.backend), "%s", s->spec->backend);
	return board_create(s->loop, &v);
}

static void make_parts(struct supervisor *s)
{
	s->gone = timer_create_on(s->loop, on_gone_timer, s);
	s->board = make_board(s);
	s->health = health_create(s->loop, s->board, s->places->vsock, s->places->vsock_egress);
	s->vitals = vitals_create(s->loop, s->board, s->places->vsock);
	s->policy = live_policy_create(s->loop, s->places->policy, helpers_reload_policy, s);
	s->lookout = lookout_create(s->loop, s->board);
	s->terminals = terminals_create(s->loop, s->board, s->places->vsock, &LOOKOUT_TERMINALS, s->lookout);
	s->session_host = (struct session_host){
	    .loop = s->loop,
	    .board = s->board,
	    .health = s->health,
	    .policy = s->policy,
	    .terminals = s->terminals,
	    .vitals = s->vitals,
	    .vsock_path = s->places->vsock,
	    .on_stop = on_stop,
	    .on_kill = on_kill,
	    .on_pause = on_pause,
	    .on_seen = on_seen,
	    .arg = s,
	};
}

/* Undoes supervisor_start as far as it came. */
static void give_up(struct supervisor *s)
{
	helpers_close(s);
	control_close(s->control);
	guest_events_close(s->events);
	audit_count_close(s->audit);
	terminals_destroy(s->terminals);
	live_policy_destroy(s->policy);
	lookout_destroy(s->lookout);
	vitals_destroy(s->vitals);
	health_destroy(s->health);
	timer_close(s->gone);
	board_destroy(s->board);
	free(s);
}

struct supervisor *supervisor_start(struct loop *loop, const struct places *places,
                                    const struct vm_spec *spec, void (*on_over)(void *arg, bool failed),
                                    void *arg, struct err *e)
{
	struct supervisor *s = mem_alloc(sizeof(*s));
	s->loop = loop;
	s->places = places;
	s->spec = spec;
	s->on_over = on_over;
	s->arg = arg;
	s->start_time = child_start_time(getpid());
	make_parts(s);
	s->events = guest_events_open(loop, places->vsock_events, &EVENTS_OPS, s, e);
	s->audit = s->events ? audit_count_open(loop, places->audit, on_audit, s, e) : NULL;
	s->control = s->audit ? control_open(loop, places->control, &s->session_host, e) : NULL;
	if (!s->control || !helpers_start(s, e)) {
		give_up(s);
		return NULL;
	}
	store_status(s);
	supervisor_progress(s, "checking the image");
	s->setup = setup_start(loop, places, spec, &SETUP_OPS, s);
	return s;
}
