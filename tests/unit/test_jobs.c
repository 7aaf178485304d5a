/* tui/jobs, tui/notify: children of the dashboard, real ones. */
#include "tests/lib/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "tests/lib/loop_wait.h"
#include "tui/jobs.h"
#include "tui/notify.h"

struct world {
	struct loop *loop;
	int ended, failed, problems;
	char text[900];
};

static void on_change(void *arg)
{
	(void)arg;
}

static void on_end(void *arg, bool ok, const char *text)
{
	struct world *w = arg;
	w->ended++;
	w->failed += !ok;
	snprintf(w->text, sizeof(w->text), "%s", text);
}

static void on_problem(void *arg, const char *text)
{
	struct world *w = arg;
	w->problems++;
	snprintf(w->text, sizeof(w->text), "%s", text);
}

static const struct jobs_ops OPS = {.on_change = on_change, .on_end = on_end};

static bool one_ended(void *arg)
{
	return ((struct world *)arg)->ended > 0;
}

static void run(struct world *w, struct jobs *j, const char *script)
{
	const char *const argv[] = {"-c", script, NULL};
	struct err e = ERR_INIT;
	w->ended = w->failed = 0;
	assert_true(jobs_start(j, argv, &e));
	assert_true(loop_wait(w->loop, one_ended, w));
}

static void what_jobs_say_is_kept(void **state)
{
	(void)state;
	struct world w = {.loop = loop_create()};
	struct jobs *j = jobs_create(w.loop, "/bin/sh", &OPS, &w);
	struct str text = STR_INIT(JOBS_TEXT_MAX);
	const struct job_info *info;
	assert_int_equal(jobs_running(j, &info), 0);
	run(&w, j, "echo one; echo two >&2; printf 'a\\033[31mb\\rthree'");
	assert_int_equal(w.failed, 0);
	assert_non_null(strstr(w.text, ": three")); /* the last line, without an end too */
	assert_int_equal(jobs_running(j, &info), 0);
	jobs_text(j, &text);
	assert_non_null(strstr(text.s, "done\t-c echo one"));
	assert_non_null(strstr(text.s, "\tone\n\ttwo\n\ta"));
	assert_null(strchr(text.s, '\033'));
	run(&w, j, "echo no room >&2; exit 3");
	assert_int_equal(w.failed, 1);
	assert_non_null(strstr(w.text, "failed: no room"));
	const char *const up[] = {"-c", "echo $0; exit 1", "--image", "base", NULL};
	struct err e = ERR_INIT;
	w.ended = w.failed = 0;
	assert_true(jobs_start(j, up, &e));
	assert_int_equal(jobs_running(j, &info), 1);
	assert_string_equal(info[0].what, "-c echo $0; exit 1"); /* not its options, which say less */
	assert_true(loop_wait(w.loop, one_ended, &w));
	run(&w, j, "exit 4");
	assert_non_null(strstr(w.text, "failed: code 4"));
	run(&w, j, "kill -9 $$");
	assert_non_null(strstr(w.text, "failed: signal 9"));
	run(&w, j, "(sleep 0.2; echo last words) & exit 0"); /* the output ends after the program */
	assert_non_null(strstr(w.text, "last words"));
	/* More than is kept: the newest. */
	run(&w, j,
	    "i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done; head -c 100000 /dev/zero | tr "
	    "'\\0' x");
	jobs_text(j, &text);
	assert_false(text.overflow);
	assert_non_null(strstr(text.s, "line 999"));
	assert_null(strstr(text.s, "line 900\n"));
	str_finish(&text);
	jobs_destroy(j);
	loop_destroy(w.loop);
}

static bool file_has_line(void *arg)
{
	struct err ignored = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(arg, 65536, NULL, &ignored);
	return text && strchr(text, '\n');
}

static void jobs_are_bounded_and_outlive_the_dashboard(void **state)
{
	(void)state;
	struct world w = {.loop = loop_create()};
	struct jobs *j = jobs_create(w.loop, "/bin/sh", &OPS, &w);
	char *path FREE_ON_EXIT = mem_printf("/tmp/ccvm-test-job-%d", (int)getpid());
	char *script FREE_ON_EXIT = mem_printf("echo $$ >%s; exec sleep 600", path);
	const char *const slow[] = {"-c", script, NULL}, *const quick[] = {"-c", "exec sleep 3", NULL};
	const struct job_info *info;
	struct err e = ERR_INIT;
	assert_true(jobs_start(j, slow, &e));
	for (int i = 1; i < JOBS_RUN_MOST; i++)
		assert_true(jobs_start(j, quick, &e));
	assert_int_equal(jobs_running(j, &info), JOBS_RUN_MOST);
	assert_non_null(strstr(info[0].what, "sleep 600"));
	assert_false(jobs_start(j, quick, &e));
	assert_non_null(strstr(e.msg, "jobs run already"));
	assert_true(loop_wait(w.loop, file_has_line, path));
	struct err none = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(path, 64, NULL, &none);
	pid_t pid = (pid_t)strtol(text, NULL, 10);
	jobs_destroy(j);
	loop_destroy(w.loop);
	assert_int_equal(kill(pid, 0), 0);  /* it goes on */
	assert_int_equal(getsid(pid), pid); /* and no key of the terminal reaches it */
	kill(pid, SIGKILL);
	unlink(path);
}

/* ---- notify ---- */

struct file_wait {
	const char *path;
	const char *text;
};

static bool file_has(void *arg)
{
	struct file_wait *f = arg;
	struct err ignored = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(f->path, 65536, NULL, &ignored);
	return text && strstr(text, f->text);
}

static void set(struct fleet_vm *vm, const char *name, enum vm_attention_state attention, int64_t at_ms)
{
	*vm = (struct fleet_vm){.settled = true, .status = {.state = VM_READY}};
	vm->status.attention = (struct vm_attention){.state = attention, .at_ms = at_ms};
	snprintf(vm->status.name, sizeof(vm->status.name), "%s", name);
	snprintf(vm->status.attention.text, sizeof(vm->status.attention.text), "$(touch /tmp/evil) `x` '\"");
}

static void who_begins_to_wait_is_told_once(void **state)
{
	(void)state;
	struct world w = {.loop = loop_create()};
	struct notify *n = notify_create(w.loop, on_problem, &w);
	struct fleet_vm a, b;
	const struct fleet_vm *vms[] = {&a, &b};
	set(&a, "alpha", ATTENTION_WAITING, 100);
	set(&b, "beta", ATTENTION_WORKING, 100);
	assert_true(notify_update(n, vms, 2, "", 1000)); /* those that wait at the start: together */
	assert_false(notify_update(n, vms, 2, "", 1001));
	set(&b, "beta", ATTENTION_WAITING, 1500);
	assert_true(notify_update(n, vms, 2, "", 1500));
	assert_false(notify_update(n, vms, 2, "", 1600));
	set(&b, "beta", ATTENTION_WAITING, 1700); /* again, too soon */
	assert_false(notify_update(n, vms, 2, "", 1700));
	assert_true(notify_update(n, vms, 2, "", 1500 + NOTIFY_EVERY_MS)); /* it still waits: now */
	assert_false(notify_update(n, vms, 2, "", 1501 + NOTIFY_EVERY_MS));
	set(&b, "beta", ATTENTION_WAITING, 90000);
	b.status.attention.seen = true; /* another console was faster */
	assert_false(notify_update(n, vms, 2, "", 90000));
	set(&b, "beta", ATTENTION_FINISHED, 95000); /* that is no waiting */
	assert_false(notify_update(n, vms, 2, "", 95000));
	assert_false(notify_update(n, vms, 0, "", 99000));
	notify_destroy(n);
	loop_destroy(w.loop);
}

static void the_command_gets_texts_only_in_its_environment(void **state)
{
	(void)state;
	struct world w = {.loop = loop_create()};
	struct notify *n = notify_create(w.loop, on_problem, &w);
	char *path FREE_ON_EXIT = mem_printf("/tmp/ccvm-test-notify-%d", (int)getpid());
	char *command FREE_ON_EXIT = mem_printf(
	    "printf '%%s|%%s|%%s|%%s\\n' \"$CCVM_VM\" \"$CCVM_ATTENTION\" \"$CCVM_TEXT\" \"$HOME\" >>%s",
	    path);
	struct fleet_vm a;
	const struct fleet_vm *vms[] = {&a};
	setenv("HOME", "/home/of-operator", 1);
	setenv("CCVM_VM", "an old one", 1);
	set(&a, "alpha", ATTENTION_WAITING, 100);
	notify_update(n, vms, 1, command, 1000); /* what was there before runs nothing */
	set(&a, "alpha", ATTENTION_WAITING, 50000);
	notify_update(n, vms, 1, command, 50000);
	struct file_wait f = {.path = path, .text = "\n"};
	assert_true(loop_wait(w.loop, file_has, &f));
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(path, 65536, NULL, &e);
	assert_string_equal(text, "alpha|waiting|$(touch /tmp/evil) `x` '\"|/home/of-operator\n");
	unlink(path);
	set(&a, "alpha", ATTENTION_WAITING, 90000);
	notify_update(n, vms, 1, "exit 7", 90000);
	while (w.problems == 0)
		loop_turn(w.loop, false);
	assert_string_equal(w.text, "on_attention: the command ended with code 7");
	for (int i = 0; i <= NOTIFY_RUNS_MOST; i++) {
		set(&a, "alpha", ATTENTION_WAITING, 200000 + i * 20000);
		notify_update(n, vms, 1, "exec sleep 2", 200000 + i * 20000);
	}
	assert_non_null(strstr(w.text, "this one was not started"));
	notify_destroy(n);
	loop_destroy(w.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_jobs_say_is_kept),
	    cmocka_unit_test(jobs_are_bounded_and_outlive_the_dashboard),
	    cmocka_unit_test(who_begins_to_wait_is_told_once),
	    cmocka_unit_test(the_command_gets_texts_only_in_its_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
