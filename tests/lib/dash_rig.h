/* A dash on made-up data: VMs, refusals and terminals that a test puts in, and a log of what the dash asked for. */
#ifndef CCVM_TESTS_LIB_DASH_RIG_H
#define CCVM_TESTS_LIB_DASH_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/term/screen.h"
#include "tui/dash.h"

#define RIG_NOW_MS  1796073242123 /* 2026-11-30T21:14:02Z */
#define RIG_SECOND  INT64_C(1000)
#define RIG_MINUTE  (60 * RIG_SECOND)
#define RIG_HOUR    (60 * RIG_MINUTE)
#define RIG_VMS     60
#define RIG_ENTRIES 400
#define RIG_PANES   12

struct dash_rig {
	struct fleet_vm vms[RIG_VMS];
	const struct fleet_vm *vm_list[RIG_VMS];
	struct feed_entry entries[RIG_ENTRIES];
	const struct feed_entry *entry_list[RIG_ENTRIES];
	struct feed_denial denials[RIG_ENTRIES];
	const struct feed_denial *denial_list[RIG_ENTRIES];
	struct model_pane panes[RIG_PANES];
	struct screen screens[RIG_PANES];
	struct job_info job;
	struct model model; /* change it as you like */
	struct settings settings;
	struct dash *dash;
	struct canvas canvas;
	struct str log;       /* what the dash asked for, a line each */
	bool refuse_history;  /* there is none to be had */
	struct remember kept; /* what the dash wanted to be remembered last */
};

void dash_rig_init(struct dash_rig *r);
void dash_rig_finish(struct dash_rig *r);

/* A VM, in the order of the names. */
struct vm_status *dash_rig_vm(struct dash_rig *r, const char *name, enum vm_state state);
/* What its agent does, since `age_ms`. */
void dash_rig_attention(struct dash_rig *r, const char *name, enum vm_attention_state state, int64_t age_ms);
struct fleet_vm *dash_rig_find(struct dash_rig *r, const char *name);
void dash_rig_remove(struct dash_rig *r, const char *name);
/* A refusal; equal ones are folded as the feed does it. */
void dash_rig_deny(struct dash_rig *r, const char *vm, int64_t age_ms, const char *target, const char *why);
/* An open terminal of this size, blank. */
struct model_pane *dash_rig_pane(struct dash_rig *r, const char *vm, uint32_t wished, unsigned rows,
                                 unsigned cols);
void dash_rig_put(struct screen *s, unsigned row, unsigned col, const struct cell *look, const char *text);

/* Keys by name, blanks between: "j Enter C-]". */
void dash_rig_press(struct dash_rig *r, const char *keys);
/* Each character as a key. */
void dash_rig_type(struct dash_rig *r, const char *text);
/* The picture has this text. */
bool dash_rig_shows(struct dash_rig *r, const char *text);
/* The log is exactly this; it is empty afterwards. */
bool dash_rig_asked(struct dash_rig *r, const char *log);

#endif
