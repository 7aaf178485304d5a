/* backend_choose. Two `ccvm up` at the same time must not both try KVM: whoever holds the lock file tries, the others
 * look again ten times a second whether the answer is there. */
#include "core/backend/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/accel.h"
#include "core/backend/probe.h"
#include "core/backend/qemu.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/timer.h"

#define LOOK_AGAIN_MS 100
#define PATIENCE_MS   (2 * PROBE_TOTAL_MS) /* with another process's probe */

enum want { WANT_AUTO, WANT_KVM, WANT_TCG, WANT_COUNT };
static const char *const want_names[] = {"auto", "qemu-kvm", "qemu-tcg"};
static_assert(ARRAY_LEN(want_names) == WANT_COUNT, "one name for each");

struct backend_choosing {
	struct loop *loop; /* keeps */
	enum want want;
	char *wanted, *kernel, *initramfs, *memory_file; /* owned */
	struct accel_key key;
	struct timer *step;
	struct probe *probe;
	int lock;
	uint64_t since_ms;
	void (*progress)(void *arg, const char *text);
	void (*done)(void *arg, const struct backend_choice *choice, const struct err *e);
	void *arg;
};

static void destroy(struct backend_choosing *c)
{
	timer_close(c->step);
	probe_close(c->probe);
	fd_close(&c->lock);
	free(c->wanted);
	free(c->kernel);
	free(c->initramfs);
	free(c->memory_file);
	free(c);
}

static void finish(struct backend_choosing *c, const struct backend_choice *choice, const struct err *e)
{
	void (*done)(void *arg, const struct backend_choice *choice, const struct err *e) = c->done;
	void *arg = c->arg;
	destroy(c);
	done(arg, choice, e);
}

static void fail(struct backend_choosing *c, const struct err *e)
{
	struct err copy = *e;
	finish(c, NULL, &copy);
}

static void answer(struct backend_choosing *c, bool works, const char *why)
{
	struct backend_choice choice = {.ops = works ? &backend_qemu_kvm : &backend_qemu_tcg};
	if (!works && c->want == WANT_KVM) {
		struct err e = ERR_INIT;
		err_set(&e, ERR_INVALID, "backend qemu-kvm does not work here: %s", why);
		fail(c, &e);
		return;
	}
	if (works)
		snprintf(choice.why, sizeof(choice.why), "KVM boots a guest here");
	else
		snprintf(choice.why, sizeof(choice.why), "no KVM (%.*s): using TCG, slower", ACCEL_WHY_SIZE,
		         why);
	finish(c, &choice, NULL);
}

static void on_probed(void *arg, bool works, const char *why)
{
	struct backend_choosing *c = arg;
	struct accel_answer a = {.works = works};
	struct err e = ERR_INIT;
	snprintf(a.why, sizeof(a.why), "%s", why);
	if (!accel_remember(c->memory_file, &c->key, &a, &e))
		log_warn("the answer about KVM is not kept: %s", e.msg);
	answer(c, a.works, a.why);
}

/* False: somebody else is trying, look again. */
static bool take_lock(struct backend_choosing *c)
{
	struct err e = ERR_INIT;
	char *path FREE_ON_EXIT = mem_printf("%s.lock", c->memory_file);
	c->lock = fd_lock_file(path, &e);
	if (c->lock >= 0)
		return true;
	if (e.kind == ERR_BUSY && clock_mono_ms() - c->since_ms < PATIENCE_MS)
		return false;
	log_warn("trying KVM without a lock: %s", e.msg);
	return true;
}

static void try_kvm(struct backend_choosing *c)
{
	struct err e = ERR_INIT;
	struct accel_answer known;
	if (accel_recall(c->memory_file, &c->key, &known)) {
		answer(c, known.works, known.why);
		return;
	}
	if (!take_lock(c)) {
		timer_once(c->step, LOOK_AGAIN_MS);
		return;
	}
	if (accel_recall(c->memory_file, &c->key, &known)) { /* since the look before the lock */
		answer(c, known.works, known.why);
		return;
	}
	if (c->progress)
		c->progress(c->arg, "trying whether KVM boots a guest here (once, some seconds)");
	c->probe = probe_start(c->loop, c->kernel, c->initramfs, on_probed, c, &e);
	if (!c->probe)
		fail(c, &e);
}

static void on_again(void *arg)
{
	try_kvm(arg);
}

static void on_first_step(void *arg)
{
	struct backend_choosing *c = arg;
	struct err e = ERR_INIT;
	char why[ACCEL_WHY_SIZE];
	if (c->want == WANT_COUNT) {
		err_set(&e, ERR_INVALID, "backend \"%.40s\": there are auto, qemu-kvm and qemu-tcg",
		        c->wanted);
		fail(c, &e);
		return;
	}
	char *qemu FREE_ON_EXIT = qemu_find_program(&e);
	if (!qemu || (c->want != WANT_TCG && !accel_key_of(&c->key, qemu, c->kernel, c->initramfs, &e))) {
		fail(c, &e);
		return;
	}
	if (c->want == WANT_TCG) {
		const struct backend_choice choice = {.ops = &backend_qemu_tcg, .why = "TCG was asked for"};
		finish(c, &choice, NULL);
		return;
	}
	if (!accel_kvm_opens(why)) {
		answer(c, false, why);
		return;
	}
	timer_close(c->step);
	c->step = timer_create_on(c->loop, on_again, c);
	try_kvm(c);
}

struct backend_choosing *
backend_choose(struct loop *loop, const char *want, const char *kernel, const char *initramfs,
               const char *memory_file, void (*progress)(void *arg, const char *text),
               void (*done)(void *arg, const struct backend_choice *choice, const struct err *e), void *arg)
{
	struct backend_choosing *c = mem_alloc(sizeof(*c));
	c->loop = loop;
	while (c->want < WANT_COUNT && strcmp(want, want_names[c->want]) != 0)
		c->want++;
	c->wanted = mem_strdup(want);
	c->kernel = mem_strdup(kernel);
	c->initramfs = mem_strdup(initramfs);
	c->memory_file = mem_strdup(memory_file);
	c->lock = -1;
	c->since_ms = clock_mono_ms();
	c->progress = progress;
	c->done = done;
	c->arg = arg;
	c->step = timer_create_on(loop, on_first_step, c);
	timer_once(c->step, 0);
	return c;
}

void backend_choose_cancel(struct backend_choosing *c)
{
	if (c)
		destroy(c);
}
