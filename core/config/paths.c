#include "core/config/paths.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"

char *paths_join(const char *folder, const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

static const char *home(void)
{
	const char *dir = getenv("HOME");
	if (dir && dir[0] == '/')
		return dir;
	const struct passwd *user = getpwuid(getuid());
	return user && user->pw_dir[0] == '/' ? user->pw_dir : "/";
}

/* The XDG rule: a variable that is unset, empty or relative counts as unset. */
static char *xdg(const char *variable, const char *below_home, const char *name)
{
	const char *base = getenv(variable);
	if (base && base[0] == '/')
		return mem_printf("%s/%s", base, name);
	return mem_printf("%s/%s/%s", home(), below_home, name);
}

char *paths_runtime_dir(struct err *e)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	char *dir FREE_ON_EXIT =
	    base && base[0] == '/' ? paths_join(base, "ccvm") : mem_printf("/tmp/ccvm-%ld", (long)getuid());
	if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
		err_sys(e, errno, "create %s", dir);
		return NULL;
	}
	struct stat st;
	if (lstat(dir, &st) != 0) {
		err_sys(e, errno, "%s", dir);
		return NULL;
	}
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || (st.st_mode & 077)) {
		err_set(e, ERR_DENIED,
		        "%s must be a folder of yours with mode 0700; remove it or set XDG_RUNTIME_DIR", dir);
		return NULL;
	}
	return mem_steal(&dir);
}

char *paths_vm_runtime(const char *vm, struct err *e)
{
	char *dir FREE_ON_EXIT = paths_runtime_dir(e);
	return dir ? paths_join(dir, vm) : NULL;
}

char *paths_state_dir(void)
{
	return xdg("XDG_STATE_HOME", ".local/state", "ccvm");
}

char *paths_vm_state(const char *vm)
{
	char *dir FREE_ON_EXIT = paths_state_dir();
	return paths_join(dir, vm);
}

char *paths_images_dir(void)
{
	return xdg("XDG_DATA_HOME", ".local/share", "ccvm/images");
}

char *paths_cache_dir(void)
{
	return xdg("XDG_CACHE_HOME", ".cache", "ccvm");
}

char *paths_config_file(void)
{
	return xdg("XDG_CONFIG_HOME", ".config", "ccvm/ccvm.ini");
}

/* The folder of the running program. */
static char *own_folder(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0)
		return mem_strdup(".");
	path[n] = '\0';
	return mem_strdup(dirname(path));
}

/* The first of the NULL-terminated candidates that is readable; the others are freed. */
static char *first_readable(char **candidates)
{
	char *found = NULL;
	for (; *candidates; candidates++) {
		if (!found && access(*candidates, R_OK) == 0)
			found = *candidates;
		else
			free(*candidates);
	}
	return found;
}

char *paths_program(const char *name, struct err *e)
{
	char *own FREE_ON_EXIT = own_folder();
	char *candidates[] = {mem_printf("%s/%s", own, name), mem_printf("%s/../libexec/ccvm/%s", own, name),
	                      NULL};
	char *found = first_readable(candidates);
	if (!found)
		err_set(e, ERR_NOT_FOUND,
		        "program %s is neither in %s nor in ../libexec/ccvm: is ccvm installed whole?", name,
		        own);
	return found;
}

char *paths_recipe(const char *image, struct err *e)
{
	char *own FREE_ON_EXIT = own_folder();
	char *config FREE_ON_EXIT = paths_config_file();
	char *candidates[] = {
	    mem_printf("%s/images/%s.ini", dirname(config), image),
	    mem_printf("%s/../guest/image/%s.ini", own, image),
	    mem_printf("%s/../share/ccvm/image/%s.ini", own, image),
	    mem_printf("%s/../../share/ccvm/image/%s.ini", own, image), /* for programs in libexec/ccvm */
	    NULL,
	};
	char *found = first_readable(candidates);
	if (!found)
		err_set(e, ERR_NOT_FOUND, "no recipe for image '%s'", image);
	return found;
}

char **paths_theme_folders(void)
{
	char *own FREE_ON_EXIT = own_folder();
	char *config FREE_ON_EXIT = paths_config_file();
	char **folders = mem_array(5, sizeof(*folders));
	folders[0] = mem_printf("%s/themes", dirname(config));
	folders[1] = mem_printf("%s/../themes", own);
	folders[2] = mem_printf("%s/../share/ccvm/themes", own);
	folders[3] = mem_printf("%s/../../share/ccvm/themes", own); /* for programs in libexec/ccvm */
	return folders;
}
