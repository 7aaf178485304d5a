/* core/supervisor/live_policy: a change is in force or it is taken back, one at a time, and the file always says what is
 * in force. */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/supervisor/live_policy.h"
#include "tests/lib/loop_wait.h"

#define BEFORE "allow a.test:443\n"

struct rig {
	char path[40];
	struct loop *loop;
	struct live_policy *p;
	unsigned told; /* times that the proxy was told */
	char said[600];
	enum err_kind kind;
	bool done;
};

static void tell_proxy(void *arg)
{
	struct rig *r = arg;
	r->told++;
}

static void on_done(void *arg, const char *text, const struct err *e)
{
	struct rig *r = arg;
	snprintf(r->said, sizeof(r->said), "%s", e ? e->msg : text);
	r->kind = e ? e->kind : ERR_NONE;
	r->done = true;
}

static int setup(void **state)
{
	struct rig *r = mem_alloc(sizeof(*r));
	struct err e = ERR_INIT;
	snprintf(r->path, sizeof(r->path), "/tmp/ccvm-test-XXXXXX");
	int fd = mkstemp(r->path);
	assert_true(fd >= 0);
	fd_close(&fd);
	assert_true(fd_write_file(r->path, BEFORE, strlen(BEFORE), 0600, &e));
	r->loop = loop_create();
	r->p = live_policy_create(r->loop, r->path, tell_proxy, r);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;
	clock_freeze_wall(-1);
	live_policy_destroy(r->p);
	loop_destroy(r->loop);
	unlink(r->path);
	free(r);
	return 0;
}

static void ask_for(struct rig *r, enum rule_kind kind, const char *text, uint32_t seconds)
{
	struct err e = ERR_INIT;
	r->done = false;
	assert_non_null(live_policy_change(r->p, kind, text, seconds, on_done, r, &e));
	loop_settle(r->loop);
}

static void ask(struct rig *r, enum rule_kind kind, const char *text)
{
	ask_for(r, kind, text, 0);
}

static void expect_file(const struct rig *r, const char *want)
{
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(r->path, 4096, NULL, &e);
	assert_non_null(text);
	assert_string_equal(text, want);
}

static void expect_done(const struct rig *r, enum err_kind kind, const char *text)
{
	assert_true(r->done);
	assert_int_equal(r->kind, kind);
	assert_non_null(strstr(r->said, text));
}

static void done_when_the_proxy_says_so(void **state)
{
	struct rig *r = *state;
	ask(r, RULE_ALLOW, "B.test");
	expect_file(r, BEFORE "allow b.test:443\n");
	assert_int_equal(r->told, 1);
	live_policy_proxy_line(r->p, "tunnels 3"); /* not about the policy */
	loop_settle(r->loop);
	assert_false(r->done);
	live_policy_proxy_line(r->p, "policy ok 2");
	expect_done(r, ERR_NONE, "allow b.test:443: in force");
	ask(r, RULE_DENY, "b.test");
	live_policy_proxy_line(r->p, "ready"); /* a new proxy has read the file */
	expect_done(r, ERR_NONE, "deny b.test: in force for new connections");
	expect_file(r, BEFORE "deny b.test\n");
}

static void refused_changes_are_taken_back(void **state)
{
	struct rig *r = *state;
	for (enum rule_kind kind = RULE_ALLOW; kind <= RULE_DENY; kind++) {
		unsigned told = r->told;
		ask(r, kind, "b.test");
		live_policy_proxy_line(r->p, "policy error policy:2: too bad");
		expect_done(r, ERR_INVALID, "policy:2: too bad");
		expect_file(r, BEFORE);
		assert_int_equal(r->told, told + 2); /* of the change, and that it is off */
		/* The answer to that one is not the next change's. */
		ask(r, RULE_ALLOW, "c.test");
		assert_int_equal(r->told, told + 2);
		live_policy_proxy_line(r->p, "policy ok 1");
		loop_settle(r->loop);
		assert_false(r->done);
		assert_int_equal(r->told, told + 3);
		live_policy_proxy_line(r->p, "policy error no");
		expect_done(r, ERR_INVALID, "no");
		live_policy_proxy_line(r->p, "policy ok 1");
	}
}

static void a_late_deny_is_not_forgotten(void **state)
{
	struct rig *r = *state;
	ask(r, RULE_DENY, "a.test");
	assert_true(loop_wait_flag(r->loop, &r->done));
	expect_done(r, ERR_TIMEOUT, "perhaps not in force");
	expect_file(r, "deny a.test\n");
}

static void nothing_to_do_tells_nobody(void **state)
{
	struct rig *r = *state;
	struct err e = ERR_INIT;
	ask(r, RULE_ALLOW, "a.test:443");
	expect_done(r, ERR_NONE, "nothing to change");
	assert_null(live_policy_change(r->p, RULE_ALLOW, "*.test", 0, on_done, r, &e));
	assert_int_equal(e.kind, ERR_INVALID);
	loop_settle(r->loop);
	assert_int_equal(r->told, 0);
	expect_file(r, BEFORE);
}

static void one_at_a_time(void **state)
{
	struct rig *r = *state;
	struct err e = ERR_INIT;
	struct policy_change *forgotten = live_policy_change(r->p, RULE_ALLOW, "b.test", 0, on_done, r, &e);
	assert_non_null(forgotten);
	policy_change_forget(forgotten);
	ask(r, RULE_ALLOW, "c.test");
	expect_file(r, BEFORE "allow b.test:443\n");
	live_policy_proxy_line(r->p, "policy ok 2");
	assert_false(r->done);
	loop_settle(r->loop);
	expect_file(r, BEFORE "allow b.test:443\nallow c.test:443\n");
	live_policy_proxy_line(r->p, "policy ok 3");
	expect_done(r, ERR_NONE, "c.test");
	for (int i = 0; i < LIVE_POLICY_MOST; i++)
		assert_non_null(live_policy_change(r->p, RULE_ALLOW, "d.test", 0, on_done, r, &e));
	assert_null(live_policy_change(r->p, RULE_ALLOW, "d.test", 0, on_done, r, &e));
	assert_int_equal(e.kind, ERR_BUSY);
}

#define NOW_MS 1796120400000 /* 2026-12-01T10:20:00Z */

static void an_allow_may_have_a_life(void **state)
{
	struct rig *r = *state;
	struct err e = ERR_INIT;
	clock_freeze_wall(NOW_MS);
	ask_for(r, RULE_ALLOW, "telemetry.example", 600);
	live_policy_proxy_line(r->p, "policy ok 2");
	expect_done(r, ERR_NONE, "telemetry.example:443 allowed for 10 minutes, until 10:30");
	expect_file(r, BEFORE "allow telemetry.example:443 until 2026-12-01T10:30:00Z\n");
	ask_for(r, RULE_ALLOW, "telemetry.example", 60);
	expect_done(r, ERR_NONE, "until 2026-12-01T10:30:00Z: nothing to change");
	ask_for(r, RULE_ALLOW, "a.test", 60); /* for good already */
	expect_done(r, ERR_NONE, "allow a.test:443: nothing to change");
	ask_for(r, RULE_ALLOW, "telemetry.example", 86400);
	live_policy_proxy_line(r->p, "policy ok 2");
	expect_done(r, ERR_NONE, "telemetry.example:443 allowed for 1 day, until 2026-12-02 10:20");
	ask_for(r, RULE_ALLOW, "telemetry.example", 0);
	live_policy_proxy_line(r->p, "policy ok 2");
	expect_done(r, ERR_NONE, "allow telemetry.example:443: in force");
	expect_file(r, BEFORE "allow telemetry.example:443\n");
	assert_null(live_policy_change(r->p, RULE_ALLOW, "b.test", RULE_LIFE_MOST_S + 1, on_done, r, &e));
	assert_non_null(strstr(e.msg, "30 days"));
}

static void what_is_over_goes_with_the_next_change(void **state)
{
	struct rig *r = *state;
	clock_freeze_wall(NOW_MS);
	ask_for(r, RULE_ALLOW, "b.test", 90);
	live_policy_proxy_line(r->p, "policy ok 2");
	expect_done(r, ERR_NONE, "b.test:443 allowed for 90 seconds, until 10:21");
	clock_freeze_wall(NOW_MS + 90 * 1000);
	ask(r, RULE_DENY, "c.test");
	live_policy_proxy_line(r->p, "policy ok 2");
	expect_file(r, BEFORE "deny c.test\n");
	/* ... and with the next start. */
	ask_for(r, RULE_ALLOW, "b.test", 90);
	live_policy_proxy_line(r->p, "policy ok 2");
	clock_freeze_wall(NOW_MS + 180 * 1000);
	live_policy_destroy(r->p);
	r->p = live_policy_create(r->loop, r->path, tell_proxy, r);
	expect_file(r, BEFORE "deny c.test\n");
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(done_when_the_proxy_says_so),
	    TEST(refused_changes_are_taken_back),
	    TEST(a_late_deny_is_not_forgotten),
	    TEST(nothing_to_do_tells_nobody),
	    TEST(one_at_a_time),
	    TEST(an_allow_may_have_a_life),
	    TEST(what_is_over_goes_with_the_next_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
