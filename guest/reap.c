#include "guest/reap.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "guest/reactor.h"

struct reaper {
	int fd;
	struct reactor_watch *watch;
	struct list waits;
};

static void tell(struct reaper *reaper, pid_t pid, int status)
{
	LIST_FOREACH (item, &reaper->waits) {
		struct reap_wait *w = LIST_ENTRY(item, struct reap_wait, link);
		if (w->pid != pid)
			continue;
		list_remove(&w->link);
		w->fn(w->arg, status);
		return;
	}
}

static void on_signal(void *arg, uint32_t events)
{
	(void)events;
	struct reaper *reaper = arg;
	struct signalfd_siginfo info[8];
	while (read(reaper->fd, info, sizeof(info)) > 0)
		; /* signals come together: what counts is who is dead */
	int status;
	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
		tell(reaper, pid, status);
}

struct reaper *reaper_open(struct reactor *r)
{
	struct reaper *reaper = mem_alloc(sizeof(*reaper));
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	reaper->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (reaper->fd < 0)
		BUG("no signalfd: errno %d", errno);
	list_init(&reaper->waits);
	reaper->watch = reactor_watch(r, reaper->fd, EPOLLIN, on_signal, reaper);
	return reaper;
}

void reaper_close(struct reaper *reaper)
{
	if (!reaper)
		return;
	LIST_FOREACH (item, &reaper->waits) {
		list_remove(item);
	}
	reactor_unwatch(reaper->watch);
	fd_close(&reaper->fd);
	free(reaper);
}

void reaper_expect(struct reaper *reaper, struct reap_wait *w, pid_t pid, void (*fn)(void *arg, int status),
                   void *arg)
{
	*w = (struct reap_wait){.pid = pid, .fn = fn, .arg = arg};
	list_append(&reaper->waits, &w->link);
}

void reap_forget(struct reap_wait *w)
{
	if (w->link.next)
		list_remove(&w->link);
}
