#include "core/supervisor/machine.h"

#define DO(state, act)                                          \
	{                                                       \
		MACHINE_HANDLED, MACHINE_##state, MACHINE_##act \
	}
#define SKIP                                                       \
	{                                                          \
		MACHINE_IGNORED, MACHINE_CREATING, MACHINE_NOTHING \
	}
#define NEVER                                                  \
	{                                                      \
		MACHINE_BUG, MACHINE_CREATING, MACHINE_NOTHING \
	}

static const struct machine_step TABLE[MACHINE_STATE_COUNT][MACHINE_EVENT_COUNT] =
    {
        [MACHINE_CREATING] =
            {
                [MACHINE_SET_UP] = DO(BOOTING, START_VMM),
                [MACHINE_SETUP_FAILED] = DO(FAILING, TEAR_DOWN),
                [MACHINE_GUEST_READY] = SKIP, /* no guest runs: somebody of this user plays with our socket */
                [MACHINE_OTHER_VERSION] = SKIP,
                [MACHINE_DEADLINE] = NEVER, /* armed by START_VMM */
                [MACHINE_STOP_ASKED] = DO(ENDING, TEAR_DOWN),
                [MACHINE_KILL_ASKED] = DO(ENDING, TEAR_DOWN),
                [MACHINE_GRACE_OVER] = NEVER,      /* armed by ASK_GUEST */
                [MACHINE_VMM_POWERED_OFF] = NEVER, /* started by START_VMM */
                [MACHINE_VMM_DIED] = NEVER,
                [MACHINE_GUEST_CRASHED] = NEVER,
                [MACHINE_VSOCK_DIED] = DO(FAILING, TEAR_DOWN),
                [MACHINE_PROXY_DIED] = DO(FAILING, TEAR_DOWN), /* a bad policy does not get better */
                [MACHINE_PROXY_UP] = SKIP,                     /* the set-up counts it */
                [MACHINE_ALL_GONE] = NEVER,                    /* only after TEAR_DOWN */
            },
        [MACHINE_BOOTING] =
            {
                [MACHINE_SET_UP] = NEVER,
                [MACHINE_SETUP_FAILED] = DO(FAILING, TEAR_DOWN), /* the VMM could not be started */
                [MACHINE_GUEST_READY] = DO(READY, GREET),
                [MACHINE_OTHER_VERSION] = DO(FAILING, TEAR_DOWN),
                [MACHINE_DEADLINE] = DO(FAILING, TEAR_DOWN),
                [MACHINE_STOP_ASKED] = DO(ENDING, TEAR_DOWN), /* nobody in the guest listens yet */
                [MACHINE_KILL_ASKED] = DO(ENDING, TEAR_DOWN),
                [MACHINE_GRACE_OVER] = NEVER,
                [MACHINE_VMM_POWERED_OFF] = DO(FAILING, TEAR_DOWN),
                [MACHINE_VMM_DIED] = DO(FAILING, TEAR_DOWN),
                [MACHINE_GUEST_CRASHED] = DO(FAILING, TEAR_DOWN),
                [MACHINE_VSOCK_DIED] = DO(FAILING, TEAR_DOWN),
                [MACHINE_PROXY_DIED] = DO(BOOTING, RESTART_PROXY),
                [MACHINE_PROXY_UP] = SKIP, /* GREET asks about the whole path */
                [MACHINE_ALL_GONE] = NEVER,
            },
        [MACHINE_READY] =
            {
                [MACHINE_SET_UP] = NEVER,
                [MACHINE_SETUP_FAILED] = NEVER,
                [MACHINE_GUEST_READY] = SKIP, /* said twice: the guest's affair */
                [MACHINE_OTHER_VERSION] = SKIP,
                [MACHINE_DEADLINE] = NEVER, /* disarmed by GREET */
                [MACHINE_STOP_ASKED] = DO(STOPPING, ASK_GUEST),
                [MACHINE_KILL_ASKED] = DO(ENDING, TEAR_DOWN),
                [MACHINE_GRACE_OVER] = NEVER,
                [MACHINE_VMM_POWERED_OFF] = DO(ENDING, TEAR_DOWN), /* somebody ran poweroff in the guest */
                [MACHINE_VMM_DIED] = DO(FAILING, TEAR_DOWN),
                [MACHINE_GUEST_CRASHED] = DO(FAILING, TEAR_DOWN),
                [MACHINE_VSOCK_DIED] = DO(FAILING, TEAR_DOWN),
                [MACHINE_PROXY_DIED] = DO(READY, RESTART_PROXY),
                [MACHINE_PROXY_UP] = DO(READY, CHECK_EGRESS),
                [MACHINE_ALL_GONE] = NEVER,
            },
        [MACHINE_STOPPING] =
            {
                [MACHINE_SET_UP] = NEVER,
                [MACHINE_SETUP_FAILED] = NEVER,
                [MACHINE_GUEST_READY] = SKIP,
                [MACHINE_OTHER_VERSION] = SKIP,
                [MACHINE_DEADLINE] = NEVER,
                [MACHINE_STOP_ASKED] = DO(STOPPING, ASK_GUEST), /* again, with another grace */
                [MACHINE_KILL_ASKED] = DO(ENDING, TEAR_DOWN),
                [MACHINE_GRACE_OVER] = DO(ENDING, TEAR_DOWN),
                [MACHINE_VMM_POWERED_OFF] = DO(ENDING, TEAR_DOWN),
                [MACHINE_VMM_DIED] = DO(ENDING, TEAR_DOWN), /* not pretty, but stopped is what was asked */
                [MACHINE_GUEST_CRASHED] = DO(ENDING, TEAR_DOWN),
                [MACHINE_VSOCK_DIED] = DO(ENDING, TEAR_DOWN), /* no way left to ask */
                [MACHINE_PROXY_DIED] = SKIP,
                [MACHINE_PROXY_UP] = SKIP,
                [MACHINE_ALL_GONE] = NEVER,
            },
/* Children end one after the other, timers and clients may come late: only the last one counts. */
#define WHILE_TEARING_DOWN(final)                                                                            \
	{                                                                                                    \
		[MACHINE_SET_UP] = SKIP, [MACHINE_SETUP_FAILED] = SKIP, [MACHINE_GUEST_READY] = SKIP,        \
		[MACHINE_OTHER_VERSION] = SKIP, [MACHINE_DEADLINE] = NEVER, [MACHINE_STOP_ASKED] = SKIP,     \
		[MACHINE_KILL_ASKED] = SKIP, [MACHINE_GRACE_OVER] = NEVER, [MACHINE_VMM_POWERED_OFF] = SKIP, \
		[MACHINE_VMM_DIED] = SKIP, [MACHINE_GUEST_CRASHED] = SKIP, [MACHINE_VSOCK_DIED] = SKIP,      \
		[MACHINE_PROXY_DIED] = SKIP, [MACHINE_PROXY_UP] = SKIP,                                      \
		[MACHINE_ALL_GONE] = DO(final, FINISH),                                                      \
	}
        [MACHINE_ENDING] = WHILE_TEARING_DOWN(STOPPED),
        [MACHINE_FAILING] = WHILE_TEARING_DOWN(FAILED),
/* Nothing runs; clients may still be connected while they read the last status. */
#define AFTER_THE_END                                                                                        \
	{                                                                                                    \
		[MACHINE_SET_UP] = NEVER, [MACHINE_SETUP_FAILED] = NEVER, [MACHINE_GUEST_READY] = NEVER,     \
		[MACHINE_OTHER_VERSION] = NEVER, [MACHINE_DEADLINE] = NEVER, [MACHINE_STOP_ASKED] = SKIP,    \
		[MACHINE_KILL_ASKED] = SKIP, [MACHINE_GRACE_OVER] = NEVER,                                   \
		[MACHINE_VMM_POWERED_OFF] = NEVER, [MACHINE_VMM_DIED] = NEVER,                               \
		[MACHINE_GUEST_CRASHED] = NEVER, [MACHINE_VSOCK_DIED] = NEVER, [MACHINE_PROXY_DIED] = NEVER, \
		[MACHINE_PROXY_UP] = NEVER, [MACHINE_ALL_GONE] = NEVER,                                      \
	}
        [MACHINE_STOPPED] = AFTER_THE_END,
        [MACHINE_FAILED] = AFTER_THE_END,
};

static const struct {
	const char *name;
	enum vm_state seen;
} STATES[] = {
    [MACHINE_CREATING] = {"creating", VM_CREATING}, [MACHINE_BOOTING] = {"booting", VM_BOOTING},
    [MACHINE_READY] = {"ready", VM_READY},          [MACHINE_STOPPING] = {"stopping", VM_STOPPING},
    [MACHINE_ENDING] = {"ending", VM_STOPPING},     [MACHINE_FAILING] = {"failing", VM_STOPPING},
    [MACHINE_STOPPED] = {"stopped", VM_STOPPED},    [MACHINE_FAILED] = {"failed", VM_FAILED},
};
static_assert(ARRAY_LEN(STATES) == MACHINE_STATE_COUNT, "every state has a name");

static const char *const EVENT_NAMES[] = {
    [MACHINE_SET_UP] = "set up",
    [MACHINE_SETUP_FAILED] = "set-up failed",
    [MACHINE_GUEST_READY] = "guest ready",
    [MACHINE_OTHER_VERSION] = "other version",
    [MACHINE_DEADLINE] = "deadline",
    [MACHINE_STOP_ASKED] = "stop asked",
    [MACHINE_KILL_ASKED] = "kill asked",
    [MACHINE_GRACE_OVER] = "grace over",
    [MACHINE_VMM_POWERED_OFF] = "VMM powered off",
    [MACHINE_VMM_DIED] = "VMM died",
    [MACHINE_GUEST_CRASHED] = "guest crashed",
    [MACHINE_VSOCK_DIED] = "vsock device died",
    [MACHINE_PROXY_DIED] = "proxy died",
    [MACHINE_PROXY_UP] = "proxy up",
    [MACHINE_ALL_GONE] = "all gone",
};
static_assert(ARRAY_LEN(EVENT_NAMES) == MACHINE_EVENT_COUNT, "every event has a name");

struct machine_step machine_step(enum machine_state state, enum machine_event event)
{
	CHECK((unsigned)state < MACHINE_STATE_COUNT && (unsigned)event < MACHINE_EVENT_COUNT);
	struct machine_step step = TABLE[state][event];
	if (step.verdict != MACHINE_HANDLED)
		step.next = state;
	return step;
}

enum vm_state machine_public_state(enum machine_state state)
{
	return STATES[state].seen;
}

const char *machine_state_name(enum machine_state state)
{
	return STATES[state].name;
}

const char *machine_event_name(enum machine_event event)
{
	return EVENT_NAMES[event];
}
