#include "guest/session.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/parse.h"

static bool belongs(pid_t pid, pid_t session)
{
	char path[32], text[512], state = 0;
	int sid = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd CLOSE_ON_EXIT = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : fd_read_full(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *p = strrchr(text, ')'); /* the name before it may hold anything */
	return p && sscanf(p + 1, " %c %*d %*d %d", &state, &sid) == 2 && sid == session && state != 'Z' &&
	       state != 'X';
}

size_t session_signal(pid_t session, int signum)
{
	DIR *d = opendir("/proc");
	size_t count = 0;
	if (!d)
		return 0;
	for (struct dirent *ent; (ent = readdir(d));) {
		uint64_t pid;
		if (parse_u64(ent->d_name, 2, INT32_MAX, &pid) && belongs((pid_t)pid, session) &&
		    kill((pid_t)pid, signum) == 0)
			count++;
	}
	closedir(d);
	return count;
}
