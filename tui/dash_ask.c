/* What VMs are asked, and the questions before it. */
#include <stdio.h>
#include <string.h>

#include "core/egress/rule.h"
#include "tui/dash_internal.h"

#define SHORT_SECONDS 600

/* "alpha", "alpha and beta", "alpha, beta and gamma". */
static void join(const struct names *n, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (size_t i = 0; i < n->count && used < size; i++) {
		const char *before = i == 0 ? "" : i + 1 == n->count ? " and " : ", ";
		used += (size_t)snprintf(out + used, size - used, "%s%s", before, n->all[i]);
	}
}

static void request(struct dash *d, enum dash_verb verb, const char *vm, uint32_t term, const char *text,
                    uint32_t seconds)
{
	struct dash_request r = {.verb = verb, .vm = vm, .term = term, .text = text, .seconds = seconds};
	d->ops->request(d->arg, &r);
}

static void ask(struct dash *d, enum action action)
{
	d->question.action = action;
}

static void begin(struct dash *d)
{
	d->question.action = ACTION_NONE;
	d->question.vms.count = d->question.running.count = 0;
	d->question.rule[0] = '\0';
}

/* A supervisor that does not answer does what it was asked whenever it wakes, which nobody wants by then. */
bool dash_answers(struct dash *d, const struct fleet_vm *vm)
{
	char key[KEYMAP_KEYS_SIZE];
	if (!vm->hangs)
		return true;
	keymap_key_of(&d->settings->keymap, ACTION_KILL, KEYS_ALL, key);
	dash_noticef(d, "%s does not answer; %s ends it", vm->status.name, key[0] ? key : ":kill");
	return false;
}

/* ---- rules ---- */

/* The rule that was typed, for the marked VMs or the selected one; or the narrowest one for the refusal under the cursor or the
 * newest one of the selected VM, for its VM. */
static bool find_rule(struct dash *d, struct view *v, const char *text, struct err *e)
{
	struct question *q = &d->question;
	if (text[0]) {
		struct rule rule;
		if (!rule_parse_host(RULE_ALLOW, text, strlen(text), &rule, e))
			return false;
		rule_format_target(&rule, q->rule);
		dash_targets(d, v, &q->vms);
		return true;
	}
	const struct feed_row *row = d->in_feed ? dash_feed_row(d) : feed_rows_newest(&d->feed, d->selected);
	if (!row)
		return err_set(e, ERR_NOT_FOUND, "nothing was refused here");
	if (!feed_row_rule(row, q->rule, e))
		return false;
	names_add(&q->vms, row->entry->vm);
	return true;
}

void dash_ask_rule(struct dash *d, struct view *v, enum action action, const char *text)
{
	struct err e = ERR_INIT;
	struct question *q = &d->question;
	char vms[1024];
	begin(d);
	if (action == ACTION_DENY && !text[0]) {
		dash_notice(d, "which one? deny HOST[:PORT]");
		return;
	}
	if (!find_rule(d, v, text, &e)) {
		dash_notice(d, e.msg);
		return;
	}
	if (q->vms.count == 0) {
		dash_notice(d, "there is no VM to do it for");
		return;
	}
	for (size_t i = q->vms.count; i > 0; i--) {
		const struct fleet_vm *vm = dash_find_vm(v, q->vms.all[i - 1]);
		if (vm && !dash_answers(d, vm))
			names_remove(&q->vms, q->vms.all[i - 1]);
	}
	if (q->vms.count == 0)
		return;
	join(&q->vms, vms, sizeof(vms));
	const char *verb = action == ACTION_DENY ? "deny" : "allow";
	const char *how = action == ACTION_ALLOW_SHORT   ? ", 10 minutes"
	                  : action == ACTION_ALLOW_WRITE ? " and, in ccvm.ini, for every new VM"
	                                                 : "";
	snprintf(q->text, sizeof(q->text), "%s %s for %s%s? y/n", verb, q->rule, vms, how);
	ask(d, action);
}

/* ---- things to do with VMs ---- */

static bool is_live(const struct fleet_vm *vm)
{
	return vm_state_is_live(vm->status.state);
}

static bool is_ready(const struct fleet_vm *vm)
{
	return vm->status.state == VM_READY;
}

static bool is_any(const struct fleet_vm *vm)
{
	(void)vm;
	return true;
}

static const struct vm_action {
	enum action action;
	bool (*fits)(const struct fleet_vm *vm);
	const char *verb;
	const char *none; /* why it is for none of them */
	bool hanging;     /* also for one that does not answer */
} VM_ACTIONS[] = {
    {ACTION_STOP, is_live, "stop", "does not run", false},
    {ACTION_KILL, is_live, "kill (end at once)", "does not run", true},
    {ACTION_RESTART, is_any, "restart", "", false},
    {ACTION_REMOVE, is_any, "remove", "", true},
    {ACTION_INTERRUPT, is_ready, "interrupt (C-c)", "has no terminal", false},
    {ACTION_CLOSE_SHELL, is_ready, "end terminal", "has no terminal", false},
};

static const struct vm_action *vm_action_of(enum action action)
{
	for (size_t i = 0; i < ARRAY_LEN(VM_ACTIONS); i++) {
		if (VM_ACTIONS[i].action == action)
			return &VM_ACTIONS[i];
	}
	return NULL;
}

/* Those that it makes sense for. */
static void choose_targets(struct dash *d, struct view *v, const struct vm_action *a)
{
	struct names wanted = {0};
	bool fits = false;
	dash_targets(d, v, &wanted);
	for (size_t i = 0; i < wanted.count; i++) {
		const struct fleet_vm *vm = dash_find_vm(v, wanted.all[i]);
		if (!vm || !a->fits(vm))
			continue;
		fits = true;
		if (!a->hanging && !dash_answers(d, vm))
			continue;
		names_add(&d->question.vms, wanted.all[i]);
		if (is_live(vm))
			names_add(&d->question.running, wanted.all[i]);
	}
	if (!fits && wanted.count > 0)
		dash_noticef(d, "%s %s", wanted.count == 1 ? wanted.all[0] : "each of them", a->none);
	names_finish(&wanted);
}

/* The number of the terminal that is shown of the selected VM; 0: it has none. */
static uint32_t shown_number(const struct dash *d, const struct view *v)
{
	const struct pane_source *p = dash_pane_of(d, v, v->vm);
	if (v->term || !v->vm)
		return v->term;
	for (uint32_t i = 0; i < v->vm->status.terminal_count; i++) {
		if (v->vm->status.terminal[i].first)
			return v->vm->status.terminal[i].number;
	}
	return p && p->link == PANE_LIVE ? p->term : 0;
}

static void ask_close(struct dash *d, struct view *v)
{
	struct question *q = &d->question;
	q->term = shown_number(d, v);
	if (!v->vm || !is_ready(v->vm) || q->term == 0) {
		dash_notice(d, "there is no terminal to end");
		return;
	}
	if (!dash_answers(d, v->vm))
		return;
	names_add(&q->vms, d->selected);
	snprintf(q->text, sizeof(q->text), "end terminal %u of %s and the program in it? y/n", q->term,
	         d->selected);
	ask(d, ACTION_CLOSE_SHELL);
}

/* What runs is not only removed but ended, and its work lost: the question says so. */
static void ask_remove(struct question *q)
{
	char vms[1000], running[1000];
	const char *their = q->vms.count == 1 ? "its disk" : "their disks";
	join(&q->vms, vms, sizeof(vms));
	join(&q->running, running, sizeof(running));
	const char *runs = q->running.count == 1 ? "runs" : "run";
	const char *it = q->running.count == 1 ? "it" : "them";
	if (q->running.count == 0)
		snprintf(q->text, sizeof(q->text), "remove %s with %s and logs? y/n", vms, their);
	else if (q->running.count == q->vms.count)
		snprintf(q->text, sizeof(q->text), "%s %s: end %s and remove %s and logs? y/n", vms, runs, it,
		         their);
	else
		snprintf(q->text, sizeof(q->text), "%s %s: end %s, and remove %s with %s and logs? y/n",
		         running, runs, it, vms, their);
}

void dash_ask_vms(struct dash *d, struct view *v, enum action action)
{
	const struct vm_action *a = vm_action_of(action);
	char vms[1500];
	begin(d);
	if (action == ACTION_CLOSE_SHELL) {
		ask_close(d, v);
		return;
	}
	choose_targets(d, v, a);
	if (d->question.vms.count == 0)
		return;
	join(&d->question.vms, vms, sizeof(vms));
	if (action == ACTION_REMOVE)
		ask_remove(&d->question);
	else
		snprintf(d->question.text, sizeof(d->question.text), "%s %s? y/n", a->verb, vms);
	ask(d, action);
}

/* ---- what a yes does ---- */

static void run(struct dash *d, const char *command, const char *vm, const char *option)
{
	const char *const argv[] = {command, vm, option, NULL};
	d->ops->run(d->arg, argv);
}

/* The command also ends a supervisor that does not listen. */
static void end_vm(struct dash *d, const struct fleet_vm *vm)
{
	if (vm->hangs)
		run(d, "kill", vm->status.name, NULL);
	else
		request(d, DASH_KILL, vm->status.name, 0, NULL, 0);
}

static void do_to_vm(struct dash *d, struct view *v, const char *name)
{
	const struct question *q = &d->question;
	const struct fleet_vm *vm = dash_find_vm(v, name);
	if (!vm) {
		dash_noticef(d, "%s is gone", name);
		return;
	}
	switch ((int)q->action) {
	case ACTION_ALLOW:
	case ACTION_ALLOW_WRITE: request(d, DASH_ALLOW, name, 0, q->rule, 0); break;
	case ACTION_ALLOW_SHORT: request(d, DASH_ALLOW, name, 0, q->rule, SHORT_SECONDS); break;
	case ACTION_DENY: request(d, DASH_DENY, name, 0, q->rule, 0); break;
	case ACTION_STOP: request(d, DASH_STOP, name, 0, NULL, 0); break;
	case ACTION_KILL: end_vm(d, vm); break;
	case ACTION_INTERRUPT: request(d, DASH_INTERRUPT, name, dash_term_of(d, vm), NULL, 0); break;
	case ACTION_CLOSE_SHELL: request(d, DASH_HANG_UP, name, q->term, NULL, 0); break;
	case ACTION_RESTART: run(d, is_live(vm) ? "restart" : "up", name, NULL); break;
	case ACTION_REMOVE: /* one that was started since then is not ended by this yes */
		run(d, "rm", name, names_has(&q->running, name) ? "--force" : NULL);
		break;
	default: break;
	}
}

void dash_answer(struct dash *d, struct view *v, uint32_t key, unsigned mods)
{
	struct question *q = &d->question;
	bool yes = (key == 'y' || key == 'Y') && !(mods & (TERM_ALT | TERM_CTRL));
	bool no = key == 'n' || key == 'N' || key == 'q' || key == TERM_KEY_ESCAPE ||
	          (key == 'c' && mods == TERM_CTRL);
	if (!yes && !no)
		return; /* still asking */
	if (!yes)
		dash_notice(d, "nothing was done");
	for (size_t i = 0; i < q->vms.count && yes; i++)
		do_to_vm(d, v, q->vms.all[i]);
	if (yes && q->action == ACTION_ALLOW_WRITE)
		d->ops->write_allow(d->arg, q->rule);
	begin(d);
}

/* ---- without a question ---- */

/* All of them stand still afterwards, or, when they did so before, all go on. */
void dash_pause(struct dash *d, struct view *v)
{
	struct names targets = {0};
	bool pause = false, any = false;
	dash_targets(d, v, &targets);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < targets.count; i++) {
			const struct fleet_vm *vm = dash_find_vm(v, targets.all[i]);
			if (!vm || !is_ready(vm))
				continue;
			any = true;
			if (!dash_answers(d, vm))
				continue;
			if (pass == 0)
				pause = pause || !vm->status.paused;
			else
				request(d, pause ? DASH_PAUSE : DASH_RESUME, targets.all[i], 0, NULL, 0);
		}
	}
	if (!any && targets.count > 0)
		dash_noticef(d, "%s is not ready", targets.all[0]);
	names_finish(&targets);
}

void dash_send(struct dash *d, struct view *v, const char *text)
{
	struct names targets = {0};
	size_t sent = 0;
	bool hangs = false;
	dash_targets(d, v, &targets);
	for (size_t i = 0; i < targets.count && text[0]; i++) {
		const struct fleet_vm *vm = dash_find_vm(v, targets.all[i]);
		if (!vm || !is_ready(vm))
			continue;
		hangs = !dash_answers(d, vm);
		if (hangs)
			continue;
		request(d, DASH_SEND, targets.all[i], dash_term_of(d, vm), text, 0);
		sent++;
	}
	if (sent == 0 && !hangs)
		dash_notice(d, "nothing was sent");
	names_finish(&targets);
}
