#include "core/base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/mem.h"

void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

bool fd_fill_standard(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR); /* the lowest number that is free */
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

bool fd_set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);
	return flags >= 0 && fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) == 0;
}

bool fd_set_cloexec(int fd, bool on)
{
	return fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0) == 0;
}

bool fd_write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;
	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

ssize_t fd_read_full(int fd, void *out, size_t len)
{
	size_t done = 0;
	while (done < len) {
		ssize_t n = read(fd, (char *)out + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

char *fd_read_file(const char *path, size_t max, size_t *out_len, struct err *e)
{
	int fd CLOSE_ON_EXIT = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT)
			err_set(e, ERR_NOT_FOUND, "%s: no such file", path);
		else
			err_sys(e, errno, "open %s", path);
		return NULL;
	}
	size_t cap = 4096, len = 0;
	char *text FREE_ON_EXIT = mem_alloc(cap + 1);
	for (;;) {
		ssize_t n = fd_read_full(fd, text + len, cap - len);
		if (n < 0) {
			err_sys(e, errno, "read %s", path);
			return NULL;
		}
		len += (size_t)n;
		if (len < cap)
			break;
		if (len > max) {
			err_set(e, ERR_LIMIT, "%s is larger than %zu bytes", path, max);
			return NULL;
		}
		cap *= 2;
		text = mem_resize(text, cap + 1, 1);
	}
	if (len > max) {
		err_set(e, ERR_LIMIT, "%s is larger than %zu bytes", path, max);
		return NULL;
	}
	text[len] = '\0';
	if (out_len)
		*out_len = len;
	return mem_steal(&text);
}

static void sync_folder_of(const char *path)
{
	char *copy FREE_ON_EXIT = mem_strdup(path);
	int dir CLOSE_ON_EXIT = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		fsync(dir); /* some file systems refuse; the rename itself stays atomic */
}

bool fd_write_file(const char *path, const void *bytes, size_t len, mode_t mode, struct err *e)
{
	char *tmp FREE_ON_EXIT = mem_printf("%s.tmp-%ld", path, (long)getpid());
	int fd CLOSE_ON_EXIT = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return err_sys(e, errno, "create %s", tmp);
	if (!fd_write_all(fd, bytes, len) || fsync(fd) != 0 || rename(tmp, path) != 0) {
		int saved = errno;
		unlink(tmp);
		return err_sys(e, saved, "write %s", path);
	}
	sync_folder_of(path);
	return true;
}

bool fd_make_dirs(const char *path, mode_t mode, struct err *e)
{
	char *copy FREE_ON_EXIT = mem_strdup(path);
	for (char *p = copy + 1;; p++) {
		if (*p != '/' && *p)
			continue;
		char c = *p;
		*p = '\0';
		if (mkdir(copy, mode) != 0 && errno != EEXIST)
			return err_sys(e, errno, "create folder %s", copy);
		*p = c;
		if (!c)
			break;
	}
	struct stat st;
	if (stat(path, &st) != 0)
		return err_sys(e, errno, "%s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_INVALID, "%s is not a folder", path);
	return true;
}

/* Removes `name` below `dir`; depth keeps a hostile tree from exhausting the stack. */
static int remove_at(int dir, const char *name, int depth)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return errno;
	if (depth > 64)
		return ELOOP;
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno;
	DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return ENOMEM;
	}
	int failed = 0;
	for (struct dirent *ent; (ent = readdir(d));) {
		if (strcmp(ent->d_name, ".") == 0 || strcmp(ent->d_name, "..") == 0)
			continue;
		int r = remove_at(dirfd(d), ent->d_name, depth + 1);
		failed = failed ? failed : r;
	}
	closedir(d);
	if (!failed && unlinkat(dir, name, AT_REMOVEDIR) != 0)
		failed = errno;
	return failed;
}

bool fd_remove_tree(const char *path, struct err *e)
{
	int r = remove_at(AT_FDCWD, path, 0);
	return r ? err_sys(e, r, "remove %s", path) : true;
}

int fd_lock_file(const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		err_sys(e, errno, "open %s", path);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK)
			err_set(e, ERR_BUSY, "%s is locked by another process", path);
		else
			err_sys(e, errno, "lock %s", path);
		fd_close(&fd);
	}
	return fd;
}

static int unix_socket(const char *path, struct sockaddr_un *addr, struct err *e)
{
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(addr->sun_path)) {
		err_set(e, ERR_LIMIT, "socket path %s is longer than %zu bytes", path,
		        sizeof(addr->sun_path) - 1);
		return -1;
	}
	memcpy(addr->sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err_sys(e, errno, "socket");
	return fd;
}

int fd_unix_connect(const char *path, struct err *e)
{
	struct sockaddr_un addr;
	int fd = unix_socket(path, &addr, e);
	if (fd < 0)
		return -1;
	int r;
	do {
		r = connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	} while (r != 0 && errno == EINTR);
	if (r != 0) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			err_set(e, ERR_NOT_FOUND, "nobody listens on %s", path);
		else
			err_sys(e, errno, "connect to %s", path);
		fd_close(&fd);
	}
	return fd;
}

int fd_unix_listen(const char *path, struct err *e)
{
	struct sockaddr_un addr;
	int fd = unix_socket(path, &addr, e);
	if (fd < 0)
		return -1;
	struct stat st;
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 || chmod(path, 0600) != 0 ||
	    listen(fd, 128) != 0) {
		err_sys(e, errno, "listen on %s", path);
		fd_close(&fd);
	}
	return fd;
}
