/* What the app_*.c share: the state of the running dashboard. */
#ifndef CCVM_TUI_APP_INTERNAL_H
#define CCVM_TUI_APP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/list.h"
#include "tui/canvas.h"
#include "tui/console.h"
#include "tui/dash.h"
#include "tui/settings.h"
#include "tui/theme.h"

struct batch;
struct clipboard;
struct dirwatch;
struct feed;
struct fleet;
struct input_event;
struct jobs;
struct loop;
struct notify;
struct panes;
struct signals;
struct timer;
struct tui_input;
struct tui_screen;

#define HISTORY_ASKS 16

struct app;
struct history_ask {
	struct app *app;
	uint32_t tag;
};

struct app {
	struct loop *loop;
	struct dash *dash;
	struct tui_screen *screen;
	struct tui_input *input;
	struct fleet *fleet;
	struct feed *feed;
	struct panes *panes;
	struct notify *notify;
	struct jobs *jobs;
	struct clipboard *clipboard;
	struct timer *frame, *tick, *look;
	struct signals *signals, *stop_signal;

	struct settings settings;
	struct theme theme;
	char *config_path, *remember_path;           /* owned */
	struct dirwatch *config_watch, *theme_watch; /* NULL: there is no such folder */
	bool wrote_config;                           /* the next change of the file is our own and no news */
	char *first_problem;                         /* owned; of the settings at the start, or NULL */

	/* The terminals that are open, in the order in which they were wished for, and the one that has the focus. */
	struct pane_wish wishes[DASH_PANES_MOST];
	size_t wish_count;
	struct pane_wish focused; /* vm "": none */
	bool has_focus;           /* the operator's terminal has it, or does not tell */

	struct list asked;   /* requests and sends that wait for their answer */
	struct batch *batch; /* of the event that is handled now; NULL: none yet */
	struct str copied;   /* the text that was copied last */
	struct console console;
	struct canvas canvas;
	uint64_t drawn_ms, input_ms; /* monotonic */
	bool typed;                  /* a terminal was typed into, and its answer has not been drawn */
	bool judge;                  /* the next look only judges what was asked in the last one */
	int log_fd;                  /* where the log goes while the screen is ours */
	int exit_status;
	/* The model as arrays, made anew for each event. */
	const struct fleet_vm **vms;
	size_t vm_room;
	struct model_pane model_panes[DASH_PANES_MOST];
	struct history_ask history_asks[HISTORY_ASKS];
};

/* app.c */
void app_end(struct app *a, int exit_status);
void app_changed(void *arg); /* a frame is due */
void app_suspend(struct app *a);
void app_notice(struct app *a, const char *what, const char *text); /* "what: text" */

/* app_ops.c: what the dash asks for. */
extern const struct dash_ops app_dash_ops;

/* app_ask.c: what VMs are asked, and what they answer. */
void app_request(struct app *a, const struct dash_request *r);
void app_end_batch(struct app *a); /* what was asked in this event belongs together */
void app_drop_requests(struct app *a);

/* app_settings.c */
void app_settings_open(struct app *a);
void app_settings_close(struct app *a);
/* Reads the file again. `asked`: the operator did. */
void app_settings_reload(struct app *a, bool asked);
void app_settings_apply(struct app *a); /* to what is open */
void app_set_theme(struct app *a, const char *name);
void app_offer_names(enum action_takes takes, palette_offer_fn *offer, void *to);

#endif
