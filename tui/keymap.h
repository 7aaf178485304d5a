/* What keys do in command mode: a const table of actions, and the keymap that is made from it and from the user's [keys].
 * The keys are looked up in it, and the help, the hints and the palette are written from it.
 *
 * In typing mode no table is asked: every key but the one that leaves goes to the guest. */
#ifndef CCVM_TUI_KEYMAP_H
#define CCVM_TUI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"
#include "core/base/err.h"
#include "core/term/keys.h"
#include "tui/copy_mode.h"

/* Where a key is pressed. A binding may hold in several of them. */
enum key_context {
	KEYS_LIST = 1 << 0,   /* the list and one pane */
	KEYS_GRID = 1 << 1,   /* several panes */
	KEYS_FEED = 1 << 2,   /* the feed has the focus */
	KEYS_COPY = 1 << 3,   /* copy mode */
	KEYS_PROMPT = 1 << 4, /* a line is typed, or a form is filled in */
	KEYS_VMS = KEYS_LIST | KEYS_GRID,
	KEYS_ALL = KEYS_VMS | KEYS_FEED /* command mode */
};

/* What may follow the name of an action in the palette. */
enum action_takes {
	TAKES_NOTHING,
	TAKES_TEXT,
	TAKES_VM,
	TAKES_SORT,
	TAKES_THEME,
	TAKES_RULE,
	TAKES_IMAGE,
	TAKES_CLIPBOARD
};

/* A(NAME, "name", contexts, argument, "keys", "help"): keys as key_parse reads them, blanks between; the first one is
 * what hints show. */
#define DASH_ACTIONS(A)                                                                                      \
	A(TYPE, "type", KEYS_VMS, TAKES_NOTHING, "Enter i",                                                  \
	  "type into the VM; of a failed one read the console")                                              \
	A(JUMP, "jump", KEYS_FEED, TAKES_NOTHING, "Enter", "select the VM of this row")                      \
	A(DOWN, "down", KEYS_ALL, TAKES_NOTHING, "j Down", "next row; in the grid the pane below")           \
	A(UP, "up", KEYS_ALL, TAKES_NOTHING, "k Up", "previous row; in the grid the pane above")             \
	A(LEFT, "left", KEYS_ALL, TAKES_NOTHING, "h Left", "previous tab; in the grid the pane before")      \
	A(RIGHT, "right", KEYS_ALL, TAKES_NOTHING, "l Right", "next tab; in the grid the next pane")         \
	A(FIRST, "first", KEYS_ALL, TAKES_NOTHING, "Home", "first row")                                      \
	A(LAST, "last", KEYS_ALL, TAKES_NOTHING, "G End", "last row")                                        \
	A(PAGE_DOWN, "page-down", KEYS_ALL, TAKES_NOTHING, "PageDown C-f", "one page down")                  \
	A(PAGE_UP, "page-up", KEYS_ALL, TAKES_NOTHING, "PageUp C-b", "one page up")                          \
	A(NEXT_WAITING, "next-waiting", KEYS_ALL, TAKES_NOTHING, "n", "to the next VM that waits for you")   \
	A(SELECT, "select", KEYS_ALL, TAKES_VM, "", "select a VM by its name")                               \
	A(ATTACH, "attach", KEYS_ALL, TAKES_VM, "", "type into a VM that has the whole screen")              \
	A(ALLOW, "allow", KEYS_ALL, TAKES_RULE, "a", "let the refused host through for this VM; asks")       \
	A(ALLOW_SHORT, "allow-10m", KEYS_ALL, TAKES_RULE, "t", "let it through for 10 minutes; asks")        \
	A(ALLOW_WRITE, "allow-config", KEYS_ALL, TAKES_RULE, "w",                                            \
	  "let it through, also for new VMs (ccvm.ini); asks")                                               \
	A(DENY, "deny", KEYS_ALL, TAKES_RULE, "", "take a rule back from the VM; asks")                      \
	A(HIDE, "hide", KEYS_FEED, TAKES_NOTHING, "d", "keep it denied and out of the feed")                 \
	A(UNHIDE, "unhide", KEYS_FEED, TAKES_NOTHING, "u", "show all that were hidden")                      \
	A(DETAIL, "detail", KEYS_ALL, TAKES_NOTHING, "v", "all that is known of the VM or of the row")       \
	A(ZOOM, "zoom", KEYS_ALL, TAKES_NOTHING, "z", "the pane alone, and back")                            \
	A(GRID, "grid", KEYS_ALL, TAKES_NOTHING, "g", "several panes at once, and back")                     \
	A(GRID_MORE, "grid-more", KEYS_GRID, TAKES_NOTHING, "+", "more panes at most: 2, 4, 6 or 9")         \
	A(GRID_LESS, "grid-less", KEYS_GRID, TAKES_NOTHING, "-", "fewer panes at most")                      \
	A(FOCUS, "feed", KEYS_ALL, TAKES_NOTHING, "Tab F", "to the feed and back")                           \
	A(FILTER, "filter", KEYS_ALL, TAKES_TEXT, "/", "only VMs with it; !text, state:waiting, image:base") \
	A(SORT, "sort", KEYS_VMS, TAKES_SORT, "o", "another order; who waits for you is first in each")      \
	A(MARK, "mark", KEYS_VMS, TAKES_NOTHING, "Space", "mark the VM; actions are for all marked ones")    \
	A(MARK_ALL, "mark-all", KEYS_VMS, TAKES_NOTHING, "*", "mark all that are shown, or none")            \
	A(BROADCAST, "broadcast", KEYS_VMS, TAKES_NOTHING, "B", "type into all marked VMs at once")          \
	A(SEND, "send", KEYS_VMS, TAKES_TEXT, "s", "send a line of text")                                    \
	A(INTERRUPT, "interrupt", KEYS_VMS, TAKES_NOTHING, "I", "send C-c; asks")                            \
	A(NEW_SHELL, "new-shell", KEYS_VMS, TAKES_NOTHING, "c", "one more shell in the VM, as a tab")        \
	A(CLOSE_SHELL, "close-terminal", KEYS_VMS, TAKES_NOTHING, "C",                                       \
	  "end the terminal that is shown; asks")                                                            \
	A(COPY_MODE, "copy-mode", KEYS_VMS, TAKES_NOTHING, "[",                                              \
	  "read, search and copy what the terminal said")                                                    \
	A(COPY_AGAIN, "recopy", KEYS_VMS, TAKES_CLIPBOARD, "",                                               \
	  "copy the last text another way: file, osc52...")                                                  \
	A(PAUSE, "pause", KEYS_VMS, TAKES_NOTHING, "p", "let the VM stand still, or go on")                  \
	A(STOP, "stop", KEYS_VMS, TAKES_NOTHING, "x", "stop the VM; asks")                                   \
	A(KILL, "kill", KEYS_VMS, TAKES_NOTHING, "X", "end the VM at once; asks")                            \
	A(RESTART, "restart", KEYS_VMS, TAKES_NOTHING, "R", "stop the VM and start it again; asks")          \
	A(REMOVE, "remove", KEYS_VMS, TAKES_NOTHING, "D Delete", "remove the VM and its disk; asks")         \
	A(NEW_VM, "new", KEYS_ALL, TAKES_TEXT, "N", "make a VM")                                             \
	A(IMAGE, "image", KEYS_ALL, TAKES_IMAGE, "", "build an image")                                       \
	A(JOBS, "jobs", KEYS_ALL, TAKES_NOTHING, "J", "what long work has said")                             \
	A(THEME, "theme", KEYS_ALL, TAKES_THEME, "", "other colours")                                        \
	A(RELOAD, "reload", KEYS_ALL, TAKES_NOTHING, "", "read ccvm.ini and the theme again")                \
	A(BACK, "back", KEYS_ALL, TAKES_NOTHING, "Escape",                                                   \
	  "out of the feed, the zoom, the grid, the filter")                                                 \
	A(PALETTE, "palette", KEYS_ALL, TAKES_NOTHING, ":", "any of these by its name")                      \
	A(HELP, "help", KEYS_ALL, TAKES_NOTHING, "? F1", "this help")                                        \
	A(REDRAW, "redraw", KEYS_ALL, TAKES_NOTHING, "C-l", "draw the whole screen again")                   \
	A(SUSPEND, "suspend", KEYS_ALL, TAKES_NOTHING, "C-z", "back to the shell; fg returns")               \
	A(QUIT, "quit", KEYS_ALL, TAKES_NOTHING, "q C-c", "leave the dashboard; VMs run on")                 \
	A(EDIT_ACCEPT, "edit-accept", KEYS_PROMPT, TAKES_NOTHING, "Enter", "done")                           \
	A(EDIT_CANCEL, "edit-cancel", KEYS_PROMPT, TAKES_NOTHING, "Escape C-c C-g", "leave it")              \
	A(EDIT_LEFT, "edit-left", KEYS_PROMPT, TAKES_NOTHING, "Left C-b", "one character left")              \
	A(EDIT_RIGHT, "edit-right", KEYS_PROMPT, TAKES_NOTHING, "Right C-f", "one character right")          \
	A(EDIT_HOME, "edit-home", KEYS_PROMPT, TAKES_NOTHING, "Home C-a", "start of the line")               \
	A(EDIT_END, "edit-end", KEYS_PROMPT, TAKES_NOTHING, "End C-e", "end of the line")                    \
	A(EDIT_BACKSPACE, "edit-backspace", KEYS_PROMPT, TAKES_NOTHING, "Backspace C-h",                     \
	  "delete to the left")                                                                              \
	A(EDIT_DELETE, "edit-delete", KEYS_PROMPT, TAKES_NOTHING, "Delete C-d", "delete what is here")       \
	A(EDIT_KILL_WORD, "edit-kill-word", KEYS_PROMPT, TAKES_NOTHING, "C-w M-Backspace", "delete a word")  \
	A(EDIT_KILL_START, "edit-kill-start", KEYS_PROMPT, TAKES_NOTHING, "C-u", "delete to the start")      \
	A(EDIT_KILL_END, "edit-kill-end", KEYS_PROMPT, TAKES_NOTHING, "C-k", "delete to the end")            \
	A(EDIT_UP, "edit-up", KEYS_PROMPT, TAKES_NOTHING, "Up C-p S-Tab", "earlier line; field above")       \
	A(EDIT_DOWN, "edit-down", KEYS_PROMPT, TAKES_NOTHING, "Down C-n", "later line; field below")         \
	A(EDIT_COMPLETE, "edit-complete", KEYS_PROMPT, TAKES_NOTHING, "Tab", "complete; next field")

#define A(NAME, name, contexts, arg, keys, help) ACTION_##NAME,
enum action {
	ACTION_NONE,
	DASH_ACTIONS(A) /* those of the dash */
	ACTION_COPY,    /* ACTION_COPY + enum copy_action: those of copy mode */
	ACTION_COUNT = ACTION_COPY + COPY_ACTION_COUNT
};
#undef A
#define ACTION_EDIT_FIRST ACTION_EDIT_ACCEPT

struct action_info {
	const char *name; /* a stable word: "next-waiting" */
	const char *keys; /* built in */
	const char *help; /* what it does, for the help view */
	unsigned contexts;
	enum action_takes takes;
};
struct action_info keymap_action(enum action action);
enum action keymap_action_named(const char *name); /* ACTION_NONE: there is no such one */

struct key_binding {
	uint32_t key;  /* enum term_key or a code point, */
	unsigned mods; /* enum term_mod (core/term/keys.h) */
	unsigned contexts;
	enum action action;
};

#define KEYMAP_BINDINGS_MOST 400
struct keymap {
	struct key_binding bindings[KEYMAP_BINDINGS_MOST];
	size_t count;
	uint8_t leave;                  /* the control byte that leaves typing */
	char leave_name[KEY_NAME_SIZE]; /* "C-]" */
};

/* The built-in keys. `leave`: the control byte that leaves typing. */
void keymap_init(struct keymap *k, char leave);
/* An action gets other keys, in all of its contexts: "j Down", or "" for none. ERR_INVALID: no such action, or a word that is no
 * key; the keymap is as before. */
bool keymap_bind(struct keymap *k, const char *name, const char *keys, struct err *e) MUST_USE;
/* No key means two things. Else ERR_INVALID names the key and both, and *second is the action that was bound later. */
bool keymap_check(const struct keymap *k, enum action *second, struct err *e) MUST_USE;

enum action keymap_find(const struct keymap *k, enum key_context context, uint32_t key, unsigned mods);
/* It is the key that leaves typing. */
bool keymap_leaves(const struct keymap *k, uint32_t key, unsigned mods);

#define KEYMAP_KEYS_SIZE 128
/* "j, Down": the keys of an action in a context, the first bound first; "" when it has none there. */
void keymap_keys_of(const struct keymap *k, enum action action, unsigned contexts,
                    char out[KEYMAP_KEYS_SIZE]);
/* The first of them, as short as the bottom line wants it. */
void keymap_key_of(const struct keymap *k, enum action action, unsigned contexts, char out[KEYMAP_KEYS_SIZE]);

#endif
