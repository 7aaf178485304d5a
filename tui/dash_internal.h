/* What the dash_*.c share: the state behind `struct dash`, and who does what.
 *
 *     dash.c        keys and pastes find their way       dash_vms.c     which VMs, their order, selection, marks
 *     dash_draw.c   the picture                          dash_type.c    typing, also into many
 *     dash_ask.c    questions and what a yes does        dash_feed.c    the feed
 *     dash_line.c   lines that are typed, the palette    dash_copy.c    copy mode
 *     dash_mouse.c  the mouse                            actions.c      what each action does, as a table */
#ifndef CCVM_TUI_DASH_INTERNAL_H
#define CCVM_TUI_DASH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/copy_mode.h"
#include "tui/dash.h"
#include "tui/feed_rows.h"
#include "tui/feed_view.h"
#include "tui/form.h"
#include "tui/keymap.h"
#include "tui/layout.h"
#include "tui/line_edit.h"
#include "tui/mouse.h"
#include "tui/vm_order.h"

struct list_view;
struct pane_view;

#define NOTICE_SIZE   401
#define HISTORY_MOST  50
#define ALLOWED_MOST  64   /* rules given from here that are remembered */
#define DASH_HOLD_MS  1000 /* the list does not move so long after a key that moved in it */
#define DASH_TWICE_MS 500  /* the key that leaves, pressed again so soon, is for the guest */
#define DASH_SEEN_MS  1000 /* a VM that is selected for so long has been looked at */

typedef char vm_name[VM_NAME_MAX + 1];

/* A set of names, in the order in which they came. */
struct names {
	vm_name *all; /* owned */
	size_t count, room;
};

/* A terminal of a VM that the operator has chosen; those of the others are the first ones. */
struct choice {
	vm_name vm;
	uint32_t number;
	bool listed; /* the VM's status has named it, so that one which is missing there has ended */
};

enum line_kind { LINE_NONE, LINE_FILTER, LINE_PALETTE, LINE_SEND, LINE_SEARCH };

/* A line that is being typed at the bottom. */
struct line_prompt {
	enum line_kind kind;
	bool back; /* of a search */
	struct line_edit edit;
	char *history[HISTORY_MOST]; /* of the palette; owned, the newest last */
	size_t history_count, history_at;
	size_t chosen;              /* which candidate Tab has put in; SIZE_MAX: none */
	struct palette_words words; /* what Tab goes through */
	char stem[LINE_EDIT_SIZE];  /* the line before Tab put something in */
	char was[LINE_EDIT_SIZE];   /* the filter before it was edited */
};

/* A question holds copies of what it asks about, so that "y" means what was read. */
struct question {
	enum action action; /* ACTION_NONE: nothing is asked */
	struct names vms;
	struct names running; /* those of them of which it says that they run */
	char rule[FEED_RULE_SIZE];
	uint32_t term;
	char text[2048];
};

enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_VM, OVERLAY_ROW, OVERLAY_JOBS };

struct dash {
	const struct dash_ops *ops; /* kept */
	void *arg;
	const struct settings *settings; /* kept */
	int rows, cols;

	vm_name selected;   /* "": none */
	size_t selected_at; /* where it was, for when it goes away */
	size_t list_top;
	struct remember remembered;
	char filter
	    [LINE_EDIT_SIZE]; /* "": all are shown. Of this run only: one that is forgotten hides who waits */
	struct names order;   /* as they were shown last */
	const struct fleet_vm **shown; /* owned; the VMs of the list, made anew for each event */
	bool *marked_rows;             /* owned; for each of them */
	size_t room;                   /* of both */
	int64_t moved_ms; /* wall clock of the last key that moved in the list; 0: none, or it may move */
	bool new_order;   /* it must be made anew now */
	struct names marked;
	struct choice *choices; /* owned */
	size_t choice_count;

	bool in_feed, zoomed, grid;
	int grid_most; /* panes of the grid */
	struct feed_rows feed;
	struct feed_allowed *allowed; /* owned; the newest ALLOWED_MOST */
	size_t allowed_count;
	enum overlay overlay;
	int overlay_top;
	struct str overlay_text;
	char overlay_title[100];

	bool typing;
	bool broadcast;      /* into all marked VMs */
	int64_t left_ms;     /* wall clock; the event before this one left typing then. 0: it did not */
	bool left_broadcast; /* it was into many */
	bool attached;       /* typing has zoomed the pane by itself: leaving takes that back */

	struct copy_mode *copy; /* owned; NULL: not in copy mode */
	vm_name copy_vm;
	uint32_t copy_term;
	int copy_pending;  /* lines to scroll when the first piece of the history is here */
	uint32_t copy_tag; /* of its requests for history: another one each time */

	struct line_prompt line;
	struct form *form; /* owned; NULL: none */
	struct form *made; /* owned; what was asked for and has not appeared: N goes on with it. NULL: none */
	struct question question;
	struct mouse mouse;
	char notice[NOTICE_SIZE]; /* "": none */

	/* What the operator has looked at: see dash_look. */
	int64_t key_ms;      /* wall clock of the last key or click */
	int64_t selected_ms; /* since when this VM is selected */
	vm_name looked_at;   /* which one */
	vm_name told_vm;     /* the last DASH_SEEN was for this VM */
	int64_t told_at_ms;  /* and this attention of it */
	vm_name denied_vm;   /* the same for refusals */
	uint32_t denied_told;
};

/* The data of one event, with the selection looked up in them. */
struct view {
	struct model model;                /* its VMs are those that are shown, in their order */
	const struct fleet_vm *const *all; /* every VM, by name */
	size_t all_count;
	size_t at;                 /* of the selected VM; SIZE_MAX: none */
	const struct fleet_vm *vm; /* NULL: none */
	uint32_t term;             /* its terminal that is shown; 0: the first one */
	size_t pane_first;         /* the VM of the first pane */
	struct layout layout;
};

/* dash.c */
void dash_view(struct dash *d, struct view *v);
void dash_place(struct dash *d, struct view *v); /* computes the layout anew */
void dash_noticef(struct dash *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
enum key_context dash_context(const struct dash *d);
void dash_run_action(struct dash *d, struct view *v, enum action action, const char *text);

/* dash_vms.c */
bool names_has(const struct names *n, const char *name);
void names_add(struct names *n, const char *name);
void names_remove(struct names *n, const char *name);
void names_finish(struct names *n);
void dash_collect(struct dash *d, struct view *v); /* filter, order, selection, marks, terminal */
/* Selects the VM at this place of the list, or the last one when it is beyond the end. */
void dash_select_at(struct dash *d, struct view *v, size_t at);
bool dash_select_name(struct dash *d, struct view *v, const char *name); /* also one that the filter hides */
const struct fleet_vm *dash_find_vm(const struct view *v, const char *name); /* NULL: there is none */
uint32_t dash_term_of(const struct dash *d, const struct fleet_vm *vm);
void dash_choose_term(struct dash *d, const char *vm, uint32_t number, bool listed);
/* The terminal that is shown of a VM. NULL: it is not open. */
const struct pane_source *dash_pane_of(const struct dash *d, const struct view *v, const struct fleet_vm *vm);
void dash_step_terminal(struct dash *d, struct view *v, int by);
void dash_move(struct dash *d, struct view *v, long by);
void dash_move_in_grid(struct dash *d, struct view *v, int down, int right);
void dash_next_waiting(struct dash *d, struct view *v);
void dash_set_sort(struct dash *d, const char *name); /* "": the next one */
void dash_set_filter(struct dash *d, const char *text);
void dash_mark(struct dash *d, struct view *v);
void dash_mark_all(struct dash *d, struct view *v);
/* Those an action is for: the marked ones, or the selected one. Borrowed names, appended to `out`. */
void dash_targets(const struct dash *d, const struct view *v, struct names *out);

/* dash_type.c */
void dash_type(struct dash *d, struct view *v, bool broadcast);
void dash_attach(struct dash *d, struct view *v, const char *vm);
void dash_leave_typing(struct dash *d);
void dash_end_typing_if_over(struct dash *d, struct view *v, const char *was);
void dash_type_key(struct dash *d, struct view *v, uint32_t key, unsigned mods);
void dash_type_paste(struct dash *d, struct view *v, struct bytes text, bool first, bool last);
bool dash_types_into(const struct dash *d, const struct fleet_vm *vm);

/* dash_ask.c */
void dash_ask_rule(struct dash *d, struct view *v, enum action action, const char *text);
void dash_ask_vms(struct dash *d, struct view *v, enum action action);
void dash_answer(struct dash *d, struct view *v, uint32_t key, unsigned mods);
/* The VM listens; else false, with a notice of how to end it. */
bool dash_answers(struct dash *d, const struct fleet_vm *vm);
void dash_pause(struct dash *d, struct view *v);
void dash_send(struct dash *d, struct view *v, const char *text);

/* dash_feed.c */
void dash_focus_feed(struct dash *d, struct view *v);
void dash_leave_feed(struct dash *d);
void dash_jump(struct dash *d, struct view *v);
void dash_hide(struct dash *d, struct view *v);
void dash_step_tab(struct dash *d, struct view *v, int by);
const struct feed_row *dash_feed_row(struct dash *d); /* under the cursor, while the feed has the focus */

/* dash_line.c */
void dash_line_begin(struct dash *d, enum line_kind kind, const char *text);
void dash_line_key(struct dash *d, struct view *v, uint32_t key, unsigned mods);
void dash_line_paste(struct dash *d, struct bytes text);
void dash_line_draw(struct dash *d, struct canvas *c, const struct view *v);
void dash_line_finish(struct line_prompt *p);
void dash_form_begin(struct dash *d, const char *name);
void dash_form_key(struct dash *d, const struct view *v, uint32_t key, unsigned mods);
void dash_form_done(struct dash *d, struct view *v); /* what was asked for has appeared? */

/* dash_copy.c */
void dash_copy_begin(struct dash *d, struct view *v);
void dash_copy_end(struct dash *d);
void dash_copy_sync(struct dash *d, struct view *v); /* size, end of its VM, history that is wanted */
void dash_copy_act(struct dash *d, enum copy_action action);
void dash_copy_take(struct dash *d); /* to the clipboard, and leaves */

/* dash_draw.c */
int dash_pane_count(const struct view *v); /* panes that a VM belongs to */
const struct fleet_vm *dash_vm_of_pane(const struct view *v, int pane);
int dash_pane_of_selected(const struct view *v); /* -1: it has none on the screen */
struct list_view dash_list_view(const struct dash *d, const struct view *v);
struct feed_view dash_feed_view(const struct dash *d, const struct view *v);
struct pane_view dash_pane_view(const struct dash *d, const struct view *v, int pane);

#endif
