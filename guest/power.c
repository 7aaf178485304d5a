#include "guest/power.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define TICK_MS    20
#define TERM_TICKS 150 /* 3 s */
#define KILL_TICKS 200 /* 1 s more */

/* Every process is a child of pid 1 or of one that is, so none is left when it has no children. Looks only:
 * the reaper is the one who waits. */
static bool anybody_left(void)
{
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static void on_tick(void *arg)
{
	struct power *p = arg;
	if (!anybody_left() || p->ticks >= KILL_TICKS) {
		p->end(p->arg);
		return;
	}
	p->ticks++;
	if (p->ticks >= TERM_TICKS)
		kill(-1, SIGKILL);
	deadline_set(&p->tick, p->reactor, TICK_MS);
}

void power_init(struct power *p, struct reactor *r, void (*end)(void *arg), void *arg)
{
	*p = (struct power){.reactor = r, .end = end, .arg = arg};
	deadline_init(&p->tick, on_tick, p);
}

void power_begin(struct power *p)
{
	if (p->ending)
		return;
	p->ending = true;
	/* Shells ignore SIGTERM but not SIGHUP; what is stopped must run to hear either. */
	kill(-1, SIGTERM);
	kill(-1, SIGHUP);
	kill(-1, SIGCONT);
	deadline_set(&p->tick, p->reactor, TICK_MS);
}
