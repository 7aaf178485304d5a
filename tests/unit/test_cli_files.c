/* core/cli: what a power cut leaves, making VMs whole or not at all, standard descriptors as loop objects. */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/cli/litter.h"
#include "core/cli/stdio.h"
#include "core/cli/vm_end.h"
#include "core/cli/vm_make.h"
#include "core/loop/child.h"
#include "core/loop/loop.h"
#include "core/vm/store.h"
#include "tests/lib/loop_wait.h"

static char root[64];

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/ccvm-cli-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	setenv("XDG_RUNTIME_DIR", root, 1);
	char *state_home FREE_ON_EXIT = mem_printf("%s/state", root);
	char *data FREE_ON_EXIT = mem_printf("%s/data", root);
	setenv("XDG_STATE_HOME", state_home, 1);
	setenv("XDG_DATA_HOME", data, 1);
	return 0;
}

static int remove_root(void **state)
{
	struct err e = ERR_INIT;
	(void)state;
	return fd_remove_tree(root, &e) ? 0 : -1;
}

static void put(const char *path)
{
	struct err e = ERR_INIT;
	char *full FREE_ON_EXIT = mem_printf("%s/%s", root, path);
	char *dir FREE_ON_EXIT = mem_strdup(full);
	*strrchr(dir, '/') = '\0';
	if (!fd_make_dirs(dir, 0700, &e) ||
	    (full[strlen(full) - 1] != '/' && !fd_write_file(full, "x", 1, 0600, &e)))
		fail_msg("%s", e.msg);
}

static bool is_there(const char *path)
{
	char *full FREE_ON_EXIT = mem_printf("%s/%s", root, path);
	return access(full, F_OK) == 0;
}

static int take_lock(const char *path)
{
	struct err e = ERR_INIT;
	char *full FREE_ON_EXIT = mem_printf("%s/%s", root, path);
	int fd = fd_lock_file(full, &e);
	assert_true(fd >= 0);
	return fd;
}

static bool found(const struct litter_list *list, const char *path)
{
	char *full FREE_ON_EXIT = mem_printf("%s/%s", root, path);
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].path, full) == 0)
			return true;
	}
	return false;
}

static const char *const DEAD[] = {
    "ccvm/ghost",                          /* no lock */
    "ccvm/died",                           /* a lock that nobody holds */
    "ccvm/stray.sock",                     /* not a folder at all */
    "state/ccvm/.beta.tmp-999999-1",       /* of a process that is gone */
    "state/ccvm/half",                     /* no vm.json */
    "state/ccvm/alpha/vm.json.tmp-999999", /* fd_write_file, cut short */
    "data/ccvm/images/.build-base",        /* a build that nobody goes on with */
    "data/ccvm/images/.old.tmp-999999-1",
};

static const char *const ALIVE[] = {
    "ccvm/runs",         "state/ccvm/alpha",      "state/ccvm/runs",       "data/ccvm/images/.build-busy",
    "state/ccvm/README", "state/ccvm/Not-A-Name", "data/ccvm/images/base", "data/ccvm/images/.lock-base",
};

static void make_litter(void)
{
	static const char *const FILES[] = {
	    "ccvm/ghost/control.sock",
	    "ccvm/died/lock",
	    "ccvm/stray.sock",
	    "ccvm/runs/lock",
	    "state/ccvm/runs/x", /* no vm.json, but its supervisor lives */
	    "state/ccvm/alpha/vm.json",
	    "state/ccvm/alpha/vm.json.tmp-999999",
	    "state/ccvm/half/audit.jsonl",
	    "state/ccvm/.beta.tmp-999999-1/vm.json",
	    "state/ccvm/README",
	    "state/ccvm/Not-A-Name/x",
	    "data/ccvm/images/.build-base/part",
	    "data/ccvm/images/.build-busy/part",
	    "data/ccvm/images/.lock-base",
	    "data/ccvm/images/.old.tmp-999999-1/part",
	    "data/ccvm/images/base/image.json",
	};
	for (size_t i = 0; i < ARRAY_LEN(FILES); i++)
		put(FILES[i]);
}

static void litter_is_found_and_life_is_not(void **state)
{
	(void)state;
	struct litter_list list;
	struct err e = ERR_INIT;
	make_litter();
	int runs = take_lock("ccvm/runs/lock"), building = take_lock("data/ccvm/images/.lock-busy");
	char mine[64], mine_file[64];
	snprintf(mine, sizeof(mine), "state/ccvm/.new.tmp-%ld-%llu", (long)getpid(),
	         child_start_time(getpid()));
	snprintf(mine_file, sizeof(mine_file), "state/ccvm/alpha/policy.tmp-%ld", (long)getpid());
	put(mine);
	put(mine_file);

	assert_true(litter_find(&list, &e));
	for (size_t i = 0; i < ARRAY_LEN(DEAD); i++) {
		if (!found(&list, DEAD[i]) || !is_there(DEAD[i])) /* looking removes nothing */
			fail_msg("%s was not found", DEAD[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(ALIVE); i++) {
		if (found(&list, ALIVE[i]))
			fail_msg("%s was taken for litter", ALIVE[i]);
	}
	assert_false(found(&list, mine) || found(&list, mine_file));
	assert_int_equal(list.count, ARRAY_LEN(DEAD));
	litter_finish(&list);
	fd_close(&runs);
	assert_true(litter_find(&list, &e));
	assert_int_equal(list.count, ARRAY_LEN(DEAD) + 2); /* and what that lock protected */
	litter_finish(&list);
	fd_close(&building);
}

static void what_comes_to_life_is_not_removed(void **state)
{
	(void)state;
	struct litter_list list;
	struct err e = ERR_INIT;
	make_litter();
	int runs = take_lock("ccvm/runs/lock"), building = take_lock("data/ccvm/images/.lock-busy");
	assert_true(litter_find(&list, &e));
	int died = take_lock("ccvm/died/lock"); /* between the look and the broom */
	for (size_t i = 0; i < list.count; i++) {
		struct err why = ERR_INIT;
		bool busy = strstr(list.items[i].path, "/died") != NULL;
		assert_true(litter_remove(&list.items[i], &why) == !busy);
		assert_int_equal(why.kind, busy ? ERR_BUSY : ERR_NONE);
	}
	litter_finish(&list);
	for (size_t i = 0; i < ARRAY_LEN(DEAD); i++)
		assert_true(is_there(DEAD[i]) == (strcmp(DEAD[i], "ccvm/died") == 0));
	for (size_t i = 0; i < ARRAY_LEN(ALIVE); i++)
		assert_true(is_there(ALIVE[i]));
	fd_close(&died);
	fd_close(&runs);
	fd_close(&building);
}

static struct vm_spec a_spec(const char *name)
{
	struct vm_spec spec = {.image = "base",
	                       .backend = "auto",
	                       .memory_bytes = 512ull << 20,
	                       .disk_bytes = 1ull << 30,
	                       .cpus = 1,
	                       .ready_timeout_ms = 120000,
	                       .created_ms = 1796073242123};
	snprintf(spec.name, sizeof(spec.name), "%s", name);
	return spec;
}

static void a_vm_is_made_whole(void **state)
{
	(void)state;
	struct vm_spec spec = a_spec("whole"), back;
	struct config config;
	struct policy policy;
	struct err e = ERR_INIT;
	static const char *const ALLOW[] = {"A.example", "*.b.example:8443"};
	config_init(&config);
	config.policy[config.policy_count++] = mem_strdup("allow c.example");
	assert_true(vm_make_policy(&policy, &config, ALLOW, 2, &e));
	assert_true(vm_make_state(&spec, &policy, &e));
	policy_finish(&policy);
	config_finish(&config);
	char *dir FREE_ON_EXIT = mem_printf("%s/state/ccvm/whole", root);
	char *path FREE_ON_EXIT = mem_printf("%s/policy", dir);
	assert_true(store_read_spec(dir, &back, &e));
	char *text FREE_ON_EXIT = fd_read_file(path, 4096, NULL, &e);
	assert_string_equal(text, "allow c.example:443\nallow a.example:443\nallow *.b.example:8443\n");

	static const char *const MORE[] = {"d.example"};
	assert_true(vm_make_add_rules("whole", MORE, 1, &e));
	char *more FREE_ON_EXIT = fd_read_file(path, 4096, NULL, &e);
	assert_non_null(strstr(more, "allow d.example:443\n"));

	assert_true(vm_make_policy(&policy, &config, NULL, 0, &e));
	assert_false(vm_make_state(&spec, &policy, &e)); /* the name is taken; nothing of it is touched */
	assert_int_equal(e.kind, ERR_EXISTS);
	policy_finish(&policy);
	err_clear(&e);
	assert_true(store_read_spec(dir, &back, &e));
	struct litter_list list;
	assert_true(litter_find(&list, &e));
	assert_int_equal(list.count, 0); /* no half-made folder stays behind, not even of our own */
	litter_finish(&list);
	char *state_dir FREE_ON_EXIT = mem_printf("%s/state/ccvm", root);
	char *half FREE_ON_EXIT = litter_name(state_dir, "whole");
	assert_int_equal(access(half, F_OK), -1);

	char *run_lock FREE_ON_EXIT = mem_printf("%s/ccvm/whole/lock", root);
	put("ccvm/whole/lock");
	int lock = take_lock("ccvm/whole/lock");
	assert_false(vm_end_remove("whole", &e)); /* it runs */
	assert_int_equal(e.kind, ERR_BUSY);
	err_clear(&e);
	fd_close(&lock);
	assert_true(vm_end_wait("whole", &e));
	assert_true(vm_end_remove("whole", &e));
	assert_false(is_there("state/ccvm/whole"));
	assert_false(is_there("ccvm/whole"));
	assert_int_equal(access(run_lock, F_OK), -1);
}

static void record_supervisor(const char *vm, pid_t pid, unsigned long long start)
{
	struct err e = ERR_INIT;
	char *dir FREE_ON_EXIT = mem_printf("%s/state/ccvm/%s", root, vm);
	struct store_status st = {.supervisor_start = start};
	snprintf(st.status.name, sizeof(st.status.name), "%s", vm);
	snprintf(st.status.image, sizeof(st.status.image), "base");
	st.status.state = VM_READY;
	st.status.supervisor_pid = (uint32_t)pid;
	st.status.cpus = 1;
	st.status.memory_bytes = 512ull << 20;
	if (!fd_make_dirs(dir, 0700, &e) || !store_write_status(dir, &st, &e))
		fail_msg("%s", e.msg);
}

static void force_hits_only_the_supervisor(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	record_supervisor("hung", pid, child_start_time(pid) + 1); /* the pid is somebody else's by now */
	assert_false(vm_end_by_force("hung", &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	err_clear(&e);
	record_supervisor("hung", pid, child_start_time(pid));
	assert_true(vm_end_by_force("hung", &e));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_false(vm_end_by_force("hung", &e));
}

static void bad_rules_are_named(void **state)
{
	(void)state;
	static const char *const BAD[] = {"*.test", "1.2.3.4",    "a.example:0",
	                                  "",       "a..example", "a.example/x"};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		struct config config;
		struct policy policy;
		struct err e = ERR_INIT;
		config_init(&config);
		assert_false(vm_make_policy(&policy, &config, &BAD[i], 1, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		assert_non_null(strstr(e.msg, "--allow"));
	}
}

/* ---- stdio.h ---- */

struct pump {
	struct loop *loop;
	struct outlet *out;
	struct inlet *in;
	size_t got;
	bool drained, eof, failed;
	int sys;
};

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct pump *p = arg;
	assert_int_equal(bytes[0], 'x');
	p->got += len;
}

static void on_eof(void *arg)
{
	((struct pump *)arg)->eof = true;
}

static void on_drain(void *arg)
{
	((struct pump *)arg)->drained = true;
}

static void on_error(void *arg, const struct err *e)
{
	struct pump *p = arg;
	assert_false(p->failed);
	p->failed = true;
	p->sys = e->sys;
}

static const struct inlet_ops INLET_OPS = {.on_data = on_data, .on_eof = on_eof};
static const struct outlet_ops OUTLET_OPS = {.on_drain = on_drain, .on_error = on_error};

static void pipes_keep_their_flags(void **state)
{
	(void)state;
	struct pump p = {.loop = loop_create()};
	int fds[2];
	size_t size = 1 << 20;
	char *bytes = mem_alloc(size);
	memset(bytes, 'x', size);
	assert_int_equal(pipe(fds), 0);
	p.out = outlet_open(p.loop, fds[1], &OUTLET_OPS, &p);
	p.in = inlet_open(p.loop, fds[0], &INLET_OPS, &p);
	outlet_write(p.out, bytes, size); /* a pipe holds 64 KiB: this must not block */
	assert_false(outlet_is_empty(p.out));
	assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(p.got, 0); /* paused */
	inlet_resume(p.in);
	assert_true(loop_wait_flag(p.loop, &p.drained));
	outlet_close(p.out);
	loop_settle(p.loop);
	close(fds[1]);
	assert_true(loop_wait_flag(p.loop, &p.eof));
	assert_int_equal(p.got, size);
	inlet_close(p.in);
	loop_settle(p.loop);
	close(fds[0]);
	free(bytes);
	loop_destroy(p.loop);
}

static void files_are_always_ready(void **state)
{
	(void)state;
	struct pump p = {.loop = loop_create()};
	char *path FREE_ON_EXIT = mem_printf("%s/file", root);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	p.out = outlet_open(p.loop, fd, &OUTLET_OPS, &p);
	outlet_write(p.out, "xyz", 3);
	assert_true(outlet_is_empty(p.out));
	outlet_close(p.out);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	p.in = inlet_open(p.loop, fd, &INLET_OPS, &p);
	inlet_resume(p.in);
	assert_true(loop_wait_flag(p.loop, &p.eof));
	assert_int_equal(p.got, 3);
	inlet_close(p.in);
	loop_destroy(p.loop);
	close(fd);
}

static void lost_output_is_told_once(void **state)
{
	(void)state;
	struct pump p = {.loop = loop_create()};
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	p.out = outlet_open(p.loop, fds[1], &OUTLET_OPS, &p);
	outlet_write(p.out, "x", 1);
	assert_false(p.failed); /* never from inside the call */
	assert_false(outlet_is_empty(p.out));
	assert_true(loop_wait_flag(p.loop, &p.failed));
	assert_int_equal(p.sys, EPIPE);
	outlet_write(p.out, "x", 1); /* vanishes */
	loop_settle(p.loop);
	assert_true(outlet_is_empty(p.out));
	outlet_close(p.out);
	loop_settle(p.loop);
	close(fds[1]);

	struct pump full = {.loop = p.loop};
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	full.out = outlet_open(p.loop, fd, &OUTLET_OPS, &full);
	outlet_write(full.out, "x", 1);
	assert_true(loop_wait_flag(p.loop, &full.failed));
	assert_int_equal(full.sys, ENOSPC);
	outlet_close(full.out);
	loop_destroy(p.loop);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(litter_is_found_and_life_is_not, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(what_comes_to_life_is_not_removed, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(a_vm_is_made_whole, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(force_hits_only_the_supervisor, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(bad_rules_are_named, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(pipes_keep_their_flags, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(files_are_always_ready, make_root, remove_root),
	    cmocka_unit_test_setup_teardown(lost_output_is_told_once, make_root, remove_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
