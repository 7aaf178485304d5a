#include "tui/notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/loop/child.h"
#include "tui/vm_order.h"

/* What was told of a VM. */
struct told {
	char vm[VM_NAME_MAX + 1];
	int64_t at_ms;   /* the beginning of the waiting that was told */
	int64_t told_ms; /* when */
	bool here;       /* the VM is still there */
};

struct run {
	struct list link;
	struct notify *notify;
	struct child *child;
};

struct notify {
	struct loop *loop; /* keeps */
	void (*on_problem)(void *arg, const char *text);
	void *arg;
	struct told *told; /* owned */
	size_t count;
	bool begun; /* the first call was */
	struct list runs;
	size_t run_count;
};

struct notify *notify_create(struct loop *loop, void (*on_problem)(void *arg, const char *text), void *arg)
{
	struct notify *n = mem_alloc(sizeof(*n));
	*n = (struct notify){.loop = loop, .on_problem = on_problem, .arg = arg};
	list_init(&n->runs);
	return n;
}

static void end_run(struct run *r)
{
	list_remove(&r->link);
	child_close(r->child);
	r->notify->run_count--;
	free(r);
}

void notify_destroy(struct notify *n)
{
	if (!n)
		return;
	LIST_FOREACH (item, &n->runs)
		end_run(LIST_ENTRY(item, struct run, link));
	free(n->told);
	free(n);
}

/* ---- the command ---- */

static void on_exit_of(void *arg, int code, int signal)
{
	struct run *r = arg;
	char text[80];
	if (code != 0 || signal != 0) {
		snprintf(text, sizeof(text), "on_attention: the command ended with %s %d",
		         signal ? "signal" : "code", signal ? signal : code);
		r->notify->on_problem(r->notify->arg, text);
	}
	end_run(r);
}

/* Our own environment with three more; they replace what it may have under these names. */
static char **environment(const struct fleet_vm *vm)
{
	const struct vm_attention *a = &vm->status.attention;
	size_t count = 0, kept = 0;
	while (environ[count])
		count++;
	char **env = mem_array(count + 4, sizeof(*env));
	env[kept++] = mem_printf("CCVM_VM=%s", vm->status.name);
	env[kept++] = mem_printf("CCVM_ATTENTION=%s", vm_attention_name(a->state));
	env[kept++] = mem_printf("CCVM_TEXT=%s", a->text);
	for (size_t i = 0; i < count; i++) {
		if (strncmp(environ[i], "CCVM_VM=", 8) != 0 &&
		    strncmp(environ[i], "CCVM_ATTENTION=", 15) != 0 &&
		    strncmp(environ[i], "CCVM_TEXT=", 10) != 0)
			env[kept++] = environ[i];
	}
	return env;
}

static void run_command(struct notify *n, const char *command, const struct fleet_vm *vm)
{
	struct err e = ERR_INIT;
	const char *const argv[] = {"/bin/sh", "-c", command, NULL};
	if (n->run_count == NOTIFY_RUNS_MOST) {
		n->on_problem(n->arg, "on_attention: the commands do not end; this one was not started");
		return;
	}
	char **env = environment(vm);
	struct child_spec spec = {.argv = argv, .env = (const char *const *)env, .new_session = true};
	struct run *r = mem_alloc(sizeof(*r));
	r->notify = n;
	list_append(&n->runs, &r->link);
	n->run_count++;
	r->child = child_start(n->loop, &spec, on_exit_of, r, &e);
	for (int i = 0; i < 3; i++)
		free(env[i]);
	free(env);
	if (r->child)
		return;
	end_run(r);
	err_wrap(&e, "on_attention");
	n->on_problem(n->arg, e.msg);
}

/* ---- who is to be told ---- */

static struct told *find(struct notify *n, const char *vm)
{
	for (size_t i = 0; i < n->count; i++) {
		if (strcmp(n->told[i].vm, vm) == 0)
			return &n->told[i];
	}
	n->told = mem_resize(n->told, n->count + 1, sizeof(*n->told));
	struct told *t = &n->told[n->count++];
	*t = (struct told){.told_ms = INT64_MIN / 2};
	snprintf(t->vm, sizeof(t->vm), "%s", vm);
	return t;
}

static void forget_the_gone(struct notify *n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n->count; i++) {
		if (n->told[i].here)
			n->told[kept++] = n->told[i];
	}
	n->count = kept;
}

bool notify_update(struct notify *n, const struct fleet_vm *const *vms, size_t count, const char *command,
                   int64_t now_ms)
{
	bool ring = false;
	for (size_t i = 0; i < n->count; i++)
		n->told[i].here = false;
	for (size_t i = 0; i < count; i++) {
		struct told *t = find(n, vms[i]->status.name);
		t->here = true;
		if (!vm_waits_unseen(vms[i]) || t->at_ms == vms[i]->status.attention.at_ms ||
		    (now_ms >= t->told_ms && now_ms - t->told_ms < NOTIFY_EVERY_MS))
			continue;
		t->at_ms = vms[i]->status.attention.at_ms;
		t->told_ms = now_ms;
		ring = true;
		if (command[0] && n->begun)
			run_command(n, command, vms[i]);
	}
	forget_the_gone(n);
	n->begun = true;
	return ring;
}
