#include "tui/keymap.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/mem.h"

#define KEYS_OF_ACTION_MOST 16

#define A(NAME, name, contexts, arg, keys, help) [ACTION_##NAME] = {name, keys, help, contexts, arg},
static const struct action_info ACTIONS[ACTION_COPY] = {
    [ACTION_NONE] = {"none", "", "nothing", 0, TAKES_NOTHING}, DASH_ACTIONS(A)};
#undef A

struct action_info keymap_action(enum action action)
{
	if ((unsigned)action >= ACTION_COUNT)
		action = ACTION_NONE;
	if (action < ACTION_COPY)
		return ACTIONS[action];
	enum copy_action copy = (enum copy_action)((unsigned)action - ACTION_COPY);
	return (struct action_info){.name = copy_action_name(copy),
	                            .keys = copy_action_keys(copy),
	                            .help = copy_action_help(copy),
	                            .contexts = KEYS_COPY};
}

enum action keymap_action_named(const char *name)
{
	for (unsigned a = ACTION_NONE + 1; a < ACTION_COUNT; a++) {
		if (strcmp(keymap_action((enum action)a).name, name) == 0)
			return (enum action)a;
	}
	return ACTION_NONE;
}

/* The keys of a list, replaced in `k` only when all of them are keys. */
static bool bind(struct keymap *k, enum action action, const char *keys, struct err *e)
{
	struct key_binding fresh[KEYS_OF_ACTION_MOST];
	size_t count = 0, kept = 0;
	char *copy FREE_ON_EXIT = mem_strdup(keys), *save = NULL;
	for (char *word = strtok_r(copy, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		struct key_binding *b = &fresh[count];
		char shown[64];
		escape_text(shown, sizeof(shown), word, strlen(word));
		if (count == KEYS_OF_ACTION_MOST)
			return err_set(e, ERR_INVALID, "more than %d keys for one action",
			               KEYS_OF_ACTION_MOST);
		if (!key_parse(word, &b->key, &b->mods))
			return err_set(e, ERR_INVALID, "'%s' is no key; like these: x, C-x, M-x, F5, PageUp",
			               shown);
		b->action = action;
		b->contexts = keymap_action(action).contexts;
		count++;
	}
	for (size_t i = 0; i < k->count; i++) {
		if (k->bindings[i].action != action)
			k->bindings[kept++] = k->bindings[i];
	}
	if (kept + count > KEYMAP_BINDINGS_MOST)
		return err_set(e, ERR_LIMIT, "more than %d keys", KEYMAP_BINDINGS_MOST);
	if (count > 0)
		memcpy(&k->bindings[kept], fresh, count * sizeof(*fresh));
	k->count = kept + count;
	return true;
}

void keymap_init(struct keymap *k, char leave)
{
	struct err e = ERR_INIT;
	*k = (struct keymap){.leave = (uint8_t)leave};
	key_name((uint32_t)tolower((unsigned char)leave | 0x40), TERM_CTRL, k->leave_name);
	for (unsigned a = ACTION_NONE + 1; a < ACTION_COUNT; a++)
		CHECK(bind(k, (enum action)a, keymap_action((enum action)a).keys, &e));
}

bool keymap_bind(struct keymap *k, const char *name, const char *keys, struct err *e)
{
	enum action action = keymap_action_named(name);
	char shown[64];
	escape_text(shown, sizeof(shown), name, strlen(name));
	if (action == ACTION_NONE)
		return err_set(e, ERR_INVALID, "no action is called '%s'", shown);
	return bind(k, action, keys, e);
}

bool keymap_check(const struct keymap *k, enum action *second, struct err *e)
{
	for (size_t i = 0; i < k->count; i++) {
		for (size_t j = i + 1; j < k->count; j++) {
			const struct key_binding *a = &k->bindings[i], *b = &k->bindings[j];
			if (a->key != b->key || a->mods != b->mods || !(a->contexts & b->contexts))
				continue;
			char name[KEY_NAME_SIZE];
			key_name(a->key, a->mods, name);
			*second = b->action;
			return err_set(e, ERR_INVALID,
			               "%s is the key of '%s' already; with '%s =' that has none", name,
			               keymap_action(a->action).name, keymap_action(a->action).name);
		}
	}
	return true;
}

enum action keymap_find(const struct keymap *k, enum key_context context, uint32_t key, unsigned mods)
{
	/* Some terminals report Shift with a letter that is a capital already. */
	if (key < TERM_KEY_FIRST)
		mods &= ~(unsigned)TERM_SHIFT;
	for (size_t i = 0; i < k->count; i++) {
		const struct key_binding *b = &k->bindings[i];
		if (b->key == key && b->mods == mods && (b->contexts & (unsigned)context))
			return b->action;
	}
	return ACTION_NONE;
}

bool keymap_leaves(const struct keymap *k, uint32_t key, unsigned mods)
{
	uint8_t bytes[KEY_BYTES_MAX];
	return key_encode(key, mods, 0, bytes) == 1 && bytes[0] == k->leave;
}

static void append_keys(const struct keymap *k, enum action action, unsigned contexts, size_t most,
                        char out[KEYMAP_KEYS_SIZE])
{
	size_t used = 0;
	out[0] = '\0';
	for (size_t i = 0; i < k->count && most > 0; i++) {
		const struct key_binding *b = &k->bindings[i];
		if (b->action != action || !(b->contexts & contexts))
			continue;
		char name[KEY_NAME_SIZE];
		key_name(b->key, b->mods, name);
		int n = snprintf(out + used, KEYMAP_KEYS_SIZE - used, "%s%s", used ? ", " : "", name);
		if (n < 0 || (size_t)n >= KEYMAP_KEYS_SIZE - used) {
			out[used] = '\0'; /* as many as there is room for */
			return;
		}
		used += (size_t)n;
		most--;
	}
}

void keymap_keys_of(const struct keymap *k, enum action action, unsigned contexts, char out[KEYMAP_KEYS_SIZE])
{
	append_keys(k, action, contexts, SIZE_MAX, out);
}

void keymap_key_of(const struct keymap *k, enum action action, unsigned contexts, char out[KEYMAP_KEYS_SIZE])
{
	append_keys(k, action, contexts, 1, out);
}
