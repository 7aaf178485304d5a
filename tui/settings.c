#include "tui/settings.h"

#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"

void settings_init(struct settings *s)
{
	*s = (struct settings){.sort = SORT_STATE};
	config_init(&s->config);
	keymap_init(&s->keymap, s->config.detach_key);
}

void settings_finish(struct settings *s)
{
	config_finish(&s->config);
}

static bool fail_at(const char *path, int line, struct err *e)
{
	return err_wrap(e, "%s:%d", path, line);
}

/* The line that gave an action its keys; 0: they are the built-in ones. */
static int line_of(const struct config *c, enum action action)
{
	for (size_t i = 0; i < c->key_count; i++) {
		if (keymap_action_named(c->keys[i].action) == action)
			return c->keys[i].line;
	}
	return 0;
}

static bool apply_keys(struct settings *s, const char *path, struct err *e)
{
	enum action second;
	for (size_t i = 0; i < s->config.key_count; i++) {
		const struct config_key *key = &s->config.keys[i];
		if (!keymap_bind(&s->keymap, key->action, key->keys, e))
			return fail_at(path, key->line, e);
	}
	return keymap_check(&s->keymap, &second, e) || fail_at(path, line_of(&s->config, second), e);
}

static bool apply_sort(struct settings *s, const char *path, struct err *e)
{
	const struct config_text *t = &s->config.ui.sort;
	char shown[64];
	if (vm_sort_parse(t->text, &s->sort))
		return true;
	escape_text(shown, sizeof(shown), t->text, strlen(t->text));
	err_set(e, ERR_INVALID, "no sort '%s': state, name, age, cpu, mem or denied", shown);
	return fail_at(path, t->line, e);
}

bool settings_load(struct settings *s, const char *path, struct err *e)
{
	struct settings fresh;
	settings_init(&fresh);
	bool ok = config_load(&fresh.config, path, e);
	if (ok) {
		keymap_init(&fresh.keymap, fresh.config.detach_key);
		ok = apply_keys(&fresh, path, e) && apply_sort(&fresh, path, e);
	}
	settings_finish(ok ? s : &fresh);
	if (ok)
		*s = fresh;
	return ok;
}
