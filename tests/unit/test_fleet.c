/* core/client: all VMs from their files and supervisors, and all audit logs as one. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/audit/record.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/feed.h"
#include "core/client/fleet.h"
#include "core/client/internal.h"
#include "core/client/tail.h"
#include "core/loop/child.h"
#include "core/vm/store.h"
#include "tests/lib/fake_control.h"
#include "tests/lib/loop_wait.h"

struct scene {
	struct loop *loop;
	struct fake_control fake; /* the supervisor of "alpha"; its root is everybody's state folder too */
	struct fleet *fleet;
	unsigned changes, connections;
};

static void on_change(void *arg)
{
	((struct scene *)arg)->changes++;
}

static void answer_watch(struct fake_control *f, const struct frame *frame)
{
	if (frame->type == WIRE_STATUS)
		fake_control_status(f, frame->id, "alpha", VM_READY);
}

static char *dir_of(const struct scene *s, const char *name)
{
	return mem_printf("%s/ccvm/%s", s->fake.root, name);
}

static void make_vm(const struct scene *s, const char *name)
{
	struct err e = ERR_INIT;
	char *dir FREE_ON_EXIT = dir_of(s, name);
	struct vm_spec spec = {.image = "base",
	                       .backend = "auto",
	                       .memory_bytes = 512ull << 20,
	                       .disk_bytes = 1ull << 30,
	                       .cpus = 1,
	                       .ready_timeout_ms = 120000,
	                       .created_ms = 1796073242123};
	snprintf(spec.name, sizeof(spec.name), "%s", name);
	if (!fd_make_dirs(dir, 0700, &e) || !store_write_spec(dir, &spec, &e))
		fail_msg("%s", e.msg);
}

static void record(const struct scene *s, const char *name, enum vm_state state, pid_t pid,
                   unsigned long long start)
{
	struct err e = ERR_INIT;
	char *dir FREE_ON_EXIT = dir_of(s, name);
	struct store_status st = {.supervisor_start = start};
	snprintf(st.status.name, sizeof(st.status.name), "%s", name);
	snprintf(st.status.image, sizeof(st.status.image), "base");
	st.status.state = state;
	st.status.supervisor_pid = (uint32_t)pid;
	st.status.memory_bytes = 512ull << 20;
	st.status.cpus = 1;
	if (!store_write_status(dir, &st, &e))
		fail_msg("%s", e.msg);
}

static void begin(struct scene *s)
{
	*s = (struct scene){.loop = loop_create()};
	fake_control_open(&s->fake, s->loop, "alpha");
	s->fake.on_frame = answer_watch;
}

static void open_fleet(struct scene *s)
{
	struct err e = ERR_INIT;
	s->fleet = fleet_open(s->loop, on_change, s, &e);
	if (!s->fleet)
		fail_msg("%s", e.msg);
}

static void finish(struct scene *s)
{
	fleet_close(s->fleet);
	fake_control_close(&s->fake);
	loop_destroy(s->loop);
}

static bool settled(void *arg)
{
	return fleet_is_settled(((struct scene *)arg)->fleet);
}

static enum vm_state state_of(const struct scene *s, const char *name)
{
	const struct fleet_vm *vm = fleet_find(s->fleet, name);
	return vm ? vm->status.state : VM_STATE_COUNT;
}

static bool alpha_is_failed(void *arg)
{
	return state_of(arg, "alpha") == VM_FAILED;
}

static bool alpha_is_ready(void *arg)
{
	return state_of(arg, "alpha") == VM_READY;
}

static bool gamma_is_there(void *arg)
{
	return fleet_find(((struct scene *)arg)->fleet, "gamma") != NULL;
}

static bool gamma_is_gone(void *arg)
{
	return !gamma_is_there(arg);
}

static void every_kind_of_vm_is_shown(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	unsigned long long me = child_start_time(getpid());
	make_vm(&s, "alpha"); /* lives, and answers */
	record(&s, "alpha", VM_BOOTING, getpid(), me);
	make_vm(&s, "beta"); /* said that it lives, but its supervisor's pid is somebody else's now */
	record(&s, "beta", VM_READY, getpid(), me + 1);
	make_vm(&s, "gamma"); /* stopped */
	record(&s, "gamma", VM_STOPPED, getpid(), me);
	make_vm(&s, "new"); /* never started */
	make_vm(&s, "torn");
	char *torn FREE_ON_EXIT = mem_printf("%s/ccvm/torn/status.json", s.fake.root);
	struct err e = ERR_INIT;
	assert_true(fd_write_file(torn, "{\"name\":", 8, 0600, &e));
	char *ghost FREE_ON_EXIT = dir_of(&s, "ghost"); /* no vm.json */
	char *hidden FREE_ON_EXIT = dir_of(&s, ".zeta.tmp-1-2");
	assert_true(fd_make_dirs(ghost, 0700, &e) && fd_make_dirs(hidden, 0700, &e));
	open_fleet(&s);
	assert_true(loop_wait(s.loop, settled, &s));

	static const struct {
		const char *name;
		enum vm_state state;
		const char *why;
	} WANT[] = {{"alpha", VM_READY, "reason"},
	            {"beta", VM_FAILED, "its supervisor died (it was ready)"},
	            {"gamma", VM_STOPPED, ""},
	            {"new", VM_STOPPED, "never started"},
	            {"torn", VM_FAILED, "status.json"}};
	assert_int_equal(fleet_count(s.fleet), ARRAY_LEN(WANT));
	for (size_t i = 0; i < ARRAY_LEN(WANT); i++) {
		const struct fleet_vm *vm = fleet_at(s.fleet, i);
		assert_string_equal(vm->status.name, WANT[i].name);
		assert_int_equal(vm->status.state, WANT[i].state);
		assert_non_null(strstr(vm->status.reason, WANT[i].why));
		assert_true((vm->client != NULL) == (i == 0));
	}
	assert_int_equal(s.fake.frames, 1); /* one watch, no polling */
	const struct vm_attention *dead = &fleet_find(s.fleet, "beta")->status.attention;
	assert_int_equal(dead->state, ATTENTION_FAILED);
	assert_int_equal(dead->source, ATTENTION_BY_EXIT);
	assert_false(dead->seen);
	assert_string_equal(dead->text, "its supervisor died (it was ready)");
	assert_int_equal(dead->at_ms, 0); /* nobody was there */
	finish(&s);
}

static void changes_are_seen(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	make_vm(&s, "alpha");
	record(&s, "alpha", VM_READY, getpid(), child_start_time(getpid()));
	open_fleet(&s);
	assert_true(loop_wait(s.loop, alpha_is_ready, &s));

	make_vm(&s, "gamma");
	/* The folder came before its vm.json, as no program of ours does it; the event of another VM makes us look again. */
	char *other FREE_ON_EXIT = dir_of(&s, ".other");
	struct err e = ERR_INIT;
	assert_true(fd_make_dirs(other, 0700, &e));
	assert_true(loop_wait(s.loop, gamma_is_there, &s));
	char *gamma FREE_ON_EXIT = dir_of(&s, "gamma");
	assert_true(fd_remove_tree(gamma, &e));
	assert_true(loop_wait(s.loop, gamma_is_gone, &s));

	/* The supervisor dies: its connection ends and its pid is nobody's. */
	record(&s, "alpha", VM_READY, getpid(), 1);
	fake_control_hang_up(&s.fake);
	assert_true(loop_wait(s.loop, alpha_is_failed, &s));
	assert_null(fleet_find(s.fleet, "alpha")->client);
	assert_int_equal(fleet_find(s.fleet, "alpha")->status.attention.state, ATTENTION_FAILED);
	assert_true(fleet_find(s.fleet, "alpha")->status.attention.at_ms > 0); /* it died before our eyes */

	/* It is started again. */
	record(&s, "alpha", VM_CREATING, getpid(), child_start_time(getpid()));
	assert_true(loop_wait(s.loop, alpha_is_ready, &s));
	assert_non_null(fleet_find(s.fleet, "alpha")->client);
	finish(&s);
}

static bool tried_twice(void *arg)
{
	return ((struct scene *)arg)->connections >= 2;
}

static void count_connections(void *arg)
{
	struct scene *s = arg;
	const struct fleet_vm *vm = fleet_find(s->fleet, "alpha");
	if (vm->settled && !vm->client)
		s->connections++;
	if (vm->settled) /* it does not flicker while it is tried again */
		assert_non_null(strstr(vm->status.reason, "0.0.1"));
}

static void another_version_is_told_and_tried_again(void **state)
{
	(void)state;
	struct scene s;
	struct err e = ERR_INIT;
	begin(&s);
	s.fake.major = WIRE_MAJOR + 1;
	make_vm(&s, "alpha");
	record(&s, "alpha", VM_READY, getpid(), child_start_time(getpid()));
	s.fleet = fleet_open(s.loop, count_connections, &s, &e);
	assert_non_null(s.fleet);
	assert_true(loop_wait(s.loop, tried_twice, &s));
	assert_int_equal(state_of(&s, "alpha"), VM_READY); /* it runs, and says why nobody can talk to it */
	s.fake.major = 0;
	while (!fleet_find(s.fleet, "alpha")->client || !client_is_open(fleet_find(s.fleet, "alpha")->client))
		loop_turn(s.loop, false);
	finish(&s);
}

static bool is_deaf(void *arg)
{
	return fleet_find(((struct scene *)arg)->fleet, "alpha")->deaf;
}

static bool hears(void *arg)
{
	const struct fleet_vm *vm = fleet_find(((struct scene *)arg)->fleet, "alpha");
	return !vm->deaf && vm->settled;
}

/* Its record is there before its socket. */
static void one_that_does_not_listen_yet_is_told(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	make_vm(&s, "beta");
	record(&s, "beta", VM_STOPPED, 1, 1);
	make_vm(&s, "alpha");
	record(&s, "alpha", VM_READY, getpid(), child_start_time(getpid()));
	char *run FREE_ON_EXIT = mem_printf("%s/ccvm/alpha/control.sock", s.fake.root);
	char *away FREE_ON_EXIT = mem_printf("%s/ccvm/alpha/away", s.fake.root);
	assert_int_equal(rename(run, away), 0);
	open_fleet(&s);
	assert_true(loop_wait(s.loop, is_deaf, &s));
	assert_int_equal(state_of(&s, "alpha"), VM_READY);
	assert_false(fleet_find(s.fleet, "beta")->deaf); /* there is nobody who should listen */
	assert_int_equal(rename(away, run), 0);
	assert_true(loop_wait(s.loop, hears, &s));
	finish(&s);
}

static bool silent; /* the fake reads and says nothing */

static void answer_or_not(struct fake_control *f, const struct frame *frame)
{
	if (!silent)
		answer_watch(f, frame);
}

static bool hangs(void *arg)
{
	struct scene *s = arg;
	fleet_look(s->fleet);
	return fleet_find(s->fleet, "alpha")->hangs;
}

static bool answers_again(void *arg)
{
	return !hangs(arg);
}

static void a_supervisor_that_hangs_is_seen_by_looking(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	s.fake.on_frame = answer_or_not;
	make_vm(&s, "alpha");
	record(&s, "alpha", VM_READY, getpid(), child_start_time(getpid()));
	open_fleet(&s);
	assert_true(loop_wait(s.loop, settled, &s));
	loop_settle(s.loop);
	unsigned asked = s.fake.frames;
	for (int i = 0; i < 50; i++) /* too early to ask again */
		fleet_look(s.fleet);
	loop_settle(s.loop);
	assert_int_equal(s.fake.frames, asked);
	silent = true;
	clock_skip_mono(FLEET_ASK_MS);
	for (int i = 0; i < 50; i++) /* one question, however often somebody looks */
		fleet_look(s.fleet);
	loop_settle(s.loop);
	assert_int_equal(s.fake.frames, asked + 1);
	assert_false(fleet_find(s.fleet, "alpha")->hangs);
	unsigned changes = s.changes;
	clock_skip_mono(FLEET_HANGS_MS);
	assert_true(hangs(&s));
	loop_settle(s.loop);
	assert_int_equal(s.changes, changes + 1);
	assert_int_equal(state_of(&s, "alpha"), VM_READY); /* what it said last */
	silent = false;
	fake_control_status(&s.fake, s.fake.last_id, "alpha", VM_READY); /* it wakes up */
	assert_true(loop_wait(s.loop, answers_again, &s));
	loop_settle(s.loop);
	assert_int_equal(s.changes, changes + 2);
	finish(&s);
}

static void one_that_never_says_hello_hangs(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	s.fake.say_hello = false;
	make_vm(&s, "alpha");
	record(&s, "alpha", VM_READY, getpid(), child_start_time(getpid()));
	open_fleet(&s);
	assert_true(loop_wait_flag(s.loop, &s.fake.hello_came));
	assert_false(hangs(&s));
	clock_skip_mono(FLEET_HANGS_MS);
	assert_true(hangs(&s));
	client_expire(fleet_find(s.fleet, "alpha")->client); /* it is given up, and tried again */
	assert_true(loop_wait(s.loop, settled, &s));
	assert_true(fleet_find(s.fleet, "alpha")->hangs);
	assert_non_null(strstr(fleet_find(s.fleet, "alpha")->status.reason, "ccvm kill alpha"));
	s.fake.say_hello = true;
	assert_true(loop_wait(s.loop, answers_again, &s));
	finish(&s);
}

static void a_removed_and_made_again_vm_is_another_one(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	make_vm(&s, "beta");
	record(&s, "beta", VM_STOPPED, 1, 1);
	open_fleet(&s);
	assert_true(loop_wait(s.loop, settled, &s));
	char *beta FREE_ON_EXIT = dir_of(&s, "beta"), *other FREE_ON_EXIT = dir_of(&s, "beta2");
	struct err e = ERR_INIT;
	make_vm(&s, "beta2"); /* so that the inode of the new folder cannot be the old one's */
	assert_true(fd_remove_tree(beta, &e));
	assert_int_equal(rename(other, beta), 0);
	make_vm(&s, "beta");
	record(&s, "beta", VM_FAILED, 1, 1);
	fleet_rescan(s.fleet);
	assert_int_equal(fleet_count(s.fleet), 1);
	assert_int_equal(state_of(&s, "beta"), VM_FAILED);
	finish(&s);
}

/* ---- the feed ---- */

static void append(const struct scene *s, const char *name, int64_t t_ms, const char *host)
{
	char line[AUDIT_LINE_MAX + 1];
	struct audit_record r = {
	    .seq = 1, .t_ms = t_ms, .event = AUDIT_DENY, .port = 443, .why = AUDIT_NO_RULE, .conn = 1};
	snprintf(r.host, sizeof(r.host), "%s", host);
	snprintf(r.vm, sizeof(r.vm), "%s", name);
	size_t len = audit_format(&r, line);
	char *path FREE_ON_EXIT = mem_printf("%s/ccvm/%s/audit.jsonl", s->fake.root, name);
	FILE *f = fopen(path, "ae");
	assert_non_null(f);
	assert_int_equal(fwrite(line, 1, len, f), len);
	fclose(f);
}

struct feed_scene {
	struct feed *feed;
	size_t want;
};

static void on_feed(void *arg)
{
	(void)arg;
}

static struct feed_list list_of(struct feed_scene *f)
{
	struct feed_list list;
	feed_look(f->feed, &list);
	return list;
}

static bool has_wanted(void *arg)
{
	struct feed_scene *f = arg;
	return list_of(f).entry_count == f->want;
}

static void logs_become_one_feed(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	make_vm(&s, "beta");
	make_vm(&s, "gamma");
	for (int i = 0; i < 5; i++)
		append(&s, "beta", 1000 + i * 10, "beta.example");
	append(&s, "gamma", 1035, "gamma.example");
	open_fleet(&s);
	assert_true(loop_wait(s.loop, settled, &s));
	struct feed_scene f = {.feed = feed_open(s.loop, 6, 3, on_feed, NULL)};
	feed_sync(f.feed, s.fleet);
	f.want = 4; /* the last three of beta, the one of gamma */
	assert_true(loop_wait(s.loop, has_wanted, &f));
	static const char *const ORDER[] = {"beta", "beta", "gamma", "beta"};
	for (size_t i = 0; i < ARRAY_LEN(ORDER); i++)
		assert_string_equal(list_of(&f).entries[i]->vm, ORDER[i]);
	assert_string_equal(list_of(&f).entries[2]->target, "gamma.example:443");
	assert_int_equal(list_of(&f).entries[2]->event, FEED_DENY);
	assert_string_equal(list_of(&f).entries[2]->why, "no rule allows it");

	append(&s, "gamma", 2000, "x\x1b[31m.example"); /* live, and hostile */
	f.want = 5;
	assert_true(loop_wait(s.loop, has_wanted, &f));
	assert_string_equal(list_of(&f).entries[4]->target, "x\\x1b[31m.example:443");
	append(&s, "beta", 2001, "a.example");
	append(&s, "beta", 2002, "b.example");
	append(&s, "beta", 2003, "c.example");
	while (strcmp(list_of(&f).entries[list_of(&f).entry_count - 1]->target, "c.example:443") != 0)
		loop_turn(s.loop, false);
	assert_int_equal(list_of(&f).entry_count, 6); /* bounded: the oldest went */
	assert_int_equal(list_of(&f).entries[0]->time_ms, 1035);

	struct err e = ERR_INIT;
	char *beta FREE_ON_EXIT = dir_of(&s, "beta");
	assert_true(fd_remove_tree(beta, &e));
	fleet_rescan(s.fleet);
	feed_sync(f.feed, s.fleet);
	assert_int_equal(list_of(&f).entry_count, 2); /* gamma's */
	feed_close(f.feed);
	finish(&s);
}

static void the_last_lines_are_found(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t lines;
		uint64_t offset;
	} CASES[] = {{"", 3, 0},          {"a\nb\nc\n", 1, 4}, {"a\nb\nc\n", 2, 2},  {"a\nb\nc\n", 3, 0},
	             {"a\nb\nc\n", 9, 0}, {"a\nb\nc\n", 0, 6}, {"a\nb\nlast", 1, 4}, {"\n\n\n", 1, 2},
	             {"one line", 1, 0},  {"a\n\nb\n", 2, 2}};
	char path[] = "/tmp/ccvm-tail-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
		assert_true(fd_write_file(path, CASES[i].text, strlen(CASES[i].text), 0600, &e));
		assert_int_equal(tail_offset(path, CASES[i].lines, 1 << 20), CASES[i].offset);
	}
	/* Over several pieces, and with a bound. */
	char *big = mem_alloc(100000);
	memset(big, 'x', 100000);
	big[50000] = '\n';
	big[99999] = '\n';
	assert_true(fd_write_file(path, big, 100000, 0600, &e));
	assert_int_equal(tail_offset(path, 1, UINT64_MAX), 50001);
	assert_int_equal(tail_offset(path, 2, UINT64_MAX), 0);
	assert_true(tail_offset(path, 2, 60000) > 0);
	assert_int_equal(tail_offset("/nonexistent", 1, 100), 0);
	free(big);
	fd_close(&fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_kind_of_vm_is_shown),
	    cmocka_unit_test(changes_are_seen),
	    cmocka_unit_test(another_version_is_told_and_tried_again),
	    cmocka_unit_test(one_that_does_not_listen_yet_is_told),
	    cmocka_unit_test(a_supervisor_that_hangs_is_seen_by_looking),
	    cmocka_unit_test(one_that_never_says_hello_hangs),
	    cmocka_unit_test(a_removed_and_made_again_vm_is_another_one),
	    cmocka_unit_test(logs_become_one_feed),
	    cmocka_unit_test(the_last_lines_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
