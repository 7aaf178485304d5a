/* What dash.c and actions.c share: the state behind `struct dash`. */
#ifndef CCVM_TUI_DASH_INTERNAL_H
#define CCVM_TUI_DASH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/term/keys.h"
#include "tui/dash.h"
#include "tui/feed_view.h"
#include "tui/keymap.h"
#include "tui/layout.h"

#define NOTICE_SIZE 401

enum question { QUESTION_NONE, QUESTION_STOP, QUESTION_ALLOW };

struct dash {
	const struct dash_ops *ops; /* kept */
	void *arg;
	char detach;
	char detach_name[KEY_NAME_SIZE];
	int rows, cols;

	char selected[VM_NAME_MAX + 1]; /* "": none */
	size_t selected_at;             /* where it was, for when it goes away */
	size_t list_top;
	struct feed_place feed;
	bool in_feed, zoomed, help;
	int help_top;
	bool typing;
	bool just_left; /* the key before this one left typing */

	enum question question;
	char about_vm[VM_NAME_MAX + 1];
	char about_rule[sizeof(((struct feed_entry *)0)->target)];
	char notice[NOTICE_SIZE]; /* "": none */
};

/* The data of one event, with the selection looked up in them. */
struct view {
	struct model model;
	size_t at;                 /* of the selected VM; SIZE_MAX: none */
	const struct fleet_vm *vm; /* NULL: none */
	struct layout layout;
};

/* Selects the VM at this place, or the last one when it is beyond the end. */
void dash_select_at(struct dash *d, struct view *v, size_t at);
size_t dash_find_vm(const struct model *m, const char *name); /* SIZE_MAX: there is none */
/* The pane is that of the selected VM and in this state. */
bool dash_has_pane(const struct view *v, enum pane_link link);
void dash_place(const struct dash *d, struct view *v); /* computes the layout anew */
int dash_feed_rows(const struct view *v);              /* at least 1 */
const struct feed_entry *dash_newest_denial(const struct model *m, const char *vm); /* or NULL */
void dash_noticef(struct dash *d, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* actions.c: what an action does; NULL when it does nothing. */
typedef void dash_action_fn(struct dash *d, struct view *v);
dash_action_fn *dash_action(enum action action);

#endif
