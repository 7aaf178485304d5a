#include "core/cli/setup.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/nearest.h"
#include "core/config/paths.h"
#include "core/image/image.h"
#include "core/vm/store.h"

bool setup_load_config(struct config *c, struct err *e)
{
	char *path FREE_ON_EXIT = paths_config_file();
	config_init(c);
	return config_load(c, path, e);
}

static bool fail_no_vm(const char *name, struct err *e)
{
	char *dir FREE_ON_EXIT = paths_state_dir();
	DIR *d = opendir(dir);
	struct nearest n;
	nearest_begin(&n, name);
	for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
		if (entry->d_name[0] != '.')
			nearest_offer(&n, entry->d_name);
	}
	if (d)
		closedir(d);
	if (nearest_best(&n))
		return err_set(e, ERR_NOT_FOUND, "no VM '%s' (did you mean %s?)", name, nearest_best(&n));
	return err_set(e, ERR_NOT_FOUND, "no VM '%s' (ccvm ls lists them)", name);
}

bool setup_check_vm(const char *name, struct err *e)
{
	if (!parse_name("VM name", name, e))
		return false;
	char *dir FREE_ON_EXIT = paths_vm_state(name);
	char *spec FREE_ON_EXIT = paths_join(dir, STORE_SPEC_FILE);
	if (access(spec, F_OK) == 0)
		return true;
	return fail_no_vm(name, e);
}

bool setup_check_image(const char *name, struct err *e)
{
	struct image image = {0};
	char *images FREE_ON_EXIT = paths_images_dir();
	bool fine = image_load(images, name, &image, e) && image_verify(&image, false, e);
	image_finish(&image);
	return fine;
}
