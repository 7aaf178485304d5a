#include "core/cli/target.h"

#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/cli/setup.h"

bool target_parse(const char *text, struct target *t, struct err *e)
{
	struct target parsed = {.term = CLIENT_TERM_FIRST};
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	char name[VM_NAME_MAX + 2], shown[64];
	uint64_t number;
	snprintf(name, sizeof(name), "%.*s", (int)MIN(len, sizeof(name) - 1), text);
	if (!parse_name("VM name", name, e))
		return false;
	if (colon && !parse_u64(colon + 1, 1, UINT32_MAX - 1, &number)) {
		escape_text(shown, sizeof(shown), colon + 1, strlen(colon + 1));
		return err_set(e, ERR_INVALID,
		               "'%s' is no number of a terminal (" TARGET_USAGE ", as in %s:2)", shown, name);
	}
	snprintf(parsed.vm, sizeof(parsed.vm), "%s", name);
	if (colon)
		parsed.term = (uint32_t)number;
	*t = parsed;
	return true;
}

bool target_find(const char *text, struct target *t, struct err *e)
{
	return target_parse(text, t, e) && setup_check_vm(t->vm, e);
}
