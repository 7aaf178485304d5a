/* core/supervisor/machine: every cell of the table, by rules that hold for all of them and by the paths that matter. */
#include "tests/lib/test.h"

#include "core/supervisor/machine.h"

static struct machine_step step(enum machine_state s, enum machine_event ev)
{
	return machine_step(s, ev);
}

static bool is_over(enum machine_state s)
{
	return s == MACHINE_STOPPED || s == MACHINE_FAILED;
}

static bool is_tearing_down(enum machine_state s)
{
	return s == MACHINE_ENDING || s == MACHINE_FAILING;
}

/* Events that a client, a guest or a dying child can cause at any time that the thing exists. */
static void no_outsider_can_cause_a_bug(void **state)
{
	(void)state;
	static const enum machine_event ALWAYS[] = {MACHINE_STOP_ASKED, MACHINE_KILL_ASKED};
	static const enum machine_event WHILE_CHILDREN_LIVE[] = {MACHINE_GUEST_READY, MACHINE_OTHER_VERSION,
	                                                         MACHINE_VSOCK_DIED, MACHINE_PROXY_DIED,
	                                                         MACHINE_PROXY_UP};
	static const enum machine_event WHILE_THE_VMM_LIVES[] = {MACHINE_VMM_POWERED_OFF, MACHINE_VMM_DIED,
	                                                         MACHINE_GUEST_CRASHED};
	for (enum machine_state s = 0; s < MACHINE_STATE_COUNT; s++) {
		for (size_t i = 0; i < ARRAY_LEN(ALWAYS); i++)
			assert_int_not_equal(step(s, ALWAYS[i]).verdict, MACHINE_BUG);
		for (size_t i = 0; i < ARRAY_LEN(WHILE_CHILDREN_LIVE) && !is_over(s); i++)
			assert_int_not_equal(step(s, WHILE_CHILDREN_LIVE[i]).verdict, MACHINE_BUG);
		for (size_t i = 0; i < ARRAY_LEN(WHILE_THE_VMM_LIVES) && !is_over(s) && s != MACHINE_CREATING;
		     i++)
			assert_int_not_equal(step(s, WHILE_THE_VMM_LIVES[i]).verdict, MACHINE_BUG);
	}
}

static void every_cell_makes_sense(void **state)
{
	(void)state;
	for (enum machine_state s = 0; s < MACHINE_STATE_COUNT; s++) {
		for (enum machine_event ev = 0; ev < MACHINE_EVENT_COUNT; ev++) {
			struct machine_step st = step(s, ev);
			if (st.verdict != MACHINE_HANDLED) {
				assert_int_equal(st.next, s);
				assert_int_equal(st.action, MACHINE_NOTHING);
				continue;
			}
			assert_false(is_over(s)); /* nothing happens after the end */
			/* What is ended is torn down, and only that is; what is over is finished, and only that. */
			assert_int_equal(st.action == MACHINE_TEAR_DOWN,
			                 is_tearing_down(st.next) && !is_tearing_down(s));
			assert_int_equal(st.action == MACHINE_FINISH, is_over(st.next));
			/* Never back. */
			assert_true(st.next >= s);
			/* A VM that fails has failed for good, and one that was asked to end does not fail. */
			if (s == MACHINE_FAILING)
				assert_int_equal(st.next, MACHINE_FAILED);
			if (s == MACHINE_ENDING)
				assert_int_equal(st.next, MACHINE_STOPPED);
			if (s == MACHINE_STOPPING)
				assert_true(st.next == MACHINE_STOPPING || st.next == MACHINE_ENDING);
		}
	}
}

static void names_and_public_states(void **state)
{
	(void)state;
	for (enum machine_state s = 0; s < MACHINE_STATE_COUNT; s++) {
		assert_non_null(machine_state_name(s));
		assert_int_equal(vm_state_is_live(machine_public_state(s)), !is_over(s));
	}
	for (enum machine_event ev = 0; ev < MACHINE_EVENT_COUNT; ev++)
		assert_non_null(machine_event_name(ev));
	assert_int_equal(machine_public_state(MACHINE_ENDING), VM_STOPPING);
	assert_int_equal(machine_public_state(MACHINE_FAILING), VM_STOPPING);
	assert_int_equal(machine_public_state(MACHINE_FAILED), VM_FAILED);
}

static void the_paths_that_matter(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum machine_event events[8];
		size_t count;
		enum machine_state end;
	} PATHS[] = {
	    {"a good life",
	     {MACHINE_SET_UP, MACHINE_GUEST_READY, MACHINE_STOP_ASKED, MACHINE_VMM_POWERED_OFF,
	      MACHINE_VSOCK_DIED, MACHINE_ALL_GONE},
	     6,
	     MACHINE_STOPPED},
	    {"an image that is broken",
	     {MACHINE_SETUP_FAILED, MACHINE_PROXY_DIED, MACHINE_ALL_GONE},
	     3,
	     MACHINE_FAILED},
	    {"a guest that does not come up",
	     {MACHINE_SET_UP, MACHINE_DEADLINE, MACHINE_VMM_DIED, MACHINE_ALL_GONE},
	     4,
	     MACHINE_FAILED},
	    {"an image of another version",
	     {MACHINE_SET_UP, MACHINE_OTHER_VERSION, MACHINE_OTHER_VERSION, MACHINE_VMM_DIED,
	      MACHINE_ALL_GONE},
	     5,
	     MACHINE_FAILED},
	    {"a program of a guest that claims another version",
	     {MACHINE_SET_UP, MACHINE_GUEST_READY, MACHINE_OTHER_VERSION},
	     3,
	     MACHINE_READY},
	    {"a proxy that dies on the way",
	     {MACHINE_SET_UP, MACHINE_PROXY_DIED, MACHINE_PROXY_UP, MACHINE_GUEST_READY, MACHINE_PROXY_DIED,
	      MACHINE_PROXY_UP},
	     6,
	     MACHINE_READY},
	    {"a killed VMM",
	     {MACHINE_SET_UP, MACHINE_GUEST_READY, MACHINE_VMM_DIED, MACHINE_ALL_GONE},
	     4,
	     MACHINE_FAILED},
	    {"poweroff in the guest",
	     {MACHINE_SET_UP, MACHINE_GUEST_READY, MACHINE_VMM_POWERED_OFF, MACHINE_ALL_GONE},
	     4,
	     MACHINE_STOPPED},
	    {"poweroff while it boots",
	     {MACHINE_SET_UP, MACHINE_VMM_POWERED_OFF, MACHINE_ALL_GONE},
	     3,
	     MACHINE_FAILED},
	    {"a guest that does not stop",
	     {MACHINE_SET_UP, MACHINE_GUEST_READY, MACHINE_STOP_ASKED, MACHINE_STOP_ASKED, MACHINE_GRACE_OVER,
	      MACHINE_VMM_DIED, MACHINE_ALL_GONE},
	     7,
	     MACHINE_STOPPED},
	    {"a stop before it runs",
	     {MACHINE_STOP_ASKED, MACHINE_KILL_ASKED, MACHINE_ALL_GONE},
	     3,
	     MACHINE_STOPPED},
	    {"killed",
	     {MACHINE_SET_UP, MACHINE_GUEST_READY, MACHINE_KILL_ASKED, MACHINE_VMM_DIED, MACHINE_ALL_GONE},
	     5,
	     MACHINE_STOPPED},
	};
	for (size_t i = 0; i < ARRAY_LEN(PATHS); i++) {
		enum machine_state s = MACHINE_CREATING;
		for (size_t k = 0; k < PATHS[i].count; k++) {
			struct machine_step st = step(s, PATHS[i].events[k]);
			if (st.verdict == MACHINE_BUG)
				fail_msg("%s: '%s' in '%s' is a bug", PATHS[i].name,
				         machine_event_name(PATHS[i].events[k]), machine_state_name(s));
			s = st.next;
		}
		if (s != PATHS[i].end)
			fail_msg("%s ends in '%s'", PATHS[i].name, machine_state_name(s));
	}
}

static void actions_where_they_belong(void **state)
{
	(void)state;
	assert_int_equal(step(MACHINE_CREATING, MACHINE_SET_UP).action, MACHINE_START_VMM);
	assert_int_equal(step(MACHINE_BOOTING, MACHINE_GUEST_READY).action, MACHINE_GREET);
	assert_int_equal(step(MACHINE_READY, MACHINE_STOP_ASKED).action, MACHINE_ASK_GUEST);
	assert_int_equal(step(MACHINE_READY, MACHINE_PROXY_DIED).action, MACHINE_RESTART_PROXY);
	assert_int_equal(step(MACHINE_READY, MACHINE_PROXY_UP).action, MACHINE_CHECK_EGRESS);
	assert_int_equal(step(MACHINE_CREATING, MACHINE_PROXY_DIED).action, MACHINE_TEAR_DOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_outsider_can_cause_a_bug), cmocka_unit_test(every_cell_makes_sense),
	    cmocka_unit_test(names_and_public_states),     cmocka_unit_test(the_paths_that_matter),
	    cmocka_unit_test(actions_where_they_belong),
	};
	return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
