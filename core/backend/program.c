#include "core/backend/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/escape.h"
#include "core/base/fd.h"
#include "core/base/mem.h"

#define ANSWER_MS 2000

static char *find_in(const char *name, const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ":");
		char *path = mem_printf("%.*s/%s", (int)len, list, name);
		struct stat st;
		if (*list == '/' && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
			return path;
		free(path);
		list += len + (list[len] == ':');
	}
	return NULL;
}

char *program_find(const char *name, const char *more)
{
	char *path = find_in(name, getenv("PATH"));
	return path ? path : find_in(name, more);
}

/* Starts it with its output in a pipe; the reading end, or -1. */
static int spawn_reader(const char *program, const char *option, pid_t *pid)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)option, NULL};
	char *env[] = {(char *)(uintptr_t) "LC_ALL=C", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	int r = posix_spawn(pid, program, &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	fd_close(&ends[1]);
	if (r != 0)
		fd_close(&ends[0]);
	return ends[0];
}

static size_t read_line(int fd, char *out, size_t size)
{
	uint64_t deadline = clock_mono_ms() + ANSWER_MS;
	size_t len = 0;
	while (len < size && !memchr(out, '\n', len)) {
		uint64_t now = clock_mono_ms();
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (now >= deadline || poll(&p, 1, (int)(deadline - now)) <= 0)
			break;
		ssize_t n = read(fd, out + len, size - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	const char *end = memchr(out, '\n', len);
	return end ? (size_t)(end - out) : len;
}

void program_first_line(const char *program, const char *option, char *out, size_t size)
{
	pid_t pid;
	char line[512];
	out[0] = '\0';
	int fd CLOSE_ON_EXIT = spawn_reader(program, option, &pid);
	if (fd < 0)
		return;
	escape_text(out, size, line, read_line(fd, line, sizeof(line)));
	kill(pid, SIGKILL); /* still ours: nobody has waited for it */
	waitpid(pid, NULL, 0);
}
