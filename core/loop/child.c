#include "core/loop/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

#define GUARD_FLAG "--ccvm-die-with-parent"

struct child {
	struct life life;
	uv_process_t process;
	bool exited;
	void (*on_exit)(void *arg, int code, int signal);
	void *arg;
};

static void on_gone(struct life *life)
{
	free(CONTAINER_OF(life, struct child, life));
}

static void on_process_exit(uv_process_t *process, int64_t code, int signum)
{
	struct child *c = CONTAINER_OF(process->data, struct child, life);
	c->exited = true;
	if (!c->life.closing)
		c->on_exit(c->arg, (int)code, signum);
}

/* argv of the guard: this program, the flag, our pid, then the wanted argv. Caller frees the array and [2]. */
static const char **guarded_argv(const char *const *argv)
{
	size_t n = 0;
	while (argv[n])
		n++;
	const char **out = mem_array(n + 4, sizeof(*out));
	out[0] = "/proc/self/exe";
	out[1] = GUARD_FLAG;
	out[2] = mem_printf("%ld", (long)getpid());
	for (size_t i = 0; i <= n; i++)
		out[i + 3] = argv[i];
	return out;
}

void child_guard(int argc, char **argv)
{
	if (argc < 4 || strcmp(argv[1], GUARD_FLAG) != 0)
		return;
	uint64_t parent;
	if (!parse_u64(argv[2], 1, INT32_MAX, &parent))
		_exit(127);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != (pid_t)parent)
		_exit(127); /* it died before the signal was armed */
	execvp(argv[3], argv + 3);
	fprintf(stderr, "%s: %s\n", argv[3], strerror(errno));
	_exit(127);
}

static void fill_stdio(const struct child_spec *spec, uv_stdio_container_t *stdio)
{
	for (size_t i = 0; i < CHILD_MOST_FDS; i++) {
		int fd = i < spec->fd_count ? spec->fds[i] : CHILD_FD_NULL;
		stdio[i].flags = fd == CHILD_FD_NULL ? UV_IGNORE : UV_INHERIT_FD;
		stdio[i].data.fd = fd;
	}
}

struct child *child_start(struct loop *loop, const struct child_spec *spec,
                          void (*on_exit)(void *arg, int code, int signal), void *arg, struct err *e)
{
	CHECK(spec->fd_count <= CHILD_MOST_FDS);
	struct child *c = mem_alloc(sizeof(*c));
	life_init(&c->life, on_gone);
	c->on_exit = on_exit;
	c->arg = arg;
	uv_stdio_container_t stdio[CHILD_MOST_FDS];
	fill_stdio(spec, stdio);
	const char **guarded = spec->die_with_parent ? guarded_argv(spec->argv) : NULL;
	uv_process_options_t options = {
	    .exit_cb = on_process_exit,
	    .file = guarded ? guarded[0] : spec->argv[0],
	    .args = (char **)(uintptr_t)(guarded ? guarded : spec->argv),
	    .env = (char **)(uintptr_t)spec->env,
	    .cwd = spec->cwd,
	    .flags = spec->new_session ? UV_PROCESS_DETACHED : 0,
	    .stdio_count = (int)MAX(spec->fd_count, 3),
	    .stdio = stdio,
	};
	int r = uv_spawn(loop_uv(loop), &c->process, &options);
	if (guarded) {
		free((void *)(uintptr_t)guarded[2]);
		free(guarded);
	}
	life_adopt(&c->life, (uv_handle_t *)&c->process); /* uv_spawn opens the handle even when it fails */
	if (r != 0) {
		c->exited = true;
		child_close(c);
		err_uv(e, r, "start %s", spec->argv[0]);
		return NULL;
	}
	return c;
}

pid_t child_pid(const struct child *c)
{
	return c->exited ? 0 : c->process.pid;
}

void child_kill(struct child *c, int signum)
{
	if (!c->exited)
		uv_process_kill(&c->process, signum);
}

void child_close(struct child *c)
{
	if (!c || c->life.closing)
		return;
	life_close_handle(&c->life, (uv_handle_t *)&c->process);
	life_end(&c->life);
}

unsigned long long child_start_time(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	struct err e = ERR_INIT;
	char *text FREE_ON_EXIT = fd_read_file(path, 4096, NULL, &e);
	const char *p = text ? strrchr(text, ')') : NULL; /* the name may hold anything, also ')' */
	unsigned long long ticks = 0;
	char state = '\0';
	if (!p ||
	    sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
	           &state, &ticks) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? 0 : ticks;
}
