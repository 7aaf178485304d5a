/* core/backend: the memory of whether KVM works, choosing, and a QEMU process, with a QEMU that behaves as told. */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/backend/accel.h"
#include "core/backend/backend.h"
#include "core/backend/doctor.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "tests/lib/loop_wait.h"

static const struct accel_key key = {.boot = "b1", .qemu = "q1", .kernel = "k1", .initramfs = "i1"};
static const struct accel_answer no = {.works = false, .why = "it \"hangs\""};
static const struct accel_answer yes = {.works = true, .why = ""};

static void answers_hold_for_their_files_and_boot(void **state)
{
	(void)state;
	struct accel_answer a;
	char *text FREE_ON_EXIT = accel_format(NULL, &key, &no);
	assert_true(accel_parse(text, &key, &a));
	assert_false(a.works);
	assert_string_equal(a.why, "it \"hangs\"");
	for (size_t i = 0; i < 4; i++) {
		struct accel_key other = key;
		char *fields[] = {other.boot, other.qemu, other.kernel, other.initramfs};
		fields[i][1] = '2';
		assert_false(accel_parse(text, &other, &a));
	}
}

static void newer_answers_go_first_and_old_boots_go(void **state)
{
	(void)state;
	struct accel_answer a;
	struct accel_key other = key, later = key;
	memcpy(other.kernel, "k2", 3);
	memcpy(later.boot, "b2", 3);
	char *one FREE_ON_EXIT = accel_format(NULL, &key, &no);
	char *two FREE_ON_EXIT = accel_format(one, &other, &yes);
	assert_true(accel_parse(two, &key, &a) && !a.works);
	assert_true(accel_parse(two, &other, &a) && a.works);
	char *changed FREE_ON_EXIT = accel_format(two, &key, &yes);
	assert_true(accel_parse(changed, &key, &a) && a.works);
	assert_null(strstr(strstr(changed, "k1") + 1, "k1")); /* replaced, not added */
	char *rebooted FREE_ON_EXIT = accel_format(two, &later, &no);
	assert_false(accel_parse(rebooted, &key, &a));
	assert_null(strstr(rebooted, "k2"));
}

static void the_memory_is_bounded(void **state)
{
	(void)state;
	struct accel_key k = key;
	struct accel_answer a;
	char *text = accel_format(NULL, &k, &no);
	for (int i = 0; i < 40; i++) {
		snprintf(k.kernel, sizeof(k.kernel), "kernel-%d", i);
		char *next = accel_format(text, &k, &no);
		free(text);
		text = next;
	}
	size_t count = 0;
	for (const char *p = text; (p = strstr(p, "\"works\"")); p++)
		count++;
	assert_int_equal(count, ACCEL_ANSWERS_MOST);
	assert_true(accel_parse(text, &k, &a));
	free(text);
}

static void anything_odd_is_not_known(void **state)
{
	(void)state;
	static const char *const bad[] = {
	    "",
	    "{",
	    "[]",
	    "{\"boot\":\"b1\"}",
	    "{\"boot\":\"b1\",\"answers\":{}}",
	    "{\"boot\":\"b1\",\"answers\":[1,\"x\",null,{}]}",
	    "{\"boot\":\"b1\",\"answers\":[{\"qemu\":\"q1\",\"kernel\":\"k1\",\"initramfs\":\"i1\",\"works\":"
	    "1,\"why\":\"\"}]}",
	    "{\"boot\":\"b1\",\"answers\":[{\"qemu\":\"q1\",\"kernel\":\"k1\",\"initramfs\":\"i1\",\"works\":"
	    "true}]}",
	    "{\"boot\":1,\"answers\":[{\"qemu\":\"q1\",\"kernel\":\"k1\",\"initramfs\":\"i1\",\"works\":true,"
	    "\"why\":\"\"}]}",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct accel_answer a;
		if (accel_parse(bad[i], &key, &a))
			fail_msg("believed: %s", bad[i]);
		char *text FREE_ON_EXIT = accel_format(bad[i], &key, &yes);
		assert_true(accel_parse(text, &key, &a) && a.works);
	}
}

/* ---- a QEMU that does what a file says -------------------------------------------------------------------------- */

struct fixture {
	char dir[32];
	char *qemu, *kernel, *initramfs, *memory, *console, *old_path;
	struct loop *loop;
	struct backend *backend;
	bool done, clean;
	const struct backend_ops *ops;
	char text[512];
	char events[128];
};

static char *in_dir(struct fixture *f, const char *name)
{
	return mem_printf("%s/%s", f->dir, name);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	struct err e = ERR_INIT;
	assert_true(fd_write_file(path, text, strlen(text), mode, &e));
}

/* `script` is what QEMU does: fd 3 is its monitor, 4 its console. It has no PATH but what it sets. */
static void become(struct fixture *f, const char *script)
{
	char *text FREE_ON_EXIT = mem_printf("#!/bin/sh\nPATH=/usr/bin:/bin\necho x >>%s/starts\n"
	                                     "greet() { echo '{\"QMP\":{}}' >&3; read -r line <&3; echo "
	                                     "'{\"return\":{}}' >&3; }\n%s\n",
	                                     f->dir, script);
	write_file(f->qemu, text, 0700);
}

static size_t starts(struct fixture *f)
{
	struct err e = ERR_INIT;
	size_t len = 0;
	char *path FREE_ON_EXIT = in_dir(f, "starts");
	char *text FREE_ON_EXIT = fd_read_file(path, 4096, &len, &e);
	return text ? len / 2 : 0;
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	strcpy(f->dir, "/tmp/ccvm-t.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->qemu = in_dir(f, "qemu-system-x86_64");
	f->kernel = in_dir(f, "kernel");
	f->initramfs = in_dir(f, "initramfs");
	f->memory = in_dir(f, "memory");
	f->console = in_dir(f, "console.log");
	write_file(f->kernel, "k", 0600);
	write_file(f->initramfs, "i", 0600);
	f->old_path = mem_strdup(getenv("PATH"));
	setenv("PATH", f->dir, 1);
	f->loop = loop_create();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	loop_destroy(f->loop);
	setenv("PATH", f->old_path, 1);
	bool ok = fd_remove_tree(f->dir, &e);
	char *owned[] = {f->qemu, f->kernel, f->initramfs, f->memory, f->console, f->old_path};
	for (size_t i = 0; i < ARRAY_LEN(owned); i++)
		free(owned[i]);
	free(f);
	return ok ? 0 : -1;
}

static void on_choice(void *arg, const struct backend_choice *choice, const struct err *e)
{
	struct fixture *f = arg;
	assert_false(f->done);
	f->done = true;
	f->ops = choice ? choice->ops : NULL;
	snprintf(f->text, sizeof(f->text), "%s", e ? e->msg : choice->why);
}

static const char *choose(struct fixture *f, const char *want)
{
	f->done = false;
	assert_non_null(
	    backend_choose(f->loop, want, f->kernel, f->initramfs, f->memory, NULL, on_choice, f));
	assert_false(f->done); /* never from inside the call */
	assert_true(loop_wait_flag(f->loop, &f->done));
	return f->ops ? f->ops->name : "error";
}

static void need_kvm(void)
{
	char why[ACCEL_WHY_SIZE];
	if (!accel_kvm_opens(why)) {
		print_message("# %s\n", why);
		skip();
	}
}

static void kvm_is_chosen_when_the_guest_speaks(void **state)
{
	struct fixture *f = *state;
	need_kvm();
	become(f,
	       "greet; printf 'booting CCCVM-PROBE-' >&4; sleep 0.1; printf 'OK\\r\\n' >&4; exec sleep 100");
	assert_string_equal(choose(f, "auto"), "qemu-kvm");
	assert_string_equal(f->text, "KVM boots a guest here");
	assert_string_equal(choose(f, "qemu-kvm"), "qemu-kvm");
	assert_int_equal(starts(f), 1); /* the second time it is remembered */
	write_file(f->kernel, "another", 0600);
	assert_string_equal(choose(f, "auto"), "qemu-kvm");
	assert_int_equal(starts(f), 2);
}

static void tcg_is_chosen_when_qemu_dies(void **state)
{
	struct fixture *f = *state;
	need_kvm();
	become(f, "greet; echo 'failed to set MSR 0x48' >&2; exit 3");
	assert_string_equal(choose(f, "auto"), "qemu-tcg");
	assert_string_equal(f->text,
	                    "no KVM (QEMU exited with code 3: failed to set MSR 0x48): using TCG, slower");
	assert_string_equal(choose(f, "qemu-kvm"), "error");
	assert_string_equal(f->text,
	                    "backend qemu-kvm does not work here: QEMU exited with code 3: failed to set "
	                    "MSR 0x48");
	assert_int_equal(starts(f), 1);
}

static void what_needs_no_trying(void **state)
{
	struct fixture *f = *state;
	become(f, "exit 9");
	assert_string_equal(choose(f, "qemu-tcg"), "qemu-tcg");
	assert_string_equal(choose(f, "xen"), "error");
	assert_non_null(strstr(f->text, "backend \"xen\""));
	unlink(f->initramfs);
	assert_string_equal(choose(f, "auto"), "error");
	assert_non_null(strstr(f->text, "initramfs: No such file"));
	assert_int_equal(starts(f), 0);
	unlink(f->qemu);
	assert_string_equal(choose(f, "auto"), "error");
	assert_non_null(strstr(f->text, "install the package qemu-system-x86"));
}

static bool probe_has_started(void *arg)
{
	return starts(arg) > 0;
}

static void a_choice_can_be_taken_back(void **state)
{
	struct fixture *f = *state;
	need_kvm();
	become(f, "exec sleep 100");
	struct backend_choosing *c =
	    backend_choose(f->loop, "auto", f->kernel, f->initramfs, f->memory, NULL, on_choice, f);
	assert_true(loop_wait(f->loop, probe_has_started, f));
	backend_choose_cancel(c);
	loop_run(f->loop); /* ends, so QEMU was reaped */
	assert_false(f->done);
	assert_int_equal(access(f->memory, F_OK), -1);
}

/* ---- one QEMU process ------------------------------------------------------------------------------------------- */

static void on_exit_event(void *arg, bool clean, const char *why)
{
	struct fixture *f = arg;
	assert_false(f->done);
	f->done = true;
	f->clean = clean;
	snprintf(f->text, sizeof(f->text), "%s", why);
}

static void on_guest_event(void *arg, const char *what)
{
	struct fixture *f = arg;
	size_t n = strlen(f->events);
	snprintf(f->events + n, sizeof(f->events) - n, "%s ", what);
}

static void start(struct fixture *f, const char *script)
{
	const struct backend_spec spec = {
	    .vm = "t",
	    .kernel = f->kernel,
	    .initramfs = f->initramfs,
	    .console_log = f->console,
	    .memory_bytes = 256u << 20,
	    .cpus = 1,
	};
	const struct backend_events events = {.on_exit = on_exit_event, .on_guest_event = on_guest_event};
	struct err e = ERR_INIT;
	become(f, script);
	f->done = false;
	f->backend = backend_qemu_tcg.start(f->loop, &spec, &events, f, &e);
	assert_non_null(f->backend);
	assert_true(backend_qemu_tcg.pid(f->backend) > 0);
}

static const struct {
	const char *script;
	bool clean;
	const char *why;
} ends[] = {
#define SHUTDOWN(reason) "greet; echo '{\"event\":\"SHUTDOWN\",\"data\":{\"reason\":\"" reason "\"}}' >&3; "
    {SHUTDOWN("guest-shutdown") "exit 0", true, ""},
    {SHUTDOWN("guest-shutdown") "echo aborted >&2; exit 1", false, "QEMU exited with code 1: aborted"},
    {SHUTDOWN("guest-reset") "exit 0", false, "the guest reset itself (a kernel panic or a reboot)"},
    {SHUTDOWN("guest-panic") "exit 0", false, "the guest's kernel panicked"},
    {SHUTDOWN("host-signal") "exit 0", false, "QEMU was told to end by a signal"},
    {SHUTDOWN("new-thing") "exit 0", false, "QEMU ended without a word from the guest (new-thing)"},
    {"exit 0", false, "QEMU ended without a word from the guest (no reason given)"},
    {"printf 'a\\033[1m\\n\\nb\\n' >&2; exit 2", false, "QEMU exited with code 2: a\\x1b[1m b"},
    {"echo stdout too; kill -ABRT $$", false, "QEMU was killed by signal 6 (Aborted): stdout too"},
    {"echo nonsense >&3; exec sleep 100", false,
     "QEMU's monitor cannot be trusted any more: QMP line that is no JSON object"},
    /* Somebody else holds its stderr: the exit counts after a grace time. */
    {SHUTDOWN("guest-shutdown") "sleep 3 & exit 0", true, ""},
};

static void every_end_has_a_reason(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		start(f, ends[i].script);
		assert_true(loop_wait_flag(f->loop, &f->done));
		if (f->clean != ends[i].clean || strcmp(f->text, ends[i].why) != 0)
			fail_msg("%s: clean %d, \"%s\"", ends[i].script, f->clean, f->text);
		assert_int_equal(backend_qemu_tcg.pid(f->backend), 0);
		backend_qemu_tcg.kill(f->backend); /* harmless now */
		backend_qemu_tcg.power_down(f->backend);
		backend_qemu_tcg.close(f->backend);
	}
}

static void long_last_words_keep_their_end(void **state)
{
	struct fixture *f = *state;
	start(f, "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done >&2; exit 1");
	assert_true(loop_wait_flag(f->loop, &f->done));
	assert_non_null(strstr(f->text, "QEMU exited with code 1: ..."));
	assert_string_equal(f->text + strlen(f->text) - 9, "line 2999");
	assert_true(strlen(f->text) < 300);
	backend_qemu_tcg.close(f->backend);
}

static void the_environment_stays_here(void **state)
{
	struct fixture *f = *state;
	setenv("CCVM_TEST_SECRET", "hunter2", 1);
	start(f, "tr '\\0' ' ' </proc/$$/environ >&2; exit 1");
	assert_true(loop_wait_flag(f->loop, &f->done));
	assert_string_equal(f->text, "QEMU exited with code 1: LC_ALL=C");
	backend_qemu_tcg.close(f->backend);
	unsetenv("CCVM_TEST_SECRET");
}

static bool has_event(void *arg)
{
	return strcmp(((struct fixture *)arg)->events, "RESET GUEST_PANICKED ") == 0;
}

static void power_down_asks_and_kill_ends(void **state)
{
	struct fixture *f = *state;
	start(f, "greet; read -r line <&3; case $line in *system_powerdown*) "
	         "printf '{\"event\":\"%s\"}\\n' STOP RESET GUEST_PANICKED >&3;; esac; exec sleep 100");
	backend_qemu_tcg.power_down(f->backend);
	assert_true(loop_wait(f->loop, has_event, f));
	assert_false(f->done);
	backend_qemu_tcg.kill(f->backend);
	assert_true(loop_wait_flag(f->loop, &f->done));
	assert_string_equal(f->text, "killed");
	backend_qemu_tcg.close(f->backend);
}

static void close_kills_and_is_silent(void **state)
{
	struct fixture *f = *state;
	start(f, "greet; exec sleep 100");
	pid_t pid = backend_qemu_tcg.pid(f->backend);
	backend_qemu_tcg.close(f->backend);
	backend_qemu_tcg.close(NULL);
	loop_run(f->loop);
	assert_false(f->done);
	assert_int_equal(kill(pid, 0), -1);
}

static void what_cannot_start_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	const struct backend_events events = {.on_exit = on_exit_event};
	struct backend_spec spec = {
	    .vm = "t", .kernel = f->kernel, .initramfs = f->initramfs, .memory_bytes = 256u << 20, .cpus = 1};
	struct err e = ERR_INIT;
	become(f, "exit 0");
	spec.disk = "/nonexistent/disk.img";
	assert_null(backend_qemu_tcg.start(f->loop, &spec, &events, f, &e));
	assert_string_equal(e.msg, "disk /nonexistent/disk.img: No such file or directory");
	err_clear(&e);
	spec.disk = NULL;
	spec.console_log = "/nonexistent/console.log";
	assert_null(backend_qemu_tcg.start(f->loop, &spec, &events, f, &e));
	assert_non_null(strstr(e.msg, "console.log: No such file"));
	loop_run(f->loop);
	assert_false(f->done);
	assert_int_equal(starts(f), 0);
}

static void the_doctor_says_what_is_there(void **state)
{
	struct fixture *f = *state;
	struct backend_facts facts;
	become(f, "[ \"$1\" = --version ] && printf 'QEMU 7\\033[m\\nmore\\n'; exec sleep 100");
	backend_doctor(f->memory, &facts);
	char *want FREE_ON_EXIT = mem_printf("%s: QEMU 7\\x1b[m", f->qemu);
	assert_string_equal(facts.qemu, want);
	assert_non_null(strstr(facts.mkfs, "/mkfs.ext4"));
	assert_true(facts.can_run);
	assert_true(facts.kvm[0] && facts.firmware[0] && facts.accelerator[0]);
	unlink(f->qemu);
	backend_doctor(f->memory, &facts);
	assert_false(facts.can_run);
	assert_non_null(strstr(facts.qemu, "install the package qemu-system-x86"));
}

static void the_doctor_knows_what_was_tried(void **state)
{
	struct fixture *f = *state;
	struct backend_facts facts;
	need_kvm();
	backend_doctor(f->memory, &facts);
	assert_string_equal(facts.accelerator, "not known: KVM has not been tried since this host booted");
	become(f, "echo broken >&2; exit 1");
	assert_string_equal(choose(f, "auto"), "qemu-tcg");
	backend_doctor(f->memory, &facts);
	assert_string_equal(facts.accelerator, "TCG: KVM was tried, QEMU exited with code 1: broken");
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
	child_guard(argc, argv);
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(answers_hold_for_their_files_and_boot),
	    cmocka_unit_test(newer_answers_go_first_and_old_boots_go),
	    cmocka_unit_test(the_memory_is_bounded),
	    cmocka_unit_test(anything_odd_is_not_known),
	    WITH_FIXTURE(kvm_is_chosen_when_the_guest_speaks),
	    WITH_FIXTURE(tcg_is_chosen_when_qemu_dies),
	    WITH_FIXTURE(what_needs_no_trying),
	    WITH_FIXTURE(a_choice_can_be_taken_back),
	    WITH_FIXTURE(the_doctor_says_what_is_there),
	    WITH_FIXTURE(the_doctor_knows_what_was_tried),
	    WITH_FIXTURE(every_end_has_a_reason),
	    WITH_FIXTURE(long_last_words_keep_their_end),
	    WITH_FIXTURE(the_environment_stays_here),
	    WITH_FIXTURE(power_down_asks_and_kill_ends),
	    WITH_FIXTURE(close_kills_and_is_silent),
	    WITH_FIXTURE(what_cannot_start_leaves_nothing),
	};
	return cmocka_run_group_tests_name("backend", tests, NULL, NULL);
}
