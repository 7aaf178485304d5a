#include "tui/keymap.h"

#include <stdio.h>
#include <string.h>

#include "core/term/keys.h"

const struct action_info keymap_actions[ACTION_COUNT] = {
    [ACTION_NONE] = {"none", "nothing"},
    [ACTION_TYPE] = {"type", "type into the VM; of a failed one read the console"},
    [ACTION_JUMP] = {"jump", "select the VM of this row"},
    [ACTION_NEXT] = {"next", "next row"},
    [ACTION_PREVIOUS] = {"previous", "previous row"},
    [ACTION_FIRST] = {"first", "first row"},
    [ACTION_LAST] = {"last", "last row"},
    [ACTION_PAGE_DOWN] = {"page-down", "one page down"},
    [ACTION_PAGE_UP] = {"page-up", "one page up"},
    [ACTION_FOCUS] = {"focus", "to the denied feed and back"},
    [ACTION_BACK] = {"back", "out of the feed, the zoom or the console"},
    [ACTION_ALLOW] = {"allow", "allow the refused host, or the VM's newest one; asks"},
    [ACTION_ZOOM] = {"zoom", "the pane alone, and back"},
    [ACTION_STOP] = {"stop", "stop the selected VM; asks"},
    [ACTION_HELP] = {"help", "this help"},
    [ACTION_REDRAW] = {"redraw", "draw the whole screen again"},
    [ACTION_SUSPEND] = {"suspend", "back to the shell; fg returns"},
    [ACTION_QUIT] = {"quit", "leave the dashboard; VMs run on"},
};

const struct key_binding keymap_bindings[] = {
    {TERM_KEY_ENTER, 0, KEYS_LIST, ACTION_TYPE},
    {'i', 0, KEYS_LIST, ACTION_TYPE},
    {TERM_KEY_ENTER, 0, KEYS_FEED, ACTION_JUMP},
    {'j', 0, KEYS_ALL, ACTION_NEXT},
    {TERM_KEY_DOWN, 0, KEYS_ALL, ACTION_NEXT},
    {'n', 0, KEYS_LIST, ACTION_NEXT},
    {'k', 0, KEYS_ALL, ACTION_PREVIOUS},
    {TERM_KEY_UP, 0, KEYS_ALL, ACTION_PREVIOUS},
    {TERM_KEY_HOME, 0, KEYS_ALL, ACTION_FIRST},
    {'G', 0, KEYS_ALL, ACTION_LAST},
    {TERM_KEY_END, 0, KEYS_ALL, ACTION_LAST},
    {TERM_KEY_PAGE_DOWN, 0, KEYS_ALL, ACTION_PAGE_DOWN},
    {'f', TERM_CTRL, KEYS_ALL, ACTION_PAGE_DOWN},
    {TERM_KEY_PAGE_UP, 0, KEYS_ALL, ACTION_PAGE_UP},
    {'b', TERM_CTRL, KEYS_ALL, ACTION_PAGE_UP},
    {TERM_KEY_TAB, 0, KEYS_ALL, ACTION_FOCUS},
    {'F', 0, KEYS_ALL, ACTION_FOCUS},
    {TERM_KEY_ESCAPE, 0, KEYS_ALL, ACTION_BACK},
    {'a', 0, KEYS_ALL, ACTION_ALLOW},
    {'z', 0, KEYS_ALL, ACTION_ZOOM},
    {'x', 0, KEYS_LIST, ACTION_STOP},
    {'?', 0, KEYS_ALL, ACTION_HELP},
    {TERM_KEY_F1, 0, KEYS_ALL, ACTION_HELP},
    {'l', TERM_CTRL, KEYS_ALL, ACTION_REDRAW},
    {'z', TERM_CTRL, KEYS_ALL, ACTION_SUSPEND},
    {'q', 0, KEYS_ALL, ACTION_QUIT},
    {'c', TERM_CTRL, KEYS_ALL, ACTION_QUIT},
};
const size_t keymap_binding_count = ARRAY_LEN(keymap_bindings);

enum action keymap_find(enum key_context context, uint32_t key, unsigned mods)
{
	/* Some terminals report Shift with a letter that is a capital already. */
	if (key < TERM_KEY_FIRST)
		mods &= ~(unsigned)TERM_SHIFT;
	for (size_t i = 0; i < ARRAY_LEN(keymap_bindings); i++) {
		const struct key_binding *b = &keymap_bindings[i];
		if (b->key == key && b->mods == mods && (b->contexts & (unsigned)context))
			return b->action;
	}
	return ACTION_NONE;
}

static void append_keys(enum action action, unsigned contexts, size_t most, char out[KEYMAP_KEYS_SIZE])
{
	size_t used = 0;
	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(keymap_bindings) && most > 0; i++) {
		const struct key_binding *b = &keymap_bindings[i];
		if (b->action != action || !(b->contexts & contexts))
			continue;
		char name[KEY_NAME_SIZE];
		key_name(b->key, b->mods, name);
		int n = snprintf(out + used, KEYMAP_KEYS_SIZE - used, "%s%s", used ? ", " : "", name);
		CHECK(n > 0 && (size_t)n < KEYMAP_KEYS_SIZE - used);
		used += (size_t)n;
		most--;
	}
}

void keymap_keys_of(enum action action, unsigned contexts, char out[KEYMAP_KEYS_SIZE])
{
	append_keys(action, contexts, SIZE_MAX, out);
}

void keymap_key_of(enum action action, unsigned contexts, char out[KEYMAP_KEYS_SIZE])
{
	append_keys(action, contexts, 1, out);
}
