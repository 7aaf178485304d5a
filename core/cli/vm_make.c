#include "core/cli/vm_make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/cli/litter.h"
#include "core/config/paths.h"
#include "core/vm/store.h"

static bool add_allow(struct policy *p, const char *text, struct err *e)
{
	struct rule rule;
	if (!rule_parse_host(RULE_ALLOW, text, strlen(text), &rule, e))
		return err_wrap(e, "--allow");
	return policy_apply(p, &rule, NULL, e);
}

static bool add_config_line(struct policy *p, const char *line, struct err *e)
{
	struct rule rule;
	return rule_parse(line, strlen(line), &rule, e) && policy_apply(p, &rule, NULL, e);
}

bool vm_make_policy(struct policy *out, const struct config *config, const char *const *allow, size_t count,
                    struct err *e)
{
	bool fine = true;
	policy_init(out);
	for (size_t i = 0; fine && i < config->policy_count; i++) {
		fine = add_config_line(out, config->policy[i], e);
		if (!fine)
			err_wrap(e, "ccvm.ini: '%.100s'", config->policy[i]);
	}
	for (size_t i = 0; fine && i < count; i++)
		fine = add_allow(out, allow[i], e);
	if (!fine)
		policy_finish(out);
	return fine;
}

static bool write_policy(const char *dir, const struct policy *policy, struct err *e)
{
	char *path FREE_ON_EXIT = paths_join(dir, VM_POLICY_FILE);
	char *text FREE_ON_EXIT = policy_format(policy);
	return fd_write_file(path, text, strlen(text), 0600, e);
}

bool vm_make_add_rules(const char *vm, const char *const *allow, size_t count, struct err *e)
{
	struct policy policy;
	char *dir FREE_ON_EXIT = paths_vm_state(vm);
	char *path FREE_ON_EXIT = paths_join(dir, VM_POLICY_FILE);
	policy_init(&policy);
	bool fine = policy_load(&policy, path, e);
	for (size_t i = 0; fine && i < count; i++)
		fine = add_allow(&policy, allow[i], e);
	fine = fine && write_policy(dir, &policy, e);
	policy_finish(&policy);
	return fine;
}

static bool take_place(const char *made, const char *place, const char *vm, struct err *e)
{
	if (rename(made, place) == 0)
		return true;
	if (errno == ENOTEMPTY || errno == EEXIST)
		return err_set(e, ERR_EXISTS, "%s is there already, but holds no VM (see: ccvm doctor --gc)",
		               place);
	return err_sys(e, errno, "create VM %s", vm);
}

bool vm_make_state(const struct vm_spec *spec, const struct policy *policy, struct err *e)
{
	char *state FREE_ON_EXIT = paths_state_dir();
	char *place FREE_ON_EXIT = paths_vm_state(spec->name);
	char *made FREE_ON_EXIT = litter_name(state, spec->name);
	struct err ignored = ERR_INIT;
	if (!fd_make_dirs(made, 0700, e))
		return false;
	if (store_write_spec(made, spec, e) && write_policy(made, policy, e) &&
	    take_place(made, place, spec->name, e))
		return true;
	if (!fd_remove_tree(made, &ignored))
		err_wrap(e, "%s", ignored.msg);
	return false;
}
