#include "core/client/fleet.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/dirwatch.h"
#include "core/config/paths.h"
#include "core/loop/child.h"
#include "core/loop/timer.h"
#include "core/vm/store.h"

/* Where the truth comes from, per VM:
 *
 *     connected: the supervisor says it (its watch).
 *     not connected: status.json says it. It is looked at again when the state folder tells of a change. If it says that
 *     the VM lives, the recorded supervisor (pid and start time) decides: gone means failed; alive means that it is just
 *     starting or ending, and connecting is tried again soon.
 *
 * The state folder of a VM is watched only while nobody is connected: console and audit logs grow in it too, and a busy
 * VM shall not wake the dashboard for each of its lines. */

#define RETRY_FIRST_MS 100
#define RETRY_MOST_MS  2000

struct member {
	struct fleet_vm vm;
	struct fleet *fleet;
	char *state_dir; /* owned */
	ino_t inode;     /* of the folder: another one is another VM of the same name */
	struct dirwatch *watch;
	struct timer *retry;
	unsigned retry_ms;
	uint64_t asked_ms; /* monotonic; 0: never */
	bool asking;       /* the answer is not there yet */
	char refusal[401]; /* why a supervisor that lives cannot be talked to; "" */
	bool seen;         /* by the scan that runs */
};

struct fleet {
	struct loop *loop; /* keeps */
	void (*on_change)(void *arg);
	void *arg;
	char *state_dir; /* owned */
	struct dirwatch *watch;
	struct timer *change;    /* runs when on_change is due */
	struct member **members; /* owned, by name */
	size_t count;
};

static void look(struct member *m);
static void connect_member(struct member *m);

static void changed(struct fleet *f)
{
	if (!timer_is_active(f->change))
		timer_once(f->change, 0);
}

static void on_change_due(void *arg)
{
	struct fleet *f = arg;
	f->on_change(f->arg);
}

/* ---- one VM that is not connected ---- */

static void on_state_event(void *arg, const char *name)
{
	struct member *m = arg;
	if (!m->vm.client && (name[0] == '\0' || strcmp(name, STORE_STATUS_FILE) == 0))
		look(m);
}

static void on_retry(void *arg)
{
	look(arg);
}

static bool supervisor_lives(const struct store_status *s)
{
	pid_t pid = (pid_t)s->status.supervisor_pid;
	return pid > 0 && s->supervisor_start && child_start_time(pid) == s->supervisor_start;
}

/* What nobody was there to write down. When it was is known only to who saw it live before. */
static void tell_death(const struct member *m, struct vm_status *st)
{
	const struct vm_status *before = &m->vm.status;
	snprintf(st->reason, sizeof(st->reason), "its supervisor died (it was %s)", vm_state_name(st->state));
	st->state = VM_FAILED;
	st->egress = VM_EGRESS_UNKNOWN;
	st->attention = (struct vm_attention){.state = ATTENTION_FAILED, .source = ATTENTION_BY_EXIT};
	memcpy(st->attention.text, st->reason, sizeof(st->attention.text) - 1);
	if (before->state == VM_FAILED)
		st->attention.at_ms = before->attention.at_ms;
	else if (m->vm.settled && vm_state_is_live(before->state))
		st->attention.at_ms = clock_wall_ms();
}

/* The status of a VM from its files alone. Returns true when a supervisor lives. */
static bool read_recorded(const struct member *m, struct vm_status *out)
{
	struct store_status stored;
	struct vm_spec spec;
	struct err e = ERR_INIT;
	struct vm_status st = {.state = VM_STOPPED};
	snprintf(st.name, sizeof(st.name), "%s", m->vm.status.name);
	bool alive = false;
	if (store_read_status(m->state_dir, &stored, &e)) {
		st = stored.status;
		alive = supervisor_lives(&stored);
		if (!alive && vm_state_is_live(st.state))
			tell_death(m, &st);
	} else if (e.kind == ERR_NOT_FOUND) {
		err_clear(&e);
		if (store_read_spec(m->state_dir, &spec, &e)) {
			memcpy(st.image, spec.image, sizeof(st.image));
			st.cpus = spec.cpus;
			st.memory_bytes = spec.memory_bytes;
			snprintf(st.reason, sizeof(st.reason), "never started");
		} else {
			st.state = VM_FAILED;
			snprintf(st.reason, sizeof(st.reason), "%.400s", e.msg);
		}
	} else {
		st.state = VM_FAILED;
		snprintf(st.reason, sizeof(st.reason), "%.400s", e.msg);
	}
	*out = st;
	return alive;
}

static void look(struct member *m)
{
	struct err e = ERR_INIT;
	if (!m->watch) /* first the watch, then the look: a change in between is seen */
		m->watch = dirwatch_open(m->fleet->loop, m->state_dir, on_state_event, m, &e);
	struct vm_status st;
	bool alive = read_recorded(m, &st);
	if (alive) {
		if (m->refusal[0])
			memcpy(st.reason, m->refusal, sizeof(st.reason));
		connect_member(m);
		if (!m->vm.client)
			m->vm.settled = true;
	} else {
		m->refusal[0] = '\0';
		m->vm.deaf = false;
		timer_stop(m->retry);
		m->retry_ms = RETRY_FIRST_MS;
		m->vm.settled = true;
	}
	m->vm.status = st;
	changed(m->fleet);
}

/* ---- one VM that is connected ---- */

static void try_again(struct member *m)
{
	timer_once(m->retry, m->retry_ms);
	m->retry_ms = MIN(m->retry_ms * 2, RETRY_MOST_MS);
}

static void disconnect(struct member *m)
{
	m->asking = false;
	m->vm.hangs = false;
	client_close(m->vm.client);
	m->vm.client = NULL;
}

static void on_client_closed(void *arg, const struct err *e)
{
	struct member *m = arg;
	disconnect(m);
	struct vm_status st;
	bool alive = read_recorded(m, &st);
	m->refusal[0] = '\0';
	if (alive && e->kind != ERR_NOT_FOUND &&
	    e->kind != ERR_GONE) { /* another version, no answer: say so */
		snprintf(m->refusal, sizeof(m->refusal), "%.400s", e->msg);
		memcpy(st.reason, m->refusal, sizeof(st.reason));
	}
	m->vm.status = st;
	m->vm.settled = true;
	m->vm.hangs = alive && e->kind == ERR_TIMEOUT;
	m->vm.deaf = alive && e->kind == ERR_NOT_FOUND;
	if (alive)
		try_again(m);
	if (!m->watch) {
		struct err ignored = ERR_INIT; /* the timer looks as well */
		m->watch = dirwatch_open(m->fleet->loop, m->state_dir, on_state_event, m, &ignored);
	}
	changed(m->fleet);
}

static const struct client_ops CLIENT_OPS = {.on_closed = on_client_closed};

static void on_status(void *arg, const struct vm_status *status, const struct err *e)
{
	struct member *m = arg;
	if (e) { /* on_client_closed follows when the connection broke */
		m->vm.settled = true;
		changed(m->fleet);
		return;
	}
	m->vm.status = *status;
	m->vm.settled = true;
	m->vm.deaf = false;
	m->retry_ms = RETRY_FIRST_MS;
	m->asking = false;
	m->vm.hangs = false;
	m->refusal[0] = '\0';
	dirwatch_close(m->watch);
	m->watch = NULL;
	changed(m->fleet);
}

static void connect_member(struct member *m)
{
	struct err e = ERR_INIT;
	if (m->vm.client)
		return;
	timer_stop(m->retry);
	m->vm.client = client_connect(m->fleet->loop, m->vm.status.name, &CLIENT_OPS, m, &e);
	if (!m->vm.client) {
		try_again(m);
		return;
	}
	client_watch(m->vm.client, on_status, m);
	m->asking = true; /* whether it answers at all */
	m->asked_ms = clock_mono_ms();
}

/* ---- does it still answer? ---- */

/* Everything that it says answers: also the status that came by itself. An error is the time limit of the question, after which
 * it is asked again, or the end of the connection. */
static void on_answer(void *arg, const struct vm_status *status, const struct err *e)
{
	struct member *m = arg;
	(void)e;
	if (status && m->vm.hangs)
		changed(m->fleet);
	m->asking = false;
	if (status)
		m->vm.hangs = false;
}

static void look_after(struct member *m, uint64_t now)
{
	if (!m->vm.client)
		return;
	if (!m->asking && now - m->asked_ms >= FLEET_ASK_MS) {
		m->asking = true;
		m->asked_ms = now;
		client_status(m->vm.client, on_answer, m);
	} else if (m->asking && !m->vm.hangs && now - m->asked_ms >= FLEET_HANGS_MS) {
		m->vm.hangs = true;
		changed(m->fleet);
	}
}

static struct member *member_create(struct fleet *f, const char *name)
{
	struct member *m = mem_alloc(sizeof(*m));
	m->fleet = f;
	m->state_dir = paths_join(f->state_dir, name);
	m->retry = timer_create_on(f->loop, on_retry, m);
	m->retry_ms = RETRY_FIRST_MS;
	snprintf(m->vm.status.name, sizeof(m->vm.status.name), "%s", name);
	return m;
}

static void member_destroy(struct member *m)
{
	disconnect(m);
	dirwatch_close(m->watch);
	timer_close(m->retry);
	free(m->state_dir);
	free(m);
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b)
{
	const struct member *const *x = a, *const *y = b;
	return strcmp((*x)->vm.status.name, (*y)->vm.status.name);
}

static struct member *find(const struct fleet *f, const char *name)
{
	for (size_t i = 0; i < f->count; i++) { /* tens of VMs: no need for more */
		if (strcmp(f->members[i]->vm.status.name, name) == 0)
			return f->members[i];
	}
	return NULL;
}

/* A description makes a folder a VM. What is being made or thrown away has a name that no VM can have. The inode of the
 * folder, 0 when it is no VM's. */
static ino_t vm_folder_inode(const struct fleet *f, const char *name)
{
	struct err ignored = ERR_INIT;
	struct stat st;
	if (!parse_name("VM name", name, &ignored))
		return 0;
	char *dir FREE_ON_EXIT = paths_join(f->state_dir, name);
	char *spec FREE_ON_EXIT = paths_join(dir, STORE_SPEC_FILE);
	return access(spec, F_OK) == 0 && stat(dir, &st) == 0 ? st.st_ino : 0;
}

static void add_or_mark(struct fleet *f, const char *name)
{
	ino_t inode = vm_folder_inode(f, name);
	struct member *m = find(f, name);
	if (!inode || (m && m->inode == inode)) {
		if (inode)
			m->seen = true;
		return;
	}
	m = member_create(f, name);
	m->inode = inode;
	m->seen = true;
	f->members = mem_resize(f->members, f->count + 1, sizeof(struct member *));
	f->members[f->count++] = m;
	look(m);
}

static void remove_unseen(struct fleet *f)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->count; i++) {
		if (f->members[i]->seen)
			f->members[kept++] = f->members[i];
		else
			member_destroy(f->members[i]);
	}
	if (kept != f->count)
		changed(f);
	f->count = kept;
}

void fleet_rescan(struct fleet *f)
{
	DIR *d = opendir(f->state_dir);
	for (size_t i = 0; i < f->count; i++)
		f->members[i]->seen = false;
	for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
		add_or_mark(f, entry->d_name);
	}
	if (d)
		closedir(d);
	remove_unseen(f);
	if (f->count)
		qsort(f->members, f->count, sizeof(struct member *), by_name);
}

static void on_folder_event(void *arg, const char *name)
{
	(void)name;
	fleet_rescan(arg);
}

struct fleet *fleet_open(struct loop *loop, void (*on_change)(void *arg), void *arg, struct err *e)
{
	char *runtime FREE_ON_EXIT = paths_runtime_dir(e);
	char *state FREE_ON_EXIT = paths_state_dir();
	if (!runtime || !fd_make_dirs(state, 0700, e))
		return NULL;
	struct fleet *f = mem_alloc(sizeof(*f));
	f->watch = dirwatch_open(loop, state, on_folder_event, f, e);
	if (!f->watch) {
		free(f);
		return NULL;
	}
	f->loop = loop;
	f->on_change = on_change;
	f->arg = arg;
	f->state_dir = mem_steal(&state);
	f->change = timer_create_on(loop, on_change_due, f);
	fleet_rescan(f);
	changed(f);
	return f;
}

void fleet_close(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		member_destroy(f->members[i]);
	free(f->members);
	dirwatch_close(f->watch);
	timer_close(f->change);
	free(f->state_dir);
	free(f);
}

void fleet_look(struct fleet *f)
{
	uint64_t now = clock_mono_ms();
	for (size_t i = 0; i < f->count; i++)
		look_after(f->members[i], now);
}

size_t fleet_count(const struct fleet *f)
{
	return f->count;
}

const struct fleet_vm *fleet_at(const struct fleet *f, size_t i)
{
	CHECK(i < f->count);
	return &f->members[i]->vm;
}

const struct fleet_vm *fleet_find(const struct fleet *f, const char *name)
{
	struct member *m = find(f, name);
	return m ? &m->vm : NULL;
}

bool fleet_is_settled(const struct fleet *f)
{
	for (size_t i = 0; i < f->count; i++) {
		if (!f->members[i]->vm.settled)
			return false;
	}
	return true;
}
