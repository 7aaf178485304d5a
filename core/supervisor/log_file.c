#include "core/supervisor/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"

int log_file_open(const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		err_sys(e, errno, "open %s", path);
		return -1;
	}
	log_file_bound(fd, path);
	return fd;
}

void log_file_bound(int fd, const char *path)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || st.st_size < LOG_FILE_MOST)
		return;
	char *old FREE_ON_EXIT = mem_printf("%s.1", path);
	if (rename(path, old) != 0)
		return;
	int fresh CLOSE_ON_EXIT = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fresh >= 0)
		dup3(fresh, fd, O_CLOEXEC);
}
