/* The lock file lies in the folder that it protects, and the folder goes away when its VM ends. Two rules follow:
 *  - Who has taken the lock looks whether the path still leads to the locked file. If not, it holds the lock of a folder
 *    that was just removed, which nobody else can see, and begins again.
 *  - The folder goes away in one step, by a rename, and is emptied under the other name. Emptied in place, somebody could
 *    make and lock a new lock file in it half-way, which would be removed with the rest. */
#include "core/supervisor/places.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/config/paths.h"
#include "core/wire/wire.h"

#define CLAIM_TRIES 20

static bool socket_fits(const char *path, struct err *e)
{
	size_t most = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
	if (strlen(path) > most)
		return err_set(
		    e, ERR_LIMIT,
		    "socket path %s is longer than %zu bytes: set XDG_RUNTIME_DIR to a shorter folder", path,
		    most);
	return true;
}

bool places_init(struct places *p, const char *vm, struct err *e)
{
	*p = (struct places){0};
	p->run_dir = paths_vm_runtime(vm, e);
	if (!p->run_dir)
		return false;
	p->state_dir = paths_vm_state(vm);
	p->images_dir = paths_images_dir();
	p->lock = paths_join(p->run_dir, "lock");
	p->control = paths_join(p->run_dir, "control.sock");
	p->vsock = paths_join(p->run_dir, "vsock.sock");
	p->vsock_egress = mem_printf("%s_%d", p->vsock, WIRE_PORT_EGRESS);
	p->vsock_events = mem_printf("%s_%d", p->vsock, WIRE_PORT_EVENTS);
	p->vhost = paths_join(p->run_dir, "vhost.sock");
	p->policy = paths_join(p->state_dir, "policy");
	p->audit = paths_join(p->state_dir, "audit.jsonl");
	p->console = paths_join(p->state_dir, "console.log");
	p->disk = paths_join(p->state_dir, "disk.img");
	p->log = paths_join(p->state_dir, "supervisor.log");
	char *cache FREE_ON_EXIT = paths_cache_dir();
	p->backend_memory = paths_join(cache, "backend");
	if (socket_fits(p->vsock_events, e) && socket_fits(p->control, e))
		p->vsock_program = paths_program("ccvm-vsock", e);
	if (p->vsock_program)
		p->proxy_program = paths_program("ccvm-proxy", e);
	if (!p->proxy_program) {
		places_finish(p);
		return false;
	}
	return true;
}

void places_finish(struct places *p)
{
	char *all[] = {p->run_dir,       p->state_dir,    p->images_dir,   p->lock,  p->control,
	               p->vsock,         p->vsock_egress, p->vsock_events, p->vhost, p->policy,
	               p->audit,         p->console,      p->disk,         p->log,   p->backend_memory,
	               p->vsock_program, p->proxy_program};
	static_assert(sizeof(all) == sizeof(struct places), "every path is freed");
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		free(all[i]);
	*p = (struct places){0};
}

static bool is_same_file(int fd, const char *path)
{
	struct stat here, there;
	return fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
	       here.st_dev == there.st_dev;
}

/* What a predecessor that was killed has left; the lock says that it is dead. */
static bool remove_leftovers(const struct places *p, struct err *e)
{
	DIR *dir = opendir(p->run_dir);
	if (!dir)
		return err_sys(e, errno, "open %s", p->run_dir);
	bool ok = true;
	for (struct dirent *ent; ok && (ent = readdir(dir));) {
		if (strcmp(ent->d_name, ".") == 0 || strcmp(ent->d_name, "..") == 0 ||
		    strcmp(ent->d_name, "lock") == 0)
			continue;
		char *path FREE_ON_EXIT = paths_join(p->run_dir, ent->d_name);
		ok = fd_remove_tree(path, e);
	}
	closedir(dir);
	return ok;
}

static bool make_run_dir(const struct places *p, struct err *e)
{
	struct stat st;
	if (mkdir(p->run_dir, 0700) != 0 && errno != EEXIST)
		return err_sys(e, errno, "create %s", p->run_dir);
	if (lstat(p->run_dir, &st) != 0)
		return errno == ENOENT ? true : err_sys(e, errno, "%s", p->run_dir);
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077))
		return err_set(e, ERR_DENIED, "%s must be a folder of yours with mode 0700", p->run_dir);
	return true;
}

int places_claim(const struct places *p, struct err *e)
{
	for (int tries = 0; tries < CLAIM_TRIES; tries++) {
		if (!make_run_dir(p, e))
			return -1;
		struct err failed = ERR_INIT;
		int fd CLOSE_ON_EXIT = fd_lock_file(p->lock, &failed);
		if (fd < 0 && failed.kind == ERR_SYSTEM && failed.sys == ENOENT)
			continue; /* the folder went away in between */
		if (fd < 0) {
			*e = failed;
			return -1;
		}
		if (!is_same_file(fd, p->lock))
			continue;
		if (!remove_leftovers(p, e))
			return -1;
		int out = fd;
		fd = -1;
		return out;
	}
	err_set(e, ERR_BUSY, "%s keeps going away", p->run_dir);
	return -1;
}

bool places_release(const struct places *p, struct err *e)
{
	char *copy FREE_ON_EXIT = mem_strdup(p->run_dir);
	char *slash = strrchr(copy, '/');
	*slash = '\0';
	char *gone FREE_ON_EXIT = mem_printf("%s/.gone-%s-%ld", copy, slash + 1, (long)getpid());
	if (rename(p->run_dir, gone) != 0)
		return err_sys(e, errno, "remove %s", p->run_dir);
	return fd_remove_tree(gone, e);
}
