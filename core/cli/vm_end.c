#include "core/cli/vm_end.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/cli/litter.h"
#include "core/config/paths.h"
#include "core/loop/child.h"
#include "core/vm/store.h"

#define LOOK_EVERY_US      5000
#define LOOKS_WITHOUT_LOCK 100

/* The folder is there and its owner lives, or it is just being removed (the lock file goes first). */
static bool is_held(const char *run, const char *lock, unsigned looks)
{
	if (access(run, F_OK) != 0)
		return false;
	if (access(lock, F_OK) == 0)
		return litter_lock_is_held(lock);
	return looks < LOOKS_WITHOUT_LOCK;
}

bool vm_end_wait(const char *vm, struct err *e)
{
	char *run FREE_ON_EXIT = paths_vm_runtime(vm, e);
	if (!run)
		return false;
	char *lock FREE_ON_EXIT = paths_join(run, "lock");
	uint64_t deadline = clock_mono_ms() + VM_END_PATIENCE_MS;
	for (unsigned looks = 0; is_held(run, lock, looks); looks++) {
		if (clock_mono_ms() > deadline)
			return err_set(e, ERR_TIMEOUT, "the supervisor of VM %s does not leave", vm);
		usleep(LOOK_EVERY_US);
	}
	return true;
}

bool vm_end_by_force(const char *vm, struct err *e)
{
	struct store_status stored;
	char *dir FREE_ON_EXIT = paths_vm_state(vm);
	if (!store_read_status(dir, &stored, e))
		return false;
	pid_t pid = (pid_t)stored.status.supervisor_pid;
	if (pid <= 0 || !stored.supervisor_start || child_start_time(pid) != stored.supervisor_start)
		return err_set(e, ERR_NOT_FOUND, "VM %s has no supervisor", vm);
	return kill(pid, SIGKILL) == 0 || err_sys(e, errno, "kill the supervisor of VM %s", vm);
}

/* Whoever holds the lock decides over the VM, so nobody starts it while it goes away. */
static bool remove_locked(const char *vm, const char *run, struct err *e)
{
	char *states FREE_ON_EXIT = paths_state_dir();
	char *state FREE_ON_EXIT = paths_vm_state(vm);
	char *gone FREE_ON_EXIT = litter_name(states, vm);
	if (rename(state, gone) != 0)
		return err_sys(e, errno, "remove VM %s", vm);
	return fd_remove_tree(gone, e) && fd_remove_tree(run, e);
}

bool vm_end_remove(const char *vm, struct err *e)
{
	char *run FREE_ON_EXIT = paths_vm_runtime(vm, e);
	if (!run)
		return false;
	if (mkdir(run, 0700) != 0 && errno != EEXIST)
		return err_sys(e, errno, "create %s", run);
	char *path FREE_ON_EXIT = paths_join(run, "lock");
	int lock CLOSE_ON_EXIT = fd_lock_file(path, e);
	return lock >= 0 && remove_locked(vm, run, e);
}
