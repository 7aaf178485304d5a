#include "core/cli/image_use.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/config/paths.h"
#include "core/vm/store.h"

static bool uses(const char *state_dir, const char *vm, const char *image)
{
	struct vm_spec spec;
	struct err ignored = ERR_INIT;
	if (!parse_name("VM name", vm, &ignored))
		return false;
	char *dir FREE_ON_EXIT = paths_join(state_dir, vm);
	return store_read_spec(dir, &spec, &ignored) && strcmp(spec.image, image) == 0;
}

bool image_use_find(const char *image, char vm[VM_NAME_MAX + 1])
{
	char *states FREE_ON_EXIT = paths_state_dir();
	bool found = false;
	DIR *d = opendir(states);
	for (struct dirent *entry = d ? readdir(d) : NULL; entry && !found; entry = readdir(d)) {
		found = uses(states, entry->d_name, image);
		if (found)
			snprintf(vm, VM_NAME_MAX + 1, "%.*s", VM_NAME_MAX, entry->d_name);
	}
	if (d)
		closedir(d);
	return found;
}
