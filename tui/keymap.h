/* What keys do in command mode: const tables, from which the keys are looked up and the help is written.
 *
 * In typing mode no table is asked: every key but the one that leaves goes to the guest. */
#ifndef CCVM_TUI_KEYMAP_H
#define CCVM_TUI_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"

/* Where the focus is. A binding may hold in several of them. */
enum key_context { KEYS_LIST = 1 << 0, KEYS_FEED = 1 << 1, KEYS_ALL = KEYS_LIST | KEYS_FEED };

enum action {
	ACTION_NONE,
	ACTION_NEXT,
	ACTION_PREVIOUS,
	ACTION_FIRST,
	ACTION_LAST,
	ACTION_PAGE_DOWN,
	ACTION_PAGE_UP,
	ACTION_TYPE,
	ACTION_JUMP,
	ACTION_FOCUS,
	ACTION_BACK,
	ACTION_ALLOW,
	ACTION_ZOOM,
	ACTION_STOP,
	ACTION_HELP,
	ACTION_REDRAW,
	ACTION_SUSPEND,
	ACTION_QUIT,
	ACTION_COUNT
};

struct action_info {
	const char *name; /* a stable word: "next-row" */
	const char *help; /* what it does, for the help view */
};

struct key_binding {
	uint32_t key;  /* enum term_key or a code point, */
	unsigned mods; /* enum term_mod (core/term/keys.h) */
	unsigned contexts;
	enum action action;
};

extern const struct action_info keymap_actions[ACTION_COUNT];
extern const struct key_binding keymap_bindings[];
extern const size_t keymap_binding_count;

enum action keymap_find(enum key_context context, uint32_t key, unsigned mods);

#define KEYMAP_KEYS_SIZE 96
/* "j, Down, n": the keys of an action in a context, the first bound first; "" when it has none there. */
void keymap_keys_of(enum action action, unsigned contexts, char out[KEYMAP_KEYS_SIZE]);
/* The first of them, as short as the bottom line wants it. */
void keymap_key_of(enum action action, unsigned contexts, char out[KEYMAP_KEYS_SIZE]);

#endif
