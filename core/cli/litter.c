#include "core/cli/litter.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/base/parse.h"
#include "core/config/paths.h"
#include "core/loop/child.h"
#include "core/vm/store.h"

#define TMP_MARK "tmp-"

char *litter_name(const char *dir, const char *name)
{
	return mem_printf("%s/.%s." TMP_MARK "%ld-%llu", dir, name, (long)getpid(),
	                  child_start_time(getpid()));
}

/* The process named at the end of a temporary name ("...tmp-PID-START" or "...tmp-PID") is gone. */
static bool is_abandoned(const char *name)
{
	long pid = 0;
	unsigned long long start = 0;
	const char *mark = NULL;
	for (const char *p = strstr(name, TMP_MARK); p; p = strstr(p + 1, TMP_MARK))
		mark = p;
	int n = mark ? sscanf(mark + strlen(TMP_MARK), "%ld-%llu", &pid, &start) : 0;
	if (n < 1 || pid <= 0)
		return false;
	unsigned long long now = child_start_time((pid_t)pid);
	return n == 1 ? now == 0 : now != start;
}

bool litter_lock_is_held(const char *path)
{
	char line[256];
	struct stat st;
	bool held = false;
	if (stat(path, &st) != 0)
		return false;
	FILE *locks = fopen("/proc/locks", "re");
	while (locks && !held && fgets(line, sizeof(line), locks)) {
		unsigned long long inode;
		/* "12: FLOCK ADVISORY WRITE 4711 00:2d:8123 0 EOF"; the device of some filesystems differs from stat's. */
		held = strstr(line, " FLOCK ") &&
		       sscanf(line, "%*s %*s %*s %*s %*s %*x:%*x:%llu", &inode) == 1 && inode == st.st_ino;
	}
	if (locks)
		fclose(locks);
	return held;
}

/* ---- looking ---- */

static void add(struct litter_list *list, char *path, const char *what, char *lock)
{
	list->items = mem_resize(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = (struct litter){.path = path, .what = what, .lock = lock};
}

/* Calls fn for each entry of a folder; a missing one has none. */
static bool each_entry(const char *dir,
                       void (*fn)(struct litter_list *out, const char *dir, const char *name),
                       struct litter_list *out, struct err *e)
{
	DIR *d = opendir(dir);
	if (!d)
		return errno == ENOENT ? true : err_sys(e, errno, "open %s", dir);
	for (struct dirent *entry = readdir(d); entry; entry = readdir(d)) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			fn(out, dir, entry->d_name);
	}
	closedir(d);
	return true;
}

static bool is_folder(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void look_at_runtime(struct litter_list *out, const char *dir, const char *name)
{
	char *path FREE_ON_EXIT = paths_join(dir, name);
	char *lock FREE_ON_EXIT = paths_join(path, "lock");
	if (!is_folder(path))
		add(out, mem_steal(&path), "stray file among the runtime folders", NULL);
	else if (!litter_lock_is_held(lock))
		add(out, mem_steal(&path), "runtime folder of a VM that does not run", mem_steal(&lock));
}

static void look_at_vm_file(struct litter_list *out, const char *dir, const char *name)
{
	if (strstr(name, "." TMP_MARK) && is_abandoned(name))
		add(out, paths_join(dir, name), "half-written file", NULL);
}

static bool vm_is_live(const char *vm)
{
	struct err ignored = ERR_INIT;
	char *run FREE_ON_EXIT = paths_vm_runtime(vm, &ignored);
	char *lock FREE_ON_EXIT = run ? paths_join(run, "lock") : NULL;
	return lock && litter_lock_is_held(lock);
}

static void look_at_state(struct litter_list *out, const char *dir, const char *name)
{
	struct err ignored = ERR_INIT;
	char *path FREE_ON_EXIT = paths_join(dir, name);
	char *spec FREE_ON_EXIT = paths_join(path, STORE_SPEC_FILE);
	if (name[0] == '.') {
		if (is_abandoned(name))
			add(out, mem_steal(&path), "half-made or half-removed VM", NULL);
		return;
	}
	if (!is_folder(path) || !parse_name("VM name", name, &ignored))
		return; /* not ours: leave it alone */
	if (access(spec, F_OK) == 0)
		each_entry(path, look_at_vm_file, out, &ignored);
	else if (errno == ENOENT && !vm_is_live(name))
		add(out, mem_steal(&path), "state folder without " STORE_SPEC_FILE ": no VM", NULL);
}

#define BUILD_PREFIX ".build-" /* core/image/build.c: the folder of a build, and the lock while it goes on */
#define BUILD_LOCK   ".lock-"

static void look_at_images(struct litter_list *out, const char *dir, const char *name)
{
	char *path FREE_ON_EXIT = paths_join(dir, name);
	bool is_build = strncmp(name, BUILD_PREFIX, strlen(BUILD_PREFIX)) == 0;
	char *lock FREE_ON_EXIT =
	    mem_printf("%s/" BUILD_LOCK "%s", dir, is_build ? name + strlen(BUILD_PREFIX) : "");
	if (is_build && !litter_lock_is_held(lock))
		add(out, mem_steal(&path), "half-built image", mem_steal(&lock));
	else if (name[0] == '.' && is_abandoned(name))
		add(out, mem_steal(&path), "half-removed image", NULL);
}

bool litter_find(struct litter_list *out, struct err *e)
{
	*out = (struct litter_list){0};
	char *runtime FREE_ON_EXIT = paths_runtime_dir(e);
	char *state FREE_ON_EXIT = paths_state_dir();
	char *images FREE_ON_EXIT = paths_images_dir();
	if (runtime && each_entry(runtime, look_at_runtime, out, e) &&
	    each_entry(state, look_at_state, out, e) && each_entry(images, look_at_images, out, e))
		return true;
	litter_finish(out);
	return false;
}

void litter_finish(struct litter_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].path);
		free(list->items[i].lock);
	}
	free(list->items);
	*list = (struct litter_list){0};
}

bool litter_remove(const struct litter *l, struct err *e)
{
	int lock CLOSE_ON_EXIT = l->lock ? fd_lock_file(l->lock, e) : -1;
	return (!l->lock || lock >= 0) && fd_remove_tree(l->path, e);
}
